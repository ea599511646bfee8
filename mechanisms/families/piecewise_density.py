"""Two-level densities as exact cells: high in a window around the (stretched) knot, low elsewhere."""

import numpy as np

from .unit_domain import UnitDomain
from .window_edges import WindowEdges


def window_masses(domain: UnitDomain, stretch: float, half_width: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""Return the cells of [-B, B], B = stretch + half_width, and the mass of each at each knot.

    The density at knot t is q E within half_width of stretch * t and q elsewhere,
    q = 1 / (2 B + 2 half_width (E - 1)). The mean is q (E - 1) 2 half_width stretch t.

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

    Example
    -------
    >>> low, high, masses = window_masses(UnitDomain.of([0, 1], np.log(3)), 2.0, 1.0)
    >>> masses.round(9).tolist()
    [[0.6, 0.2, 0.2], [0.2, 0.2, 0.6]]
    """
    cut = WindowEdges.of(domain.position, stretch, half_width, (-1, 1))
    base = 1 / (2 * (stretch + half_width + half_width * domain.excess))
    cell = np.arange(cut.widths.size)
    inside = (cut.place[:, :1] <= cell) & (cell < cut.place[:, 1:])
    return cut.edges[:-1], cut.edges[1:], np.where(inside, base * domain.ratio, base) * cut.widths
