"""Exact pricing over the whole real line, and the lower bound it certifies.

F(y) = sum_i min(g_i(y), E g_i(y)) is continuous and piecewise quadratic in y; its breakpoints are the real roots
of the n quadratics g_i, at most 2n.  Where a g_i changes sign the minimum has a concave kink, so every local
minimum of F is the vertex of one of its at most 2n + 1 pieces, inside that piece: all are found, nothing is
sampled.  Cost: O(n^2) operations and memory.

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

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from .program import UnbiasedProgram

DINKELBACH_STEPS = 2
"""Improvements of the bound tried; the first usually gains a factor of two in the gap, later ones little."""

ON_EDGE = 1e-12
"""Relative rounding allowed to a vertex, some thousand roundings of a double."""

TERM_ROUNDINGS = 8
"""Roundings of one term of F, each by half an epsilon; adding up n terms makes n more.  The bound allows for all."""


@dataclass(frozen=True, eq=False)
class Pricing:
    """The local minima of F over the real line.

    Attributes
    ----------
    outputs : (k,) ndarray
        Where they are, increasing.
    values : (k,) ndarray
        F there; dual feasibility is values.min() >= 0.
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

    Example
    -------
    >>> import numpy as np
    >>> program = UnbiasedProgram(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), np.e)
    >>> bool(price(program, np.zeros(2), np.zeros(2)).values.min() > 0)
    True
    """
    x, p, E = program.knots, program.weights, program.ratio
    breaks = _roots(x, p, lam, nu)
    if len(breaks) == 0:
        inside = np.array([0.0])
    else:
        inside = np.concatenate([[breaks[0] - 1], 0.5 * (breaks[1:] + breaks[:-1]), [breaks[-1] + 1]])
    g = program.reduced_costs(program.offsets(inside), lam, nu)
    pattern = np.where(g < 0, E, 1.0)
    weight = pattern.T @ p
    vertex = (pattern.T @ (p * x + 0.5 * nu)) / weight
    edges = np.concatenate([[-np.inf], breaks, [np.inf]])
    # Rounding can put a vertex that lies on a breakpoint outside both of its pieces, by a share of what it sums.
    slack = ON_EDGE * (1 + (pattern.T @ (p * np.abs(x) + 0.5 * np.abs(nu))) / weight)
    outputs = np.unique(vertex[(vertex >= edges[:-1] - slack) & (vertex <= edges[1:] + slack)])
    return Pricing(outputs, program.column_values(program.reduced_costs(program.offsets(outputs), lam, nu)))


def _roots(x: Array, p: Array, lam: Array, nu: Array) -> Array:
    """Return the sorted distinct real roots of all g_i (of degree one where p_i = 0)."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        root = np.sqrt(nu * nu + 4 * p * lam)
        far = 0.5 * (nu + np.copysign(root, nu))
        roots = np.concatenate([x + far / p, x - lam / far])
    return np.unique(roots[np.isfinite(roots)])


def certified_bound(program: UnbiasedProgram, lam: Array, nu: Array) -> float:
    """Return a lower bound on the objective of every unbiased mechanism on these knots, any real outputs.

    Valid for any multipliers, by exact pricing; see the module's text for the proof.

    Example
    -------
    >>> import numpy as np
    >>> program = UnbiasedProgram(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), np.e)
    >>> certified_bound(program, np.zeros(2), np.zeros(2)) <= 0
    True
    """
    best, unit = -np.inf, (TERM_ROUNDINGS + len(lam)) * np.finfo(np.float64).eps / 2
    for _ in range(1 + DINKELBACH_STEPS):
        pricing = price(program, lam, nu)
        offsets = program.offsets(pricing.outputs)
        size = program.weights[:, None] * offsets**2 + np.abs(lam)[:, None] + np.abs(nu[:, None] * offsets)
        rounding = unit * size
        pattern = np.where(program.reduced_costs(offsets, lam, nu) < rounding, program.ratio, 1.0)
        values = pricing.values - (pattern * rounding).sum(0)
        best = max(best, float(lam.sum() - unit * np.abs(lam).sum() + min(0.0, values.min())))
        if values.min() >= 0:
            break
        lam = lam + (values / pattern.sum(0)).min()
    return best
