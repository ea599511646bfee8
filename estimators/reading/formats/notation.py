"""How numbers are written in a column of text: which mark is the decimal one, which separates thousands; or dates.

Nothing is guessed where two readings give two numbers: "1,234" alone is refused until somebody says which mark.  A
column is judged by all its cells, unless the first thousand are plain numbers; what follows is then as plain a number,
or refused by those who read it.
"""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

from ....mechanisms.errors import InputError
from .axis import A_DAY, CLOCK, DAYS, SECONDS, UTC_SECONDS
from .overrides import missing_in_sql, overrides

SAMPLE = 1000
"""Cells that are looked at before all are."""

LONGEST = 64
"""Characters of a number, a date or a time."""

SHOWN = 60
"""Characters of a cell that a message repeats."""

_END = r"([eE][+-]?\d+)?"
_GAPS = " '\u2019\u00a0\u202f"
_GAPS_SQL = _GAPS.replace("'", "''")
PLAIN = rf"[+-]?(\d+\.?\d*|\.\d+){_END}"


def _reading(decimal: str, thousands: str) -> str:
    """The regular expression of numbers with this decimal mark and this mark, spaces or apostrophes for thousands."""
    groups = "|".join(rf"[1-9]\d{{0,2}}([{mark}]\d{{3}})+" for mark in [thousands, *_GAPS])
    return rf"[+-]?((\d+|{groups})([{decimal}]\d*)?|[{decimal}]\d+){_END}"


POINT, COMMA = _reading(".", ","), _reading(",", ".")

ISO_DATE = r"\d{4}-\d{2}-\d{2}"
DOTTED = r"\d{1,2}\.\d{1,2}\.\d{4}"
SLASHED = r"\d{1,2}/\d{1,2}/\d{4}"
MOMENT = r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?"
ZONED = rf"{MOMENT} ?(Z|UTC|[+-]\d{{2}}(:?\d{{2}})?)"
H_MM = r"-?\d{1,6}:[0-5]\d"
H_MM_SS = r"-?\d{1,6}:[0-5]\d:[0-5]\d(\.\d+)?"
WITH_DAYS = r"\d+ days? [+]?\d{1,6}:[0-5]\d:[0-5]\d(\.\d+)?"
_S = r"\d+(\.\d+)?S"
ISO_DURATION = rf"P(\d+D|(\d+D)?T(\d+H(\d+M)?({_S})?|\d+M({_S})?|{_S}))"


@dataclass(frozen=True)
class Notation:
    """How a column's numbers are written.

    Attributes
    ----------
    cell : str
        SQL for a cell of text that `number` reads, or for one that is a number; what is none stays as it was.
    units : str
        Of dates, times and durations; empty for plain numbers.
    """

    cell: str
    units: str = ""


def notation(relation: duckdb.DuckDBPyRelation, position: int, where: str, *, plain: bool = True) -> Notation:
    """Return how a column of text, dates or times writes its numbers.

    Parameters
    ----------
    relation : duckdb.DuckDBPyRelation
    position : int
    where : str
        The column and its file, for messages.
    plain : bool
        Whether a decimal point is what the file would have, so that 1.234 is not in doubt: commas separate its cells.

    Raises
    ------
    InputError
        Cells of which two readings are possible, or dates among what is none.

    Example
    -------
    >>> with duckdb.connect() as connection:
    ...     cells = connection.sql("SELECT unnest(['1,5', '1.000', '2']) AS t")
    ...     cells.project(notation(cells, 0, "column 't'").cell).fetchall()
    [('1.5',), ('1000',), ('2',)]
    """
    name = '"' + relation.columns[position].replace('"', '""') + '"'
    kind = str(relation.types[position])
    if kind != "VARCHAR":
        return _typed(relation, name, kind)
    cells = relation.project(f"left({name}, {LONGEST + 1}) AS t")
    asked = overrides().decimal
    if asked is None and plain and not _any(cells.limit(SAMPLE), f"NOT ({_is(PLAIN)})"):
        return Notation(name)
    found = _counts(cells)
    if 2 * found["temporal"] > found["cells"]:
        return _temporal(cells, name, found, where)
    decimal = asked or _decimal(found, plain, cells, where)
    grouped = found[f"grouped{decimal}"]
    if decimal == "." and not grouped:
        return Notation(name)
    trimmed = f"trim({name})"
    if decimal == ".":
        rewritten = f"regexp_replace({trimmed}, '[,{_GAPS_SQL}]', '', 'g')"
        cell = f"CASE WHEN {_matches(trimmed, POINT)} THEN {rewritten} ELSE {name} END"
    else:
        rewritten = f"replace(regexp_replace({trimmed}, '[.{_GAPS_SQL}]', '', 'g'), ',', '.')"
        cell = (
            f"CASE WHEN {_matches(trimmed, COMMA)} THEN {rewritten} "
            f"WHEN {_matches(trimmed, PLAIN)} THEN {name} || ' (the decimal mark is a comma)' ELSE {name} END"
        )
    marks = ["decimal commas"] if decimal == "," and found["with_commas"] else []
    if marks := marks + (["thousands marks"] if grouped else []):
        overrides().tell(f"{where.split(' of ')[0]} is read with {' and '.join(marks)}")
    return Notation(f"({cell})")


