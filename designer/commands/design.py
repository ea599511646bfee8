"""`optldp design`: from data or a prior to a mechanism, for numbers, categories, pairs, or budgets to choose from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .design_options import TABLES, DesignOptions
from .objectives import design_table
from .options import FLOOR, Column, Data, Domain, DropMissing, Floor, Json, PriorFile, Public
from .output import one_line_errors, print_facts, print_json, readable, require_place, say
from .prior import CARRIED

if TYPE_CHECKING:
    from .kinds.kind import Designed
    from .objectives import Outcome

FOR_PROGRAMS = ("program_variance", "status")
"""Facts of the JSON object that people are told in other words."""


@one_line_errors
def design_command(
    data: Data = None,
    *,
    epsilons: Annotated[list[float] | None, typer.Option("--epsilon", help="Privacy budget, natural units.")] = None,
    column: Column = None,
    domain: Domain = None,
    prior_file: PriorFile = None,
    knots: Annotated[
        str | None,
        typer.Option(
            "--knots",
            metavar="N|auto",
            help="Equally spaced knots, or auto for as many as --gap takes. Default: 101, or a prior's own values.",
        ),
    ] = None,
    gap: Annotated[
        float | None,
        typer.Option("--gap", help="For --knots auto: relative gap to every mechanism on the interval. Default: 1e-3."),
    ] = None,
    objective: Annotated[
        str,
        typer.Option(
            "--objective",
            help="Of a table of numbers: least expected variance, least largest variance (minimax), least expected "
            "variance under the worst prior near this one (robust), or most information.",
        ),
    ] = "expected",
    ambiguity: Annotated[
        str | None, typer.Option("--ambiguity", help="For robust: relative, tv or wasserstein distance of the priors.")
    ] = None,
    radius: Annotated[
        float | None, typer.Option("--radius", help="For robust: how far off the prior may be; wasserstein: in units.")
    ] = None,
    criterion: Annotated[
        str | None,
        typer.Option("--criterion", help="For information: mutual-information (default), fisher or cumulative."),
    ] = None,
    patterns: Annotated[
        str | None,
        typer.Option("--patterns", help="For information: values that a report may favour, interval (default) or any."),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            help="optimal (default), aaa, or a closed form such as piecewise. Categories: auto (default: grr or olh), "
            "grr, olh, oue, rappor, optimal. Pairs: unary (default), grr. See the README.",
        ),
    ] = None,
    categorical: Annotated[bool, typer.Option("--categorical", help="The column holds categories.")] = False,
    value_column: Annotated[
        str | None, typer.Option("--value-column", help="Values of key-value pairs, whose keys are the column's.")
    ] = None,
    value_method: Annotated[
        str | None, typer.Option("--value-method", help="For pairs: how values are reported. Default: duchi.")
    ] = None,
    padding: Annotated[
        int | None, typer.Option("--padding", help="For pairs: how many a user holds, about. Default: 1.")
    ] = None,
    levels: Annotated[
        str | None,
        typer.Option("--levels", help="Budgets that users choose from, such as 0.1,0.5,1 or 0.1:1:0.1, for --epsilon."),
    ] = None,
    level_epsilon: Annotated[
        float | None, typer.Option("--level-epsilon", help="Budget that protects the choice among --levels.")
    ] = None,
    attributes: Annotated[
        list[str] | None,
        typer.Option("--attribute", metavar="NAME=LO:HI", help="A numeric column and its range; repeat for several."),
    ] = None,
    sampled: Annotated[
        int | None, typer.Option("--sampled", help="Attributes that a user reports. Default: the best number.")
    ] = None,
    floor: Floor = FLOOR,
    tolerance: Annotated[
        float | None,
        typer.Option("--tolerance", help="Relative gap to reach. Default: 1e-6 for numbers, 1e-3 for categories."),
    ] = None,
    worst_case: Annotated[
        bool, typer.Option("--worst-case", help="For ptt and ptt2: least worst-case variance.")
    ] = False,
    intervals: Annotated[int | None, typer.Option("--intervals", help="For aaa: N, lattice intervals.")] = None,
    window: Annotated[int | None, typer.Option("--window", help="For aaa: M, free noise steps.")] = None,
    tail_ratio: Annotated[float | None, typer.Option("--tail-ratio", help="For aaa: r of the tails.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="File to write, .json, or .npz for one table of numbers.")
    ] = None,
    omit_prior: Annotated[bool, typer.Option("--omit-prior", help="Leave the prior out of the table.")] = False,
    public: Public = False,
    drop_missing: DropMissing = False,
    units: Annotated[str, typer.Option("--units", help="Name of the units, kept in the table.")] = "",
    as_json: Json = False,
) -> None:
    """Derive a mechanism for a column's prior and certify how far from optimal it can be.

    \b
    Example: optldp design people.csv --column income --range 0 200000 --epsilon 1 --out mech.json
    Example: optldp design people.csv --column income --range 0 200000 --epsilon 1 --knots auto --gap 1e-3 --out m.json
    Example: optldp design --range 0 200000 --epsilon 1 --objective minimax --out worst.json
    Example: optldp design people.csv --column income --range 0 200000 --epsilon 1 --objective robust --ambiguity tv \\
    --radius 0.1 --out safe.json
    Example: optldp design people.csv --column income --range 0 200000 --epsilon 1 --objective information \\
    --criterion cumulative --knots 33 --out shape.json
    Example: optldp design people.csv --column job --categorical --epsilon 1 --out jobs.json
    Example: optldp design people.csv --attribute age=18:90 --attribute income=0:200000 --epsilon 1 --out both.json
    Example: optldp design people.csv --column job --categorical --levels 0.1:1:0.1 --level-epsilon 0.5 --out jobs.json
    """
    from ...mechanisms.errors import InputError
    from ...mechanisms.files.table_file import SUFFIXES

    if epsilons and len(epsilons) > 1:
        raise InputError(f"a design takes one --epsilon, got {len(epsilons)}: see --levels, or optldp bounds")
    options = DesignOptions(
        data=data, epsilon=epsilons[0] if epsilons else None, column=column, domain=domain, prior_file=prior_file,
        knots=knots, gap=gap,
        objective=objective, ambiguity=ambiguity, radius=radius, criterion=criterion, patterns=patterns, method=method,
        categorical=categorical, value_column=value_column, value_method=value_method, padding=padding, levels=levels,
        level_epsilon=level_epsilon, attributes=attributes, sampled=sampled, floor=floor, tolerance=tolerance,
        worst_case=worst_case, intervals=intervals, window=window, tail_ratio=tail_ratio, omit_prior=omit_prior,
        public=public, drop_missing=drop_missing, units=units,
    )  # fmt: skip
    options.refuse_useless()
    one_table = options.kind in TABLES.values()
    require_place(out, SUFFIXES if one_table else (".json",))
    if one_table:
        _finish_table(design_table(options), out, options, as_json)
        return
    from .kinds.registry import design_bundle

    _finish_bundle(design_bundle(options), out, as_json)


def _finish_table(made: Outcome, out: Path | None, options: DesignOptions, as_json: bool) -> None:
    """Write one table of numbers, and say what it is."""
    from ...mechanisms import save_table

    mechanism, notes = made.mechanism.without_prior() if options.omit_prior else made.mechanism, list(made.notes)
    if out is not None:
        save_table(mechanism, out)
        if mechanism.prior is not None and not options.public:
            notes.append(CARRIED)
    for note in notes:
        say(note)
    facts = made.facts | {"table": None if out is None else str(out)}
    if as_json:
        print_json(facts)
        return
    shown = {name: value for name, value in facts.items() if value is not None and name not in FOR_PROGRAMS}
    rows = [(name, readable(value)) for name, value in shown.items()]
    at = [name.endswith("_bound") for name, _ in rows].index(True)
    rows[at:at] = [(name, readable(value)) for name, value in made.aside.items()]
    print_facts(made.title, rows)


def _finish_bundle(designed: Designed, out: Path | None, as_json: bool) -> None:
    """Write a bundle, and say what it is."""
    from ...mechanisms import save_bundle
    from .kinds.registry import kind_of

    if out is not None:
        save_bundle(designed.bundle, out)
    for note in designed.notes:
        say(note)
    facts = kind_of(designed.bundle).facts() | designed.more | {"file": None if out is None else str(out)}
    if as_json:
        print_json(facts)
        return
    rows = [(name, readable(value)) for name, value in facts.items() if value is not None]
    print_facts(f"{designed.bundle.kind} mechanism", rows)
