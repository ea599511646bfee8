"""How small and how large a number of a distribution can be, from bounds on linear ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

SECTIONS = 16
"""Parts that each end of a quantile's interval is looked for in at once."""

FINE = 1 / 128
"""Share of the domain between two points up to which a quantile's interval ends at points."""


class Bounds(ABC):
    """How small and how large numbers of a distribution can be, by upper ends of linear functionals of its masses.

    Attributes
    ----------
    points : (P,) ndarray of float
        Increasing; a value between two of them is seen as they are, mixed (`laws.domain.rounding_weights`).
    between : bool
        Whether values may lie between the points.
    """

    points: np.ndarray
    between: bool

    @abstractmethod
    def largest(self, functionals: np.ndarray, confidence: float) -> np.ndarray:
        """Return the largest that each of (F, P) linear functionals of the masses can be, (F,)."""

    @abstractmethod
    def seen_at(self, places: np.ndarray) -> Bounds:
        """Return the same with more points, between those that there are."""

    @cached_property
    def _belows(self) -> dict[tuple[float, bool], np.ndarray]:
        return {}

    @property
    @abstractmethod
    def method(self) -> str:
        """How, for JSON."""

    @property
    def assumed(self) -> str:
        """What is assumed of the distribution."""
        return "nothing"

    def assumption_p_value(self) -> float | None:
        """How likely reports are that speak so much against what is assumed, if it holds; None where nothing is."""
        return None

    def unassumed(self) -> Bounds | None:
        """Return the same with nothing assumed; None where that is what it is."""
        return None

    def shortest(self, of: str, about: tuple[Any, ...], confidence: float) -> float | None:
        """Return a length that no honest interval of a number falls short of on average; None where none is known.

        Parameters
        ----------
        of : str
            The method here that the interval is by.
        about : tuple
            What it takes beside the confidence.
        confidence : float
        """
        del of, about, confidence
        return None

    @property
    def sections(self) -> int:
        """Parts that each end of a quantile's interval is looked for in at once."""
        return SECTIONS

    @property
    def fine(self) -> float:
        """Share of the domain between two points up to which a quantile's interval ends at points."""
        return FINE

    def ends(self, most: np.ndarray, least: np.ndarray, confidence: float) -> tuple[float, float]:
        """Return how small and how large a number can be, given what mass at each point adds to it at least and most.

        `most` and `least` are (P,) arrays.
        """
        high, low = self.largest(np.stack([most, -least]), confidence)
        return -float(low), float(high)

    def in_ranges(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return which points can lie in ranges, and which must whatever their last digits are: two (R, P) arrays.

        Mass at the very end of a range may be just beyond it, but for the ends of the domain.
        """
        points, first, last = self.points, self.points[0], self.points[-1]
        low, high = np.asarray(low)[:, None], np.asarray(high)[:, None]
        can = (points >= low) & (points <= high)
        if not self.between:
            return can.astype(float), can.astype(float)
        must = ((points > low) | (low <= first)) & ((points < high) | (high >= last)) & can
        return can.astype(float), must.astype(float)

    def shares(self, low: np.ndarray, high: np.ndarray, confidence: float) -> tuple[np.ndarray, np.ndarray]:
        """Return how small and how large the share of each range [low, high] can be: two (R,) arrays."""
        seen = self.seen_at(np.concatenate([low, high]))
        can, must = seen.in_ranges(low, high)
        low_end = -seen.largest(-must, confidence)
        return np.maximum(low_end, 0.0), np.minimum(seen.largest(can, confidence), 1.0)

    def share(self, low: float, high: float, confidence: float) -> tuple[float, float]:
        """Return how small and how large the share of one range can be."""
        least, most = self.shares(np.array([low]), np.array([high]), confidence)
        return float(least[0]), float(most[0])

    def share_above(self, value: float, confidence: float) -> tuple[float, float]:
        """Return how small the share above a value can be, and how large that from the next point on."""
        seen = self.seen_at(np.array([value]))
        above = (seen.points > value).astype(float)
        low, high = seen.largest(np.stack([-above, above]), confidence)
        return max(0.0, -float(low)), min(1.0, float(high))

    def variance(self, confidence: float) -> tuple[float, float]:
        """Return how small and how large the variance can be, squared units.

        It is the least of E (X - m)^2 over m: any m proves that it is no larger, and one within half a step of the mean
        is off by no more than the square of that. Values between two points d apart have up to d^2 / 4 less.
        """
        x, steps = self.points, 2 * self.sections
        first, last = self.ends(x, x, confidence)
        centres = np.linspace(first, last, steps + 1)
        squares = (x - centres[:, None]) ** 2
        gaps = np.diff(x, prepend=x[0], append=x[-1])
        inner = np.maximum(gaps[:-1], gaps[1:]) ** 2 / 4 if self.between else 0.0
        off = ((last - first) / steps / 2) ** 2
        most, least = self.largest(squares, confidence).min(), -self.largest(inner - squares, confidence).max() - off
        return max(0.0, float(least)), float(most)

    def quantile(self, share: float, confidence: float) -> tuple[float, float]:
        """Return the ends of a quantile: where the share below can first, and must at last, have reached it."""
        low = self._first(share, confidence, can=True)
        return low, self._first(share, confidence, can=False)

    def _first(self, share: float, confidence: float, *, can: bool) -> float:
        """Where the largest, or the smallest, share below first reaches a share, to the side that is safe."""
        places, whole = self.points, self.points[-1] - self.points[0]
        coarse = self._coarse(confidence, can=can)
        while places.size > 2:
            chosen = np.unique(np.linspace(0, places.size - 1, self.sections + 1).astype(int))
            below = coarse if places is self.points else self._below(places[chosen], confidence, can=can)
            if (after := _first_at_least(below, share)) == 0:
                return float(places[0])
            places = places[chosen[after - 1] : chosen[after] + 1]
        if self.between and places[-1] - places[0] > self.fine * whole:
            places = np.linspace(places[0], places[-1], self.sections + 1)
            after = _first_at_least(self._below(places, confidence, can=can), share)
            return float(places[max(0, after - 1) if can else after])
        return float(places[0] if can and self.between else places[-1])

    def _coarse(self, confidence: float, *, can: bool) -> np.ndarray:
        """The shares below some of the points, from which all quantiles are looked for."""
        if (confidence, can) not in self._belows:
            chosen = np.unique(np.linspace(0, self.points.size - 1, self.sections + 1).astype(int))
            self._belows[confidence, can] = self._below(self.points[chosen], confidence, can=can)
        return self._belows[confidence, can]

    def _below(self, places: np.ndarray, confidence: float, *, can: bool) -> np.ndarray:
        """How large, or how small, the share below each place, and at it, can be."""
        seen = self.seen_at(places)
        most, least = seen.in_ranges(np.full(places.size, self.points[0]), places)
        return seen.largest(most, confidence) if can else -seen.largest(-least, confidence)


def _first_at_least(below: np.ndarray, share: float) -> int:
    """Index of the first that reaches the share; of the last if none does."""
    reached = np.flatnonzero(below >= share)
    return int(reached[0]) if reached.size else below.size - 1
