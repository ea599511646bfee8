"""`optldp plan`: the error that a budget buys, or the budget that an error takes, before anyone is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...estimators.methods import FREQUENCY_METHODS, OF_ONE_SERVICE
from ...mechanisms.errors import InputError, wired
from ...mechanisms.option_grammar import name_asked
from ..methods.options import told_method
from ..objectives.registry import in_words
from .options.designs.features import OF_COLUMNS, FeaturesOptions
from .options.designs.mixing import OPTIONS as MIXED
from .options.designs.mixing import Mixing, MixingOptions
from .options.designs.objective import PANEL, ObjectiveOptions
from .options.designs.over_time import OverTimeOptions
from .options.shared import (
    EPSILON,
    PLOTS,
    TOLERANCE,
    UNIFORM_SHARE,
    USERS,
    Categorical,
    Force,
    Json,
    Knots,
    Plot,
    Seed,
    Tolerance,
    UniformShare,
    Units,
    checked_confidence,
    people,
    takes_options,
)
from .output.output import (
    means_facts,
    one_line_errors,
    print_facts,
    print_json,
    print_means,
    readable,
    require_place,
    say,
    say_wrote,
    spinner,
    write_figure,
)
from .output.prior import CARRIED, read_categorical_prior

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from ...mechanisms import TabulatedMechanism
    from ..designs.result import Design
    from ..planning.distribution import DistributionPlan
    from ..planning.mean import BudgetPlan
    from ..planning.people import MeanWithin
    from ..priors.prior import Prior

WANTED = ("users", "population", "distribution")

OF_MEANS = {"mean": "users", "difference": "population"}
"""Questions whose plan is that of a mean: whose it is."""


@dataclass(frozen=True, kw_only=True)
class PlanOptions(FeaturesOptions, OverTimeOptions, ObjectiveOptions, MixingOptions):
    """What `optldp plan` may be asked."""

    n: Annotated[int | None, people(USERS)] = None
    error: Annotated[
        float | None,
        typer.Option("--error", help="Largest error wanted: finds the budget, or n."),
    ] = None
    epsilon: Annotated[float | None, EPSILON] = None
    of: Annotated[
        str,
        typer.Option(
            "--of",
            help="users or population (their mean), distribution, or a question: share:above=20, median, cdf, mean, "
            "difference; over time each, average, change.",
        ),
    ] = "users"
    categorical: Categorical = False
    knots: Knots = None
    objective: Annotated[
        str,
        typer.Option(
            "--objective",
            help="Objective of the mechanism; the error of a mean takes expected, minimax, robust or error. There are "
            f"{in_words()}",
            rich_help_panel=PANEL,
        ),
    ] = "expected"
    method: Annotated[str | None, typer.Option("--method", help="Mechanism, as for optldp design.")] = None
    estimator: Annotated[
        str | None,
        typer.Option(
            "--estimator",
            help=f"For the distribution: {', '.join(OF_ONE_SERVICE)}. Default: em. Categories: "
            f"{', '.join(FREQUENCY_METHODS)}, mr-preselect, mr-prune. Default: unbiased.",
        ),
    ] = None
    distance: Annotated[
        str | None, typer.Option("--distance", help="For the distribution: wasserstein (default) or jensen-shannon.")
    ] = None
    seed: Seed = None
    uniform_share: UniformShare = UNIFORM_SHARE
    tolerance: Tolerance = TOLERANCE
    out: Annotated[Path | None, typer.Option("--out", help="Write the mechanism, .json or .npz.")] = None
    plot: Plot = None
    force: Force = False
    units: Units = ""
    as_json: Json = False

    @property
    def users(self) -> int | None:
        return 1 if self.n is None else self.n  # those that a plan finds take the place of any number

    @cached_property
    def asked(self) -> dict[str, Any]:
        """What plans take whatever is estimated; InputError for options that are lacking or of no use."""
        (objective,) = self.objectives_named([self.objective])
        # As in `optldp design`, an objective that needs no uniform share has no use for one.
        share = self.uniform_share if objective.uniform_share else None
        return {
            "objective": objective,
            "method": told_method(self.method or "optimal"),
            "uniform_share": share,
            "tolerance": self.tolerance,
        }


@one_line_errors
@takes_options
def plan_command(asked: PlanOptions) -> None:
    """Predict the error at a budget, or find the budget or the number of users for an error, if values follow the
    prior.

    Give two of --n, --epsilon and --error, and the third is found; for mixed reports give --central-epsilon and --n.

    Errors are standard errors of a mean or expected distances of an estimated distribution, in units of the data, or
    root mean squared errors.

    \b
    Example: optldp plan survey.csv --column income --range 0 200000 --n 20000 --error 500
    Example: optldp plan survey.csv --column age --n 900 --epsilon 1 --plot p.svg
    Example: optldp plan survey.csv --column income --range 0 200000 --n 20000 --epsilon 1 --of population
    Example: optldp plan survey.csv --column income --range 0 200000 --n 20000 --error 700 --objective minimax
    Example: optldp plan survey.csv --column income --range 0 200000 --epsilon 1 --error 700 --objective error
    Example: optldp plan survey.csv --column income --range 0 200000 --n 20000 --error 2000 --of distribution
    Example: optldp plan survey.csv --column age --range 18 90 --n 20000 --epsilon 1 --of share:above=65
    Example: optldp plan survey.csv --column job --categorical --n 20000 --error 0.01
    Example: optldp plan --prior prior.csv --epsilon 2 --n 100000 --periods 52 --changes 4 --answers at-end --of each
    Example: optldp plan survey.csv --for correlation --column x=0:20 --column y=0:80 --epsilon 1 --error 0.05
    Example: optldp plan --prior prior.csv --n 1e5 --central-epsilon 0.5 --shuffle-delta 1e-6
    """
    from ...mechanisms.files.table import SUFFIXES
    from ..designs.design import design
    from .rendering.mixing import local_budget, mixed_facts

    drawn = asked.of in (*OF_MEANS, "users", "population") and asked.objective.partition(":")[0] != "error"
    if asked.over_time or asked.for_text is not None or asked.categorical or not drawn:
        asked.refuse("for means without bias, of one column and one period", "--plot")
    require_place(asked.plot, PLOTS, force=asked.force)
    if asked.over_time:
        from .over_time.plan import plan_ways

        plan_ways(asked)
        return
    if asked.for_text is not None:
        _of_features(asked)
        return
    asked.refuse("for what one report of several columns is for, with --for", *OF_COLUMNS)
    mixing = asked.mixing(asked.n, asked.epsilon)
    if mixing is not None:
        asked.refuse("found by --central-epsilon and --n", "--error")
    elif [asked.n, asked.error, asked.epsilon].count(None) != 1:
        raise InputError("a plan needs two of --n, --error and --epsilon: it finds the third")
    if asked.of in OF_MEANS or asked.of in WANTED:
        question = None
    else:
        from ..objectives.questions.asked import QUESTIONS

        if name_asked(asked.of) not in QUESTIONS:
            raise InputError(f"--of must be one of {', '.join(dict.fromkeys([*WANTED, *QUESTIONS]))}, got {asked.of!r}")
        question = asked.of
    if asked.n is None and (asked.categorical or asked.of == "distribution"):
        raise InputError("--n is found for the error of a mean alone: add --n N")
    if asked.categorical:
        _of_categories(asked, mixing)
        return
    if question is not None:
        _of_question(asked)
        return
    if asked.of == "distribution":
        asked.refuse("for means", "--confidence")
    else:
        asked.refuse("for --of distribution", "--estimator", "--distance", "--seed")
    common, out = asked.asked, asked.out
    require_place(out, SUFFIXES, force=asked.force)
    prior, notes = asked.prior_on(asked.knots, asked.units)
    plans = {"users": _mean, "population": _mean, "mean": _mean, "difference": _mean, "distribution": _distribution}
    if mixing is not None:
        found = local_budget(mixing, lambda epsilon: design(prior, epsilon, **common).mechanism)
        asked = replace(asked, epsilon=found)
    plan = wired("--of", plans, asked.of)(prior, asked, common)
    more = mixed_facts(mixing, plan.design.mechanism)
    _save(plan.design.mechanism, asked, [*notes, *asked.objective_notes])
    facts, sure = _facts(plan, asked.of) | more | {"table": out and str(out)}, checked_confidence(asked.confidence)
    if asked.plot is not None:
        write_figure(_drawn(prior, plan, common), asked.plot)
    within = {} if asked.of == "difference" else _within(plan, sure)
    if asked.as_json:
        print_json(facts | means_facts(within))
        return
    about = _ABOUT.get(asked.of, f"the mean of the {asked.of}")
    rows = [(name, readable(value)) for name, value in facts.items() if value is not None]
    print_facts(f"{facts['users']:,} reports, for {about}", rows)
    print_means(within, prior.units)


def _drawn(prior: Prior, plan: BudgetPlan, common: dict[str, Any]) -> Axes:
    """Draw the plan's error against the people, beside those of half and of twice its budget."""
    from ..planning.mean import plan_error
    from ..plots.people_lines import people

    others = [plan_error(prior, plan.n, factor * plan.epsilon, of=plan.of, **common) for factor in (0.5, 2.0)]
    return people([plan, *others], units=prior.units)


