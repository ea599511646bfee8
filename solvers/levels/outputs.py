"""Outputs for the levels program when none are given.

A grid that holds what the smallest and the largest ratio would choose for themselves comes first; then what of it has
mass, with its neighbours and the middles between. Measured with 9 knots and 3 levels, and with 33 knots and 10 levels:
the second grid costs a hundredth to two hundredths of a percent less than the first, a third or a grid four times as
fine a few thousandths less again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..arrays import Array
from ..certificate import Optimum, Progress
from ..unbiased.optimal_mechanism import solve_unbiased
from .levels_program import LevelsProgram, least_reach
from .optimal_levels import solve_levels

EVEN_OUTPUTS = 101
"""Equally spaced outputs of the first grid."""

BEYOND = 1.6
"""How far the first grid reaches, times what the smallest ratio has by itself: ties want a fifth more."""

FIRST_TOLERANCE = 1e-3
"""Relative gap of the first grid: enough to see where mass is."""

MASS = 1e-3
"""Probability, at some knot and level, from which an output of the first grid is looked at again."""

SAME = 1e-6
"""Share of the reach below which two outputs are one."""


def solve_levels_freely(
    knots: Array,
    weights: Array,
    ratios: Array,
    shares: Array,
    between: float,
    *,
    tolerance: float = 1e-4,
    progress: Callable[[Progress], None] | None = None,
) -> tuple[LevelsProgram, Optimum[Array]]:
    """Choose outputs and solve the levels program on them; the arguments are those of `LevelsProgram`.

    Parameters
    ----------
    knots, weights, ratios, shares, between
        As of `LevelsProgram`.
    tolerance, progress
        As of `solve_levels`.

    Returns
    -------
    program : LevelsProgram
        Program of the chosen outputs, for which the certificate holds.
    found : Optimum of (t, n, m) ndarray
        As of `solve_levels`.

    Raises
    ------
    InputError, SolverError
        As `LevelsProgram` and `solve_levels`.

    Example
    -------
    >>> import numpy as np
    >>> from dataclasses import replace
    >>> from optldp.solvers.levels import solve_levels, solve_levels_freely
    >>> knots, even = np.linspace(-1, 1, 5), np.array([0.5, 0.5])
    >>> program, found = solve_levels_freely(knots, np.full(5, 0.2), np.exp([0.5, 1.0]), even, np.e)
    >>> even_outputs = replace(program, outputs=np.linspace(-7, 7, 29))
    >>> round(found.value, 1), round(solve_levels(even_outputs).value, 1)
    (12.7, 12.8)
    """
    ends = (solve_unbiased(knots, weights, float(ratio), tolerance=FIRST_TOLERANCE) for ratio in ratios[[0, -1]])
    own = [best.solution.outputs for best in ends]
    low, high = least_reach(float(ratios[0]))
    reach = BEYOND * np.array([min(low, own[0][0]), max(high, own[0][-1])])
    grid = _distinct(np.concatenate([*own, np.linspace(reach[0], reach[1], EVEN_OUTPUTS)]))
    first = LevelsProgram(knots, weights, ratios, shares, between, grid)
    place = solve_levels(first, tolerance=max(tolerance, FIRST_TOLERANCE), progress=progress)
    program = replace(first, outputs=_refined(grid, place.solution, [low, *own[0], high]))
    return program, solve_levels(program, tolerance=tolerance, progress=progress)


def _refined(grid: Array, probabilities: Array, own: list[float]) -> Array:
    """Return the outputs of some mass, their neighbours and the middles between, and those that must not be missed."""
    some = np.flatnonzero(probabilities.max(axis=(0, 1)) > MASS)
    below, above = np.maximum(some - 1, 0), np.minimum(some + 1, grid.size - 1)
    middles = (grid[some] + grid[below]) / 2, (grid[some] + grid[above]) / 2
    return _distinct(np.concatenate([grid[some], grid[below], grid[above], *middles, own]))


def _distinct(outputs: Array) -> Array:
    """Return them in order, of any two that nearly agree the first."""
    ordered = np.sort(outputs)
    ordered[[0, -1]] *= 1 + 1e-9  # ends may not be lost to their neighbours, nor fall short of the reach needed
    return ordered[np.concatenate([[True], np.diff(ordered) > SAME * (ordered[-1] - ordered[0])])]
