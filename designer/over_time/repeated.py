"""The problem of asking the same people again: periods, changes, what is protected, and what is to be answered when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...mechanisms.errors import InputError
from ...mechanisms.over_time.way import checked_periods

PROTECTS = ("life", "pattern", "event", "span")
ANSWERS = ("on-time", "at-end", "delay")
OF = ("each", "average", "change")


@dataclass(frozen=True)
class Repeated:
    """A collection from the same people in several periods.

    Parameters
    ----------
    periods : int
        T, from 2.
    changes : int, optional
        k, how often a user's value changes at most, below T. An assumption about accuracy: a device clips to it, and
        the promise holds for every history. Default: any number.
    protects : str
        The scope of epsilon. "life": any two histories; "pattern": histories with the same times of change; "event":
        one period; "span:W": any W periods in a row.
    answers : str
        "on-time": each period is answered when it ends; "at-end": when the last one ends; "delay:D": D periods later.
    of : str
        "each": the mean of each period; "average": of all together; "change": from each period to the next.

    Raises
    ------
    InputError
        A number out of its range, or an unknown word.

    Example
    -------
    >>> from optldp.designer.over_time import Repeated
    >>> Repeated(52, 4).answers, Repeated(52, protects="span:4").span
    ('on-time', 4)
    """

    periods: int
    changes: int | None = None
    protects: str = "life"
    answers: str = "on-time"
    of: str = "each"

    def __post_init__(self) -> None:
        checked_periods(self.periods)
        if self.changes is not None and not (type(self.changes) is int and 0 <= self.changes < self.periods):
            raise InputError(
                f"changes must be a whole number from 0 to {self.periods - 1}, one fewer than the periods, got "
                f"{self.changes!r:.40}: leave it out for any number"
            )
        if self.of not in OF:
            raise InputError(f"of must be one of {', '.join(OF)} of a collection over time, got {self.of!r:.40}")
        _ = self.span, self.delay

    @property
    def span(self) -> int:
        """W, the periods in a row that are protected together: all of them for a life."""
        kind, length = _told("protects", self.protects, PROTECTS, "span")
        if length is None:
            return 1 if kind == "event" else self.periods
        if not 1 <= length <= self.periods:
            raise InputError(
                f"a span must be from 1 to {self.periods} periods, got {length}: at most the whole collection"
            )
        return length

    @property
    def delay(self) -> int:
        """D, how many periods later a period may be answered."""
        kind, length = _told("answers", self.answers, ANSWERS, "delay")
        if length is not None and not 0 <= length < self.periods:
            raise InputError(f"a delay must be from 0 to {self.periods - 1} periods, got {length}")
        return length if length is not None else 0 if kind == "on-time" else self.periods - 1

    @property
    def most_changes(self) -> int:
        """How often a value can change at most."""
        return self.periods - 1 if self.changes is None else self.changes


def _told(name: str, text: Any, known: tuple[str, ...], numbered: str) -> tuple[str, int | None]:
    """Return a word and the number that one of them is told; InputError for others."""
    word, colon, number = str(text).partition(":")
    if word not in known or bool(colon) != (word == numbered) or (colon and not number.isdecimal()):
        words = ", ".join(f"{each}:N" if each == numbered else each for each in known)
        raise InputError(f"{name} must be one of {words}, got {text!r:.40}")
    return word, int(number) if colon else None
