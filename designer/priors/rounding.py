"""What random rounding makes of data: knot weights, and the variance that the rounding adds.

A value x between two knots A < B is rounded to B with probability t = (x - A)/(B - A), else to A. Over a data
set this needs two numbers per interval, mean t and mean (x - A)(B - x), and never a loop over values:
theory and tables only see

    weights_i  = mean of the hat function at knot i  (AAA, eq. 6 and 7),
    rounding_k = mean of 1{x in interval k} (x - x_k)(x_{k+1} - x).

Because x^2 = (A (B - x) + B (x - A) weights of A^2, B^2) - (x - A)(B - x), the data's own second moment is
sum_i weights_i x_i^2 - sum_k rounding_k, exactly.

All functions here expect arrays that the public functions of `prior.py` have checked.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ...mechanisms.errors import InputError

Rounded: TypeAlias = tuple[np.ndarray, np.ndarray]
"""Weights (n,), summing to one, and rounding (n-1,), in squared units."""

MAX_OUTSIDE = 0.01
"""A distribution is conditioned on the range; more than this share outside it is taken for a mistake."""

QUANTILES = np.concatenate([[1e-12, 1e-9, 1e-6, 1e-4], np.linspace(0, 0.5, 33)[1:]])
"""Where a distribution is cut beside the knots, from both ends: a peak far narrower than the knots' distance
would slip between the nodes of a quadrature."""

NARROWEST_PIECE = 1e-9
"""Cuts nearer than this share of the range are one cut: closer in, x itself has too few digits."""

QUADRATURE_TOLERANCE = 1e-12
"""Absolute, for probabilities and for squared relative positions: beyond what a prior is ever known to."""

QUADRATURE_FAILURE = 1e-8
"""Estimated error at which the result is refused; in between, it is limited by the digits of x."""

QUADRATURE_LIMIT = 200
"""Subdivisions: a jump of the distribution function needs about 40, and more time than this is no help."""


class Sums(NamedTuple):
    """Per interval (n-1,) of weighted points: their mass, that of t, and of (x - A)(B - x)."""

    mass: np.ndarray
    to_right: np.ndarray
    product: np.ndarray


def interval_of(values: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """Which interval each value is in, a knot in the one that it begins, but for the last."""
    return np.clip(np.searchsorted(knots, values, side="right") - 1, 0, knots.size - 2)


def interval_sums(values: np.ndarray, weights: np.ndarray, knots: np.ndarray) -> Sums:
    """Sums of weighted points within the knots."""
    interval, count = interval_of(values, knots), knots.size - 1
    left, right = values - knots[interval], knots[interval + 1] - values
    share = left / np.diff(knots)[interval]
    terms = weights, weights * share, weights * left * right
    return Sums(*(np.bincount(interval, each, count) for each in terms))


def rounded_by(sums: Sums) -> Rounded:
    """Weights and rounding of points with these sums."""
    total = float(sums.mass.sum())
    to_left = np.maximum(sums.mass - sums.to_right, 0.0)
    return _assemble(to_left / total, sums.to_right / total, sums.product / total)


def round_values(values: np.ndarray, weights: np.ndarray, knots: np.ndarray) -> Rounded:
    """Weights and rounding of weighted points, all within the knots.

    Example
    -------
    >>> round_values(np.array([0.0, 0.25]), np.ones(2), np.array([0.0, 1.0, 2.0]))
    (array([0.875, 0.125, 0.   ]), array([0.09375, 0.     ]))
    """
    return rounded_by(interval_sums(values, weights, knots))


def round_bins(edges: np.ndarray, mass: np.ndarray, knots: np.ndarray) -> Rounded:
    """Weights and rounding of mass[b] spread evenly over each bin b, all within the knots.

    On a piece [a, b] of one bin and one interval [A, B], with midpoint c, the mean position is
    (c - A)/(B - A) and the mean of (x - A)(B - x) is (c - A)(B - c) - (b - a)^2/12.

    Example
    -------
    >>> round_bins(np.array([0.0, 2.0]), np.array([5.0]), np.array([0.0, 1.0, 2.0]))
    (array([0.25, 0.5 , 0.25]), array([0.08333333, 0.08333333]))
    """
    inside = (edges > knots[0]) & (edges < knots[-1])
    cuts = np.union1d(edges[inside], knots)
    middle, length = (cuts[1:] + cuts[:-1]) / 2, np.diff(cuts)
    interval = np.searchsorted(knots, middle, side="right") - 1
    source = np.searchsorted(edges, middle, side="right") - 1
    known = (source >= 0) & (source < mass.size)
    density = np.where(known, (mass / np.diff(edges))[np.clip(source, 0, mass.size - 1)], 0.0)
    share = density * length / np.sum(density * length)
    left, right = middle - knots[interval], knots[interval + 1] - middle
    width, n = np.diff(knots)[interval], knots.size - 1
    return _assemble(
        np.bincount(interval, share * right / width, n),
        np.bincount(interval, share * left / width, n),
        np.bincount(interval, share * (left * right - length**2 / 12), n),
    )


def finite_support(distribution: Any) -> tuple[float, float] | None:
    """Ends of a scipy frozen distribution's support, or None if it is unbounded."""
    low, high = (float(end) for end in distribution.support())
    return (low, high) if np.isfinite([low, high]).all() else None


