"""`optldp plan` for a collection over time: what each way would cost, which is best, and in one sentence why."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from ....mechanisms.errors import InputError
from ...over_time import plan_over_time
from ...over_time.repeated import OF
from ..output.output import number, print_json, print_rows, say, spinner
from ..output.prior import read_categorical_prior

if TYPE_CHECKING:
    from ....mechanisms.categorical.mechanism import CategoricalMechanism
    from ...over_time import Repeated, WayPlan
    from ...priors.categorical import CategoricalPrior

NOT_OVER_TIME = (
    "--error", "--estimator", "--distance", "--seed", "--out", "--force", "--confidence",
    "--tolerance", "--uniform-share", "--objective", "--central-epsilon", "--shuffle-delta",
)  # fmt: skip

WHOSE = "the means of these very users, a finite population; that they are a sample of others comes on top"

SHOWN = ("way", "error_per_period", "error_of_average", "error_of_change", "life_epsilon", "reports", "made")


def plan_ways(asked: Any) -> None:
    """Print the best way that is made and keeps what is to be protected, and the others, for the options of `plan`."""
    asked.refuse("of no use over time", *(name for name in NOT_OVER_TIME if name in asked.given()))
    if asked.n is None or asked.epsilon is None:
        raise InputError("a plan over time needs --n and --epsilon: it finds the errors")
    of = "each" if asked.given()["--of"] is None else asked.of
    if of not in OF:
        raise InputError(f"--of must be one of {', '.join(OF)} over time, got {of!r}")
    problem = asked.repeated(of)
    made, told_of_values = None, ("", "frequency")
    if asked.categorical:
        asked.refuse("for numbers", "--range", "--knots", "--units")
        prior, notes = read_categorical_prior(
            asked.data, asked.column, asked.prior_file, drop_missing=asked.drop_missing, public=asked.public
        )
        if asked.method is not None:
            made = partial(_oracle, prior, asked.method)
    else:
        asked.refuse("for categories over time, with --categorical", "--method")
        prior, notes = asked.prior_on(asked.knots, asked.units)
        told_of_values = (prior.units, "mean")
    with spinner("planning") as told:
        ways = plan_over_time(
            prior, asked.epsilon, asked.n, problem, made=made, progress=lambda budget: told(f"epsilon {budget:.3g}")
        )
    for note in notes:
        say(note)
    if asked.as_json:
        best, *others = [_facts(way, of) for way in ways]
        print_json(
            {**best, "errors_are_about": WHOSE, "of": of, "periods": problem.periods, "changes": problem.changes,
             "protects": problem.protects, "answers": problem.answers, "users": asked.n, "alternatives": others}
        )  # fmt: skip
        return
    told_of = [_facts(way, of) for way in ways]
    cells = [[_cell(facts[name]) for name in SHOWN] for facts in told_of]
    print_rows(_sentence(ways, problem, *told_of_values), list(SHOWN), cells)


def _oracle(prior: CategoricalPrior, method: str, epsilon: float) -> CategoricalMechanism:
    from ...planning.categories import KNOWN_ORACLES, oracle

    if method not in KNOWN_ORACLES:
        raise InputError(f"--method must be one of {', '.join(KNOWN_ORACLES)} for categories, got {method!r:.40}")
    return oracle(prior, epsilon, method)


def _facts(way: WayPlan, of: str) -> dict[str, Any]:
    facts = asdict(way)
    error = way.error(of)
    known = way.floor and error < float("inf")
    return facts | {"error_over_floor": error / way.floor if known and way.floor else None}


def _sentence(ways: list[WayPlan], problem: Repeated, units: str, told: str = "mean") -> str:
    """Say which way, with which error, what is promised for how long, and what a device must remember."""
    best, of = ways[0], problem.of
    what = {"each": f"each period's {told}", "average": "the average over the periods", "change": "each change"}[of]
    unit = f" {units}" if units else ""
    when = "at the end" if of == "average" or problem.delay == problem.periods - 1 else (
        "when each period ends" if problem.delay == 0 else f"{problem.delay} periods after each"
    )  # fmt: skip
    reports = "one report" if best.reports == 1 else f"{best.reports} reports"
    return (
        f"By way {best.way}, {reports} a user in {problem.periods} periods, {what} is told {when} with an error of "
        f"{number(best.error(of))}{unit}: {best.promise}; a device remembers {best.device_keeps}."
    )


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else number(value) if isinstance(value, float) else str(value)
