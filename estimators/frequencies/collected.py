"""Reports of categories counted where they lie: files out of core, frames by their own engine.

Bits are summed, as hardly any two reports of many bits are alike; other reports are counted whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...mechanisms.categorical.mechanism import CategoricalMechanism
from ...mechanisms.errors import InputError
from ...mechanisms.files.identifier import table_identifier
from ...mechanisms.third_party.adoption import written_of
from ..engines.bit_parts import sums_of_parts
from ..engines.lazy import fetched, narwhals_or_refuse
from ..engines.supports import PIECE, WrittenBits, bits_in_columns, bits_written, support_query
from ..reading.columns.cells import quoted
from ..reading.columns.files import column_position, listed, short_message
from ..reading.columns.other_table import TABLE, require_table
from ..reading.columns.simulated_columns import (
    BIT,
    NO_BIT,
    OUTPUT,
    REPORT,
    SUPPORTS,
    USERS,
    column_of_reports,
    marked_column,
)
from ..reading.columns.source import Source
from ..reading.columns.table_column import of_table
from ..reading.columns.work_database import work_database
from .category_counts import CategoryCounts
from .support_counts import SupportCounts

_BYTE = re.compile("[0-9a-f]{2}")

MEMORY_LIMIT = "256MB"
"""What duckdb may keep in memory."""


def is_summed(mechanism: CategoricalMechanism) -> bool:
    """Whether reports of a mechanism are better summed than counted whole: bits of many categories, or in columns.

    Example
    -------
    >>> from optldp.mechanisms.categorical.unary_encoding import optimised_unary
    >>> is_summed(optimised_unary(range(20), 1.0)), is_summed(optimised_unary("ab", 1.0))
    (True, False)
    """
    return bits_written(mechanism) is not None or bits_in_columns(mechanism) is not None


def collect_sums(mechanism: CategoricalMechanism, reports: Any, *, column: str = REPORT) -> SupportCounts:
    """Return the support sums of reports of bits from a file or a table in memory, in constant memory.

    Parameters
    ----------
    mechanism : CategoricalMechanism
        Of which `is_summed`.
    reports : path or table in memory
        As `count` takes sources.
    column : str

    Raises
    ------
    InputError
        As of `count`; reports that are none, by their number.

    Example
    -------
    >>> from optldp.mechanisms.categorical.unary_encoding import optimised_unary
    >>> rows = {"report": np.array(["c00010", "800010"], dtype=object)}
    >>> collect_sums(optimised_unary(range(20), 1.0), rows).supports[:3]
    array([2, 1, 0])
    """
    where = repr(str(reports))[:80] if isinstance(reports, str) or hasattr(reports, "__fspath__") else "the reports"
    source = Source(reports, where)
    with work_database(MEMORY_LIMIT) as connection, source.reading():
        relation, names = source.open(connection)
        in_columns = bits_in_columns(mechanism) is not None
        labels = mechanism.categories.labels if in_columns else (column_of_reports(names, column),)
        relation = of_table(relation, names, lambda: table_identifier(mechanism), where, path=source.path, own=labels)
        marked = [marked_column(names, label, where, others=labels) for label in labels]
        cells = [
            quoted(relation.columns[column_position(names, name, f"column {name!r} of {where}")]) for name in marked
        ]
        if in_columns:
            return _of_columns(mechanism, relation.aggregate(_sums_of_cells(cells)).fetchall()[0], where)
        bits = bits_written(mechanism)
        assert bits is not None
        relation.project(f"{cells[0]} AS digits").create_view("reports_read")
        rows = connection.sql(support_query("reports_read", "digits", bits)).fetchnumpy()
    return _sound(mechanism, {name: np.ma.getdata(rows[name]).astype(np.int64) for name in rows}, where)


def collect_lazily(
    mechanism: CategoricalMechanism, frame: Any, *, column: str = REPORT
) -> CategoryCounts | SupportCounts:
    """Return the counts of reports of a frame that is not read yet, by its engine.

    Parameters
    ----------
    mechanism : CategoricalMechanism
    frame : frame
        Of whatever engine Narwhals wraps. Its reports are as `perturb` writes them.
    column : str

    Raises
    ------
    InputError
        Narwhals is not there; columns that are missing; reports that are none, or of another table.

    Example
    -------
    >>> import duckdb
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> frame = duckdb.sql("SELECT unnest([0, 1, 1]) AS output")
    >>> collect_lazily(categorical_grr(["yes", "no"], 1.0), frame).counts
    array([1, 2])
    """
    nw = narwhals_or_refuse("frames that are not read yet")
    try:
        rows = nw.from_native(frame).lazy()
        names = list(rows.collect_schema())
        _require_table(nw, rows, names, mechanism)
        if bits_in_columns(mechanism) is not None:
            return _columns_lazily(nw, mechanism, rows, names)
        marked = marked_column(names, column_of_reports(names, column), "the frame")
        _require(names, [marked])
        report = nw.col(marked).alias(OUTPUT)
        if (bits := bits_written(mechanism)) is not None and bits.hexadecimal:
            return _bits_lazily(nw, mechanism, rows.select(report), bits)
        answer = fetched(rows.select(report).group_by(OUTPUT).agg(nw.len().alias(USERS)))
    except InputError:
        raise
    except Exception as error:  # of whatever engine
        raise InputError(f"the engine of the frame must answer, got {short_message(error)}") from None
    written = written_of(mechanism)
    return CategoryCounts.from_counts(mechanism, answer, parse=None if written is None else written.counted)


def _bits_lazily(nw: Any, mechanism: CategoricalMechanism, rows: Any, bits: WrittenBits) -> SupportCounts:
    """Equal pieces of a place are counted, in one query, and bits summed here of what is left: there are few pieces.

    Polars and Dask sum the bits of each part instead, in one pass. What a text has after its last piece is one more: of
    reports it is empty.
    """
    if (sums := sums_of_parts(rows.to_native(), bits)) is not None:
        if sums[-1]:
            raise InputError(_none_of(int(sums[-1]), "the frame"))
        return SupportCounts(mechanism, sums[: bits.many], int(sums[bits.many]))
    text, width = nw.col(OUTPUT), bits.width
    cut = [text.str.slice(width * place, width).alias("piece") for place in range(bits.pieces + 1)]
    parts = [rows.select(nw.lit(place).alias("place"), piece) for place, piece in enumerate(cut)]
    most = bits.pieces * 2**PIECE + 1
    found = nw.concat(parts, how="vertical").group_by("place", "piece").agg(nw.len().alias(USERS)).head(most + 1)
    told = fetched(found)
    pieces = told["piece"].tolist()
    place, users = np.ma.getdata(told["place"]).astype(int), np.ma.getdata(told[USERS]).astype(np.int64)
    held, ends = place < bits.pieces, place == bits.pieces
    sound = np.array([isinstance(piece, str) and _BYTE.fullmatch(piece) is not None for piece in pieces], dtype=bool)
    octets = np.array(
        [int(piece, 16) if fine else 0 for piece, fine in zip(pieces, sound, strict=True)], dtype=np.uint8
    )
    unused = PIECE * bits.pieces - bits.many
    sound &= held & ((place < bits.pieces - 1) | (octets % 2**unused == 0))
    sound |= ends & np.array([piece == "" for piece in pieces], dtype=bool)
    if place.size > most or not sound.all():
        raise InputError(_none_of(_unsound_of(nw, rows, bits), "the frame"))
    supports = np.zeros((bits.pieces, PIECE), dtype=np.int64)
    np.add.at(supports, place[held], np.unpackbits(octets[held][:, None], axis=1) * users[held][:, None])
    return SupportCounts(mechanism, supports.ravel()[: bits.many], int(users[ends].sum()))


def _unsound_of(nw: Any, rows: Any, bits: WrittenBits) -> int:
    """Return how many rows are no report."""
    last = "|".join(f"{byte:02x}" for byte in range(0, 256, 2 ** (PIECE * bits.pieces - bits.many)))
    report = nw.col(OUTPUT).str.contains(f"^[0-9a-f]{{{bits.width * (bits.pieces - 1)}}}({last})$")
    told = [fetched(some.select(nw.len().alias(USERS)))[USERS][0] for some in (rows, rows.filter(report))]
    return int(told[0]) - int(told[1])


def _columns_lazily(nw: Any, mechanism: CategoricalMechanism, rows: Any, names: Sequence[str]) -> SupportCounts:
    labels = mechanism.categories.labels
    marked = [marked_column(names, label, "the frame", others=labels) for label in labels]
    _require(names, marked)
    cells = [nw.col(name).cast(nw.Int64) for name in marked]
    wrong = [(~cell.is_in([0, 1]) | cell.is_null()).cast(nw.Int64).sum().alias(f"w{i}") for i, cell in enumerate(cells)]
    told = fetched(
        rows.select(nw.len().alias(USERS), *(cell.sum().alias(f"b{i}") for i, cell in enumerate(cells)), *wrong)
    )
    sums = [int(told[f"b{i}"][0] or 0) for i in range(len(labels))]
    faults = max(int(told[f"w{i}"][0] or 0) for i in range(len(labels)))
    return _of_columns(mechanism, [int(told[USERS][0]), *sums, faults], "the frame")


def _sums_of_cells(cells: Sequence[str]) -> str:
    """SQL for the number of rows, the sum of each column of zeros and ones, and the most cells that are neither."""
    numbers = [f"TRY_CAST({cell} AS DOUBLE)" for cell in cells]
    sums = [f"CAST(sum({number}) AS BIGINT)" for number in numbers]
    wrong = [f"count(*) FILTER (coalesce({number} NOT IN (0, 1), true))" for number in numbers]
    return ", ".join(["count(*)", *sums, f"greatest({', '.join([*wrong, '0'])})"])


def _of_columns(mechanism: CategoricalMechanism, told: Sequence[Any], where: str) -> SupportCounts:
    users, *sums, wrong = (int(number or 0) for number in told)
    if wrong:
        raise InputError(_none_of(wrong, where))
    return SupportCounts(mechanism, np.array(sums), users)


def _sound(mechanism: CategoricalMechanism, rows: dict[str, np.ndarray], where: str) -> SupportCounts:
    unsound = rows[BIT] == NO_BIT
    if unsound.any():
        raise InputError(_none_of(int(rows[USERS][unsound].sum()), where))
    return SupportCounts.from_sums(mechanism, {name: rows[name] for name in (BIT, SUPPORTS, USERS)})


def _none_of(many: int, where: str) -> str:
    return f"{where} must hold reports of this mechanism, got {many} rows that hold none: correct them"


def _require(names: Sequence[str], wanted: Sequence[str]) -> None:
    if lacking := [name for name in wanted if name not in names]:
        raise InputError(f"column {lacking[0]!r} must exist: the frame has {listed(list(names))}")


def _require_table(nw: Any, rows: Any, names: Sequence[str], mechanism: CategoricalMechanism) -> None:
    if TABLE not in names:
        return
    told = fetched(rows.select(nw.col(TABLE).cast(nw.String)).unique().head(3))[TABLE]
    for name in np.ma.compressed(told).tolist():
        if name is not None:
            require_table(name, table_identifier(mechanism), "the frame")
