"""One prior at one budget: solved once, judged by several methods; what every comparison is made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from threadpoolctl import threadpool_limits

from ...mechanisms.errors import OptldpError
from ..designs.judging import judged, problem_for
from ..designs.result import Design
from ..methods.registry import OPTIMAL, as_method
from ..objectives.base import Objective, Told
from ..objectives.variance import Variance
from ..priors.prior import Prior
from .table import SweepRow


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
    methods: Iterable[str],
    *,
    objective: Objective | None = None,
    uniform_share: float | None = None,
    tolerance: float | None = None,
    exact: bool = False,
    progress: Told = None,
) -> Case:
    """Solve once and judge every method; what `compare`, `sweep`, `bounds` and `advise` do at each budget.

    Parameters
    ----------
    prior, epsilon, objective, uniform_share, tolerance, exact, progress
        As in `design`.
    methods : iterable of str
        Out of `METHODS`.

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
            case.designs[method] = (
                case.best if chosen is None else judged(problem, asked, chosen, solution, exact=exact)
            )
        except OptldpError as error:
            case.failures[method] = error
    return case


def solve_case(
    name: str, prior: Prior, epsilon: float, methods: Iterable[str], *, uniform_share: float, tolerance: float
) -> list[SweepRow]:
    """Return the rows of a sweep for one prior at one budget, on one thread.

    A method that cannot be built is a row that says why; where the optimum itself cannot be solved, all are.

    Parameters
    ----------
    name : str
        Of the prior, for the rows.
    prior : Prior
    epsilon : float
        Budget, already checked.
    methods : iterable of str
        Out of `METHODS`, already checked.
    uniform_share, tolerance : float
        As in `design`.

    Example
    -------
    >>> prior = Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public")
    >>> rows = solve_case("peak", prior, 1.0, ["optimal", "duchi"], uniform_share=1e-3, tolerance=1e-6)
    >>> [(row.method, row.status) for row in rows]
    [('optimal', 'optimal'), ('duchi', 'optimal')]
    """
    asked = list(methods)
    with threadpool_limits(1):
        try:
            case = solve_methods(prior, epsilon, asked, uniform_share=uniform_share, tolerance=tolerance)
        except OptldpError as error:
            return [SweepRow.failed(name, epsilon, method, f"no optimum: {error}") for method in asked]
    return [
        SweepRow.failed(name, epsilon, method, str(case.failures[method]))
        if method in case.failures
        else SweepRow(**row_facts(name, case.designs[method], case.best))
        for method in asked
    ]


def row_facts(name: str, made: Design, best: Design) -> dict[str, Any]:
    """Return what a row says of a design for the prior of that name, beside the best at the same budget."""
    return {
        "prior": name,
        "epsilon": made.epsilon,
        "method": made.method if made is not best else OPTIMAL,
        "expected_variance": made.expected_variance,
        "worst_case_variance": made.worst_case_variance,
        "program_variance": made.value,
        "lower_bound": made.bound,
        "relative_gap": made.gap,
        "ratio_to_optimal": made.expected_variance / best.expected_variance,
        "status": str(made.status),
        "error": "",
        "seconds": made.seconds,
    }
