"""A lower bound of every mechanism's variance for histories of signs that change at most k times."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from .trajectories import furthest

MIXTURES = np.linspace(0.0, 1.0, 11)
"""Shares of histories with k changes, the others having k - 1, that are tried."""

STEPS, LARGE = 12, 100
"""Steps towards the best law, up to so many periods: they gain less than one percent."""

STARTS = 6

LEAST = 1e-9
"""Smaller eigenvalues are taken for it where a root is divided by."""


def least_variance(periods: int, changes: int, epsilon: float) -> float:
    """Return a lower bound on the average variance over the periods, times n, for some population of signs.

    It is Phi_k(T) / sinh^2(epsilon / 2) - 1, or 0 if that is negative, for the means of these very users. It holds for
    every epsilon-LDP report of a history, interactive or not, and every unbiased average of numbers from users'
    reports.

    Parameters
    ----------
    periods, changes : int
        T, and k from 0.
    epsilon : float

    Returns
    -------
    bound : float

    Source: Theorem 2 of docs/theory/asking-again.md.

    Example
    -------
    >>> from optldp.solvers.over_time import least_variance
    >>> round(least_variance(12, 11, 1.0), 2), least_variance(12, 0, 8.0)
    (43.19, 0.0)
    """
    return max(0.0, phi(periods, changes) / math.sinh(epsilon / 2) ** 2 - 1)


@lru_cache(maxsize=64)
def phi(periods: int, changes: int) -> float:
    """Return Phi_k(T), or for 2 <= k < T - 1 a lower bound on it.

    Phi_k is the largest (tr S^(1/2))^2 / T of second moments S = E x x' of histories x of signs with at most k changes,
    a concave program in their law. Every law gives a lower bound on the largest, and so a valid bound. It is 1 without
    changes, T for any, and of one change

        T^-2 (sum_m 1 / sin((2 m + 1) pi / (2 T)))^2.

    Otherwise it mixes laws with k or k - 1 changes at random places of a circle of T, and improves them by conditional
    gradients over histories that a search finds.

    Parameters
    ----------
    periods, changes : int
        T, and k from 0.

    Returns
    -------
    phi : float

    Example
    -------
    >>> from optldp.solvers.over_time import phi
    >>> [round(phi(periods, 1), 3) for periods in (12, 52, 365)], round(phi(12, 4), 1)
    ([6.476, 12.096, 22.264], 11.3)
    """
    if changes == 0:
        return 1.0
    if changes >= periods - 1:
        return float(periods)
    if changes == 1:
        angles = (2 * np.arange(periods) + 1) * math.pi / (2 * periods)
        return float((1 / np.sin(angles)).sum() ** 2 / periods**2)
    return float(_trace_of_root(law_of(periods, changes)) ** 2 / periods)


@lru_cache(maxsize=64)
def law_of(periods: int, changes: int) -> np.ndarray:
    """Return the second moments (T, T) of the law of histories of signs that `phi` is of.

    Example
    -------
    >>> law_of(3, 2).tolist(), law_of(2, 0).tolist()
    ([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]])
    """
    if changes >= periods - 1:
        return np.eye(periods)
    if changes <= 1:
        return circular(periods, changes)
    moments = _mixed(periods, changes)
    return _improved(moments, changes) if periods <= LARGE else moments


def circular(periods: int, changes: int) -> np.ndarray:
    """Return the second moments (T, T) of signs that change at k random places of a circle of T.

    A change at the place between the last period and the first is none that is seen, so that there are k or k - 1.

    Example
    -------
    >>> circular(4, 1)[0].tolist()
    [1.0, 0.5, 0.0, -0.5]
    """
    whole = math.comb(periods, changes)

    def same(apart: int) -> int:
        """Ways to an even number of changes between, less those to an odd one."""
        ways = (math.comb(apart, j) * math.comb(periods - apart, changes - j) for j in range(changes + 1))
        return sum((-1) ** j * many for j, many in enumerate(ways))

    near = [same(apart) / whole for apart in range(periods)]
    return np.array(near)[np.abs(np.subtract.outer(np.arange(periods), np.arange(periods)))]


def _mixed(periods: int, changes: int) -> np.ndarray:
    most = min(changes, (periods + 1) // 2)  # with more changes than that histories are alike again
    many, few = circular(periods, most), circular(periods, most - 1)
    return max((share * many + (1 - share) * few for share in MIXTURES), key=_trace_of_root)


def _improved(moments: np.ndarray, changes: int) -> np.ndarray:
    """Move the law towards histories that gain most, as long as that gains."""
    rng = np.random.default_rng(1)  # where the search starts; whatever it finds is a law
    for _ in range(STEPS):
        values, vectors = np.linalg.eigh(moments)
        gradient = (vectors / np.sqrt(np.maximum(values, LEAST))) @ vectors.T
        found = furthest(rng.standard_normal((STARTS, len(moments))), changes)
        for _ in range(len(moments)):
            before, found = found, furthest(found @ gradient, changes)
            if (before == found).all():
                break
        law = found.T @ found / STARTS
        law = (law + law[::-1, ::-1]) / 2  # backwards they change as often
        shares = [0.0, *(2.0**-power for power in range(1, 14))]
        share = max(shares, key=lambda share: _trace_of_root((1 - share) * moments + share * law))
        moments = (1 - share) * moments + share * law
    return moments


def _trace_of_root(moments: np.ndarray) -> float:
    return float(np.sqrt(np.maximum(np.linalg.eigvalsh(moments), 0.0)).sum())
