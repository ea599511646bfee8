"""Duchi's mechanism (stochastic rounding): one of two reports. The best for small budgets."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..table.table import TabulatedMechanism
from .unit_domain import UnitDomain


def duchi(knots: ArrayLike, epsilon: float) -> TabulatedMechanism:
    r"""Return Duchi's mechanism: report +-C, C = (E + 1) / (E - 1), so that the mean is the value.

    On the scaled domain Pr(C | t) = ((1 + t) E + (1 - t)) / (2 (E + 1)).

    Parameters
    ----------
    knots : (n,) array_like
        Input values in the user's units.
    epsilon : float

    Returns
    -------
    table : TabulatedMechanism
        Two outputs, unbiased.

    Raises
    ------
    InputError
        Knots or epsilon that are not usable.

    Source
    ------
    Duchi, Jordan, Wainwright (2018).

    Example
    -------
    >>> from optldp.mechanisms import duchi
    >>> duchi([-1, 1], 1.0).probabilities.round(4)
    array([[0.7311, 0.2689],
           [0.2689, 0.7311]])
    """
    domain = UnitDomain.of(knots, epsilon)
    ends = np.array([-1.0, 1.0]) * two_point_bound(domain)
    return domain.table(ends, ends, two_point_masses(domain), "duchi", {"unbiased": True})


def two_point_bound(domain: UnitDomain) -> float:
    """Return C = (E + 1) / (E - 1)."""
    return (domain.ratio + 1) / domain.excess


def two_point_masses(domain: UnitDomain) -> np.ndarray:
    """Return the (n, 2) probabilities of -C and C, as sums of positive terms: small ones stay accurate."""
    below, above = (1 - domain.position) / 2, (1 + domain.position) / 2
    ratio = domain.ratio
    return np.stack([below * ratio + above, above * ratio + below], axis=1) / (ratio + 1)


def duchi_variance(x: ArrayLike, epsilon: float) -> np.ndarray:
    """Return the variance ((E + 1) / (E - 1))^2 - x^2 of a report on x in [-1, 1].

    Coded as (1 - x^2) + 1 / sinh^2(epsilon / 2), which keeps its digits for large budgets.

    Example
    -------
    >>> duchi_variance(1.0, 1.0).round(4).item()
    3.6827
    """
    return 1 - np.asarray(x, dtype=float) ** 2 + 1 / math.sinh(check_epsilon(epsilon) / 2) ** 2
