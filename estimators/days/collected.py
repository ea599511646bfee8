"""Counts by table and day of batches of reports that arrive one after another, each of which counts once.

What is known is kept in one database file of the folder: the ids of reports of the days that are open, and the counts.
A batch is one transaction, so that a run that is killed has counted it whole or not at all; asked again it counts what
is new. Memory is that of the ids of the open days, and on disk; ids of closed days are forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import numpy as np

from ...mechanisms.errors import InputError
from ...mechanisms.user_name import LONGEST_NAME
from ..engines.daily import Daily
from ..engines.filters import Comparison
from ..engines.supports import WrittenBits, support_query
from ..reading.columns.cells import quoted
from ..reading.columns.days import TIME, day_of
from ..reading.columns.files import UNREADABLE_FILE, FilePath, column_position, connected, open_file, unreadable
from ..reading.columns.number_cells import write_columns
from ..reading.columns.other_table import TABLE, require_table
from ..reading.columns.rows.skipped_rows import failing_rows
from ..reading.columns.rows.written_rows import literal
from ..reading.columns.simulated_columns import (
    BIT,
    COUNTED,
    DAY,
    INVALID,
    LATE,
    NO_BIT,
    OUTPUT,
    REPORT_ID,
    SIMULATED,
    STATE,
    SUPPORTS,
    USERS,
    WAITING,
    column_of_reports,
    is_marked,
    marked_column,
)
from .state_tables import EACH, KNOWN, SCHEMA, UNLIKE
from .windows import window_folder

STATE_FILE = "state.duckdb"
"""What is known, in the folder of the counts."""

FORMAT = "optldp-days/2"

MEMORY_LIMIT = "1GB"
"""What duckdb may keep in memory; the rest is on disk."""

MOST_WINDOWS = 1000
"""Each has a folder, with a file for each day."""

SIMULATION = "whether the reports are of a simulation"


@dataclass(frozen=True)
class Batch:
    """What came of a batch.

    Attributes
    ----------
    new, repeated, late, invalid : int
        Reports that were counted; that had been counted before; that came after their day was closed; that are none.
    """

    new: int
    repeated: int
    late: int
    invalid: int


@contextmanager
def collecting(
    folder: FilePath,
    table: str,
    parse: Callable[[Sequence[str]], object],
    asked: Daily,
    bits: WrittenBits | None = None,
) -> Iterator[DayCollector]:
    """Yield a collector that counts batches of reports into a folder, which is made if it is missing.

    Parameters
    ----------
    folder : path
    table, parse, asked, bits
        As of `DayCollector`.

    Returns
    -------
    days : context manager of DayCollector

    Raises
    ------
    InputError
        A folder of other counts, or one that another run has open.

    Example
    -------
    >>> from pathlib import Path
    >>> from optldp.estimators.days import collecting
    >>> from optldp.estimators.engines.daily import Daily
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "batch.csv").write_text("output,day,report_id\\n1,2026-05-01,a1\\n0,2026-05-01,b2\\n")
    >>> with collecting(folder / "counts", "t0123456789ab", lambda texts: texts, Daily(today="2026-05-01")) as days:
    ...     days.add(folder / "batch.csv").new, days.add(folder / "batch.csv").repeated
    (2, 2)
    """
    place = Path(folder)
    made = [each for each in (place, *place.parents) if not each.exists()]
    place.mkdir(parents=True, exist_ok=True)
    with _tidy(made), connected({"temp_directory": str(place / ".spill")}) as connection:
        try:
            connection.execute(f"SET memory_limit = '{MEMORY_LIMIT}'")
            connection.execute(f"ATTACH {literal(str(place / STATE_FILE))} AS state; USE state")
            connection.execute(SCHEMA)
        except duckdb.Error as error:
            raise InputError(
                f"{str(place / STATE_FILE)!r} must be a state of counts that no other run has open, got "
                f"{str(error).splitlines()[0]:.160}"
            ) from None
        days = DayCollector(place, table, parse, asked, bits, connection)
        days.require_own()
        try:
            yield days
        finally:
            days.leave_nothing_empty()


@contextmanager
def _tidy(made: Sequence[Path]) -> Iterator[None]:
    """Remove the folders made, the innermost first, if nothing is in them at the end."""
    try:
        yield
    finally:
        with suppress(OSError):  # what holds something stays, and what it is in
            for each in made:
                each.rmdir()


@dataclass(frozen=True, eq=False)
class DayCollector:
    """A folder of counts by table and day, as `collecting` opens it.

    Parameters
    ----------
    folder : Path
        The counts of each day are written into a file of its name.
    table : str
        Identifier of the table that the reports must be of.
    parse : callable
        Parser of texts (n,), which raises InputError for those that are no reports.
    asked : Daily
    bits : WrittenBits, optional
        Number of bits, if bits are summed instead of whole reports counted.
    connection : duckdb.DuckDBPyConnection
        The days known so far.

    Example
    -------
    >>> from pathlib import Path
    >>> from optldp.estimators.days import collecting
    >>> from optldp.estimators.engines.daily import Daily
    >>> import tempfile
    >>> asked = Daily(late=1, today="2026-05-02")
    >>> with collecting(Path(tempfile.mkdtemp()), "t0123456789ab", lambda texts: texts, asked) as days:
    ...     days.today, days.first_open
    ('2026-05-02', '2026-05-01')
    """

    folder: Path
    table: str
    parse: Callable[[Sequence[str]], object]
    asked: Daily
    bits: WrittenBits | None
    connection: duckdb.DuckDBPyConnection

    @property
    def today(self) -> str:
        """The day up to which is counted, in UTC unless another was asked for."""
        return self.asked.today or datetime.now(UTC).date().isoformat()

    @property
    def first_open(self) -> str:
        """The first day whose reports may still arrive."""
        return (day_of(self.today) - timedelta(self.asked.late)).isoformat()

    def add(
        self,
        path: FilePath,
        *,
        column: str = "report",
        where: Sequence[str] = (),
        skip_invalid: bool = False,
        keep_first: bool = False,
    ) -> Batch:
        """Count the reports of a batch that were not counted before, and write the counts of the days it has.

        Parameters
        ----------
        path : path
            A file of reports as `perturb --day` writes them.
        column : str
            Of the reports.
        where : sequence of str
            As of `count_query`.
        skip_invalid, keep_first : bool
            Count what is no report apart, and an id that the batch has twice once, instead of refusing the batch.

        Raises
        ------
        InputError
            A batch that is refused: nothing of it is counted.
        """
        connection = self.connection
        try:
            relation, names = open_file(connection, path)
            named = column_of_reports(names, column)
            marked = marked_column(names, named, repr(str(path)))
            wanted = {"output": marked, "day": self.asked.day_column, "id": REPORT_ID}
            wanted |= {} if self.asked.window is None else {"part": self.asked.window}
            cells = self._cells(relation, names, path, wanted)
            chosen = self._chosen(relation, names, where)
            connection.execute("BEGIN TRANSACTION")
            try:
                for fact in (*self._own(), ("simulated", str(is_marked(marked)), SIMULATION)):
                    self._keep(*fact)
                connection.execute(f"CREATE TEMP TABLE batch AS {chosen.project(cells).sql_query()}")
                found = self._count(repr(str(path)), skip_invalid=skip_invalid, keep_first=keep_first)
                connection.execute("DROP TABLE batch; COMMIT")
            except BaseException:
                with suppress(duckdb.Error):
                    connection.execute("ROLLBACK")
                raise
        except UNREADABLE_FILE as error:
            raise unreadable(path, error) from None
        self.write()
        return found

    def write(self) -> None:
        """Write the counts of the days that may have grown since they were last written into files, each whole.

        These are the days that were open then: so a run that is killed before it wrote leaves them to the next.
        """
        name = f"written with --min-batch {self.asked.min_batch}"  # with another one all days are written anew
        held = self.connection.execute("SELECT said FROM known WHERE name = ?", [name]).fetchall()
        asked = "SELECT DISTINCT day, part FROM counts WHERE day >= ? ORDER BY ALL"
        for day, part in self.connection.execute(asked, [held[0][0] if held else ""]).fetchall():
            self._write_day(day, part)
        self.connection.execute("DELETE FROM known WHERE starts_with(name, 'written')")
        self.connection.execute("INSERT INTO known VALUES (?, ?)", [name, self.first_open])

    def _chosen(
        self, relation: duckdb.DuckDBPyRelation, names: Sequence[str], where: Sequence[str]
    ) -> duckdb.DuckDBPyRelation:
        """The rows for which all comparisons are true, whatever the columns are called inside."""
        chosen = [Comparison.read(text) for text in where]
        for each in chosen:
            position = column_position(names, each.column, f"column {each.column!r} of --where")
            relation = relation.filter(replace(each, column=relation.columns[position]).sql(text=True))
        return relation

    def _cells(
        self, relation: duckdb.DuckDBPyRelation, names: Sequence[str], path: FilePath, wanted: dict[str, str]
    ) -> str:
        place = repr(str(path))
        cells = []
        for name, column in wanted.items():
            position = column_position(names, column, f"column {column!r} of {place}")
            text = f"trim(CAST({quoted(relation.columns[position])} AS VARCHAR))"
            cell = f"coalesce({text}, '')" if name == "part" else f"nullif({text}, '')"
            if name == "id":
                cell = f"CASE WHEN length({text}) <= {LONGEST_NAME} THEN {cell} END"
            if name == "day":
                cell = f"regexp_replace({cell}, {literal(TIME)}, '\\1')"
            cells.append(f"{cell} AS {name}")
        made = "NULL"
        if TABLE in names:
            made = f"nullif(trim(CAST({quoted(relation.columns[list(names).index(TABLE)])} AS VARCHAR)), '')"
        return ", ".join([*cells, *(["'' AS part"] * ("part" not in wanted)), f"{made} AS made"])

    def _count(self, where: str, *, skip_invalid: bool, keep_first: bool) -> Batch:
        connection = self.connection
        self._require_clock()
        for (made,) in connection.execute("SELECT DISTINCT made FROM batch WHERE made IS NOT NULL").fetchall():
            require_table(made, self.table, where)
        self._require_days(where)
        lacking = self._number("SELECT count(*) FROM batch WHERE id IS NULL")
        if lacking and not skip_invalid:
            raise InputError(
                f"{where} must have an id for each report, of at most {LONGEST_NAME} characters, got {lacking} rows "
                "without one: leave them out, or let --skip-invalid do so"
            )
        connection.execute(EACH.format(first=literal(self.first_open), today=literal(self.today)))
        twice = self._number("SELECT coalesce(sum(many - 1), 0) FROM each")
        if twice and not keep_first:
            raise InputError(
                f"{where} must have each report id once, got {twice} rows whose id it has already: nothing of it is "
                "counted; --keep-first counts each once"
            )
        unlike = self._in_state(UNLIKE)
        if unlike and not skip_invalid:
            raise InputError(
                f"{where} must hold a report once counted unchanged, got {unlike} ids with another report: find out "
                "who sends them; --skip-invalid leaves them out"
            )
        why = self._part_invalid()
        wrong = self._in_state(INVALID)
        if wrong and not skip_invalid:
            raise InputError(
                f"{where} must hold reports of this mechanism, got {wrong} of what is none{why}: correct them, or "
                "let --skip-invalid count them apart"
            )
        self._require_windows()
        found = Batch(self._in_state(COUNTED), self._in_state(KNOWN), self._in_state(LATE), wrong + lacking + unlike)
        others = f"state IN ('{LATE}', '{INVALID}')"
        apart = f"SELECT day, part, state, NULL, 0, count(*) FROM each WHERE {others} GROUP BY ALL"
        for query in (apart, self._new_counts()):
            connection.execute(f"INSERT INTO counts SELECT {literal(self.table)}, * FROM ({query})")
        new = f"state IN ('{COUNTED}', '{LATE}', '{INVALID}')"
        connection.execute(f"INSERT INTO ids SELECT id, day, told FROM each WHERE {new}; DROP TABLE each")
        connection.execute("DELETE FROM ids WHERE day < ?", [self.first_open])
        connection.execute("DELETE FROM known WHERE name = 'today'")
        connection.execute("INSERT INTO known VALUES ('today', ?)", [self.today])
        return found

    def _in_state(self, state: str) -> int:
        return self._number(f"SELECT count(*) FROM each WHERE state = '{state}'")

    def _new_counts(self) -> str:
        rows = f"(SELECT day, part, output FROM each WHERE state = '{COUNTED}') AS fresh"
        if self.bits is None:
            return f"SELECT day, part, '{COUNTED}', output, 0, count(*) FROM {rows} GROUP BY day, part, output"
        summed = support_query(rows, "output", self.bits, ", day, part")
        return f"SELECT day, part, '{COUNTED}', CAST({BIT} AS VARCHAR), {SUPPORTS}, {USERS} FROM ({summed}) AS summed"

    def _part_invalid(self) -> str:
        """Say of new reports that are none that they are; return why the first text is none, if one is."""
        why = ""
        if self.bits is not None:
            fault = f"NOT ({self.bits.sound('output' if self.bits.hexadecimal else self.bits.digits('output'))})"
        else:
            asked = f"SELECT DISTINCT output FROM each WHERE state = '{COUNTED}' AND output IS NOT NULL"
            texts = [text for (text,) in self.connection.execute(asked).fetchall()]
            failing = self._failing(texts)
            if failing:
                why = f" ({self._fault(texts[failing[0]])})"
            wrong = ", ".join(literal(texts[place]) for place in failing)
            fault = f"output IN ({wrong})" if wrong else "FALSE"
        self.connection.execute(
            f"UPDATE each SET state = '{INVALID}' WHERE state = '{COUNTED}' AND (output IS NULL OR {fault})"
        )
        return why

    def _fault(self, text: str) -> str:
        try:
            self.parse([text])
        except InputError as error:
            return str(error)
        return ""

    def _failing(self, texts: list[str]) -> list[int]:
        try:
            self.parse(texts)
        except InputError:
            found = failing_rows(lambda rows: self.parse([texts[int(row)] for row in rows]), len(texts))
            return [int(row) for row in found]
        return []

    def _require_days(self, where: str) -> None:
        """Refuse a batch whose days are none, or are yet to come: its clock, or that of who counts, is wrong."""
        texts = [text for (text,) in self.connection.execute("SELECT DISTINCT day FROM batch").fetchall()]
        for text in texts:
            if text is None:
                raise InputError(f"{where} must have a day for each report, got rows without one: leave them out")
            day_of(text)
        if texts and max(texts) > self.today:
            raise InputError(
                f"{where} must be of days up to {self.today}, got {max(texts)}: count it on that day, or set the clock"
            )

    def _require_windows(self) -> None:
        """Refuse more windows than a folder is to hold, or one whose folder could have no name."""
        if self.asked.window is None:
            return
        texts = self.connection.execute("SELECT part FROM counts UNION SELECT part FROM each").fetchall()
        if len(texts) > MOST_WINDOWS:
            raise InputError(
                f"column {self.asked.window!r} must have at most {MOST_WINDOWS:,} windows, got {len(texts):,}: a "
                "window is for many reports"
            )
        for (text,) in texts:
            window_folder(self.asked.window, text)

    def _require_clock(self) -> None:
        last = self.connection.execute("SELECT said FROM known WHERE name = 'today'").fetchall()
        if last and last[0][0] > self.today:
            raise InputError(
                f"today must not be before {last[0][0]}, when these counts were added to last, got {self.today}: set "
                "the clock, or --today"
            )

    def require_own(self) -> None:
        """Raise InputError for a folder whose counts are of another table, or of days that stayed open longer."""
        for fact in self._own():
            self._is_held(*fact)

    def leave_nothing_empty(self) -> None:
        """Remove the state of a folder into which nothing was counted: it is for whatever table comes first.

        The file goes while it is still locked, so that no other run can have counted into it, and after a checkpoint,
        so that closing it touches no file beside it.
        """
        if not self._number("SELECT count(*) FROM known"):
            self.connection.execute("CHECKPOINT")
            with suppress(OSError):  # Windows removes no open file: it stays, and says nothing of any table
                (self.folder / STATE_FILE).unlink()

    def _own(self) -> list[tuple[str, str, str]]:
        """What holds for all counts of the folder: its name, what is said, and how it is called."""
        return [
            ("format", FORMAT, "the folder"),
            ("table", self.table, "the table"),
            ("late", str(self.asked.late), "--late"),
            ("window", self.asked.window or "none", "the window of --by"),
        ]

    def _keep(self, name: str, said: str, what: str) -> None:
        """Keep what holds for all counts of the folder, with the first batch that is counted."""
        if not self._is_held(name, said, what):
            self.connection.execute("INSERT INTO known VALUES (?, ?)", [name, said])

    def _is_held(self, name: str, said: str, what: str) -> bool:
        """Return whether that is kept already; InputError where something else is."""
        held = self.connection.execute("SELECT said FROM known WHERE name = ?", [name]).fetchall()
        if held and held[0][0] != said:
            raise InputError(
                f"{what} must be that of the counts in {str(self.folder)!r}, {held[0][0]}, got {said}: choose another "
                "folder"
            )
        return bool(held)

    def _number(self, query: str) -> int:
        return int(self.connection.execute(query).fetchall()[0][0])

    def _write_day(self, day: str, part: str) -> None:
        """Write one day, or a window of it: what is counted of it, or how many reports wait."""
        asked = "SELECT state, output, sum(supports), sum(n) FROM counts WHERE day = ? AND part = ?"
        rows = self.connection.execute(f"{asked} GROUP BY ALL ORDER BY ALL", [day, part]).fetchall()
        late = [row for row in rows if row[0] == LATE]
        told = [row for row in rows if row[0] != LATE]
        bits = self.bits is not None
        known = next((n for state, bit, _, n in told if bits and state == COUNTED and bit == "0"), 0)
        total = sum(n for state, _, _, n in told if not bits or state == INVALID) + int(known)
        if told and total < self.asked.min_batch:
            told = [(WAITING, None, 0, total)]
        rows = [*told, *late]
        simulated = self.connection.execute("SELECT said FROM known WHERE name = 'simulated'").fetchall()
        mark = SIMULATED if simulated and simulated[0][0] == "True" else ""
        columns: dict[str, np.ndarray] = {
            TABLE: np.full(len(rows), self.table, dtype=object),
            DAY: np.full(len(rows), day, dtype=object),
        }
        folder = self.folder
        if self.asked.window is not None:
            columns[self.asked.window] = np.full(len(rows), part, dtype=object)
            folder /= window_folder(self.asked.window, part)
            folder.mkdir(exist_ok=True)
        outputs = [row[1] for row in rows]
        if bits:
            numbers = [NO_BIT if output is None else int(output) for output in outputs]
            columns[mark + BIT] = np.array(numbers, dtype=np.int64)
            columns[mark + SUPPORTS] = np.array([int(row[2]) for row in rows], dtype=np.int64)
        else:
            columns[mark + OUTPUT] = np.array(["" if output is None else output for output in outputs], dtype=object)
        columns[USERS] = np.array([int(row[3]) for row in rows], dtype=np.int64)
        columns[STATE] = np.array([row[0] for row in rows], dtype=object)
        write_columns(folder / f"{day}.csv", columns)
