"""A point to start the path from: the windows of a bell-shaped floor.

A floor with density proportional to (1 + (y/c)^2)^-3, of a mass T that grows with the budget; c is the least scale
whose windows, all of floor mass w = (1 - T)/(E - 1), reach a mean beyond the last knot. Roots at the ends of these
windows give parabolas p_i ((y - middle_i)^2 - theta half_i^2), with theta a share of what keeps F > 0.
"""

from __future__ import annotations

import math

import numpy as np

from ..arrays import Array
from .problem import Problem, State

REACH = 1.1
"""Mean of the outermost windows, in half-widths of the domain."""

DEPTH = 0.6
"""Share of the deepest windows that leave F positive."""

SHARE = 0.3
"""Of even weights, at first."""

GRID = 2001
"""Places at which the floor's distribution function is tabulated."""

MOST_HALVINGS, BISECTIONS = 40, 18
"""The depth of the deepest windows is found to a millionth of itself: only a share of it is used."""


def start(problem: Problem) -> State | None:
    """Return a point with F > 0 in the middle of its barrier, or None where rounding leaves none."""
    x, p = problem.x, problem.weights(SHARE)
    left, right = _windows(x, problem.E)
    offset, half = 0.5 * (left + right) - x, 0.5 * (right - left)

    def at(theta: float) -> State:
        return State(p * (theta * half**2 - offset**2), 2 * p * offset, 0.0, SHARE)

    low = 1.0
    for _ in range(MOST_HALVINGS):
        if problem.at(at(low)).lowest > 0:
            break
        low *= 0.5
    high = min(2 * low, 1.0)
    for _ in range(BISECTIONS if low < high else 0):
        theta = 0.5 * (low + high)
        low, high = (theta, high) if problem.at(at(theta)).lowest > 0 else (low, theta)
    state = at(DEPTH * low)
    F = problem.at(state)
    if not F.lowest > 0:
        return None
    return state._replace(mu=float(1 / np.mean(F.rows(F.integrals.zero))))


def _windows(x: Array, E: float) -> tuple[Array, Array]:
    """Return the ends (n,) of windows with means x over the bell-shaped floor."""
    budget = math.log(E)
    windows = 2 + 0.4 * budget + 0.3 * max(budget - 2, 0.0)
    mass = windows / (windows + E - 1)
    width = mass / windows
    z = np.tan(np.linspace(-1, 1, 2 * GRID - 1)[1:-1] * np.pi / 2)
    bell = z * (3 * z * z + 5) / (8 * (1 + z * z) ** 2) + 3 / 8 * np.arctan(z)
    below = mass * (0.5 + 8 / (3 * np.pi) * bell)
    moment = mass * 8 / (3 * np.pi) * -1 / (4 * (1 + z * z) ** 2)
    from_ = np.linspace(0, mass - width, GRID)
    means = (E - 1) * (np.interp(from_ + width, below, moment) - np.interp(from_, below, moment))
    scale = REACH / means[-1]
    chosen = np.interp(x, scale * means, from_)
    return scale * np.interp(chosen, below, z), scale * np.interp(chosen + width, below, z)
