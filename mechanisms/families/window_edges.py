"""Cells of mechanisms whose density has kinks at fixed distances from a moving centre: their edges and masses.

The masses are those of two-level densities, high in a window around the (stretched) knot, low elsewhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from .unit_domain import UnitDomain


@dataclass(frozen=True, eq=False)
class WindowEdges:
    """The union of all rows' kinks, sorted, as cell edges.

    Attributes
    ----------
    edges : (K,) ndarray
        Increasing; equal neighbours are possible where doubles cannot tell them apart.
    widths : (K - 1,) ndarray
        Positive and correct to the last bit, also where two edges nearly coincide: a row's masses then sum to
        one, and the ratio of two rows in a cell is exactly the ratio of their densities.
    place : (n, number of sides) ndarray of int
        Which edge each row's kinks are.
    origin, side : (K,) ndarray
        Each edge is stretch * origin + side * half_width.
    """

    edges: np.ndarray
    widths: np.ndarray
    place: np.ndarray
    origin: np.ndarray
    side: np.ndarray

    @classmethod
    def of(cls, position: np.ndarray, stretch: float, half_width: float, sides: Sequence[int]) -> "WindowEdges":
        """Collect stretch * position + side * half_width over rows and sides, in exact rational arithmetic.

        Example
        -------
        >>> cut = WindowEdges.of(np.array([-1.0, 1.0]), 2.0, 1.0, (-1, 1))
        >>> cut.edges.tolist(), cut.place.tolist()
        ([-3.0, -1.0, 1.0, 3.0], [[0, 1], [2, 3]])
        """
        factor, half = Fraction(stretch), Fraction(half_width)
        kinks = [factor * Fraction(t) + s * half for t in position.tolist() for s in sides]
        exact = sorted(set(kinks))
        rank = {kink: k for k, kink in enumerate(exact)}
        place = np.array([rank[kink] for kink in kinks]).reshape(position.size, len(sides))
        origin, side = np.empty(len(exact)), np.empty(len(exact))
        origin[place], side[place] = position[:, None], np.array(sides, dtype=float)
        return cls(
            edges=np.array([float(kink) for kink in exact]),
            widths=np.array([float(b - a) for a, b in pairwise(exact)]),
            place=place,
            origin=origin,
            side=side,
        )


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
