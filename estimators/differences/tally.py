"""Reports counted by group and by weight, in one pass of the engine that reads them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...mechanisms.errors import InputError
from ..frequencies.category_counts import CategoryCounts
from ..reading.columns.rows.skipped_rows import SkippedRows

if TYPE_CHECKING:
    import duckdb

    from ..reading.columns.source import Source
    from .staged_reports import Columns, Mechanism, OpenedReports

SAME = 1e-9
"""Relative difference of two sums of equal weights that rounding makes."""

MOST_GROUPS = 10_000
"""Groups that are estimated one by one; a column that names each user has more."""


@dataclass(frozen=True, eq=False)
class Tally:
    """The distinct reports of some users, how many users made each, and the sums of their weights and of the squares.

    Parameters
    ----------
    mechanism : TabulatedMechanism or CategoricalMechanism
    reports : (R, ...) ndarray
        Numbers of outputs of a table of numbers; else as ``mechanism.checked_reports`` returns them.
    users : (R,) ndarray of int64
        At least one each, all of them with a weight above zero.
    weights, squares : (R,) ndarray of float
    reported : (R,) ndarray of float, optional
        The numbers that were reported, where they are known.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.differences import tally_groups
    >>> from optldp.mechanisms import duchi
    >>> (tally,) = tally_groups(duchi([0.0, 1.0], 1.0), {"output": np.array([0, 1, 1])}).tallies
    >>> tally.reports, tally.users
    (array([0, 1]), array([1, 2]))
    """

    mechanism: Mechanism
    reports: np.ndarray
    users: np.ndarray
    weights: np.ndarray
    squares: np.ndarray
    reported: np.ndarray | None = None

    @classmethod
    def of(cls, counts: CategoryCounts | Tally) -> Tally:
        """Return the tally of users of equal weights; one that is a tally as it is."""
        if isinstance(counts, Tally):
            return counts
        weights = counts.counts.astype(np.float64)
        return cls(counts.mechanism, counts.reports, counts.counts, weights, weights)

    @property
    def alike(self) -> bool:
        """Whether all users have the same weight, so that they may be counted."""
        each = self.weights / self.users
        return bool(np.ptp(each) <= SAME * each[0] and np.allclose(self.squares, self.users * each[0] ** 2, rtol=SAME))

    @property
    def n_users(self) -> int:
        """How many users there are."""
        return int(self.users.sum())

    @property
    def effective_n(self) -> float:
        """How many users of equal weights would tell as much: (sum w)^2 / sum w^2.

        Source: Kish (1965), "Survey sampling", section 11.7.
        """
        squares = float(self.squares.sum())
        return float(self.weights.sum()) ** 2 / squares if squares > 0 else 0.0

    def those(self, kept: np.ndarray) -> Tally:
        """Return some of the distinct reports, (R,) bool or indices."""
        reported = None if self.reported is None else self.reported[kept]
        made = self.reports[kept], self.users[kept], self.weights[kept], self.squares[kept]
        return Tally(self.mechanism, *made, reported)


@dataclass(frozen=True, eq=False)
class GroupedTallies:
    """The reports of G groups of users, counted by group.

    Attributes
    ----------
    by : str or None
        The column of the groups; without one all users are one group.
    names : tuple of str
        Of the groups, in alphabetical order; empty without a column.
    tallies : tuple of Tally
        One for each group, at least one.
    weighted : bool
        Whether users have weights.
    weightless : int
        Users of weight 0, who count for nothing and are in no tally.
    simulated : bool
        Whether the source is marked as drawn by a numpy Generator.
    skipped : SkippedRows
        Rows that hold no report and were left out.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.differences import tally_groups
    >>> from optldp.mechanisms import duchi
    >>> sent = {"shop": np.array(["a", "b", "a"]), "output": np.array([0, 1, 1])}
    >>> found = tally_groups(duchi([0.0, 1.0], 1.0), sent, by="shop")
    >>> found.names, [int(tally.users.sum()) for tally in found.tallies]
    (('a', 'b'), [2, 1])
    """

    by: str | None
    names: tuple[str, ...]
    tallies: tuple[Tally, ...]
    weighted: bool
    weightless: int
    simulated: bool
    skipped: SkippedRows

    @property
    def whole(self) -> Tally:
        """All groups together; a report has a row for each group that made it."""
        parts = [(one.reports, one.users, one.weights, one.squares) for one in self.tallies]
        return Tally(self.tallies[0].mechanism, *(np.concatenate(column) for column in zip(*parts, strict=True)))


def tally_groups(
    mechanism: Any,
    reports: Any,
    *,
    by: str | None = None,
    weights: str | None = None,
    column: str = "report",
    drop_missing: bool = False,
    skip_invalid: bool | SkippedRows = False,
) -> GroupedTallies:
    """Count reports by group and by weight, in one pass.

    Parameters
    ----------
    mechanism : table of numbers, floor form or mechanism for categories
    reports : path or table in memory
        A `.csv` or `.parquet` path, an Arrow, pandas or polars table, or numpy arrays by column name. Reports of
        categories are written as by ``mechanism.to_text``; numbers as they are, or as the number of their output.
    by : str, optional
        Column that names the group of each row, as text. The groups are in the clear beside the reports: the mechanism
        does not protect their column.
    weights : str, optional
        Column of numbers, at least 0: how many people of the population each user represents, from public knowledge
        such as the survey's design, never from reports.
    column : str
        Column of the reports; `output` is looked for where there is no column `report`.
    drop_missing : bool
        Leave out rows that miss a report, a group or a weight.
    skip_invalid : bool or SkippedRows
        Leave out, and count, rows that hold no report that the mechanism can make.

    Returns
    -------
    tallies : GroupedTallies

    Raises
    ------
    InputError
        One line each: columns that are not there or the same; rows that hold no report, group or weight; weights that
        are negative, beyond 1e100 or zero for all; more than 10,000 groups; a mechanism of another kind.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.differences import tally_groups
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> table = duchi([0.0, 1.0], 1.0)
    >>> rows = {"output": np.array([1, 0, 1]), "region": np.array(["east", "west", "east"])}
    >>> found = tally_groups(table, rows, by="region")
    >>> found.names, [tally.users.tolist() for tally in found.tallies]
    (('east', 'west'), [[2], [1]])
    """
    from ..reading.columns.work_database import work_database
    from .staged_reports import Columns, OpenedReports, tallied_mechanism

    made, asked = tallied_mechanism(mechanism), Columns(column, by, weights)
    account, skip = SkippedRows.of(skip_invalid)
    with work_database() as connection:
        opened = OpenedReports.of(connection, made, source_of(reports), asked, tolerant=skip)
        opened.stage(connection, "rows", drop_missing=drop_missing, skipped=account)
        weightless = _weightless(connection, opened, asked)
        if by is not None:
            _require_few(connection, by)
        whole, group = tally_of(connection, opened, "rows", by is not None, account)
    account.tell(skip_invalid)
    names = () if by is None else tuple(sorted(set(group.tolist())))
    tallies = (whole,)
    if by is not None:
        order = np.argsort(group, kind="stable")
        ends = np.searchsorted(group[order], names[1:]) if len(names) > 1 else []
        tallies = tuple(whole.those(rows) for rows in np.split(order, ends))
    return GroupedTallies(by, names, tallies, weights is not None, weightless, opened.simulated, account)


def source_of(reports: Any) -> Source:
    """Return where rows come from, and how messages call it."""
    from ..reading.columns.source import Source

    return Source(reports, repr(str(reports)) if isinstance(reports, str | os.PathLike) else "the table of reports")


def tally_of(
    connection: duckdb.DuckDBPyConnection, opened: OpenedReports, table: str, grouped: bool, skipped: SkippedRows
) -> tuple[Tally, np.ndarray]:
    """Return all distinct reports of a staged table, of each group by itself, and the group (R,) of each.

    Raises InputError for reports that are none, unless they may be left out, or if none is left.
    """
    keys = "grp, report" if grouped else "report"
    weight = "weight" if "weight" in opened.cells else "1.0"
    query = f"SELECT {keys}, count(*) AS users, sum({weight}) AS w, sum({weight} * {weight}) AS s FROM {table}"
    found = connection.execute(f"{query} WHERE {weight} > 0 GROUP BY {keys} ORDER BY {keys}").fetchnumpy()
    told = np.ma.asarray(found["report"])
    reports, wrong = opened.reports(told)
    if wrong.any():
        opened.refuse_wrong(connection, table, np.ma.getdata(told)[wrong].tolist(), skipped)
    if wrong.all():
        raise InputError(
            f"{opened.source.where} must hold at least one report of a weight above 0, got none"
            + (f": {skipped}" if skipped.count else "")
        )
    right = ~wrong
    columns = {name: np.ma.getdata(found[name])[right] for name in ("users", "w", "s")}
    tally = Tally(
        opened.held.mechanism,
        reports,
        columns["users"].astype(np.int64),
        columns["w"].astype(np.float64),
        columns["s"].astype(np.float64),
        np.ma.getdata(found["report"])[right].astype(np.float64) if opened.reports_are_values else None,
    )
    group = np.ma.getdata(found["grp"])[right].astype(object) if grouped else np.full(int(right.sum()), "", object)
    return tally, group


def _weightless(connection: duckdb.DuckDBPyConnection, opened: OpenedReports, asked: Columns) -> int:
    """How many users have the weight 0; InputError if all have."""
    if asked.weights is None:
        return 0
    none, rows = connection.execute("SELECT count(*) FILTER (WHERE weight = 0), count(*) FROM rows").fetchall()[0]
    if none == rows:
        raise InputError(f"{opened.cells['weight'][2]} must hold a weight above 0, got {rows} rows without one")
    return none


def _require_few(connection: duckdb.DuckDBPyConnection, by: str) -> None:
    groups = connection.execute("SELECT count(DISTINCT grp) FROM rows").fetchall()[0][0]
    if groups > MOST_GROUPS:
        raise InputError(
            f"column {by!r} must name at most {MOST_GROUPS:,} groups, got {groups:,}: name a column of groups, not of "
            "users"
        )
