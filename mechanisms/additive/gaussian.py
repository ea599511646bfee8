"""The Gaussian mechanism: the value plus normal noise, under (epsilon, delta)-LDP; no pure budget is kept by it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..families.bisection import bisect
from ..integers.numerators import DENOMINATOR
from ..promise import Approximate
from ..table.knots import check_knots
from ..table.provenance import Provenance
from ..table.table import TabulatedMechanism

STEPS_PER_SIGMA = 16
"""Cells in a standard deviation: they add 1 / (12 * 16^2) = 0.03% to the variance, and exp(-5000) to the bias."""

REACH = 8.5
"""Standard deviations that outputs reach beyond the domain: what lies farther out has less than one unit of 2^-53."""

ROUNDING_UNITS = 64
"""Units of 2^-53 (1 + e^epsilon) of delta that are kept back for rounding to whole numbers, generously: whether it was
enough is proved of the table."""


def gaussian(knots: ArrayLike, privacy: Approximate) -> TabulatedMechanism:
    r"""Return the Gaussian mechanism on these knots: y = x + N(0, sigma^2), in cells of a sixteenth of sigma.

    The noise is cut into cells of width sigma / 16 and a report is the middle of its cell, the last cell at either end
    being infinitely wide. P(cell | x) is integrated exactly, as a difference of normal tails. Reporting only the cell
    is post-processing, so sigma is that of the continuous mechanism. The promise is still proved from the table's own
    numbers, rounding included.

    Parameters
    ----------
    knots : (n,) array_like
        Input values in the user's units.
    privacy : Approximate

    Returns
    -------
    table : TabulatedMechanism
        Unbiased, in doubles.

    Raises
    ------
    InputError
        Knots that are not usable, another promise, or a delta below the precision of whole numbers over 2^53.

    Source
    ------
    Balle and Wang (2018), algorithm 1, with the width of the domain as sensitivity.

    Example
    -------
    >>> from optldp.mechanisms import Approximate, gaussian
    >>> table = gaussian([0, 1], Approximate(1.0, 1e-6))
    >>> table.var([0.0]).round(3), table.mean([0.25]).round(9), table.promise
    (array([17.854]), array([0.25]), Approximate(epsilon=1.0, delta=1e-06))
    """
    if not isinstance(privacy, Approximate):
        raise InputError(f"Gaussian noise keeps a promise of epsilon and delta, got {privacy}: say a delta")
    x = check_knots(knots)
    width = float(x[-1] - x[0])
    kept_back = ROUNDING_UNITS * (1 + math.exp(privacy.epsilon)) / DENOMINATOR
    if privacy.delta < 2 * kept_back:
        raise InputError(
            f"delta must be at least {2 * kept_back:.1e} at epsilon {privacy.epsilon:g} to be proved in whole numbers "
            f"over 2^53, got {privacy.delta:g}"
        )
    sigma = width * gaussian_sigma(privacy.epsilon, privacy.delta - kept_back)
    step = sigma / STEPS_PER_SIGMA
    around = math.ceil(REACH * STEPS_PER_SIGMA)
    places = x[0] + step * np.arange(-around, around + math.ceil(width / step) + 1)
    return TabulatedMechanism.from_points(
        x,
        places,
        _normal_masses((places[:-1] + places[1:]) / 2, x, sigma),
        privacy.epsilon,
        provenance=Provenance("gaussian", {"unbiased": True, "sigma": sigma}),
        promise=privacy,
    )


def gaussian_sigma(epsilon: float, delta: float) -> float:
    r"""Return the least standard deviation of normal noise that is (epsilon, delta)-private at sensitivity one.

    It solves Phi(1 / (2 sigma) - epsilon sigma) - e^epsilon Phi(-1 / (2 sigma) - epsilon sigma) = delta; the left side
    falls in sigma.

    Parameters
    ----------
    epsilon, delta : float
        As `Approximate` has checked them.

    Source
    ------
    Balle and Wang (2018), theorem 8.

    Example
    -------
    >>> round(gaussian_sigma(1.0, 1e-5), 4), round(gaussian_sigma(1e-6, 0.5), 4)
    (3.7306, 0.7413)
    """
    low, high = 1.0, 1.0
    while gaussian_delta(epsilon, low) <= delta:
        low /= 2
    while gaussian_delta(epsilon, high) >= delta:
        high *= 2
    found = bisect(lambda sigma: delta - gaussian_delta(epsilon, sigma), low, high)
    return math.nextafter(found, math.inf)


def gaussian_delta(epsilon: float, sigma: float) -> float:
    """Return the delta of normal noise of this standard deviation at sensitivity one, at epsilon.

    Example
    -------
    >>> round(gaussian_delta(1.0, 1.0), 6)
    0.126937
    """
    return _lower_tail(0.5 / sigma - epsilon * sigma) - math.exp(epsilon) * _lower_tail(-0.5 / sigma - epsilon * sigma)


def _lower_tail(z: float) -> float:
    return math.erfc(-z / math.sqrt(2)) / 2


def _normal_masses(edges: np.ndarray, means: np.ndarray, sigma: float) -> np.ndarray:
    """(n, m) normal mass of each cell between these edges, the two at the ends infinite, about each of n means.

    Differences of the tail on the cell's own side of the mean, so that small masses keep their digits.
    """
    z = (edges - means[:, None]) / sigma
    tails = np.array([_lower_tail(-abs(each)) for each in z.ravel().tolist()]).reshape(z.shape)
    nothing = np.zeros((means.size, 1))
    below = np.hstack([nothing, np.where(z <= 0, tails, 1 - tails), nothing + 1])
    above = np.hstack([nothing + 1, np.where(z <= 0, 1 - tails, tails), nothing])
    left = np.hstack([z <= 0, np.zeros_like(nothing, dtype=bool)])  # the cell ends at or below the mean
    return np.where(left, np.diff(below, axis=1), -np.diff(above, axis=1))
