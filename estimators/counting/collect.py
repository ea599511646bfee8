"""From files to counts: the reports of several services matched by user and counted, out of core.

Each source is read once into a database that spills to disk.  Numpy takes its reports block by block and the table
says which output each one is; the outputs go back beside the users' keys, as bits of one integer.  The database then
combines each user's integers and counts equal ones, so that only the distinct combinations ever come back to Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...mechanisms.errors import InputError
from ..reading.columns.files import FilePath
from ..reading.columns.rows.skipped_rows import SkippedRows
from ..reading.columns.simulated_columns import OUTPUT
from ..reading.columns.work_database import work_database
from .codes import OutputCodes
from .counts import ReportCounts
from .source import report_sources, require_one_round
from .users import Counting, Progress


def collect(
    sources: Sequence[Sequence[Any]],
    *,
    key: str | None = None,
    column: str = "report",
    keep_first: bool = False,
    allow_disjoint: bool = False,
    drop_missing: bool = False,
    skip_invalid: bool | SkippedRows = False,
    raw: bool = False,
    rounds: bool = False,
    memory_limit: str | None = None,
    temp_directory: FilePath | None = None,
    progress: Progress | None = None,
) -> ReportCounts:
    """Count the users of several services by what they reported.

    The arguments, what is raised and an example are `count`'s, which hands sources to it.

    Returns
    -------
    ReportCounts
        The same as `ReportCounts.from_outputs` for the users' outputs; if asked for, with sums of the reports.
    """
    chosen = report_sources(sources)
    empty = ReportCounts(tuple(source.service for source in chosen), ())
    if key == column:
        raise InputError(f"key and column must differ, got {key!r} for both")
    account, skip = SkippedRows.of(skip_invalid)
    codes = OutputCodes.of([service.mechanism.low.size for service in empty.services])
    with work_database(memory_limit, temp_directory) as connection:
        if not rounds:
            require_one_round(connection, chosen)
        chosen = tuple(source.knowing(connection, column) if key != OUTPUT else source for source in chosen)
        if raw and (indexed := [source.where for source in chosen if source.indexed]):
            raise InputError(f"raw needs the reports themselves, got numbers of outputs for {indexed[0]}: leave it out")
        skipped, told = account if skip else None, progress or _silent
        counting = Counting(connection, chosen, codes, drop_missing, skipped, told, raw)
        if key is not None:
            groups = counting.by_key(key, column, keep_first=keep_first)
        elif len(chosen) == 1:
            groups = counting.one_service(column)
        else:
            groups = counting.aligned()
    if not allow_disjoint:
        require_common_users([source.where for source in chosen], [group.services for group in groups])
    account.tell(skip_invalid)
    return ReportCounts(empty.services, groups, rounds=rounds)


def _silent(what: str, share: float) -> None:
    """Report no progress."""


def require_common_users(services: Sequence[str], sets: Sequence[Sequence[int]]) -> None:
    """Raise InputError unless users link every service to every other, if only through services between them.

    Parameters
    ----------
    services : sequence of str
        How messages call them.
    sets : sequence of sequence of int
        The sets of services, by position, that some user reported to.

    Example
    -------
    >>> require_common_users(["a", "b", "c"], [(0, 1), (1, 2)])
    """
    reached, members = {0}, [set(some) for some in sets]
    while linked := [some for some in members if some & reached and not some <= reached]:
        reached.update(*linked)
    if apart := [where for j, where in enumerate(services) if j not in reached]:
        raise InputError(
            f"services must have users in common, got none between {services[0]} and {apart[0]}: check that the "
            "key column is the right one, or accept it with allow_disjoint (--allow-disjoint)"
        )
