"""From a problem to its design: solved once, every mechanism judged beside the solution."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.categorical.table import of_categories
from ...mechanisms.compact_tables import floor_form
from ...mechanisms.errors import InputError, TableError
from ...mechanisms.exactness.make_exact import exact_if_possible
from ...mechanisms.exactness.verification import Verification, verification_of
from ...mechanisms.option_grammar import name_asked
from ...mechanisms.promise import Metric, OfPairs, Promise, Pure, as_promise
from ...mechanisms.spaces.categories import Categories
from ...mechanisms.spaces.places import Places
from ...mechanisms.table.table import TabulatedMechanism
from ...solvers import Status
from ...solvers.certificate import relative_gap
from ..methods.base import Built, Method
from ..methods.closed_form import ClosedForm
from ..methods.registry import OPTIMAL
from ..objectives.at_most import AtMost
from ..objectives.base import Objective, Problem, Solution, Told
from ..objectives.frequencies import Frequencies
from ..objectives.registry import OBJECTIVES
from ..objectives.variance import Variance
from ..priors.categorical import CategoricalPrior
from ..priors.checks import as_increasing
from ..priors.prior import Prior
from .result import Certificate, Design, same_knots


def design_table(
    prior: Prior | CategoricalPrior,
    privacy: Promise | float,
    objective: Objective | None,
    method: Method | None,
    *,
    outputs: ArrayLike | AtMost | None = None,
    uniform_share: float | None = None,
    tolerance: float | None = None,
    exact: bool = True,
    as_floor: bool = False,
    general: bool = False,
    progress: Told = None,
) -> Design:
    """Return the design for one prior; as `design`, with None for the optimum and for the usual objective."""
    asked = default_objective(prior) if objective is None else objective
    if method is not None and not isinstance(promise := as_promise(privacy), Pure):
        raise InputError(f"methods promise pure privacy, got {method.key} for {promise}: leave method out")
    tuned = {"uniform_share": uniform_share, "tolerance": tolerance}
    if isinstance(asked, Objective) and isinstance(prior, asked.takes):
        prior = asked.fitted(prior)
    problem = problem_for(prior, privacy, asked, outputs=outputs, general=general, **tuned)
    if problem.most is not None and (method is not None or as_floor):
        raise InputError("AtMost is for tables of the optimum, got a method or a floor form: leave that out")
    if as_floor and not (exact and isinstance(prior, Prior)):
        raise InputError("floor forms are exact and of numbers, got categories or exact=False: leave form out")
    if as_floor and method is None:
        problem = replace(problem, as_floor=True)
    made = judged(problem, asked, method, asked.solve(problem, progress), exact=exact)
    return in_floor_form(made) if as_floor else made


def in_floor_form(made: Design) -> Design:
    """Return the design with its table as a floor form, and what follows; TableError for one of another form."""
    form, problem = floor_form(made.mechanism), made.certificate.problem
    if form is made.mechanism:
        return made
    value = made.objective.value(form, problem)
    told = _documented(form, problem, made.objective, value, made.bound, str(made.status), None)
    certificate = replace(made.certificate, mechanism=told)
    return replace(made, mechanism=told, certificate=certificate, value=value, verification=told.verification())


def default_objective(prior: Prior | CategoricalPrior) -> Objective:
    """Return what is wanted of a mechanism for these values if nothing else is said."""
    return Frequencies() if isinstance(prior, CategoricalPrior) else Variance()


def _in_python(asked: object) -> str:
    """Return what a word of the command line is called here, "" for none."""
    known = OBJECTIVES.get(name_asked(asked)) if isinstance(asked, str) else None
    return "" if known is None else f": it is {known.at.partition(':')[2]}(...) here"


def problem_for(
    prior: Prior | CategoricalPrior,
    privacy: Promise | float,
    objective: Objective,
    *,
    outputs: ArrayLike | AtMost | None = None,
    uniform_share: float | None = None,
    tolerance: float | None = None,
    general: bool = False,
) -> Problem:
    """Return the problem with the objective's defaults; InputError for what the objective cannot be asked."""
    if not isinstance(objective, Objective):
        raise InputError(
            f"the objective must be one such as Variance() or WorstCase(), got {objective!r}{_in_python(objective)}"
        )
    promise = promise_for(privacy, objective)
    if not isinstance(prior, objective.takes):
        kind = "categories" if isinstance(prior, CategoricalPrior) else "numbers"
        raise InputError(f"the objective must be one for {kind}, got {objective.label}")
    places = isinstance(prior, CategoricalPrior) and isinstance(prior.categories, Places)
    circle = isinstance(prior, Prior) and prior.period is not None
    if (places or circle) and not (objective.of_distance or (places and objective.of_two_columns)):
        what = "places are" if places else "values on a circle are"
        raise InputError(f"{what} designed for by Loss, got {objective.label}: use that")
    if isinstance(prior, CategoricalPrior):
        promise = _of_categories(promise, prior.categories)
        if outputs is None and isinstance(prior.categories, Places) and objective.takes_outputs:
            outputs = prior.categories.points
    elif prior.period is not None:
        promise = _round(promise, prior.period)
        outputs = prior.knots if outputs is None else outputs  # the values themselves, as of places
    problem = Problem(
        prior,
        promise.epsilon,
        objective.uniform_share if uniform_share is None else uniform_share,
        objective.tolerance if tolerance is None else tolerance,
        None if outputs is None or isinstance(outputs, AtMost) else _as_outputs(prior, outputs),
        promise=promise,
        most=outputs.outputs if isinstance(outputs, AtMost) else None,
        general=general,
    )
    for asked, can, what in (
        (problem.most is not None, objective.takes_most, "AtMost is for Variance, WorstCase, TradeOff and Loss"),
        (
            problem.outputs is not None,
            objective.takes_outputs,
            "outputs are for Variance, WorstCase, TradeOff, Loss and Custom",
        ),
        (general, objective.has_general, "general solvers are for Variance, WorstCase, TradeOff, Loss and Custom"),
    ):
        if asked and not can:
            raise InputError(f"{what}, got {objective.label}: leave that out")
    objective.check(problem)
    return problem


