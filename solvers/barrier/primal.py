"""From a point of the path to a floor, and what its mechanism costs: without rows, O(n log n).

Each piece of F carries the floor's mass mu int 1/F, moved on by the Newton step to first order, at the mean of its
place: one output per piece, which costs no more than the density. Taking the step into account is what makes it a floor
before the point is centred. The best rows over a floor are windows of one mass (`windows`), whose means and squares are
piecewise linear in where they start, so the expected variance needs running sums only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from .path import Here
from .problem import Problem
from .windows import Windows

LARGEST_STRETCH = 1e-3
"""The outputs may be stretched by this to reach the outermost knots, and the masses to hold a window: rounding in the
Newton step leaves both a hair short, and what it costs is in the objective."""


ROOM = 1e-14
"""Relative mass beyond that of one window, so that rounding leaves it."""


@dataclass(frozen=True, eq=False)
class Floor:
    """Outputs and masses (m,), and the objective, as of expected variance, of the best mechanism over them."""

    outputs: Array
    masses: Array
    objective: float


def floor_at(here: Here) -> Floor | None:
    """Return the floor of a point, or None where it is none: of negative mass, or too short."""
    problem, F, mu = here.problem, here.F, here.state.mu
    n, found = len(problem.x), F.integrals
    turn = here.directions.newton[n:].astype(np.longdouble)
    of_nu = F.sums(turn)
    change = (F.sums(here.directions.newton[:n] - problem.x * turn) + F.centre * of_nu).astype(np.float64)
    masses = mu * (found.zero + found.zero_squared * change)
    if (masses < 0).any():
        return None
    moments = mu * (found.one + found.one_squared * change + found.spread * of_nu.astype(np.float64))
    k = np.flatnonzero(masses)
    outputs = np.clip(F.v[k] + moments[k] / masses[k], F.edges[k], F.edges[k + 1])
    return best_floor(problem, outputs, masses[k])


def best_floor(problem: Problem, outputs: Array, masses: Array) -> Floor | None:
    """Return a floor with its expected variance, stretched if it ends a little too early; None if far too early."""
    made = stretched_floor(problem.x, problem.E, outputs, masses)
    if made is None:
        return None
    outputs, masses, variances = made
    return Floor(outputs, masses, float(problem.p @ variances))


def stretched_floor(x: Array, E: float, outputs: Array, masses: Array) -> tuple[Array, Array, Array] | None:
    """Return outputs and masses (m,) of a floor that reaches all knots, and the variances (n,) of the best rows."""
    least = 2 / (E + 1) * (1 + ROOM)  # the mass of one window
    masses = masses * np.clip(least / masses.sum(), 1.0, 1 + LARGEST_STRETCH)
    windows = Windows(E, outputs, masses)
    if not windows.exist:
        return None
    low, high = windows.reach
    if not low < 0 < high:
        return None
    stretch = max(1.0, x[0] / low, x[-1] / high)
    if not stretch <= 1 + LARGEST_STRETCH:
        return None
    outputs = outputs * stretch
    return outputs, masses, windows.sums(windows.starts(x / stretch), masses * outputs**2) - x**2
