"""What all ways of collecting over time have in common: periods, one budget for a life, and a public rule of turns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..channel import Channel
from ..documents.bundle import Bundle
from ..errors import InputError, unwired
from ..promise import Pure
from ..sampling.law import Words
from ..spaces.space import Space

MOST_PERIODS = 100_000
"""Days of 270 years; what is estimated of them is held in memory at once."""


class Way(Bundle):
    """A mechanism and its schedule of reports, with one promise for all periods together.

    As a `Channel` it describes one report, in a user's turn. `promise` covers all of a user's reports together or, with
    a `span`, those in any so many periods in a row. Whether a user reports in a period depends on the period and a
    draw, never on values.

    Attributes
    ----------
    mechanism : Channel
        Mechanism of each report.
    periods : int
        From 1 on.
    reports : int
        How many a user sends in all, or in a span.
    epsilon : float
        Budget of all reports of a user or, with a `span`, of those in any so many periods in a row.
    span : int or None
        How many periods in a row are protected together; None for a whole life.

    Example
    -------
    >>> from optldp.mechanisms.categorical import categorical_grr
    >>> from optldp.mechanisms.over_time import Panel, Way
    >>> made = Panel(categorical_grr(["yes", "no"], 1.0), 12, 1, 1.0, "0" * 32)
    >>> isinstance(made, Way), made.promise
    (True, Pure(epsilon=1.0))
    """

    promised: str
    """The promise in one sentence, with {epsilon} for the budget and {factor} for what it multiplies odds by."""

    keeps: ClassVar[str]
    """What a device must remember."""

    protects: ClassVar[str] = "life"
    """What its promise is of: "life", any two histories, or "pattern", those with the same times of change."""

    remembers: ClassVar[str] = ""
    """What a state has to hold beside reports: "values" of periods before, "draws" of values, "signs", or nothing."""

    mechanism: Channel
    periods: int
    reports: int
    epsilon: float
    span: int | None = None

    @property
    def life_epsilon(self) -> float | None:
        """What all reports of a user in all periods may spend; None where nothing bounds it."""
        return self.epsilon

    @property
    def most_reports(self) -> int:
        """How many reports a user sends at most in all periods."""
        return self.reports * -(-self.periods // (self.span or self.periods))

    @property
    def named_turns(self) -> bool:
        """Whether turns follow from names, so that who has the file knows them; else each device draws its own."""
        return True

    @abstractmethod
    def turns(self, users: Sequence[str]) -> np.ndarray:
        """Return in which periods (N, reports) users report, from 1 on, in rising order; a function of names alone.

        Where there is a `span`, these are periods of the first, and the turns of all others follow.
        """

    @property
    def values(self) -> Space:
        """The values of one period, which those of one report are made of."""
        return self.inputs

    def drawn_of(self, users: Sequence[str], histories: np.ndarray, words: Words) -> Any:
        """Draw one report of each of N users of their values (N, T), NaN where a device has none: see `remembers`."""
        raise unwired("remembers", self.remembers)

    def beside(self, users: Sequence[str]) -> dict[str, np.ndarray]:
        """Return columns (N,) that travel beside reports: what is public of a user and needed to read them; none."""
        return {}

    @property
    def promise(self) -> Pure:
        """Pure privacy of the budget, of any two histories of a user's values."""
        return Pure(self.epsilon)

    def part(self, period: int) -> float:
        """Return the share of users who report in a period, on average over draws."""
        self.checked_period(period)
        return self.reports / (self.span or self.periods)

    def in_turn(self, users: Sequence[str], periods: int | np.ndarray) -> np.ndarray:
        """Return whether each of N users reports in a period, one for all or for each; InputError for none."""
        return self.are_turns(self.turns(users), periods)

    def are_turns(self, turns: np.ndarray, periods: int | np.ndarray) -> np.ndarray:
        """Return whether N users with these turns (N, reports) report in a period, one for all or for each."""
        asked = periods if isinstance(periods, np.ndarray) else np.array(self.checked_period(periods))
        return (turns == ((asked - 1) % (self.span or self.periods) + 1).reshape(-1, 1)).any(axis=1)

    def checked_period(self, period: object) -> int:
        """Return a period; InputError unless it is a whole number from 1 to the last."""
        if type(period) is not int or not 1 <= period <= self.periods:
            raise InputError(f"the period must be a whole number from 1 to {self.periods}, got {period!r:.40}")
        return period


def checked_periods(periods: object) -> int:
    """Return a number of periods; InputError unless there are at least two.

    Example
    -------
    >>> checked_periods(52)
    52
    >>> checked_periods(1)
    Traceback (most recent call last):
        ...
    optldp.mechanisms.errors.InputError: periods must be a whole number from 2 to 100000, got 1: of one period design \
the mechanism itself
    """
    if type(periods) is not int or not 2 <= periods <= MOST_PERIODS:
        raise InputError(
            f"periods must be a whole number from 2 to {MOST_PERIODS}, got {periods!r:.40}: of one period design the "
            "mechanism itself"
        )
    return periods
