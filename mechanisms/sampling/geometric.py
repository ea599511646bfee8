"""Points with two lattice tails of geometric probability: the law of AAA's lattice mechanism."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from ..errors import TableError
from ..integers.numerators import DENOMINATOR
from .law import RowFreeLaw, Tails, Words

LARGEST_STEP = 1e120
"""A larger one may overflow the variance."""

UNSURE_STEPS = 2.0**48
"""From here on a report less its end, over the step, may round to a neighbour of the number of steps that made it."""

STEPS_BESIDE = 8
"""Neighbours, in units of the last place, that are tried then: five roundings err by less than six of them."""


@dataclass(frozen=True, eq=False)
class GeometricTails(RowFreeLaw):
    """Finite outputs are points; an output that reaches infinity is a lattice from its finite end outwards.

    Its reports are end, end + step, end + 2 step, ... (towards infinity), the k-th with conditional
    probability (1 - ratio) ratio^k, the same for all rows.

    Parameters
    ----------
    step : float
        Distance of the lattice's points, positive, in the units of the reports.
    ratio : float
        In (0, 1); each point is that much less likely than the one before.

    Raises
    ------
    TableError
        A step that is not positive or far too large, or a ratio outside (0, 1).

    Source
    ------
    Wei et al. (2024), equation (13).

    Example
    -------
    >>> mean, _ = GeometricTails(1.0, 0.5).moments(np.array([3.0]), np.array([np.inf]), 1)
    >>> mean.item()
    4.0
    """

    step: float
    ratio: float
    kind: ClassVar[str] = "geometric-tails"

    def __post_init__(self) -> None:
        for name in ("step", "ratio"):
            value = getattr(self, name)
            if not isinstance(value, Real):
                raise TableError(f"{name} must be a number, got {value!r}")
            object.__setattr__(self, name, float(value))
        if not 0 < self.step <= LARGEST_STEP:
            raise TableError(f"step must be positive and at most {LARGEST_STEP:g}, got {self.step!r}")
        if not 0 < self.ratio < 1:
            raise TableError(f"ratio must be between 0 and 1, got {self.ratio!r}")

    def check(self, low: np.ndarray, high: np.ndarray, n: int) -> None:
        finite = np.isfinite(low) & np.isfinite(high)
        wrong = np.flatnonzero((finite & (low != high)) | (np.isneginf(low) & np.isposinf(high)))
        if wrong.size:
            j = wrong[0]
            raise TableError(
                f"beside geometric tails there must be only points, got [{low[j]}, {high[j]}] at output {j}"
            )
        inside = finite & (
            (low <= high[~finite & np.isneginf(low)].max(initial=-np.inf))
            | (high >= low[~finite & np.isposinf(high)].min(initial=np.inf))
        )
        if inside.any():
            j = np.flatnonzero(inside)[0]
            raise TableError(f"points must lie between the geometric tails, got {low[j]} at output {j}")
        if np.isneginf(low[0]) and np.isposinf(high[-1]) and high[0] == low[-1]:
            raise TableError(f"two geometric tails must have ends of their own, got both at {high[0]}")

    def moments(self, low: np.ndarray, high: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
        side, end = _sides_and_ends(low, high)
        beyond = self.step * self.ratio / (1 - self.ratio)
        mean = end + side * beyond
        variance = side**2 * self.step**2 * self.ratio / (1 - self.ratio) ** 2
        return np.broadcast_to(mean, (n, low.size)), np.broadcast_to(variance, (n, low.size))

    def draw(
        self, low: np.ndarray, high: np.ndarray, rows: np.ndarray, columns: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        side, end = _sides_and_ends(low, high)
        report = end[columns]
        far = np.flatnonzero(side[columns])
        lattice = np.minimum(rng.geometric(1 - self.ratio, far.size) - 1.0, self.most_steps)
        report[far] += side[columns[far]] * (lattice * self.step)
        return report

    def exact_means(self, low: np.ndarray, high: np.ndarray) -> list[Fraction]:
        steps = Fraction(sum(odds << i for i, odds in enumerate(digit_odds(self.ratio))), DENOMINATOR)
        side, end = _sides_and_ends(low, high)
        beyond = steps * Fraction(self.step)
        return [Fraction(e) + int(s) * beyond for s, e in zip(side.tolist(), end.tolist(), strict=True)]

    def draw_exact(self, low: np.ndarray, high: np.ndarray, columns: np.ndarray, words: Words) -> np.ndarray:
        side, end = _sides_and_ends(low, high)
        report = end[columns]
        far = np.flatnonzero(side[columns])
        lattice = np.zeros(far.size)
        for i, odds in enumerate(digit_odds(self.ratio)):
            lattice += np.where((words(far.size) >> np.uint64(11)) < np.uint64(odds), 2.0**i, 0.0)
        report[far] += side[columns[far]] * (lattice * self.step)
        return report

    def contains(self, low: np.ndarray, high: np.ndarray, columns: np.ndarray, reports: np.ndarray) -> np.ndarray:
        """Say which reports are the very doubles that `draw_exact` makes: end + k step, k at most `most_steps`."""
        side, end = _sides_and_ends(low, high)
        side, end = side[columns], end[columns]
        nearest, farthest = self.farthest(low, high)
        inside = (nearest[columns] <= reports) & (reports <= farthest[columns])
        count = np.round(np.abs(np.where(inside, reports - end, 0.0)) / self.step)
        made = reports == end + side * (count * self.step)
        unsure = np.flatnonzero(inside & ~made & (count >= UNSURE_STEPS))
        for offset in range(-STEPS_BESIDE, STEPS_BESIDE + 1):
            steps = np.clip(count[unsure] + offset * np.maximum(np.spacing(count[unsure]), 1.0), 0, self.most_steps)
            made[unsure] |= reports[unsure] == end[unsure] + side[unsure] * (steps * self.step)
        return inside & made

    def farthest(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        side, end = _sides_and_ends(low, high)
        last = end + side * (self.most_steps * self.step)
        return np.minimum(end, last), np.maximum(end, last)

    def tails(self, low: np.ndarray, high: np.ndarray) -> Tails:
        r, step = self.ratio, self.step
        mean, second = step * r / (1 - r), step**2 * r * (1 + r) / (1 - r) ** 2
        farthest = math.prod(odds / DENOMINATOR for odds in digit_odds(r))
        return Tails(np.array(mean), np.array(second), np.array(-math.log(r) / step), step, farthest)

    @cached_property
    def most_steps(self) -> float:
        """The most steps that a report can lie from its tail's end: all digits of a geometric number are ones.

        2^L - 1 for L digits; further ones, of probability below 2^-54 each, are never drawn. Sums of powers of two
        round like whole numbers, so all doubles without a fraction up to it can come out.

        Example
        -------
        >>> GeometricTails(1.0, 0.5).most_steps
        63.0
        """
        return float(2 ** len(digit_odds(self.ratio)) - 1)

    def take(self, columns: np.ndarray) -> Self:
        return self

    def scaled(self, scale: float) -> Self:
        return type(self)(self.step * abs(scale), self.ratio)

    def parameters(self) -> dict[str, Any]:
        return {"step": self.step, "ratio": self.ratio}


def _sides_and_ends(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return -1, 0 or 1 (left tail, point, right tail) and the finite end of each output."""
    side = np.isposinf(high).astype(float) - np.isneginf(low)
    return side, np.where(side < 0, high, low)


def digit_odds(ratio: float) -> list[int]:
    """Return how often, in 2^53, each binary digit of a geometric number is one, lowest digit first.

    If Pr(k) = (1 - r) r^k then the digits of k are independent, the i-th being one with probability
    q / (1 + q), q = r^(2^i). Digits of probability below 2^-54 are left out.

    Example
    -------
    >>> digit_odds(2.0**-26), digit_odds(0.5)[:2]
    ([134217726, 2], [3002399751580330, 1801439850948198])
    """
    odds: list[int] = []
    q = ratio
    while (digit := round(q / (1 + q) * DENOMINATOR)) > 0:
        odds.append(digit)
        q *= q
    return odds
