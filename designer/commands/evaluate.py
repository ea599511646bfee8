"""`optldp evaluate`: what a mechanism that was made for one prior costs on another, and what a new design would."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .options.evaluate import EvaluateOptions
from .options.shared import checked_confidence, takes_options
from .output.output import (
    means_facts,
    number,
    one_line_errors,
    print_facts,
    print_json,
    print_means,
    print_rows,
    say,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..planning.people import MeanWithin

    Within = Mapping[str, MeanWithin]

USES_DATA = "note: what is printed is a function of the values of DATA, as sensitive as they are"


@one_line_errors
@takes_options
def evaluate_command(asked: EvaluateOptions) -> None:
    """Compare a mechanism's errors on new values with those of a new design for these values.

    Levels and attributes are evaluated one by one; places, and categories with a promise of pairs, are evaluated by the
    loss for which their table was designed.

    \b
    Example: optldp evaluate mech.json --on next_year.csv --column income --n 20000
    Example: optldp evaluate places.json --on next_year.csv --column x --column y
    """
    from ...mechanisms import load_mechanism
    from ...solvers.biased.error_program import check_users
    from .handlers.registry import kind_of
    from .rendering.costs import cost_on

    checked_confidence(asked.confidence)
    if asked.users is not None:
        check_users(asked.users)
    parts = kind_of(load_mechanism(asked.table)).parts()
    if any(part.column is not None for part in parts):
        asked.refuse("of no use to attributes, which have columns of their own names", "--column", "--prior")
    notes: list[str] = []
    found = [(part.name, *cost_on(part.mechanism, part, asked, notes)) for part in parts]
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
    print_means(within, parts[0].mechanism.inputs.units)


def _beside(facts: dict[str, Any]) -> str:
    """Say how the mechanism compares to a new design."""
    if facts["ratio_to_new_design"] is None:
        return "too many categories for a new design beside it"
    more = facts["ratio_to_new_design"] - 1
    named = {"expected_variance": "variance", "expected_squared_error": "squared error"}
    what = next((named[name] for name in named if name in facts), "loss of one report")
    return f"{100 * more:.2g}% more {what} than a new design" if more > 0 else "as good as a new design"


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
