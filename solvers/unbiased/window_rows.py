"""The best rows for a given floor, in closed form.

Fix the floor t_y of every output.  The rows then decouple: row i must add (E - 1) t_y-capped mass s to t so that it
sums to one with mean x_i, at least cost sum (y - x_i)^2 s.  The cost is convex in y, so the mass fills the caps on a
run of neighbouring outputs, with fractions at its two ends only: in the coordinate of cumulative floor,

    row i is E t on a window [alpha_i, alpha_i + omega] and t outside,    omega = (1 - sum t)/(E - 1),

of the same width for every row, at the place alpha_i that gives mean x_i.  The mean is increasing and piecewise linear
in alpha, so alpha_i is found by interpolation; the two fractional ends then follow from the two equations.  Hence an
optimal unbiased mechanism is determined by its floor alone: it is a piecewise mechanism whose window has constant mass
under a base measure of its own.

The result is optimal for the floor whatever the prior, also at knots of prior weight zero.

Source: derived here; it is the Neyman-Pearson argument applied to each row.
"""

from __future__ import annotations

import numpy as np

from ...mechanisms.errors import SolverError
from ..arrays import Array, Indices
from ..barrier.windows import Windows
from .unbiased_program import UnbiasedProgram

LARGEST_STRETCH = 1e-7
"""Relative stretch of the outputs allowed; it costs 2e-7 of E[Y^2], which the certificate would show."""

ROUNDING = 8 * float(np.finfo(np.float64).eps)
"""A floor may fall short of a knot by this, per unit of the outermost output."""


def stretched_rows(program: UnbiasedProgram, outputs: Array, floor: Array) -> tuple[Array, Array]:
    """Return (outputs, rows) over the floor, the outputs stretched by the least that makes the rows exist.

    An optimal floor reaches the outermost knots with nothing to spare, so rounding can leave it a hair short.

    Raises
    ------
    SolverError
        No unbiased rows exist even after stretching.
    """
    low, high = _windows(program, outputs, floor).reach
    if not low < 0 < high:
        raise SolverError("the floor must reach to both sides of zero")
    stretch = max(1.0, program.knots[0] / low, program.knots[-1] / high)
    if stretch > 1 + LARGEST_STRETCH:
        raise SolverError("the floor reaches not far enough for unbiased rows")
    return outputs * stretch, window_rows(program, outputs * stretch, floor)


def _windows(program: UnbiasedProgram, outputs: Array, floor: Array) -> Windows:
    windows = Windows(program.ratio, outputs, floor)
    if not windows.exist:
        raise SolverError("the floor's total mass admits no normalised rows")
    return windows


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
    x, windows = program.knots, _windows(program, outputs, floor)
    reach, slack = windows.reach, ROUNDING * np.abs(outputs).max()
    if x[0] < reach[0] - slack or x[-1] > reach[1] + slack:
        raise SolverError("the floor reaches not far enough for unbiased rows")
    low = windows.starts(x)
    first = np.searchsorted(windows.mass, low, side="right") - 1
    last = np.searchsorted(windows.mass, low + windows.width, side="left") - 1
    return _rows(program, outputs, floor, first, last)


def _rows(program: UnbiasedProgram, outputs: Array, floor: Array, first: Indices, last: Indices) -> Array:
    """Return E t between the ends of each window, t outside it, and at the ends what the two equations ask for."""
    cap, m = (program.ratio - 1) * floor, len(outputs)
    offsets = program.offsets(outputs)
    i, position = np.arange(len(first)), np.arange(m)
    first = np.clip(first, 0, m - 2)
    last = np.clip(last, first + 1, m - 1)
    full = cap * ((position > first[:, None]) & (position < last[:, None]))
    lack = 1 - floor.sum() - full.sum(1)
    lean = -(offsets @ floor) - (full * offsets).sum(1)
    a, b = offsets[i, first], offsets[i, last]
    # Where the ends lie a hair apart their shares are known to few digits.  What that rounding leaves goes to the
    # mean, which it then hardly moves, and never to the sum or beyond the ratio.
    right = np.clip((lean - a * lack) / (b - a), 0, cap[last])
    left = np.clip(lack - right, 0, cap[first])
    P = floor + full
    P[i, first] += left
    P[i, last] += np.clip(lack - left, 0, cap[last])
    return P


def two_outputs(program: UnbiasedProgram) -> tuple[Array, Array]:
    """Return outputs +-(E + 1)/(E - 1) and the rows that randomise between them: feasible for every program.

    Source: Duchi, Jordan and Wainwright (2018).
    """
    E, x = program.ratio, program.knots[:, None]
    reach = (E + 1) / (E - 1)
    # A floor of 1/(E + 1) and its multiple: the difference 1 - P would lose the digits of a ratio near E.
    shares = 0.5 * np.hstack([1 - x, 1 + x])
    return np.array([-reach, reach]), (1 + (E - 1) * shares) / (E + 1)