def _matches(cell: str, pattern: str) -> str:
    return f"(length({cell}) <= {LONGEST} AND regexp_full_match({cell}, '{pattern.replace(chr(39), chr(39) * 2)}'))"


def _is(pattern: str) -> str:
    """SQL for whether a cell t is empty or such."""
    return f"t IS NULL OR trim(t) IN {missing_in_sql()} OR {_matches('trim(t)', pattern)}"


def _any(cells: duckdb.DuckDBPyRelation, condition: str) -> bool:
    return bool(cells.filter(condition).limit(1).fetchall())


_TEMPORAL = {
    "date": ISO_DATE, "dotted": DOTTED, "slashed": SLASHED, "moment": MOMENT, "zoned": ZONED, "h_mm": H_MM,
    "h_mm_ss": H_MM_SS, "with_days": WITH_DAYS, "duration": ISO_DURATION,
}  # fmt: skip


def _counts(cells: duckdb.DuckDBPyRelation) -> dict[str, int]:
    """How many cells there are, and how many could be read in each way."""
    conditions = {
        "plain": "p", "point_only": "d AND NOT c", "comma_only": "c AND NOT d", "with_commas": "c AND contains(t, ',')",
        "grouped.": f"d AND regexp_matches(t, '[,{_GAPS_SQL}]')",
        "grouped,": f"c AND regexp_matches(t, '[.{_GAPS_SQL}]')",
        "either,": "d AND c AND contains(t, ',')", "either.": "d AND c AND contains(t, '.')",
        **{kind: _matches("t", pattern) for kind, pattern in _TEMPORAL.items()},
    }  # fmt: skip
    asked = ", ".join(["count(*)", *(f"count(*) FILTER ({what})" for what in conditions.values())])
    judged = (
        cells.project("trim(t) AS t")
        .filter(f"t IS NOT NULL AND t NOT IN {missing_in_sql()}")
        .project(f"t, {_matches('t', PLAIN)} AS p, {_matches('t', POINT)} AS d, {_matches('t', COMMA)} AS c")
    )
    row = judged.aggregate(asked).fetchall()[0]
    found = dict(zip(["cells", *conditions], row, strict=True))
    found["temporal"] = sum(found[kind] for kind in _TEMPORAL)
    return found


def _decimal(found: dict[str, int], plain: bool, cells: duckdb.DuckDBPyRelation, where: str) -> str:
    """The decimal mark that the cells show; InputError where they show none, or both."""
    point, comma = found["point_only"], found["comma_only"]
    if point and comma:
        first = [_first(cells, f"{_matches('t', one)} AND NOT {_matches('t', other)}") for one, other in
                 ((POINT, COMMA), (COMMA, POINT))]  # fmt: skip
        raise InputError(
            f"{where} must have one decimal mark, got {first[0][1]!r} in row {first[0][0]} and {first[1][1]!r} in row "
            f"{first[1][0]}: write them alike"
        )
    if point or comma:
        return "." if point else ","
    if found["either,"] or (found["either."] and not plain):
        row, text = _first(cells, f"{_matches('t', POINT)} AND {_matches('t', COMMA)} AND regexp_matches(t, '[.,]')")
        raise InputError(
            f"{where} must say what its marks are, got {text!r} in row {row}, which may be {_value(text, '.')} or "
            f"{_value(text, ',')}: say --format csv:decimal=. or --format csv:decimal=, (read_as)"
        )
    return "."


def _value(text: str, decimal: str) -> str:
    other = "," if decimal == "." else "."
    return text.replace(other, "").replace(decimal, ".")


def _first(cells: duckdb.DuckDBPyRelation, condition: str) -> tuple[int, str]:
    """The first row, from 1, whose cell t is such, and its text."""
    numbered = cells.project(f"row_number() OVER () AS r, trim(left(t, {SHOWN})) AS t")
    (found,) = numbered.filter(condition).order("r").limit(1).fetchall()
    return found


def _typed(relation: duckdb.DuckDBPyRelation, name: str, kind: str) -> Notation:
    """Columns that are dates, times or durations by their type; all others as they are."""
    if kind == "DATE":
        return Notation(f"CAST(date_diff('day', DATE '1970-01-01', {name}) AS DOUBLE)", DAYS)
    if kind.startswith("TIMESTAMP"):
        seconds = f"epoch({name if 'ZONE' in kind else f'CAST({name} AS TIMESTAMP)'})"
        if "ZONE" not in kind and not _any(relation.project(f"{seconds} AS s"), f"s % {A_DAY} != 0"):
            return Notation(f"({seconds} / {A_DAY})", DAYS)
        return Notation(seconds, UTC_SECONDS if "ZONE" in kind else SECONDS)
    if kind.startswith("TIME") or kind == "INTERVAL":
        return Notation(f"epoch({name})", CLOCK)
    return Notation(name)


