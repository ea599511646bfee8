"""Any vector moved into the dual of a product of cones: equations, inequalities, second-order and exponential cones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .arrays import Array

INSIDE = 1e-15
"""Relative room for the rounding of norms and exponentials."""


def into_dual_cone(vector: Array, dims: Any, held: np.ndarray) -> Array:
    """Return a point of the dual cone near a vector: itself if it lies there.

    Parameters
    ----------
    vector : (l,) ndarray
    dims : cvxpy's ConeDims
        How many entries belong to equations (`zero`, of any sign), how many to inequalities (`nonneg`), the sizes of
        second-order cones (`soc`) and the number of exponential cones (`exp`), in that order.
    held : (l,) ndarray of bool
        Entries to leave as they are if others can be moved instead.

    Example
    -------
    >>> from types import SimpleNamespace
    >>> dims = SimpleNamespace(zero=1, nonneg=1, soc=[3], exp=1)
    >>> made = into_dual_cone(np.array([-1.0, -1, 1, 3, 4, -1, 0, 0]), dims, np.zeros(8, dtype=bool))
    >>> made.round(6).tolist()
    [-1.0, 0.0, 1.0, 0.6, 0.8, -1.0, 0.0, 0.367879]
    """
    made = vector.copy()
    start = dims.zero
    made[start : start + dims.nonneg] = np.maximum(made[start : start + dims.nonneg], 0.0)
    start += dims.nonneg
    for size in dims.soc:
        made[start : start + size] = _second_order(made[start : start + size], held[start : start + size])
        start += size
    for _ in range(dims.exp):
        u, v, w = made[start : start + 3].tolist()
        made[start : start + 3] = _exponential(u, v, w, bool(held[start + 2]))
        start += 3
    return made


def _second_order(part: Array, held: np.ndarray) -> Array:
    """A point of {(t, x): |x| <= t}, the dual of itself: x is made shorter where it may be, else t is raised."""
    top, norm = float(part[0]), _norm(part[1:])
    if norm <= top:
        return part
    loose = ~held
    loose[0] = False
    fixed = _norm(part[1:][held[1:]])
    made = part.copy()
    if loose.any() and fixed <= top:
        rest = math.sqrt((top - fixed) * (top + fixed)) * (1 - 4 * INSIDE)
        made[loose] *= rest / _norm(part[loose])
    if (norm := _norm(made[1:])) > made[0]:
        made[0] = norm * (1 + 4 * INSIDE)
    return made


def _norm(part: Array) -> float:
    """Its length, of entries whose squares are no doubles, too."""
    return math.hypot(*part.tolist())


def _exponential(u: float, v: float, w: float, held: bool) -> tuple[float, float, float]:
    """A point of {u < 0, w >= -u exp(v / u - 1)} or {u = 0, v, w >= 0}, the dual of y exp(x / y) <= z, y > 0."""
    if u >= 0:
        return 0.0, max(v, 0.0), max(w, 0.0)
    least = v / u - 1 + math.log(-u)  # of log w
    if w > 0 and math.log(w) >= least:
        return u, v, w
    if (held and w > 0) or least > 700:  # the exponential of more is no double
        w = max(w, math.exp(-700))
        raised = u * (1 + math.log(w / -u))
        return u, raised + INSIDE * (abs(raised) + abs(u)), w
    return u, v, math.exp(least) * (1 + INSIDE * (1 + abs(least)))
