"""Cell edges of mechanisms whose density has kinks at fixed distances from a moving centre."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np


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
