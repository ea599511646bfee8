"""`optldp evaluate`: what a table that was made for one prior costs on another, and what a new design would."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import Clip, DropMissing, Json, PriorFile, Table
from .output import number, one_line_errors, print_facts, print_json, say, solver_progress

if TYPE_CHECKING:
    from ...mechanisms import TabulatedMechanism
    from ...mechanisms.floors import FloorForm
    from ...mechanisms.table.knot_prior import KnotPrior
    from ..priors.prior import Prior

USES_DATA = "note: what is printed is a function of the values of DATA, as sensitive as they are"


@one_line_errors
def evaluate_command(
    table: Table,
    data: Annotated[Path | None, typer.Option("--on", metavar="DATA", help="CSV or Parquet file of values.")] = None,
    column: Annotated[str | None, typer.Option("--column", help="Numeric column of DATA.")] = None,
    prior_file: PriorFile = None,
    users: Annotated[int | None, typer.Option("--n", help="Users who will report, for errors of their mean.")] = None,
    clip: Clip = False,
    drop_missing: DropMissing = False,
    as_json: Json = False,
) -> None:
    """Say what a table of numbers costs on other values than it was made for, beside a new design for these.

    \b
    Example: optldp evaluate mech.json --on next_year.csv --column income --n 20000
    """
    from ...mechanisms import TabulatedMechanism, load_mechanism
    from ...mechanisms.errors import InputError
    from ...mechanisms.floors import FloorForm
    from .prior import read_prior

    if users is not None and users < 1:
        raise InputError(f"--n must be at least 1, got {users}")
    mechanism = load_mechanism(table)
    if not isinstance(mechanism, TabulatedMechanism | FloorForm):
        raise InputError(f"evaluate is for one table of numbers, got {mechanism.kind} in {str(table)!r}")
    domain = (float(mechanism.knots[0]), float(mechanism.knots[-1]))
    prior, notes = read_prior(data, column, domain, prior_file, None, True, drop_missing, mechanism.units, clip=clip)
    facts = _facts(mechanism, prior.on(mechanism.knots), users)
    for note in [*notes, USES_DATA]:
        say(note)
    if as_json:
        print_json(facts)
        return
    loss = facts["ratio_to_new_design"] - 1
    beside = f"{100 * loss:.2g}% more variance than a new design" if loss > 0 else "as good as a new design"
    print_facts(f"{table}: {beside}", [(name, number(value)) for name, value in facts.items() if value is not None])


def _facts(mechanism: TabulatedMechanism | FloorForm, prior: Prior, users: int | None) -> dict[str, Any]:
    """Variances of one report, on average over the values; with users, how far their mean is off 95 times of 100."""
    from ...estimators.intervals import normal_quantile
    from ..designs.design import design

    with solver_progress("a new design") as progress:
        new = design(prior, mechanism.epsilon, progress=progress).expected_variance
    old = _variance(mechanism, prior.knot_prior)
    facts = {
        "expected_variance_as_designed": None if mechanism.prior is None else _variance(mechanism, mechanism.prior),
        "expected_variance": old,
        "expected_variance_of_new_design": new,
        "ratio_to_new_design": old / new,
    }
    if users is not None:
        reach = normal_quantile(0.95) / math.sqrt(users)
        facts |= {"mean_within": reach * math.sqrt(old), "mean_within_of_new_design": reach * math.sqrt(new)}
    return facts


def _variance(mechanism: TabulatedMechanism | FloorForm, prior: KnotPrior) -> float:
    """The expected variance of a report, decoded where reports are not unbiased; InputError where they cannot be."""
    from ...estimators import InputGrid, plain_decoder
    from ...estimators.means.decoding import decoded_variances
    from ...mechanisms import TabulatedMechanism

    if mechanism.provenance.claims_unbiased or not isinstance(mechanism, TabulatedMechanism):
        return mechanism.expected_variance(prior)
    spread = decoded_variances(mechanism, plain_decoder(mechanism), InputGrid.knots(mechanism.knots))
    return float(spread @ prior.weights + prior.rounding.sum())