def _of_categories(promise: Promise, categories: Categories) -> Promise:
    """The promise of categories: pure, or of pairs of them, of places by their distance; InputError for others."""
    if not isinstance(promise, OfPairs):
        return promise
    try:
        return of_categories(promise, categories)
    except TableError as error:
        raise InputError(str(error)) from None


def _round(promise: Promise, period: float) -> Promise:
    """The promise on a circle: distance is the way round; InputError for one of another period."""
    if not isinstance(promise, Metric) or promise.distance is not None or promise.period == period:
        return promise
    if promise.period is not None:
        raise InputError(f"privacy must be round the circle of the values, {period:g}, got {promise.period:g}")
    return replace(promise, period=period)


def promise_for(privacy: Promise | float, objective: Objective) -> Promise:
    """Return what is to be promised; InputError for what the objective has no program for."""
    promise = as_promise(privacy)
    if not isinstance(promise, objective.promises):
        kinds = " or ".join(kind.kind for kind in objective.promises)
        raise InputError(
            f"designs for the {objective.label} promise {kinds} privacy, "
            f"got {promise}: Variance, WorstCase, TradeOff, Loss, Custom, Workload, Quantile and Frequencies are for "
            "pairs, and optldp.mechanisms.gaussian and geometric make tables of one shape"
        )
    return promise


def _as_outputs(prior: Prior | CategoricalPrior, outputs: ArrayLike) -> np.ndarray:
    """The reports that there may be: numbers, or as many as there shall be of categories."""
    if isinstance(prior, Prior):
        return as_increasing(outputs, "outputs")
    if isinstance(prior.categories, Places):
        return Places(outputs).points
    if isinstance(outputs, bool) or not isinstance(outputs, int | np.integer) or outputs < 2:
        raise InputError(f"outputs for categories must be a whole number of at least 2, got {outputs!r:.40}")
    return np.arange(outputs)


