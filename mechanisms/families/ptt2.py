"""Piecewise transformation technique (PTT) type II: a tent-shaped density, of the best possible width."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..sampling.linear import LinearDensity
from ..table.table import TabulatedMechanism
from .ptt import check_eta, optimal_eta, window_shape
from .unit_domain import UnitDomain
from .window_edges import WindowEdges


def ptt2(
    knots: ArrayLike, epsilon: float, *, eta: float | None = None, second_moment: float = 1.0
) -> TabulatedMechanism:
    r"""Return PTT type II: density d E at k t, falling to d at distance a, and d elsewhere in [-B, B].

    B = k + a = eta a; unbiasedness and normalisation give k = (E - 1 + 2 eta) / (E - 1), a = k / (eta - 1).

    Parameters
    ----------
    knots : (n,) array_like
        Input values in the user's units.
    epsilon : float
    eta : float, optional
        Above 1. By default the one of least expected variance for the second moment.
    second_moment : float
        Mean of t^2 over the data, t being the value scaled to [-1, 1]; 1 for the worst case.

    Returns
    -------
    table : TabulatedMechanism
        Unbiased, its outputs intervals; `provenance.parameters` has eta.

    Raises
    ------
    InputError
        Knots, epsilon, eta or second moment that are not usable.

    Source
    ------
    OPTT (Ma et al.), type II; constants rederived from normalisation and unbiasedness.

    Example
    -------
    >>> from optldp.mechanisms import ptt2
    >>> table = ptt2([-1, 1], 2.0, eta=3.0)
    >>> table.mean([-1.0, 1.0]).round(9)
    array([-1.,  1.])
    """
    domain = UnitDomain.of(knots, epsilon)
    best = optimal_eta(epsilon, second_moment, kind=2) if eta is None else check_eta(eta)
    stretch, half_width = window_shape(domain.excess, best, kind=2)
    low, high, masses, within = tent_masses(domain, stretch, half_width)
    parameters = {"unbiased": True, "eta": best} | ({"second_moment": second_moment} if eta is None else {})
    return domain.table(low, high, masses, "ptt2", parameters, within)


def ptt2_variance(x: ArrayLike, epsilon: float, eta: float) -> np.ndarray:
    """Return the variance (k - 1) x^2 + a (4 eta^3 / (E - 1) + 1) / (6 (eta - 1)) on [-1, 1].

    Example
    -------
    >>> ptt2_variance(1.0, 1.0, optimal_eta(1.0, kind=2)).round(4).item()
    13.1464
    """
    excess = math.expm1(check_epsilon(epsilon))
    _, half_width = window_shape(excess, check_eta(eta), kind=2)
    constant = half_width * (4 * eta**3 / excess + 1) / (6 * (eta - 1))
    return 2 * eta / excess * np.asarray(x, dtype=float) ** 2 + constant


TILT_SHRINK = 1 - 2.0**-51
"""Takes a tilt's rounding error to the flat side: privacy can only gain, for 1e-16 of a cell."""


def tent_masses(
    domain: UnitDomain, stretch: float, half_width: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, LinearDensity]:
    r"""Return the cells of [-B, B], B = stretch + half_width, and the mass and slope of each at each knot.

    The density at knot t is d (1 + (E - 1) max(0, 1 - |y - stretch t| / half_width)), with
    d = 1 / (2 B + half_width (E - 1)).
    All rows' kinks are cell edges, so that every row is a straight line inside every cell.

    Parameters
    ----------
    domain : UnitDomain
    stretch, half_width : float
        In the scaled domain; both positive.

    Returns
    -------
    low, high : (m,) ndarray
        Ends of the cells in the scaled domain.
    masses : (n, m) ndarray
    within : LinearDensity

    Example
    -------
    >>> low, high, masses, _ = tent_masses(UnitDomain.of([0, 1], np.log(3)), 1.0, 1.0)
    >>> (6 * masses).round(9).tolist()
    [[2.0, 2.0, 1.0, 1.0], [1.0, 1.0, 2.0, 2.0]]
    """
    cut = WindowEdges.of(domain.position, stretch, half_width, (-1, 0, 1))
    base = 1 / (2 * (stretch + half_width) + half_width * domain.excess)
    distance = stretch * (cut.origin - domain.position[:, None]) + cut.side * half_width
    height = np.clip(1 - np.abs(distance) / half_width, 0.0, 1.0)
    density = base * (1 + domain.excess * height)
    left, right = density[:, :-1], density[:, 1:]
    tilt = (right - left) / (right + left) * TILT_SHRINK
    return cut.edges[:-1], cut.edges[1:], cut.widths * (left + right) / 2, LinearDensity(tilt)
