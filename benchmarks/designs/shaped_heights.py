"""The heights that a density over a uniform floor should have, as a linear program: OPTT's first question.

On cells of a uniform floor of density q the density may have any height between q and E q.  For one row that is a
linear program with two equations, its mass and its mean; the cost, the second moment, is convex in the place.  Hence
all heights but two are q or E q, whatever the number of cells: see docs/theory/shaped.md for what follows.

Source: Ma, Zhu and Wang (OPTT), eq. (8), with its functions f_j free.
"""

from __future__ import annotations

import numpy as np
from optldp.solvers.arrays import Array
from optldp.solvers.linear_program import LinearProgram, solve_linear_program
from scipy import sparse


def cheapest_heights(edges: Array, density: float, ratio: float, mass: float, moment: float) -> tuple[Array, float]:
    """Return the heights (c,) in units of the floor, each in [1, E], and the second moment of what they add to it.

    Parameters
    ----------
    edges : (c + 1,) ndarray
        Of the cells that may be higher than the floor, increasing.
    density : float
        q, of the floor.
    ratio : float
        E = e^epsilon.
    mass, moment : float
        What the heights must add to the floor's: the integrals of 1 and y.

    Raises
    ------
    SolverError
        The cells have no room for this mass and moment.

    Example
    -------
    >>> heights, second = cheapest_heights(np.linspace(-2, 2, 9), 0.0625, 3.0, 0.25, 0.0)
    >>> heights.round(6).tolist(), round(second, 6)
    ([1.0, 1.0, 3.0, 3.0, 3.0, 3.0, 1.0, 1.0], 0.083333)
    """
    low, high = edges[:-1], edges[1:]
    room = (ratio - 1) * density * (high - low)
    scale = float(np.abs(edges).max())
    middle = (low + high) / 2
    second = middle**2 + (high - low) ** 2 / 12
    target = np.array([mass, moment / scale])
    solved = solve_linear_program(
        LinearProgram(
            cost=room * second / scale**2,
            matrix=sparse.csc_array(np.vstack([room, room * middle / scale])),
            row_lower=target,
            row_upper=target,
            lower=np.zeros(room.size),
            upper=np.ones(room.size),
        ),
        solver="simplex",
    )
    return 1 + (ratio - 1) * solved.x, float(solved.x * room @ second)
