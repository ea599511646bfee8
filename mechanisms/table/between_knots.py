"""What a law at knots, between which values are rounded at random, says of every value of the domain."""

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ..laws.domain import clip_values, rounding_weights, values_inside
from ..shown.shown import Shown
from .knot_prior import KnotPrior
from .moments import largest_variance, mixed_variance, prior_variance


class BetweenKnots(Shown):
    """Moments of a report at any value, from those at the knots.

    Attributes
    ----------
    knots, knot_means, knot_variances : (n,) ndarray
        Given by the mechanism.
    """

    knots: np.ndarray
    knot_means: cached_property[np.ndarray]
    knot_variances: cached_property[np.ndarray]

    @property
    def domain(self) -> tuple[float, float]:
        """The smallest and the largest value that can be reported on."""
        return float(self.knots[0]), float(self.knots[-1])

    def row_weights(self, x: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return the left knot of each value's interval (N,), and the probability of its right knot (N,).

        Raises InputError for values that are missing or outside the domain, like the next three.
        """
        return rounding_weights(self.knots, values_inside(x, *self.domain))

    def mean(self, x: ArrayLike) -> np.ndarray:
        """Return the (N,) mean of the report at each value; the value itself if the mechanism is unbiased."""
        (index, right), means = self.row_weights(x), self.knot_means
        return (1 - right) * means[index] + right * means[index + 1]

    def var(self, x: ArrayLike) -> np.ndarray:
        """Return the (N,) variance of the report at each value, rounding between knots included."""
        index, right = self.row_weights(x)
        variances, step = self.knot_variances, np.diff(self.knot_means)
        return mixed_variance(variances[index], variances[index + 1], step[index], right)

    def expected_variance(self, prior: KnotPrior) -> float:
        """Return the mean variance of a report over the prior's data, rounding included; squared units."""
        return prior_variance(self.knots, self.knot_means, self.knot_variances, prior)

    def worst_case_variance(self) -> tuple[float, float]:
        """Return the largest variance over the whole domain, squared units, and a value that attains it."""
        return largest_variance(self.knots, self.knot_means, self.knot_variances)

    def clip_to_domain(self, x: ArrayLike) -> tuple[np.ndarray, int]:
        """Return the values moved into the domain, and how many had to move; NaN raises InputError."""
        return clip_values(x, *self.domain)
