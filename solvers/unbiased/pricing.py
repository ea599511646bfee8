"""Exact pricing over the whole real line, and the lower bound it certifies.

F(y) = sum_i min(g_i(y), E g_i(y)) is continuous and piecewise quadratic in y; its breakpoints are the real roots
of the n quadratics g_i, at most 2n.  Where a g_i changes sign the minimum has a concave kink, so every local
minimum of F is the vertex of one of its at most 2n + 1 pieces, inside that piece: all are found, nothing is
sampled.  Cost: O(n log n) operations, O(n) memory (`pieces`).

**The bound.**  A mechanism is a sum of columns theta (c_1, ..., c_n) at outputs y with theta >= 0 and
1 <= c_i <= E.  For any multipliers its cost minus sum lambda is sum theta sum_i c_i g_i(y).  The rows sum to one,
so sum theta sum_i c_i = n, hence sum theta <= 1 and

    cost >= sum_i lambda_i + min(0, min over y of F(y))

for EVERY unbiased mechanism on these knots with ANY real outputs.  The bound holds for any multipliers, so where
F dips below zero we also try all lambda_i lowered by tau = max -F(y) / sum_i c_i(y) (Dinkelbach's step for the
ratio of the two sums): it gives up n tau, at most what min F does, and usually half.

Source: linear programming duality with a continuum of columns; the step is Dinkelbach's (1967).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from .pieces import UNIT, pieces
from .unbiased_program import UnbiasedProgram

DINKELBACH_STEPS = 2
"""Improvements of the bound tried; the first usually gains a factor of two in the gap, later ones little."""

ON_EDGE = 1e-12
"""Relative rounding allowed to a vertex, some thousand roundings of a double."""

SUM_ROUNDINGS = 4
"""Roundings of sum lambda + min F, each by half an epsilon."""


@dataclass(frozen=True, eq=False)
class Pricing:
    """The local minima of F over the real line.

    Attributes
    ----------
    outputs : (k,) ndarray
        Where they are, increasing.
    values : (k,) ndarray
        F there; dual feasibility is values.min() >= 0.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers import UnbiasedProgram, price
    >>> program = UnbiasedProgram(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), np.e)
    >>> found = price(program, np.zeros(2), np.zeros(2))
    >>> found.outputs, found.values.round(3)
    (array([0.]), array([1.]))
    """

    outputs: Array
    values: Array


def price(program: UnbiasedProgram, lam: Array, nu: Array) -> Pricing:
    """Find every local minimum of F exactly.

    Parameters
    ----------
    program : UnbiasedProgram
    lam, nu : (n,) ndarray
        Multipliers of normalisation and unbiasedness.

    Returns
    -------
    minima : Pricing

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers import UnbiasedProgram, price
    >>> program = UnbiasedProgram(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), np.e)
    >>> price(program, np.zeros(2), np.zeros(2)).values.round(3)
    array([1.])
    """
    found = pieces(program, lam, nu)
    vertices = found.vertices
    # Rounding can put a vertex that lies on a breakpoint outside both of its pieces, by a share of what it sums.
    slack = ON_EDGE * (1 + found.linear_size / found.quadratic)
    inside = (vertices >= found.edges[:-1] - slack) & (vertices <= found.edges[1:] + slack)
    outputs, which = np.unique(vertices[inside], return_index=True)
    return Pricing(outputs, found.values(vertices)[inside][which])


def certified_bound(program: UnbiasedProgram, lam: Array, nu: Array) -> float:
    """Return a lower bound on the objective of every unbiased mechanism on these knots, any real outputs.

    Valid for any multipliers, by exact pricing; see the module's text for the proof.

    Parameters
    ----------
    program : UnbiasedProgram
    lam, nu : (n,) ndarray
        Multipliers of normalisation and unbiasedness; any numbers.

    Returns
    -------
    bound : float
        Squared units of the program's scale.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers import UnbiasedProgram, certified_bound
    >>> from optldp.solvers import solve_unbiased
    >>> program = UnbiasedProgram(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), np.e)
    >>> best = solve_unbiased(program.knots, program.weights, program.ratio)
    >>> round(certified_bound(program, **best.multipliers), 4), round(best.value, 4)
    (3.6827, 3.6827)
    """
    best = -np.inf
    for _ in range(1 + DINKELBACH_STEPS):
        found = pieces(program, lam, nu)
        values, total = found.lower(), math.fsum(lam)
        least = min(0.0, float(values.min()))
        best = max(best, total + least - SUM_ROUNDINGS * UNIT * (abs(total) - least))
        if least == 0 or not np.isfinite(least):
            break
        lam = lam + (values / found.sums).min()
    return best