def judged(problem: Problem, objective: Objective, method: Method | None, solution: Solution, *, exact: bool) -> Design:
    """Return the design of a method, None for the optimum, beside the solution of the problem that is known already."""
    started = time.perf_counter()
    if method is None:
        candidates = [Built(table) for table in (solution.mechanism, *solution.others)]
    else:
        if method.for_categories is not isinstance(problem.prior, CategoricalPrior):
            what = "categories" if method.for_categories else "numbers"
            raise InputError(f"method {method.key} is for {what}: use another one")
        candidates = [method.build(problem, objective, solution)]
    finished = [_finished(built.mechanism, problem, objective, exact) for built in candidates]
    values = [objective.value(table, problem) for table in finished]
    best = (max if objective.more_is_better else min)(range(len(values)), key=lambda i: values[i])
    table, value = finished[best], values[best]
    bound = objective.bound(problem, solution.multipliers)
    status = objective.status(problem, value, bound, solution)
    if method is not None:  # the solver's word is on its own table
        status = Status.of(relative_gap(value, bound), problem.tolerance)
    verification = _verified(table)
    table = _documented(table, problem, objective, value, bound, str(status), None if method is None else method.key)
    evidence = objective.evidence(problem, table, solution) if method is None else candidates[best].evidence
    return Design(
        prior=problem.prior,
        privacy=problem.privacy,
        objective=objective,
        method=OPTIMAL if method is None else method.key,
        mechanism=table,
        value=value,
        bound=bound,
        status=status,
        certificate=Certificate(problem, objective, table, solution.multipliers),
        evidence=evidence,
        verification=verification,
        seconds=time.perf_counter() - started,
        solver=solution.solver,
    )


def table_alone(prior: Prior, epsilon: float, form: ClosedForm) -> TabulatedMechanism:
    """Return the table that `design` makes of a closed form, without the optimum beside it: nothing is solved.

    Example
    -------
    >>> prior = Prior.on_knots([0, 1], [1, 1], source="public")
    >>> table_alone(prior, 1.0, ClosedForm("duchi")).provenance.method
    'duchi'
    """
    objective = Variance()
    problem = problem_for(prior, epsilon, objective)
    return _finished(form.unbiased(problem), problem, objective, True)


def _verified(mechanism: Any) -> Verification | None:
    """What is verified of a mechanism for numbers; TableError for one that is broken."""
    found = verification_of(mechanism)
    if found is not None and found.failures:
        raise TableError(found.failures[0])
    return found


@singledispatch
def _finished(mechanism: Any, problem: Problem, objective: Objective, exact: bool) -> Any:
    """The table with its prior and units, exact if asked for; other mechanisms are so as they are solved for."""
    return mechanism


@_finished.register
def _(mechanism: TabulatedMechanism, problem: Problem, objective: Objective, exact: bool) -> TabulatedMechanism:
    table = exact_if_possible(mechanism) if exact else mechanism
    own = problem.prior
    if not same_knots(table, own):
        if not objective.any_knots:
            raise InputError(
                f"{objective.label} needs a table on the {own.knots.size} knots of the prior, got {table.knots.size}: "
                "use another method"
            )
        own = own.coarsened(table.knots)
    return table.with_prior(own.knot_prior if objective.uses_prior else None).with_units(own.units)


def _documented(
    mechanism: Any, problem: Problem, objective: Objective, value: float, bound: float, status: str, method: str | None
) -> Any:
    """The mechanism with its certificate in numbers, for whoever opens its file."""
    evidence: Mapping[str, Any] = {
        "objective": objective.key,
        "value": value,
        "bound": bound,
        "gap": relative_gap(value, bound),
        "uniform_share": problem.uniform_share,
        "status": status,
    }
    finite = {name: said for name, said in evidence.items() if not isinstance(said, float) or math.isfinite(said)}
    origin = replace(mechanism.provenance, certificate=finite)
    named = method and isinstance(problem.prior, Prior)  # oracles say their own method: "auto" is grr or olh
    return mechanism.with_provenance(replace(origin, method=method) if named else origin)
