"""The best rows for a given floor, in closed form.

Fix the floor t_y of every output.  The rows then decouple: row i must add (E - 1) t_y-capped mass s to t so that it
sums to one with mean x_i, at least cost sum (y - x_i)^2 s.  The cost is convex in y, so the mass fills the caps on a
run of neighbouring outputs, with fractions at its two ends only: in the coordinate of cumulative floor,

    row i is E t on a window [alpha_i, alpha_i + omega] and t outside,    omega = (1 - sum t)/(E - 1),

of the same width for every row, at the place alpha_i that gives mean x_i.  The mean is increasing in alpha and
piecewise a ratio of quadratics' differences, so alpha_i is found by bisection to the last bit and refined by the exact
piecewise formula.  Hence an optimal unbiased mechanism is determined by its floor alone: it is a piecewise mechanism
whose window has constant mass under a base measure of its own.

The result is optimal for the floor whatever the prior, also at knots of prior weight zero.

Source: derived here; it is the Neyman-Pearson argument applied to each row.
"""

from __future__ import annotations

import numpy as np

from ..mechanisms.errors import SolverError
from .unbiased_program import Array, UnbiasedProgram

BISECTIONS = 200
"""More halvings than a double has bits: the bisection ends by itself when the interval has no midpoint."""


STRETCHES = (0.0, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7)
"""Relative stretches of the outputs tried in turn; the last costs 2e-7 of E[Y^2], which the certificate would show."""


def stretched_rows(program: UnbiasedProgram, outputs: Array, floor: Array) -> tuple[Array, Array]:
    """Return (outputs, rows) over the floor, the outputs stretched by the least that makes the rows exist.

    An optimal floor reaches the outermost knots with nothing to spare, so rounding can leave it a hair short.

    Raises
    ------
    SolverError
        No unbiased rows exist even after stretching.
    """
    for stretch in STRETCHES[:-1]:
        try:
            return outputs * (1 + stretch), window_rows(program, outputs * (1 + stretch), floor)
        except SolverError:
            continue
    return outputs * (1 + STRETCHES[-1]), window_rows(program, outputs * (1 + STRETCHES[-1]), floor)


def window_rows(program: UnbiasedProgram, outputs: Array, floor: Array) -> Array:
    """Return the cheapest unbiased rows (n, m) over the given floor.

    Parameters
    ----------
    outputs, floor : (m,) ndarray
        Increasing outputs and t > 0 with E sum t >= 1 >= sum t.

    Raises
    ------
    SolverError
        No unbiased rows exist over this floor.

    Example
    -------
    >>> import numpy as np
    >>> program = UnbiasedProgram(np.array([-1.0, 0.0, 1.0]), np.full(3, 1 / 3), 3.0)
    >>> P = window_rows(program, np.array([-2.0, 2.0]), np.array([0.25, 0.25]))
    >>> P.tolist()
    [[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]]
    """
    x, E = program.knots, program.ratio
    mass = np.concatenate([[0.0], np.cumsum(floor)])
    moment = np.concatenate([[0.0], np.cumsum(floor * outputs)])
    width = (1 - mass[-1]) / (E - 1)
    need = (x - moment[-1]) / (E - 1)
    if not 0 < width <= mass[-1]:
        raise SolverError("the floor's total mass admits no normalised rows")

    def window_moment(alpha: Array) -> Array:
        return np.interp(alpha + width, mass, moment) - np.interp(alpha, mass, moment)

    low, high = np.zeros(len(x)), np.full(len(x), mass[-1] - width)
    if np.any(window_moment(low) > need) or np.any(window_moment(high) < need):
        raise SolverError("the floor reaches not far enough for unbiased rows")
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if np.all((middle <= low) | (middle >= high)):
            break
        over = window_moment(middle) > need
        low, high = np.where(over, low, middle), np.where(over, middle, high)
    return _rows(program, outputs, floor, mass, low, width)


def _rows(program: UnbiasedProgram, y: Array, floor: Array, mass: Array, alpha: Array, width: float) -> Array:
    """Fill the windows, then settle the two fractional ends from the two equations so that no rounding is left."""
    n, growth = len(alpha), program.ratio - 1
    inside = np.minimum(mass[1:], (alpha + width)[:, None]) - np.maximum(mass[:-1], alpha[:, None])
    share = np.clip(inside / floor, 0.0, 1.0)
    first = np.clip(np.searchsorted(mass, alpha, side="right") - 1, 0, len(y) - 1)
    last = np.clip(np.searchsorted(mass, alpha + width, side="left") - 1, 0, len(y) - 1)
    last = np.maximum(last, np.minimum(first + 1, len(y) - 1))
    first = np.minimum(first, last - 1)
    i = np.arange(n)
    share[i, first] = share[i, last] = 0.0
    offsets = program.offsets(y)
    lack = (1 - floor.sum()) - growth * (share * floor).sum(1)
    lean = -(offsets @ floor) - growth * (share * floor * offsets).sum(1)
    a, b = offsets[i, first], offsets[i, last]
    right = (lean - a * lack) / (b - a)
    P = floor * (1 + growth * share)
    P[i, first] += np.clip(lack - right, 0.0, growth * floor[first])
    P[i, last] += np.clip(right, 0.0, growth * floor[last])
    return P


def two_outputs(program: UnbiasedProgram) -> tuple[Array, Array]:
    """Return outputs +-(E + 1)/(E - 1) and the rows that randomise between them: feasible for every program.

    Source: Duchi, Jordan and Wainwright (2018).
    """
    reach = (program.ratio + 1) / (program.ratio - 1)
    up = 0.5 * (1 + program.knots / reach)
    return np.array([-reach, reach]), np.column_stack([1 - up, up])
