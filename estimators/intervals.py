"""Intervals, the one normal quantile, and how far an average of independent values may be off, counted, not listed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from ..mechanisms.display.display import Shown
from ..mechanisms.display.summary import Dots, Told, plain
from ..mechanisms.errors import InputError

IntervalKind = Literal["normal", "bernstein"]
"""How far the truth may be: as the central limit theorem says, or as holds for every number of users."""

CONFIDENCE = 0.95
"""Coverage of intervals unless another one is asked for."""


@dataclass(frozen=True, eq=False, repr=False)
class Interval(Shown):
    """An interval for the truth.

    Parameters
    ----------
    low, high : float or (K,) ndarray of float
        Ends; for K numbers those of each by itself.
    confidence : float
        Coverage: the share of cases in which the interval holds the truth.

    Example
    -------
    >>> from optldp.estimators.intervals import normal_interval
    >>> normal_interval(0.5, 0.01, 0.95, 0.0, 1.0)
    Interval(low=0.4804, high=0.5196, confidence=0.95)
    """

    low: Any
    high: Any
    confidence: float

    def _told(self) -> Told:
        low, high = np.atleast_1d(self.low), np.atleast_1d(self.high)
        names = [str(number) for number in range(low.size)]
        picture = Dots(names, 0.5 * low + 0.5 * high, f"{100 * self.confidence:g}% interval", low, high)
        single = np.ndim(self.low) == 0
        return Told(self._line(), {} if single else {"low": plain(low), "high": plain(high)}, picture)

    def _columns(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high, "confidence": self.confidence}


def normal_interval(value: Any, std_error: Any, confidence: float, least: float, most: float) -> Interval:
    """Return the value plus and minus the normal quantile times its standard error, cut to [least, most].

    Numbers or (K,) arrays; raises InputError for a confidence outside (0, 1).

    Example
    -------
    >>> found = normal_interval(0.5, 0.01, 0.95, 0.0, 1.0)
    >>> round(found.low, 4), round(found.high, 4)
    (0.4804, 0.5196)
    """
    reach = normal_quantile(confidence) * std_error
    return Interval(_within(value - reach, least, most), _within(value + reach, least, most), confidence)


def _within(value: Any, least: float, most: float) -> Any:
    return np.clip(value, least, most) if isinstance(value, np.ndarray) else min(max(value, least), most)


def normal_quantile(confidence: float) -> float:
    """Return how many standard errors a normal interval reaches to either side.

    Parameters
    ----------
    confidence : float
        Coverage, strictly between 0 and 1.

    Raises
    ------
    InputError
        Any other number.

    Example
    -------
    >>> round(normal_quantile(0.95), 6)
    1.959964
    """
    check_confidence(confidence)
    # The standard library has it to a few units in the last place, and scipy.special takes a fifth of a second to load.
    return -NormalDist().inv_cdf((1.0 - confidence) / 2.0)


def bias_aware_reach(std_error: float, bias: float, confidence: float) -> float:
    r"""Return how far off an estimate is, at most, with this confidence, if its bias is no more than so much.

    c s for the quantile c of \|N(bias / s, 1)\|: the normal quantile without a bias, nearly bias / s plus the quantile
    of one side where the bias is large, and always less than both added up.

    Parameters
    ----------
    std_error : float
        s, not negative.
    bias : float
        Not negative.
    confidence : float
        Coverage, strictly between 0 and 1.

    Raises
    ------
    InputError
        Any other confidence.

    Source: Armstrong and Kolesar (2018), "Optimal inference in a class of regression models".

    Example
    -------
    >>> [round(bias_aware_reach(1.0, bias, 0.95), 4) for bias in (0.0, 0.5, 1.0, 10.0)]
    [1.96, 2.1815, 2.6461, 11.6449]
    """
    most = normal_quantile(confidence)
    if bias == 0.0 or std_error == 0.0:
        return most * std_error + bias
    normal, ratio = NormalDist(), bias / std_error
    low, high = normal.inv_cdf(confidence), most  # of the quantile less the ratio
    while (middle := 0.5 * (low + high)) not in (low, high):
        reached = normal.cdf(middle) - normal.cdf(-middle - 2 * ratio)
        low, high = (middle, high) if reached < confidence else (low, middle)
    return std_error * high + bias


@dataclass(frozen=True)
class Sample:
    """One value for each of n independent users, reduced to what a standard error needs.

    Parameters
    ----------
    n : int
        Number of users, at least two.
    mean : float
        Average of their values.
    variance : float
        Sample variance, with n - 1 in the denominator.
    width : float
        Largest possible value less the smallest one.
    """

    n: int
    mean: float
    variance: float
    width: float

    @classmethod
    def of(cls, values: np.ndarray, counts: np.ndarray, width: float) -> "Sample":
        """Return the sample in which each of (R,) values was seen so many times, (R,) counts.

        Example
        -------
        >>> Sample.of(np.array([0.0, 1.0]), np.array([2, 2]), 1.0)
        Sample(n=4, mean=0.5, variance=0.3333333333333333, width=1.0)
        """
        n = int(counts.sum())
        mean = float(counts @ values) / n
        return cls(n, mean, float(counts @ (values - mean) ** 2) / (n - 1), width)


def check_confidence(confidence: float) -> None:
    """Raise InputError unless the confidence is a probability strictly between 0 and 1."""
    if not 0.0 < confidence < 1.0:
        raise InputError(f"confidence must lie strictly between 0 and 1, got {confidence!r}")


def pooled(samples: Sequence[Sample]) -> tuple[float, float]:
    """Return the average over several samples and its standard error.

    Each sample estimates the mean of its own users, so the average is sum_h n_h mean_h / n and, given how users were
    split, has the variance sum_h n_h s_h^2 / n^2.

    Parameters
    ----------
    samples : sequence of Sample
        At least one, of different users.

    Example
    -------
    >>> pooled([Sample(100, 1.0, 4.0, 3.0), Sample(300, 2.0, 4.0, 3.0)])
    (1.75, 0.1)
    """
    n = sum(sample.n for sample in samples)
    mean = sum(sample.n * sample.mean for sample in samples) / n
    return mean, math.sqrt(sum(sample.n * sample.variance for sample in samples)) / n


def bernstein_reach(samples: Sequence[Sample], confidence: float) -> float:
    r"""Return the half-width of the interval of that average by the empirical Bernstein bound, valid for any n.

    With alpha = (1 - confidence) / H for each of H samples,

        sum_h n_h/n [ sqrt(2 s_h^2 ln(4/alpha) / n_h) + 7 width_h ln(4/alpha) / (3 (n_h - 1)) ].

    Parameters
    ----------
    samples : sequence of Sample
        At least one, of different users.
    confidence : float
        Coverage, in (0, 1).

    Source: Maurer and Pontil (2009), "Empirical Bernstein bounds and sample-variance penalization", theorem 4, with
    delta = alpha / 2 on each side.

    Example
    -------
    >>> round(bernstein_reach([Sample(100, 1.0, 4.0, 3.0), Sample(300, 2.0, 4.0, 3.0)], 0.95), 3)
    0.614
    """
    check_confidence(confidence)
    n = sum(sample.n for sample in samples)
    log = math.log(4.0 * len(samples) / (1.0 - confidence))
    reach = sum(
        sample.n * (math.sqrt(2 * sample.variance * log / sample.n) + 7 * sample.width * log / (3 * (sample.n - 1)))
        for sample in samples
    )
    return reach / n


def hoeffding_reach(width: Any, n: int, confidence: float) -> Any:
    r"""Return how far the average of n independent numbers is from what is expected, at most, valid for any n.

    width \sqrt{ln(2 / (1 - confidence)) / (2 n)}, which either side exceeds with half of what may be missed.

    Parameters
    ----------
    width : float or (F,) ndarray of float
        Largest value of any number less its smallest.
    n : int
        At least 1.
    confidence : float
        Coverage, in (0, 1).

    Source: Hoeffding (1963), "Probability inequalities for sums of bounded random variables", theorem 2.

    Example
    -------
    >>> round(hoeffding_reach(1.0, 10, 0.95), 3)
    0.429
    """
    check_confidence(confidence)
    return width * math.sqrt(math.log(2.0 / (1.0 - confidence)) / (2 * n))


def each_of(confidence: float, intervals: int) -> float:
    """Return the confidence of each of some intervals with which all of them hold at once with the confidence given.

    confidence^(1/m): Sidak's, a little less than Bonferroni's 1 - (1 - confidence)/m.  For normal estimates it is
    exact if they are independent, as those of groups without common users are, and enough whatever their correlation
    is, as of frequencies of the same reports.

    Parameters
    ----------
    confidence : float
        Strictly between 0 and 1.
    intervals : int
        At least 1.

    Raises
    ------
    InputError
        Any other numbers.

    Source: Sidak (1967), "Rectangular confidence regions for the means of multivariate normal distributions",
    corollary 1.

    Example
    -------
    >>> round(each_of(0.95, 10), 5)
    0.99488
    """
    check_confidence(confidence)
    if intervals < 1:
        raise InputError(f"there must be at least one interval, got {intervals!r}")
    return confidence ** (1.0 / intervals)
