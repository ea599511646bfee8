"""Signs that are drawn together, before there are values to hide: those that agree with plus are likelier."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..budget import check_epsilon
from ..errors import InputError
from ..integers.exponential import exponential_below
from ..sampling.law import Words
from ..sampling.subsets import random_choices, uniform_below

MOST_SIGNS = 32
"""So that weights of all 2^32 vectors have a sum that is exact in doubles, and a ratio that is fine."""

LARGEST_TOTAL = 2**53


@dataclass(frozen=True)
class Signs:
    """The law of K signs: vectors of which at least `least` are plus have weight `high`, the others `low`.

    Whoever multiplies them with signs to hide sends a vector whose probability is `low` or `high` over the total,
    whatever is hidden. Of fewer than K it sends a part, whose probability lies between.

    Parameters
    ----------
    many : int
        K, from 1 to 32.
    least : int
        From 1 to K.
    high, low : int
        Positive, of a sum over all vectors of at most 2^53.

    Raises
    ------
    InputError
        Numbers out of their ranges.

    Source: the composed randomizer of Ohrimenko, Wirth and Wu (2022), "Randomize the future".

    Example
    -------
    >>> made = Signs(2, 2, 3, 1)
    >>> made.total, made.agreement
    (6, 0.3333333333333333)
    """

    many: int
    least: int
    high: int
    low: int

    def __post_init__(self) -> None:
        told = (self.many, self.least, self.high, self.low)
        if any(type(one) is not int for one in told) or not 1 <= self.least <= self.many <= MOST_SIGNS:
            raise InputError(f"there must be 1 to {MOST_SIGNS} signs, and 1 to all of them plus, got {told!r:.80}")
        if not 1 <= self.low <= self.high or self.total > LARGEST_TOTAL:
            raise InputError(f"weights of signs must be positive, the first the larger, got {self.high}, {self.low}")

    @property
    def favoured(self) -> int:
        """How many vectors have the larger weight."""
        return sum(math.comb(self.many, plus) for plus in range(self.least, self.many + 1))

    @property
    def total(self) -> int:
        """The sum of all weights."""
        return self.favoured * self.high + (2**self.many - self.favoured) * self.low

    @property
    def agreement(self) -> float:
        """The mean of each sign."""
        return float(Fraction((self.high - self.low) * _surplus(self.many, self.least), self.many * self.total))

    @property
    def ratio(self) -> Fraction:
        """That of two vectors' probabilities at most."""
        return Fraction(self.high, self.low)

    def drawn(self, many: int, words: Words) -> np.ndarray:
        """Draw signs (N, K), -1 or 1, by whole numbers.

        Example
        -------
        >>> from ..sampling.random_words import random_words
        >>> Signs(3, 2, 10**15, 1).drawn(4, random_words(None)).sum(axis=1).min() >= 1
        np.True_
        """
        weights = [
            math.comb(self.many, plus) * (self.high if plus >= self.least else self.low)
            for plus in range(self.many + 1)
        ]
        plus = np.searchsorted(np.cumsum(weights), uniform_below(self.total, many, words), side="right")
        return np.where(random_choices(many, self.many, self.many, words) < plus[:, None], 1, -1)


def best_signs(many: int, epsilon: float) -> Signs:
    """Return the law of so many signs whose means are largest at a budget, its ratio rounded towards more privacy.

    Example
    -------
    >>> found = best_signs(2, 1.0)
    >>> found.least, round(found.agreement, 3), round(best_signs(1, 1.0).agreement, 3)
    (2, 0.3, 0.462)
    """
    ratio = exponential_below(check_epsilon(epsilon))
    made = []
    for least in range(max(1, many // 2), many + 1):
        favoured = sum(math.comb(many, plus) for plus in range(least, many + 1))
        low = math.floor(LARGEST_TOTAL / (favoured * ratio + 2**many - favoured))
        if low:
            made.append(Signs(many, least, math.floor(ratio * low), low))
    if not made:
        raise InputError(f"signs of budget {epsilon:g} must have weights below 2^53, got {many} of them: take fewer")
    return max(made, key=lambda signs: signs.agreement)


def _surplus(many: int, least: int) -> int:
    """By how much plus exceeds minus, summed over the vectors of the larger weight."""
    return sum(math.comb(many, plus) * (2 * plus - many) for plus in range(least, many + 1))
