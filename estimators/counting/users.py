"""Joins reports of several services by user, in a work database: each user's reports become one code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations_with_replacement, tee

import duckdb
import numpy as np

from ...mechanisms.errors import InputError
from ...mechanisms.table.unit_interval import UnitInterval
from ..reading.columns.rows.skipped_rows import SkippedRows
from .blocks import Rows, output_blocks
from .codes import OutputCodes
from .group import NOT_REPORTED, ReportGroup, groups_of
from .reported_sums import ReportedSums
from .sound import distinct_reports, keyed_codes, users_joined
from .source import ReportSource
from .staged import BLOCK, TABLE, Block, SourceRows, faulty_rows, source_rows, staged_blocks
from .user_keys import common_key_type

Placed = tuple[np.ndarray, np.ndarray]
"""Outputs (n,) of a block of reports, -1 for none, and the reports as places (n,), 0 for none."""

Progress = Callable[[str, float], object]
"""Called with what is being done and the share of all the work that is done."""


@dataclass(frozen=True, eq=False)
class Counting:
    """Ways to count the users of some sources.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        To an empty database.
    sources : sequence of ReportSource
    codes : OutputCodes
        For the outputs of the sources' tables.
    drop_missing : bool
        Whether reports may be missing.
    skipped : SkippedRows or None
        Where rows that hold no report are counted; without it they are refused.
    progress : callable
    raw : bool
        Whether groups are to have the sums of their users' reports.

    Example
    -------
    >>> from optldp.estimators.counting.source import report_sources
    >>> from optldp.mechanisms.families.grr import grr
    >>> sources = report_sources([(grr([0, 1], 1.0), np.array([1.0, 0.0, 1.0]))])
    >>> counting = Counting(duckdb.connect(), sources, OutputCodes.of([2]), False, None, lambda what, share: None)
    >>> counting.one_service("report")[0].counts
    array([1, 2])
    """

    connection: duckdb.DuckDBPyConnection
    sources: Sequence[ReportSource]
    codes: OutputCodes
    drop_missing: bool
    skipped: SkippedRows | None
    progress: Progress
    raw: bool = False

    def one_service(self, column: str) -> tuple[ReportGroup, ...]:
        """Count the rows of the only source: each is a user."""
        vector, times = self.sources[0].vector, None
        if vector is None:
            tolerant = self.skipped is not None
            rows = source_rows(self.connection, self.sources[0], column, None, tolerant=tolerant)
            if (distinct := distinct_reports(rows, drop_missing=self.drop_missing)) is not None:
                times = distinct.rows
                outputs = self._outputs(0, _vector_blocks(distinct.values), times.size)
            else:
                n_rows = self._staged(0, rows, "")
                outputs = self._outputs(0, staged_blocks(self.connection, n_rows), n_rows)
        else:
            outputs = self._outputs(0, _vector_blocks(vector), vector.size)
        totals = np.zeros(self.sources[0].service.mechanism.low.size + 1, dtype=np.int64)
        first, second = np.zeros((2, totals.size))
        for block, places in outputs:
            totals += np.bincount(block + 1, times, totals.size).astype(np.int64)
            if self.raw:
                weight = 1 if times is None else times
                first += np.bincount(block + 1, weight * places, totals.size)
                second += np.bincount(block + 1, weight * places**2, totals.size)
        self.progress("counting users", 1.0)
        seen = np.flatnonzero(totals[1:])
        sums = ReportedSums(first[1:][seen, None], second[1:][seen, None, None]) if self.raw else None
        return groups_of(seen[:, None].astype(np.int32), totals[1:][seen], sums)

    def aligned(self) -> tuple[ReportGroup, ...]:
        """Count the rows of several arrays: each is a user, who reported to a service unless it is NaN there."""
        arrays = [source.vector for source in self.sources]
        if named := [source.where for source, array in zip(self.sources, arrays, strict=True) if array is None]:
            raise InputError(
                f"key (--key) must name the column of users when services are matched, got none for {named[0]}"
            )
        vectors = [array for array in arrays if array is not None]
        if len({array.size for array in vectors}) > 1:
            sizes = " and ".join(str(array.size) for array in vectors)
            raise InputError(f"arrays of reports must have a row for each user, got lengths {sizes}: give a key")
        streams = [self._outputs(j, _vector_blocks(array), array.size, absent=True) for j, array in enumerate(vectors)]
        names, numbers = self._word_names(), self._place_names()
        kinds = [f"{name} BIGINT" for name in names] + [f"{name} DOUBLE" for name in numbers]
        self.connection.execute(f"CREATE TABLE users ({', '.join(kinds)})")
        for blocks in zip(*streams, strict=True):
            words = np.zeros((len(names), blocks[0][0].size), dtype=np.int64)
            for j, (outputs, _) in enumerate(blocks):
                words[self.codes.words[j]] |= self.codes.encode(j, outputs)
            columns = dict(zip(names, words, strict=True))
            columns |= {name: places for name, (_, places) in zip(numbers, blocks, strict=False)}
            self.connection.register("block", columns)
            self.connection.execute(f"INSERT INTO users SELECT {', '.join(columns)} FROM block")
        outputs, users, _, sums = self._distinct("SELECT *, 0 AS reports FROM users")
        return groups_of(outputs, users, sums)

    def by_key(self, key: str, column: str, *, keep_first: bool) -> tuple[ReportGroup, ...]:
        """Match the rows of all sources by key and count users.

        Raises
        ------
        InputError
            Several reports of a user to a service, unless the first is to be kept.
        """
        for source in self.sources:
            if source.vector is not None:
                raise InputError(
                    f"reports of {source.where} must have a column {key!r} to match users by, got one array: "
                    f"give a table, or {{{key!r}: array, {column!r}: array}}"
                )
        tolerant = self.skipped is not None
        rows = [source_rows(self.connection, source, column, key, tolerant=tolerant) for source in self.sources]
        key_type = common_key_type([part.key for part in rows if part.key is not None])
        simple = not (keep_first or self.raw)
        if simple:
            self.progress("counting users", 0.0)
            plain = keyed_codes(self.connection, rows, self.codes, key_type, drop_missing=self.drop_missing)
            if plain is not None and (found := self._joined(plain)) is not None:
                return found
        for j, part in enumerate(rows):
            self._code(j, part, key_type)
        if simple and (found := self._joined([f"coded_{j}" for j in range(len(rows))])) is not None:
            return found
        parts = [self._part(j, keep_first=keep_first) for j in range(len(rows))]
        merged = [f"bit_or({name}) AS {name}" for name in self._word_names()]
        merged += [f"sum({name}) AS {name}" for name in self._place_names()]
        users = f"SELECT {', '.join(merged)}, count(*) AS reports FROM ({' UNION ALL '.join(parts)}) GROUP BY key"
        outputs, users, reports, sums = self._distinct(users)
        if (reports != users * (outputs >= 0).sum(axis=1)).any():
            self._refuse_repeats()
        return groups_of(outputs, users, sums)

    def _joined(self, parts: Sequence[str]) -> tuple[ReportGroup, ...] | None:
        """Users by a join of relations of keys and codes; None where rows have to be looked at."""
        found = users_joined(self.connection, parts, self.codes)
        possible = [source.service.mechanism.possible for source in self.sources]
        if found is None or not all(
            mine[column[column >= 0]].all() for mine, column in zip(possible, found[0].T, strict=True)
        ):
            return None
        self.progress("counting users", 1.0)
        return groups_of(*found)

    def _part(self, j: int, *, keep_first: bool) -> str:
        """SQL for the rows of one source in the columns that all have: zero in those of other services."""
        mine = self._word_names()[self.codes.words[j]]
        columns = [f"{'code' if name == mine else 0} AS {name}" for name in self._word_names()]
        columns += [f"{'place' if i == j else '0.0'} AS {name}" for i, name in enumerate(self._place_names())]
        kept = ", ".join(f"arg_min({name}, rowid) AS {name}" for name in ("code", *self._placed))
        first = f"(SELECT key, {kept} FROM coded_{j} GROUP BY key)"
        return f"SELECT key, {', '.join(columns)} FROM {first if keep_first else f'coded_{j}'}"

    def _code(self, j: int, rows: SourceRows, key_type: str) -> None:
        """Read a source and write the table coded_j of keys and codes, in the order of rows.

        duckdb keeps that order in INSERT and in POSITIONAL JOIN:
        https://duckdb.org/docs/stable/sql/dialect/order_preservation
        """
        self.progress(f"reading {self.sources[j].where}", j / (len(self.sources) + 1))
        n_rows = self._staged(j, rows, key_type)
        places = "".join(f", {name} DOUBLE" for name in self._placed)
        self.connection.execute(f"CREATE TABLE coded_{j} (key {key_type}, code BIGINT{places})")
        start = 0
        for outputs, place in self._outputs(j, staged_blocks(self.connection, n_rows), n_rows):
            self.connection.register("block", {"code": self.codes.encode(j, outputs), "place": place})
            keys = f"SELECT key FROM {TABLE} WHERE rowid >= {start} AND rowid < {start + outputs.size}"
            columns = ", ".join(("key", "code", *self._placed))
            self.connection.execute(
                f"INSERT INTO coded_{j} SELECT {columns} FROM ({keys}) POSITIONAL JOIN block WHERE code <> 0"
            )
            start += outputs.size
        self.connection.execute(f"DROP TABLE {TABLE}")

    def _staged(self, j: int, rows: SourceRows, key_type: str) -> int:
        """Read a source, account for its rows that are at fault, and return how many there are in all."""
        n_rows = rows.stage(self.connection, key_type)
        if self.skipped is not None:
            self._skip(j, *faulty_rows(self.connection))
        return n_rows

    def _skip(self, j: int, number: int, first: Rows) -> None:
        if self.skipped is not None:
            where = self.sources[j].where if len(self.sources) > 1 else ""
            self.skipped.note(number, first, source=j, where=where)

    def _outputs(self, j: int, blocks: Iterator[Block], n_rows: int, *, absent: bool = False) -> Iterator[Placed]:
        """Blocks of outputs of service j and of the places of its reports, telling how far that is."""
        done, drop = 0, self.drop_missing or absent
        skipped = None if self.skipped is None else partial(self._skip, j)
        unit, (located, reported) = UnitInterval.of(self.sources[j].service.mechanism.domain), tee(blocks)
        found = output_blocks(self.sources[j], located, drop_missing=drop, skipped=skipped)
        for outputs, (reports, _) in zip(found, reported, strict=True):
            yield outputs, unit.places(np.where(outputs == NOT_REPORTED, unit.middle, reports))
            done += outputs.size
            self.progress(f"reading {self.sources[j].where}", (j + done / n_rows) / (len(self.sources) + 1))

    def _distinct(self, users: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, ReportedSums | None]:
        """Distinct outputs (R, J) of the users that a query gives, the users (R,), reports (R,) and sums of each."""
        self.progress("counting users", len(self.sources) / (len(self.sources) + 1))
        words, places = ", ".join(self._word_names()), self._place_names()
        sums = {f"first_{i}": name for i, name in enumerate(places)}
        sums |= {f"second_{i}_{k}": f"{places[i]} * {places[k]}" for i, k in _pairs(len(places))}
        added = "".join(f", sum({number}) AS {name}" for name, number in sums.items())
        found = self.connection.execute(
            f"SELECT {words}, count(*) AS users, CAST(sum(reports) AS BIGINT) AS reports{added} FROM ({users}) "
            f"GROUP BY {words} ORDER BY {words}"
        ).fetchnumpy()
        self.progress("counting users", 1.0)
        columns = {name: np.ma.getdata(column) for name, column in found.items()}
        outputs = self.codes.decode([columns[name] for name in self._word_names()])
        return outputs, columns["users"], columns["reports"], _sums_of(columns, len(places)) if self.raw else None

    def _refuse_repeats(self) -> None:
        for j, source in enumerate(self.sources):
            repeated = f"SELECT key FROM coded_{j} GROUP BY key HAVING count(*) > 1"
            number = self.connection.execute(f"SELECT count(*) FROM ({repeated})").fetchall()[0][0]
            if number:
                raise InputError(
                    f"a user must report to a service once, got {number} users with several reports to "
                    f"{source.where}: remove them, or keep the first of each with keep_first (--keep-first)"
                )

    def _word_names(self) -> list[str]:
        return [f"word_{i}" for i in range(self.codes.n_words)]

    def _place_names(self) -> list[str]:
        return [f"place_{j}" for j in range(len(self.sources))] if self.raw else []

    @property
    def _placed(self) -> tuple[str, ...]:
        """The column of a source's places, where these are wanted."""
        return ("place",) if self.raw else ()


def _pairs(n: int) -> list[tuple[int, int]]:
    return list(combinations_with_replacement(range(n), 2))


def _sums_of(columns: Mapping[str, np.ndarray], n: int) -> ReportedSums:
    """Return the sums of n services out of the columns of a query."""
    first = np.stack([columns[f"first_{i}"] for i in range(n)], axis=1)
    second = np.empty((*first.shape, n))
    for i, k in _pairs(n):
        second[:, i, k] = second[:, k, i] = columns[f"second_{i}_{k}"]
    return ReportedSums(first, second)


def _vector_blocks(vector: np.ndarray) -> Iterator[Block]:
    """The array as doubles, block by block: a memory-mapped one is never whole in memory."""
    for start in range(0, vector.size, BLOCK):
        block = np.asarray(vector[start : start + BLOCK], dtype=np.float64)
        yield block, np.zeros(block.size, dtype=bool)
