"""`optldp shuffle`: what a mechanism's reports promise once they are mixed and nobody knows whose they are."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .options.shared import Json, Table, people
from .output.output import at_least, one_line_errors, print_facts, print_json, say, up_to

BELOW, WHOLE = ("lower_bound",), ("n", "rounds")
"""Facts that nothing is below, and whole numbers; the others are what nothing is above."""


@one_line_errors
def shuffle_command(
    table: Table,
    n: Annotated[int, people("Honest users whose reports are mixed at a time; for a panel, those of one period.")],
    delta: Annotated[
        float, typer.Option("--delta", help="Probability with which epsilon may fail; well below 1 / N, such as 1e-6.")
    ],
    rounds: Annotated[
        int,
        typer.Option(
            "--times", min=1, help="Rounds in which every user reports anew; the answer is the promise of all together."
        ),
    ] = 1,
    as_json: Json = False,
) -> None:
    """Compute the promise of reports that a trusted party has mixed and stripped of their senders' names.

    \b
    Bounds from both sides: central_epsilon is kept, and lower_bound is not, by an attack. generic is what every
    mechanism of this local epsilon keeps.

    \b
    Example: optldp shuffle mech.json --n 1e5 --delta 1e-6
    """
    from ...mechanisms import load_mechanism
    from ...mechanisms.shuffling import Shuffled

    mixed = Shuffled(load_mechanism(table), n, delta)
    facts: dict[str, Any] = {
        "central_epsilon": mixed.central_epsilon,
        "lower_bound": mixed.lower_bound,
        "local_epsilon": mixed.local_epsilon,
        "generic": mixed.generic,
        "beta": mixed.beta,
        "n": mixed.n,
        "delta": mixed.delta,
    }
    if rounds > 1:
        facts |= {"rounds": rounds, "epsilon_of_all_rounds": mixed.over_rounds(rounds)}
    if mixed.caution:
        say(f"warning: {mixed.caution}")
    if mixed.known == "epsilon":
        say("note: the law of its reports is not written down as a whole, so the bound is the generic one")
    if as_json:
        print_json(facts | {"known": mixed.known, "sentence": mixed.sentence})
        return
    told = {name: value for name, value in facts.items() if value is not None}
    rows = [
        (name, str(value) if name in WHOLE else at_least(value) if name in BELOW else up_to(value))
        for name, value in told.items()
    ]
    print_facts(f"{table}: mixed with at least {n - 1:,} others", rows)
    typer.echo(f"{mixed.sentence[0].upper()}{mixed.sentence[1:]}.")
