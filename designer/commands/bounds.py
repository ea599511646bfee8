"""`optldp bounds`: the best that is possible at each budget, every mechanism beside it, as a report to read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .asked.bounds import BoundsOptions, require_places
from .options import (
    TOLERANCE,
    UNIFORM_SHARE,
    Column,
    Data,
    Domain,
    DropMissing,
    Json,
    PriorFile,
    Public,
    Tolerance,
    UniformShare,
)
from .output import number, one_line_errors, print_json, print_rows, say, task_progress

if TYPE_CHECKING:
    from ..comparison.bounds_result import BoundsResult

EPSILONS = "0.25:4:0.25"
KNOTS = 65

SHOWS_PRIOR = "warning: the report shows the prior itself, and is as sensitive as the values that it comes from."


@one_line_errors
def bounds_command(
    data: Data = None,
    *,
    epsilon: Annotated[
        list[str] | None,
        typer.Option(
            "--epsilon",
            help=f"Budgets, as LO:HI:STEP with the end, or as a list such as 0.5,1,2. Default: {EPSILONS}.",
        ),
    ] = None,
    column: Column = None,
    domain: Domain = None,
    prior_file: PriorFile = None,
    knots: Annotated[int, typer.Option("--knots", help="Equally spaced knots.")] = KNOTS,
    methods: Annotated[
        list[str] | None, typer.Option("--method", help="Repeat for several; default: all. The optimum is always one.")
    ] = None,
    at: Annotated[
        float | None, typer.Option("--at", help="The budget to show in detail. Default: the one nearest to 1.")
    ] = None,
    objectives: Annotated[
        list[str] | None,
        typer.Option("--objective", help="robust or information, beside expected and minimax; repeat for both."),
    ] = None,
    ambiguity: Annotated[
        str | None, typer.Option("--ambiguity", help="For robust: relative, tv or wasserstein distance of the priors.")
    ] = None,
    radius: Annotated[
        float | None, typer.Option("--radius", help="For robust: how far off the prior may be; wasserstein: in units.")
    ] = None,
    criterion: Annotated[
        str | None,
        typer.Option("--criterion", help="For information: cumulative (default), fisher or mutual-information."),
    ] = None,
    uniform_share: UniformShare = UNIFORM_SHARE,
    tolerance: Tolerance = TOLERANCE,
    out: Annotated[Path | None, typer.Option("--out", help="Report to write, .html.")] = None,
    results: Annotated[
        Path | None,
        typer.Option("--results", help="File that keeps what is computed, to go on after a stop."),
    ] = None,
    workers: Annotated[int, typer.Option("--workers", "-j", help="Processes; -1 for every core.")] = 1,
    public: Public = False,
    drop_missing: DropMissing = False,
    units: Annotated[str, typer.Option("--units", help="Name of the units, for the report.")] = "",
    as_json: Json = False,
) -> None:
    """Find the best that any mechanism can do at each budget, and how far from it each known one is.

    \b
    Example: optldp bounds people.csv --column income --range 0 200000 --epsilon 0.25:4:0.25 --out report.html
    Example: optldp bounds people.csv --column income --range 0 200000 --objective robust --ambiguity tv --radius 0.1 \\
    --objective information --out report.html
    """
    from ...mechanisms.files.atomic_write import replacing
    from ..comparison.bounds import bounds
    from ..methods.registry import METHODS
    from ..report.page import bounds_html, require_report_tools
    from .asked.levels import budget_numbers

    epsilons = ",".join(epsilon) if epsilon and len(epsilon) > 1 else (epsilon or [EPSILONS])[0]
    options = BoundsOptions(
        data, column, domain, prior_file, epsilons, knots, tuple(methods or ()), at, uniform_share, tolerance, public,
        drop_missing, units, tuple(objectives or ()), ambiguity, radius, criterion,
    )  # fmt: skip
    asked = options.asked()
    budgets = budget_numbers(epsilons, "--epsilon")
    require_places(out, results)
    if out is not None:
        require_report_tools()
    prior, notes = options.prior()
    with task_progress("bounds", len(set(budgets)) + 1) as update:
        found = bounds(
            prior, budgets, methods=methods or METHODS, objectives=asked, at=at, uniform_share=uniform_share,
            tolerance=tolerance, results=results, n_jobs=workers, progress=lambda done, total, what: update(what, True),
        )  # fmt: skip
    if out is not None:
        page = bounds_html(found, column=column or "", command=options.command(out))
        with replacing(out) as part:
            part.write_text(page, "utf-8", errors="replace")
        notes += [] if public else [SHOWS_PRIOR]
    for note in (*notes, *_complaints(found)):
        say(note)
    _print(found, out, as_json)


def _complaints(found: BoundsResult) -> list[str]:
    """Return a line for the cases that failed and one for those whose proof is weaker than asked for."""
    lines = []
    if found.failures:
        first = found.failures[0]
        lines.append(
            f"warning: {len(found.failures)} of {len(found.rows)} cases failed, the first {first.method} at epsilon "
            f"{first.epsilon:g}: {first.error}"
        )
    if found.detail.failures:
        what, why = next(iter(found.detail.failures.items()))
        lines.append(f"warning: at epsilon {found.detail.epsilon:g} some figures lack {what}: {why}")
    opened = [row for row in found.rows if row.status == "gap-open"]
    if opened:
        widest = max(row.relative_gap or 0.0 for row in opened)
        lines.append(f"warning: {len(opened)} certificates stayed open, the widest at {widest:.1e}")
    if widest := found.coarsest:
        lines.append(
            f"warning: {found.prior.knots.size} knots are few: at epsilon {widest.epsilon:g} a mechanism on the whole "
            f"interval could have up to {100 * (widest.continuum_gap or 0.0):.2g} % less: use more --knots"
        )
    return lines


def _print(found: BoundsResult, out: Path | None, as_json: bool) -> None:
    units = found.prior.units
    if as_json:
        rows = [vars(row) | {"program_variance": row.value, "lower_bound": row.bound} for row in found.rows]
        judged = [
            vars(row) | {"ratio_to_best": row.ratio_to_optimal, "asked": asked.label, "quantity": asked.quantity(units)}
            for asked in found.objectives
            for row in found.by(asked)
        ]
        print_json({"rows": rows, "objectives": judged, "report": None if out is None else str(out)})
        return
    cells = []
    for budget in found.budgets:
        best, worst = budget.row("optimal"), budget.minimax
        rival = budget.closed_forms[0] if budget.closed_forms else None
        cells.append(
            [f"{budget.epsilon:g}", number(best.expected_variance), number(worst.worst_case_variance),
             "none" if rival is None else rival.method,
             "none" if rival is None else f"{rival.ratio_to_optimal:.4f}"]
        )  # fmt: skip
    header = ["epsilon", "expected", "worst case", "closed form", "ratio"]
    print_rows(
        "Least variances of one report (squared units), and the best closed form over the optimum", header, cells
    )
    for asked in found.objectives:
        rows = [row for row in found.by(asked) if row.method == asked.key]
        cells = [
            [f"{row.epsilon:g}", number(row.value), number(row.bound), f"{row.relative_gap or 0.0:.1e}"] for row in rows
        ]
        print_rows(f"{asked.quantity(units)}: {asked.label}", ["epsilon", "best", "bound", "gap"], cells)
    if out is not None:
        typer.echo(f"report: {out}")
