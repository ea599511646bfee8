"""The second moments of the best rows over a floor of pieces, and how they change with the floor.

With g_i(y) = (y - l_i)(y - r_i), l_i and r_i the ends of the window of knot x_i, and phi_i = min(g_i, E g_i), duality
gives

    E[Y^2 | x_i] = -l_i r_i + (l_i + r_i) x_i + sum_j t_j a_ij,    a_ij = mean of phi_i over piece j,

and (l_i, r_i) maximise the right-hand side.  So the derivatives are those at fixed windows: a_ij for the mass t_j, and
t_j (phi_i(high_j) - a_ij) / (high_j - low_j) for an upper end.  In the masses each second moment is a maximum of linear
functions, hence convex: for given intervals the best masses are found without local minima.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from .floor import PieceFloor, nearest_windows


@dataclass(frozen=True, eq=False)
class FloorGradient:
    """Values (n,) and their derivatives (n, m) by the masses, the lower and the upper ends of the pieces."""

    value: Array
    mass: Array
    low: Array
    high: Array


def second_moments(floor: PieceFloor, knots: Array, ratio: float) -> FloorGradient:
    """Return E[Y^2 | x_i] of the best rows with its derivatives.

    Beyond the reach of the floor the value goes on as the dual at the outermost window: a lower bound.

    Parameters
    ----------
    floor : PieceFloor
        Derivatives by the ends of a point are left at zero.
    knots : (n,) ndarray
    ratio : float
        E = e^epsilon.

    Example
    -------
    >>> floor = PieceFloor([-4.0], [4.0], [0.5])
    >>> second_moments(floor, np.array([0.0, 1.0]), 3.0).value.round(9).tolist()
    [3.333333333, 5.333333333]
    """
    found = nearest_windows(floor, knots, ratio)
    left, right = found.left[:, None], found.right[:, None]
    average = _mean(floor.low, floor.high, left, right)
    begin, end = np.clip(left, floor.low, floor.high), np.clip(right, floor.low, floor.high)
    width = floor.high - floor.low
    share = np.divide(end - begin, width, out=np.ones_like(begin), where=width > 0)
    average = average + (ratio - 1) * share * np.minimum(_mean(begin, end, left, right), 0.0)
    value = ((left + right) * knots[:, None] - left * right)[:, 0] + average @ floor.mass
    density = np.divide(floor.mass, width, out=np.zeros_like(width), where=width > 0)
    at_low, at_high = _phi(floor.low, left, right, ratio), _phi(floor.high, left, right, ratio)
    return FloorGradient(value, average, density * (average - at_low), density * (at_high - average))


def upper_reach(floor: PieceFloor, ratio: float) -> FloorGradient:
    """Return the largest mean of a row with its derivatives, in arrays of one row.

    It is the least value over kappa of kappa + int t max(y - kappa, E (y - kappa)), attained where the topmost window
    starts.
    """
    kappa = floor.place(np.array([floor.total - floor.window_mass(ratio)]))[:, None]
    width = floor.high - floor.low
    begin = np.clip(kappa, floor.low, floor.high)
    share = np.divide(floor.high - begin, width, out=np.zeros_like(begin), where=width > 0)
    middle = (begin + floor.high) / 2 - kappa
    average = (
        (floor.low + floor.high) / 2
        - kappa
        + (ratio - 1) * np.where(width > 0, share * middle, np.maximum(middle, 0.0))
    )
    at_low, at_high = (np.maximum(y - kappa, ratio * (y - kappa)) for y in (floor.low, floor.high))
    density = np.divide(floor.mass, width, out=np.zeros_like(width), where=width > 0)
    value = kappa[:, 0] + average @ floor.mass
    return FloorGradient(value, average, density * (average - at_low), density * (at_high - average))


def _mean(low: Array, high: Array, left: Array, right: Array) -> Array:
    """Mean of (y - left)(y - right) over [low, high]."""
    middle = (low + high) / 2
    return (middle - left) * (middle - right) + (high - low) ** 2 / 12


def _phi(y: Array, left: Array, right: Array, ratio: float) -> Array:
    g = (y - left) * (y - right)
    return np.minimum(g, ratio * g)
