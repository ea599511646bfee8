"""The least expected variance of one report under the prior, with free outputs: the heart of the library.

The prior's knots are mapped to [-1, 1], the program of `optldp.solvers.unbiased` is solved there with a budget a hair
below epsilon (`inner_epsilon`), and the result is mapped back. Variances scale with the squared half-width; the
variance that rounding to knots adds is the same for every mechanism and is added to value and bound alike.

That is for pure privacy and free outputs. Any other promise of pairs, given outputs and the general way are solved as
the unbiased squared `Loss`, which is the same objective.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from ...mechanisms.compact_tables import FloorForm, form_over
from ...mechanisms.errors import SolverError, TableError
from ...mechanisms.promise import OfPairs, Pure
from ...mechanisms.table.provenance import Provenance
from ...mechanisms.table.table import TabulatedMechanism
from ...mechanisms.units import squared, units_label
from ...solvers import certified_bound, solve_unbiased
from ...solvers.unbiased.optimal_mechanism import solve_floor
from ...solvers.unbiased.unbiased_program import UnbiasedProgram
from ..priors.prior import DEFAULT_UNIFORM_SHARE
from .accelerators import Accelerator, solved
from .at_most import few_outputs
from .base import Objective, Problem, Solution, Told

if TYPE_CHECKING:
    from .losses.loss import Loss

LARGE = 256
"""Knots beyond which a floor form is made without a table: up to there solvers make tables of fewer outputs."""

MOST_AGAIN = 65
"""Knots up to which an open gap is tried to be closed by the solver for all problems, in some seconds."""


@dataclass(frozen=True)
class Variance(Objective):
    """Expected variance of one report under the prior, rounding between knots included; squared units.

    Example
    -------
    >>> from optldp import Variance
    >>> from optldp.designer import Prior, design
    >>> prior = Prior.on_knots([-1, -0.5, 0, 0.5, 1], [0, 1, 2, 1, 0], source="public")
    >>> made, duchi = design(prior, 1.0, objective=Variance()), design(prior, 1.0, method="duchi")
    >>> round(made.value, 3), round(made.bound, 3), round(duchi.value, 3)
    (3.665, 3.665, 4.557)
    """

    any_knots = True
    takes_outputs = True
    takes_most = True
    has_general = True
    promises = (Pure, OfPairs)
    of_variance = True
    uniform_share = DEFAULT_UNIFORM_SHARE

    @property
    def key(self) -> str:
        return "expected"

    @property
    def label(self) -> str:
        return "least expected variance"

    def quantity(self, units: str) -> str:
        return units_label("expected variance of one report", squared(units))

    def check(self, problem: Problem) -> None:
        if general := as_loss(problem):
            general.check(problem)

    def solve(self, problem: Problem, progress: Told = None) -> Solution:
        # Threads of a second core mostly wait for each other at these sizes, and far longer on a busy machine: at 401
        # knots one thread took 42 s where two took 135 s beside another process.
        with threadpool_limits(1, user_api="blas"):
            return solved(problem, self, self.ways(), progress)

    def ways(self) -> list[Accelerator]:
        """Return who can solve it: a floor of many knots, the barrier on the output line, and who solves a loss."""
        return [
            Accelerator("floor", lambda problem: is_plain(problem) and _of_floor(problem), _floor),
            Accelerator("barrier", is_plain, self._by_barrier),
            Accelerator("channel", takes_long_way, lambda problem, progress: by_loss(problem, 0.0, progress)),
        ]

    def _by_barrier(self, problem: Problem, progress: Told) -> Solution:
        weights = problem.solved.weights
        best = solve_unbiased(
            problem.unit.knots,
            weights,
            problem.inner_ratio,
            tolerance=problem.tolerance,
            progress=progress,
        )
        rows = few_outputs(problem, best.solution, 0.0)
        table = problem.table(*rows, _origin(problem))
        return Solution(table, best.multipliers, best.status, aside={"steps": best.steps})

    def value(self, mechanism: TabulatedMechanism | FloorForm, problem: Problem) -> float:
        if general := as_loss(problem):
            general.require_outputs(mechanism, problem)
        solved = problem.solved
        if not np.array_equal(mechanism.knots, solved.knots):
            solved = solved.coarsened(mechanism.knots)
        return mechanism.expected_variance(solved.knot_prior)

    def bound(self, problem: Problem, multipliers: Mapping[str, np.ndarray]) -> float:
        if general := as_loss(problem):
            return general.bound(problem, multipliers) + problem.solved.rounding_variance
        program = UnbiasedProgram(problem.unit.knots, problem.solved.weights, problem.ratio)
        found = certified_bound(program, **multipliers)
        return problem.unit.half**2 * found + problem.solved.rounding_variance

    def title(self, made: Any) -> str:
        most = made.certificate.problem.most
        return "optimal mechanism" if most is None else f"mechanism of at most {most} outputs"

    def facts(self, made: Any) -> dict[str, Any]:
        return {
            "expected_variance": made.expected_variance,
            "program_variance": made.value,
            "program_lower_bound": made.bound,
            "lower_bound": made.certificate.as_given.bound(),
        }


def as_loss(problem: Problem, worst: float = 0.0) -> Loss | None:
    """Return what has the same number for every unbiased table, where it is the one to solve; None for `unbiased`."""
    return None if is_plain(problem) else _loss(worst)


def is_plain(problem: Problem) -> bool:
    """Whether solvers of `unbiased` may solve it: pure privacy, and outputs wherever they are best."""
    return isinstance(problem.privacy, Pure) and problem.outputs is None and not problem.general


def takes_long_way(problem: Problem) -> bool:
    """Whether who solves a loss is to be asked: of plain problems only where that ends while one waits."""
    return not is_plain(problem) or problem.prior.knots.size <= MOST_AGAIN


def by_loss(problem: Problem, worst: float, progress: Told) -> Solution:
    """Return the solution of the unbiased squared loss, with multipliers as the objective takes them for the problem.

    Those of a plain problem are of the mapped knots: squares shrink by half the width, twice, offsets once.
    """
    found = _loss(worst).solve(problem, progress)
    if not is_plain(problem):
        return found
    half, told = problem.unit.half, found.multipliers
    mapped = {"lam": told["lam"] / half**2, "nu": told["nu"] / half}
    return replace(found, multipliers=mapped | ({"rho": np.maximum(told["worst"], 0.0)} if worst else {}))


def _loss(worst: float) -> Loss:
    from .losses.loss import Loss  # with HiGHS, which no other design waits for

    return Loss("squared", worst, unbiased=True)


def _of_floor(problem: Problem) -> bool:
    return problem.as_floor and problem.most is None and problem.prior.knots.size > LARGE


def _origin(problem: Problem) -> Provenance:
    return Provenance("optimal", {"unbiased": True, "tolerance": problem.tolerance})


def _floor(problem: Problem, progress: Told) -> Solution:
    """Return the floor form of the optimum; SolverError where none is found that whole numbers can stand on."""
    knots, weights = problem.unit.knots, problem.solved.weights
    best = solve_floor(knots, weights, problem.inner_ratio, tolerance=problem.tolerance, progress=progress)
    if best is None:
        raise SolverError("no floor was found that a table can stand on")
    prior = problem.prior
    try:
        form = form_over(
            prior.knots,
            problem.unit.values(best.solution.outputs),
            best.solution.masses,
            problem.epsilon,
            provenance=_origin(problem),
            prior=prior.knot_prior,
            units=prior.units,
        )
    except TableError as error:
        raise SolverError(str(error)) from None
    return Solution(form, best.multipliers, best.status, aside={"steps": best.steps})
