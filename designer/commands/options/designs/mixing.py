"""Options for reports that are mixed before they arrive: what `plan` and `design` find a local budget by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import typer

from .....mechanisms.errors import InputError
from ..shared import Options

OPTIONS = ("--central-epsilon", "--shuffle-delta")


class Mixing(NamedTuple):
    """What mixed reports of n users must keep."""

    central_epsilon: float
    n: int
    delta: float


@dataclass(frozen=True, kw_only=True)
class MixingOptions(Options):
    """What goes with --central-epsilon."""

    central_epsilon: Annotated[
        float | None,
        typer.Option(
            "--central-epsilon",
            help="Find the largest --epsilon with which the reports of --n users, mixed by a trusted party, keep this "
            "budget together; needs --shuffle-delta. See optldp shuffle.",
        ),
    ] = None
    shuffle_delta: Annotated[
        float | None,
        typer.Option(
            "--shuffle-delta",
            help="Probability with which it may fail; well below 1 / N, such as 1e-6.",
        ),
    ] = None

    def mixing(self, n: int | None, epsilon: object) -> Mixing | None:
        """Return what mixed reports must keep, None if nothing was said of it; InputError for what does not fit."""

        if self.central_epsilon is None:
            self.refuse("for --central-epsilon", "--shuffle-delta")
            return None
        if self.shuffle_delta is None or n is None:
            raise InputError("--central-epsilon needs the users whose reports are mixed: add --n N --shuffle-delta D")
        if epsilon is not None:
            raise InputError("--central-epsilon finds the local budget, got one: leave --epsilon and --levels out")
        return Mixing(self.central_epsilon, n, self.shuffle_delta)
