"""What was sent in which period, on a device or where its users' reports are drawn: so that nothing is drawn twice."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..files.identifier import table_identifier
from ..over_time.way import Way
from ..sampling.random_words import random_words
from ..user_name import user_name
from .file import OWNER_ONLY, SETTINGS, WAIT_SECONDS

FORMAT = "optldp-periods/1"

SCHEMA = (
    "CREATE TABLE about (format TEXT NOT NULL, way TEXT NOT NULL, latest INTEGER NOT NULL)",
    "CREATE TABLE reports (user TEXT NOT NULL, period INTEGER NOT NULL, report TEXT NOT NULL, "
    "PRIMARY KEY (user, period)) WITHOUT ROWID",
)

AT_ONCE = 500
"""Names that one question to the database holds; SQLite takes 999 in every version."""


@dataclass(frozen=True)
class PeriodReports:
    """What the users of a period send.

    Attributes
    ----------
    reports : list of str or None
        As text, one for each user; None for those who send nothing.
    new : int
        How many were drawn now; the others had been drawn before and cost nothing.
    late : int
        Users whose turn it was in a period that had ended already: nothing is drawn for them.

    Example
    -------
    >>> from optldp.mechanisms.ledger import PeriodReports
    >>> PeriodReports(["0", None, "1"], 1, 0).repeated
    1
    """

    reports: list[str | None]
    new: int
    late: int

    @property
    def repeated(self) -> int:
        """How many had been drawn before."""
        return sum(report is not None for report in self.reports) - self.new


class PeriodState:
    """A file of the reports of one way over time, for one user's device or for many users in one place.

    A report is on disk before it is returned, so that whatever is interrupted, the same period has the same report
    again, and no period a second draw. It holds names, periods and reports, and no values.

    - A period that is asked for again has the reports that it had, whatever the values are now.
    - Time does not run backwards: after a later period was asked for, an earlier one has the reports that were drawn
      then, and no new ones. So a clock that is set back spends nothing.
    - A user sends at most as many reports as the way allows, ever.

    A file that is lost is not noticed by the file: a new one may draw a second report in the same period, and no
    other, as turns follow from names.

    Parameters
    ----------
    path : path
        Made if nothing is there, readable by its owner alone.
    way : Way
        The file is bound to it; proved by who loads it.

    Raises
    ------
    InputError
        A file of another way, or of something else, or one that cannot be used.

    Example
    -------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from optldp.mechanisms.categorical import categorical_grr
    >>> from optldp.mechanisms.ledger import PeriodState
    >>> from optldp.mechanisms.over_time import Panel
    >>> way = Panel(categorical_grr(["yes", "no"], 1.0), 12, 1, 1.0, "0" * 32)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     state = PeriodState(Path(folder, "state.db"), way)
    ...     first = state.reports(6, ["ann", "bo"], ["yes", "no"])
    ...     again = state.reports(6, ["ann", "bo"], ["no", "no"])
    >>> first.reports[1], first.reports == again.reports, (first.new, again.new)
    (None, True, (1, 0))
    """

    def __init__(self, path: str | os.PathLike[str], way: Way) -> None:
        self._path, self._way = Path(os.path.abspath(path)), way
        self.is_new = not os.path.lexists(self._path)
        """Whether there was no file before: where there should have been one, it was lost."""
        if self.is_new:
            self._create()
        with self._transaction():
            pass  # refuses what is no such file

    @property
    def latest(self) -> int:
        """The last period that was asked for, 0 for none."""
        with self._transaction() as connection:
            return self._latest(connection)

    def sent(self, user: str) -> list[int]:
        """Return the periods in which a user has sent reports."""
        with self._transaction() as connection:
            name = user_name(user).decode()
            found = connection.execute("SELECT period FROM reports WHERE user = ? ORDER BY period", (name,))
            return [period for (period,) in found]

    def reports(self, period: int, users: Sequence[str], values: Sequence[Any]) -> PeriodReports:
        """Return the reports of users in a period, all booked or none; who is not in turn sends none.

        Parameters
        ----------
        period : int
            From 1 to the way's last.
        users : sequence of str
            Different names.
        values : sequence
            One for each user, as the way's mechanism takes them. That of a user who is not in turn is not looked at.

        Raises
        ------
        InputError
            A period that there is not, a user twice, values that are not admitted; nothing is booked then.
        """
        names = [user_name(user).decode() for user in users]
        if len(set(names)) < len(names) or len(values) != len(names):
            raise InputError("a period has one value of each user, got a user twice or values of others: correct it")
        chosen = [row for row, mine in enumerate(self._way.in_turn(names, period).tolist()) if mine]
        with self._transaction() as connection:
            late = period < self._latest(connection)
            known = self._known(connection, period, [names[row] for row in chosen])
            lacking = [row for row in chosen if names[row] not in known]
            drawn = {} if late or not lacking else dict(zip(lacking, self._drawn(values, lacking), strict=True))
            connection.executemany(
                "INSERT INTO reports VALUES (?, ?, ?)", ((names[row], period, text) for row, text in drawn.items())
            )
            connection.execute("UPDATE about SET latest = max(latest, ?)", (period,))
        found: list[str | None] = [None] * len(names)
        for row in chosen:
            found[row] = known.get(names[row], drawn.get(row))
        return PeriodReports(found, len(drawn), len(lacking) if late else 0)

    def _drawn(self, values: Sequence[Any], rows: Sequence[int]) -> list[str]:
        inputs, words = self._way.inputs, random_words(None)
        held = inputs.sampled(inputs.admitted([values[row] for row in rows]), words)
        return self._way.to_text(self._way.draw(held, words))

    @staticmethod
    def _known(connection: sqlite3.Connection, period: int, names: Sequence[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for start in range(0, len(names), AT_ONCE):
            some = names[start : start + AT_ONCE]
            marks = ", ".join("?" * len(some))
            asked = f"SELECT user, report FROM reports WHERE period = ? AND user IN ({marks})"
            found.update(connection.execute(asked, (period, *some)).fetchall())
        return found

    @staticmethod
    def _latest(connection: sqlite3.Connection) -> int:
        return connection.execute("SELECT latest FROM about").fetchone()[0]

    def _create(self) -> None:
        with self._one_line():
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, OWNER_ONLY))
            with closing(self._connected()) as connection:
                connection.execute("BEGIN EXCLUSIVE")
                for statement in SCHEMA:
                    connection.execute(statement)
                connection.execute("INSERT INTO about VALUES (?, ?, 0)", (FORMAT, table_identifier(self._way)))
                connection.execute("COMMIT")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """A connection on which nobody else may write meanwhile; what goes wrong in the block writes nothing."""
        with self._one_line(), closing(self._connected()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            mine, found = table_identifier(self._way), connection.execute("SELECT format, way FROM about").fetchall()
            if len(found) != 1 or found[0][0] != FORMAT:
                raise InputError(
                    f"the state {str(self._path)!r} must be of format {FORMAT}, got another: name its file"
                )
            way = found[0][1]
            if way != mine:
                raise InputError(
                    f"the state {str(self._path)!r} must be of way {mine}, got that of {way}: name its own"
                )
            yield connection
            connection.execute("COMMIT")

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self._path.as_uri()}?mode=rw", uri=True, timeout=WAIT_SECONDS, isolation_level=None
        )
        for name, value in SETTINGS.items():
            connection.execute(f"PRAGMA {name} = {value}").fetchall()
        return connection

    @contextmanager
    def _one_line(self) -> Iterator[None]:
        """Turn errors of SQLite and the system into an InputError."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise InputError(
                f"the state {str(self._path)!r} must be a file of {FORMAT} that can be written, got "
                f"{type(error).__name__}: {error}"
            ) from None
