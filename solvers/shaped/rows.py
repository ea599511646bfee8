"""The best rows over a floor of pieces as exact cells."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from .floor import PieceFloor, windows

SAME_CUT = 1e-13
"""Cuts nearer than this share of a window are one: their difference is the rounding of where windows end."""


def piece_rows(floor: PieceFloor, knots: Array, ratio: float) -> tuple[Array, Array, Array]:
    """Return the cells' ends (c,), (c,) and the rows (n, c) of the best unbiased rows over a floor.

    The ends of all pieces and windows cut the floor into cells, at most m + 2n of them; a row has the cell's floor
    mass, times E inside its window.  Cells of a point coincide.

    Raises
    ------
    SolverError
        No unbiased rows exist over this floor.

    Example
    -------
    >>> low, high, rows = piece_rows(PieceFloor([-4.0], [4.0], [0.5]), np.array([-1.0, 1.0]), 3.0)
    >>> low.tolist(), high.tolist(), rows.tolist()
    ([-4.0, 0.0], [0.0, 4.0], [[0.75, 0.25], [0.25, 0.75]])
    """
    found = windows(floor, knots, ratio)
    near = SAME_CUT * found.mass
    ends = np.sort(np.concatenate([floor.cumulative, found.start, found.start + found.mass]))
    ends = np.clip(ends, 0.0, floor.total)
    cuts = ends[np.diff(ends, prepend=-1.0) > near]
    cuts[-1] = floor.total
    first = np.searchsorted(cuts, found.start + near, side="right") - 1
    last = np.searchsorted(cuts, found.start + found.mass + near, side="right") - 1
    cell = np.arange(cuts.size - 1)
    inside = (first[:, None] <= cell) & (cell < last[:, None])
    j = floor.piece((cuts[1:] + cuts[:-1]) / 2)
    low, high = (
        np.clip(floor.low[j] + floor.slope[j] * (u - floor.cumulative[j]), floor.low[j], floor.high[j])
        for u in (cuts[:-1], cuts[1:])
    )
    return low, high, np.diff(cuts) * np.where(inside, ratio, 1.0)
