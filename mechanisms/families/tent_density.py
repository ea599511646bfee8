"""Tent-shaped densities as exact cells: a linear rise to the (stretched) knot and a linear fall after it."""

import numpy as np

from ..laws.linear import LinearDensity
from .unit_domain import UnitDomain
from .window_edges import WindowEdges

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
