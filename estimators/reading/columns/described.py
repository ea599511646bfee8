"""What a column holds, before anything is designed for it: numbers or categories, and what a range would leave out.

Everything is counted by duckdb, from one reading of the file.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

import duckdb
import numpy as np

from ....mechanisms.display.display import Shown
from ....mechanisms.display.summary import Dots, Profile, Told
from ....mechanisms.errors import InputError
from ..formats.axis import DAYS
from .cells import blank, column_notation, is_text, number, quoted
from .files import column_position, connected
from .rows.skipped_rows import TEXT_SHOWN
from .source import Source

QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
"""Shares of the values below the quantiles that are told."""

RARE = 0.001
"""Share of the values that may lie beyond either end of the range that is suggested."""

STEPS = tuple(digit * 10**power for power in range(10) for digit in (1, 2, 2.5, 5))
"""Lengths that people round to."""

NEAR = 0.05
"""Share of its width by which that range may grow to hold every value."""

STEPPED = 31
"""Whole numbers from one end to the other, such as days of a month, up to which each is looked at by itself."""

NARROW = 3.0
"""How many times as wide as 99 of 100 values need a range may be before a narrower one is told of."""

BINS = 12
"""Bars of the histogram, about."""

YEARS, MONTHS = 1500, 100
"""Days from which a range of dates has whole years, or whole months."""

EPOCH = date(1970, 1, 1)

HEAPED, OVER_EVEN = 0.1, 3.0
"""Values are heaped on the multiples of a step if so many are, and so many times as many as of evenly spread ones."""

CATEGORIES_SHOWN = 20
"""Categories that are told, the commonest first, and pairs of spellings."""

ALONE = "values"
"""What values without a table are called."""


@dataclass(frozen=True, eq=False, repr=False)
class NumberColumn(Shown):
    """A column of numbers, drawn as a histogram of the range that is suggested.

    Attributes
    ----------
    rows, missing : int
        Rows of the file, and those with no value.
    texts : int
        Rows whose text is no finite number.
    first_text : str
        The first of them and its row; empty where there is none.
    distinct : int
        Different values.
    whole : bool
        Whether all are whole numbers.
    smallest, largest : float
    quantiles : tuple of (float, float)
        Shares and quantiles.
    commonest : float
        The most frequent value.
    common : float
        Its share.
    heap, heaped : float
        A step whose multiples have far more of all other values than chance gives them, and their share; NaN and 0
        where there is none.
    low, high : float
        A range with round ends that holds all but the rarest values.
    below, above : int
        Values outside it.
    edges : tuple of float
        k + 1 edges of equal bins of that range.
    counts : tuple of int
        Values in each of the k bins.
    narrow : tuple of (float, float) or None
        A range of round ends that 99 of 100 values need, if it is far narrower: less noise, for more values outside.
    outside_narrow : int
        Values outside that.
    units : str
        What dates, times and durations are counted in; empty for numbers.

    Example
    -------
    >>> told = describe([18, 25, 31, 90])
    >>> told
    NumberColumn(rows=4, missing=0, texts=0, distinct=4, smallest=18, largest=90, low=15, high=90, outside=0)
    >>> told.domain
    (15.0, 90.0)
    """

    rows: int
    missing: int
    texts: int
    first_text: str
    distinct: int
    whole: bool
    smallest: float
    largest: float
    quantiles: tuple[tuple[float, float], ...]
    commonest: float
    common: float
    heap: float
    heaped: float
    low: float
    high: float
    below: int
    above: int
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    narrow: tuple[float, float] | None = None
    outside_narrow: int = 0
    units: str = ""

    @property
    def stepped(self) -> bool:
        """Whether each bin holds one whole number: that in its middle."""
        return self.whole and not self.units and self.edges[0] % 1 == 0.5 and self.edges[1] - self.edges[0] == 1

    @property
    def domain(self) -> tuple[float, float]:
        """The range with round ends, as priors and tables take it; a range is better known from elsewhere."""
        return self.low, self.high

    def _line(self) -> dict[str, Any]:
        names = ("rows", "missing", "texts", "distinct", "smallest", "largest", "low", "high")
        told = {name: getattr(self, name) for name in names} | {"outside": self.below + self.above}
        return told | ({"units": self.units} if self.units else {})

    def _told(self) -> Told:
        shares = np.array(self.counts) / max(self.rows - self.missing - self.texts, 1)
        columns = {"from": self.edges[:-1], "to": self.edges[1:], "rows": self.counts, "share": shares.tolist()}
        middles = (np.array(self.edges[:-1]) + self.edges[1:]) / 2
        return Told(self._line(), columns, Profile(middles, shares, self.units or "value", "share of the values"))


@dataclass(frozen=True, eq=False, repr=False)
class CategoryColumn(Shown):
    """A column of categories, of which the commonest are drawn.

    Attributes
    ----------
    rows, missing : int
    distinct : int
        Different categories.
    commonest : tuple of (str, int)
        At most twenty, with their rows, the commonest first.
    alike : tuple of tuple of str
        Categories that differ in case and spaces alone, at most twenty groups.

    Example
    -------
    >>> describe(["cook", "nurse", "Cook", "cook"]).to_frame(backend="polars").shape
    (3, 3)
    """

    rows: int
    missing: int
    distinct: int
    commonest: tuple[tuple[str, int], ...]
    alike: tuple[tuple[str, ...], ...]

    def _line(self) -> dict[str, Any]:
        return {"rows": self.rows, "missing": self.missing, "distinct": self.distinct, "alike": len(self.alike)}

    def _told(self) -> Told:
        labels, counts = [text for text, _ in self.commonest], [count for _, count in self.commonest]
        shares = np.array(counts, dtype=float) / max(self.rows - self.missing, 1)
        columns = {"category": labels, "rows": counts, "share": shares.tolist()}
        return Told(self._line(), columns, Dots(labels, shares, "share of the rows") if labels else None)


def describe(data: Any, column: str | None = None, *, categorical: bool | None = None) -> NumberColumn | CategoryColumn:
    """Describe a column's values as `optldp describe` does; the answer discloses facts about the values themselves.

    Parameters
    ----------
    data : path, table or list
        A CSV, Parquet or Feather file; an Arrow table, a pandas or polars data frame, arrays by column name; or the
        values alone.
    column : str, optional
        The column's name; none for values alone.
    categorical : bool, optional
        Whether it holds categories; by default where fewer than half of its values are numbers.

    Returns
    -------
    column : NumberColumn or CategoryColumn
        For numbers: their range, their quantiles and the entries that are no numbers. For categories: how often each
        occurs, and which look alike.

    Raises
    ------
    InputError
        One line each: no such file, unreadable, unsupported extension, no such column.

    Example
    -------
    >>> import pathlib, tempfile
    >>> from optldp import describe
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("job,income\\nCook,1200\\ncook,900\\n,n/a\\n")
    >>> told = describe(path, "income")
    >>> told.low, told.high, told.texts, told.first_text
    (900.0, 1200.0, 1, "'n/a' in row 3")
    >>> describe(path, "job").alike
    (('Cook', 'cook'),)
    """
    named = isinstance(data, str | os.PathLike)
    if column is None:
        if named:
            raise InputError(f"a file has columns, got none for {str(data)!r:.80}: name the one to describe")
        data, column = {ALONE: _values(data)}, ALONE
    source = Source(data, "the data")
    with connected() as connection, source.reading():
        relation, names = source.open(connection)
        where = f"column {column!r}" + (f" of {str(data)!r}" if named else "")
        position = column_position(names, column, where)
        if not named:
            relation.create("held")  # a stream is read once
            relation = connection.table("held")
        cell, text = quoted(relation.columns[position]), is_text(relation, position)
        value, units = cell, ""
        if not text and not _is_number(str(relation.types[position])):
            value, text = f"CAST({cell} AS VARCHAR)", True
        elif not categorical:
            written = column_notation(relation, position, where, source.path or "")
            value, units = written.cell, written.units
        cells = relation.project(
            f"row_number() OVER () AS r, CAST({cell} AS VARCHAR) AS t, {blank(value, text=text)} AS missing, "
            f"{number(value, text=text)} AS v"
        )
        cells.create("cells")
        found = _described(connection, categorical, units)
        return replace(found, units=units) if isinstance(found, NumberColumn) else found


def _values(data: Any) -> np.ndarray:
    """Return values that come alone as one column; what is no number is None where it is missing, else text."""
    if isinstance(data, Mapping) or len(getattr(data, "shape", (0,))) > 1:
        raise InputError("a table has columns, got no name of one: say which to describe")
    array = np.asarray(data)
    if array.ndim != 1:
        raise InputError(f"values must be one list, got shape {array.shape}")
    if array.dtype.kind != "O":
        return array
    return np.array([None if each is None or each != each else str(each) for each in array], dtype=object)


def _is_number(kind: str) -> bool:
    return kind.endswith("INT") or kind.startswith(
        ("DATE", "TIME", "INTERVAL", "INTEGER", "FLOAT", "DOUBLE", "DECIMAL", "BIGNUM", "BOOLEAN")
    )


def _described(
    connection: duckdb.DuckDBPyConnection, categorical: bool | None, units: str
) -> NumberColumn | CategoryColumn:
    rows, missing, finite = _row(
        connection, "SELECT count(*), count(*) FILTER (missing), count(*) FILTER (isfinite(v)) FROM cells"
    )
    if categorical is None:
        categorical = 2 * finite < rows - missing
    if categorical or not finite:
        return _categories(connection, rows, missing)
    return _numbers(connection, rows, missing, finite, units)


def _numbers(connection: duckdb.DuckDBPyConnection, rows: int, missing: int, finite: int, units: str) -> NumberColumn:
    shares = [RARE, *QUANTILES, 1 - RARE]
    smallest, largest, distinct, whole, quantiles = _row(
        connection,
        f"SELECT min(v), max(v), count(DISTINCT v), bool_and(v = floor(v)), quantile_cont(v, {shares}) "
        "FROM cells WHERE isfinite(v)",
    )
    rounded = round_dates if units == DAYS else round_range
    if whole and not units and 0 < quantiles[-1] - quantiles[0] < STEPPED:
        rounded = _whole_range
    low, high = rounded(*((smallest, largest) if distinct <= 2 else (quantiles[0], quantiles[-1])))
    for wider in (rounded(smallest, high), rounded(low, largest)):  # ends that cost little are moved for all
        if wider[1] - wider[0] <= (1 + NEAR) * (high - low):
            low, high = min(low, wider[0]), max(high, wider[1])
    commonest, common = _row(
        connection, "SELECT v, count(*) AS n FROM cells WHERE isfinite(v) GROUP BY v ORDER BY n DESC, v LIMIT 1"
    )
    heap, heaped = _heap(connection, commonest, high - low) if whole and not units else (math.nan, 0.0)
    below, above = _row(
        connection, f"SELECT count(*) FILTER (v < {low!r}), count(*) FILTER (v > {high!r}) FROM cells WHERE isfinite(v)"
    )
    edges = _steps(low, high) if rounded is _whole_range else _edges(low, high)
    counts = [0] * (len(edges) - 1)
    found = connection.execute(
        f"SELECT least(floor((v - {edges[0]!r}) / {edges[1] - edges[0]!r}), {len(counts) - 1}) AS bin, count(*) "
        "FROM cells "
        f"WHERE v BETWEEN {low!r} AND {high!r} GROUP BY bin"
    ).fetchall()
    for place, count in found:
        counts[int(place)] = count
    narrow, outside_narrow = _narrow(connection, quantiles[1], quantiles[-2], high - low) if not units else (None, 0)
    first = connection.execute(
        f"SELECT r, left(t, {TEXT_SHOWN}) FROM cells WHERE NOT missing AND NOT coalesce(isfinite(v), false) "
        "ORDER BY r LIMIT 1"
    ).fetchone()
    return NumberColumn(
        rows, missing, rows - missing - finite, "" if first is None else f"{first[1]!r} in row {first[0]}", distinct,
        whole, smallest, largest, tuple(zip(QUANTILES, quantiles[1:-1], strict=True)), commonest, common / finite, heap,
        heaped, low, high, below, above, edges, tuple(counts), narrow, outside_narrow,
    )  # fmt: skip


def _heap(connection: duckdb.DuckDBPyConnection, commonest: float, width: float) -> tuple[float, float]:
    """The step on whose multiples there are more whole numbers, but for the commonest, than of even ones."""
    steps = [step for step in STEPS if 5 <= step <= width / 4 and step == int(step)]
    if not steps:
        return math.nan, 0.0
    asked = ", ".join(["count(*)", *(f"count(*) FILTER (v % {step!r} = 0)" for step in steps)])
    others, *found = _row(connection, f"SELECT {asked} FROM cells WHERE isfinite(v) AND v != {commonest!r}")
    shares = [count / max(others, 1) for count in found]
    heaps = [(step, share) for step, share in zip(steps, shares, strict=True) if share > max(HEAPED, OVER_EVEN / step)]
    return max(heaps, key=lambda heap: heap[1] - 1 / heap[0], default=(math.nan, 0.0))


def _narrow(
    connection: duckdb.DuckDBPyConnection, low: float, high: float, width: float
) -> tuple[tuple[float, float] | None, int]:
    """A range for all but a hundredth at either end, and how many values lie outside, where that is far narrower."""
    if low == high:
        return None, 0
    bottom, top = round_range(low, high)
    if NARROW * (top - bottom) > width:
        return None, 0
    (outside,) = _row(connection, f"SELECT count(*) FROM cells WHERE isfinite(v) AND (v < {bottom!r} OR v > {top!r})")
    return (bottom, top), outside


def _whole_range(low: float, high: float) -> tuple[float, float]:
    """Few whole numbers are a range as they are: rounder ends would be values that nobody has."""
    return math.floor(low), math.ceil(high)


def _steps(low: float, high: float) -> tuple[float, ...]:
    """Edges of bins that hold one whole number each."""
    return tuple((np.arange(low, high + 2) - 0.5).tolist())


def _edges(low: float, high: float) -> tuple[float, ...]:
    """Edges of about a dozen bins, of a round length if one divides the range."""
    steps = [step * scale for step in (1, 2, 2.5, 5) for scale in (10.0**power for power in range(-12, 13))]
    bins = [(high - low) / step for step in steps if 8 <= (high - low) / step <= 20]
    # A range of 0.3 in steps of 0.1 is 2.9999999999999996 of them.
    whole = [round(count) for count in bins if abs(count - round(count)) < 1e-9]
    return tuple(np.linspace(low, high, min(whole, key=lambda count: abs(count - BINS), default=BINS) + 1).tolist())


def round_range(low: float, high: float) -> tuple[float, float]:
    """Return the ends widened to multiples of a round step, a tenth to a fifth of the width; 0 if the low end is near.

    Example
    -------
    >>> round_range(17, 90), round_range(3.2, 187_340), round_range(5, 5)
    ((15.0, 90.0), (0.0, 190000.0), (4.0, 6.0))
    """
    if low == high:
        return (math.floor(low) - 1.0, math.ceil(high) + 1.0) if low == int(low) else (math.floor(low), math.ceil(high))
    width = high - low
    power = 10.0 ** math.floor(math.log10(width / 10))
    step = next(digit * power for digit in (1, 2, 2.5, 5, 10) if digit * power >= width / 20)
    bottom, top = math.floor(low / step) * step, math.ceil(high / step) * step
    if 0 <= bottom <= 2 * step:
        bottom = 0.0
    return float(f"{bottom:.12g}"), float(f"{top:.12g}")


def round_dates(low: float, high: float) -> tuple[float, float]:
    """Return days widened to the first and last days of years, of months where there are few, or as they are.

    Example
    -------
    >>> [str(date(1970, 1, 1) + timedelta(days=day)) for day in round_dates(17_000, 19_000)]
    ['2016-01-01', '2022-12-31']
    """
    try:
        first, last = (EPOCH + timedelta(days=day) for day in (math.floor(low), math.ceil(high)))
        if high - low >= YEARS:
            first, last = first.replace(month=1, day=1), last.replace(month=12, day=31)
        elif high - low >= MONTHS:
            following = last.replace(day=28) + timedelta(days=4)
            first, last = first.replace(day=1), following - timedelta(days=following.day)
    except (OverflowError, ValueError):  # beyond the calendar
        return round_range(low, high)
    first, last = (first, last) if first < last else (first, last + timedelta(days=1))
    return float((first - EPOCH).days), float((last - EPOCH).days)


def _categories(connection: duckdb.DuckDBPyConnection, rows: int, missing: int) -> CategoryColumn:
    connection.execute("CREATE TABLE groups AS SELECT t, count(*) AS n FROM cells WHERE NOT missing GROUP BY t")
    (distinct,) = _row(connection, "SELECT count(*) FROM groups")
    commonest = connection.execute(
        f"SELECT left(t, {TEXT_SHOWN}), n FROM groups ORDER BY n DESC, t LIMIT {CATEGORIES_SHOWN}"
    ).fetchall()
    alike = connection.execute(
        f"SELECT list(left(t, {TEXT_SHOWN}) ORDER BY n DESC, t) FROM groups "
        r"GROUP BY lower(regexp_replace(trim(t), '\s+', ' ', 'g')) HAVING count(*) > 1 "
        f"ORDER BY sum(n) DESC, min(t) LIMIT {CATEGORIES_SHOWN}"
    ).fetchall()
    return CategoryColumn(rows, missing, distinct, tuple(commonest), tuple(tuple(group) for (group,) in alike))


def _row(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[Any, ...]:
    found = connection.execute(query).fetchone()
    assert found is not None
    return found
