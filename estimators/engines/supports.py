"""One query of support sums: how many reports of an engine's table support each category, a row per bit.

Reports of bits are hardly ever alike, so that to group by them gives as many rows as there are reports. Each report is
cut into pieces of some bits instead; equal pieces of one place are counted, and bits are summed of what is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

from ...mechanisms.categorical.bit_vectors import BitVectors
from ...mechanisms.statistics import as_supports
from ...mechanisms.third_party.adoption import written_of
from ..reading.columns.simulated_columns import BIT, NO_BIT, SUPPORTS, USERS

HEXADECIMAL = "0123456789abcdef"

MOST_WHOLE = 12
"""Bits up to which whole reports are counted, which likelihoods use: at most 4096 rows."""

WRAPPING = ("[", "]", "(", ")", ",", ";", " ", ".0", ".")
"""What stands around and between bits that other packages write, in the order in which it is taken out."""


PIECE = 8
"""Bits that are counted together."""


@dataclass(frozen=True)
class WrittenBits:
    """How the bits of a report stand in a column of text.

    Parameters
    ----------
    many : int
        Bits of a report.
    hexadecimal : bool
        Two digits for each eight bits, filled up with zeros; else a digit, 0 or 1, for each bit, with marks of other
        packages between them.
    """

    many: int
    hexadecimal: bool = True

    @property
    def pieces(self) -> int:
        """How many pieces a report has."""
        return -(-self.many // PIECE)

    @property
    def width(self) -> int:
        """Characters of a piece."""
        return 2 if self.hexadecimal else PIECE

    def digits(self, column: str) -> str:
        """Return SQL for the digits alone, of a quoted column."""
        cell = f"CAST({column} AS VARCHAR)"
        for mark in () if self.hexadecimal else WRAPPING:
            cell = f"REPLACE({cell}, '{mark}', '')"
        return cell

    def sound(self, text: str) -> str:
        """Return SQL that is true of what is a report."""
        digits, size = (HEXADECIMAL, 2 * self.pieces) if self.hexadecimal else ("01", self.many)
        sound = f"LENGTH({text}) = {size} AND TRIM({text}, '{digits}') = ''"
        unused = PIECE * self.pieces - self.many
        if not (unused and self.hexadecimal):
            return sound
        last = ", ".join(f"'{byte:02x}'" for byte in range(0, 256, 2**unused))
        return f"{sound} AND SUBSTRING({text}, {size - 1}, 2) IN ({last})"

    def ones(self, piece: str, place: str) -> str:
        """Return SQL that is true where the bit at a place of a piece is one."""
        cases = []
        for j in range(PIECE):
            if not self.hexadecimal:
                cases.append(f"WHEN {j} THEN SUBSTRING({piece}, {j + 1}, 1) = '1'")
                continue
            ones = ", ".join(f"'{digit}'" for digit in HEXADECIMAL if int(digit, 16) & (8 >> j % 4))
            cases.append(f"WHEN {j} THEN SUBSTRING({piece}, {j // 4 + 1}, 1) IN ({ones})")
        return f"CASE {place} {' '.join(cases)} END"


def bits_written(mechanism: Any) -> WrittenBits | None:
    """Return how reports stand as bits in one column, if they are better summed than counted whole; else None.

    Example
    -------
    >>> from optldp.mechanisms.categorical.unary_encoding import optimised_unary
    >>> bits_written(optimised_unary(range(20), 1.0)).pieces, bits_written(optimised_unary("ab", 1.0))
    (3, None)
    """
    found = _bits(mechanism)
    return None if found is None or found.many <= MOST_WHOLE else found


@singledispatch
def _bits(mechanism: Any) -> WrittenBits | None:
    return None


@_bits.register
def _(mechanism: BitVectors) -> WrittenBits | None:
    size = len(mechanism.categories)
    if (written := written_of(mechanism)) is None:
        return WrittenBits(size)
    return WrittenBits(size, hexadecimal=False) if written.form == "bits" else None


def support_query(relation: str, column: str, bits: WrittenBits, groups: str = "", times: str = "") -> str:
    """Return the query, as duckdb reads it, whose answer `SupportCounts.from_counts` takes.

    Its columns are bit, from 0 in the order of the categories; supports, how many reports have a one there; n, how many
    reports there are, the same in all rows. Reports that are none are counted in a row of bit -1.

    Parameters
    ----------
    relation : str
        SQL of what has the reports.
    column : str
        Of the reports, quoted.
    bits : WrittenBits
    groups : str
        Further columns, quoted, each after a comma, within which is summed.
    times : str
        A column, quoted, of how many reports a row stands for. Default: one.

    Example
    -------
    >>> import duckdb
    >>> rows = "(SELECT unnest(['a0', 'c0', '20', 'zz']) AS output)"
    >>> duckdb.sql(support_query(rows, '"output"', WrittenBits(3)) + " ORDER BY bit").fetchall()
    [(-1, 0, 1), (0, 2, 3), (1, 1, 3), (2, 2, 3)]
    """
    rows, counted = (f", {times}", f"SUM({times})") if times else ("", "COUNT(*)")
    written = f"(SELECT {bits.digits(column)} AS digits{groups}{rows} FROM {relation}) AS written"
    piece = f"SUBSTRING(digits, {bits.width} * place + 1, {bits.width})"
    pieces = (
        f"SELECT place, {piece} AS piece{groups}, {counted} AS many, CASE WHEN COUNT(*) > 0 THEN 1 END AS beside "
        f"FROM (SELECT digits{groups}{rows} FROM {written} WHERE {bits.sound('digits')}) AS each_report "
        f"CROSS JOIN ({_numbers('place', bits.pieces)}) AS places GROUP BY place, {piece}{groups}"
    )
    # Joined by a column: of a cross join PostgreSQL asks for the pieces again for each number.
    shifts = f"SELECT shift, 1 AS beside FROM ({_numbers('shift', PIECE)}) AS shift_numbers"
    bit = f"{PIECE} * place + shift"
    grouped = f" GROUP BY {groups.removeprefix(', ')}" if groups else ""
    return (
        f'SELECT {bit} AS "{BIT}"{groups}, SUM(CASE WHEN {bits.ones("piece", "shift")} THEN many ELSE 0 END) '
        f'AS "{SUPPORTS}", SUM(many) AS "{USERS}" FROM ({pieces}) AS each_piece JOIN ({shifts}) AS shifts '
        f"ON each_piece.beside = shifts.beside WHERE {bit} < {bits.many} GROUP BY {bit}{groups} "
        f"UNION ALL SELECT {NO_BIT}{groups}, 0, {counted} FROM {written} "
        f"WHERE CASE WHEN {bits.sound('digits')} THEN 0 ELSE 1 END = 1{grouped} HAVING COUNT(*) > 0"
    )


ONE, ZERO = ("1", "1.0", "1.", "true"), ("0", "0.0", "0.", "false")
"""What engines say, as text, of a whole number, one with a point, and a Boolean."""


def bits_in_columns(mechanism: Any) -> tuple[str, ...] | None:
    """Return the columns of reports that others drew and wrote as a column of 0 or 1 for each category; else None.

    Example
    -------
    >>> from optldp.mechanisms.third_party import adopt
    >>> [bits_in_columns(adopt("oue", ["a", "b"], 1.0, written=form)) for form in ("columns", "bits")]
    [('a', 'b'), None]
    """
    written = written_of(mechanism)
    if written is None or written.form != "columns" or as_supports(mechanism.statistic) is None:
        return None
    return written.columns("")


def column_sums_query(relation: str, columns: Sequence[str], groups: str = "") -> str:
    """Return the query, as that of `support_query`, for reports with a column for each bit: one pass over the rows.

    Parameters
    ----------
    relation : str
        SQL of what has the reports.
    columns : sequence of str
        Of the bits, quoted, in the order of the categories.
    groups : str
        As of `support_query`.

    Example
    -------
    >>> import duckdb
    >>> rows = "(SELECT unnest([1, 0, 7]) AS a, unnest([1, 1, 0]) AS b)"
    >>> duckdb.sql(column_sums_query(rows, ["a", "b"]) + " ORDER BY bit").fetchall()
    [(-1, 0, 1), (0, 1, 2), (1, 2, 2)]
    """
    one, either = _listed(ONE), _listed(ONE + ZERO)
    texts = ", ".join(f"CAST({column} AS VARCHAR) AS b{i}" for i, column in enumerate(columns))
    sound = " AND ".join(f"COALESCE(b{i} IN ({either}), FALSE)" for i in range(len(columns)))
    kept = ", ".join(f"b{i}" for i in range(len(columns)))
    ones = (f"SUM(CASE WHEN sound = 1 AND b{i} IN ({one}) THEN 1 ELSE 0 END) AS s{i}" for i in range(len(columns)))
    each = (
        f"SELECT {kept}, CASE WHEN {sound} THEN 1 ELSE 0 END AS sound{groups} "
        f"FROM (SELECT {texts}{groups} FROM {relation}) AS written"
    )
    grouped = f" GROUP BY {groups.removeprefix(', ')}" if groups else ""
    summed = (
        f"SELECT {', '.join(ones)}, SUM(sound) AS told, SUM(1 - sound) AS untold{groups} "
        f"FROM ({each}) AS each_report{grouped}"
    )
    cases = " ".join(f"WHEN {i} THEN s{i}" for i in range(len(columns)))
    places = f"{_numbers('place', len(columns))} UNION ALL SELECT {NO_BIT}"
    users = f"CASE WHEN place = {NO_BIT} THEN untold ELSE told END"
    return (
        f'SELECT place AS "{BIT}"{groups}, CASE place {cases} ELSE 0 END AS "{SUPPORTS}", {users} AS "{USERS}" '
        f"FROM ({summed}) AS summed CROSS JOIN ({places}) AS places WHERE {users} > 0"
    )


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(f"'{text}'" for text in texts)


def _numbers(name: str, many: int) -> str:
    """A column of numbers from 0, which every engine knows how to make."""
    return f"SELECT 0 AS {name}" + "".join(f" UNION ALL SELECT {number}" for number in range(1, many))
