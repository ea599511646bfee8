"""The least error of the mean of n users, bias allowed where it pays, while the prior may be wrong: over a whole set.

What a table promises is computed from its bias and its squared errors at the knots by sorting (`largest_error`), not
taken from the solver; the bound is that of `ErrorProgram`. Both allow for values between knots alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from threadpoolctl import threadpool_limits

from ...estimators.means.error import counted_as, largest_error, rounding_excess
from ...mechanisms.errors import InputError
from ...mechanisms.table.provenance import Provenance
from ...mechanisms.table.table import TabulatedMechanism
from ...mechanisms.units import units_label
from ...solvers.biased.box import member
from ...solvers.biased.error_program import ROUNDING, ErrorProgram, MeanError, Multipliers, check_users
from ...solvers.biased.least_error import DEFAULT_TRUST, solve_error
from ...solvers.robust.sets import BoxSet
from ..priors.ambiguity import Ambiguity, FactorAmbiguity
from ..priors.prior import DEFAULT_UNIFORM_SHARE
from .base import Objective, Problem, Solution, Told
from .biased import biased_facts, biased_note, biased_title
from .clip_alone import best_clip
from .registry import Asker
from .variance import Variance

HEAVIER = (2.0, 4.0, 8.0)
"""How many times heavier than trusted the tails are in `ErrorEvidence.heavier_tails`."""


@dataclass(frozen=True, eq=False)
class ErrorEvidence:
    """What a design for the error of a mean shows beside it; all in the prior's units.

    Attributes
    ----------
    rmse : float
        The error promised: no prior of the set has a larger root mean squared error.
    noise, bias_bound : float
        Its parts: rmse^2 is the sum of their squares.
    rmse_unbiased : float
        Largest over the set of the unbiased optimum for the prior.
    rmse_clip : float
        Largest over the set of the best clip alone: the unbiased optimum of a shorter interval, whatever lies outside
        counted as its end.
    clip_alone : tuple of float
        That interval.
    clip_low, clip_high, shift : float
        Values are counted as clip(x, clip_low, clip_high) + shift on average; the ends of the domain where nothing is
        cut.
    is_clip : bool
        Whether they are counted as just that; if not, the three are the outermost means and the median bias.
    share_outside : float
        Of the prior as given, outside the clip points.
    heavier : tuple of float
        How many times heavier than trusted the tails, what lies outside the clip points, may be ...
    rmse_heavier : tuple of float
        ... and the largest error if they are.
    """

    rmse: float
    noise: float
    bias_bound: float
    rmse_unbiased: float
    rmse_clip: float
    clip_alone: tuple[float, float]
    clip_low: float
    clip_high: float
    shift: float
    is_clip: bool
    share_outside: float
    heavier: tuple[float, ...]
    rmse_heavier: tuple[float, ...]


@dataclass(frozen=True)
class Error(Objective):
    """The largest root mean squared error of a mean of n users, over all priors of a set; in units of the values.

    R^2 = max q.v / n + (max |q.b|)^2, where b and v are the bias and the mean squared error of a report. It holds for
    the whole set at once, and needs no unbiased reports. If the range is long and its end rare, the best table counts
    rare values as less than they are, which reduces the error. Use it for the mean of n users only: over more of them
    noise averages out, but bias does not.

    The set surrounds the prior, and its upper bounds also cover the prior with its uniform share. Values at a knot of
    no mass are thus possible, but not required. Values may lie anywhere between the knots, unless all of the prior's
    lie on them.

    Parameters
    ----------
    n : int
        Users who will report, once each.
    ambiguity : Ambiguity
        How far the prior may be wrong, as bounds on its weights: `FactorAmbiguity`, `RelativeAmbiguity` or
        `BoxAmbiguity`. Default: weights within a factor of 3.

    Raises
    ------
    InputError
        A number of users that is not whole, or out of range; when designing, a set that is not of bounds on weights.

    Source: solvers/biased/error_program.py.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import Error
    >>> from optldp.designer import FactorAmbiguity, Prior, design
    >>> knots = np.linspace(0, 100, 21)
    >>> prior = Prior.on_knots(knots, np.exp(-knots / 8), source="public", units="EUR")
    >>> made = design(prior, 1.0, objective=Error(20_000, FactorAmbiguity(2.0)))
    >>> round(made.value, 2), round(made.bound, 2), round(made.evidence.rmse_unbiased, 2)
    (0.25, 0.25, 0.69)
    >>> round(made.evidence.clip_high), round(made.evidence.share_outside, 3)  # larger values count as this one
    (30, 0.013)
    """

    n: int
    ambiguity: Ambiguity = field(default_factory=lambda: FactorAmbiguity(DEFAULT_TRUST))

    nobody = "no mechanism on these knots, biased or not,"
    uniform_share = DEFAULT_UNIFORM_SHARE
    fits_methods = True
    tolerance = 1e-4

    def __post_init__(self) -> None:
        check_users(self.n)
        object.__setattr__(self, "n", int(self.n))
        if not isinstance(self.ambiguity, Ambiguity):
            raise InputError(f"the ambiguity must be one such as FactorAmbiguity(2), got {self.ambiguity!r}")

    @classmethod
    def of_options(cls, options: Mapping[str, Any], asker: Asker) -> Self:
        if asker.users is None:
            raise InputError("the error of a mean needs --n N, the users who will report: add it")
        trust, last, before = (options.get(name) for name in ("trust", "last", "before"))
        if (last is None) != (before is None):
            raise InputError("a trust is measured between two files: write error,last=OLD,before=OLDER")
        if last is not None and before is not None:
            if trust is not None:
                raise InputError("a trust is named or measured, got both: leave trust out, or last and before")
            trust = asker.trust_of(last, before)
        return cls(asker.users) if trust is None else cls(asker.users, FactorAmbiguity(trust))

    @property
    def key(self) -> str:
        return "error"

    @property
    def label(self) -> str:
        return f"least error of the mean of {self.n:,} users, bias allowed, {self.ambiguity.label}"

    def quantity(self, units: str) -> str:
        return units_label(f"largest root mean squared error of the mean of {self.n:,} users", units)

    def more(self, evidence: Any = None) -> str:
        if not isinstance(evidence, ErrorEvidence):
            return ""
        return (
            f"of it at most {evidence.bias_bound:.4g} are bias; unbiased {evidence.rmse_unbiased:.4g}, the best clip "
            f"alone {evidence.rmse_clip:.4g}"
        )

    def check(self, problem: Problem) -> None:
        self.priors(problem)

    def solve(self, problem: Problem, progress: Told = None) -> Solution:
        program = ErrorProgram(problem.unit.knots, problem.inner_ratio, self.priors(problem), self.n)
        with threadpool_limits(1, user_api="blas"):  # as in `Variance`
            best = solve_error(program, tolerance=problem.tolerance, progress=progress)
        trust = {"trust": self.ambiguity.trust} if isinstance(self.ambiguity, FactorAmbiguity) else {}
        origin = Provenance(
            "error",
            {
                "unbiased": False,
                "n": self.n,
                **trust,
                "ambiguity": self.ambiguity.label,
                "uniform_share": problem.uniform_share,
                "tolerance": problem.tolerance,
            },
        )
        table = problem.table(best.solution.outputs, best.solution.probabilities, origin)
        return Solution(table, best.multipliers, best.status, solver="least-error")

    def value(self, mechanism: TabulatedMechanism, problem: Problem) -> float:
        return self.parts(mechanism, problem).rmse

    def parts(self, mechanism: TabulatedMechanism, problem: Problem) -> MeanError:
        """Return the error of a mechanism, its value, with the noise and the bias that it consists of."""
        return self._error_over(self.priors(problem), mechanism, problem)

    def bound(self, problem: Problem, multipliers: Mapping[str, Any]) -> float:
        box = self.priors(problem)
        worst, up, down = (member(box, multipliers[name]) for name in ("worst", "up", "down"))
        weights = float(multipliers["weight_up"]), float(multipliers["weight_down"])
        program = ErrorProgram(problem.unit.knots, problem.ratio, box, self.n)
        found = problem.unit.half * program.bound(Multipliers(worst, up, down, *weights, multipliers["lam"]))
        if self._on_knots(problem):
            return found
        more = float(worst @ rounding_excess(problem.prior.knots)) / self.n  # tables are judged with at least as much
        return math.sqrt(found**2 + more) * (1 - ROUNDING * len(worst))

    def evidence(self, problem: Problem, mechanism: TabulatedMechanism, solution: Solution) -> ErrorEvidence:
        box, knots = self.priors(problem), problem.prior.knots
        found = self._error_over(box, mechanism, problem)
        unbiased = Variance().solve(problem).mechanism
        clip = counted_as(mechanism, problem.solved.weights)
        outside = clip.outside(knots)
        alone, interval = best_clip(lambda table: self.value(table, problem), problem, (clip.low, clip.high))
        tails = (BoxSet(box.low, np.where(outside, np.minimum(f * box.high, 1), box.high)) for f in HEAVIER)
        return ErrorEvidence(
            rmse=found.rmse,
            noise=found.noise,
            bias_bound=found.bias_bound,
            rmse_unbiased=self.value(unbiased, problem),
            rmse_clip=alone,
            clip_alone=interval,
            clip_low=clip.low,
            clip_high=clip.high,
            shift=clip.shift,
            is_clip=clip.is_clip,
            share_outside=float(problem.prior.weights[outside].sum()),
            heavier=HEAVIER,
            rmse_heavier=tuple(self._error_over(tail, mechanism, problem).rmse for tail in tails),
        )

    def title(self, made: Any) -> str:
        return f"{biased_title(made.mechanism)}; unbiased: --objective expected"

    def facts(self, made: Any) -> dict[str, Any]:
        found = made.evidence
        return {
            **biased_facts(made.mechanism),
            "lower_bound": made.bound,
            "relative_gap": made.gap,
            "rmse_unbiased": found.rmse_unbiased,
            "rmse_clip": found.rmse_clip,
            "tails_heavier": list(found.heavier),
            "rmse_heavier": list(found.rmse_heavier),
        }

    def notes(self, made: Any) -> list[str]:
        return [f"note: {biased_note(made.mechanism)}"]

    def _error_over(self, box: BoxSet, mechanism: TabulatedMechanism, problem: Problem) -> MeanError:
        return largest_error(mechanism, box, self.n, on_knots=self._on_knots(problem))

    @staticmethod
    def _on_knots(problem: Problem) -> bool:
        """Whether all of the prior's values lie on knots, so that the users' do."""
        return not problem.prior.rounding.any()

    def priors(self, problem: Problem) -> BoxSet:
        """Return the bounds around the prior as given, widened to those around it with the uniform share."""
        found, given = self.ambiguity.around(problem.solved), self.ambiguity.around(problem.prior)
        if not isinstance(found, BoxSet) or not isinstance(given, BoxSet):
            raise InputError(
                "the least error needs bounds on the prior's weights, got "
                f"{self.ambiguity.label}: use FactorAmbiguity(3), RelativeAmbiguity or BoxAmbiguity"
            )
        return BoxSet(np.minimum(found.low, given.low), np.maximum(found.high, given.high))
