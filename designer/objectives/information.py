"""What the reports tell of the values, or of their distribution, with certificates.

No report has to be unbiased here: what counts is how much the reports' law changes with the value. Three criteria:

- "mutual-information": of the value and its report, in nats, for values drawn from the prior;
- "fisher": the trace of the inverse Fisher information about the knots' frequencies, at the prior: the summed squared
  error of the maximum likelihood estimate, times the number of reports, once there are many;
- "cumulative": the same for the distribution function, integrated over the domain (Cramer's distance): an error that
  grows with how far mass is put from where it belongs, as the Wasserstein distance does.

Read reports of such a table through the likelihood (`estimate_distribution`); a table of full rank also has unbiased
decoders (`optimal_decoder`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from threadpoolctl import threadpool_limits

from ...mechanisms.errors import InputError, SolverError, unwired
from ...mechanisms.families.square_wave import square_wave
from ...mechanisms.table.provenance import Provenance
from ...mechanisms.table.table import TabulatedMechanism
from ...mechanisms.units import units_label
from ...solvers import Status
from ...solvers.frequency.frequency_program import FrequencyProgram
from ...solvers.information.fisher import cumulative_importance
from ...solvers.information.information_program import InformationProgram
from ..priors.prior import DEFAULT_UNIFORM_SHARE, Prior
from .base import Objective, Problem, Solution, Told
from .information_solution import (
    Patterns,
    fisher_bounds,
    information_bounds,
    placed_outputs,
    solve_fisher,
    solve_mutual_information,
)
from .smooth_error import smooth_trace

UNREADABLE = (
    "warning: the reports of this table cannot tell all distributions on the knots apart, so none can be estimated "
    "from them: --objective information:cumulative makes one that can"
)

ANY_PATTERNS_GAP = 1e-3
"""What commands ask of the Fisher criteria over any patterns: sets of any shape are priced by a relaxation, which they
rarely close further."""

Criterion = Literal["mutual-information", "fisher", "cumulative"]


@dataclass(frozen=True, eq=False)
class InformationEvidence:
    """What a design for information shows beside its value.

    Attributes
    ----------
    interval_bound : float
        Certified for tables whose columns rise to one peak and fall, as all closed-form families' do.
    interval_gap : float
        How far from the best of those this can be at most, relative; negative if it is better.
    interval_status : Status
        OPTIMAL where that is within the tolerance asked for: the best of one-peaked tables, if not of all.
    information : float
        Mutual information under the prior as given, nats.
    trace : float
        Under the prior as given: of the distribution function for "cumulative" (units of the knots), else of the
        frequencies. Infinite for a table whose reports cannot tell all distributions on the knots apart.
    """

    interval_bound: float
    interval_gap: float
    interval_status: Status
    information: float
    trace: float


@dataclass(frozen=True)
class Information(Objective):
    """Information in a report: nats of mutual information, or the trace of the inverse Fisher information.

    Parameters
    ----------
    criterion : {"mutual-information", "fisher", "cumulative"}
        Mutual information favours few, coarse reports: its best table of intervals is randomised response on cells of
        the domain, and shows nothing about where in a cell values lie. Choose "cumulative" to estimate distributions of
        numbers, "fisher" for the frequencies of unrelated values.
    patterns : {"interval", "any"}
        Which knots an output may favour: intervals of them, or any set. The bound is for any set in either case, so
        that the status of intervals is mostly GAP_OPEN; that among one-peaked tables is in the evidence. With any
        patterns of more than 18 knots the Fisher criteria are solved to 1e-3 at best.

    Raises
    ------
    InputError
        An unknown criterion or unknown patterns.

    Source: Kairouz, Oh and Viswanath (2016), "Extremal mechanisms for local differential privacy"; the pricing and the
    certificates are derived in solvers/information/information_program.py and its neighbours.

    Example
    -------
    >>> from optldp import Information, Prior
    >>> from optldp.designer import design
    >>> prior = Prior.on_knots([0, 1, 2, 3], [1, 2, 2, 1], source="public")
    >>> best = design(prior, 1.0, objective=Information())
    >>> best.mechanism.low.size, best.evidence.interval_gap < 1e-6, best.value <= best.bound
    (4, True, True)
    """

    criterion: Criterion = "mutual-information"
    patterns: Patterns = "interval"

    nobody = "no mechanism on these knots"
    uniform_share = DEFAULT_UNIFORM_SHARE

    def __post_init__(self) -> None:
        given = ("criterion", self.criterion, get_args(Criterion)), ("patterns", self.patterns, get_args(Patterns))
        for name, value, allowed in given:
            if value not in allowed:
                raise InputError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")

    @property
    def command_tolerance(self) -> float:
        return ANY_PATTERNS_GAP if self.patterns == "any" and not self.more_is_better else self.tolerance

    @property
    def more_is_better(self) -> bool:
        return self.criterion == "mutual-information"

    @property
    def key(self) -> str:
        return "information"

    @property
    def label(self) -> str:
        return {
            "cumulative": "the distribution function is wanted",
            "fisher": "the frequency of every knot is wanted",
            "mutual-information": "the reports are to tell most",
        }[self.criterion]

    def more(self, evidence: InformationEvidence | None = None) -> str:
        if self.patterns == "any":
            return ""
        if evidence is None or evidence.interval_status != Status.OPTIMAL:
            return "Each report of the design favours an interval of values."
        return (
            "Of the tables whose columns rise to one peak and fall, as those of all closed forms do, the design is the "
            "best, by a certificate of its own; what is better, if anything, favours several separate sets."
        )

    def quantity(self, units: str) -> str:
        return {
            "cumulative": units_label("squared error of the distribution, times n", units),
            "fisher": "squared error of all frequencies, times n",
            "mutual-information": "mutual information of value and report [nats]",
        }[self.criterion]

    def solve(self, problem: Problem, progress: Told = None) -> Solution:
        weights, tolerance = problem.solved.weights, problem.tolerance
        with threadpool_limits(1, user_api="blas"):  # as in `Variance`
            if self.criterion == "mutual-information":
                found = solve_mutual_information(weights, problem.inner_ratio, self.patterns, tolerance, progress)
            else:
                importance = importance_of(problem.prior, self.criterion)
                found = solve_fisher(weights, problem.inner_ratio, importance, self.patterns, tolerance, progress)
        places, columns = placed_outputs(problem.prior.knots, weights, found.probabilities)
        origin = Provenance(
            "information",
            {"unbiased": False, "criterion": self.criterion, "patterns": self.patterns, "tolerance": tolerance},
        )
        table = TabulatedMechanism.from_points(
            problem.prior.knots, places, columns, problem.epsilon, provenance=origin, units=problem.prior.units
        )
        return Solution(table, found.multipliers, Status.OPTIMAL, solver="patterns")

    def value(self, mechanism: TabulatedMechanism, problem: Problem) -> float:
        if self.criterion == "mutual-information":
            return table_information(mechanism.probabilities, problem.solved)
        return table_trace(mechanism.probabilities, problem.solved, self.criterion)

    def bound(self, problem: Problem, multipliers: Mapping[str, Any]) -> float:
        return self.bounds(problem, multipliers)[0]

    def bounds(self, problem: Problem, multipliers: Mapping[str, Any]) -> tuple[float, float]:
        """Return the bounds for all mechanisms, and for tables of one-peaked columns."""
        weights, ratio = problem.solved.weights, problem.ratio
        if self.criterion == "mutual-information":
            return information_bounds(weights, ratio, multipliers)
        low, high = problem.prior.domain
        scale = high - low if self.criterion == "cumulative" else 1.0
        whole, intervals = fisher_bounds(weights, ratio, importance_of(problem.prior, self.criterion), multipliers)
        return scale * whole, scale * intervals

    def status(self, problem: Problem, value: float, bound: float, solution: Solution) -> Status:
        """Whether the gap to the bound for all tables is; SolverError where there is no value."""
        if not math.isfinite(value):
            raise SolverError(
                f"the Fisher information must be invertible to rounding, which it is not at epsilon "
                f"{problem.epsilon:g} on {problem.prior.knots.size} knots: raise epsilon or use fewer knots"
            )
        return super().status(problem, value, bound, solution)

    def evidence(self, problem: Problem, mechanism: TabulatedMechanism, solution: Solution) -> InformationEvidence:
        value, intervals = self.value(mechanism, problem), self.bounds(problem, solution.multipliers)[1]
        P = mechanism.probabilities
        gap = (intervals - value if self.more_is_better else value - intervals) / value
        return InformationEvidence(
            intervals,
            gap,
            Status.of(gap, problem.tolerance),
            table_information(P, problem.prior),
            table_trace(P, problem.prior, "fisher" if self.more_is_better else self.criterion),
        )

    def title(self, made: Any) -> str:
        return "information-optimal mechanism"

    def parameters(self) -> dict[str, Any]:
        return {"criterion": self.criterion, "patterns": self.patterns}

    def facts(self, made: Any) -> dict[str, Any]:
        found, of_nats = made.evidence, self.more_is_better
        return {
            "information_nats": made.value if of_nats else found.information,
            "information_upper_bound": made.bound if of_nats else None,
            "trace": found.trace if of_nats else made.value,
            "trace_lower_bound": None if of_nats else made.bound,
            "interval_bound": found.interval_bound,
            "interval_gap": found.interval_gap,
            "interval_status": str(found.interval_status),
        }

    def notes(self, made: Any) -> list[str]:
        return [] if math.isfinite(made.evidence.trace) else [UNREADABLE]

    def of_users(self, made: Any, users: int) -> tuple[dict[str, Any], list[str]]:
        """Return the squared error of their distribution by a smooth estimate, and the square wave's."""
        prior = made.certificate.problem.solved
        if self.criterion != "cumulative" or prior.knots.size == 2:
            return {}, []
        tables = made.mechanism.probabilities, square_wave(prior.knots, made.mechanism.epsilon).probabilities
        mine, theirs = (smooth_trace(table, prior, users) for table in tables)
        last, limit = (table_trace(table, prior, self.criterion) for table in tables)
        note = (
            f"note: with {users:,} people about {theirs / mine:.2f} times less squared error than with the square "
            "wave's reports arrives in a smooth estimate, or not even that where values are smoother than the prior; "
            f"{limit / last:.2f} times is for ever more people"
        )
        return {"smooth_trace": mine, "square_wave_smooth_trace": theirs}, [note]

    def closeness(self, made: Any) -> tuple[Status, float]:
        """Of intervals nobody expects that they are the best of all: that gap is among the facts."""
        if self.patterns == "any":
            return super().closeness(made)
        return made.evidence.interval_status, made.evidence.interval_gap


