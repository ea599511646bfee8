"""`optldp design` and `optldp compare`: from data or a prior to mechanisms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .command_options import (
    FLOOR,
    TOLERANCE,
    Column,
    Data,
    Domain,
    DropMissing,
    Floor,
    Json,
    Knots,
    PriorFile,
    Public,
    Tolerance,
)
from .command_output import (
    number,
    one_line_errors,
    print_facts,
    print_json,
    print_rows,
    require_place,
    say,
    solver_progress,
    task_progress,
)

if TYPE_CHECKING:
    import numpy as np

    from .mechanism_design import Design
    from .prior import Prior

MAX_PRIOR_KNOTS = 401
"""A prior file with at most so many values is used with its values as knots."""

SENSITIVE = (
    "warning: the result is a function of the prior; if that comes from values to be protected, the result is as "
    "sensitive as they are. Say --public if the prior is public knowledge."
)
CARRIED = "warning: the table file holds the prior itself; --omit-prior leaves it out."


@one_line_errors
def design_command(
    data: Data = None,
    *,
    epsilon: Annotated[float, typer.Option("--epsilon", help="Privacy budget, natural units.")],
    column: Column = None,
    domain: Domain = None,
    prior_file: PriorFile = None,
    knots: Knots = None,
    method: Annotated[
        str,
        typer.Option("--method", help="optimal, aaa, or a closed form such as piecewise; see the README."),
    ] = "optimal",
    floor: Floor = FLOOR,
    tolerance: Tolerance = TOLERANCE,
    worst_case: Annotated[
        bool, typer.Option("--worst-case", help="For ptt and ptt2: least worst-case variance.")
    ] = False,
    intervals: Annotated[int | None, typer.Option("--intervals", help="For aaa: N, lattice intervals.")] = None,
    window: Annotated[int | None, typer.Option("--window", help="For aaa: M, free noise steps.")] = None,
    tail_ratio: Annotated[float | None, typer.Option("--tail-ratio", help="For aaa: r of the tails.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Table file to write, .json or .npz.")] = None,
    omit_prior: Annotated[bool, typer.Option("--omit-prior", help="Leave the prior out of the table.")] = False,
    public: Public = False,
    drop_missing: DropMissing = False,
    units: Annotated[str, typer.Option("--units", help="Name of the units, kept in the table.")] = "",
    as_json: Json = False,
) -> None:
    """Derive a mechanism for a column's prior and certify how far from optimal it can be.

    Example: optldp design people.csv --column income --range 0 200000 --epsilon 1 --out mech.json
    """
    from ..mechanisms import save_table
    from ..mechanisms.budget import check_epsilon
    from ..mechanisms.table_file import SUFFIXES
    from .mechanism_design import design

    check_epsilon(epsilon)
    require_place(out, SUFFIXES)
    prior, notes = read_prior(data, column, domain, prior_file, knots, public, drop_missing, units)
    with solver_progress(f"{method}, epsilon {epsilon:g}") as progress:
        result = design(
            prior, epsilon, method=method, floor=floor, tolerance=tolerance, worst_case=worst_case,
            intervals=intervals, window=window, tail_ratio=tail_ratio, progress=progress,
        )  # fmt: skip
    mechanism = result.mechanism.without_prior() if omit_prior else result.mechanism
    if out is not None:
        save_table(mechanism, out)
        if not mechanism.exact:
            notes.append("note: the table is not exact: whole numbers over 2^53 are too coarse for this budget")
    if result.status != "optimal":
        notes.append(
            f"warning: the certificate's gap stayed open at {result.relative_gap:.1e}; the table is valid all the same"
        )
    if out is not None and not (public or omit_prior):
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
    print_facts(f"{method} mechanism", rows)


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


@one_line_errors
def compare_command(
    data: Data = None,
    *,
    epsilons: Annotated[list[float], typer.Option("--epsilon", help="Privacy budget; repeat for several.")],
    column: Column = None,
    domain: Domain = None,
    prior_file: PriorFile = None,
    knots: Knots = None,
    methods: Annotated[list[str] | None, typer.Option("--method", help="Repeat for several; default: all.")] = None,
    floor: Floor = FLOOR,
    tolerance: Tolerance = TOLERANCE,
    public: Public = False,
    drop_missing: DropMissing = False,
    as_json: Json = False,
) -> None:
    """Compare every method with the certified optimum, one row per method and budget.

    Example: optldp compare people.csv --column income --range 0 200000 --epsilon 0.5 --epsilon 1 --epsilon 2
    """
    from ..mechanisms.budget import check_epsilon
    from .comparison import compare
    from .mechanism_design import METHODS

    for epsilon in epsilons:
        check_epsilon(epsilon)
    prior, notes = read_prior(data, column, domain, prior_file, knots, public, drop_missing, "")
    chosen = methods or list(METHODS)
    with task_progress("comparing", len(epsilons) * len(chosen)) as update:
        rows = compare(
            prior, epsilons, methods=chosen, floor=floor, tolerance=tolerance,
            progress=lambda method, epsilon, step: update(f"{method}, epsilon {epsilon:g}", step is None),
        )  # fmt: skip
    for note in notes:
        say(note)
    if as_json:
        print_json({"rows": [vars(row) for row in rows]})
        return
    header = ["method", "epsilon", "expected", "worst case", "ratio"]
    cells = [
        [row.method, f"{row.epsilon:g}", number(row.expected_variance), number(row.worst_case_variance),
         f"{row.ratio_to_optimal:.4f}"]
        for row in rows
    ]  # fmt: skip
    print_rows("Variance of one report (squared units of the data), and its ratio to the optimum", header, cells)


def read_prior(
    data: Path | None,
    column: str | None,
    domain: tuple[float, float] | None,
    prior_file: Path | None,
    knots: int | None,
    public: bool,
    drop_missing: bool,
    units: str,
) -> tuple[Prior, list[str]]:
    """Read the prior from whichever of the two was given, and what there is to say of it once all went well."""
    from ..mechanisms.errors import InputError
    from .columns import read_column, read_pairs
    from .prior import DEFAULT_KNOTS, Prior

    if (data is None) == (prior_file is None) or (data is None) != (column is None):
        raise InputError("the prior must come either from DATA with --column, or from --prior, and not from both")
    source = "public" if public else "sensitive"
    notes = [] if public else [SENSITIVE]
    if prior_file is not None:
        values, weights = read_pairs(prior_file)
        _require_width(values, domain, str(prior_file))
        grid = _own_knots(values, domain, DEFAULT_KNOTS) if knots is None else knots
        return Prior.from_pairs(values, weights, knots=grid, domain=domain, source=source, units=units), notes
    assert data is not None
    assert column is not None
    values = read_column(data, column, drop_missing=drop_missing)
    _require_width(values, domain, str(data))
    if domain is None:
        notes.append(
            f"note: no --range given; the domain is the data's own [{values.min():g}, {values.max():g}], a disclosure"
        )
    count = DEFAULT_KNOTS if knots is None else knots
    return Prior.from_data(values, knots=count, domain=domain, source=source, units=units), notes


def _require_width(values: np.ndarray, domain: tuple[float, float] | None, where: str) -> None:
    from ..mechanisms.errors import InputError

    if domain is None and values.min() == values.max():
        raise InputError(f"values must not all be equal, got only {values[0]:g} in {where!r}: give --range LO HI")


def _own_knots(values: np.ndarray, domain: tuple[float, float] | None, default: int) -> np.ndarray | int:
    """Return a prior's values, with the ends of the domain, as knots, or the default where they are too many."""
    import numpy as np

    if domain is not None:
        values = np.append(values[(values >= domain[0]) & (values <= domain[1])], domain)
    own = np.unique(values)
    return own if len(own) <= MAX_PRIOR_KNOTS else default
