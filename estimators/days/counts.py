"""Counts by table and day from files: of each table's day the fullest answer counts.

A day that is open is counted again and again, and its reports only become more; so of several answers the one with
most reports holds all others. Reading them all gives the same in any order, and as often as one likes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from ...mechanisms.errors import InputError
from ..reading.columns.cells import quoted
from ..reading.columns.days import day_of_time
from ..reading.columns.files import UNREADABLE_FILE, FilePath, columns_of, connected, listed, open_file, unreadable
from ..reading.columns.other_table import TABLE, wrong_table
from ..reading.columns.simulated_columns import (
    BIT,
    COUNTED,
    DAY,
    INVALID,
    LATE,
    NO_BIT,
    OUTPUT,
    SIMULATED,
    STATE,
    SUPPORTS,
    USERS,
    WAITING,
)

SUFFIXES = (".csv", ".parquet")
"""Files of a folder that are read."""

Key = tuple[str, str, bool, str]
"""Table, day, whether reports came too late, window."""

STATES = (COUNTED, INVALID, WAITING, LATE)

LONGEST = 18
"""Digits of a number of users."""


@dataclass(frozen=True)
class DayRow:
    """So many users of one report, or of one bit, of a table's day.

    Attributes
    ----------
    output : str
        The report, or the number of the bit; "" where none is told.
    supports : int
        Of a bit.
    users : int
    state : str
    """

    output: str
    supports: int
    users: int
    state: str


@dataclass(frozen=True)
class Day:
    """What is known of a table's day.

    Attributes
    ----------
    rows : tuple of DayRow
    of_bits : bool
    """

    rows: tuple[DayRow, ...]
    of_bits: bool

    def of(self, *states: str) -> int:
        """Return the number of reports in these states."""
        own = [row for row in self.rows if row.state in states]
        if not self.of_bits:
            return sum(row.users for row in own)
        told = [row for row in own if row.output != str(NO_BIT)]
        untold = sum(row.users for row in own if row.output == str(NO_BIT))
        return untold + max((row.users for row in told), default=0)

    @property
    def fullness(self) -> tuple[int, int, bool]:
        """What grows from answer to answer: reports, those of them that are none, and whether they are told."""
        return self.of(*STATES), self.of(INVALID), not self.of(WAITING)


@dataclass(frozen=True, eq=False)
class DayCounts:
    """Counts by table and day.

    Attributes
    ----------
    days : dict of (table, day, late, window) to Day
        Late reports are counted separately, under the day on which they came. An unnamed table is "", and so is the
        window of counts without further cells.
    simulated : bool
        Whether the reports are those of a simulation.
    where : str
        Name of the source, for messages.

    Example
    -------
    >>> from optldp.estimators.days import load_days
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> head = "table,day,output,n,state\\n"
    >>> _ = (folder / "early.csv").write_text(head + "t0123456789ab,2026-05-01,0,7,counted\\n")
    >>> _ = (folder / "later.csv").write_text(head + "t0123456789ab,2026-05-01,0,9,counted\\n")
    >>> found = load_days([folder])
    >>> found.dates("t0123456789ab"), found.rows("t0123456789ab")["n"]
    ((datetime.date(2026, 5, 1),), array([9]))
    """

    days: Mapping[Key, Day]
    simulated: bool
    where: str

    @cached_property
    def tables(self) -> tuple[str, ...]:
        """The tables that reports were counted of, in the order of their names."""
        return tuple(sorted({table for table, *_ in self.days}))

    def require(self, tables: Collection[str]) -> None:
        """Raise InputError for reports of other tables; those that name none are taken as they are."""
        if other := [table for table in self.tables if table and table not in tables]:
            raise wrong_table(other[0], " or ".join(tables), self.where)

    def dates(self, table: str) -> tuple[date, ...]:
        """Return the days that there are counts of, in their order."""
        names = {day for name, day, late, _ in self.days if name in (table, "") and not late}
        return tuple(date.fromisoformat(day) for day in sorted(names))

    def missing(self, table: str) -> tuple[date, ...]:
        """Return the days between the first and the last that there are no counts of."""
        there = self.dates(table)
        if not there:
            return ()
        every = (there[0] + timedelta(step) for step in range((there[-1] - there[0]).days))
        return tuple(day for day in every if day not in there)

    def number(self, table: str, *states: str, day: date | None = None) -> int:
        """Return how many reports are in these states, on one day or on all."""
        return sum(
            found.of(*states)
            for (name, of, *_), found in self.days.items()
            if name in (table, "") and (day is None or of == day.isoformat())
        )

    def rows(self, table: str, day: date | None = None) -> dict[str, Any]:
        """Return the counts of reports of a table as `from_counts` takes them, of one day or of all.

        Bits have the columns bit and supports in place of output. Only what is counted is among them.
        """
        chosen = [
            found
            for (name, of, late, _), found in self.days.items()
            if name in (table, "") and not late and (day is None or of == day.isoformat())
        ]
        bits = {found.of_bits for found in chosen if found.of(COUNTED)}
        if len(bits) > 1:
            raise InputError(f"{self.where} must hold counts of one kind, got bits and whole reports: part them")
        told = [row for found in chosen for row in found.rows if row.state == COUNTED]
        users = np.array([row.users for row in told], dtype=np.int64)
        if bits == {True}:
            sums = np.array([row.supports for row in told], dtype=np.int64)
            return {BIT: np.array([int(row.output) for row in told], dtype=np.int64), SUPPORTS: sums, USERS: users}
        return {OUTPUT: np.array([row.output for row in told], dtype=object), USERS: users}


def by_day(path: FilePath) -> bool:
    """Whether a path is a folder of counts, or a file of counts by day; InputError for one that cannot be opened."""
    return Path(path).is_dir() or {DAY, STATE} <= {name.lower() for name in columns_of(path)}


def load_days(paths: Sequence[FilePath]) -> DayCounts:
    """Return the counts by table and day from files; of several answers it takes the fullest of each table's day.

    Parameters
    ----------
    paths : sequence of path
        Files, .csv or .parquet, with answers to the query of `Daily`; or folders of such files.

    Returns
    -------
    counts : DayCounts

    Raises
    ------
    InputError
        No files, other columns, or invalid days or numbers.

    Example
    -------
    >>> from optldp.estimators.days import load_days
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "answer.csv"
    >>> _ = file.write_text("table,day,output,n,state\\nt0123456789ab,2026-05-01,,7,waiting\\n")
    >>> load_days([file]).number("t0123456789ab", "waiting")
    7
    """
    files = [file for path in paths for file in _files(Path(path))]
    where = " and ".join(repr(str(path)) for path in paths[:3])
    found: dict[Key, Day] = {}
    marks, parted = set(), {}
    with connected() as connection:
        for file in files:
            days, simulated, window = _read(connection, file)
            marks.add(simulated)
            parted.setdefault(window, str(file))
            for key, day in days.items():
                if key not in found or day.fullness > found[key].fullness:
                    found[key] = day
    if len(parted) > 1:
        (window, one), (other, another) = list(parted.items())[:2]
        raise InputError(
            f"counts must be parted alike, got {another!r} by {other or 'day alone'} beside {one!r} by "
            f"{window or 'day alone'}: what counts twice cannot be told"
        )
    if len(marks) > 1:
        raise InputError(f"{where} must all be of reports in earnest, or all of a simulation, got both: part them")
    return DayCounts(found, True in marks, where)


def _files(path: Path) -> Iterable[Path]:
    if not path.is_dir():
        return [path]
    there = [*path.iterdir(), *(file for part in path.glob("*=*") if part.is_dir() for file in part.iterdir())]
    files = sorted(file for file in there if file.suffix.lower() in SUFFIXES)
    if not files:
        raise InputError(f"a folder of counts must hold files .csv or .parquet, got none in {str(path)!r}")
    return files


def _read(connection: duckdb.DuckDBPyConnection, file: Path) -> tuple[dict[Key, Day], bool, str]:
    """The counts of one file, whether they are of a simulation, and the column that parts days, "" for none."""
    try:
        relation, there = open_file(connection, file)
    except UNREADABLE_FILE as error:
        raise unreadable(file, error) from None
    names = {name.lower(): name for name in there}
    simulated = SIMULATED + OUTPUT in names or SIMULATED + BIT in names
    mark = SIMULATED if simulated else ""
    bits = mark + BIT in names
    wanted = [DAY, STATE, USERS, *([mark + BIT, mark + SUPPORTS] if bits else [mark + OUTPUT])]
    if lacking := [name for name in wanted if name not in names]:
        raise InputError(
            f"{str(file)!r} must hold counts by day, got no column {lacking[0]!r} among "
            f"{listed(list(names.values()))}: count anew by optldp count-sql --by table,day"
        )
    windows = [name for name in names if name not in (*wanted, TABLE)]
    if len(windows) > 1:
        raise InputError(f"{str(file)!r} must part days by one column at most, got {listed(windows)}: leave one out")
    columns = [*wanted, *windows, *([TABLE] if TABLE in names else [])]
    try:
        cells = [f"CAST({quoted(relation.columns[there.index(names[name])])} AS VARCHAR)" for name in columns]
        rows = relation.project(", ".join(f"{cell} AS c{i}" for i, cell in enumerate(cells))).fetchall()
    except UNREADABLE_FILE as error:
        raise unreadable(file, error) from None
    days: dict[Key, list[DayRow]] = {}
    window = windows[0] if windows else ""
    for place, row in enumerate(rows, 1):
        told = dict(zip(columns, (str(cell).strip() if cell is not None else "" for cell in row), strict=True))
        day, state = day_of_time(told[DAY]), told[STATE]
        users = _whole(told[USERS])
        sound = state in STATES and users is not None and _is_day(day) and (not bits or _is_bit(told, mark))
        if not sound or users is None:
            raise InputError(
                f"{str(file)!r} must hold counts by day, got none in row {place}: use the answer as the engine gave it"
            )
        output = told[mark + (BIT if bits else OUTPUT)].removesuffix(".0")
        supports = _whole(told[mark + SUPPORTS]) or 0 if bits else 0
        if users:
            key = (told.get(TABLE, ""), day, state == LATE, told[window] if window else "")
            days.setdefault(key, []).append(DayRow(output, supports, users, state))
    return {key: Day(tuple(of), bits) for key, of in days.items()}, simulated, window


def _whole(text: str) -> int | None:
    digits = text.split(".")[0] if text.rstrip("0").endswith(".") else text
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= LONGEST else None


def _is_bit(told: Mapping[str, str], mark: str) -> bool:
    bit = told[mark + BIT].removesuffix(".0")
    return (bit == str(NO_BIT) or _whole(bit) is not None) and _whole(told[mark + SUPPORTS]) is not None


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return len(text) == 10
