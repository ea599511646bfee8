"""Boxes of whole numbers for several tables at once: what lies in them is private, and two tables stay alike.

Table l has a floor a_l at every output, and every knot i a floor u_i there. What lies between the floors and their
multiples, max(a_l, u_i) <= numerator <= min(E_l a_l, F u_i), keeps the ratio E_l within the table and F between tables.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from .numerators import DENOMINATOR


def level_boxes(
    wanted: np.ndarray, limits: Sequence[Fraction], between: Fraction | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the largest numerator (t, n, m) of every entry, from what is wanted.

    Floors lie in the middle of what they may be, and are lowered until no box is empty: what is rare may lose it all.

    Parameters
    ----------
    wanted : (t, n, m) ndarray of float
        Probabilities of t tables times 2^53, within the limits.
    limits : sequence of t Fraction
        E_l >= 1.
    between : Fraction, optional
        F > 1; None: tables have nothing to do with each other.

    Example
    -------
    >>> wanted = np.array([[[10.4], [20.0]], [[12.0], [25.2]]])
    >>> least, most = level_boxes(wanted, [Fraction(2), Fraction(3)], Fraction(2))
    >>> least.ravel().tolist(), most.ravel().tolist()
    ([10, 16, 10, 16], [16, 20, 16, 30])
    """
    ratios = np.array([float(limit) for limit in limits])[:, None]
    by_table = _floors(wanted.min(axis=1), wanted.max(axis=1) / ratios)  # a (t, m)
    by_knot = _floors(wanted.min(axis=0), wanted.max(axis=0) / float(between) if between else 0.0)  # u (n, m)
    while True:
        above_tables = np.stack([_times(limit, row) for limit, row in zip(limits, by_table, strict=True)])
        above_knots = _times(between, by_knot) if between else np.full(by_knot.shape, DENOMINATOR)
        lowered = np.minimum(by_table, above_knots.min(axis=0)), np.minimum(by_knot, above_tables.min(axis=0))
        if np.array_equal(lowered[0], by_table) and np.array_equal(lowered[1], by_knot):
            break
        by_table, by_knot = lowered
    return np.maximum(by_table[:, None], by_knot), np.minimum(above_tables[:, None], above_knots)


def _floors(highest: np.ndarray, lowest: np.ndarray | float) -> np.ndarray:
    """Floors halfway between all they may be, so that whatever has room has it on both sides."""
    return np.rint((highest + np.minimum(highest, lowest)) / 2).astype(np.int64)


def _times(limit: Fraction, floors: np.ndarray) -> np.ndarray:
    p, q = limit.as_integer_ratio()
    most = [min(p * floor // q, DENOMINATOR) for floor in floors.ravel().tolist()]
    return np.array(most, dtype=np.int64).reshape(floors.shape)
