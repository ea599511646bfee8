"""`optldp evaluate`: what a mechanism that was made for one prior costs on another, and what a new design would."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .asked.options import (
    CONFIDENCE,
    Clip,
    Confidence,
    DropMissing,
    Json,
    Options,
    PriorFile,
    Table,
    checked_confidence,
    people,
    takes_options,
)
from .said.output import (
    means_facts,
    number,
    one_line_errors,
    print_facts,
    print_json,
    print_means,
    print_rows,
    say,
    solver_progress,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...mechanisms import TabulatedMechanism
    from ...mechanisms.categorical.mechanism import PureProtocol
    from ...mechanisms.categorical.table import CategoricalTable
    from ...mechanisms.floors import FloorForm
    from ...mechanisms.table.knot_prior import KnotPrior
    from ..planning.people import MeanWithin
    from ..priors.prior import Prior
    from .kinds.kind import Part

    Within = Mapping[str, MeanWithin]

THESE = "their values are as these"
USES_DATA = "note: what is printed is a function of the values of DATA, as sensitive as they are"


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(Options):
    """What `optldp evaluate` may be asked."""

    table: Table
    data: Annotated[Path | None, typer.Option("--on", metavar="DATA", help="File of values, as for design.")] = None
    column: Annotated[
        str | None, typer.Option("--column", help="Column of DATA; attributes have columns of their own names.")
    ] = None
    prior_file: PriorFile = None
    users: Annotated[int | None, people("Users who will report, for the errors of estimates.")] = None
    confidence: Confidence = CONFIDENCE
    clip: Clip = False
    drop_missing: DropMissing = False
    as_json: Json = False


@one_line_errors
@takes_options
def evaluate_command(asked: EvaluateOptions) -> None:
    """Say what a mechanism costs on other values than it was made for, beside a new design for these.

    Levels and attributes are evaluated one by one.

    \b
    Example: optldp evaluate mech.json --on next_year.csv --column income --n 20000
    """
    from ...mechanisms import load_mechanism
    from ...solvers.biased.program import check_users
    from .kinds.registry import kind_of

    checked_confidence(asked.confidence)
    if asked.users is not None:
        check_users(asked.users)
    parts = kind_of(load_mechanism(asked.table)).parts()
    if any(part.column is not None for part in parts):
        asked.refuse("of no use to attributes, which have columns of their own names", "--column", "--prior")
    notes: list[str] = []
    found = [(part.name, *_evaluated(part, asked, notes)) for part in parts]
    for note in [*dict.fromkeys(notes), USES_DATA]:
        say(note)
    if len(found) > 1:
        _print_parts(found, asked)
        return
    ((_, facts, within),) = found
    if asked.as_json:
        print_json(facts | means_facts(within))
        return
    print_facts(
        f"{asked.table}: {_beside(facts)}",
        [(name, number(value)) for name, value in facts.items() if value is not None],
    )
    print_means(within, getattr(parts[0].mechanism, "units", ""))


def _beside(facts: dict[str, Any]) -> str:
    """Say how the mechanism compares to a new design."""
    if facts["ratio_to_new_design"] is None:
        return "too many categories for a new design beside it"
    loss, what = facts["ratio_to_new_design"] - 1, "variance" if "expected_variance" in facts else "squared error"
    return f"{100 * loss:.2g}% more {what} than a new design" if loss > 0 else "as good as a new design"


def _print_parts(found: list[tuple[str, dict[str, Any], Within]], asked: EvaluateOptions) -> None:
    """Print a row for each part, or all of them as JSON."""
    parts = [{"part": name, **facts, **means_facts(within)} for name, facts, within in found]
    if asked.as_json:
        print_json({"parts": parts})
        return
    numbers = [name for name, value in parts[0].items() if name != "part" and not isinstance(value, str)]
    names = [name for name in numbers if any(facts[name] is not None for facts in parts)]
    rows = [[facts["part"], *(number(facts[name]) for name in names)] for facts in parts]
    print_rows(f"{asked.table}: each part beside a new design", ["part", *names], rows)


def _evaluated(part: Part, asked: EvaluateOptions, notes: list[str]) -> tuple[dict[str, Any], Within]:
    """Return what one part costs on the data; what there is to say of them is added to the notes."""
    from ...mechanisms import TabulatedMechanism
    from ...mechanisms.categorical.mechanism import PureProtocol
    from ...mechanisms.categorical.table import CategoricalTable
    from ...mechanisms.errors import InputError
    from ...mechanisms.floors import FloorForm
    from .said.prior import read_prior

    made, column = part.mechanism, part.column or asked.column
    if isinstance(made, CategoricalTable | PureProtocol):
        asked.refuse("of no use to categories", "--clip")
        return _of_categories(made, asked), {}
    if not isinstance(made, TabulatedMechanism | FloorForm):
        raise InputError(
            f"evaluate is for numbers, categories, attributes and their levels, got pairs in {str(asked.table)!r}: "
            "what they cost depends on each key's share, so design anew and compare one_report_times_n of show"
        )
    domain = (float(made.knots[0]), float(made.knots[-1]))
    prior, told = read_prior(
        asked.data, column, domain, asked.prior_file, None, True, asked.drop_missing, made.units, clip=asked.clip
    )
    notes += told
    return _of_numbers(made, prior.on(made.knots), asked, part.share)


def _of_categories(mechanism: CategoricalTable | PureProtocol, asked: EvaluateOptions) -> dict[str, Any]:
    """Squared errors of all frequencies, times n, on average over the values; with users, of each frequency."""
    from ..designs.design import design
    from ..objectives.base import Problem
    from ..objectives.frequencies import Frequencies
    from .said.prior import read_categorical_prior

    given, _ = read_categorical_prior(
        asked.data, asked.column, asked.prior_file, drop_missing=asked.drop_missing, public=True
    )
    prior, objective = given.among(mechanism.categories), Frequencies()
    many = len(prior.categories) > objective.most_categories
    new = None
    if not many:
        with solver_progress("a new design") as progress:
            new = design(prior, mechanism.epsilon, progress=progress).value
    old = objective.value(mechanism, Problem(prior, mechanism.epsilon))
    facts = {
        "expected_squared_error": old,
        "expected_squared_error_of_new_design": new,
        "ratio_to_new_design": None if new is None else old / new,
    }
    if asked.users is not None:
        share = 1 / math.sqrt(len(prior.categories) * asked.users)
        facts["frequency_error"] = share * math.sqrt(old)
        facts["frequency_error_of_new_design"] = None if new is None else share * math.sqrt(new)
    return facts


def _of_numbers(
    mechanism: TabulatedMechanism | FloorForm, prior: Prior, asked: EvaluateOptions, share: float
) -> tuple[dict[str, Any], Within]:
    """Variances of one report, on average over the values; with users, how far their mean may be off."""
    from ..designs.design import design
    from ..planning.people import mean_within

    with solver_progress("a new design") as progress:
        new = design(prior, mechanism.epsilon, progress=progress).expected_variance
    old = _variance(mechanism, prior.knot_prior)
    facts = {
        "expected_variance_as_designed": None if mechanism.prior is None else _variance(mechanism, mechanism.prior),
        "expected_variance": old,
        "expected_variance_of_new_design": new,
        "ratio_to_new_design": old / new,
    }
    if asked.users is None:
        return facts, {}
    reporting, sure = max(int(asked.users * share), 1), asked.confidence
    facts["mean_within_of_new_design"] = mean_within(reporting, new, None, confidence=sure).within
    return facts, {"": mean_within(reporting, old, None, confidence=sure, under=THESE)}


def _variance(mechanism: TabulatedMechanism | FloorForm, prior: KnotPrior) -> float:
    """The expected variance of a report, decoded where reports are not unbiased; InputError where they cannot be."""
    from ...estimators import InputGrid, plain_decoder
    from ...estimators.means.decoding import decoded_variances
    from ...mechanisms import TabulatedMechanism

    if mechanism.provenance.claims_unbiased or not isinstance(mechanism, TabulatedMechanism):
        return mechanism.expected_variance(prior)
    spread = decoded_variances(mechanism, plain_decoder(mechanism), InputGrid.knots(mechanism.knots))
    return float(spread @ prior.weights + prior.rounding.sum())
