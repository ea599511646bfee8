"""Generalised randomised response (GRR): the knot itself, or any of the others alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..table.provenance import Provenance
from ..table.table import TabulatedMechanism
from .unit_domain import UnitDomain


def grr(knots: ArrayLike, epsilon: float) -> TabulatedMechanism:
    r"""Return GRR on n knots: the knot itself with probability E / (E + n - 1), each other 1 / (E + n - 1).

    Reports are knots and not decoded: their mean is affine in the value, but is not the value itself.

    Parameters
    ----------
    knots : (n,) array_like
        Input values in the user's units.
    epsilon : float

    Returns
    -------
    table : TabulatedMechanism
        Its outputs are the knots.

    Raises
    ------
    InputError
        Knots or epsilon that are not usable.

    Source
    ------
    Kairouz, Oh, Viswanath (2016), as k-ary randomised response.

    Example
    -------
    >>> from optldp.mechanisms import grr
    >>> grr([0, 1, 2], 1.0).probabilities[0].round(4)
    array([0.5761, 0.2119, 0.2119])
    """
    domain = UnitDomain.of(knots, epsilon)
    n = domain.knots.size
    masses = np.where(np.eye(n, dtype=bool), domain.ratio, 1.0) / (domain.ratio + n - 1)
    return TabulatedMechanism.from_points(
        domain.knots, domain.knots, masses, domain.epsilon, provenance=Provenance("grr")
    )


def grr_variance(knots: ArrayLike, epsilon: float) -> np.ndarray:
    """Return the variance of a report at each knot, about its own mean.

    With q = 1 / (E + n - 1): q sum_j (x_j - x)^2 - (q sum_j (x_j - x))^2.

    Example
    -------
    >>> grr_variance([0, 1], 1.0).round(4)
    array([0.1966, 0.1966])
    """
    domain = UnitDomain.of(knots, epsilon)
    distance = domain.knots - domain.knots[:, None]
    other = 1 / (np.exp(epsilon) + domain.knots.size - 1)
    return other * np.sum(distance**2, axis=1) - (other * np.sum(distance, axis=1)) ** 2
