"""Intervals for a number of a distribution, such as its mean, from pairs of linear estimates; how short one can be."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...solvers.modulus.estimates import Reference
from ...solvers.modulus.largest import nearest
from ...solvers.modulus.shortest import shortest_length, shortest_lengths
from ...solvers.one_thread import one_thread
from ..assumption_free.bounds import Bounds
from ..assumptions.base import NOTHING, Assumed
from .outcomes import Outcomes
from .pair import Pairs
from .quantile_length import shortest_quantile
from .refuted import p_value

FINE = 1 / 64
"""Share of the domain between knots up to which a quantile's interval ends at knots."""

HALVES = 2
"""Parts that a quantile is looked for in where each number has a program of its own."""

LIKELY = 1e-4
"""Share of what fits begin at in the distribution that the shortest length is of, so that no outcome is impossible. A
hundredth is too much: where all have one value at epsilon 4 it makes the length 1.6 times that of the estimate itself,
longer than intervals that hold."""


@dataclass(frozen=True, eq=False)
class AffinePairs(Bounds):
    """What pairs of linear estimates say of a distribution on knots, under what is assumed of it.

    Shares of ranges that end at knots are of the values as rounded to knots. Where ends lie between knots, and of
    quantiles, intervals allow for what lies on either side of these.

    Parameters
    ----------
    outcomes : Outcomes
    held : Assumed
        On the outcomes' knots.
    weights : (K,) ndarray of float
        The estimated distribution, of which the shortest length is said.
    more : (M,) ndarray of float
        Points between knots, where a number asks for them.

    Example
    -------
    >>> seen = Outcomes(np.array([0.0, 1.0]), np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([500, 500]), False)
    >>> found = AffinePairs(seen, Assumed.of([], seen.points), np.array([0.5, 0.5]))
    >>> low, high = found.share_above(0.0, 0.95)
    >>> bool(low < 0.5 < high), bool(high - low > found.shortest("share_above", (0.0,), 0.95) > 0.1)
    (True, True)
    """

    outcomes: Outcomes
    held: Assumed
    weights: np.ndarray
    more: np.ndarray = field(default_factory=lambda: np.empty(0))

    @classmethod
    def fitted(cls, outcomes: Outcomes, held: Assumed) -> AffinePairs:
        """Return what they say of the distribution that estimates are chosen at, by all reports."""
        return cls(outcomes, held, Pairs(outcomes, held.polyhedron, held.start).fit(outcomes))

    @cached_property
    def _seen(self) -> tuple[Outcomes, np.ndarray]:
        return self.outcomes.seen_at(self.more)

    @property
    def points(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride] -- read alone
        """The knots, and the points between them that were asked for."""
        return self._seen[0].points if self.more.size else self.outcomes.points

    @property
    def between(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride] -- read alone
        """Whether values may lie between knots."""
        return self.outcomes.between

    @property
    def method(self) -> str:
        return "affine-pair"

    @property
    def sections(self) -> int:
        return super().sections if self.held.polyhedron.is_simplex else HALVES

    @property
    def fine(self) -> float:
        if self.outcomes.finer:
            return super().fine
        return FINE if self.held.polyhedron.is_simplex else 1.0

    @cached_property
    def _known(self) -> dict[tuple[float, float, bool], float]:
        return {}

    def _below(self, places: np.ndarray, confidence: float, *, can: bool) -> np.ndarray:
        """As of all bounds; each place is asked once, for all quantiles."""
        keys = [(float(place), confidence, can) for place in places]
        new = [key[0] for key in keys if key not in self._known]
        if new:
            found = super()._below(np.array(new), confidence, can=can)
            self._known.update(zip([(place, confidence, can) for place in new], found.tolist(), strict=True))
        return np.array([self._known[key] for key in keys])

    @property
    def assumed(self) -> str:
        return self.held.label

    @cached_property
    def pairs(self) -> Pairs:
        """What chooses the pairs of estimates."""
        base = Pairs(self.outcomes, self.held.polyhedron, self.held.start)
        if not self.more.size:
            return base
        seen, rounding = self._seen
        return base.seen_at(seen, self.held.polyhedron.seen_through(rounding))

    @cached_property
    def reference(self) -> Reference | None:
        """The estimated distribution, or the nearest to it that what is assumed allows, in errors of all reports; None
        where it is not known what several reports of a user tell together, and of so few users that averages are not
        normal."""
        if self.outcomes.several is not None or self.pairs.are_few:
            return None
        weights = (1.0 - LIKELY) * self.weights + LIKELY * self.held.start
        matrix, _ = self.outcomes.in_errors(weights, self.outcomes.n)
        if not self.held.polyhedron.is_simplex:
            near = nearest(self.held.polyhedron, matrix, matrix @ weights)
            weights = (1.0 - LIKELY) * near + LIKELY * self.held.start
            matrix, _ = self.outcomes.in_errors(weights, self.outcomes.n)
        return Reference(self.held.polyhedron, matrix, weights)

    @cached_property
    def _p_value(self) -> float | None:
        return None if self.assumed == NOTHING or self.pairs.are_few else p_value(self.outcomes, self.held)

    def assumption_p_value(self) -> float | None:
        return self._p_value

    def unassumed(self) -> AffinePairs | None:
        if self.assumed == NOTHING:
            return None
        return replace(self, held=Assumed.of([], self.outcomes.points, self.held.start))

    def seen_at(self, places: np.ndarray) -> AffinePairs:
        knots = self.outcomes.points
        off = np.setdiff1d(np.clip(places, knots[0], knots[-1]), knots)
        return replace(self, more=off) if self.between and off.size else self

    def largest(self, functionals: np.ndarray, confidence: float) -> np.ndarray:
        return self.pairs.highest(functionals, confidence)

    def share(self, low: float, high: float, confidence: float) -> tuple[float, float]:
        """Return how small and how large the share of a range can be: of knots at its ends all, between knots what may
        be just beyond them."""
        seen = self.seen_at(np.array([low, high]))
        can = (seen.points >= low) & (seen.points <= high)
        must = can & (np.isin(seen.points, self.outcomes.points) | ((seen.points > low) & (seen.points < high)))
        least, most = seen.largest(np.stack([-must.astype(float), can.astype(float)]), confidence)
        return max(0.0, -float(least)), min(1.0, float(most))

    @one_thread()
    def shortest(self, of: str, about: tuple[Any, ...], confidence: float) -> float | None:
        points, reference = self.outcomes.points, self.reference
        if reference is None:
            return None
        if of == "quantile":
            return shortest_quantile(points, float(about[0]), reference, confidence)
        if of == "ends":
            asked = about[0]
        elif of == "share":
            asked = ((points >= about[0]) & (points <= about[1])).astype(float)
        elif of == "share_above":
            asked = (points > about[0]).astype(float)
        elif of == "variance":  # to the first order
            asked = (points - points @ reference.weights) ** 2
        else:
            return None
        return shortest_length(asked, reference, confidence).length if np.ptp(asked) > 0 else 0.0

    def shortest_each(self, functionals: np.ndarray, confidence: float) -> np.ndarray | None:
        """Return the shortest lengths (F,) of several functionals (F, K) of the masses at knots; None if not known."""
        if (reference := self.reference) is None:
            return None
        return shortest_lengths(functionals, reference, confidence)