def round_distribution(distribution: Any, knots: np.ndarray) -> Rounded:
    """Weights and rounding of a scipy frozen distribution conditioned on the knots' range.

    Raises
    ------
    InputError
        More than 1 % of the distribution lies outside the range, or it cannot be integrated.
    """
    discrete = hasattr(distribution, "pmf")  # scipy's frozen continuous distributions have none
    below = distribution.cdf(knots[0]) - (distribution.pmf(knots[0]) if discrete else 0.0)
    outside = float(below + distribution.sf(knots[-1]))
    if not outside <= MAX_OUTSIDE:
        raise InputError(
            f"the range [{knots[0]:g}, {knots[-1]:g}] must hold {1 - MAX_OUTSIDE:.0%} of the distribution, "
            f"but {outside:.3g} of it lies outside: widen the range, or pass a truncated distribution"
        )
    if discrete:
        atoms = np.arange(math.ceil(knots[0]), math.floor(knots[-1]) + 1, dtype=np.float64)
        return round_values(atoms, np.asarray(distribution.pmf(atoms)), knots)
    cuts = np.concatenate([distribution.ppf(QUANTILES), distribution.isf(QUANTILES)])
    least = NARROWEST_PIECE * (knots[-1] - knots[0])
    cuts = np.unique(cuts[(cuts > knots[0]) & (cuts < knots[-1])])
    cuts = cuts[np.diff(cuts, prepend=knots[0]) > least]
    nearest = np.clip(np.searchsorted(knots, cuts), 1, knots.size - 1)
    cuts = cuts[np.minimum(cuts - knots[nearest - 1], knots[nearest] - cuts) > least]
    fine = np.union1d(knots, cuts)
    weights, rounding = integrate_distribution(distribution.cdf, distribution.sf, fine)
    return coarsen(fine, weights, rounding, np.searchsorted(fine, knots))


def coarsen(fine: np.ndarray, weights: np.ndarray, rounding: np.ndarray, index: np.ndarray) -> Rounded:
    """Weights and rounding on the knots fine[index], both ends included, from those on all of them; exact.

    Rounding to the fine knots first and to the coarse ones next is rounding to the coarse ones at once, so
    the weights are means of the coarse hat functions over the fine weights; and between fine knots
    (x - A)(B - x) is its own linear interpolation plus the fine rounding, so the coarse rounding adds up
    from both.

    Example
    -------
    >>> knots = np.array([0.0, 1.0, 2.0])
    >>> coarsen(knots, np.array([0.0, 1.0, 0.0]), np.zeros(2), np.array([0, 2]))
    (array([0.5, 0.5]), array([1.]))
    """
    coarse, between = round_values(fine, weights, fine[index])
    return coarse, between + np.add.reduceat(rounding, index[:-1])


def integrate_distribution(
    cdf: Callable[[np.ndarray], np.ndarray], sf: Callable[[np.ndarray], np.ndarray], knots: np.ndarray
) -> Rounded:
    """Weights and rounding of a continuous distribution, conditioned on the knots' range.

    By parts, on an interval [A, B] with middle C and for a distribution function F,

        E[1 (B - x)]        = integral of F(x) - F(A),
        E[1 (x - A)]        = integral of F(B) - F(x),
        E[1 (x - A)(B - x)] = integral of 2 (x - C)(F(x) - F(C)),

    whose integrands are bounded and never negative, even where the density is infinite. All intervals are
    integrated in one adaptive vector quadrature. In the upper half 1 - F (`sf`) takes F's place, so that a
    far tail keeps its digits.

    Raises
    ------
    InputError
        The distribution function is not finite, or too rough to integrate.

    Example
    -------
    >>> from scipy.stats import uniform
    >>> integrate_distribution(uniform(0, 2).cdf, uniform(0, 2).sf, np.array([0.0, 1.0, 2.0]))
    (array([0.25, 0.5 , 0.25]), array([0.08333333, 0.08333333]))
    """
    from scipy.integrate import quad_vec  # half a second, and for distributions alone

    start, width = knots[:-1], np.diff(knots)
    upper = cdf(start) > 0.5

    def level(x: np.ndarray) -> np.ndarray:
        return np.where(upper, -np.asarray(sf(x)), cdf(x))

    low, high, middle = level(start), level(knots[1:]), level(start + width / 2)

    def integrand(v: float) -> np.ndarray:
        at = level(start + v * width)
        return np.stack([at - low, high - at, (2 * v - 1) * (at - middle)])

    with np.errstate(all="ignore"):
        integrals, error = quad_vec(
            integrand,
            0.0,
            1.0,
            epsabs=QUADRATURE_TOLERANCE,
            epsrel=0.0,
            norm="max",
            limit=QUADRATURE_LIMIT,
        )
    if not (np.isfinite(integrals).all() and error <= QUADRATURE_FAILURE):
        raise InputError(
            f"the distribution function must be finite and integrable, got an error of {error:.1e}: "
            "pass from_histogram or from_data a discretised version instead"
        )
    to_left, to_right, product = np.maximum(integrals, 0.0)
    total = np.sum(to_left + to_right)
    return _assemble(to_left / total, to_right / total, width**2 * product / total)


def _assemble(to_left: np.ndarray, to_right: np.ndarray, product: np.ndarray) -> Rounded:
    """Per-interval masses rounded left and right, as knot weights that sum to one."""
    weights = np.append(to_left, 0.0)
    weights[1:] += to_right
    return weights / weights.sum(), np.maximum(product, 0.0)
