r"""Pairs of linear estimates for users at several levels of privacy, whose reports hide which level is whose.

With a share r_i of the users at level i and L_i the law of outcomes there, q = \sum_i r_i L_i' p for weights p, if
levels do not depend on values. The shares are known up to lower limits l, so that q is a mixture of the laws

    \sum_i l_i L_i[k] + (1 - \sum_i l_i) L_j[k]

over knots k and levels j, whatever the shares are above l, and whether or not they differ from value to value there: a
distribution on pairs (j, k), linear as all else here. Limits miss with one part in `OF_SHARES` of what intervals may
miss, which these pay for. Estimates are chosen at the same limits, t - 1 numbers of all reports: what that adds to
noise is of second order.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ...solvers.modulus.polyhedron import Polyhedron
from ..intervals import CONFIDENCE
from .intervals import AffinePairs
from .outcomes import Outcomes
from .pair import Estimates, Noise, Pairs

OF_SHARES = 50
"""Part of what an interval may miss that the limits of the levels' shares miss: intervals are as long with a tenth of
it and with ten times as much."""

LEAST_OF_LEVEL = 1e-3
"""Share of each level in what estimates are chosen at, above its limit."""


@dataclass(frozen=True, eq=False)
class PairsAtLevels(AffinePairs):
    """What reports say of a distribution on knots, for any shares of the levels that they do not contradict.

    Parameters
    ----------
    outcomes : Outcomes
        Their law is the one at the estimated shares, which the shortest length is for.
    held, weights, more
        As in `AffinePairs`; nothing is assumed of the distribution.
    laws : (t, K, m) ndarray of float
        How likely outcomes are at each level and knot.
    reported : (m,) ndarray of int
        Report of the level in each outcome.
    decoder : (r, t) ndarray of float
        What reports of the level add to unbiased shares.

    Example
    -------
    >>> from ..assumptions.base import Assumed
    >>> told, knots = np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([0.0, 1.0])
    >>> coins = [np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([[0.9, 0.1], [0.1, 0.9]])]
    >>> laws = np.array([np.kron(said, coin) for said, coin in zip(told, coins)])
    >>> seen = Outcomes(knots, laws.mean(axis=0), np.array([520, 480, 640, 360]), False)
    >>> held, even = Assumed.of([], knots), np.array([0.5, 0.5])
    >>> reported, decoder = np.array([0, 0, 1, 1]), np.linalg.inv(told)
    >>> found = PairsAtLevels(seen, held, even, laws=laws, reported=reported, decoder=decoder)
    >>> [round(end, 2) for end in found.share_above(0.0, 0.95)]
    [0.37, 0.43]
    """

    laws: np.ndarray = field(kw_only=True)
    reported: np.ndarray = field(kw_only=True)
    decoder: np.ndarray = field(kw_only=True)

    def largest(self, functionals: np.ndarray, confidence: float) -> np.ndarray:
        missed = (1.0 - confidence) / OF_SHARES
        return self.made(missed).highest(np.tile(functionals, len(self.laws)), confidence + missed)

    @cached_property
    def _chosen(self) -> tuple[np.ndarray, np.ndarray]:
        """Limits of the levels' shares and weights (t, K), which estimates are chosen at."""
        near = self.limits((1.0 - CONFIDENCE) / OF_SHARES)
        shares = 1.0 if self.pairs.are_few else -self._shares(self.outcomes).mean
        start = np.maximum(shares - near, LEAST_OF_LEVEL)
        start = np.outer(start / start.sum(), self.held.start)
        every = replace(self.outcomes, points=np.tile(self.outcomes.points, len(start)), law=_mixed(self.laws, near))
        found = Pairs(every, Polyhedron.simplex(start.size), start.ravel()).weights
        return near, found.reshape(start.shape)

    @cached_property
    def _finer(self) -> tuple[Outcomes, np.ndarray, np.ndarray]:
        """Outcomes at all points that are asked for, the levels' laws there, and weights that estimates begin at."""
        seen, rounding = self._seen
        weights = np.zeros((len(self.laws), seen.points.size))
        weights[:, np.searchsorted(seen.points, self.outcomes.points)] = self._chosen[1]
        return seen, np.einsum("kp,ikm->ipm", rounding, self.laws), weights

    def made(self, missed: float) -> Pairs:
        """What chooses pairs of estimates, of each level and point, and proves biases whatever the shares are that
        reports do not contradict, but for so many cases."""
        seen, laws, weights = self._finer
        every = replace(seen, points=np.tile(seen.points, len(laws)), law=_mixed(laws, self._chosen[0]))
        at = weights.ravel()
        return Pairs(every, Polyhedron.simplex(at.size), at, chosen_at=at, proved_for=_mixed(laws, self.limits(missed)))

    def limits(self, missed: float) -> np.ndarray:
        """Return lower limits (t,) of the levels' shares that hold at once but for so many cases; 0 of few users."""
        if self.pairs.are_few:
            return np.zeros(len(self.laws))
        found = np.maximum(0.0, -self._shares(self.outcomes).upper(1.0 - 2.0 * missed / len(self.laws)))
        return found / max(1.0, float(found.sum()))

    def _shares(self, seen: Outcomes) -> Noise:
        """The negative of unbiased shares (t,) of the levels, and how surely."""
        weights = -self.decoder.T[:, self.reported]
        return Estimates(weights, np.zeros(len(weights)), np.zeros(len(weights))).noise(seen)


def _mixed(laws: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """The laws (t K, m) of each level and knot, as limits of shares have them."""
    least = np.einsum("i,ikm->km", limits, laws)
    return (least + (1.0 - limits.sum()) * laws).reshape(-1, laws.shape[2])
