"""Floors of a few pieces: uniform mass on disjoint intervals, and the best rows over them, by their windows.

For a given floor every best row is E t on one window of floor mass omega = (1 - T)/(E - 1), T the floor's total, and t
outside (`window_rows`).  Over a floor that is uniform on each of m intervals all of it is closed-form.  In the
coordinate u of cumulative floor mass, y(u) is a straight line on each piece, so

    mean(alpha) = M(T) + (E - 1) (M(alpha + omega) - M(alpha)),    M(u) = int_0^u y,

is a parabola in alpha between the places where an end of the window crosses into another piece, and the window of each
knot is the root of one quadratic equation.  PTT is the case m = 1; Duchi's mechanism (m = 2) and the three-output one
(m = 3) are the cases of points.

Source: derived here from the window form of docs/optimum.md; PTT: Ma, Zhu and Wang (OPTT).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError, SolverError
from ..arrays import Array, Indices

REACH_ROUNDING = 1e-9
"""How far the knots may lie beyond what the floor reaches: floors that reach them exactly are rounded."""

SAME_CUT = 1e-13
"""Cuts nearer than this share of a window are one: their difference is the rounding of where windows end."""


@dataclass(frozen=True, eq=False)
class PieceFloor:
    """A floor: mass spread evenly over disjoint intervals.

    Attributes
    ----------
    low, high : (m,) ndarray
        Ends of the pieces, increasing: high[j] <= low[j + 1]; low[j] == high[j] is a point.
    mass : (m,) ndarray
        Positive; their sum T is below one.

    Raises
    ------
    InputError
        Pieces that overlap or are turned round, or masses that are not positive or sum to one or more.

    Example
    -------
    >>> from optldp.solvers import PieceFloor
    >>> PieceFloor([-3.0, 1.0], [-1.0, 3.0], [0.25, 0.25]).place([0.0, 0.125, 0.5]).tolist()
    [-3.0, -2.0, 3.0]
    """

    low: Array
    high: Array
    mass: Array

    def __post_init__(self) -> None:
        for name in ("low", "high", "mass"):
            value = np.array(getattr(self, name), dtype=np.float64)
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        low, high, mass = self.low, self.high, self.mass
        if low.ndim != 1 or not low.shape == high.shape == mass.shape or low.size == 0:
            raise InputError(f"a floor needs one or more pieces, got shapes {low.shape}, {high.shape} and {mass.shape}")
        if not ((low <= high).all() and (high[:-1] <= low[1:]).all()):
            raise InputError(f"pieces must be in order and must not overlap, got {low.tolist()} and {high.tolist()}")
        if not (mass > 0).all() or not mass.sum() < 1:
            raise InputError(f"masses must be positive and sum to less than 1, got {mass.tolist()}")

    @cached_property
    def cumulative(self) -> Array:
        """(m + 1,) mass before each piece, and in all."""
        return np.concatenate([[0.0], np.cumsum(self.mass)])

    @cached_property
    def slope(self) -> Array:
        """(m,) length per mass: 0 for a point."""
        return (self.high - self.low) / self.mass

    @cached_property
    def _moments(self) -> Array:
        """(m + 1,) integral of y over the mass before each piece, and over all of it."""
        return np.concatenate([[0.0], np.cumsum(self.mass * (self.low + self.high) / 2)])

    @property
    def total(self) -> float:
        """T."""
        return float(self.cumulative[-1])

    def piece(self, u: ArrayLike) -> Indices:
        """Return the piece that holds each cumulative mass; at a border the one above it."""
        return np.clip(np.searchsorted(self.cumulative, u, side="right") - 1, 0, self.low.size - 1)

    def place(self, u: ArrayLike) -> Array:
        """Return y(u), the output up to which the floor has mass u."""
        j = self.piece(u)
        return self.low[j] + self.slope[j] * (np.asarray(u) - self.cumulative[j])

    def moment(self, u: ArrayLike) -> Array:
        """Return M(u) = int_0^u y."""
        j = self.piece(u)
        part = np.asarray(u) - self.cumulative[j]
        return self._moments[j] + part * (self.low[j] + self.slope[j] * part / 2)

    def window_mass(self, ratio: float) -> float:
        """Return omega = (1 - T)/(E - 1), or all of T where the floor holds less than one window."""
        return min((1 - self.total) / (ratio - 1), self.total)

    def in_windows(self, ratio: float) -> Array:
        """Return the (m,) masses in units of the window: unlike `mass` they may be any numbers that sum to 1 or more.

        Example
        -------
        >>> from optldp.solvers import PieceFloor
        >>> PieceFloor([-2.0, 2.0], [-2.0, 2.0], [0.25, 0.25]).in_windows(3.0).tolist()
        [1.0, 1.0]
        """
        return self.mass * (ratio - 1) / (1 - self.total)

    @classmethod
    def of_windows(cls, low: Array, high: Array, windows: Array, ratio: float) -> PieceFloor:
        """Return the floor whose masses are these multiples of its window: t = windows / (E - 1 + sum of windows)."""
        return cls(low, high, windows / (ratio - 1 + windows.sum()))


@dataclass(frozen=True, eq=False)
class Windows:
    """The window of each knot.

    Attributes
    ----------
    start : (n,) ndarray
        alpha, in the coordinate of cumulative floor mass.
    mass : float
        omega.
    left, right : (n,) ndarray
        Its ends among the outputs.
    """

    start: Array
    mass: float
    left: Array
    right: Array


def reach(floor: PieceFloor, ratio: float) -> tuple[float, float]:
    """Return the least and the largest mean of a row over this floor.

    Example
    -------
    >>> [round(end, 9) for end in reach(PieceFloor([-2.0, 2.0], [-2.0, 2.0], [0.25, 0.25]), 3.0)]
    [-1.0, 1.0]
    """
    omega = floor.window_mass(ratio)
    all_of_it = float(floor.moment(floor.total))
    above = all_of_it - float(floor.moment(floor.total - omega))
    return all_of_it + (ratio - 1) * float(floor.moment(omega)), all_of_it + (ratio - 1) * above


def windows(floor: PieceFloor, knots: Array, ratio: float) -> Windows:
    """Return the window of each knot, whose row has the knot as its mean.

    Parameters
    ----------
    floor : PieceFloor
    knots : (n,) ndarray
    ratio : float
        E = e^epsilon.

    Raises
    ------
    SolverError
        No unbiased rows exist over this floor.

    Example
    -------
    >>> found = windows(PieceFloor([-4.0], [4.0], [0.5]), np.array([-1.0, 0.0, 1.0]), 3.0)
    >>> found.left.tolist(), found.right.tolist()
    ([-4.0, -2.0, 0.0], [0.0, 2.0, 4.0])
    """
    if floor.total * ratio < 1 - REACH_ROUNDING:
        raise SolverError(f"the floor's mass must be at least 1/E for rows to sum to one, got {floor.total:g}")
    low, high = reach(floor, ratio)
    slack = REACH_ROUNDING * max(abs(low), abs(high))
    if knots[0] < low - slack or knots[-1] > high + slack:
        raise SolverError(
            f"the floor must reach the knots, from {knots[0]:g} to {knots[-1]:g}, got {low:g} to {high:g}"
        )
    return nearest_windows(floor, knots, ratio)


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


def nearest_windows(floor: PieceFloor, knots: Array, ratio: float) -> Windows:
    """As `windows`, with the outermost window for a knot out of reach."""
    omega = floor.window_mass(ratio)
    latest = floor.total - omega
    crossings = np.unique(np.clip(np.append(floor.cumulative, floor.cumulative - omega), 0.0, latest))
    wanted = (knots - floor.moment(floor.total)) / (ratio - 1)
    inside = floor.moment(np.minimum(crossings + omega, floor.total)) - floor.moment(crossings)
    k = np.clip(np.searchsorted(inside, wanted, side="right") - 1, 0, max(crossings.size - 2, 0))
    after = crossings[np.minimum(k + 1, crossings.size - 1)]
    middle = (crossings[k] + after) / 2
    first, last = floor.piece(middle), floor.piece(middle + omega)
    # inside(alpha) = inside(crossing) + linear step + bend step^2, and rises: the root is written without cancellation
    linear = _on(floor, last, crossings[k] + omega) - _on(floor, first, crossings[k])
    bend = (floor.slope[last] - floor.slope[first]) / 2
    lack = np.maximum(wanted - inside[k], 0.0)
    root = linear + np.sqrt(np.maximum(linear**2 + 4 * bend * lack, 0.0))
    step = np.divide(2 * lack, root, out=np.zeros_like(lack), where=root > 0)
    start = np.clip(crossings[k] + step, crossings[k], after)
    return Windows(start, omega, _on(floor, first, start), _on(floor, last, start + omega))


def _on(floor: PieceFloor, piece: Indices, u: Array) -> Array:
    """y(u) on the line of a given piece, never beyond its ends."""
    y = floor.low[piece] + floor.slope[piece] * (u - floor.cumulative[piece])
    return np.clip(y, floor.low[piece], floor.high[piece])
