"""From files to counts: the reports of several services matched by user and counted, out of core.

Each source is read once into a database that spills to disk.  Numpy takes its reports block by block and the table
says which output each one is; the outputs go back beside the users' keys, as bits of one integer.  The database then
combines each user's integers and counts equal ones, so that only the distinct combinations ever come back to Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...mechanisms.errors import InputError
from ..data.files import FilePath
from ..data.skipped_rows import SkippedRows
from .codes import OutputCodes
from .counts import ReportCounts
from .group import ReportGroup
from .source import ReportSource, report_sources
from .users import Counting, Progress
from .work_database import work_database


def collect(
    sources: Sequence[Sequence[Any]],
    *,
    key: str | None = None,
    column: str = "report",
    keep_first: bool = False,
    allow_disjoint: bool = False,
    drop_missing: bool = False,
    skip_invalid: bool | SkippedRows = False,
    memory_limit: str | None = None,
    temp_directory: FilePath | None = None,
    progress: Progress | None = None,
) -> ReportCounts:
    """Count the users of several services by what they reported.

    Parameters
    ----------
    sources : list of (mechanism, reports) or (name, mechanism, reports)
        One for each service. Reports are a `.csv` or `.parquet` path, an Arrow table, a pandas or polars data frame,
        numpy arrays by column name, or one array of reports. Several such arrays, of equal length, are aligned: a row
        is a user, NaN says that they did not report to the service.
    key : str, optional
        Column that names the user, in every source: text or integers (or any other type that is the same in all).
        Keys of a CSV are integers if those of another source are, else text. Needed for several sources with columns.
    column : str
        Column of the reports; where it is not there, the one of the same name with "simulated_" before it.
    keep_first : bool
        Of several reports of a user to a service, keep the first in the order of the rows instead of refusing them.
    allow_disjoint : bool
        Accept services that have no users in common.
    drop_missing : bool
        Leave out rows whose report is missing (an empty CSV cell, NA, null, NaN) instead of refusing them.
    skip_invalid : bool or SkippedRows
        Leave out rows that hold no report that the table can make, or no key, and rows of a CSV that are none, instead
        of refusing them: counted in the account that is given, else in a `SkippedRowsWarning`. Rows are then not
        missing at random if those who sent them chose what to send.
    memory_limit : str, optional
        What duckdb may keep in memory, such as "4GB"; 2GB by default.
    temp_directory : path, optional
        Where what does not fit into memory is kept meanwhile: at most about the size of the reports and keys.
    progress : callable, optional
        Called with what is being done and the share of all the work that is done, from 0 to 1.

    Returns
    -------
    ReportCounts
        The same as `ReportCounts.from_outputs` for the users' outputs. Counts of disjoint sets of users add up.

    Raises
    ------
    InputError
        One line each: reports that a table cannot produce, columns that are missing, users without a key or with
        several reports to a service, services without reports or without common users, keys of different types,
        arrays of different length, sources that cannot be read.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.mechanisms.families.grr import grr
    >>> table = grr([0, 1], 1.0)
    >>> web = {"user": np.array(["ann", "bo", "cy"]), "report": np.array([0.0, 1.0, 1.0])}
    >>> app = {"user": np.array(["cy", "bo"]), "report": np.array([0.0, 0.0])}
    >>> counts = collect([("web", table, web), ("app", table, app)], key="user")
    >>> [(group.services, group.outputs.tolist(), group.counts.tolist()) for group in counts.groups]
    [((0,), [[0]], [1]), ((0, 1), [[1, 0]], [2])]
    """
    chosen = report_sources(sources)
    empty = ReportCounts(tuple(source.service for source in chosen), ())
    if key == column:
        raise InputError(f"key and column must differ, got {key!r} for both")
    account, skip = SkippedRows.of(skip_invalid)
    codes = OutputCodes.of([service.mechanism.low.size for service in empty.services])
    with work_database(memory_limit, temp_directory) as connection:
        counting = Counting(connection, chosen, codes, drop_missing, account if skip else None, progress or _silent)
        if key is not None:
            groups = counting.by_key(key, column, keep_first=keep_first)
        elif len(chosen) == 1:
            groups = counting.one_service(column)
        else:
            groups = counting.aligned()
    if not allow_disjoint:
        _require_common_users(chosen, groups)
    account.tell(skip_invalid)
    return ReportCounts(empty.services, groups)


def _silent(what: str, share: float) -> None:
    """Report no progress."""


def _require_common_users(sources: Sequence[ReportSource], groups: Sequence[ReportGroup]) -> None:
    """Raise InputError unless users link every service to every other, if only through services between them."""
    reached, sets = {0}, [set(group.services) for group in groups]
    while linked := [services for services in sets if services & reached and not services <= reached]:
        reached.update(*linked)
    if apart := [source.where for j, source in enumerate(sources) if j not in reached]:
        raise InputError(
            f"services must have users in common, got none between {sources[0].where} and {apart[0]}: check that the "
            "key column is the right one, or accept it with allow_disjoint (--allow-disjoint)"
        )
