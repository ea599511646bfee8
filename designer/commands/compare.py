"""`optldp compare`: every method against the certified optimum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .options import (
    TOLERANCE,
    UNIFORM_SHARE,
    Column,
    Data,
    Domain,
    DropMissing,
    Json,
    Knots,
    PriorFile,
    Public,
    Tolerance,
    UniformShare,
)
from .output import number, one_line_errors, print_json, print_rows, refuse_given, say, task_progress
from .prior import SENSITIVE, read_categorical_prior, read_prior

if TYPE_CHECKING:
    from ..priors.categorical import CategoricalPrior


@one_line_errors
def compare_command(
    data: Data = None,
    *,
    epsilon: Annotated[
        list[str], typer.Option("--epsilon", help="Privacy budgets: repeat, or 0.5,1,2, or LO:HI:STEP with the end.")
    ],
    column: Column = None,
    domain: Domain = None,
    prior_file: PriorFile = None,
    knots: Knots = None,
    methods: Annotated[list[str] | None, typer.Option("--method", help="Repeat for several; default: all.")] = None,
    uniform_share: UniformShare = UNIFORM_SHARE,
    tolerance: Tolerance = TOLERANCE,
    categorical: Annotated[bool, typer.Option("--categorical", help="The column holds categories.")] = False,
    public: Public = False,
    drop_missing: DropMissing = False,
    as_json: Json = False,
) -> None:
    """Compare every method with the certified optimum, one row per method and budget.

    \b
    Example: optldp compare people.csv --column income --range 0 200000 --epsilon 0.5 --epsilon 1 --epsilon 2
    Example: optldp compare people.csv --column job --categorical --epsilon 1
    """
    from ...mechanisms.budget import check_epsilon
    from ..comparison.compare import compare
    from ..methods.registry import METHODS
    from .asked.levels import budget_numbers

    epsilons = [check_epsilon(number) for text in epsilon for number in budget_numbers(text, "--epsilon")]
    if categorical:
        numeric = {"--range": domain, "--knots": knots, "--method": methods,
                   "--uniform-share": None if uniform_share == UNIFORM_SHARE else uniform_share,
                   "--tolerance": None if tolerance == TOLERANCE else tolerance}  # fmt: skip
        refuse_given("of no use to categories", numeric)
        labels, notes = read_categorical_prior(data, column, prior_file, drop_missing=drop_missing, public=public)
        _compare_categories(labels, epsilons, notes if public else [*notes, SENSITIVE], as_json)
        return
    prior, notes = read_prior(data, column, domain, prior_file, knots, public, drop_missing, "")
    chosen = methods or list(METHODS)
    with task_progress("comparing", len(epsilons)) as update:
        rows = compare(
            prior, epsilons, methods=chosen, uniform_share=uniform_share, tolerance=tolerance,
            progress=lambda epsilon, step: update(f"epsilon {epsilon:g}", step is None),
        )  # fmt: skip
    for note in notes:
        say(note)
    if as_json:
        print_json({"rows": [vars(row) for row in rows]})
        return
    header = ["method", "epsilon", "expected", "worst case", "ratio", "one_report"]
    cells = [
        [row.method, f"{row.epsilon:g}", number(row.expected_variance), number(row.worst_case_variance),
         f"{row.ratio_to_optimal:.4f}", number(row.one_report_times_n)]
        for row in rows
    ]  # fmt: skip
    title = (
        "Variance of one report (squared units of the data), its ratio to the optimum, n times its influence on a mean"
    )
    print_rows(title, header, cells)


def _compare_categories(prior: CategoricalPrior, epsilons: list[float], notes: list[str], as_json: bool) -> None:
    from ..comparison.categorical import compare_categorical

    found = []
    with task_progress("comparing", len(epsilons)) as update:
        for epsilon in epsilons:
            update(f"epsilon {epsilon:g}", False)
            found += [(epsilon, row) for row in compare_categorical(prior.weights, epsilon)]
            update(f"epsilon {epsilon:g}", True)
    for note in notes:
        say(note)
    if as_json:
        print_json({"rows": [{"epsilon": epsilon, **vars(row)} for epsilon, row in found]})
        return
    cells = [
        [row.method, f"{epsilon:g}", number(row.error), f"{row.ratio_to_optimal:.4f}", number(row.one_report_times_n)]
        for epsilon, row in found
    ]
    title = (
        "n times the expected squared error of all frequencies, its ratio to the optimum, n times a report's influence"
    )
    print_rows(title, ["method", "epsilon", "error", "ratio", "one_report"], cells)
