"""The hybrid mechanism: piecewise or Duchi's, by the toss of a coin that evens out the variance."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..table.table import TabulatedMechanism
from .duchi import duchi_variance, two_point_bound, two_point_masses
from .piecewise import piecewise_eta, piecewise_variance
from .ptt import window_shape
from .unit_domain import UnitDomain
from .window_edges import window_masses

_ROOT = 405 * math.sqrt(241)
SWITCH = math.log((-5 + 2 * (6353 - _ROOT) ** (1 / 3) + 2 * (6353 + _ROOT) ** (1 / 3)) / 27)
"""About 0.61: at and below it the best coin always falls on Duchi's side. Source: Wang et al. (2019)."""


def hybrid(knots: ArrayLike, epsilon: float) -> TabulatedMechanism:
    r"""Return the hybrid mechanism: with probability 1 - e^(-epsilon / 2) piecewise, else Duchi's.

    At and below epsilon = 0.61 it is Duchi's alone. This probability gives the least worst-case variance, because the
    two terms in x^2 cancel. Outputs are the piecewise mechanism's cells and, inside them, Duchi's two points.

    Parameters
    ----------
    knots : (n,) array_like
        Input values in the user's units.
    epsilon : float

    Returns
    -------
    table : TabulatedMechanism
        Unbiased, its outputs intervals and two points.

    Raises
    ------
    InputError
        Knots or epsilon that are not usable.

    Source
    ------
    Wang et al. (2019), hybrid mechanism.

    Example
    -------
    >>> from optldp.mechanisms import hybrid
    >>> hybrid([-1, 0, 1], 2.0).var([-1.0, 0.0, 1.0]).round(4)
    array([1.0423, 1.0423, 1.0423])
    """
    domain = UnitDomain.of(knots, epsilon)
    share = piecewise_share(domain.inner)
    points = np.array([-1.0, 1.0]) * two_point_bound(domain)
    parameters = {"unbiased": True, "piecewise_share": share}
    if share == 0:
        return domain.table(points, points, two_point_masses(domain), "hybrid", parameters)
    shape = window_shape(domain.excess, piecewise_eta(domain.inner), kind=1)
    low, high, masses = window_masses(domain, *shape)
    mixed = np.hstack([share * masses, (1 - share) * two_point_masses(domain)])
    return domain.table(np.r_[low, points], np.r_[high, points], mixed, "hybrid", parameters)


def piecewise_share(epsilon: float) -> float:
    """Return the probability of the piecewise mechanism."""
    return -math.expm1(-epsilon / 2) if epsilon > SWITCH else 0.0


def hybrid_variance(x: ArrayLike, epsilon: float) -> np.ndarray:
    """Return the variance of a report on x in [-1, 1]: the same mixture of the two variances.

    Example
    -------
    >>> bool(hybrid_variance(0.3, 0.5) == duchi_variance(0.3, 0.5))
    True
    """
    share = piecewise_share(check_epsilon(epsilon))
    return share * piecewise_variance(x, epsilon) + (1 - share) * duchi_variance(x, epsilon)
