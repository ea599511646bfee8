"""Making estimated frequencies consistent: what unbiased estimates are not, non-negative and one in all.

None of these looks at the reports again. They trade bias for a smaller error; the likelihood, which knows from the
start that frequencies are probabilities, mostly does better.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from ...mechanisms.sampling.domain import numbers
from ...solvers.likelihood.simplex import nearest_weights

ITERATIONS = 100
"""Wiener filters of `iiw` unless said otherwise: as many as EM-MR's comparison runs."""


def norm_sub(frequencies: ArrayLike) -> np.ndarray:
    """Return the nearest point of the simplex: max(f - c, 0), with the one c for which the sum is one.

    The projection is no further from any distribution than the estimate was, so it never adds error in the sum of
    squares.  Norm-Sub as published cuts negative estimates and shifts the rest until the sum is one. It equals this
    projection if the positive estimates add up to one or more, as when all estimates add up to one. Otherwise it leaves
    the negative ones at zero, where the projection raises the largest of them.  Sorting makes it exact, O(K log K).

    Parameters
    ----------
    frequencies : (K,) array_like of float
        Finite; they need not add up to anything.

    Returns
    -------
    (K,) ndarray of float
        Non-negative, with sum one.

    Raises
    ------
    InputError
        No numbers, or numbers that are not finite.

    Source: Wang et al. (2020), "Locally differentially private frequency estimation with consistency", Norm-Sub.

    Example
    -------
    >>> from optldp.estimators.frequencies import norm_sub
    >>> norm_sub([0.75, 0.5, 0.0, -0.25])
    array([0.625, 0.375, 0.   , 0.   ])
    """
    return nearest_weights(_checked(frequencies))


def base_cut(frequencies: ArrayLike, *, threshold: float | None = None) -> np.ndarray:
    """Keep the largest estimates as they are and set the others to zero.

    Without a threshold they are kept in decreasing order until they add up to one, with the last one cut to fit:
    EM-MR's Base-Cut, which Wang et al. call Norm-Cut.  With a threshold those above it are kept: the Base-Cut of Wang
    et al., whose sum is not one.  Negative estimates are never kept, so the sum is below one if the positive estimates
    add up to less.

    Parameters
    ----------
    frequencies : (K,) array_like of float
    threshold : float, optional
        Non-negative; such as two standard errors of a frequency of zero.

    Returns
    -------
    (K,) ndarray of float

    Raises
    ------
    InputError
        No numbers, or numbers that are not finite, or a negative threshold.

    Source: Ye, Wang, Zhang and Feng (2025), appendix E; Wang et al. (2020), Norm-Cut and Base-Cut.

    Example
    -------
    >>> from optldp.estimators.frequencies import base_cut
    >>> base_cut([0.2, 0.7, 0.15, -0.05]).round(12)
    array([0.2, 0.7, 0.1, 0. ])
    >>> base_cut([0.2, 0.7, 0.15, -0.05], threshold=0.18)
    array([0.2, 0.7, 0. , 0. ])
    """
    given = np.maximum(_checked(frequencies), 0.0)
    if threshold is not None:
        if not threshold >= 0:
            raise InputError(f"threshold must not be negative, got {threshold!r}")
        return np.where(given > threshold, given, 0.0)
    order = np.argsort(-given, kind="stable")
    largest = given[order]
    before = np.concatenate([[0.0], np.cumsum(largest)[:-1]])
    kept = np.empty_like(given)
    kept[order] = np.clip(1.0 - before, 0.0, largest)
    return kept


def iiw(frequencies: ArrayLike, total_variance: float, *, iterations: int = ITERATIONS) -> np.ndarray:
    r"""Smooth estimates of neighbouring categories by the improved iterative Wiener filter.

    The discrete Fourier transform F of the estimates is damped, wave by wave, to F P / (P + N), where N is the power of
    the noise, equal for all waves, and P that of the frequencies, which is iterated:

        P <- |F|^2 at first, then P <- |F P / (P + N)|^2 + N P / (P + N).

    P tends to max(|F|^2 - N, 0): waves below the noise vanish slowly. It helps only if frequencies vary smoothly with
    the order of the categories.  The sum of the estimates is kept (the authors' code damps it a little), and they may
    stay negative.

    Parameters
    ----------
    frequencies : (K,) array_like of float
        Unbiased estimates, in the order in which they are smooth; the last and the first are neighbours.
    total_variance : float
        N, the sum of the variances of the K estimates.
    iterations : int
        Filters applied, at least one; one is the direct Wiener filter.

    Returns
    -------
    (K,) ndarray of float

    Raises
    ------
    InputError
        No numbers, or numbers that are not finite, a variance that is not positive, or fewer than one iteration.

    Source: Fang, Chen, Liu and Gao (2023), "Locally differentially private frequency estimation based on convolution
    framework", as in their published code; after Hillery and Chin (1991).

    Example
    -------
    >>> from optldp.estimators.frequencies import iiw
    >>> iiw([0.5, 0.2, 0.25, 0.05], 0.01).round(3)
    array([0.48 , 0.196, 0.26 , 0.064])
    """
    given = _checked(frequencies)
    if not (total_variance > 0 and math.isfinite(total_variance)):
        raise InputError(f"total_variance must be positive and finite, got {total_variance!r}")
    if iterations < 1:
        raise InputError(f"iterations must be at least 1, got {iterations!r}")
    waves = np.fft.rfft(given)
    observed = np.abs(waves) ** 2
    power = observed
    for _ in range(iterations - 1):
        share = power / (power + total_variance)
        power = share**2 * observed + total_variance * share
    share = power / (power + total_variance)
    share[0] = 1.0
    return np.fft.irfft(waves * share, given.size)


def _checked(frequencies: ArrayLike) -> np.ndarray:
    given = numbers("frequencies", frequencies)
    if not (given.size and np.isfinite(given).all()):
        raise InputError(f"frequencies must be one or more finite numbers, got {frequencies!r}")
    return given
