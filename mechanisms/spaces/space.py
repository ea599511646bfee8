"""What a mechanism takes of its users: one class for all kinds of values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from ..errors import InputError
from ..sampling.law import Words


class Space(ABC):
    """The values that a mechanism takes, and the form in which it draws reports of them.

    Held values of N users are an array, or a record of arrays; both have a length. What of them is `sampled` gives the
    values of some users by their numbers, `held[users]`.

    Example
    -------
    >>> from optldp.mechanisms.spaces.categories import Categories
    >>> jobs = Categories(["cook", "nurse"])
    >>> jobs.admitted(["nurse", "cook"]), jobs.of_content(jobs.content("nurse"))
    (array([1, 0]), array([1]))
    """

    units: str = ""
    """Of its numbers, for people to read."""

    @abstractmethod
    def admitted(self, values: Any, *, clip: bool = False) -> Any:
        """Return the values of N users as they are held, or raise InputError; `clip` moves numbers into the domain."""

    def sampled(self, held: Any, words: Words) -> Any:
        """Return what a report is drawn of: all that is held, but of a set one pair alone."""
        return held

    @abstractmethod
    def content(self, value: object) -> bytes:
        """Return one user's value as bytes, equal values alike, or raise InputError without showing it."""

    @abstractmethod
    def of_content(self, content: bytes) -> Any:
        """Return the value of such bytes as that of one user is held."""


def require_no_clip(what: str, *, clip: bool) -> None:
    """Raise InputError where values that are no numbers were to be clipped.

    Example
    -------
    >>> require_no_clip("categories", clip=False)
    """
    if clip:
        raise InputError(f"clip is for tables of numbers, got {what}: leave it out")
