r"""The interval of a difference of one number of two groups that have no users in common, by a pair of linear estimates
of each.

Of independent groups a . p - b . q is at most h . q_p + k . q_q + B_h + B_k, and the variances of both averages add up:
their reach is shorter than the sum of each one's own.  Estimates of either group are chosen at its share of the
distance, for what is farthest within a distance of both is so within one of each.

Source: Armstrong and Kolesar (2018), "Optimal inference in a class of regression models"; Pratt (1961) for the shortest
length.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...solvers.modulus.shortest import shortest_length, shortest_of_two
from ...solvers.one_thread import one_thread
from .intervals import AffinePairs
from .pair import Estimates, Noise


@dataclass(frozen=True, eq=False)
class DifferenceAbove:
    """How much the share above a value is larger in one group than in another.

    Parameters
    ----------
    first, second : AffinePairs
        Each group's reports, reduced to what its share needs.
    limit : float
        Below the largest knot of both.

    Example
    -------
    >>> from ..assumptions.base import Assumed
    >>> from .outcomes import Outcomes
    >>> law, knots = np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([0.0, 1.0])
    >>> groups = [Outcomes(knots, law, np.array(seen), False) for seen in ([500, 500], [700, 300])]
    >>> of = [AffinePairs(one, Assumed.of([], knots), np.array([0.5, 0.5])) for one in groups]
    >>> low, high = DifferenceAbove(*of, 0.0).ends(0.95)
    >>> bool(0.25 < low < 0.4 < high < 0.55), bool(high - low > DifferenceAbove(*of, 0.0).shortest(0.95) > 0.14)
    (True, True)
    """

    first: AffinePairs
    second: AffinePairs
    limit: float

    @cached_property
    def _seen(self) -> tuple[AffinePairs, AffinePairs]:
        place = np.array([self.limit])
        return self.first.seen_at(place), self.second.seen_at(place)

    @one_thread()
    def ends(self, confidence: float) -> tuple[float, float]:
        """Return how small and how large the difference is, within [-1, 1]."""
        first, second = (self._above(one, sign, confidence) for one, sign in zip(self._seen, (1, -1), strict=True))
        noise = Noise.together(first[1], second[1])
        high, low = noise.upper(confidence) + first[0].bias + second[0].bias
        return max(-1.0, -float(low)), min(1.0, float(high))

    def _above(self, seen: AffinePairs, sign: int, confidence: float) -> tuple[Estimates, Noise]:
        """Estimates of the share above and of its negative, or the other way round, and their noise."""
        above = sign * (seen.points > self.limit).astype(float)
        pairs = seen.pairs
        made = pairs.estimates(np.stack([above, -above]), confidence, nearer=math.sqrt(0.5))
        return made, made.noise(pairs.makes)

    def shortest(self, confidence: float) -> float | None:
        """Return what no honest interval falls short of on average, where both groups are as estimated.

        None where it is not known what the reports of a user tell together.
        """
        each = []
        for one in (self.first, self.second):
            above = (one.outcomes.points > self.limit).astype(float)
            if one.reference is None:
                return None
            each.append(shortest_length(above, one.reference, confidence))
        return shortest_of_two(each[0], each[1], confidence)
