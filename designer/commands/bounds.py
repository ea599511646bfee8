"""`optldp bounds`: the best that is possible at each budget, every mechanism beside it, as a report to read."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ...mechanisms.errors import InputError
from ...mechanisms.printable import printable
from .options.bounds import BoundsOptions, require_places
from .options.shared import CONFIDENCE, PAGES_ARE_USUAL, PLOTS, TOLERANCE, takes_options
from .output.output import (
    at_least,
    number,
    one_line_errors,
    print_json,
    print_rows,
    require_place,
    say,
    say_wrote,
    task_progress,
    write_figure,
)
from .output.prior import SENSITIVE, read_categorical_prior

if TYPE_CHECKING:
    from ..comparison.bounds_categories import CategoryBounds
    from ..comparison.bounds_result import BoundsResult

SHOWS_PRIOR = "warning: the report shows the prior itself, and is as sensitive as the values that it comes from."


@one_line_errors
@takes_options
def bounds_command(asked: BoundsOptions) -> None:
    """Find the least error of any mechanism at each budget, and how far each known mechanism is from it.

    \b
    Example: optldp bounds survey.csv --column income --range 0 200000 --epsilon 0.25:4:0.25 --out report.html
    Example: optldp bounds survey.csv --column income --range 0 200000 --epsilon 0.5,1,2 --plot bounds.svg
    Example: optldp bounds survey.csv --attribute age=18:90 --attribute income=0:200000 --epsilon 0.5,1,2 --out folder
    Example: optldp bounds survey.csv --column job --categorical --epsilon 0.5:2:0.5 --out jobs.html
    Example: optldp bounds survey.csv --column income --range 0 200000 --objective robust:tv,radius=0.1 \\
    --objective information:cumulative --out report.html
    """
    from ...mechanisms.files.atomic_write import replacing
    from ...solvers.biased.error_program import check_users
    from ..report.fronts.front import checked_users
    from ..report.page import bounds_html
    from ..report.rendering import require_report_tools

    if asked.n is not None:
        check_users(asked.n)
    if asked.categorical:
        of_categories(asked)
        return
    if asked.attributes:
        of_attributes(asked)
        return
    out = asked.out
    require_places(out, asked.results, force=asked.force)
    require_place(asked.plot, PLOTS, force=asked.force)
    for_paper = out is not None and out.suffix.lower() == ".tex"
    if out is not None and not for_paper:
        require_report_tools()
        checked_users(asked.n)
    found, notes = _found(asked)
    if out is not None and for_paper:
        from .output.latex import write_latex

        told = _told(found, asked)
        write_latex(out, [*told["rows"], *told["objectives"]])
    elif out is not None:
        page = bounds_html(found, column=asked.column or "", command=asked.command(out), n=asked.n)
        with replacing(out) as part:
            part.write_text(page, "utf-8", errors="replace")
    for note in (*notes, *asked.objective_notes, *_of_pages(asked), *_complaints(found)):
        say(note)
    if out is not None:
        say_wrote(out, "a table for a paper" if for_paper else "a page to read")
    if asked.plot is not None:
        write_figure(found.plot(), asked.plot)
    if asked.results is not None:
        say_wrote(asked.results, "what was computed, to go on from")
    if asked.as_json:
        print_json(_told(found, asked) | {"report": None if out is None else str(out)})
        return
    _print(found, asked)
    if out is not None:
        typer.echo(f"report: {out}")


def _found(asked: BoundsOptions) -> tuple[BoundsResult, list[str]]:
    """Compute the bounds of one column, and return what there is to say of its prior."""
    from ..comparison.bounds import bounds
    from ..methods.registry import METHODS
    from .options.designs.levels import budget_numbers

    objectives, budgets = asked.asked, budget_numbers(asked.budgets, "--epsilon")
    prior, notes = asked.prior()
    with task_progress(f"bounds {asked.column or ''}".rstrip(), len(set(budgets)) + 1) as update:
        found = bounds(
            prior, budgets, methods=asked.methods or METHODS, objectives=objectives, at=asked.at,
            uniform_share=asked.uniform_share, tolerance=asked.tolerance, results=asked.results, n_jobs=asked.workers,
            progress=lambda done, total, what: update(what, True),
        )  # fmt: skip
    return found, notes


def _of_pages(asked: BoundsOptions) -> list[str]:
    """Return what there is to say of pages, if any are written."""
    if asked.out is None:
        return []
    return ([] if asked.public else [SHOWS_PRIOR]) + ([PAGES_ARE_USUAL] if asked.sure != CONFIDENCE else [])


def _ranges(asked: BoundsOptions) -> dict[str, tuple[float, float]]:
    """Return the columns of --attribute and their ranges; InputError for options that these have no use for."""
    from .handlers.attributes import attribute_range

    named = asked.attributes or []
    asked.refuse("for one column, not for attributes", "--column", "--range", "--prior", "--results", "--plot")
    found = dict(map(attribute_range, named))
    if len(found) < len(named):
        raise InputError(f"attributes must differ, got {', '.join(named)}")
    return found


def of_attributes(asked: BoundsOptions) -> None:
    """Find the bounds of several columns, write a folder of their reports with an index, and print them."""
    from ..report.fronts.bounds import bounds_front
    from ..report.fronts.front import checked_users
    from ..report.index_page import index_html
    from ..report.page import bounds_html
    from .rendering.mechanism_reports import INDEX, free_name, require_report_place, write_pages

    ranges, out = _ranges(asked), asked.out
    if out is not None:
        require_report_place(out, [Path(name) for name in ranges], force=asked.force)
        checked_users(asked.n)
    each = [replace(asked, attributes=None, column=name, domain=ends) for name, ends in ranges.items()]
    results, notes = {}, []
    for one in each:
        results[one.column], said = _found(one)
        notes += [*said, *_complaints(results[one.column])]
    pages, fronts = {}, {}
    for name, found in results.items() if out is not None else ():
        assert out is not None
        file = out.name if len(each) == 1 else free_name(name, pages)
        pages[file] = bounds_html(found, column=name, command=asked.command(out), n=asked.n)
        fronts[file] = (name, bounds_front(found, name, asked.n))
    if out is not None:
        write_pages(out, pages | ({INDEX: index_html(fronts)} if len(each) > 1 else {}))
    said = [note for one in each for note in one.objective_notes]
    for note in dict.fromkeys([*notes, *said, *_of_pages(asked)]):
        say(note)
    if out is not None:
        say_wrote(out, f"{len(pages)} pages to read, and an index" if len(each) > 1 else "a page to read")
    if asked.as_json:
        told = [{"attribute": name, **_told(found, asked)} for name, found in results.items()]
        print_json({"attributes": told, "report": None if out is None else str(out)})
        return
    for name, found in results.items():
        typer.echo(printable(name))
        _print(found, asked)
    if out is not None:
        typer.echo(f"report: {out}")


def of_categories(asked: BoundsOptions) -> None:
    """Find the bounds of categories, write their report and print them."""
    from ...mechanisms.files.atomic_write import replacing
    from ..comparison.bounds_categories import bounds_categories
    from ..report.categories_page import category_bounds_html
    from ..report.rendering import require_report_tools
    from .options.designs.levels import budget_numbers

    asked.refuse_for_categories()
    n, out, budgets = asked.n, asked.out, budget_numbers(asked.budgets, "--epsilon")
    if n is not None and n < 1:
        raise InputError(f"--n must be at least 1, got {n}")
    if out is not None and out.suffix.lower() == ".tex":
        raise InputError(
            f"LaTeX is of numbers, got {str(out)!r} of categories: optldp compare --categorical --out x.tex"
        )
    require_places(out, None, force=asked.force)
    if out is not None:
        require_report_tools()
    prior, notes = read_categorical_prior(
        asked.data, asked.column, asked.prior_file, drop_missing=asked.drop_missing, public=asked.public
    )
    with task_progress("bounds", len(set(budgets))) as update:
        found = bounds_categories(
            prior, budgets, tolerance=None if asked.tolerance == TOLERANCE else asked.tolerance,
            progress=lambda epsilon, done: update(f"epsilon {epsilon:g}", done),
        )  # fmt: skip
    if out is not None:
        page = category_bounds_html(
            found, column=asked.column or "", command=asked.command(out), n=n, public=asked.public
        )
        with replacing(out) as part:
            part.write_text(page, "utf-8", errors="replace")
    notes += [] if asked.public else [SENSITIVE if out is None else SHOWS_PRIOR]
    if opened := found.opened:
        widest = max(row.relative_gap or 0.0 for row in opened)
        notes.append(f"warning: {len(opened)} certificates stayed open, the widest at {widest:.1e}")
    for note in notes:
        say(note)
    if out is not None:
        say_wrote(out, "a page to read")
    _print_categories(found, asked)


def _print_categories(found: CategoryBounds, asked: BoundsOptions) -> None:
    """Print the optimum with its proof and the best known oracle at each budget, or all rows as JSON."""
    from ..report.categories_page import frequency_error

    n, out, size = asked.n, asked.out, len(found.prior.categories)
    if asked.as_json:
        names = ("epsilon", "method", "value", "bound", "relative_gap", "ratio_to_optimal", "status",
                 "one_report_times_n")  # fmt: skip
        rows = [{name: getattr(row, name) for name in names} for row in found.rows]
        for told, row in zip(rows, found.rows, strict=True):
            told["frequency_error"] = None if n is None else frequency_error(row, size, n)
        print_json({"rows": rows, "report": None if out is None else str(out)})
        return
    table = []
    for epsilon in found.epsilons:
        best, (rival, *_) = found.at(epsilon)
        table.append(
            [f"{epsilon:g}", number(best.value), at_least(best.bound), f"{best.relative_gap or 0.0:.1e}",
             number(frequency_error(best, size, n)), rival.method, f"{rival.ratio_to_optimal:.4f}"]
        )  # fmt: skip
    each = "each, times root n" if n is None else f"each, n {n:,}"
    print_rows(
        "Least squared error of all frequencies, times n, what it is for each of them, and the best known oracle",
        ["epsilon", "least", "bound", "gap", each, "oracle", "ratio"], table,
    )  # fmt: skip
    if out is not None:
        typer.echo(f"report: {out}")


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
    if opened := found.opened:
        widest = max(row.relative_gap or 0.0 for row in opened)
        lines.append(f"warning: {len(opened)} certificates stayed open, the widest at {widest:.1e}")
    if widest := found.coarsest:
        lines.append(
            f"warning: {found.prior.knots.size} knots are few: at epsilon {widest.epsilon:g} a mechanism on the whole "
            f"interval could have up to {100 * (widest.continuum_gap or 0.0):.2g} % less: use more --knots"
        )
    return lines


def _told(found: BoundsResult, wanted: BoundsOptions) -> dict[str, Any]:
    """Return all rows for programs."""
    from ..planning.people_of_rows import row_facts

    units, people, sure = found.prior.units, wanted.n, wanted.sure
    rows = [
        vars(row)
        | {"program_variance": row.value}
        | {"lower_bound": row.bound if row.expected_bound is None else row.expected_bound}
        | row_facts(row, None, people, confidence=sure)
        for row in found.rows
    ]
    judged = [
        vars(row)
        | {"ratio_to_best": row.ratio_to_optimal, "asked": asked.label, "quantity": asked.quantity(units)}
        | row_facts(row, asked, people, confidence=sure)
        for asked in found.objectives
        for row in found.by(asked)
    ]
    theory = {"theory": _of_papers(found)} if wanted.theory else {}
    return {"rows": rows, "objectives": judged, **theory}


def _of_papers(found: BoundsResult) -> list[dict[str, float | None]]:
    """Return the certified least worst case at each budget, and what papers prove of it, in squared units."""
    from ..planning.theorems import ptt_worst_case_bound

    low, high = found.prior.domain
    unit = ((high - low) / 2) ** 2
    return [
        {
            "epsilon": budget.epsilon,
            "worst_case": budget.minimax.worst_case_variance,
            "bound": budget.minimax.bound,
            # Duchi, Jordan and Wainwright (2018), section 4.2.1: ((E + 1) / (E - 1))^2, of the value in the middle.
            "duchi": unit / math.tanh(budget.epsilon / 2) ** 2,
            "ptt_at_least": unit * ptt_worst_case_bound(budget.epsilon),
        }
        for budget in found.budgets
    ]


def _print(found: BoundsResult, wanted: BoundsOptions) -> None:
    from ..planning.people_of_rows import add_people

    units, people, sure = found.prior.units, wanted.n, wanted.sure
    cells: list[list[str]] = []
    for budget in found.budgets:
        best, worst = budget.row("optimal"), budget.minimax
        rival = budget.closed_forms[0] if budget.closed_forms else None
        cells.append(
            [f"{budget.epsilon:g}", number(best.expected_variance), number(worst.worst_case_variance),
             "none" if rival is None else rival.method,
             "none" if rival is None else f"{rival.ratio_to_optimal:.4f}"]
        )  # fmt: skip
    header = ["epsilon", "expected", "worst case", "closed form", "ratio"]
    said = add_people(
        None, [budget.row("optimal") for budget in found.budgets], people, header, cells,
        confidence=sure, units=units,
    )  # fmt: skip
    print_rows(
        "Least variances of one report (squared units), and the best closed form over the optimum", header, cells
    )
    for line in said:
        typer.echo(line)
    if wanted.theory:
        names = ("worst_case", "bound", "duchi", "ptt_at_least")
        cells = [[f"{row['epsilon']:g}", *(number(row[name]) for name in names)] for row in _of_papers(found)]
        header = ["epsilon", "least", "certified bound", "Duchi's, exactly", "PTT's, at least"]
        print_rows("Worst case of one report, and what papers prove on the whole interval", header, cells)
    for asked in found.objectives:
        rows = [row for row in found.by(asked) if row.method == asked.key]
        cells = [
            [f"{row.epsilon:g}", number(row.value), number(row.bound), f"{row.relative_gap or 0.0:.1e}"] for row in rows
        ]
        header = ["epsilon", "best", "bound", "gap"]
        add_people(asked, rows, people, header, cells, confidence=sure, units=units)
        print_rows(f"{asked.quantity(units)}: {asked.label}", header, cells)
