"""Bounds on a prior's weights as a path needs them: an inside, its centre, and the way back into them."""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from ...mechanisms.errors import InputError
from ..arrays import Array
from ..robust.sets import BoxSet

WIDER = 1e-8
"""Bounds have room for a path if they differ by this share of themselves and of even weights."""

FARTHEST = 1e30
"""How near to a bound, as one over the distance, a centre may lie."""


def analytic_centre(box: BoxSet) -> Array:
    """Return the prior of the box whose product of (high - q) (q - low) is largest.

    There 1 / (high - q) - 1 / (q - low) = zeta for all, a quadratic equation for each; zeta makes the sum one.

    Example
    -------
    >>> analytic_centre(BoxSet(np.zeros(2), np.array([1.0, 1.0])))
    array([0.5, 0.5])
    """
    from scipy.optimize import brentq  # a quarter of a second, where no other solver needs it

    middle, half = 0.5 * (box.high + box.low), 0.5 * (box.high - box.low)

    def prior(zeta: float) -> Array:
        return middle + half * (zeta * half) / (1 + np.sqrt(1 + (zeta * half) ** 2))

    reach = 1.0
    while not prior(-reach).sum() < 1 < prior(reach).sum():
        reach *= 10
        if reach > FARTHEST:
            raise InputError("the bounds on a prior's weights must leave room for more than one prior")
    # The root may be of any size: its relative precision alone ends the search.
    zeta = brentq(lambda zeta: prior(zeta).sum() - 1, -reach, reach, xtol=1e-300)
    return prior(cast("float", zeta))  # without full_output it is one number


def widened(box: BoxSet) -> BoxSet:
    """Return a box that has room at every knot: what has next to none is wider by next to nothing.

    What has room stays as it is, for the multipliers that a path ends with must be moved back into the box.

    Example
    -------
    >>> made = widened(BoxSet(np.array([0.0, 0.25]), np.array([0.0, 1.0])))
    >>> made.low, made.high
    (array([0.  , 0.25]), array([5.e-09, 1.e+00]))
    """
    room = WIDER * (box.high + 1 / len(box.low))
    thin = box.high - box.low < room
    return BoxSet(np.where(thin, box.low * (1 - WIDER), box.low), np.where(thin, box.high + room, box.high))


def member(box: BoxSet, weights: Array) -> Array:
    """Return a prior of the box near these weights: within its bounds, and moved between them until the sum is one.

    Example
    -------
    >>> member(BoxSet(np.full(2, 0.25), np.full(2, 0.75)), np.array([0.2, 0.7])).round(6).tolist()
    [0.295455, 0.704545]
    """
    inside = np.clip(weights, box.low, box.high)
    lack = 1 - float(inside.sum())
    room = box.high - inside if lack > 0 else inside - box.low
    total = float(room.sum())
    step = math.copysign(min(abs(lack) / total, 1.0), lack) if total > 0 else 0.0
    return np.clip(inside + step * room, box.low, box.high)
