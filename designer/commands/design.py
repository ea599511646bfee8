"""`optldp design`: from data or a prior to a mechanism, for numbers, categories, pairs, or budgets to choose from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...mechanisms.errors import TableError
from .options.designs.design import DesignOptions
from .options.designs.mixing import OPTIONS as MIXING
from .options.kind import DesignKind, OneTable
from .options.shared import CONFIDENCE, takes_options
from .output.output import (
    means_facts,
    one_line_errors,
    print_explained,
    print_facts,
    print_json,
    print_means,
    readable_fact,
    require_place,
    say,
    say_wrote,
)
from .output.prior import CARRIED
from .output.words import MEAN_WITHIN, explained, with_brief
from .rendering.mixing import local_budget, mixed_facts
from .rendering.objectives import design_table

if TYPE_CHECKING:
    from pathlib import Path

    from ...mechanisms import TabulatedMechanism
    from ...mechanisms.channel import Channel
    from ...mechanisms.compact_tables import FloorForm
    from .handlers.kind import Designed
    from .rendering.objectives import Outcome

FLOOR = (
    "note: the file is in floor form, a few numbers a knot from which the table follows, as the table would "
    "be large (--form table): every command takes it"
)
"""Said of a form that was not asked for."""

FOR_PROGRAMS = (
    "log_ratios",
    "program_variance",
    "program_lower_bound",
    "trust_measured",
    "solver",
    "status",
    "value",
    "worst_case_lower_bound",
)
"""Facts of the JSON object that people are told in other words."""

OF_KNOTS = ("lower_bound", "relative_gap")
"""Facts that people are not told beside the same for every number of knots."""

NOTED = ("rmse", "rmse_biased", "clip_low", "clip_high")
"""Those of an unbiased design that a note says."""


@one_line_errors
@takes_options
def design_command(asked: DesignOptions) -> None:
    """Derive a mechanism for a column's prior and certify how far from optimal it can be.

    \b
    Example: optldp design survey.csv --column income --range 0 200000 --epsilon 1 --out mech.json
    Example: optldp design survey.csv --column income --range 0 200000 --epsilon 1 --knots auto:gap=1e-5 --out near.json
    Example: optldp design survey.csv --column income --range 0 200000 --epsilon 1 --form floor --out short.json
    Example: optldp design --range 0 200000 --epsilon 1 --objective minimax --out worst.json
    Example: optldp design survey.csv --column income --range 0 200000 --epsilon 1 --objective robust:tv,radius=0.1 \\
    --out safe.json
    Example: optldp design survey.csv --column income --range 0 200000 --epsilon 1 --objective information:cumulative \\
    --knots 33 --out shape.json
    Example: optldp design survey.csv --column income --range 0 200000 --epsilon 1 --n 20000 --objective error:2 \\
    --plot clips.png --out mean.json
    Example: optldp design survey.csv --column age --range 18 90 --epsilon 1 --n 20000 --of share:above=65 \\
    --out old.json
    Example: optldp design survey.csv --column job --categorical --epsilon 1 --out jobs.json
    Example: optldp design --range 0 200000 --epsilon 1 --privacy approximate:delta=1e-6 --out gauss.json
    Example: optldp design --range 0 40 --epsilon 0.5 --privacy metric --out contacts.json
    Example: optldp design survey.csv --attribute age=18:90 --attribute income=0:200000 --epsilon 1 --out both.json
    Example: optldp design survey.csv --for correlation --column x=0:20 --column y=0:80 --epsilon 1 --out two.json
    Example: optldp design survey.csv --for group-means --group town --column y=0:80 --epsilon 1 --out two.json
    Example: optldp design survey.csv --for table --column sex --column job --epsilon 1 --out two.json
    Example: optldp design --prior prior.csv --n 1e5 --central-epsilon 0.5 --shuffle-delta 1e-6 --out mixed.json
    Example: optldp design survey.csv --column job --categorical --levels 0.1:1:0.1 --level-epsilon 0.5 --out jobs.json
    """
    from ...mechanisms.files.table import SUFFIXES
    from .handlers.numbers.clipped import marked
    from .handlers.registry import design_bundle

    if asked.over_time:
        asked.refuse("of no use over time, where each period's reports would be mixed apart", *MIXING)
    mixing = asked.mixing(asked.n, asked.epsilons or asked.levels)
    if mixing is not None:
        asked = _with_budget(asked, 1.0)
    asked.refuse_useless()
    one_table = isinstance(asked.kind, OneTable) or asked.kind is DesignKind.NOISE
    require_place(asked.out, SUFFIXES if one_table else (".json",), force=asked.force)
    require_place(asked.plot, force=asked.force)
    if mixing is not None:
        asked = _with_budget(asked, local_budget(mixing, lambda epsilon: _made_with(asked, epsilon, one_table)))
    if one_table:
        made = design_table(asked)
        more = mixed_facts(mixing, made.mechanism)
        _finish_table(replace(made, mechanism=marked(made.mechanism, asked), facts=made.facts | more), asked)
        return
    designed = design_bundle(asked)
    _finish_bundle(replace(designed, more=designed.more | mixed_facts(mixing, designed.bundle)), asked)


def _with_budget(asked: DesignOptions, epsilon: float) -> DesignOptions:
    """The same with a local budget instead of what mixed reports are to keep, and with users where these are asked."""
    n = asked.n if "--n" in asked.kind.uses else None
    return replace(asked, epsilons=[epsilon], central_epsilon=None, shuffle_delta=None, n=n)


def _made_with(asked: DesignOptions, epsilon: float, one_table: bool) -> Channel:
    """Make the mechanism of a local budget and nothing more: users matter only to what is designed for their number."""
    from .handlers.registry import design_bundle

    trial = _with_budget(asked, epsilon)
    if not (one_table and asked.wanted.name == "error"):
        trial = replace(trial, n=None, confidence=CONFIDENCE)
    return design_table(trial).mechanism if one_table else design_bundle(trial).bundle


def _finish_table(made: Outcome, asked: DesignOptions) -> None:
    """Write one table of numbers, and say what it is."""
    mechanism, notes = made.mechanism.without_prior() if asked.omit_prior else made.mechanism, list(made.notes)
    written: list[tuple[Path, str]] = []
    if asked.out is not None:
        floor = _save(mechanism, asked.out, asked)
        written.append((asked.out, f"{'a floor form' if floor else 'a table'} of {mechanism.knots.size} knots"))
        if floor and asked.form != "floor":
            notes.append(FLOOR)
        if mechanism.prior is not None and not asked.public:
            notes.append(CARRIED)
    if (other := _of_distributions(made.mechanism, asked)) is not None:
        notes.append(other)
    if asked.plot is not None and made.figure is not None:
        from ..plots.saving import save_figure

        if lacking := save_figure(made.figure(), asked.plot):
            say(f"warning: {lacking}")
        written.append((asked.plot, "a figure"))
    for note in notes:
        say(note)
    for path, what in written:
        say_wrote(path, what)
    facts = made.facts | {"table": None if asked.out is None else str(asked.out)}
    if asked.as_json:
        print_json(facts | means_facts(made.within) | _explained(facts, asked))
        return
    hidden = {*FOR_PROGRAMS, *(NOTED if "rmse_biased" in facts else ()), *(OF_KNOTS if "total_gap" in facts else ())}
    shown = {name: value for name, value in facts.items() if value is not None and name not in hidden}
    rows = [(name, with_brief(name, readable_fact(name, value))) for name, value in shown.items()]
    print_facts(made.title, rows)
    print_means(made.within, made.mechanism.units)
    if asked.explain:
        print_explained([name for name, _ in rows] + [MEAN_WITHIN] * bool(made.within))


def _of_distributions(mechanism: TabulatedMechanism | FloorForm, asked: DesignOptions) -> str | None:
    """Return what a table that --of asks for means costs distributions; None for others, or where it is little."""
    from ...mechanisms.compact_tables.floor_and_windows import table_of
    from ..objectives.questions.asked import OF_MEANS
    from ..objectives.questions.other_tables import shorter_for_distributions

    if asked.of not in OF_MEANS or asked.n is None or mechanism.prior is None:
        return None
    ratio = shorter_for_distributions(table_of(mechanism, "a design"), mechanism.prior.weights, asked.n)
    if ratio is None:
        return None
    return (
        f"note: this table tells shares of the values within {1 / ratio:.2g} times what a table for distributions "
        "does: --of mean,cdf is for both"
    )


def _save(mechanism: TabulatedMechanism | FloorForm, out: Path, asked: DesignOptions) -> bool:
    """Write a table as it is, or the floor that it stands on, and return whether it is the floor."""
    from ...mechanisms import TabulatedMechanism, save_bundle, save_table
    from ...mechanisms.compact_tables import floor_form

    if isinstance(mechanism, TabulatedMechanism):
        try:
            floor = floor_form(mechanism) if asked.writes_floor(*mechanism.probabilities.shape) else None
        except TableError:
            if asked.form == "floor":
                raise
            floor = None
        if floor is None:
            save_table(mechanism, out)
            return False
        mechanism = floor
    save_bundle(mechanism, out)
    return True


def _finish_bundle(designed: Designed, asked: DesignOptions) -> None:
    """Write a bundle, and say what it is."""
    from ...mechanisms import save_bundle
    from .handlers.registry import kind_of

    kind = kind_of(designed.bundle)
    within = {} if asked.n is None else kind.means_within(asked.n, designed.priors, confidence=asked.sure)
    if asked.out is not None:
        save_bundle(designed.bundle, asked.out)
    for note in designed.notes:
        say(note)
    if asked.out is not None:
        say_wrote(asked.out, f"a mechanism, {designed.bundle.kind}")
    facts = kind.facts() | designed.more | {"file": None if asked.out is None else str(asked.out)}
    facts.pop("certificate", None)  # its numbers are among the others
    if asked.as_json:
        print_json(facts | means_facts(within) | _explained(facts, asked))
        return
    rows = [(name, readable_fact(name, value)) for name, value in facts.items() if value is not None]
    print_facts(designed.title or f"{designed.bundle.kind} mechanism", rows)
    print_means(within, asked.units)
    if asked.explain:
        print_explained([name for name, _ in rows] + [MEAN_WITHIN] * bool(within))


def _explained(facts: dict[str, Any], asked: DesignOptions) -> dict[str, Any]:
    """What --explain adds to the JSON object."""
    return {"explained": explained(facts)} if asked.explain else {}
