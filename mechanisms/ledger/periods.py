"""What was sent in which period, on a device or where its users' reports are drawn: so that nothing is drawn twice."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..over_time.way import Way
from ..user_name import user_name
from .period_book import PeriodBook, PeriodFile
from .remembered import drawn_reports, draws_of, note_signs, note_values
from .rounded import at_least


@dataclass(frozen=True)
class PeriodReports:
    """Reports that the users of a period send.

    Attributes
    ----------
    reports : list of str or None
        As text, one for each user; None for those who send nothing.
    new : int
        How many were drawn now; the others had been drawn before and cost nothing.
    late : int
        Users whose turn was in a period that has already ended: nothing is drawn for them.
    withheld : int
        Users whose turn it is and who send nothing, because their report was forgotten or another copy of the state may
        have sent it. The report counts as spent.

    Example
    -------
    >>> from optldp.mechanisms.ledger import PeriodReports
    >>> PeriodReports(["0", None, "1"], 1, 0).repeated
    1
    """

    reports: list[str | None]
    new: int
    late: int
    withheld: int = 0

    @property
    def repeated(self) -> int:
        """How many had been drawn before."""
        return sum(report is not None for report in self.reports) - self.new


@dataclass(frozen=True)
class PeriodLife:
    """What a user has sent in all.

    Attributes
    ----------
    user : str
    periods : list of int
        Periods in which the user sent reports, as far as the state knows.
    spent : float
        The epsilon that counts as spent, including reports that a lost copy may have sent; rounded up if it is no
        double.

    Example
    -------
    >>> from optldp.mechanisms.ledger import PeriodLife
    >>> PeriodLife("ann", [3], 1.0).spent
    1.0
    """

    user: str
    periods: list[int]
    spent: float


class PeriodState:
    """A file of the reports of one way over time, for one user's device or for many users in one place.

    A report is on disk before it is returned. After any interruption the same period has the same report, and no period
    has a second draw. It holds the way, names, turns, periods and reports. It holds values only if the way needs
    histories, until the user's report is drawn.

    - A period asked for again has its old reports, whatever the values are now.
    - Time does not run backwards: after a later period, an earlier one has only the reports already drawn. A clock that
      is set back thus spends nothing.
    - A user sends at most as many reports as the way allows, and then nothing more.
    - Lost reports count as spent. A mark in a second file holds the latest period of the state. A state behind its mark
      is an old copy, and a mark without a state shows a lost one. Up to the mark's period only reports in the file are
      then sent, and none are drawn. A state without its mark draws nothing in the first period asked for. If devices
      draw turns, users unknown to such a state count as having spent everything.

    State and mark restored together from one copy are not noticed: keep the mark where no copies are made of it.

    Parameters
    ----------
    path : path
        Made if it is missing, readable by its owner alone.
    way : Way, optional
        The way, to which the file is bound; whoever loads it proves it. Default: the file's own.
    user : str, optional
        The file is bound to this user, as on a device.
    mark : path, optional
        Of the second file. Default: beside the first, with ".mark" after its name.

    Raises
    ------
    InputError
        A file of another way or user, another kind of file, or one that cannot be used.

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
    ...     lives = state.lives()
    >>> first.reports[1], first.reports == again.reports, (first.new, again.new), lives
    (None, True, (1, 0), [PeriodLife(user='ann', periods=[6], spent=1.0)])
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        way: Way | None = None,
        *,
        user: str | None = None,
        mark: str | os.PathLike[str] | None = None,
    ) -> None:
        where = Path(os.path.abspath(path))
        beside = where.with_name(f"{where.name}.mark") if mark is None else Path(os.path.abspath(mark))
        self._file = PeriodFile(where, beside, way, None if user is None else user_name(user).decode())
        self.is_new = self._file.is_new
        """Whether there was no file before."""

    @property
    def way(self) -> Way:
        """The way that it is of."""
        return self._file.way

    @property
    def latest(self) -> int:
        """The last period that was asked for, 0 for none."""
        with self._file.transaction() as book:
            return book.about.latest

    @property
    def lost(self) -> int:
        """Until this period another copy may have sent reports that this one does not hold; 0 for none."""
        with self._file.transaction() as book:
            return book.about.lost

    def lives(self, user: str | None = None) -> list[PeriodLife]:
        """Return what a user, or each who has sent reports or drawn turns, has sent and spent, by their names."""
        name = None if user is None else user_name(user).decode()
        with self._file.transaction() as book:
            sent = book.periods(name)
            return [PeriodLife(one, mine, self._spent(book, one, mine)) for one, mine in sent.items()]

    def _spent(self, book: PeriodBook, name: str, sent: list[int]) -> float:
        report: Any = self.way.mechanism
        if self.way.remembers == "draws":
            return at_least(draws_of(self.way, book, name) * Fraction(report.epsilon))
        reports = len({*sent, *self._maybe_sent(book, name)})
        if self.way.remembers == "signs":
            return float(min(reports, 1) * self.way.epsilon)  # all of a user's together
        return at_least(reports * Fraction(report.epsilon))

    def forget(self, user: str | None = None) -> int:
        """Forget the reports of a user or of all, and return how many: what was spent stays booked.

        Whoever asks for them again gets nothing, and nothing new is drawn in their place.
        """
        name = None if user is None else user_name(user).decode()
        with self._file.transaction() as book:
            return book.forget(name)

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
        way = self.way
        mine = way.in_turn(names, way.checked_period(period)) if way.named_turns else None
        with self._file.transaction(period) as book:
            about = book.about
            if about.user is not None and any(name != about.user for name in names):
                raise InputError("a state of one user must be asked for that user alone, got others: name their own")
            if mine is None:
                mine = way.are_turns(self._drawn_turns(book, names), period)
            chosen = [row for row, own in enumerate(mine.tolist()) if own]
            known = book.reports(period, [names[row] for row in chosen])
            lacking = [row for row in chosen if names[row] not in known]
            lost, late = period <= about.lost, period < about.latest
            if way.remembers == "values":
                unsent = [row for row, name in enumerate(names) if name not in known]
                note_values(way, book, period, [names[row] for row in unsent], [values[row] for row in unsent])
            if way.remembers == "signs":
                note_signs(way, book, names, values)
            drawn = {}
            if lacking and not lost and not late:
                drawn = dict(zip(lacking, drawn_reports(way, book, names, values, lacking), strict=True))
            book.add(period, {names[row]: text for row, text in drawn.items()})
        found: list[str | None] = [None] * len(names)
        for row in chosen:
            found[row] = known.get(names[row], drawn.get(row))
        forgotten = sum(report is None for report in known.values())
        new = sum(text is not None for text in drawn.values())
        withheld = forgotten + (len(lacking) if lost else len(drawn) - new)
        return PeriodReports(found, new, len(lacking) if late and not lost else 0, withheld)

    def _drawn_turns(self, book: PeriodBook, names: Sequence[str]) -> np.ndarray:
        """The turns (N, r) of users: those that they have, or new ones; where a state was lost, none."""
        way: Any = self.way
        found = book.turns(names)
        lacking = [name for name in names if name not in found]
        none = np.zeros((len(lacking), way.reports), dtype=np.int64)
        drawn = none if book.about.lost else way.drawn_turns(len(lacking))
        new = dict(zip(lacking, drawn.tolist(), strict=True))
        book.add_turns(new)
        found |= new
        return np.array([found[name] for name in names]).reshape(-1, way.reports)

    def _maybe_sent(self, book: PeriodBook, name: str) -> list[int]:
        """The periods in which a lost copy may have sent a report of a user."""
        way, lost = self.way, book.about.lost
        if not lost:
            return []
        every = np.arange(1, lost + 1)
        if way.named_turns:
            return every[way.in_turn([name] * lost, every)].tolist()
        turns = book.turns([name]).get(name)
        if turns is None or not any(turns):
            return every[: way.reports].tolist()
        return every[way.are_turns(np.array([turns]), every)].tolist()
