"""`optldp audit`: does the sampler, seen from outside, keep the epsilon that its table claims?"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from .command_options import Json, Table
from .command_output import NOT_SO, one_line_errors, print_facts, print_json, readable

DEFAULT_SAMPLES = 1e6


@one_line_errors
def audit_command(
    table: Table,
    samples: Annotated[float, typer.Option("--samples", help="Reports to draw, such as 1e6.")] = DEFAULT_SAMPLES,
    confidence: Annotated[float, typer.Option("--confidence", help="Of the lower bound.")] = 0.999,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, help="Audit a simulation instead of the operating system's generator."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Draw from the real sampler at worst-case inputs and bound its epsilon from below; exit code 1 if above the claim.

    Example: optldp audit mech.json --samples 1e6
    """
    import numpy as np

    from ..mechanisms import InputError, read_unverified_table
    from .audit import audit

    if not samples.is_integer():
        raise InputError(f"samples must be a whole number, got {samples!r}")
    mechanism = read_unverified_table(table)
    rng = None if seed is None else np.random.default_rng(seed)
    found = audit(mechanism, lambda x: mechanism.sample(x, rng), samples=int(samples), confidence=confidence)
    facts = {**asdict(found), "simulated": rng is not None}
    if as_json:
        print_json(facts)
    else:
        facts |= {"outputs": f"{len(found.outputs)} of {mechanism.low.size}"}
        del facts["ok"]
        rows = [("verdict", "within its claim" if found.ok else "ABOVE ITS CLAIM")]
        rows += [(name, readable(value)) for name, value in facts.items()]
        print_facts(str(table), rows)
    if not found.ok:
        raise typer.Exit(NOT_SO)