def _temporal(cells: duckdb.DuckDBPyRelation, name: str, found: dict[str, int], where: str) -> Notation:
    """Dates, moments, or clock times and durations: all of one family, or the first that is not is named."""
    families = {
        DAYS: ("date",), "dotted": ("dotted",), "slashed": ("slashed",), SECONDS: ("moment", "date"),
        UTC_SECONDS: ("zoned",), CLOCK: ("h_mm", "h_mm_ss", "with_days", "duration"),
    }  # fmt: skip
    counts = {family: sum(found[kind] for kind in kinds) for family, kinds in families.items()}
    family = max(counts, key=lambda each: counts[each])
    pattern = "|".join(f"({_TEMPORAL[kind]})" for kind in families[family])
    if found["plain"] or sum(found[kind] for kind in _TEMPORAL) > counts[family]:
        row, text = _first(cells, f"NOT ({_is(pattern)}) AND (" + " OR ".join(
            _matches("trim(t)", each) for each in (PLAIN, *_TEMPORAL.values())) + ")")  # fmt: skip
        raise InputError(f"{where} must hold dates or times of one form, got {text!r} in row {row}: write them alike")
    cell = f"trim({name})"
    value, units = {
        DAYS: (_days(f"TRY_CAST({cell} AS DATE)"), DAYS),
        "dotted": (_days(f"TRY_CAST(try_strptime({cell}, '%d.%m.%Y') AS DATE)"), DAYS),
        SECONDS: (f"epoch(TRY_CAST({cell} AS TIMESTAMP))", SECONDS),
        UTC_SECONDS: (f"epoch(TRY_CAST({cell} AS TIMESTAMPTZ))", UTC_SECONDS),
        CLOCK: (_clock(cell), CLOCK),
    }.get(family) or (_days(f"TRY_CAST(try_strptime({cell}, '{_slashed(cells, where)}') AS DATE)"), DAYS)
    if family == CLOCK:
        _refuse_minutes(cells, found, where)
    if family == SECONDS and not _any(cells.project(f"epoch(TRY_CAST(trim(t) AS TIMESTAMP)) % {A_DAY} AS s"), "s != 0"):
        value, units = f"({value} / {A_DAY})", DAYS
    overrides().tell(f"{where.split(' of ')[0]} is read as {units}")
    return Notation(
        f"(CASE WHEN {_matches(cell, pattern)} THEN coalesce(CAST({value} AS VARCHAR), {name}) ELSE {name} END)", units
    )


def _days(day: str) -> str:
    return f"date_diff('day', DATE '1970-01-01', {day})"


def _slashed(cells: duckdb.DuckDBPyRelation, where: str) -> str:
    """Whether the day or the month comes first in 3/12/2020; InputError where nothing tells."""
    parts = "CAST(regexp_extract(t, '(\\d+)/(\\d+)/', {}) AS INTEGER) > 12"
    dated = cells.project("trim(t) AS t").filter(_matches("t", SLASHED))
    day, month = (_any(dated, parts.format(i)) for i in (1, 2))
    if day == month:
        row, text = _first(cells, _matches("trim(t)", SLASHED))
        why = "the day comes first in some and the month in others" if day else "whose day and month cannot be told"
        raise InputError(f"{where} must hold clear dates, got {text!r} in row {row}, {why}: write them as 2020-12-31")
    return "%d/%m/%Y" if day else "%m/%d/%Y"


def _refuse_minutes(cells: duckdb.DuckDBPyRelation, found: dict[str, int], where: str) -> None:
    """1:30 is an hour and a half, unless some such cell is beyond a day: then it may be minutes and seconds."""
    if found["h_mm"] and _any(
        cells, f"{_matches('trim(t)', H_MM)} AND abs(CAST(split_part(trim(t), ':', 1) AS INTEGER)) >= 24"
    ):
        row, text = _first(cells, f"{_matches('t', H_MM)} AND abs(CAST(split_part(t, ':', 1) AS INTEGER)) >= 24")
        raise InputError(f"{where} must say its hours, got {text!r} in row {row}: write them as h:mm:ss")


def _clock(cell: str) -> str:
    """SQL for the seconds of 1:30, 1:30:00, 2 days 01:30:00 and P2DT1H30M."""

    def part(pattern: str) -> str:
        return f"coalesce(TRY_CAST(regexp_extract({cell}, '{pattern}', 1) AS DOUBLE), 0)"

    def seconds(parts: dict[str, int]) -> str:
        return " + ".join(f"{part(pattern)} * {unit}" for pattern, unit in parts.items())

    clock = seconds({r"(\d+):": 3600, r":(\d+)": 60, r":\d+:(\d+\.?\d*)": 1})
    days = seconds({r"(\d+) day": A_DAY})
    iso = seconds({r"(\d+)D": A_DAY, r"(\d+)H": 3600, r"(\d+)M": 60, r"(\d+\.?\d*)S": 1})
    sign = f"CASE WHEN starts_with({cell}, '-') THEN -1 ELSE 1 END"
    return f"CASE WHEN starts_with({cell}, 'P') THEN {iso} ELSE {sign} * ({days} + {clock}) END"
