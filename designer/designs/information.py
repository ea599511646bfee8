"""Tables whose reports tell most of the values, or of their distribution, with a certificate.

No report has to be unbiased here: what counts is how much the reports' law changes with the value.  Three criteria:

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
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from threadpoolctl import threadpool_limits

from ...mechanisms import InputError, Provenance, TabulatedMechanism
from ...mechanisms.budget import check_epsilon, inner_epsilon
from ...mechanisms.errors import SolverError
from ...mechanisms.exactness.make_exact import exact_if_possible
from ...mechanisms.exactness.verification import require_private
from ...solvers import Progress, Status
from ...solvers.frequency.program import FrequencyProgram
from ...solvers.information.fisher import cumulative_importance
from ...solvers.information.program import InformationProgram
from ..priors.prior import DEFAULT_FLOOR, Prior
from .design import DEFAULT_TOLERANCE
from .information_solution import Patterns, Solution, placed_outputs, solve_fisher, solve_mutual_information

Criterion = Literal["mutual-information", "fisher", "cumulative"]


@dataclass(frozen=True, eq=False)
class InformationDesign:
    """A table and what was recomputed from it.

    Attributes
    ----------
    mechanism : TabulatedMechanism
        Outputs are points, at the mean of the value given the report; not unbiased.
    epsilon : float
    criterion : {"mutual-information", "fisher", "cumulative"}
    patterns : {"interval", "any"}
        What the table was made of.
    objective : float
        The criterion of the table under the prior solved for, floor included: nats, to be large, or a trace, to be
        small.
    bound : float
        Certified: no epsilon-LDP table or other mechanism on these knots, whatever its reports, has more nats or a
        smaller trace, under that prior.
    interval_bound : float
        Certified for tables whose columns rise to one peak and fall, as all closed-form families' do.
    information : float
        Mutual information under the prior as given, nats.
    trace : float
        Under the prior as given: of the distribution function for "cumulative" (units of the knots), else of the
        frequencies. Infinite for a table whose reports cannot tell all distributions on the knots apart.
    max_log_ratio : float
        Of the table as returned.
    status : Status
        OPTIMAL when the gap to the bound for the patterns asked for is within the tolerance, else GAP_OPEN.
    seconds : float
        Wall time, bounds included.
    """

    mechanism: TabulatedMechanism
    epsilon: float
    criterion: Criterion
    patterns: Patterns
    objective: float
    bound: float
    interval_bound: float
    information: float
    trace: float
    max_log_ratio: float
    status: Status
    seconds: float

    @property
    def relative_gap(self) -> float:
        """|objective - bound| / objective: how far from the best of all tables this can be at most."""
        return abs(self.objective - self.bound) / self.objective

    @property
    def interval_gap(self) -> float:
        """How far from the best table of one-peaked columns this can be at most; negative if it is better."""
        ahead = self.interval_bound - self.objective
        return (ahead if self.criterion == "mutual-information" else -ahead) / self.objective


def design_information(
    prior: Prior,
    epsilon: float,
    *,
    criterion: Criterion = "mutual-information",
    patterns: Patterns = "interval",
    floor: float = DEFAULT_FLOOR,
    tolerance: float = DEFAULT_TOLERANCE,
    exact: bool = True,
    progress: Callable[[Progress], None] | None = None,
) -> InformationDesign:
    """Build the table whose reports tell most, and certify how good it is.

    Parameters
    ----------
    prior : Prior
    epsilon : float
        Privacy budget.
    criterion : {"mutual-information", "fisher", "cumulative"}
        Mutual information is a matter of few, coarse reports: its best table of intervals is randomised response on a
        cut of the domain into cells, and tells nothing of where in a cell values lie. Choose "cumulative" to estimate
        distributions of numbers, "fisher" for the frequencies of unrelated values.
    patterns : {"interval", "any"}
        Which knots an output may favour: intervals of them, or any set.
    floor : float
        Uniform share mixed into the prior before solving, in [0, 1], as in `design`.
    tolerance : float
        Relative gap to reach. With any patterns of more than 18 knots the Fisher criteria are solved to 1e-3 at best.
    exact : bool
        Whether to make the table exact, as in `design`.
    progress : callable, optional
        Called after each round of a solver.

    Raises
    ------
    InputError
        A prior, epsilon, criterion or option that is not usable.
    SolverError
        No table was found: rounding defeats the Fisher criteria at budgets below about 1e-3, less with few knots.

    Source: Kairouz, Oh and Viswanath (2016), "Extremal mechanisms for local differential privacy"; the pricing and the
    certificates are derived in solvers/information/program.py and its neighbours.

    Example
    -------
    >>> prior = Prior.on_knots([0, 1, 2, 3], [1, 2, 2, 1], source="public")
    >>> best = design_information(prior, 1.0)
    >>> best.mechanism.low.size, best.interval_gap < 1e-6, best.objective <= best.bound
    (4, True, True)
    """
    started = time.perf_counter()
    budget = check_epsilon(epsilon)
    _check_options(criterion, patterns, tolerance)
    solved = prior.floored(floor)
    inner, ratio = math.exp(inner_epsilon(budget)), math.exp(budget)
    with threadpool_limits(1, user_api="blas"):  # as in `certified_optimum`
        if criterion == "mutual-information":
            found = solve_mutual_information(solved.weights, inner, ratio, patterns, tolerance, progress)
        else:
            found = solve_fisher(
                solved.weights, inner, ratio, importance_of(prior, criterion), patterns, tolerance, progress
            )
    places, columns = placed_outputs(prior.knots, solved.weights, found.probabilities)
    table = TabulatedMechanism.from_points(
        prior.knots,
        places,
        columns,
        budget,
        provenance=Provenance(
            "information", {"unbiased": False, "criterion": criterion, "patterns": patterns, "tolerance": tolerance}
        ),
        prior=prior.knot_prior,
        units=prior.units,
    )
    table = exact_if_possible(table) if exact else table
    made = _judge(table, prior, solved, found, criterion, patterns, tolerance, floor)
    return replace(made, seconds=time.perf_counter() - started)


def _check_options(criterion: str, patterns: str, tolerance: float) -> None:
    given = ("criterion", criterion, get_args(Criterion)), ("patterns", patterns, get_args(Patterns))
    for name, value, allowed in given:
        if value not in allowed:
            raise InputError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
    if not 0 < tolerance < 1:
        raise InputError(f"tolerance must lie strictly between 0 and 1, got {tolerance!r}")


def importance_of(prior: Prior, criterion: Criterion) -> np.ndarray | None:
    """Return the importance that a criterion gives to errors of the frequencies, for a domain of width 1."""
    if criterion != "cumulative":
        return None
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


def _judge(
    table: TabulatedMechanism,
    prior: Prior,
    solved: Prior,
    found: Solution,
    criterion: Criterion,
    patterns: Patterns,
    tolerance: float,
    floor: float,
) -> InformationDesign:
    checked, P = require_private(table), table.probabilities
    width = prior.domain[1] - prior.domain[0]
    if criterion == "mutual-information":
        objective, bound, interval_bound = table_information(P, solved), found.bound, found.interval_bound
    else:
        scale = width if criterion == "cumulative" else 1.0
        objective = table_trace(P, solved, criterion)
        bound, interval_bound = scale * found.bound, scale * found.interval_bound
    if not math.isfinite(objective):
        raise SolverError(
            f"the Fisher information must be invertible to rounding, which it is not at epsilon {table.epsilon:g} on "
            f"{table.knots.size} knots: raise epsilon or use fewer knots"
        )
    reached = abs(objective - (bound if patterns == "any" else interval_bound)) <= tolerance * objective
    certificate = {
        "objective": objective,
        "bound": bound,
        "interval_bound": interval_bound,
        "floor": floor,
        "status": str(Status.OPTIMAL if reached else Status.GAP_OPEN),
    }
    return InformationDesign(
        mechanism=table.with_provenance(replace(table.provenance, certificate=certificate)),
        epsilon=table.epsilon,
        criterion=criterion,
        patterns=patterns,
        objective=objective,
        bound=bound,
        interval_bound=interval_bound,
        information=table_information(P, prior),
        trace=table_trace(P, prior, "fisher" if criterion == "mutual-information" else criterion),
        max_log_ratio=checked.max_log_ratio,
        status=Status.OPTIMAL if reached else Status.GAP_OPEN,
        seconds=0.0,
    )
