"""`optldp ledger`: what users have spent, by a ledger or by the state of a way over time."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options.shared import Json
from .output.output import number, one_line_errors, print_facts, print_json, print_rows, refuse_given, say

if TYPE_CHECKING:
    from ...mechanisms.ledger import PeriodLife, PeriodState

MOST_ROWS = 20
"""Users that are shown; all of them are in --json."""


@one_line_errors
def ledger_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A state of perturb --state, or a ledger.")],
    user: Annotated[str | None, typer.Option("--user", help="Show only this user.")] = None,
    forget: Annotated[
        bool,
        typer.Option(
            "--forget", help="Forget the reports of --user, or of all: they are never sent again, but stay spent."
        ),
    ] = False,
    key: Annotated[
        Path | None, typer.Option("--ledger-key", help="The key of a ledger; ledgers show no names and forget nothing.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the budgets that the users of a state or a ledger have spent, or forget their reports.

    \b
    Example: optldp ledger state.db
    Example: optldp ledger state.db --user ann --forget
    Example: optldp ledger people.ledger --ledger-key ledger.key --user ann
    """
    if key is not None:
        refuse_given("of no use to a sealed ledger, whose records stay as they are", {"--forget": forget or None})
        facts = _of_ledger(file, key, user)
        print_json(facts) if as_json else print_facts(str(file), [(name, _cell(each)) for name, each in facts.items()])
        return
    from ...mechanisms.ledger import PeriodState

    state = PeriodState(file)
    forgotten = state.forget(user) if forget else None
    facts = _of_state(state, state.lives(user))
    if forgotten is not None:
        say(f"note: {forgotten:,} reports are forgotten, and what they spent stays booked")
        facts["forgotten"] = forgotten
    if state.lost:
        say(f"note: until period {state.lost} a lost copy may have sent reports: they count as spent")
    if as_json:
        print_json(facts)
        return
    users, promise = facts.pop("users"), facts.pop("promise")
    say(f"note: {promise}")
    title = ", ".join(f"{name.replace('_', ' ')} {_cell(each)}" for name, each in facts.items())
    names = ["user", "periods", "spent"]
    rows = [[one["user"], " ".join(map(str, one["periods"])) or "-", number(one["spent"])] for one in users[:MOST_ROWS]]
    more = f"{len(users) - MOST_ROWS:,} others: --json" if len(users) > MOST_ROWS else None
    print_rows(f"{file}: {title}", names, rows)
    if more is not None:
        say(f"note: {more}")


def _of_state(state: PeriodState, lives: list[PeriodLife]) -> dict[str, Any]:
    from .handlers.over_time import said_promise

    way = state.way
    return {
        "way": way.kind,
        "promise": said_promise(way),
        "epsilon": way.epsilon,
        "life_epsilon": way.life_epsilon,
        "periods": way.periods,
        "latest": state.latest,
        "lost": state.lost,
        "users": [asdict(life) for life in lives],
    }


def _of_ledger(file: Path, key: Path, user: str | None) -> dict[str, Any]:
    from ...mechanisms.ledger import Ledger
    from ...mechanisms.pseudorandom import read_secret

    ledger = Ledger(file, read_secret(key).reveal())
    facts: dict[str, Any] = {"budget": ledger.budget, "reports": ledger.check()}
    return facts if user is None else facts | {"user": user, "spent": ledger.spent(user)}


def _cell(value: Any) -> str:
    return number(value) if isinstance(value, float) else str(value)
