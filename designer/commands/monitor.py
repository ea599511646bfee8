"""`optldp monitor`: whether the counts of a collection's days are what its table and their own past let expect."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...mechanisms.errors import InputError
from .options.shared import PLOTS, AllowUnproved, Force, Json, Plot, Table
from .output.output import NOT_SO, number, one_line_errors, print_facts, print_json, print_rows, require_place, say

if TYPE_CHECKING:
    from datetime import date

    from ...estimators.days import DayCounts, Drift
    from .handlers.kind import Kind

LEVEL = 1e-4
"""Below this probability days differ: once in 10,000 looks by chance alone."""

MOST_INVALID = 0.01
"""Of all reports; more are said to be wrong."""

MOST_DAYS = 31
"""Days that are printed, the last ones; --json has all."""


@one_line_errors
def monitor_command(
    table: Table,
    counts: Annotated[
        list[Path],
        typer.Argument(
            metavar="COUNTS", help="Folders or files of counts by day; the fullest counts of a day are used."
        ),
    ],
    plot: Plot = None,
    most_invalid: Annotated[
        float, typer.Option("--most-invalid", help="Largest share of invalid reports that is still normal.")
    ] = MOST_INVALID,
    force: Force = False,
    allow_unproved: AllowUnproved = False,
    as_json: Json = False,
) -> None:
    """Check whether counts by day fit the table, whether days differ or are missing, and how many reports are invalid.

    The exit code is 1 if something is wrong, and stderr names it.

    \b
    Example: optldp monitor mech.json counts/
    Example: optldp monitor mech.json counts/ --plot days.png --json
    """
    from ...estimators.days import load_days
    from ...mechanisms import load_mechanism
    from .handlers.registry import kind_of

    if not 0 <= most_invalid <= 1:
        raise InputError(f"--most-invalid must be a share from 0 to 1, got {most_invalid}")
    require_place(plot, PLOTS, force=force)
    kind = kind_of(load_mechanism(table, allow_unproved=allow_unproved)).for_estimates()
    days = load_days(counts)
    days.require([kind.identifier()])
    found = _look(kind, days)
    if plot is not None:
        from ..plots.days import days_drawn
        from ..plots.saving import save_figure

        if lacking := save_figure(days_drawn(found["days"]), plot):
            say(f"warning: {lacking}")
    wrong = _wrong(found, most_invalid)
    for line in wrong:
        say(f"warning: {line}")
    if as_json:
        print_json(found | {"wrong": wrong})
    else:
        _print(table, found, wrong)
    if wrong:
        raise typer.Exit(NOT_SO)


def _look(kind: Kind, days: DayCounts) -> dict[str, Any]:
    """Return the facts of all days, and of each."""
    from ...estimators.goodness_of_fit.fit import fit_of
    from ...estimators.reading.columns import SkippedRows
    from ...estimators.reading.columns.simulated_columns import COUNTED, INVALID, LATE, WAITING

    name, skipped = kind.identifier(), SkippedRows()
    fit = None
    if days.number(name, COUNTED):
        fit = fit_of(kind.tested(days.rows(name), skipped)).p_value
    drift = _drift(name, days)
    told = []
    for day in sorted({*days.dates(name), *days.missing(name)}):
        of = {state: days.number(name, state, day=day) for state in (COUNTED, INVALID, WAITING, LATE)}
        told.append({"day": day.isoformat(), "n": of[COUNTED]} | of | {"missing": day in days.missing(name)})
        told[-1].pop(COUNTED)
    invalid = days.number(name, INVALID) + skipped.count
    total = days.number(name, COUNTED, INVALID)
    return {
        "table": name,
        "n": days.number(name, COUNTED) - skipped.count,
        "fit_p_value": fit,
        "drift": {
            "p_value": drift.p_value,
            "day": None if drift.day is None else drift.day.isoformat(),
            "statistic": drift.statistic,
        },
        "invalid_share": invalid / total if total else None,
        "waiting": days.number(name, WAITING),
        "late": days.number(name, LATE),
        "simulated": days.simulated,
        "days": told,
    }


def _drift(table: str, days: DayCounts) -> Drift:
    import numpy as np

    from ...estimators.days import drift_of
    from ...estimators.reading.columns.simulated_columns import BIT, COUNTED, OUTPUT, SUPPORTS, USERS

    dates: list[date] = [day for day in days.dates(table) if days.number(table, COUNTED, day=day)]
    each = [days.rows(table, day) for day in dates]
    if not each:
        return drift_of([], np.zeros((0, 1)))
    bits = BIT in each[0]
    names = sorted({label for rows in each for label in rows[BIT if bits else OUTPUT].tolist()})
    place = {label: i for i, label in enumerate(names)}
    table_of = np.zeros((len(each), len(names)))
    for row, rows in zip(table_of, each, strict=True):
        labels = [place[label] for label in rows[BIT if bits else OUTPUT].tolist()]
        np.add.at(row, labels, rows[SUPPORTS if bits else USERS])
    users = np.array([rows[USERS].max() for rows in each]) if bits else None
    return drift_of(dates, table_of, users)


def _wrong(found: dict[str, Any], most_invalid: float) -> list[str]:
    """Return what is wrong, a line each."""
    lines = []
    if found["fit_p_value"] is not None and found["fit_p_value"] < LEVEL:
        lines.append(f"the counts do not fit the table (fit_p_value {found['fit_p_value']:.1g})")
    drift = found["drift"]
    if drift["p_value"] is not None and drift["p_value"] < LEVEL:
        lines.append(f"days differ by more than chance (p {drift['p_value']:.1g}), {drift['day']} most of all")
    if (share := found["invalid_share"]) is not None and share > most_invalid:
        lines.append(f"{100 * share:.3g}% of the reports are none of the table's")
    missing = [day["day"] for day in found["days"] if day["missing"]]
    if missing:
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        lines.append(f"there are no counts of {', '.join(missing[:3])}{more}")
    return lines


def _print(table: Path, found: dict[str, Any], wrong: list[str]) -> None:
    names = ["day", "n", "invalid", "waiting", "late"]
    shown = found["days"][-MOST_DAYS:]
    cells = [["missing" if day["missing"] and name == "n" else str(day[name]) for name in names] for day in shown]
    print_rows("reports by day", names, cells)
    fit, drift, share = found["fit_p_value"], found["drift"], found["invalid_share"]
    facts = [
        ("n", f"{found['n']:,}"),
        ("fit_p_value", "cannot be tested" if fit is None else number(fit)),
        ("drift", "cannot be tested" if drift["p_value"] is None else f"p {number(drift['p_value'])}, {drift['day']}"),
        ("invalid_share", "none" if share is None else number(share)),
        ("wrong", "nothing" if not wrong else f"{len(wrong)} of 4 things looked at"),
    ]
    print_facts(f"{table}: what was collected", facts)