def _save(mechanism: TabulatedMechanism, asked: PlanOptions, notes: Sequence[str]) -> None:
    """Write a plan's table where that is asked for, and say what there is to know of the prior and of what it holds."""
    from ...mechanisms import save_table

    carried = [] if asked.out is None or asked.public else [CARRIED]
    _saved(save_table, mechanism, asked, [*notes, *carried], f"a table of {mechanism.knots.size} knots")


def _saved(
    save: Callable[[Any, Path], None], mechanism: Any, asked: PlanOptions, notes: Sequence[str], what: str
) -> None:
    if asked.out is not None:
        save(mechanism, asked.out)
    for note in notes:
        say(note)
    if asked.out is not None:
        say_wrote(asked.out, what)


_ABOUT = {
    "distribution": "an estimated distribution",
    "mean": "the mean of the users",
    "difference": "the difference of the means of two halves",
}


def _of_features(asked: PlanOptions) -> None:
    """A plan of what hangs together between columns: the people an error takes, or the error of so many."""
    from ...mechanisms import save_bundle
    from ..features import people_of
    from .handlers.features import features_design, rounds_plan, split_people

    useless = ("--column", "--prior", "--range", "--of", "--objective", "--method", "--estimator", "--distance")
    asked.refuse("of no use to --for", *useless, "--knots", "--categorical", "--seed", "--confidence", *MIXED)
    if asked.epsilon is None or [asked.n, asked.error].count(None) != 1:
        raise InputError("a plan --for needs --epsilon, and --n or --error: it finds the other")
    require_place(asked.out, (".json",), force=asked.force)
    made, notes = features_design(
        asked, asked.data, asked.epsilon, asked.n, clip=asked.clip, drop_missing=asked.drop_missing,
        public=asked.public,
    )  # fmt: skip
    _saved(save_bundle, made.mechanism, asked, notes, f"a mechanism for a {made.target}")
    split: dict[str, int] = {}
    if asked.error is not None:
        split = split_people(
            asked, asked.data, asked.epsilon, asked.error, clip=asked.clip, drop_missing=asked.drop_missing
        )
    facts: dict[str, Any] = {
        "for": made.target,
        "epsilon": asked.epsilon,
        **people_of(made, asked.n, asked.error),
        **split,
        **rounds_plan(asked, asked.data, asked.epsilon, asked.n, asked.error),
        "table": asked.out and str(asked.out),
    }
    if asked.as_json:
        print_json(facts)
        return
    print_facts(
        f"{facts['people']:,} reports, for {made.target}",
        [(name, readable(value)) for name, value in facts.items() if value is not None],
    )


