"""What a law at knots, between which values are rounded at random, says of every value of the domain."""

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ..channel import Channel
from ..report_text import doubles_of_text
from ..sampling.domain import clip_values, numbers, rounding_weights, values_inside
from ..sampling.law import Words
from ..spaces.interval import Interval
from .knot_prior import KnotPrior
from .moments import largest_variance, mixed_variance, prior_variance


class BetweenKnots(Channel):
    """A mechanism for numbers: its moments at any value are made of those at the knots.

    Attributes
    ----------
    knots, knot_means, knot_variances : (n,) ndarray
        Given by the mechanism.
    """

    knots: np.ndarray
    units: str
    knot_means: cached_property[np.ndarray]
    knot_variances: cached_property[np.ndarray]

    @property
    def domain(self) -> tuple[float, float]:
        """The smallest and the largest value that can be reported on."""
        return float(self.knots[0]), float(self.knots[-1])

    @property
    def inputs(self) -> Interval:
        """Numbers of the domain; knots alone where the promise holds for these alone."""
        knots_alone = self.promise is not None and not self.promise.holds_between_knots
        return Interval(*self.domain, self.units, self.knots if knots_alone else None)

    def nature(self) -> dict[str, object]:
        return {"kinds": type(self).__name__, "domains": self.domain, "units": self.units}

    @abstractmethod
    def draw_index(self, held: np.ndarray, words: Words) -> np.ndarray:
        """Draw the output (N,) of one report for each value in the domain."""

    @abstractmethod
    def output_index(self, reports: ArrayLike) -> np.ndarray:
        """Return which output (N,) each report is; InputError for reports that are none."""

    def checked_reports(self, reports: ArrayLike) -> np.ndarray:
        """Return reports (N,) as doubles; InputError for ones that are no output."""
        checked = numbers("reports", reports)
        self.output_index(checked)
        return checked

    def to_text(self, reports: np.ndarray) -> list[str]:
        """Return the shortest decimals that are these doubles."""
        return [repr(report) for report in reports.tolist()]

    def from_text(self, texts: Sequence[str]) -> np.ndarray:
        """Return the reports (N,) that are written as these decimals; InputError for others."""
        return self.checked_reports(doubles_of_text(texts))

    def report_of(self, text: str) -> float:
        """Return one report from a decimal that `to_text` wrote and nobody has changed."""
        return float(text)

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
