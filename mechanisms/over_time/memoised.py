"""A report of each different value, drawn once and remembered: what was had is hidden, when it changed is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from ..budget import check_epsilon
from ..categorical.mechanism import CategoricalMechanism
from ..channel import Channel
from ..display.summary import Dots, Told
from ..documents.bundle import Nested
from ..documents.table import as_number, require_keys
from ..errors import InputError
from ..sampling.domain import rounding_weights
from ..sampling.law import Words
from ..sampling.random_words import draw53
from ..table.table import TabulatedMechanism
from .of_mechanism import OfMechanism
from .panel import checked_mechanism
from .way import checked_periods

OFFSET, LAST = -1, -2
"""Places of what is remembered beside draws: the offset of rounding, and the place of the value that was sent last."""


@dataclass(frozen=True, eq=False, repr=False)
class Memoised(OfMechanism):
    """Every user reports in every period; each different value has one report, drawn once and sent whenever the value
    returns.

    Numbers are rounded to a knot by an offset that each user draws once: the same value has the same knot again, and
    small drifts change nothing, while the average over users is unbiased. After the g-th different value nothing new is
    drawn: the last report is sent again.

    Two histories whose rounded values change and return at the same times have a log-ratio of at most g times the
    mechanism's epsilon, because there are at most g draws. Other histories get no promise: repeated reports reveal
    repeated values, so there is no epsilon for a life.

    Parameters
    ----------
    mechanism : TabulatedMechanism or CategoricalMechanism
        Of one value, exact, of a pure budget that g times is at most epsilon.
    periods : int
        T, from 2.
    values : int
        g, from 1: the largest number of a user's values that get a draw.
    epsilon : float
        The budget of all of a user's values, given when they change and come back.

    Raises
    ------
    InputError
        Numbers out of their ranges, or a mechanism that spends more.
    TableError
        A table in doubles.

    Source
    ------
    Erlingsson, Pihur and Korolova (2014), permanent responses; Ding, Kulkarni and Yekhanin (2017), rounding by an
    offset; the promise by enumeration in docs/asking-again.md.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.mechanisms.categorical import categorical_grr
    >>> from optldp.mechanisms.over_time import Memoised
    >>> from optldp.mechanisms.sampling.random_words import random_words
    >>> made = Memoised(categorical_grr(["no", "yes"], 1.0), 12, 2, 2.0)
    >>> words = random_words(np.random.default_rng(1))
    >>> first, sent = made.drawn_again(np.array([1]), made.first_draws(1, words), words)
    >>> again, resent = made.drawn_again(np.array([1]), first, words)
    >>> sent == resent, made.life_epsilon
    (True, None)
    """

    kind: ClassVar[str] = "memoised"
    promised: ClassVar[str] = (  # pyright: ignore[reportIncompatibleVariableOverride] -- the same for all of them
        "of two histories that change and come back at the same times, what is received is at most {factor} times "
        "likelier under one (epsilon {epsilon}); when values change and come back is not hidden, and of a whole life "
        "nothing is promised"
    )
    keeps: ClassVar[str] = "a draw for each value, and the offset of its rounding"
    protects: ClassVar[str] = "pattern"
    remembers: ClassVar[str] = "draws"
    mechanism: Channel
    periods: int
    values_drawn: int
    epsilon: float

    def __init__(
        self, mechanism: TabulatedMechanism | CategoricalMechanism, periods: int, values: int, epsilon: float
    ) -> None:
        object.__setattr__(self, "mechanism", checked_mechanism(mechanism))
        object.__setattr__(self, "periods", checked_periods(periods))
        object.__setattr__(self, "values_drawn", values)
        object.__setattr__(self, "epsilon", check_epsilon(epsilon))
        if type(values) is not int or not 1 <= values <= periods:
            raise InputError(f"values must be a whole number from 1 to {periods}, the periods, got {values!r:.40}")
        if Fraction(mechanism.epsilon) * values > Fraction(self.epsilon):
            raise InputError(
                f"draws for {values} values must spend at most {self.epsilon:g}, got {mechanism.epsilon!r} each: "
                "give the mechanism attribute_budget(epsilon, values)"
            )

    def __repr__(self) -> str:
        return f"Memoised(periods={self.periods}, values={self.values_drawn}, epsilon={self.epsilon:g})"

    def _told(self) -> Told:
        budgets = np.array([float(Fraction(self.epsilon) / self.values_drawn), self.epsilon])
        facts = {"epsilon": self.epsilon, "periods": self.periods, "values": self.values_drawn}
        return Told(facts, picture=Dots(["a value at most", "all values, times known"], budgets, "epsilon"))

    @property
    def reports(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride] -- as many as periods
        """One in each period."""
        return self.periods

    @property
    def life_epsilon(self) -> float | None:
        """None: no number bounds what all reports tell of any two histories."""
        return None

    def turns(self, users: Sequence[str]) -> np.ndarray:
        return np.broadcast_to(np.arange(1, self.periods + 1), (len(users), self.periods))

    def in_turn(self, users: Sequence[str], periods: int | np.ndarray) -> np.ndarray:
        return np.ones(len(users), dtype=bool)

    def first_draws(self, many: int, words: Words) -> list[dict[int, str]]:
        """Return what so many devices remember at first: an offset from 0 to 1, by 53 random bits."""
        return [{OFFSET: repr(offset)} for offset in (draw53(words, many) * 2.0**-53).tolist()]

    def drawn_again(
        self, held: np.ndarray, remembered: Sequence[Mapping[int, str]], words: Words, *, fresh: bool = True
    ) -> tuple[list[dict[int, str]], list[str | None]]:
        """Return what N devices remember after a period, and the reports that they send, as text.

        Parameters
        ----------
        held : of N users
            Values, as `inputs` holds them.
        remembered : sequence of mapping of int to str
            Reports by the place of the value that drew them, an offset and the last place.
        words : Words
        fresh : bool
            Whether anything may be drawn; else who has no report of the value sends what it sent last, or None.
        """
        after = [dict(mine) for mine in remembered]
        places = self._places(held, np.array([float(mine[OFFSET]) for mine in after])).tolist()
        lacking = [
            row
            for row, (place, mine) in enumerate(zip(places, after, strict=True))
            if fresh and place not in mine and sum(each >= 0 for each in mine) < self.values_drawn
        ]
        drawn = self.to_text(self.draw(self._at(np.array([places[row] for row in lacking], dtype=int)), words))
        for row, text in zip(lacking, drawn, strict=True):
            after[row][places[row]] = text
        for mine, place in zip(after, places, strict=True):
            if place in mine:
                mine[LAST] = str(place)
        return after, [mine[int(mine[LAST])] if LAST in mine else None for mine in after]

    def _places(self, held: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """The knot or the category (N,) of each value."""
        if not isinstance(self.mechanism, TabulatedMechanism):
            return held
        left, upper = rounding_weights(self.mechanism.knots, held)
        return left + (upper > offsets)

    def _at(self, places: np.ndarray) -> np.ndarray:
        return self.mechanism.knots[places] if isinstance(self.mechanism, TabulatedMechanism) else places

    def members(self) -> dict[str, Any]:
        return {
            "mechanism": self.mechanism,
            "periods": self.periods,
            "values": self.values_drawn,
            "epsilon": self.epsilon,
        }

    @classmethod
    def from_members(cls, members: Mapping[str, Any], nested: Nested) -> Self:
        require_keys("the memoised way", members, ("mechanism", "periods", "values", "epsilon"))
        made, epsilon = nested(members["mechanism"]), as_number("epsilon", members["epsilon"])
        return cls(made, members["periods"], members["values"], epsilon)