def _of_question(asked: PlanOptions) -> None:
    """A plan of a share, the distribution function or the median."""
    from ...mechanisms.files.table import SUFFIXES
    from ..objectives.questions.asked import question_asked
    from ..planning.questions import plan_question

    asked.refuse("for means", "--objective", "--method", "--confidence")
    asked.refuse("for --of distribution", "--estimator", "--distance", "--seed")
    asked.refuse("for means, distributions and categories", *MIXED)
    require_place(asked.out, SUFFIXES, force=asked.force)
    prior, notes = asked.prior_on(asked.knots, asked.units)
    question = question_asked(asked.of)
    with spinner("planning") as told:
        plan = plan_question(
            prior, asked.of, lambda n: question.made(replace(asked, n=n)), users=asked.n, epsilon=asked.epsilon,
            error=asked.error, progress=lambda tried, error: told(f"{tried:,.4g}, error {error:.4g}"),
        )  # fmt: skip
    _save(plan.design.mechanism, asked, notes)
    facts: dict[str, Any] = {
        "objective": plan.design.objective.key,
        "method": plan.design.method,
        "users": plan.users,
        "epsilon": plan.epsilon,
        "of": plan.of,
        "predicted_error": plan.predicted_error,
        "least_error": plan.least_error,
        "status": str(plan.design.status),
        "table": asked.out and str(asked.out),
    }
    if asked.as_json:
        print_json(facts)
        return
    rows = [(name, readable(value)) for name, value in facts.items() if value is not None]
    print_facts(f"{plan.users:,} reports, for {plan.design.objective.asks}", rows)
    typer.echo(plan.sentence)


