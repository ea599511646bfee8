"""One query of counts that add up over time: of each table and day that is open, again and again, with one result.

A report is named by an id, which it has once for all its copies; so counting the days anew that may still grow gives
what counting once at the end would. Memory is that of the ids of these days.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from ...mechanisms.errors import InputError
from ...mechanisms.user_name import LONGEST_NAME
from ..reading.columns.cells import quoted
from ..reading.columns.days import day_of
from ..reading.columns.other_table import TABLE
from ..reading.columns.simulated_columns import (
    BIT,
    COUNTED,
    DAY,
    INVALID,
    LATE,
    NO_BIT,
    OUTPUT,
    REPORT,
    REPORT_ID,
    SIMULATED,
    STATE,
    SUPPORTS,
    USERS,
    WAITING,
)
from .supports import WrittenBits, support_query

if TYPE_CHECKING:
    from collections.abc import Sequence

BY = (f"{TABLE},{DAY}", DAY)
"""What counts can be parted by, before a column of windows."""

OWN_COLUMNS = (TABLE, DAY, REPORT_ID, REPORT, OUTPUT, BIT, SUPPORTS, USERS, STATE)
"""Names that mean something else in counts than a window."""

LATE_DAYS, MIN_BATCH = 3, 100
"""Days for which a day stays open, and reports from which on a group is told, unless others are asked for."""

MOST_DAYS = 3660


@dataclass(frozen=True)
class Daily:
    """How counts are parted by days.

    Parameters
    ----------
    late : int
        Days after a day in which its reports may arrive, from 0.
    min_batch : int
        Reports that a table's day must have before anything but their number is told, from 1.
    today : str, optional
        The day up to which is counted, as 2026-05-01; default: the engine's own.
    arrived : str, optional
        The column of the days on which the collector received the reports: those that came too late are then counted
        under that day, apart.
    ids : bool
        Whether reports have ids, in the column report_id; without them nothing tells copies.
    window : str, optional
        Any public column, by whose cells, as text, the counts of a day are parted further.
    day_column : str
        The column of days; of another one than day, which may hold times, the day counts.

    Raises
    ------
    InputError
        Other numbers, a day that is none, or a window that counts have another column for.
    """

    late: int = LATE_DAYS
    min_batch: int = MIN_BATCH
    today: str | None = None
    arrived: str | None = None
    ids: bool = True
    window: str | None = None
    day_column: str = DAY

    def __post_init__(self) -> None:
        if not 0 <= self.late <= MOST_DAYS:
            raise InputError(f"--late must be from 0 to {MOST_DAYS} days, got {self.late}")
        if self.min_batch < 1:
            raise InputError(f"--min-batch must be at least 1, got {self.min_batch}: 1 holds nothing back")
        if self.window is not None and self.window.lower().removeprefix(SIMULATED) in OWN_COLUMNS:
            raise InputError(
                f"a window of --by must be a column beside {', '.join(OWN_COLUMNS)}, got {self.window!r:.60}"
            )
        if self.today is not None:
            day_of(self.today)

    def query(self, relation: str, column: str, where: str, *, table: bool, bits: WrittenBits | None) -> str:
        """Return the query, as duckdb reads it.

        Parameters
        ----------
        relation, where : str
            SQL of what has the reports, and a condition, "" for none.
        column : str
            Of the reports.
        table : bool
            Whether it is parted by the column table, too.
        bits : WrittenBits, optional
            Where bits are to be summed instead of whole reports counted.

        Example
        -------
        >>> import duckdb
        >>> rows = "(SELECT unnest(['a', 'b', 'b']) AS report_id, '2026-05-01' AS day, 3 AS output)"
        >>> asked = Daily(min_batch=1, today="2026-05-02")
        >>> duckdb.sql(asked.query(rows, "output", "", table=False, bits=None)).fetchall()
        [('2026-05-01', 3, 2, 'counted')]
        """
        groups = [TABLE, DAY] if table else [DAY]
        groups += [] if self.window is None else [self.window]
        each = self._each(relation, column, where, groups)
        told = ", ".join(map(quoted, groups))
        if bits is None:
            held = [quoted(OUTPUT)]
            seen = f"SELECT {told}, state, {quoted(OUTPUT)}, SUM(many) AS n FROM ({each}) AS each_report"
            seen += f" GROUP BY {told}, state, {quoted(OUTPUT)}"
            once, blank = "TRUE", {quoted(OUTPUT): "NULL"}
        else:
            held = [quoted(BIT), quoted(SUPPORTS)]
            inner = f", {told}, state"
            seen = support_query(f"({each})", quoted(OUTPUT), bits, inner, "many")
            seen = (
                f"SELECT {told}, CASE WHEN {quoted(BIT)} = {NO_BIT} AND state = '{COUNTED}' THEN '{INVALID}' "
                f"ELSE state END AS state, {', '.join(held)}, {quoted(USERS)} AS n FROM ({seen}) AS summed"
            )
            once, blank = f"{quoted(BIT)} <= 0", {quoted(BIT): str(NO_BIT), quoted(SUPPORTS): "0"}
        total = f"SUM(CASE WHEN {once} THEN n ELSE 0 END) OVER (PARTITION BY {told})"
        enough = f"total >= {self.min_batch}"
        cells = [f"CASE WHEN {enough} THEN {name} ELSE {blank[name]} END" for name in held]
        state = f"CASE WHEN {enough} THEN state ELSE '{WAITING}' END"
        shown = ", ".join(f"{cell} AS {name}" for cell, name in zip(cells, held, strict=True))
        return (
            f"SELECT {told}, {shown}, SUM(n) AS {quoted(USERS)}, {state} AS {quoted(STATE)} "
            f"FROM (SELECT {told}, state, {', '.join(held)}, n, {total} AS total FROM ({seen}) AS seen) AS sized "
            f"WHERE {enough} OR {once} GROUP BY {told}, {', '.join(cells)}, {state}"
        )

    def _each(self, relation: str, column: str, where: str, groups: Sequence[str]) -> str:
        """SQL of each report once, with its state; copies that differ are no report."""
        day, cell = f"CAST({quoted(self.day_column)} AS VARCHAR)", quoted(column)
        if self.day_column != DAY:
            day = f"SUBSTRING({day}, 1, 10)"
        last = f"'{self.today}'" if self.today else _text("CURRENT_DATE")
        back = f"'{day_of(self.today) - timedelta(self.late)}'" if self.today else _back("CURRENT_DATE", self.late)
        window = f"{day} >= {back} AND SUBSTRING({day}, 1, 10) <= {last}"
        late = "FALSE"
        if self.arrived is not None:
            arrived = f"CAST({quoted(self.arrived)} AS VARCHAR)"
            late = f"{day} < {_back(f'CAST({quoted(self.arrived)} AS DATE)', self.late)}"
            window = f"(({window}) AND NOT {late} OR {late} AND {arrived} >= {back} AND {arrived} <= {last})"
            day = f"CASE WHEN {late} THEN {arrived} ELSE {day} END"
        rows = [f"{cell} AS output", f"{day} AS day", f"CASE WHEN {late} THEN 1 ELSE 0 END AS late"]
        rows += [f"{quoted(TABLE)} AS of_table"] * (TABLE in groups)
        rows += [] if self.window is None else [f"CAST({quoted(self.window)} AS VARCHAR) AS of_window"]
        rows += [f"{quoted(REPORT_ID)} AS id"] * self.ids
        source = f"SELECT {', '.join(rows)} FROM {relation} WHERE {window}" + (f" AND {where}" if where else "")
        lacks = "output IS NULL OR LENGTH(day) <> 10"
        named = f", of_table AS {quoted(TABLE)}" if TABLE in groups else ""
        named += "" if self.window is None else f", of_window AS {quoted(self.window)}"
        if not self.ids:
            state = f"CASE WHEN {lacks} THEN '{INVALID}' WHEN late = 1 THEN '{LATE}' ELSE '{COUNTED}' END"
            sound = f"CASE WHEN {lacks} THEN NULL ELSE output END"
            return (
                f"SELECT {sound} AS {quoted(OUTPUT)}{named}, SUBSTRING(day, 1, 10) AS {quoted(DAY)}, {state} AS state, "
                f"1 AS many FROM ({source}) AS rows_read"
            )
        told = ["output", "day", *(["of_table"] * (TABLE in groups)), *(["of_window"] * (self.window is not None))]
        least = ", ".join(f"MIN({name}) AS {name}" for name in told)
        differ = " OR ".join(f"MIN({name}) <> MAX({name})" for name in told)
        unnamed = f"id IS NULL OR LENGTH(CAST(id AS VARCHAR)) > {LONGEST_NAME}"
        once = (
            f"SELECT {least}, MIN(late) AS late, CASE WHEN id IS NULL THEN COUNT(*) ELSE 1 END AS many, "
            f"CASE WHEN {unnamed} OR {differ} THEN 1 ELSE 0 END AS wrong FROM ({source}) AS rows_read "
            "GROUP BY id"
        )
        lacks = f"wrong = 1 OR {lacks}"
        state = f"CASE WHEN {lacks} THEN '{INVALID}' WHEN late = 1 THEN '{LATE}' ELSE '{COUNTED}' END"
        return (
            f"SELECT CASE WHEN {lacks} THEN NULL ELSE output END AS {quoted(OUTPUT)}{named}, "
            f"SUBSTRING(day, 1, 10) AS {quoted(DAY)}, {state} AS state, many FROM ({once}) AS each_id"
        )


def _text(day: str) -> str:
    return f"CAST(CAST({day} AS DATE) AS VARCHAR)"


def _back(day: str, days: int) -> str:
    """SQL for the day so many before another, as text."""
    return _text(f"({day} - INTERVAL '{days}' DAY)")
