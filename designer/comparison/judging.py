"""One prior at one budget: solved once for each objective, each mechanism built once and judged by every objective.

`compare`, `sweep`, `bounds` and `advise` have no other way to a number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from threadpoolctl import threadpool_limits

from ...estimators import influence
from ...estimators.means.error import counted_as
from ...mechanisms.errors import InputError, OptldpError
from ...mechanisms.table.table import TabulatedMechanism
from ...solvers.certificate import Status, relative_gap
from ..designs.judging import judged, problem_for
from ..designs.knots import continuum_certificate
from ..designs.result import Design, same_knots
from ..methods.base import Method
from ..methods.closed_form import ClosedForm
from ..methods.registry import as_method, name_of
from ..objectives.base import Objective, Told
from ..objectives.error import Error
from ..objectives.variance import Variance
from ..priors.prior import Prior
from .row import BIASED, NOTHING_TOLD, OTHER_KNOTS, Row


@dataclass(frozen=True, eq=False)
class Case:
    """The optimum, and each method beside it.

    Attributes
    ----------
    best : Design
        The objective's own.
    designs : mapping of str to Design
        By method, in the order asked; the optimum is `best`.
    failures : mapping of str to OptldpError
        Why the other methods could not be built.
    """

    best: Design
    designs: dict[str, Design] = field(default_factory=dict)
    failures: dict[str, OptldpError] = field(default_factory=dict)


def solve_methods(
    prior: Prior,
    epsilon: float,
    methods: Iterable[str | Method],
    *,
    objective: Objective | None = None,
    uniform_share: float | None = None,
    tolerance: float | None = None,
    exact: bool = False,
    progress: Told = None,
) -> Case:
    """Solve once and build every method beside the optimum.

    Parameters
    ----------
    prior, epsilon, objective, uniform_share, tolerance, exact, progress
        As in `design`.
    methods : iterable of str or Method

    Raises
    ------
    InputError, SolverError
        The optimum itself cannot be solved.

    Example
    -------
    >>> prior = Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public")
    >>> found = solve_methods(prior, 1.0, ["optimal", "duchi"])
    >>> list(found.designs), found.designs["duchi"].value >= found.best.value
    (['optimal', 'duchi'], True)
    """
    asked = Variance() if objective is None else objective
    problem = problem_for(prior, epsilon, asked, uniform_share=uniform_share, tolerance=tolerance)
    solution = asked.solve(problem, progress)
    case = Case(judged(problem, asked, None, solution, exact=exact))
    for method in methods:
        try:
            chosen = as_method(method)
            case.designs[name_of(method)] = (
                case.best if chosen is None else judged(problem, asked, chosen, solution, exact=exact)
            )
        except OptldpError as error:
            case.failures[name_of(method)] = error
    return case


def judged_rows(
    name: str,
    prior: Prior,
    epsilon: float,
    methods: Sequence[str | Method],
    *,
    objective: Objective | None = None,
    objectives: Sequence[Objective] = (),
    uniform_share: float | None = None,
    tolerance: float | None = None,
    progress: Told = None,
) -> list[Row]:
    """Judge every method by the objective that decides, then by every further one with its best before them.

    By an objective that `fits_methods` the closed forms are those that are best for it, not those of the one that
    decides. What cannot be built or judged is a row that says why.

    Parameters
    ----------
    name : str
        Of the prior, for the rows.
    prior, epsilon, objective, tolerance, progress
        As in `design`. Methods are built for this objective.
    methods : sequence of str or Method
    objectives : sequence of Objective
        What else to judge by.
    uniform_share : float, optional
        As in `design`; of the further objectives it is for those that need one.

    Raises
    ------
    InputError, SolverError
        The optimum of the objective that decides cannot be solved.

    Example
    -------
    >>> from optldp.designer import WorstCase
    >>> prior = Prior.on_knots([-1, 0, 1], [1, 8, 1], source="public")
    >>> rows = judged_rows("", prior, 1.0, ["optimal", "duchi"], objectives=[WorstCase()])
    >>> [(row.objective, row.method) for row in rows]  # doctest: +NORMALIZE_WHITESPACE
    [('expected', 'optimal'), ('expected', 'duchi'),
     ('minimax', 'minimax'), ('minimax', 'optimal'), ('minimax', 'duchi')]
    """
    case = solve_methods(
        prior, epsilon, methods, objective=objective, uniform_share=uniform_share, tolerance=tolerance,
        progress=progress,
    )  # fmt: skip
    return rows_beside(name, prior, case, methods, objectives, uniform_share, tolerance)


def rows_beside(
    name: str,
    prior: Prior,
    case: Case,
    methods: Sequence[str | Method],
    objectives: Sequence[Objective] = (),
    uniform_share: float | None = None,
    tolerance: float | None = None,
) -> list[Row]:
    """Return the rows of `judged_rows` for what has been solved."""
    decides = case.best.objective
    rows = [
        _failed(name, case, decides.key, method, case.failures[method])
        if method in case.failures
        else _row(name, method, case.designs[method], case.best, case.designs[method].value)
        for method in map(name_of, methods)
    ]
    for other in objectives:
        rows += _by_another(name, other, prior, case, methods, uniform_share, tolerance)
    return rows


def solve_case(name: str, prior: Prior, epsilon: float, methods: Sequence[str], **asked: Any) -> list[Row]:
    """Return `judged_rows` on one thread; where the optimum itself cannot be solved, every row says why.

    Example
    -------
    >>> prior = Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public")
    >>> [(row.method, row.status) for row in solve_case("peak", prior, 1.0, ["optimal", "duchi"])]
    [('optimal', 'optimal'), ('duchi', 'gap-open')]
    """
    with threadpool_limits(1):
        try:
            return judged_rows(name, prior, epsilon, methods, **asked)
        except OptldpError as error:
            return rows_without_optimum(
                name, epsilon, methods, asked.get("objective"), asked.get("objectives", ()), error
            )


def rows_without_optimum(
    name: str,
    epsilon: float,
    methods: Sequence[str],
    objective: Objective | None,
    objectives: Iterable[Objective],
    error: OptldpError,
) -> list[Row]:
    """Return the rows of a case whose optimum cannot be solved: each says why."""
    keys = wanted_keys(methods, objective, objectives)
    return [Row.failed(name, epsilon, *key, f"no optimum: {error}") for key in keys]


def wanted_keys(
    methods: Iterable[str], objective: Objective | None, objectives: Iterable[Objective]
) -> list[tuple[str, str]]:
    """Return objective and method of every row that one prior at one budget gives, in order."""
    chosen = list(methods)
    decides = Variance() if objective is None else objective
    keys = [(decides.key, method) for method in chosen]
    return keys + [(other.key, method) for other in objectives for method in (other.key, *chosen)]


def check_objectives(
    prior: Prior,
    epsilon: float,
    objective: Objective | None,
    objectives: Sequence[Objective],
    uniform_share: float | None = None,
    tolerance: float | None = None,
) -> None:
    """Raise InputError for objectives that cannot be asked of a prior, or two whose rows could not be told apart."""
    asked = [Variance() if objective is None else objective, *objectives]
    for each in asked:
        problem_for(prior, epsilon, each, uniform_share=uniform_share, tolerance=tolerance)
    keys = [each.key for each in asked]
    if twice := [key for key in keys if keys.count(key) > 1]:
        raise InputError(f"there may be at most one objective of a kind, got two of {twice[0]}: ask for each by itself")


def _by_another(
    name: str,
    objective: Objective,
    prior: Prior,
    case: Case,
    methods: Sequence[str | Method],
    uniform_share: float | None,
    tolerance: float | None,
) -> list[Row]:
    """The rows of a further objective: its best, then the mechanisms that there are already."""
    share = uniform_share if objective.uniform_share else None
    epsilon = case.best.epsilon
    try:
        own = {"objective": objective, "uniform_share": share, "tolerance": tolerance}
        fits = objective.fits_methods or case.best.objective.fits_methods  # or else they fit the other one, not this
        own_methods = [each for each in methods if fits and isinstance(as_method(each), ClosedForm)]
        fitted = solve_methods(prior, epsilon, own_methods, **own)
        best = fitted.best
    except OptldpError as error:
        keys = wanted_keys(map(name_of, methods), None, [objective])[len(methods) :]
        return [Row.failed(name, epsilon, *key, f"no optimum: {error}") for key in keys]
    rows = [_row(name, objective.key, best, best, best.value)]
    designs = {**case.designs, **fitted.designs}
    failures = {**{each: why for each, why in case.failures.items() if each not in fitted.designs}, **fitted.failures}
    for method in map(name_of, methods):
        if method in failures:
            rows.append(_failed(name, case, objective.key, method, failures[method]))
            continue
        made = designs[method]
        why = _not_comparable(made, objective, prior)
        value = objective.value(made.mechanism, best.certificate.problem) if why is None else None
        rows.append(_row(name, method, made, best, value, why))
    return rows


def _not_comparable(made: Design, objective: Objective, prior: Prior) -> tuple[str, str] | None:
    """Why a mechanism has no value by an objective that it was not made for: status and reason; None if it has."""
    if objective.of_variance and not made.mechanism.provenance.claims_unbiased:
        return BIASED
    return None if objective.any_knots or same_knots(made.mechanism, prior) else OTHER_KNOTS


def _row(
    name: str, method: str, made: Design, best: Design, value: float | None, without: tuple[str, str] | None = None
) -> Row:
    """A mechanism by the objective of the best; without a value for a reason, or if it is infinite."""
    status, why = str(made.status), ""
    if value is None:
        status, why = without or OTHER_KNOTS
    elif not math.isfinite(value):
        status, why, value = *NOTHING_TOLD, None
    elif made.objective is not best.objective:
        status = str(Status.of(relative_gap(value, best.bound), best.certificate.problem.tolerance))
    unbiased = made.mechanism.provenance.claims_unbiased
    by_variance = isinstance(best.objective, Variance) and value is not None
    nearest = made is best and by_variance
    clip = parts = None
    if value is not None and isinstance(best.objective, Error):
        clip = counted_as(made.mechanism, best.certificate.problem.solved.weights)
        parts = best.objective.parts(made.mechanism, best.certificate.problem)
    return Row(
        prior=name,
        epsilon=made.epsilon,
        objective=best.objective.key,
        method=method,
        value=value,
        bound=None if value is None else best.bound,
        relative_gap=None if value is None else relative_gap(value, best.bound),
        ratio_to_optimal=None if value is None else _ratio(made, best, value),
        expected_variance=made.expected_variance if unbiased else None,
        worst_case_variance=made.worst_case_variance if unbiased else None,
        status=status,
        error=why,
        seconds=made.seconds,
        max_log_ratio=made.max_log_ratio,
        one_report_times_n=_one_report_times_n(made.mechanism),
        continuum_bound=continuum_certificate(best).lower_bound if nearest else None,
        clip_low=None if clip is None else clip.low,
        clip_high=None if clip is None else clip.high,
        shift=None if clip is None else clip.shift,
        noise=None if parts is None else parts.noise,
        bias_bound=None if parts is None else parts.bias_bound,
        expected_bound=best.certificate.as_given.bound() if by_variance and unbiased else None,
    )


def _ratio(made: Design, best: Design, value: float) -> float:
    if isinstance(best.objective, Variance):  # under the prior as given, as `Row` says
        return made.expected_variance / best.expected_variance
    return value / best.value


def _failed(name: str, case: Case, objective: str, method: str, error: OptldpError) -> Row:
    return Row.failed(name, case.best.epsilon, objective, method, str(error))


def _one_report_times_n(mechanism: TabulatedMechanism) -> float | None:
    try:
        return float(influence(mechanism).times_n[0])
    except InputError:
        return None
