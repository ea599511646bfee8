"""Several levels of privacy on the same outputs: tables whose reports tell little of the level that made them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from ...mechanisms.budget import inner_epsilon
from ...mechanisms.combinators.level_leakage import report_leakage
from ...mechanisms.combinators.personalised import PersonalisedMechanism
from ...mechanisms.errors import InputError
from ...mechanisms.exactness.exact_levels import make_levels_exact
from ...mechanisms.table.provenance import Provenance
from ...mechanisms.table.table import TabulatedMechanism
from ...solvers import Progress, Status
from ...solvers.certificate import Optimum, relative_gap
from ...solvers.levels.levels_program import LevelsProgram, least_reach
from ...solvers.levels.optimal_levels import solve_levels
from ...solvers.levels.outputs import solve_levels_freely
from ..levels import Levels
from ..objectives.base import Problem
from ..objectives.variance import Variance
from ..priors.checks import as_increasing
from ..priors.prior import Prior
from .result import Checked, Design

DEFAULT_TOLERANCE = 1e-4
"""Relative gap asked of the certificate; rounding stops the solver between 1e-5 and 1e-7."""


@dataclass(frozen=True)
class LevelsVariance(Variance):
    """Expected variance of one report, mean over the levels by their shares."""

    nobody = "no unbiased levels on these knots and outputs"

    @property
    def label(self) -> str:
        return "least expected variance, levels by their shares"


@dataclass(frozen=True)
class LevelsEvidence:
    """What only a design of levels knows.

    Attributes
    ----------
    expected_variances : tuple of float
        Of each level under the prior as given, squared units.
    leakage : float
        Largest log-ratio of two levels' tables as returned, at any value and output.
    outputs : int
    """

    expected_variances: tuple[float, ...]
    leakage: float
    outputs: int


@dataclass(frozen=True, eq=False)
class LevelsCertificate:
    """The program and its multipliers, and the tables: enough to prove how good they are; see `Certificate`.

    Attributes
    ----------
    problem : Problem
    program : LevelsProgram
        Of the full budgets, on the outputs that the bound is for.
    mechanism : PersonalisedMechanism
    found : Optimum of (t, n, m) ndarray
        Whose multipliers are used, and nothing else.
    """

    problem: Problem
    program: LevelsProgram
    mechanism: PersonalisedMechanism
    found: Optimum[np.ndarray]

    def check(self) -> Checked:
        """Recompute value and bound."""
        prior, half = self.problem.solved, self.problem.unit.half
        value = float(self.program.shares @ [table.expected_variance(prior.knot_prior) for table in self._tables])
        proved = self.program.bound(**self.found.multipliers)
        bound = half**2 * max(0.0, proved) + prior.rounding_variance
        return Checked(value, bound, relative_gap(value, bound), None, self.mechanism.failures())

    @property
    def _tables(self) -> tuple[TabulatedMechanism, ...]:
        return self.mechanism.levels


def design_levels(
    prior: Prior,
    levels: Levels,
    *,
    outputs: ArrayLike | None,
    uniform_share: float | None,
    tolerance: float | None,
    progress: Callable[[Progress], None] | None,
) -> Design:
    r"""Design the tables of all levels on common outputs, exact, with what a report tells of the level bounded.

    With shares s_l of the users at levels of budget epsilon_l, the mean variance sum_l s_l V_l is minimised over
    unbiased tables P_l that keep epsilon_l each and P_l(y | x) <= e^leakage P_k(y | x) for all levels, knots and
    outputs. The bound is for tables on the outputs that were chosen, or given.

    Parameters
    ----------
    prior : Prior
    levels : Levels
    outputs : (m,) array_like, optional
        The only reports there may be, increasing.
    uniform_share, tolerance, progress
        As in `design`; the default tolerance is 1e-4.

    Raises
    ------
    InputError
        Outputs on which the strictest level cannot be unbiased.

    Example
    -------
    >>> from optldp.designer import Levels, design
    >>> prior = Prior.on_knots([-1, -0.5, 0, 0.5, 1], [1, 1, 1, 1, 1], source="public")
    >>> made = design(prior, Levels([0.5, 1, 2], leakage=1.0))
    >>> made.gap < 1e-4, made.evidence.leakage <= 1.0
    (True, True)
    """
    share = Variance.uniform_share if uniform_share is None else uniform_share
    problem = Problem(prior, levels.epsilon, share, DEFAULT_TOLERANCE if tolerance is None else tolerance)
    with threadpool_limits(1, user_api="blas"):
        program, found = _solved(problem, levels, outputs, progress)
    full = replace(program, ratios=np.exp(levels.budgets), between=_ratio(levels.leakage))
    mechanism = PersonalisedMechanism(
        make_levels_exact(_tables(problem, levels, program, found), levels.leakage), levels.level_epsilon
    )
    certificate = LevelsCertificate(problem, full, mechanism, found)
    checked = certificate.check()
    variances = tuple(table.expected_variance(prior.knot_prior) for table in mechanism.levels)
    evidence = LevelsEvidence(variances, report_leakage(mechanism.levels), mechanism.levels[0].low.size)
    status = Status.of(checked.gap, problem.tolerance)
    return Design(
        prior=prior,
        privacy=levels,
        objective=LevelsVariance(),
        method="optimal",
        mechanism=mechanism,
        value=checked.value,
        bound=checked.bound,
        status=status,
        certificate=certificate,
        evidence=evidence,
        verification=None,
        seconds=0.0,
    )


def _solved(
    problem: Problem, levels: Levels, outputs: ArrayLike | None, progress: Callable[[Progress], None] | None
) -> tuple[LevelsProgram, Optimum[np.ndarray]]:
    """Solve a hair within the budgets and the leakage, so that rounding errs towards privacy."""
    ratios = np.exp([inner_epsilon(budget) for budget in levels.budgets])
    between = _ratio(max(0.0, inner_epsilon(levels.leakage)) if math.isfinite(levels.leakage) else math.inf)
    of_levels = ratios, np.array(levels.shares), between
    knots, weights = problem.unit.knots, problem.solved.weights
    if outputs is None:
        return solve_levels_freely(knots, weights, *of_levels, tolerance=problem.tolerance, progress=progress)
    given = as_increasing(outputs, "outputs")
    _require_reach(problem, levels, given, float(ratios[0]))
    program = LevelsProgram(knots, weights, *of_levels, problem.unit.places(given))
    return program, solve_levels(program, tolerance=problem.tolerance, progress=progress)


def _ratio(exponent: float) -> float:
    return math.inf if math.isinf(exponent) else math.exp(exponent)


def _tables(
    problem: Problem, levels: Levels, program: LevelsProgram, found: Optimum[np.ndarray]
) -> list[TabulatedMechanism]:
    tied = {"leakage": levels.leakage} if math.isfinite(levels.leakage) else {}
    origin = Provenance("optimal", {"unbiased": True, "tolerance": problem.tolerance, **tied})
    points = problem.unit.values(program.outputs)
    return [
        TabulatedMechanism.from_points(
            problem.prior.knots, points, rows, budget, provenance=origin, units=problem.prior.units
        )
        for budget, rows in zip(levels.budgets, found.solution, strict=True)
    ]


def _require_reach(problem: Problem, levels: Levels, outputs: np.ndarray, ratio: float) -> None:
    low, high = (float(end) for end in problem.unit.values(np.array(least_reach(ratio))))
    if not (outputs[0] <= low and outputs[-1] >= high):
        raise InputError(
            f"outputs must reach from {low:.6g} to {high:.6g} for level {levels.budgets[0]:g}, the strictest, to be "
            f"unbiased, got {outputs[0]:.6g} to {outputs[-1]:.6g}: widen them or leave that level out"
        )
