"""Standard errors and confidence intervals of an average of independent values, counted rather than listed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.special import ndtri

from ..mechanisms.errors import InputError

Interval = Literal["normal", "bernstein"]
"""How far the truth may be: as the central limit theorem says, or as holds for every number of users."""


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


def check_level(level: float) -> None:
    """Raise InputError unless the level is a probability strictly between 0 and 1."""
    if not 0.0 < level < 1.0:
        raise InputError(f"level must lie strictly between 0 and 1, got {level!r}")


def check_interval(interval: str) -> None:
    """Raise InputError unless the interval is one of those there are."""
    if interval not in get_args(Interval):
        raise InputError(f"interval must be one of {', '.join(get_args(Interval))}, got {interval!r}")


def pooled(samples: Sequence[Sample], level: float, interval: Interval) -> tuple[float, float, float]:
    r"""Return the average over several samples, its standard error, and the half-width of its interval.

    Each sample estimates the mean of its own users, so the average is sum_h n_h mean_h / n and, given how users were
    split, has the variance sum_h n_h s_h^2 / n^2.  The half-width is the normal quantile times the standard error,
    or from the empirical Bernstein bound, which holds for any n, with alpha = (1 - level) / H for each of H samples,

        sum_h n_h/n [ sqrt(2 s_h^2 ln(4/alpha) / n_h) + 7 width_h ln(4/alpha) / (3 (n_h - 1)) ].

    Parameters
    ----------
    samples : sequence of Sample
        At least one, of different users.
    level : float
        Coverage, in (0, 1).
    interval : {"normal", "bernstein"}

    Returns
    -------
    (mean, std_error, reach) : tuple of float

    Source: Maurer and Pontil (2009), "Empirical Bernstein bounds and sample-variance penalization", theorem 4, with
    delta = alpha / 2 on each side.

    Example
    -------
    >>> mean, std_error, reach = pooled([Sample(100, 1.0, 4.0, 3.0), Sample(300, 2.0, 4.0, 3.0)], 0.95, "normal")
    >>> mean, std_error, round(reach, 3)
    (1.75, 0.1, 0.196)
    """
    n = sum(sample.n for sample in samples)
    mean = sum(sample.n * sample.mean for sample in samples) / n
    std_error = math.sqrt(sum(sample.n * sample.variance for sample in samples)) / n
    if interval == "normal":
        return mean, std_error, float(ndtri((1.0 + level) / 2.0)) * std_error
    log = math.log(4.0 * len(samples) / (1.0 - level))
    reach = sum(
        sample.n * (math.sqrt(2 * sample.variance * log / sample.n) + 7 * sample.width * log / (3 * (sample.n - 1)))
        for sample in samples
    )
    return mean, std_error, reach / n