def importance_of(prior: Prior, criterion: Criterion) -> np.ndarray | None:
    """Return the importance that a criterion gives to errors of the frequencies, for a domain of width 1."""
    if criterion == "fisher":
        return None
    if criterion != "cumulative":
        raise unwired("criterion", criterion)
    low, high = prior.domain
    return cumulative_importance((prior.knots - low) / (high - low))


def table_trace(probabilities: np.ndarray, prior: Prior, criterion: Criterion = "fisher") -> float:
    """Return the trace of the inverse Fisher information of any table on a prior's knots, at the prior.

    Parameters
    ----------
    probabilities : (n, m) ndarray
    prior : Prior
    criterion : {"fisher", "cumulative"}
        Of the frequencies, or of the distribution function (units of the knots).

    Example
    -------
    >>> prior = Prior.on_knots([0, 1], [1, 1], source="public")
    >>> round(table_trace(np.array([[0.75, 0.25], [0.25, 0.75]]), prior), 9)
    2.0
    """
    # The ratio has no part in the error of given columns.
    used = probabilities[:, prior.weights @ probabilities > 0]
    error = FrequencyProgram(prior.weights, math.e, importance_of(prior, criterion)).error(used)
    return error * (prior.domain[1] - prior.domain[0]) if criterion == "cumulative" else error


def table_information(probabilities: np.ndarray, prior: Prior) -> float:
    """Return the mutual information, in nats, of any table on a prior's knots.

    Example
    -------
    >>> prior = Prior.on_knots([0, 1], [1, 1], source="public")
    >>> round(table_information(np.array([[0.75, 0.25], [0.25, 0.75]]), prior), 6)
    0.130812
    """
    return InformationProgram(prior.weights, math.e).information(probabilities)
