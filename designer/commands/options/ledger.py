"""The ledger that a command was asked to keep: who has reported what, and what that has spent in all."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ....mechanisms.errors import InputError
from .shared import Options

if TYPE_CHECKING:
    from ....mechanisms.ledger import GivenReports, Ledger

UNCOUNTED = "note: nobody keeps count of what these people have spent in all: --ledger FILE does"


@dataclass(frozen=True, kw_only=True)
class LedgerOptions(Options):
    """Which ledger is to be kept."""

    ledger: Annotated[
        Path | None,
        typer.Option(
            "--ledger",
            help="File that counts what each user (--key) spends, and refuses more than its budget; the same value "
            "gets the same report again, at no cost.",
        ),
    ] = None
    ledger_key: Annotated[
        Path | None,
        typer.Option("--ledger-key", help="File of 32 random bytes, closed to others, which seals the ledger."),
    ] = None
    budget: Annotated[
        float | None,
        typer.Option("--budget", help="Make a new ledger: the most that a user may spend in all, for ever."),
    ] = None

    group_readable: Annotated[
        bool,
        typer.Option(
            "--group-readable",
            help="Take files of secrets that their group may read, such as a cluster mounts.",
        ),
    ] = False

    @cached_property
    def opened(self) -> Ledger | None:
        """The ledger, made if a budget is given; None where none was asked for, InputError where it is not usable.

        What goes wrong with a new one is to be followed by `forget`.
        """
        if self.ledger is None:
            self.refuse("for a --ledger", "--ledger-key", "--budget")
            return None
        from ....mechanisms.ledger import Ledger
        from ....mechanisms.pseudorandom import read_secret

        if self.ledger_key is None:
            raise InputError(
                "--ledger needs --ledger-key FILE: (umask 077; head -c 32 /dev/urandom > FILE), once, kept elsewhere"
            )
        key = read_secret(self.ledger_key, group_readable=self.group_readable).reveal()
        if self.budget is not None:
            if os.path.lexists(self.ledger):
                raise InputError(
                    f"a new ledger must not replace a file, got {str(self.ledger)!r}: go on with it, without --budget"
                )
            return Ledger.create(self.ledger, key, self.budget)
        if not os.path.lexists(self.ledger):
            raise InputError(
                f"there must be a ledger at {str(self.ledger)!r}, got no file: put the latest copy back, or make one, "
                "once, by --budget B, the most that a user may spend in all"
            )
        return Ledger(self.ledger, key)

    def forget(self) -> None:
        """Remove a ledger that was made for what then failed, unless something was booked."""
        made = vars(self).get("opened") if self.budget is not None else None
        if made is not None and made.check() == 0:
            made.path.unlink()


def ledger_note(given: GivenReports, epsilon: float, budget: float) -> str:
    """Return what reports have cost, and what the users have spent in all.

    Example
    -------
    >>> from optldp.mechanisms.ledger import GivenReports
    >>> ledger_note(GivenReports([0.5, 0.5], 1, 2.0), 1.0, 3.0)
    'note: 1 new report spends epsilon 1, and 1 given before nothing; a user has now spent up to 2 of 3 in all'
    """
    many = "report spends" if given.new == 1 else "reports spend"
    new = f"{given.new:,} new {many} epsilon {epsilon:g}"
    spent = f"a user has now spent up to {given.spent:g} of {budget:g} in all"
    return f"note: {new}, and {given.repeated:,} given before nothing; {spent}"
