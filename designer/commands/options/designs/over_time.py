"""What is asked of a collection over time, by `plan` and by `design`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from ..shared import Options

if TYPE_CHECKING:
    from ....over_time import Repeated

PANEL = "Over time"

TOLD = ("--periods", "--changes", "--answers", "--protects")


@dataclass(frozen=True, kw_only=True)
class OverTimeOptions(Options):
    """How often the same people are asked, and what is to be promised and answered."""

    periods: Annotated[
        int | None,
        typer.Option(
            "--periods", rich_help_panel=PANEL, help="Ask the same people in so many periods, such as 52 weeks."
        ),
    ] = None
    changes: Annotated[
        int | None,
        typer.Option(
            "--changes",
            min=0,
            rich_help_panel=PANEL,
            help="Most changes of a user's value. An assumption about errors, not about privacy. Default: any.",
        ),
    ] = None
    answers: Annotated[
        str,
        typer.Option(
            "--answers",
            rich_help_panel=PANEL,
            help="on-time: when a period ends; at-end: when the last one ends; or delay:D, D periods later.",
        ),
    ] = "on-time"
    protects: Annotated[
        str,
        typer.Option(
            "--protects",
            rich_help_panel=PANEL,
            help="What --epsilon hides: life, a whole history; pattern, which values, but not when they change; "
            "event, one period; span:W, any W periods in a row.",
        ),
    ] = "life"

    @property
    def over_time(self) -> bool:
        """Whether a collection over time is asked for; InputError for what is of no use without."""
        if self.periods is None:
            self.refuse("for a collection over time, with --periods", *TOLD[1:])
        return self.periods is not None

    def repeated(self, of: str) -> Repeated:
        """Return the problem; InputError for what it cannot be."""
        from ....over_time import Repeated

        assert self.periods is not None  # or no collection over time is asked for
        return Repeated(self.periods, self.changes, protects=self.protects, answers=self.answers, of=of)
