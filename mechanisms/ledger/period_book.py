"""The file of a state over time, an SQLite database, and its mark: opened for a transaction, and checked each time."""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError, TableError
from ..files.bundle import document_of, parse_mechanism
from ..files.checksum import checksum
from ..files.identifier import table_identifier
from ..files.json_text import to_json
from ..over_time.way import Way
from .file import ONE_CONNECTION, OWNER_ONLY, SETTINGS, WAIT_SECONDS
from .period_mark import PeriodMark

FORMAT = "optldp-periods/1"

ABOUT = ("name", "user", "number", "latest", "lost")

SCHEMA = (
    "CREATE TABLE about (format TEXT NOT NULL, way TEXT NOT NULL, document TEXT NOT NULL, name TEXT NOT NULL, "
    "user TEXT, number INTEGER NOT NULL, latest INTEGER NOT NULL, lost INTEGER NOT NULL)",
    "CREATE TABLE reports (user TEXT NOT NULL, period INTEGER NOT NULL, report TEXT, "
    "PRIMARY KEY (user, period)) WITHOUT ROWID",
    "CREATE TABLE turns (user TEXT PRIMARY KEY, turns TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE remembered (user TEXT NOT NULL, place INTEGER NOT NULL, content TEXT NOT NULL, "
    "PRIMARY KEY (user, place)) WITHOUT ROWID",
)

AT_ONCE = 500
"""Names that one question to the database holds; SQLite takes 999 in every version."""


FORGOTTEN = -3
"""The place at which a state remembers how many contents of a user were forgotten."""


@dataclass(frozen=True)
class About:
    """What holds for a whole state.

    Attributes
    ----------
    name : str
        Random, 32 hexadecimal digits.
    user : str or None
        Whose alone it is.
    number : int
        How often it was written.
    latest : int
        The last period that was asked for, 0 for none.
    lost : int
        Until this period, included, another copy may have sent reports that this one does not hold; 0 for none.
    """

    name: str
    user: str | None
    number: int
    latest: int
    lost: int


class PeriodBook:
    """The tables of one state within a transaction.

    Parameters
    ----------
    connection : sqlite3.Connection
    about : About
        As it is to be written, what its mark shows included.
    """

    def __init__(self, connection: sqlite3.Connection, about: About) -> None:
        self.connection, self.about = connection, about

    def reports(self, period: int, users: Sequence[str]) -> dict[str, str | None]:
        """Return which of these users have a record of a period: the report, or None where it was forgotten."""
        return dict(self._of(users, "SELECT user, report FROM reports WHERE period = ? AND user IN ({})", period))

    def turns(self, users: Sequence[str]) -> dict[str, list[int]]:
        """Return the turns that were drawn for those of these users who have some."""
        found = self._of(users, "SELECT user, turns FROM turns WHERE user IN ({})")
        return {user: [int(turn) for turn in turns.split()] for user, turns in found}

    def add_turns(self, turns: dict[str, list[int]]) -> None:
        """Write down the turns of users who had none."""
        rows = ((user, " ".join(map(str, mine))) for user, mine in turns.items())
        self.connection.executemany("INSERT INTO turns VALUES (?, ?)", rows)

    def add(self, period: int, reports: dict[str, str | None]) -> None:
        """Write down what users have sent in a period; None where it is not known any more."""
        rows = ((user, period, report) for user, report in reports.items())
        self.connection.executemany("INSERT INTO reports VALUES (?, ?, ?)", rows)

    def remembered(self, users: Sequence[str]) -> dict[str, dict[int, str]]:
        """Return what is remembered of users beside reports, by its place: the period of a value, or what drew it."""
        found: dict[str, dict[int, str]] = {user: {} for user in users}
        for user, place, content in self._of(users, "SELECT user, place, content FROM remembered WHERE user IN ({})"):
            found[user][place] = content
        return found

    def remember(self, contents: Iterable[tuple[str, int, str]]) -> None:
        """Write down contents by user and place; what is there stays."""
        self.connection.executemany("INSERT OR IGNORE INTO remembered VALUES (?, ?, ?)", contents)

    def drop_remembered(self, users: Iterable[str]) -> None:
        """Forget all that is remembered of users beside their reports."""
        self.connection.executemany("DELETE FROM remembered WHERE user = ?", ((user,) for user in users))

    def periods(self, user: str | None) -> dict[str, list[int]]:
        """Return the periods of which a user has a record, or all users who have one or have drawn turns."""
        known = self.connection.execute("SELECT user FROM reports UNION SELECT user FROM turns ORDER BY user")
        sent: dict[str, list[int]] = {user: []} if user is not None else {one: [] for (one,) in known}
        whose, names = ("", ()) if user is None else ("WHERE user = ?", (user,))
        for one, period in self.connection.execute(f"SELECT user, period FROM reports {whose} ORDER BY period", names):
            sent[one].append(period)
        return sent

    def forget(self, user: str | None) -> int:
        """Blot out the reports of a user or of all, and return how many; that they were sent stays."""
        whose, names = ("", ()) if user is None else (" AND user = ?", (user,))
        kept = f"SELECT user, {FORGOTTEN}, count(*) FROM remembered WHERE place >= 0{whose} GROUP BY user"
        many = self.connection.execute(kept, names).fetchall()
        self.connection.execute(f"DELETE FROM remembered WHERE place <> {FORGOTTEN}{whose}", names)
        self.remember(many)
        return self.connection.execute(
            f"UPDATE reports SET report = NULL WHERE report IS NOT NULL{whose}", names
        ).rowcount

    def _of(self, users: Sequence[str], asked: str, *first: int) -> Iterator[Any]:
        for start in range(0, len(users), AT_ONCE):
            some = users[start : start + AT_ONCE]
            yield from self.connection.execute(asked.format(", ".join("?" * len(some))), (*first, *some))


