"""The Laplace mechanism: the value plus two-sided exponential noise. Simple, unbounded, rarely the best."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..sampling.exponential import ExponentialDensity
from ..table.provenance import Provenance
from ..table.table import TabulatedMechanism
from .unit_domain import UnitDomain


def laplace(knots: ArrayLike, epsilon: float) -> TabulatedMechanism:
    r"""Return the Laplace mechanism on these knots: density exp(-|y - x| / b) / (2 b), b = width / epsilon.

    Outputs are the cells between knots and two infinite tails; within each the exact exponential.

    Parameters
    ----------
    knots : (n,) array_like
        Input values in the user's units.
    epsilon : float

    Returns
    -------
    table : TabulatedMechanism
        n + 1 outputs, unbiased.

    Raises
    ------
    InputError
        Knots or epsilon that are not usable.

    Source
    ------
    Dwork, McSherry, Nissim, Smith (2006), with the width of the domain as sensitivity.

    Example
    -------
    >>> from optldp.mechanisms import laplace
    >>> laplace([-1, 0, 1], 2.0).var([0.0]).round(9)
    array([2.])
    """
    domain = UnitDomain.of(knots, epsilon)
    x = domain.knots
    scale = (x[-1] - x[0]) / domain.inner
    # exp(-(gap to the cell) / b) * (1 - exp(-cell width / b)) / 2, the tails being infinitely wide
    shares = -np.expm1(-np.r_[np.inf, np.diff(x), np.inf] / scale) / 2
    right_of = np.exp(-np.maximum(x - x[:, None], 0.0) / scale)
    left_of = np.exp(-np.maximum(x[:, None] - x, 0.0) / scale)
    rising = np.arange(x.size + 1) <= np.arange(x.size)[:, None]  # cell j ends at knot j
    decay = np.where(rising, np.c_[left_of, left_of[:, -1]], np.c_[right_of[:, 0], right_of])
    return TabulatedMechanism(
        knots=x,
        low=np.r_[-np.inf, x],
        high=np.r_[x, np.inf],
        probabilities=decay * shares,
        epsilon=domain.epsilon,
        within=ExponentialDensity(np.where(rising, 1 / scale, -1 / scale)),
        provenance=Provenance("laplace", {"unbiased": True, "scale": scale}),
    )


def laplace_variance(x: ArrayLike, epsilon: float) -> np.ndarray:
    """Return the variance 8 / epsilon^2 of a report on x in [-1, 1].

    Example
    -------
    >>> laplace_variance(0.5, 2.0).item()
    2.0
    """
    return np.full(np.shape(x), 8 / check_epsilon(epsilon) ** 2)
