"""`optldp compare`: every method against the certified optimum."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...mechanisms.errors import InputError
from ..objectives.registry import in_words
from .options.designs.features import OF_COLUMNS, FeaturesOptions
from .options.designs.objective import PANEL, ObjectiveOptions
from .options.shared import (
    EPSILONS,
    PLOTS,
    TOLERANCE,
    UNIFORM_SHARE,
    Categorical,
    Force,
    Json,
    Knots,
    Methods,
    Plot,
    Tolerance,
    UniformShare,
    takes_options,
)
from .output.output import (
    json_text,
    number,
    one_line_errors,
    print_json,
    print_rows,
    require_place,
    say,
    task_progress,
    write_figure,
)
from .output.prior import SENSITIVE, read_categorical_prior

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from ...mechanisms import TabulatedMechanism
    from ..comparison.compare import Comparison
    from ..comparison.row import Row
    from ..objectives.at_most import AtMost
    from ..objectives.base import Objective
    from ..objectives.error import Error
    from ..priors.categorical import CategoricalPrior

NO_OPTIMUM = "note: there are too many categories to find the optimum, so no ratios: merge rare ones to see them"

SUFFIXES = (".csv", ".parquet", ".json", ".tex")


@dataclass(frozen=True, kw_only=True)
class CompareOptions(FeaturesOptions, ObjectiveOptions):
    """What `optldp compare` may be asked."""

    epsilons: Annotated[list[str], EPSILONS]
    knots: Knots = None
    objectives: Annotated[
        list[str] | None,
        typer.Option(
            "--objective",
            help="Objective of the comparison; repeat for several: methods are chosen by the first. Default: "
            f"expected. There are {in_words()}",
            rich_help_panel=PANEL,
        ),
    ] = None
    of: Annotated[
        list[str] | None,
        typer.Option(
            "--of",
            metavar="QUESTION",
            help="Question instead of --objective, as in design: mean, median, share:above=20, cdf or mean,cdf; "
            "rows say how long intervals of the answer are. Repeat for several.",
            rich_help_panel=PANEL,
        ),
    ] = None
    methods: Methods = None
    tables: Annotated[
        list[Path] | None,
        typer.Option(
            "--table",
            help="Your own table, a proved file, as a row named after it; without --knots, all methods use its knots. "
            "Repeat for several.",
        ),
    ] = None
    outputs: Annotated[
        str | None,
        typer.Option(
            "--outputs",
            help="Numbers of outputs that a table may have, a row each: 2,4,8 or bits:1,bits:2. They show the "
            "cost of short reports.",
        ),
    ] = None
    uniform_share: UniformShare = UNIFORM_SHARE
    tolerance: Tolerance = TOLERANCE
    categorical: Categorical = False
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the rows: .csv, .parquet, .json or .tex (LaTeX).")
    ] = None
    plot: Plot = None
    error: Annotated[
        float | None,
        typer.Option("--error", help="With --for: a standard error, for which people are counted."),
    ] = None
    force: Force = False
    as_json: Json = False

    def refuse_for_categories(self) -> None:
        """Raise InputError for an option that only numbers have a use for."""
        numeric = (
            "--n", "--range", "--knots", "--method", "--table", "--outputs", "--uniform-share", "--tolerance",
            "--objective", "--of", "--confidence", "--assume", "--assume-from", "--plot",
        )  # fmt: skip
        self.refuse("of no use to categories", *numeric)


@one_line_errors
@takes_options
def compare_command(asked: CompareOptions) -> None:
    """Compare every method with the certified optimum, one row per method and budget.

    \b
    Example: optldp compare survey.csv --column income --range 0 200000 --epsilon 0.5 --epsilon 1 --epsilon 2
    Example: optldp compare survey.csv --column income --range 0 200000 --epsilon 1 --objective minimax \\
    --objective expected
    Example: optldp compare survey.csv --column income --range 0 200000 --epsilon 1 --objective error --n 20000
    Example: optldp compare survey.csv --column age --range 18 90 --epsilon 1 --n 20000 --of share:above=65 --of cdf
    Example: optldp compare --prior prior.csv --epsilon 1 --table mech.json
    Example: optldp compare --prior prior.csv --epsilon 1 --method optimal --outputs 2,4,8,16
    Example: optldp compare --prior prior.csv --epsilon 0.5,1,2 --plot variances.svg
    Example: optldp compare --prior prior.csv --epsilon 1 --method ptt --method ptt:eta=1.5 --method ptt:eta=4
    Example: optldp compare survey.csv --column job --categorical --epsilon 1
    Example: optldp compare survey.csv --for correlation --column x=0:20 --column y=0:80 --epsilon 1
    """
    from ...mechanisms.budget import check_epsilon
    from ...solvers.biased.error_program import check_users
    from ..comparison.compare import compare
    from ..methods.registry import METHODS
    from ..planning.people_of_rows import row_facts
    from ..planning.questions import lengths_of
    from .options.designs.levels import budget_numbers

    require_place(asked.out, SUFFIXES, force=asked.force)
    require_place(asked.plot, PLOTS, force=asked.force)
    sure = asked.sure
    if asked.n is not None:
        check_users(asked.n)
    epsilons = [check_epsilon(number) for text in asked.epsilons for number in budget_numbers(text, "--epsilon")]
    if asked.for_text is not None:
        _compare_features(epsilons, asked)
        return
    asked.refuse("for what one report of several columns is for, with --for", *OF_COLUMNS, "--error")
    if asked.categorical:
        asked.refuse_for_categories()
        labels, notes = read_categorical_prior(
            asked.data, asked.column, asked.prior_file, drop_missing=asked.drop_missing, public=asked.public
        )
        _compare_categories(labels, epsilons, notes if asked.public else [*notes, SENSITIVE], asked)
        return
    if asked.of:
        asked.refuse("for a comparison that no question chooses", "--objective")
    decides, *others = asked.objectives_named(asked.objectives or ([] if asked.of else ["expected"]), asked.of or ())
    share = asked.uniform_share if decides.uniform_share else None  # as in `optldp design`, others have no use for it
    # Questions are answered within their own tolerance, a percent.
    tolerance = asked.given()["--tolerance"] if any(one.asks for one in (decides, *others)) else asked.tolerance
    prior, notes = asked.prior_on(asked.knots)
    tables, limits = _tables(asked.tables or []), _limits(asked.outputs)
    if tables and asked.knots is None:
        prior = prior.on(next(iter(tables.values())).knots)
    with task_progress("comparing", len(epsilons)) as update:
        rows = compare(
            prior, epsilons, methods=asked.methods or METHODS, tables=tables, outputs=limits, objective=decides,
            objectives=others, uniform_share=share, tolerance=tolerance,
            progress=lambda epsilon, step: update(f"epsilon {epsilon:g}", step is None),
        )  # fmt: skip
    for note in (*notes, *asked.objective_notes, *_without_value(rows)):
        say(note)
    judged = {objective.key: objective for objective in (decides, *others)}
    lengths = dict.fromkeys(name for row in rows for name in lengths_of(row, judged[row.objective]))
    told = [
        vars(row) | row_facts(row, judged[row.objective], asked.n, confidence=sure)
        | lengths | lengths_of(row, judged[row.objective])
        for row in rows
    ]  # fmt: skip
    _write(told, asked.out)
    if asked.plot is not None:
        write_figure(_drawn(rows, decides), asked.plot)
    if asked.as_json:
        print_json({"rows": told})
        return
    for key, objective in judged.items():
        _print(objective, [row for row in rows if row.objective == key], asked.n, sure, prior.units)
    if asked.out is not None:
        typer.echo(f"rows: {asked.out}")


def _drawn(rows: Comparison, decides: Objective) -> Axes:
    """Draw the rows by the objective that decides: variances, or its own numbers."""
    from ...mechanisms.units import literal
    from ..objectives.variance import Variance
    from ..objectives.worst_case import WorstCase
    from ..plots.objective_lines import objective

    if isinstance(decides, Variance | WorstCase):
        return rows.plot(worst_case=isinstance(decides, WorstCase))
    own = [row for row in rows if row.objective == decides.key]
    quantity = decides.quantity(literal(rows.units))
    return objective(own, quantity=quantity, nobody=decides.nobody, more_is_better=decides.more_is_better)


def _limits(text: str | None) -> list[AtMost]:
    """Return how many outputs tables may have; InputError for what is no such number."""
    from ..objectives.at_most import AtMost
    from .options.designs.outputs import given_outputs

    found = [] if text is None else [given_outputs(each) for each in text.split(",")]
    if (wrong := [each for each in found if not isinstance(each, AtMost)]) != []:
        raise InputError(
            f"--outputs of compare must be how many, 2,4,8 or bits:3, got {text!r}, with {len(wrong)} other"
        )
    return [each for each in found if isinstance(each, AtMost)]


def _tables(paths: Sequence[Path]) -> dict[str, TabulatedMechanism]:
    """Read tables, each under the name of its file."""
    from ...mechanisms import load_table

    names = [path.stem for path in paths]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"each --table must have a file name of its own, got {twice[0]!r} twice: rename one")
    return {path.stem: load_table(path) for path in paths}


def _write(rows: list[dict[str, Any]], out: Path | None) -> None:
    """Write rows of the same names to the file that was asked for, if any."""
    if out is None:
        return
    if out.suffix.lower() == ".json":
        from ...mechanisms.files.atomic_write import replacing

        with replacing(out) as part:
            part.write_text(json_text({"rows": rows}) + "\n", "utf-8")
        return
    if out.suffix.lower() == ".tex":
        from .output.latex import write_latex

        write_latex(out, rows)
        return
    from ...estimators.reading.columns.number_cells import write_columns

    columns = {name: [row[name] for row in rows] for name in rows[0]}
    text = {name for name, cells in columns.items() if any(isinstance(cell, str) for cell in cells)}
    write_columns(
        out,
        {
            name: ["" if cell is None else cell for cell in cells]
            if name in text
            else [math.nan if cell is None else cell for cell in cells]
            for name, cells in columns.items()
        },
    )


def _print(objective: Objective, rows: list[Row], people: int | None, sure: float, units: str) -> None:
    """Print what one objective says: variances, its own number unless it is one of them, and the ratio to its best."""
    from ..objectives.error import Error
    from ..objectives.variance import Variance
    from ..planning.people_of_rows import add_people

    if isinstance(objective, Error):
        _print_errors(objective, rows, people, sure, units)
        return
    if objective.asks:
        from .output.shortest import print_lengths

        print_lengths(objective, rows, people, units)
        return

    usual = isinstance(objective, Variance)
    header = ["method", "epsilon", "expected", "worst case", *([] if usual else ["value"]), "ratio", "one_report"]
    cells = [
        [row.method, f"{row.epsilon:g}", number(row.expected_variance), number(row.worst_case_variance),
         *([] if usual else [number(row.value)]),
         "none" if row.ratio_to_optimal is None else f"{row.ratio_to_optimal:.4f}", number(row.one_report_times_n)]
        for row in rows
    ]  # fmt: skip
    title = (
        "Variance of one report (squared units of the data), its ratio to the optimum, n times its influence on a mean"
        if usual
        else f"{objective.label[0].upper()}{objective.label[1:]}: {objective.quantity('')}, its ratio to the optimum"
    )
    said = add_people(objective, rows, people, header, cells, confidence=sure, units=units)
    print_rows(title, header, cells)
    for line in said:
        typer.echo(line)


def _print_errors(objective: Error, rows: list[Row], people: int | None, sure: float, units: str) -> None:
    """Print errors of a mean: variances would leave the bias out."""
    from ..planning.people_of_rows import add_people

    header = ["method", "epsilon", "error", "ratio", "cut below", "cut above", "shift"]
    cells = [
        [row.method, f"{row.epsilon:g}", number(row.value),
         "none" if row.ratio_to_optimal is None else f"{row.ratio_to_optimal:.4f}",
         number(row.clip_low), number(row.clip_high), number(row.shift)]
        for row in rows
    ]  # fmt: skip
    label = f"{objective.label[0].upper()}{objective.label[1:]}"
    said = add_people(objective, rows, people, header, cells, confidence=sure, units=units)
    print_rows(f"{label}; closed forms with their own best clip and shift", header, cells)
    for line in said:
        typer.echo(line)


def _without_value(rows: Sequence[Row]) -> list[str]:
    """Return a line for the rows that have no value, with the reason of the first."""
    found = [row for row in rows if row.error]
    if not found:
        return []
    first = found[0]
    return [
        f"warning: {len(found)} of {len(rows)} rows have no value, the first {first.method} at epsilon "
        f"{first.epsilon:g} by {first.objective}: {first.error}"
    ]


def _compare_categories(
    prior: CategoricalPrior, epsilons: list[float], notes: list[str], asked: CompareOptions
) -> None:
    from ..comparison.categorical import compare_categorical

    found = []
    with task_progress("comparing", len(epsilons)) as update:
        for epsilon in epsilons:
            update(f"epsilon {epsilon:g}", False)
            found += [(epsilon, row) for row in compare_categorical(prior.weights, epsilon)]
            update(f"epsilon {epsilon:g}", True)
    for note in notes:
        say(note)
    told = [{"epsilon": epsilon, **vars(row)} for epsilon, row in found]
    _write(told, asked.out)
    if asked.as_json:
        print_json({"rows": told})
        return
    cells = [
        [row.method, f"{epsilon:g}", number(row.error),
         "unknown" if row.ratio_to_optimal is None else f"{row.ratio_to_optimal:.4f}", number(row.one_report_times_n)]
        for epsilon, row in found
    ]  # fmt: skip
    if all(row.ratio_to_optimal is None for _, row in found):
        say(NO_OPTIMUM)
    title = (
        "n times the expected squared error of all frequencies, its ratio to the optimum, n times a report's influence"
    )
    print_rows(title, ["method", "epsilon", "error", "ratio", "one_report"], cells)
    if asked.out is not None:
        typer.echo(f"rows: {asked.out}")


def _compare_features(epsilons: list[float], asked: CompareOptions) -> None:
    """Compare one report of several columns with split budgets and the other ways to collect it."""
    from .handlers.rivals import rivals

    asked.refuse(
        "of no use to --for", "--column", "--prior", "--range", "--knots", "--method", "--table", "--outputs",
        "--uniform-share", "--tolerance", "--objective", "--of", "--confidence", "--assume", "--assume-from", "--plot",
        "--categorical", "--after",
    )  # fmt: skip
    if asked.data is None:
        raise InputError("a comparison --for needs a survey, on which each way is judged, got none: name one")
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    with task_progress("comparing", len(epsilons)) as update:
        for epsilon in epsilons:
            update(f"epsilon {epsilon:g}", False)
            found, notes = rivals(
                asked, asked.data, epsilon, users=asked.n, error=asked.error, clip=asked.clip,
                drop_missing=asked.drop_missing, public=asked.public,
            )  # fmt: skip
            rows += found
            update(f"epsilon {epsilon:g}", True)
    for note in notes:
        say(note)
    _write(rows, asked.out)
    if asked.as_json:
        print_json({"rows": rows})
        return
    header = [name for name in rows[0] if name != "for"]
    title = f"n times the variance of a {rows[0]['for']}, the number that errs most, and its ratio to the best"
    cells = [[row["method"], *(number(row[name]) for name in header if name != "method")] for row in rows]
    print_rows(title, ["method", *(name for name in header if name != "method")], cells)
    if asked.out is not None:
        typer.echo(f"rows: {asked.out}")
