"""From services that ask for several attributes to counts of each attribute, matched by user across services."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import duckdb
import numpy as np

from ...mechanisms.errors import InputError
from ...mechanisms.spaces.columns import naming
from ..counting.codes import require_few
from ..counting.collect import require_common_users
from ..counting.counts import ReportCounts, Service
from ..counting.group import NOT_REPORTED
from ..counting.source import require_one_round
from ..counting.user_keys import common_key_type
from ..reading.columns.files import FilePath
from ..reading.columns.rows.skipped_rows import SkippedRows
from ..reading.columns.simulated_columns import ROUND
from ..reading.columns.work_database import work_database
from .cells import AttributeTable, Cells
from .counts import AttributeCounts
from .rows import AttributeRows, RowRules
from .source import AttributeSource, attribute_sources

Progress = Callable[[str, float], object]

NOBODY = -1
"""In place of a user's number: a row that does not count."""


def collect_attributes(
    sources: Sequence[Sequence[Any]],
    *,
    key: str | None = None,
    keep_first: bool = False,
    allow_disjoint: bool = False,
    drop_missing: bool = False,
    skip_invalid: bool | SkippedRows = False,
    rounds: bool = False,
    memory_limit: str | None = None,
    temp_directory: FilePath | None = None,
    progress: Progress | None = None,
) -> AttributeCounts:
    """Count the users of several services by what they reported of each attribute; a service may hold some only.

    The arguments and what is raised are `count`'s, which hands sources to it.  Every source is read once; what numpy
    holds is one number for each row and three for each report, whatever the number of attributes.

    Example
    -------
    >>> from optldp.mechanisms import AttributeSampling, duchi, make_exact
    >>> table = make_exact(duchi([0.0, 1.0], 1.0)).mechanism
    >>> both, age = (AttributeSampling.of(dict.fromkeys(names, table), 1, 1.0) for names in (["age", "pay"], ["age"]))
    >>> low, high = table.low
    >>> web = {"user": ["ann", "bo", "cy"], "age": [low, None, high], "pay": [None, high, None]}
    >>> app = {"user": ["cy", "bo"], "age": [low, high]}
    >>> frames = ({name: np.array(column, dtype=object) for name, column in one.items()} for one in (web, app))
    >>> import pandas as pd
    >>> counts = collect_attributes(list(zip([both, age], map(pd.DataFrame, frames))), key="user")
    >>> [(name, counts[name].n_users) for name in counts], [group.services for group in counts["age"].groups]
    ([('age', 3), ('pay', 1)], [(0,), (0, 1), (1,)])
    """
    chosen = attribute_sources(sources)
    require_few(len(chosen))
    tell = progress or (lambda what, share: None)
    account, skip = SkippedRows.of(skip_invalid)
    skipped = account if skip else None
    columns = None if key is not None else [source.columns for source in chosen]
    if columns is not None and all(some is not None for some in columns):
        cells = [Cells.of_columns(some) for some in columns if some is not None]
        users = _aligned(chosen, cells)
    else:
        with work_database(memory_limit, temp_directory) as connection:
            if not rounds:
                require_one_round(connection, [each for each in chosen if ROUND not in each.mechanism.attributes])
            cells, users = _read(connection, chosen, key, tell, tolerant=skip)
    rules = RowRules(drop_missing or (key is None and len(chosen) > 1), skipped)
    rows = [
        rules.rows(each, source, j, several=len(chosen) > 1)
        for j, (source, each) in enumerate(zip(chosen, cells, strict=True))
    ]
    tell("counting users", len(chosen) / (len(chosen) + 1))
    mine = [
        _once(source, np.where(each.kept, user, NOBODY), keep_first)
        for source, each, user in zip(chosen, rows, users, strict=True)
    ]
    together = _sets_of_services(mine)
    if not allow_disjoint:
        require_common_users([source.where for source in chosen], [s for s, _ in together])
    found = {name: replace(one, rounds=rounds) for name, one in _by_attribute(chosen, rows, mine).items()}
    tell("counting users", 1.0)
    account.tell(skip_invalid)
    return AttributeCounts(found, sum(number for _, number in together))


def _aligned(sources: Sequence[AttributeSource], cells: Sequence[Cells]) -> list[np.ndarray]:
    """Users of arrays: a row is a user, at all services."""
    if len({each.n_rows for each in cells}) > 1:
        sizes = " and ".join(str(each.n_rows) for each in cells)
        raise InputError(f"arrays of reports must have a row for each user, got lengths {sizes}: give a key")
    return [np.arange(each.n_rows) for each in cells]


