"""The least worst-case variance, and what lies between it and the least expected variance.

The certificate is for the knots, so it holds for the domain that they lie in: no unbiased epsilon-LDP mechanism there
has a smaller worst case. Between two knots a table rounds at random, which adds up to a quarter of their squared
distance. A minimax design is level on most of the domain, so its largest variance over the domain is above the one at
the knots by that; more knots make it small, see `minimax_knots`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from threadpoolctl import threadpool_limits

from ...mechanisms.errors import InputError
from ...mechanisms.promise import OfPairs, Pure
from ...mechanisms.table.provenance import Provenance
from ...mechanisms.table.table import TabulatedMechanism
from ...mechanisms.units import squared, units_label
from ...solvers.robust.minimax import solve_minimax
from ...solvers.robust.minimax_program import MinimaxProgram
from ..priors.checks import as_knots
from ..priors.prior import Prior
from .accelerators import Accelerator, solved
from .at_most import few_outputs
from .base import Objective, Problem, Solution, Told
from .registry import Asker
from .variance import as_loss, by_loss, is_plain, takes_long_way

DEFAULT_EXCESS = 1e-4
"""Share of the worst case that rounding between knots may add: below what a million reports could show."""

WEIGHT_ROUNDING = 1e-9
"""By how much two weights may miss one: far more than their rounding, far less than anybody means."""

TRIAL_KNOTS = 17
"""Knots of the trial design in `minimax_knots`: up to epsilon 4 its worst case is within a percent of that on many."""


@dataclass(frozen=True, eq=False)
class WorstCaseEvidence:
    """What a design against the worst case shows beside its value.

    Attributes
    ----------
    least_favourable : (n,) ndarray
        Multipliers of the variances, as weights that sum to one. For the worst case alone this is the prior behind the
        bound: the best expected variance under it is the least worst case. For a trade-off, (1 - worst) prior + worst
        times these is.
    worst_value : float
        A value that attains the largest variance over the domain.
    worst_knot_variance : float
        Largest at a knot; squared units.
    between_knots : float
        Share by which the largest variance over the domain is above the largest one at a knot.
    """

    least_favourable: np.ndarray
    worst_value: float
    worst_knot_variance: float
    between_knots: float


@dataclass(frozen=True)
class TradeOff(Objective):
    """(1 - worst) times the expected variance plus worst times the largest variance at a knot; squared units.

    An optimum for a prior may treat rare values badly, and a minimax design ignores the prior. Weighting the two gives
    the Pareto front between them.

    Parameters
    ----------
    worst : float
        Weight of the worst case, in (0, 1]; for 0 see `Variance`.
    expected : float, optional
        Weight of the expected variance: 1 - worst, which is the default.

    Raises
    ------
    InputError
        No weight of the worst case, one out of range, or weights that do not sum to one.

    Example
    -------
    >>> from optldp import Prior
    >>> from optldp.designer import TradeOff, design
    >>> prior = Prior.on_knots([-1, -0.5, 0, 0.5, 1], [0, 1, 2, 1, 0], source="public")
    >>> some, more = (design(prior, 2.0, objective=TradeOff(worst)) for worst in (0.1, 0.9))
    >>> [(round(made.expected_variance, 3), round(made.evidence.worst_knot_variance, 3)) for made in (some, more)]
    [(0.639, 0.989), (0.857, 0.857)]
    """

    worst: float = math.nan
    expected: float | None = None
    of_variance = True
    takes_outputs = True
    takes_most = True
    has_general = True
    promises = (Pure, OfPairs)

    def __post_init__(self) -> None:
        if math.isnan(self.worst):
            raise InputError("a trade-off must be told the worst case's weight, got none: TradeOff(worst=0.5)")
        if not 0 < self.worst <= 1:
            raise InputError(f"the worst case's weight must lie in (0, 1], got {self.worst!r}")
        if self.expected is not None and not abs(self.expected + self.worst - 1) <= WEIGHT_ROUNDING:
            raise InputError(
                f"the weights of expected variance and worst case must sum to 1, got {self.expected!r} and "
                f"{self.worst!r}: give the worst case's alone"
            )
        object.__setattr__(self, "expected", 1 - self.worst)

    @classmethod
    def of_options(cls, options: Mapping[str, Any], asker: Asker) -> Self:
        worst, expected = options.get("worst"), options.get("expected")
        if worst is None and expected is None:
            raise InputError("--objective trade-off needs the worst case's weight, in (0, 1]: write trade-off:0.3")
        return cls(1 - (expected or 0.0) if worst is None else worst, expected)

    @property
    def key(self) -> str:
        return "trade-off"

    @property
    def label(self) -> str:
        return f"{1 - self.worst:g} expected and {self.worst:g} worst-case variance"

    def quantity(self, units: str) -> str:
        return units_label(f"{1 - self.worst:g} expected + {self.worst:g} worst-case variance", squared(units))

    def check(self, problem: Problem) -> None:
        if general := as_loss(problem, self.worst):
            general.check(problem)

    def solve(self, problem: Problem, progress: Told = None) -> Solution:
        with threadpool_limits(1, user_api="blas"):  # as in `Variance`
            return solved(problem, self, self.ways(), progress)

    def ways(self) -> list[Accelerator]:
        """Return who can solve it: the levelled barrier on the output line, and who solves a loss."""
        return [
            Accelerator("barrier", is_plain, self._by_barrier),
            Accelerator("channel", takes_long_way, lambda problem, progress: by_loss(problem, self.worst, progress)),
        ]

    def _by_barrier(self, problem: Problem, progress: Told) -> Solution:
        best = solve_minimax(
            problem.unit.knots,
            problem.inner_ratio,
            prior=problem.solved.weights,
            share=self.worst,
            tolerance=problem.tolerance,
            progress=progress,
        )
        rows = few_outputs(problem, best.solution, self.worst)
        origin = Provenance("minimax", {"unbiased": True, "weight": self.worst, "tolerance": problem.tolerance})
        return Solution(problem.table(*rows, origin), best.multipliers, best.status)

    def value(self, mechanism: TabulatedMechanism, problem: Problem) -> float:
        if general := as_loss(problem, self.worst):
            general.require_outputs(mechanism, problem)
        expected = mechanism.expected_variance(problem.solved.knot_prior) if self.worst < 1 else 0.0
        own = np.array_equal(mechanism.knots, problem.prior.knots)  # a table on some of them rounds to those first
        at_knots = mechanism.knot_variances if own else mechanism.var(problem.prior.knots)
        return (1 - self.worst) * expected + self.worst * float(at_knots.max())

    def bound(self, problem: Problem, multipliers: Mapping[str, np.ndarray]) -> float:
        rounding = (1 - self.worst) * problem.solved.rounding_variance
        if general := as_loss(problem, self.worst):
            return general.bound(problem, multipliers) + rounding
        program = MinimaxProgram(problem.unit.knots, problem.solved.weights, problem.ratio, self.worst)
        return problem.unit.half**2 * program.bound(**multipliers) + rounding

    def evidence(self, problem: Problem, mechanism: TabulatedMechanism, solution: Solution) -> WorstCaseEvidence:
        rho = solution.multipliers["worst" if as_loss(problem, self.worst) else "rho"]
        at_knot = float(mechanism.knot_variances.max())
        worst, where = mechanism.worst_case_variance()
        return WorstCaseEvidence(rho / rho.sum(), where, at_knot, worst / at_knot - 1)

    def parameters(self) -> dict[str, Any]:
        return {"expected": self.expected, "worst": self.worst}

    def facts(self, made: Any) -> dict[str, Any]:
        return {
            "weighted_variance": made.value,
            "lower_bound": made.bound,
            "expected_variance": made.expected_variance,
            "worst_knot_variance": made.evidence.worst_knot_variance,
        }


@dataclass(frozen=True)
class WorstCase(TradeOff):
    """The largest variance of one report at a knot; no prior, so no data, goes into the mechanism; squared units.

    Its bound holds for the worst case over the whole domain too, of tables and of any other mechanism.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import Prior, WorstCase
    >>> from optldp.designer import design
    >>> from optldp.mechanisms import FAMILIES
    >>> best = design(Prior.even(np.linspace(0, 100, 21)), 1.0, objective=WorstCase())
    >>> rivals = [FAMILIES[name](best.mechanism.knots, 1.0).worst_case_variance()[0] for name in ("duchi", "hybrid")]
    >>> round(best.worst_case_variance), [round(float(rival)) for rival in rivals]
    (9982, [11707, 10729])
    """

    worst: float = field(default=1.0, init=False)
    expected: float | None = field(default=0.0, init=False)
    uses_prior = False
    any_knots = True

    @classmethod
    def of_options(cls, options: Mapping[str, Any], asker: Asker) -> Self:
        return cls()

    @property
    def key(self) -> str:
        return "minimax"

    @property
    def label(self) -> str:
        return "least worst-case variance"

    def quantity(self, units: str) -> str:
        return units_label("largest variance of one report", squared(units))

    def parameters(self) -> dict[str, Any]:
        return {}

    def facts(self, made: Any) -> dict[str, Any]:
        return {
            "worst_case_variance": made.worst_case_variance,
            "worst_knot_variance": made.value,
            "lower_bound": made.bound,
            "worst_case_lower_bound": made.bound,
            "between_knots": made.evidence.between_knots,
            "expected_variance": None,  # the design's prior is of no values
        }


def minimax_knots(low: float, high: float, epsilon: float, *, excess: float = DEFAULT_EXCESS) -> np.ndarray:
    """Return equally spaced knots, so many that rounding between them adds little to the least worst case.

    Rounding adds at most h^2/4 between knots h apart. It is held below `excess` times a certified bound b on the worst
    case over the domain, from a trial design on few knots: n - 1 = width / (2 sqrt(excess b)), rounded up.

    Parameters
    ----------
    low, high : float
        The domain.
    epsilon : float
    excess : float
        Positive; the share of the worst case that may be added.

    Example
    -------
    >>> [len(minimax_knots(-1, 1, epsilon)) for epsilon in (1.0, 2.0)]
    [52, 109]
    """
    if not excess > 0:
        raise InputError(f"excess must be positive, got {excess!r}: use a small share such as 1e-4")
    # The trial only says how fast the gap falls: three digits are plenty.
    problem = Problem(Prior.even(as_knots(TRIAL_KNOTS, (low, high))), Pure(epsilon).epsilon, tolerance=1e-3)
    bound = WorstCase().bound(problem, WorstCase().solve(problem).multipliers)
    intervals = math.ceil((high - low) / (2 * math.sqrt(excess * bound)))
    return np.linspace(low, high, max(intervals, 1) + 1)
