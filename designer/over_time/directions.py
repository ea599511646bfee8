"""Random directions after scaling by the law that bounds all ways: which numbers, and what they cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...mechanisms.integers.exponential import exponential_below
from ...mechanisms.over_time import Directions
from ...mechanisms.over_time.directions import LARGEST_TOTAL, POINT_BITS, ROOT_BITS
from ...solvers.over_time.largest_normals import largest_sums
from ...solvers.over_time.lower_bound import law_of
from ...solvers.over_time.trajectories import furthest

if TYPE_CHECKING:
    from ..priors.prior import Prior
    from .repeated import Repeated

DIRECTIONS = 64
"""K, of which a user's device draws one; more gain two percent."""

LEAST = 1e-5
"""Smaller eigenvalues of a law are taken for it, so that what its histories never do is scaled by 18 at most."""

STARTS, STEPS = 16, 30
"""Of the search for the longest history after scaling; it converges in few steps."""


def best_favoured(epsilon: float, directions: int = DIRECTIONS) -> tuple[int, float]:
    """Return how many of K directions to favour, and F_K: the variance of a report is F_K (tr S^(1/2))^2 / T.

    Of K Gaussian directions the m that agree most with a scaled history are e^epsilon times as likely as the others.
    The mean agreement of the one that is sent is b = (e^epsilon - 1) m mu_m / (m e^epsilon + K - m), with mu_m the mean
    of the m largest of K normal numbers, and F_K = 1 / b^2 at the best m.

    Source: over-time finding, section 2.

    Example
    -------
    >>> [(many, round(factor, 2)) for many, factor in map(best_favoured, (1.0, 2.0, 4.0))]
    [(22, 6.5), (14, 1.67), (4, 0.46)]
    """
    many = np.arange(1, directions)
    agreement = math.expm1(epsilon) * largest_sums(directions) / (many * math.exp(epsilon) + directions - many)
    return int(many[agreement.argmax()]), float(1 / agreement.max() ** 2)


@dataclass(frozen=True, eq=False)
class PlannedDirections:
    """What histories are scaled by, and what that costs.

    Attributes
    ----------
    scaling : (T, T) ndarray of float
        S^(-1/4).
    length : float
        At least that of every history that the search found, after scaling.
    costs : (each, average, change)
        Variances times n, in squared units of half the range.
    """

    scaling: np.ndarray
    length: float
    costs: tuple[float, float, float]


def plan_directions(epsilon: float, asked: Repeated) -> PlannedDirections:
    """Return the scaling by the law of histories that bounds all ways, padded to the longest history that is found.

    Example
    -------
    >>> from .repeated import Repeated
    >>> [round(cost, 2) for cost in plan_directions(1.0, Repeated(12, 1)).costs]
    [42.07, 9.11, 42.22]
    """
    periods = asked.periods
    values, vectors = np.linalg.eigh(law_of(periods, asked.most_changes))
    kept = np.maximum(values, LEAST)
    root, gradient = (vectors * np.sqrt(kept)) @ vectors.T, (vectors / np.sqrt(kept)) @ vectors.T
    found = furthest(np.random.default_rng(1).standard_normal((STARTS, periods)), asked.most_changes)
    for _ in range(STEPS):
        before, found = found, furthest(found @ gradient, asked.most_changes)
        if (before == found).all():
            break
    squared = max(float(np.trace(root)), float(np.einsum("ij,ij->i", found @ gradient, found).max()))
    steps, scale = np.diff(np.eye(periods), axis=0), best_favoured(epsilon)[1] * squared
    costs = (
        scale * float(np.trace(root)) / periods,
        scale * float(root.sum()) / periods**2,
        scale * float(np.trace(steps @ root @ steps.T)) / (periods - 1),
    )
    return PlannedDirections((vectors * kept**-0.25) @ vectors.T, math.sqrt(squared), costs)


def design_directions(prior: Prior, epsilon: float, asked: Repeated, directions: int = DIRECTIONS) -> Directions:
    """Return the way in whole numbers: weights and their ratio rounded towards more privacy.

    Example
    -------
    >>> from ..priors.prior import Prior
    >>> from .repeated import Repeated
    >>> made = design_directions(Prior.even([0.0, 1.0]), 1.0, Repeated(12, 1))
    >>> made.favoured, made.failures(), round(made.max_log_ratio, 9)
    (22, (), 1.0)
    """
    planned, favoured = plan_directions(epsilon, asked), best_favoured(epsilon, directions)[0]
    ratio = exponential_below(epsilon)
    low = math.floor(LARGEST_TOTAL / (favoured * ratio + directions - favoured))
    root = np.rint(planned.scaling * 2.0**ROOT_BITS).astype(int)
    return Directions(
        *prior.domain,
        np.triu(root) + np.triu(root, 1).T,
        math.ceil(planned.length * 2.0**POINT_BITS) + asked.periods,  # room for what rounding adds
        directions,
        favoured,
        (math.floor(ratio * low), low),
        epsilon,
        prior.units,
    )