def _read(
    connection: duckdb.DuckDBPyConnection,
    sources: Sequence[AttributeSource],
    key: str | None,
    progress: Progress,
    *,
    tolerant: bool,
) -> tuple[list[Cells], list[np.ndarray]]:
    """Read sources with columns; return their cells and the numbers of the users of each row."""
    if key is None and len(sources) > 1:
        raise InputError(
            f"key (--key) must name the column of users when services are matched, got none for {sources[0].where}"
        )
    tables = [AttributeTable.open(connection, source, key, tolerant=tolerant) for source in sources]
    key_type = "" if key is None else common_key_type([table.key for table in tables if table.key is not None])
    cells = []
    for j, table in enumerate(tables):
        progress(f"reading {sources[j].where}", j / (len(sources) + 1))
        cells.append(table.read(connection, f"keys_{j}", key_type))
    if key is None:
        return cells, [np.arange(cells[0].n_rows)]
    rows = " UNION ALL ".join(f"SELECT key FROM keys_{j} WHERE key IS NOT NULL" for j in range(len(sources)))
    everyone = f"SELECT DISTINCT key FROM ({rows})"
    connection.execute(f"CREATE TABLE users AS SELECT key, row_number() OVER () - 1 AS number FROM ({everyone})")
    users = []
    for j in range(len(sources)):
        numbered = f"FROM keys_{j} LEFT JOIN users ON keys_{j}.key = users.key ORDER BY keys_{j}.rowid"
        found = connection.execute(f"SELECT coalesce(number, {NOBODY}) AS number {numbered}").fetchnumpy()
        users.append(np.asarray(found["number"], dtype=np.int64))
    return cells, users


def _once(source: AttributeSource, users: np.ndarray, keep_first: bool) -> np.ndarray:
    """The users of rows, each once: whoever answers twice has spent the budget twice, whatever the attributes."""
    rows = np.flatnonzero(users != NOBODY)
    several = np.bincount(users[rows]) > 1
    if not several.any():
        return users
    if not keep_first:
        raise InputError(
            f"a user must report to a service once, whatever the attributes, got {several.sum()} users with several "
            f"rows in {source.where}: remove them, or keep the first of each with keep_first (--keep-first)"
        )
    first = rows[np.unique(users[rows], return_index=True)[1]]
    kept = np.full(users.size, NOBODY)
    kept[first] = users[first]
    return kept


def _sets_of_services(users: Sequence[np.ndarray]) -> list[tuple[list[int], int]]:
    """The sets of services that users reported to, and how many users each has."""
    sets = np.zeros(1 + max(int(each.max()) for each in users), dtype=np.int64)
    for j, each in enumerate(users):
        sets[each[each != NOBODY]] |= 1 << j
    found, numbers = np.unique(sets[sets > 0], return_counts=True)
    services = [[j for j in range(len(users)) if bits >> j & 1] for bits in found.tolist()]
    return list(zip(services, numbers.tolist(), strict=True))


def _by_attribute(
    sources: Sequence[AttributeSource], rows: Sequence[AttributeRows], users: Sequence[np.ndarray]
) -> dict[str, ReportCounts]:
    """Counts of each attribute, in the order in which services name them first."""
    attributes = dict.fromkeys(name for source in sources for name in source.mechanism.attributes)
    found = {}
    for name in attributes:
        services, who, outputs = [], [], []
        for source, each, numbers in zip(sources, rows, users, strict=True):
            if name not in source.mechanism.attributes:
                continue
            place = source.mechanism.attributes.index(name)
            drawn, reported = each.drawn[place]
            mine = numbers[drawn] != NOBODY
            services.append(Service(source.name, source.mechanism.mechanisms[place]))
            who.append(numbers[drawn][mine])
            outputs.append(reported[mine])
        with naming(name):
            found[name] = ReportCounts.from_outputs(services, _matrix(who, outputs))
    return found


def _matrix(who: Sequence[np.ndarray], outputs: Sequence[np.ndarray]) -> np.ndarray:
    """Outputs (N, J) of each user at each service, -1 where there is none."""
    people, row = np.unique(np.concatenate(who), return_inverse=True)
    matrix = np.full((people.size, len(who)), NOT_REPORTED, dtype=np.int32)
    ends = np.cumsum([mine.size for mine in who])[:-1]
    for j, (place, reported) in enumerate(zip(np.split(row, ends), outputs, strict=True)):
        matrix[place, j] = reported
    return matrix
