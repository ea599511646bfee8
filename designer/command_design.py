"""`optldp design`: from data or a prior to a mechanism, for numbers, categories, pairs, or budgets to choose from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .command_bundle_design import design_bundle, design_numbers
from .command_options import (
    FLOOR,
    Column,
    Data,
    Domain,
    DropMissing,
    Floor,
    Json,
    Knots,
    PriorFile,
    Public,
)
from .command_output import (
    number,
    one_line_errors,
    print_facts,
    print_json,
    readable,
    require_place,
    say,
)
from .command_prior import CARRIED
from .design_options import DesignOptions

if TYPE_CHECKING:
    from .command_bundle_design import Designed
    from .mechanism_design import Design


@one_line_errors
def design_command(
    data: Data = None,
    *,
    epsilon: Annotated[float | None, typer.Option("--epsilon", help="Privacy budget, natural units.")] = None,
    column: Column = None,
    domain: Domain = None,
    prior_file: PriorFile = None,
    knots: Knots = None,
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
    Example: optldp design people.csv --column job --categorical --epsilon 1 --out jobs.json
    Example: optldp design people.csv --attribute age=18:90 --attribute income=0:200000 --epsilon 1 --out both.json
    Example: optldp design people.csv --column job --categorical --levels 0.1:1:0.1 --level-epsilon 0.5 --out jobs.json
    """
    from ..mechanisms.table_file import SUFFIXES

    options = DesignOptions(
        data=data, epsilon=epsilon, column=column, domain=domain, prior_file=prior_file, knots=knots, method=method,
        categorical=categorical, value_column=value_column, value_method=value_method, padding=padding, levels=levels,
        level_epsilon=level_epsilon, attributes=attributes, sampled=sampled, floor=floor, tolerance=tolerance,
        worst_case=worst_case, intervals=intervals, window=window, tail_ratio=tail_ratio, omit_prior=omit_prior,
        public=public, drop_missing=drop_missing, units=units,
    )  # fmt: skip
    options.refuse_useless()
    require_place(out, SUFFIXES if options.kind == "one table of numbers" else (".json",))
    if options.kind == "one table of numbers":
        prior, notes = options.prior()
        _finish_table(design_numbers(options, prior, options.budgets.epsilons[0]), notes, out, options, as_json)
        return
    _finish_bundle(design_bundle(options), out, as_json)


def _finish_table(result: Design, notes: list[str], out: Path | None, options: DesignOptions, as_json: bool) -> None:
    """Write one table of numbers, and say what it is."""
    from ..mechanisms import save_table

    mechanism = result.mechanism.without_prior() if options.omit_prior else result.mechanism
    if out is not None:
        save_table(mechanism, out)
        if not mechanism.exact:
            notes.append("note: the table is not exact: whole numbers over 2^53 are too coarse for this budget")
    if result.status != "optimal":
        notes.append(
            f"warning: the certificate's gap stayed open at {result.relative_gap:.1e}; the table is valid all the same"
        )
    if out is not None and not (options.public or options.omit_prior):
        notes.append(CARRIED)
    for note in notes:
        say(note)
    facts = _facts(result, None if out is None else str(out))
    if as_json:
        print_json(facts)
        return
    rows = [(name, number(v) if isinstance(v, float) else str(v)) for name, v in facts.items() if v is not None]
    if result.program_variance != result.expected_variance:  # the bound is under the floored prior: show its like
        at = [name for name, _ in rows].index("lower_bound")
        rows.insert(at, ("with the floor", number(result.program_variance)))
    print_facts(f"{result.method} mechanism", rows)


def _finish_bundle(designed: Designed, out: Path | None, as_json: bool) -> None:
    """Write a bundle, and say what it is."""
    from ..mechanisms import save_bundle
    from .bundle_facts import bundle_facts

    if out is not None:
        save_bundle(designed.bundle, out)
    for note in designed.notes:
        say(note)
    facts = bundle_facts(designed.bundle) | designed.more | {"file": None if out is None else str(out)}
    if as_json:
        print_json(facts)
        return
    rows = [(name, readable(value)) for name, value in facts.items() if value is not None]
    print_facts(f"{designed.bundle.kind} mechanism", rows)


def _facts(result: Design, table: str | None) -> dict[str, object]:
    n, m = result.mechanism.probabilities.shape
    return {
        "method": result.method,
        "epsilon": result.epsilon,
        "knots": n,
        "outputs": m,
        "expected_variance": result.expected_variance,
        "lower_bound": result.lower_bound,
        "relative_gap": result.relative_gap,
        "worst_case_variance": result.worst_case_variance,
        "max_log_ratio": result.max_log_ratio,
        "max_abs_bias": result.max_abs_bias,
        "seconds": result.seconds,
        "table": table,
    }
