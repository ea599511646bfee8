"""Reports of a user over time, with a state that draws nothing twice: by a panel, or by draws that are remembered.

docs/bundle-format.md has the ways, docs/asking-again.md what a state and its mark are for. No message holds a value.
"""

from __future__ import annotations

import os
import unicodedata
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import Protocol

from .category_drawing import Categories
from .drawing import Table, random_words
from .kept import Kept

TAG = b"optldp-turn/1"
LONGEST_NAME = 1024


class Place(Protocol):
    """Where a device keeps a text."""

    def read(self) -> str | None:
        """Return the text; None where there is none."""
        ...

    def write(self, text: str) -> None:
        """Put a text in its place, whole or not at all, and on disk when this returns."""
        ...


@dataclass(frozen=True)
class FilePlace:
    """A file of its owner alone."""

    path: Path

    def read(self) -> str | None:
        """Return the file's text; None where there is none."""
        return self.path.read_text("utf-8") if self.path.exists() else None

    def write(self, text: str) -> None:
        """Replace the file."""
        beside = self.path.with_name(self.path.name + ".new")
        beside.unlink(missing_ok=True)  # a file that stands there keeps its readers: made anew, it has its owner alone
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self.path)
        if os.name == "posix":  # a new name outlives a crash, too
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


Mechanism = Table | Categories


@dataclass(frozen=True)
class Way(ABC):
    """Reports of a user over time, proved private, made by `read_way`.

    Attributes
    ----------
    mechanism : Table or Categories
    periods : int
    epsilon : float
        Of a panel: the budget of a user's reports in all periods, or in any `span` in a row. Of values that are
        remembered: of all draws, of two histories that change and come back at the same times, and of nothing else.
    checksum : str
    """

    mechanism: Mechanism
    periods: int
    epsilon: float
    checksum: str

    def report(self, user: str, period: int, value: float | str, state: Place, mark: Place) -> str | None:
        """Return the report of a period as a file holds it, None where nothing is to be sent.

        The report is in the state before it is returned. The same period has the same report again, whatever the value
        is, and after a later period was asked for an earlier one has no new one. A state that is missing or behind its
        mark counts as spent until there: keep the mark where it is not restored or lost together with the state. One
        process at a time may ask.

        Raises
        ------
        ValueError
            A user, a period or a value that is none, or a state of another way or user, or one that was altered.
        OSError
            The secure generator fails, or the state cannot be written; nothing was drawn.
        """
        name = user_name(user)
        if type(period) is not int or not 1 <= period <= self.periods:
            raise ValueError(f"the period must be a whole number from 1 to {self.periods}, got another")
        before = mark.read()
        kept = Kept.of(_framed(self.checksum.encode(), name.encode()).hex(), state.read(), before)
        if before is None and kept.number:  # the mark was lost: another copy may have sent this period's report
            kept.lost = max(kept.lost, period)
        if before is None:
            mark.write(kept.mark())
        lacking = self.in_turn(kept, name, period) and str(period) not in kept.reports
        self.note(kept, name, period, value)
        fresh = lacking and period >= kept.latest and period > kept.lost
        if fresh and (drawn := self.drawn(kept, name, value)) is not None:
            kept.reports[str(period)] = drawn
        kept.latest, kept.number = max(kept.latest, period), kept.number + 1
        state.write(kept.text())  # before the mark, and the mark before the report leaves
        mark.write(kept.mark())
        return kept.reports.get(str(period))

    @abstractmethod
    def in_turn(self, kept: Kept, name: str, period: int) -> bool:
        """Whether a user is to report in a period."""

    def note(self, kept: Kept, name: str, period: int, value: float | str) -> None:  # noqa: B027 -- most need nothing
        """Keep what a later report needs of a period, in turn or not."""

    @abstractmethod
    def drawn(self, kept: Kept, name: str, value: float | str) -> str | None:
        """Return a report, drawn now unless it is remembered; None where nothing may be drawn."""


