"""`optldp design` and `optldp compare`: from data or a prior to mechanisms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..mechanisms.errors import InputError
from .command_output import (
    number,
    one_line_errors,
    print_facts,
    print_json,
    print_rows,
    say,
    solver_progress,
    task_progress,
)

if TYPE_CHECKING:
    from .design import Design
    from .prior import Prior

FLOOR = 1e-3  # prior.DEFAULT_FLOOR, repeated so that --help need not load numpy; a test compares them
MAX_PRIOR_KNOTS = 401
"""A prior file with at most so many values is used with its values as knots."""

SENSITIVE = (
    "warning: the prior comes from the values to be protected, so the table is a function of them and carries it; "
    "treat it as sensitive. If the data are public, say --public; --omit-prior leaves the prior out of the file."
)

Data = Annotated[Path | None, typer.Argument(metavar="[DATA]", help="CSV or Parquet file with the values.")]
Column = Annotated[str | None, typer.Option("--column", help="Numeric column of DATA.")]
Domain = Annotated[
    tuple[float, float] | None,
    typer.Option(
        "--range", metavar="LO HI", help="Domain of the values; default: their extremes, a disclosure."
    ),
]
PriorFile = Annotated[
    Path | None, typer.Option("--prior", help="CSV with columns value and weight, instead of DATA.")
]
Knots = Annotated[
    int | None,
    typer.Option(
        "--knots", help="Equally spaced knots. Default: 101, or a prior's own values (at most 401)."
    ),
]
Floor = Annotated[
    float,
    typer.Option(
        "--floor", help="Uniform share mixed into the prior to protect knots of no mass; 0 for none."
    ),
]
Tolerance = Annotated[float, typer.Option("--tolerance", help="Relative gap of the certificate to reach.")]
Public = Annotated[bool, typer.Option("--public", help="The prior is public knowledge: no warning.")]
DropMissing = Annotated[bool, typer.Option("--drop-missing", help="Leave out rows with no value.")]
Units = Annotated[str, typer.Option("--units", help="Name of the units, kept in the table.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


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
    tolerance: Tolerance = 1e-6,
    worst_case: Annotated[
        bool, typer.Option("--worst-case", help="For ptt and ptt2: least worst-case variance.")
    ] = False,
    intervals: Annotated[
        int | None, typer.Option("--intervals", help="For aaa: N, lattice intervals.")
    ] = None,
    window: Annotated[int | None, typer.Option("--window", help="For aaa: M, free noise steps.")] = None,
    tail_ratio: Annotated[float | None, typer.Option("--tail-ratio", help="For aaa: r of the tails.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Table file to write, .json or .npz.")] = None,
    omit_prior: Annotated[
        bool, typer.Option("--omit-prior", help="Leave the prior out of the table.")
    ] = False,
    public: Public = False,
    drop_missing: DropMissing = False,
    units: Units = "",
    as_json: Json = False,
) -> None:
    """Derive a mechanism for a column's prior and certify how far from optimal it can be.

    Example: optldp design people.csv --column income --range 0 200000 --epsilon 1 --out mech.json
    """
    from ..mechanisms import save_table
    from ..mechanisms.budget import check_epsilon
    from .design import design

    check_epsilon(epsilon)
    prior = _prior(data, column, domain, prior_file, knots, public, drop_missing, units)
    with solver_progress(f"{method}, epsilon {epsilon:g}") as progress:
        result = design(
            prior, epsilon, method=method, floor=floor, tolerance=tolerance, worst_case=worst_case,
            intervals=intervals, window=window, tail_ratio=tail_ratio, progress=progress,
        )  # fmt: skip
    mechanism = result.mechanism.without_prior() if omit_prior else result.mechanism
    if out is not None:
        save_table(mechanism, out)
    if result.status != "optimal":
        say(
            f"warning: the certificate's gap stayed open at {result.relative_gap:.1e}; the table is valid all the same"
        )
    facts = _facts(result, None if out is None else str(out))
    if as_json:
        print_json(facts)
    else:
        print_facts(
            f"{method} mechanism",
            [
                (name, str(value) if not isinstance(value, float) else number(value))
                for name, value in facts.items()
                if value is not None
            ],
        )


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
    methods: Annotated[
        list[str] | None, typer.Option("--method", help="Repeat for several; default: all.")
    ] = None,
    floor: Floor = FLOOR,
    tolerance: Tolerance = 1e-6,
    public: Public = False,
    drop_missing: DropMissing = False,
    as_json: Json = False,
) -> None:
    """Compare every method with the certified optimum, one row per method and budget.

    Example: optldp compare people.csv --column income --range 0 200000 --epsilon 0.5 --epsilon 1 --epsilon 2
    """
    from ..mechanisms.budget import check_epsilon
    from .comparison import compare
    from .design import METHODS

    for epsilon in epsilons:
        check_epsilon(epsilon)
    prior = _prior(data, column, domain, prior_file, knots, public, drop_missing, "", quiet=True)
    chosen = methods or list(METHODS)
    with task_progress("comparing", len(epsilons) * len(chosen)) as update:
        rows = compare(
            prior, epsilons, methods=chosen, floor=floor, tolerance=tolerance,
            progress=lambda method, epsilon, step: update(f"{method}, epsilon {epsilon:g}", step is None),
        )  # fmt: skip
    if as_json:
        print_json({"rows": [vars(row) for row in rows]})
        return
    header = ["method", "epsilon", "expected variance", "worst-case variance", "ratio to optimal"]
    cells = [
        [row.method, f"{row.epsilon:g}", number(row.expected_variance), number(row.worst_case_variance),
         f"{row.ratio_to_optimal:.4f}"]
        for row in rows
    ]  # fmt: skip
    print_rows("Variance of one report, squared units of the data", header, cells)


def _prior(
    data: Path | None,
    column: str | None,
    domain: tuple[float, float] | None,
    prior_file: Path | None,
    knots: int | None,
    public: bool,
    drop_missing: bool,
    units: str,
    *,
    quiet: bool = False,
) -> Prior:
    """Read the prior from whichever of the two was given."""
    from .columns import read_column, read_pairs
    from .prior import DEFAULT_KNOTS, Prior

    if (data is None) == (prior_file is None):
        raise InputError("give either DATA with --column, or --prior, and not both")
    if not public and not quiet:
        say(SENSITIVE)
    source = "public" if public else "sensitive"
    if prior_file is not None:
        values, weights = read_pairs(prior_file)
        grid = knots if knots is not None else _own_knots(values, domain, DEFAULT_KNOTS)
        return Prior.from_pairs(values, weights, knots=grid, domain=domain, source=source, units=units)
    if data is None or column is None:
        raise InputError("DATA needs --column to say which of its columns holds the values")
    values = read_column(data, column, drop_missing=drop_missing)
    if domain is None:
        say(
            f"note: no --range given; the domain is the data's own [{values.min():g}, {values.max():g}], a disclosure"
        )
    return Prior.from_data(values, knots=knots or DEFAULT_KNOTS, domain=domain, source=source, units=units)


def _own_knots(values: object, domain: tuple[float, float] | None, default: int) -> object:
    """Return a prior's values, with the ends of the domain, as knots, or the default where they are too many."""
    import numpy as np

    own = np.unique(np.append(np.asarray(values, dtype=float), domain or ()))
    return own if len(own) <= MAX_PRIOR_KNOTS else default
