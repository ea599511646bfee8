"""The least expected variance of one report under the prior, with free outputs: the heart of the library.

The prior's knots are mapped to [-1, 1], the program of `optldp.solvers.unbiased` is solved there with a budget a hair
below epsilon (`inner_epsilon`), and the result is mapped back. Variances scale with the squared half-width; the
variance that rounding to knots adds is the same for every mechanism and is added to value and bound alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from ...mechanisms.table.provenance import Provenance
from ...mechanisms.table.table import TabulatedMechanism
from ...mechanisms.units import squared, units_label
from ...solvers import certified_bound, solve_unbiased
from ...solvers.unbiased.program import UnbiasedProgram
from ..priors.prior import DEFAULT_UNIFORM_SHARE
from .base import Objective, Problem, Solution, Told


@dataclass(frozen=True)
class Variance(Objective):
    """Expected variance of one report under the prior, rounding between knots included; squared units.

    Example
    -------
    >>> from optldp.designer import Prior, design
    >>> prior = Prior.on_knots([-1, -0.5, 0, 0.5, 1], [0, 1, 2, 1, 0], source="public")
    >>> made = design(prior, 1.0, objective=Variance())
    >>> made.gap < 1e-6, made.value < design(prior, 1.0, method="duchi").value
    (True, True)
    """

    any_knots = True
    uniform_share = DEFAULT_UNIFORM_SHARE

    @property
    def key(self) -> str:
        return "expected"

    @property
    def label(self) -> str:
        return "least expected variance"

    def quantity(self, units: str) -> str:
        return units_label("expected variance of one report", squared(units))

    def solve(self, problem: Problem, progress: Told = None) -> Solution:
        # Threads of a second core mostly wait for each other at these sizes, and far longer on a busy machine: at 401
        # knots one thread took 42 s where two took 135 s beside another process.
        with threadpool_limits(1, user_api="blas"):
            best = solve_unbiased(
                problem.unit.knots,
                problem.solved.weights,
                problem.inner_ratio,
                tolerance=problem.tolerance,
                progress=progress,
            )
        origin = Provenance("optimal", {"unbiased": True, "tolerance": problem.tolerance})
        table = problem.table(best.outputs, best.probabilities, origin)
        return Solution(table, {"lam": best.lam, "nu": best.nu}, best.status, aside={"steps": best.steps})

    def value(self, mechanism: TabulatedMechanism, problem: Problem) -> float:
        solved = problem.solved
        if not np.array_equal(mechanism.knots, solved.knots):
            solved = solved.coarsened(mechanism.knots)
        return mechanism.expected_variance(solved.knot_prior)

    def bound(self, problem: Problem, multipliers: Mapping[str, np.ndarray]) -> float:
        program = UnbiasedProgram(problem.unit.knots, problem.solved.weights, problem.ratio)
        found = certified_bound(program, multipliers["lam"], multipliers["nu"])
        return problem.unit.half**2 * found + problem.solved.rounding_variance