class PeriodFile:
    """Where a state and its mark are.

    A state is written before its mark, and the mark before a report leaves. So the mark is never ahead of a state that
    is the latest, and one that is ahead shows that an older copy stands in its place.

    Parameters
    ----------
    path, mark : Path
        Absolute.
    way : Way, optional
        The state must be of it. Default: the one that the state is of.
    user : str, optional
        The state must be this user's alone. Default: as the state says.

    Raises
    ------
    InputError
        No state, one of another way or user, or of something else.
    """

    def __init__(self, path: Path, mark: Path, way: Way | None, user: str | None) -> None:
        self.path, self.mark = path, mark
        self.is_new = not os.path.lexists(path) or path.stat().st_size == 0  # as when it broke off while it was made
        if self.is_new:
            if way is None:
                raise InputError(f"there must be a state at {str(path)!r}, got no file: name the latest copy")
            self._create(way, user)
        self.way = self._read_way() if way is None else way
        self._identifier, self._user = table_identifier(self.way), user
        with self.transaction():
            pass  # refuses what is no such file

    @contextmanager
    def transaction(self, period: int = 0) -> Iterator[PeriodBook]:
        """A book that nobody else may write to meanwhile; what goes wrong in the block writes nothing.

        Parameters
        ----------
        period : int
            The one that is asked for, 0 for none: with it the state and its mark are written.
        """
        with self._one_line(), ONE_CONNECTION, closing(self._connected()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            book = PeriodBook(connection, self._about(connection, period))
            yield book
            if period:
                self._written(connection, book.about, max(period, book.about.latest))
            connection.execute("COMMIT")
            if period:
                # Once more alone, so that of two writers the later one's mark stays.
                connection.execute("BEGIN IMMEDIATE")
                name, number, latest = connection.execute("SELECT name, number, latest FROM about").fetchone()
                PeriodMark(name, number, latest).write(self.mark)
                connection.execute("COMMIT")

    def _about(self, connection: sqlite3.Connection, period: int) -> About:
        """What the state says, with what its mark shows of copies that were further."""
        found = connection.execute(f"SELECT format, way, {', '.join(ABOUT)} FROM about").fetchall()
        if len(found) != 1 or found[0][0] != FORMAT:
            raise InputError(f"the state {str(self.path)!r} must be of format {FORMAT}, got another: name its file")
        (_, way, *told) = found[0]
        if way != self._identifier:
            raise InputError(
                f"the state {str(self.path)!r} must be of way {self._identifier}, got that of {way}: name its own"
            )
        about = About(*told)
        if self._user is not None and about.user != self._user:
            whose = "many users" if about.user is None else "another"
            raise InputError(
                f"the state {str(self.path)!r} must be of this user alone, got that of {whose}: name its own"
            )
        mark = PeriodMark.read(self.mark)
        if mark is None:
            lost = max(about.lost, period) if about.number else about.lost
            return About(about.name, about.user, about.number, about.latest, lost)
        if mark.state != about.name:
            raise InputError(f"the mark {str(self.mark)!r} must be of the state beside it, got that of another")
        if mark.number <= about.number:
            return about
        return About(about.name, about.user, mark.number, max(about.latest, mark.latest), max(about.lost, mark.latest))

    @staticmethod
    def _written(connection: sqlite3.Connection, about: About, latest: int) -> None:
        connection.execute("UPDATE about SET number = ?, latest = ?, lost = ?", (about.number + 1, latest, about.lost))

    def _create(self, way: Way, user: str | None) -> None:
        """A new state; where a mark says that there was one, it goes on as one of which nothing is left."""
        mark = PeriodMark.read(self.mark) or PeriodMark(secrets.token_hex(16), 0, 0)
        document = document_of(way)
        text = to_json(document | {"checksum": checksum(document)})
        with self._one_line(), ONE_CONNECTION:
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, OWNER_ONLY))
            with closing(self._connected()) as connection:
                connection.execute("BEGIN EXCLUSIVE")
                if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    return  # another process was first
                for statement in SCHEMA:
                    connection.execute(statement)
                told = (mark.state, user, mark.number, mark.latest, mark.latest)
                connection.execute(
                    "INSERT INTO about VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (FORMAT, table_identifier(way), text, *told)
                )
                connection.execute("COMMIT")
                mark.write(self.mark)

    def _read_way(self) -> Way:
        with self._one_line(), ONE_CONNECTION, closing(self._connected()) as connection:
            found = connection.execute("SELECT document FROM about").fetchall()
        try:
            way = parse_mechanism(found[0][0].encode())
            if not isinstance(way, Way):
                raise TableError("a mechanism of one report")
            way.require_private()
        except (TableError, IndexError, AttributeError) as error:
            raise InputError(f"the state {str(self.path)!r} must hold its way, got {error}: name its file") from None
        return way

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.path.as_uri()}?mode=rw", uri=True, timeout=WAIT_SECONDS, isolation_level=None
        )
        # What is forgotten is overwritten.
        for name, value in {**SETTINGS, "secure_delete": "ON"}.items():
            connection.execute(f"PRAGMA {name} = {value}").fetchall()
        return connection

    @contextmanager
    def _one_line(self) -> Iterator[None]:
        """Turn errors of SQLite and the system into an InputError."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise InputError(
                f"the state {str(self.path)!r} must be a file of {FORMAT} that can be written, got "
                f"{type(error).__name__}: {error}"
            ) from None
