"""What hangs together between columns, as `design` and `plan` are asked for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer

from .....mechanisms.errors import InputError
from .....mechanisms.option_grammar import Option, Taken, asked_for
from ..shared import Options

PANEL = "Several columns"

OF_COLUMNS = ("--attribute", "--rank", "--response", "--group", "--after")
"""Options that only --for has a use for, where it may be asked."""

_CLIP = Option("clip", float, "standard deviations of a column that are kept, inf for all", 2.0)

FOR = {
    "correlation": Taken("correlation:clip=2", (_CLIP,)),
    "covariance": Taken("covariance:clip=2", (_CLIP,)),
    "regression": Taken("regression:clip=2", (_CLIP,)),
    "group-means": Taken("group-means:clip=2", (_CLIP,)),
    "table": Taken("table"),
}
"""What several columns of a record may be reported for, and what it may be told."""


@dataclass(frozen=True, kw_only=True)
class FeaturesOptions(Options):
    """Columns with their ranges, and what one report of them is for."""

    attributes: Annotated[
        list[str] | None,
        typer.Option(
            "--attribute",
            rich_help_panel=PANEL,
            metavar="NAME=LO:HI",
            help="A numeric column and its range; repeat for several. --column NAME=LO:HI is the same.",
        ),
    ] = None
    for_text: Annotated[
        str | None,
        typer.Option(
            "--for",
            rich_help_panel=PANEL,
            metavar=f"<{'|'.join(FOR)}>",
            help="What one report of several columns (--column NAME=LO:HI each) is for. With DATA, a survey, "
            "users report the influence function, with columns cut at two standard deviations "
            "(correlation:clip=inf: no cut; with --n: the best cut). Without it they report one of the "
            "columns' moments. table: of labels, --column NAME each.",
        ),
    ] = None
    rank: Annotated[
        bool,
        typer.Option(
            "--rank",
            rich_help_panel=PANEL,
            help="With --for correlation: Spearman's, of ranks by the survey's distributions.",
        ),
    ] = False

    response: Annotated[
        str | None,
        typer.Option(
            "--response",
            metavar="NAME",
            rich_help_panel=PANEL,
            help="--for regression: the response, on which the other columns have slopes.",
        ),
    ] = None

    group: Annotated[
        str | None,
        typer.Option(
            "--group",
            metavar="NAME",
            rich_help_panel=PANEL,
            help="--for group-means: the column of labels, whose groups' means of --column y=0:80 are wanted.",
        ),
    ] = None

    after: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            "--after",
            metavar="TABLE REPORTS",
            rich_help_panel=PANEL,
            help="--for regression in two rounds: the first round's mechanism, designed without DATA, and its "
            "reports. Other users report score features at its slopes. plan shows whether two rounds pay.",
        ),
    ] = None

    @cached_property
    def for_what(self) -> tuple[str, dict[str, Any]]:
        """What a report is for and what that is told; InputError for something else than there is."""
        if self.for_text is None:
            raise InputError(f"a report of several columns needs --for, one of {', '.join(FOR)}: add it")
        name, told = asked_for(self.for_text, FOR, "--for")
        if self.rank and name != "correlation":
            raise InputError(f"--rank is for --for correlation, got {name}: leave it out")
        if name != "group-means":
            self.refuse("for --for group-means", "--group")
        elif self.group is None:
            raise InputError("means of groups need --group, the column of the groups, got none: name one")
        if name != "regression":
            self.refuse("for --for regression", "--response", "--after")
        elif self.response is None:
            raise InputError("a regression needs --response, the column that it explains, got none: name one")
        return name, told
