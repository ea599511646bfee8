"""Reports of two groups or periods, matched by user: tallies of each, and pairs of reports of the same user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np

from ...mechanisms.errors import InputError
from ..counting.user_keys import common_key_type
from ..reading.columns.rows.skipped_rows import SkippedRows
from ..reading.columns.work_database import work_database
from .staged_reports import Columns, OpenedReports, tallied_mechanism
from .tally import Tally, source_of, tally_of


@dataclass(frozen=True, eq=False)
class MatchedTallies:
    """Two tallies, and the reports of the users who are in both.

    Attributes
    ----------
    first, second : Tally
        Of all users of each.
    both : tuple of (Tally, Tally), optional
        The distinct pairs of reports of users who are in both, as two tallies of as many rows and users; None if users
        were not matched, so that the two count as independent.
    weightless : int
        Users of weight 0.
    simulated : bool
        Whether a source is marked as drawn by a numpy Generator.
    skipped : SkippedRows

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.differences import match_users
    >>> from optldp.mechanisms import duchi
    >>> table = duchi([0.0, 1.0], 1.0)
    >>> spring = {"user": np.array([1, 2, 3]), "output": np.array([0, 1, 1])}
    >>> autumn = {"user": np.array([3, 2, 4]), "output": np.array([1, 0, 0])}
    >>> match_users((table, spring), (table, autumn), key="user").matched
    2
    """

    first: Tally
    second: Tally
    both: tuple[Tally, Tally] | None
    weightless: int
    simulated: bool
    skipped: SkippedRows

    @property
    def matched(self) -> int | None:
        """How many users are in both; None where users were not matched."""
        return None if self.both is None else self.both[0].n_users


def match_users(
    first: tuple[Any, Any],
    second: tuple[Any, Any],
    *,
    key: str,
    column: str = "report",
    keep_first: bool = False,
    drop_missing: bool = False,
    skip_invalid: bool | SkippedRows = False,
) -> MatchedTallies:
    """Count the reports of two sources, and the pairs of reports of users who are in both.

    Parameters
    ----------
    first, second : tuple of (mechanism, reports)
        As `tally_groups` takes them.
    key : str
        Column that names the user, in both.
    column : str
    keep_first : bool
        Keep a user's first report in a source instead of refusing several.
    drop_missing, skip_invalid
        As in `tally_groups`.

    Returns
    -------
    tallies : MatchedTallies
        Argument of `estimate_difference`.

    Raises
    ------
    InputError
        As `tally_groups`; users who are missing, whose keys cannot be compared, or with several reports in a source.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.differences import match_users
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> table = duchi([0.0, 1.0], 1.0)
    >>> spring = {"user": np.array([1, 2, 3]), "output": np.array([0, 1, 1])}
    >>> autumn = {"user": np.array([3, 2, 4]), "output": np.array([1, 0, 0])}
    >>> found = match_users((table, spring), (table, autumn), key="user")
    >>> found.matched, [tally.reports.tolist() for tally in found.both]
    (2, [[1, 1], [0, 1]])
    """
    account, skip = SkippedRows.of(skip_invalid)
    asked, tallies = Columns(column, key=key), list[Tally]()
    with work_database() as connection:
        opened = [
            OpenedReports.of(connection, tallied_mechanism(made), source_of(reports), asked, tolerant=skip)
            for made, reports in (first, second)
        ]
        key_type = common_key_type([one.key for one in opened if one.key is not None])
        for table, one in zip(("rows_1", "rows_2"), opened, strict=True):
            one.stage(connection, table, key_type=key_type, drop_missing=drop_missing, skipped=account)
            _single(connection, table, one, keep_first=keep_first)
            tallies.append(tally_of(connection, one, table, False, account)[0])
        both = _pairs(connection, opened)
    account.tell(skip_invalid)
    return MatchedTallies(tallies[0], tallies[1], both, 0, any(one.simulated for one in opened), account)


def _single(connection: duckdb.DuckDBPyConnection, table: str, opened: OpenedReports, *, keep_first: bool) -> None:
    """Require that each user has one report, or keep the first."""
    if keep_first:
        connection.execute(f"DELETE FROM {table} WHERE rowid NOT IN (SELECT min(rowid) FROM {table} GROUP BY key)")
        return
    repeated = f"SELECT key FROM {table} GROUP BY key HAVING count(*) > 1"
    if many := connection.execute(f"SELECT count(*) FROM ({repeated})").fetchall()[0][0]:
        raise InputError(
            f"a user must report once to each of the two, got {many} users with several reports in "
            f"{opened.source.where}: remove them, or keep the first of each with keep_first (--keep-first)"
        )


def _pairs(connection: duckdb.DuckDBPyConnection, opened: list[OpenedReports]) -> tuple[Tally, Tally]:
    """The distinct pairs of reports of users who are in both; rows of no report have been refused or left out."""
    found = connection.execute(
        "SELECT rows_1.report AS r0, rows_2.report AS r1, count(*) AS users FROM rows_1 JOIN rows_2 USING (key) "
        "GROUP BY ALL ORDER BY ALL"
    ).fetchnumpy()
    users = np.ma.getdata(found["users"]).astype(np.int64)
    made = []
    for i, one in enumerate(opened):
        cells = np.ma.asarray(found[f"r{i}"])
        reported = np.ma.getdata(cells).astype(np.float64) if one.reports_are_values else None
        reports = one.reports(cells)[0]
        made.append(Tally(one.held.mechanism, reports, users, users.astype(float), users.astype(float), reported))
    return made[0], made[1]