def _of_categories(asked: PlanOptions, mixing: Mixing | None) -> None:
    import numpy as np

    from ...mechanisms import save_bundle
    from ..planning.categories import oracle
    from ..planning.frequencies import plan_frequencies
    from .rendering.mixing import local_budget, mixed_facts

    asked.refuse("for numbers", "--range", "--confidence", "--knots", "--of", "--distance", "--objective", "--units")
    require_place(asked.out, (".json",), force=asked.force)
    prior, notes = read_categorical_prior(
        asked.data, asked.column, asked.prior_file, drop_missing=asked.drop_missing, public=asked.public
    )
    users, method = asked.n, asked.method or "auto"
    assert users is not None
    epsilon = asked.epsilon
    if mixing is not None:
        epsilon = local_budget(mixing, lambda budget: oracle(prior, budget, method))
    with spinner("planning") as told:
        plan = plan_frequencies(
            prior, users, epsilon=epsilon, error=asked.error, method=method,
            estimator=asked.estimator or "unbiased", rng=np.random.default_rng(asked.seed), progress=_telling(told),
        )  # fmt: skip
    _saved(save_bundle, plan.mechanism, asked, notes, f"a mechanism, {plan.mechanism.kind}")
    facts: dict[str, Any] = {
        "method": plan.mechanism.provenance.method,
        "users": plan.users,
        "epsilon": plan.epsilon,
        "of": "frequencies",
        "predicted_error": plan.predicted_error.value,
        "monte_carlo_error": plan.predicted_error.error,
        "estimator": plan.estimator,
        **mixed_facts(mixing, plan.mechanism),
        "table": asked.out and str(asked.out),
    }
    if asked.as_json:
        print_json(facts)
        return
    rows = [(name, readable(value)) for name, value in facts.items() if value is not None]
    print_facts(f"{users:,} reports, for frequencies", rows)


def _mean(prior: Prior, asked: PlanOptions, common: dict[str, Any]) -> BudgetPlan:
    from ..planning.mean import plan_epsilon, plan_error
    from ..planning.users import plan_users

    options: dict[str, Any] = common | {"of": OF_MEANS.get(asked.of, asked.of)}
    # The difference of two halves varies as the mean of a quarter of all does.
    parts = 4 if asked.of == "difference" else 1
    n = None if asked.n is None else max(asked.n // parts, 1)
    with spinner("planning") as told:
        if n is None:
            assert asked.epsilon is not None
            assert asked.error is not None
            found = plan_users(
                prior, asked.epsilon, asked.error, progress=lambda n, error: told(f"{n:,} users, error {error:.4g}"),
                **options,
            )  # fmt: skip
        elif asked.error is not None:
            found = plan_epsilon(prior, n, asked.error, progress=_telling(told), **options)
        else:
            assert asked.epsilon is not None
            found = plan_error(prior, n, asked.epsilon, **options)
    return found


def _distribution(prior: Prior, asked: PlanOptions, common: dict[str, Any]) -> DistributionPlan:
    import numpy as np

    from ..planning.distribution import plan_distribution_epsilon, plan_distribution_error

    options: dict[str, Any] = common | {
        "rng": np.random.default_rng(asked.seed),
        "estimator": asked.estimator or "em",
        "distance": asked.distance or "wasserstein",
    }
    assert asked.n is not None
    with spinner("simulating") as told:
        if asked.error is not None:
            return plan_distribution_epsilon(prior, asked.n, asked.error, progress=_telling(told), **options)
        assert asked.epsilon is not None
        return plan_distribution_error(prior, asked.n, asked.epsilon, **options)


def _telling(told: Callable[[str], None]) -> Callable[[float, float], None]:
    return lambda epsilon, error: told(f"epsilon {epsilon:.4g}, error {error:.4g}")


def _within(plan: BudgetPlan | DistributionPlan, confidence: float) -> dict[str, MeanWithin]:
    """How far the mean may be off, of the users or of the population; nothing of a distribution."""
    from ..planning.mean import BudgetPlan

    return {"": plan.within(confidence)} if isinstance(plan, BudgetPlan) else {}


def _facts(plan: BudgetPlan | DistributionPlan, of: str) -> dict[str, Any]:
    from ..planning.mean import BudgetPlan

    parts = 4 if of == "difference" else 1
    facts: dict[str, Any] = {
        "objective": plan.design.objective.key,
        "method": plan.design.method,
        "users": plan.users * parts,
        "epsilon": plan.epsilon,
    }
    if isinstance(plan, BudgetPlan):
        return facts | {
            "of": of if of in OF_MEANS else plan.of,
            "predicted_error": plan.predicted_error,
            "least_error": plan.least_error,
            "least_epsilon": plan.least_epsilon,
            **_table_facts(plan.design),
        }
    return facts | {
        "of": "distribution",
        "predicted_error": plan.predicted_error.value,
        "monte_carlo_error": plan.predicted_error.error,
        "estimator": plan.estimator,
        "distance": plan.distance,
        "expected_variance": plan.design.expected_variance,
    }


def _table_facts(made: Design) -> dict[str, Any]:
    """What is to be known of a table: its variance, or which values it counts as which, where that is no error."""
    from ...estimators.means.error import counted_as

    if made.objective.key != "error":
        return {"expected_variance": made.expected_variance}
    counted = counted_as(made.mechanism, made.prior.weights)
    return {"clip_low": counted.low, "clip_high": counted.high, "shift": counted.shift}
