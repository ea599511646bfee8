"""A strictly feasible point to start from.

Primal: a tilted base, P[i, y] = base_y (1 + x_i sign(y) / E_base|y|) on symmetric outputs.  It is unbiased, and its
columns stay strictly inside the ratio bound when E_base|y| > (E + 1)/(E - 1), which base_y ~ |y|^k reaches for some k
if the outermost output is farther out than that.  Dual: lambda_i = -L w_i, nu = 0, feasible for any L >= 0.
"""

from __future__ import annotations

import numpy as np

from ...mechanisms.errors import SolverError
from ..arrays import Array
from .dual_centring import centre_slacks
from .interior_point import Iterate
from .unbiased_program import UnbiasedProgram

REACH = 1.6
"""Outermost starting output in units of (E + 1)/(E - 1), Duchi's output: wide enough for a flat base."""

INSIDE = 1.15
"""E_base|y| aimed at, in the same units: how far inside the ratio bound the start lies."""

LARGEST_POWER = 60.0
"""Of |y| in the floor of a start: from there on all but the outermost outputs have next to no mass."""


def starting_outputs(program: UnbiasedProgram, count: int) -> Array:
    """Return `count` equally spaced outputs, symmetric to the last bit, that admit a strictly feasible start."""
    reach = REACH * (program.ratio + 1) / (program.ratio - 1)
    outputs = np.linspace(-reach, reach, count)
    return 0.5 * (outputs - outputs[::-1])  # rounding would put a middle output beside 0


def starting_point(program: UnbiasedProgram, outputs: Array) -> Iterate:
    """Return a strictly interior iterate on the given outputs (symmetric around 0, knots in [-1, 1]).

    Raises
    ------
    SolverError
        The outputs do not reach far enough beyond (E + 1)/(E - 1).
    """
    E = program.ratio
    aim = INSIDE * (E + 1) / (E - 1)
    size = np.abs(outputs) / np.abs(outputs).max()
    power = 0.0
    while True:
        base = size**power
        base /= base.sum()
        if base @ np.abs(outputs) >= aim:
            break
        power += 0.25
        if power > LARGEST_POWER:
            raise SolverError(
                f"outputs must reach beyond {aim:.4g} times the half-width of the domain to start, "
                f"got {np.abs(outputs).max():.4g}"
            )
    # An interior point begins inside: no output starts without mass.
    base = np.maximum(base, 1e-6 * base.max())
    base /= base.sum()
    tilt = np.sign(outputs) / (base @ np.abs(outputs))
    P = base * (1 + program.knots[:, None] * tilt)
    t = base * (2 / (1 + E))
    lam = -program.objective(outputs, P) * program.barrier_weights
    nu = np.zeros_like(lam)
    g = program.reduced_costs(program.offsets(outputs), lam, nu)
    zs, zu, _ = centre_slacks(g, E, program.barrier_weights)
    return Iterate(outputs, lam, nu, t, P - t, E * t - P, zs, zu)
