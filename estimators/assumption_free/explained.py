"""All distributions that explain the reports, and how large and small what they say can be."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ...solvers.functional_bounds.bounds import Ball
from ...solvers.likelihood.mixture import MixtureLikelihood, SumLikelihood
from ...solvers.one_thread import one_thread
from ..intervals import normal_quantile

FAINT = 1e-4
"""Standard errors by which a direction of the weights may move the reports of any two distributions and still be left
out, as one of which the reports say nothing. All others count: what is left out for time makes intervals longer, and
some of them false, since what the others leave unexplained seems less than it is."""

SECTIONS = 16
"""Parts that each end of a quantile's interval is looked for in at once."""

FINE = 1 / 128
"""Share of the domain between two points up to which a quantile's interval ends at points."""


@dataclass(frozen=True, eq=False)
class Explained:
    r"""What counted reports say of masses at points, to second order.

    A distribution explains the reports where its misfit, twice the log-likelihood that it is short of the largest to
    second order, is at most z^2, z being the normal quantile: were weights free this would be the normal interval of
    each linear number, and that weights are no less than zero makes intervals shorter. **Where most weights are zero
    z^2 is too little**: of shares beside a value that nearly everybody has, intervals hold the truth less often than
    they say (docs/accuracy/boundary.md). Nothing else is assumed of the distribution: it may be smooth, or have all its
    mass at a few values that the reports cannot tell apart. Numbers that reports tell, such as the mean, have bounds by
    linear estimates that the information alone chooses (`most`), which hold as well where the number is as small or
    large as it can be.

    Parameters
    ----------
    points : (P,) ndarray of float
        Increasing; a value between two of them is seen as they are, mixed (`laws.domain.rounding_weights`).
    matrix, centre : (r, P), (r,) ndarray of float
        B and c of the misfit \|B w - c\|^2.
    between : bool
        Whether values may lie between the points.

    Source: Stanley, Patil and Kuusela (2022), "Uncertainty quantification for wide-bin unfolding". That z^2 is enough
    under constraints was conjectured (Burrus 1965) and is false: Batlle, Patil, Stanley, Owhadi and Kuusela (2023),
    "Optimization-based frequentist confidence intervals for functionals in constrained inverse problems".

    Example
    -------
    >>> from optldp.solvers.likelihood.dense import DenseLikelihood
    >>> coin = DenseLikelihood([np.eye(2)], [300, 700])
    >>> found = Explained.of(coin, np.array([0.0, 1.0]), np.array([0.3, 0.7]), between=False)
    >>> [round(end, 3) for end in found.ends(np.array([0.0, 1.0]), np.array([0.0, 1.0]), 0.95)]
    [0.672, 0.728]
    """

    points: np.ndarray
    matrix: np.ndarray
    centre: np.ndarray
    between: bool
    _belows: dict[tuple[float, bool], np.ndarray] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    @one_thread()
    def of(cls, likelihood: MixtureLikelihood, points: np.ndarray, weights: np.ndarray, *, between: bool) -> Explained:
        """Return what a likelihood of weights at the points says near these weights.

        Of one service the information is the expected one, which knows of outputs that nobody sent; of several the
        observed one.
        """
        mixed = likelihood.mix(weights)
        score = likelihood.total * likelihood.gradient(mixed)
        if isinstance(likelihood, SumLikelihood) or abs(float(mixed.sum()) - 1.0) > 1e-6:
            information = likelihood.information(mixed)
        else:
            sent = mixed > 0
            information = likelihood.curvature(np.divide(likelihood.total, mixed, out=np.zeros_like(mixed), where=sent))
        return cls.near(points, weights, score, information, between=between)

    @classmethod
    @one_thread()
    def near(
        cls, points: np.ndarray, weights: np.ndarray, score: np.ndarray, information: np.ndarray, *, between: bool
    ) -> Explained:
        """Return what a log-likelihood of this gradient (P,) and information (P, P) at weights says near them."""
        # Weights sum to one: what is the same for all of them says nothing.
        information = information - information.mean(axis=0)
        information = information - information.mean(axis=1)[:, None]
        score = score - score.mean()
        values, vectors = np.linalg.eigh((information + information.T) / 2)
        roots = np.sqrt(np.maximum(values, 0.0))
        apart = roots * np.ptp(vectors, axis=0)
        told = apart > FAINT
        matrix = roots[told, None] * vectors[:, told].T
        centre = matrix @ weights + (vectors[:, told].T @ score) / roots[told]
        return cls(points, matrix, centre, between)

    def seen_at(self, places: np.ndarray) -> Explained:
        """Return the same with more points, between those that there are."""
        places = np.setdiff1d(np.clip(places, self.points[0], self.points[-1]), self.points)
        if not (self.between and places.size):
            return self
        right = np.searchsorted(self.points, places)
        share = (places - self.points[right - 1]) / (self.points[right] - self.points[right - 1])
        more = (1.0 - share) * self.matrix[:, right - 1] + share * self.matrix[:, right]
        every = np.concatenate([self.points, places])
        order = np.argsort(every, kind="stable")
        return Explained(every[order], np.hstack([self.matrix, more])[:, order], self.centre, self.between)

    @cached_property
    def _ball(self) -> Ball:
        return Ball(self.matrix, self.centre)

    @one_thread()
    def largest(self, functionals: np.ndarray, confidence: float) -> np.ndarray:
        """Return the largest that each of (F, P) linear functionals of the masses can be, (F,)."""
        return self._ball.largest(functionals, normal_quantile(confidence))

    @one_thread()
    def most(self, functionals: np.ndarray, confidence: float) -> np.ndarray:
        """Return the same, (F,), by estimates that the information alone chooses where reports tell the numbers."""
        foreseen, told = self._ball.foreseen(functionals, normal_quantile(confidence))
        if not told.all():
            foreseen[~told] = self.largest(functionals[~told], confidence)
        return foreseen

    def ends(self, most: np.ndarray, least: np.ndarray, confidence: float) -> tuple[float, float]:
        """Return how small and how large a number can be, given what mass at each point adds to it at least and most.

        `most` and `least` are (P,) arrays.
        """
        asked = np.stack([most, -least])
        high, low = self.most(asked, confidence)
        if high + low <= 0:  # noise alone, no number is left: what the reports allow is never empty
            high, low = self.largest(asked, confidence)
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
        x, steps = self.points, 2 * SECTIONS
        first, last = self.ends(x, x, confidence)
        centres = np.linspace(first, last, steps + 1)
        squares = (x - centres[:, None]) ** 2
        gaps = np.diff(x, prepend=x[0], append=x[-1])
        inner = np.maximum(gaps[:-1], gaps[1:]) ** 2 / 4 if self.between else 0.0
        off = ((last - first) / steps / 2) ** 2
        for bound in (self.most, self.largest):
            most, least = bound(squares, confidence).min(), -bound(inner - squares, confidence).max() - off
            if least < most and most > 0:  # else noise alone, as in `ends`
                break
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
            chosen = np.unique(np.linspace(0, places.size - 1, SECTIONS + 1).astype(int))
            below = coarse if places is self.points else self._below(places[chosen], confidence, can=can)
            if (after := _first_at_least(below, share)) == 0:
                return float(places[0])
            places = places[chosen[after - 1] : chosen[after] + 1]
        if self.between and places[-1] - places[0] > FINE * whole:
            places = np.linspace(places[0], places[-1], SECTIONS + 1)
            after = _first_at_least(self._below(places, confidence, can=can), share)
            return float(places[max(0, after - 1) if can else after])
        return float(places[0] if can and self.between else places[-1])

    def _coarse(self, confidence: float, *, can: bool) -> np.ndarray:
        """The shares below some of the points, from which all quantiles are looked for."""
        if (confidence, can) not in self._belows:
            chosen = np.unique(np.linspace(0, self.points.size - 1, SECTIONS + 1).astype(int))
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