@dataclass(frozen=True)
class Panel(Way):
    """A user reports in some of the periods.

    Attributes
    ----------
    reports : int
    span : int or None
    salt : bytes or None
        None: each device draws its turns.
    shares : tuple of int or None
    """

    reports: int
    span: int | None
    salt: bytes | None
    shares: tuple[int, ...] | None

    def turns(self, name: str) -> list[int]:
        """Return the turns of a user by the name, which must be by names."""
        if self.salt is None:
            raise ValueError("periods of this panel are drawn by devices, got a name")
        salt, user = self.salt, user_name(name)
        return self._turns_by(lambda number: turn_word(salt, user, number))

    def in_turn(self, kept: Kept, name: str, period: int) -> bool:
        """Whether it is a turn, by names or as the device drew them first."""
        if self.salt is None and kept.turns is None:
            kept.turns = [] if kept.lost else self._turns_by(lambda _: random_words(1)[0])
        turns = self.turns(name) if kept.turns is None else kept.turns
        return (period - 1) % (self.span or self.periods) + 1 in turns

    def drawn(self, kept: Kept, name: str, value: float | str) -> str | None:
        """Return a new report."""
        return text_of(self.mechanism, value)

    def _turns_by(self, word: Callable[[int], int]) -> list[int]:
        if self.shares is not None:
            return [1 + picked(self.shares, word(0))]
        chosen: set[int] = set()
        for number in range(self.reports):
            last = (self.span or self.periods) - self.reports + number + 1
            turn = 1 + (word(number) * last >> 64)
            chosen.add(last if turn in chosen else turn)
        return sorted(chosen)


@dataclass(frozen=True)
class Memoised(Way):
    """A user draws a report of each different value once, for `values` of them at most.

    Attributes
    ----------
    values : int
    """

    values: int

    def in_turn(self, kept: Kept, name: str, period: int) -> bool:
        """Always."""
        return True

    def drawn(self, kept: Kept, name: str, value: float | str) -> str | None:
        """Return the report of the value's knot or category, drawn if it is new and there may be more."""
        offset = random_share() if kept.offset is None else kept.offset
        number, at = self._place(value, offset)
        place = str(number)
        if place not in kept.draws and len(kept.draws) < self.values and not kept.lost:
            kept.draws[place] = text_of(self.mechanism, at)
        kept.offset, kept.last = offset, number if place in kept.draws else kept.last
        return None if kept.last is None else kept.draws[str(kept.last)]

    def _place(self, value: float | str, offset: float) -> tuple[int, float | str]:
        if isinstance(self.mechanism, Categories):
            return self.mechanism.code(value), value
        place = self.mechanism.rounded(value, offset)
        return place, self.mechanism.knots[place]


def text_of(mechanism: Mechanism, value: float | str) -> str:
    """Draw a report, as a file holds it."""
    if isinstance(mechanism, Categories):
        return mechanism.report(value)  # pyright: ignore[reportArgumentType] -- refuses what is no category
    return repr(mechanism.report(value) + 0.0)  # pyright: ignore[reportArgumentType] -- refuses what is no number


def _framed(*parts: bytes) -> bytes:
    """Return the SHA-256 of parts, each with its length before it."""
    return sha256(b"".join(len(part).to_bytes(8, "little") + part for part in parts)).digest()


def turn_word(salt: bytes, name: str, number: int) -> int:
    """Return a word of 64 bits of a user, by its number, as docs/bundle-format.md says."""
    return int.from_bytes(_framed(TAG, salt, name.encode(), number.to_bytes(8, "little"))[:8], "little")


def picked(shares: Sequence[int], word: int) -> int:
    """Return the place, from 0, that a word of 64 bits picks by whole shares."""
    return bisect_right(list(accumulate(shares)), word * sum(shares) >> 64)


def random_share() -> float:
    """Return a random number from 0 to 1, of 53 bits."""
    return (random_words(1)[0] >> 11) * 2.0**-53


def user_name(user: str) -> str:
    """Return a user's name as every client writes it; ValueError for what is none."""
    fits = isinstance(user, str) and 1 <= len(user) <= LONGEST_NAME
    name = unicodedata.normalize("NFC", user) if fits else ""
    if not fits or any("\ud800" <= each <= "\udfff" for each in name):
        raise ValueError(f"the user must be text of 1 to {LONGEST_NAME} characters, got something else")
    return name
