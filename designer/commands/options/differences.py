"""What `estimate` may be asked that leads to a decision: differences, groups, weights, and what is shown of many."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from .shared import Options


@dataclass(frozen=True, kw_only=True)
class ContrastOptions(Options):
    """Options of unbiased means and frequencies, and of lists of many of them."""

    versus: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            "--versus",
            metavar="TABLE REPORTS",
            help="Also estimate the difference to another group or period. With --key, users who are in both are "
            "matched; "
            "without it the two count as independent.",
        ),
    ] = None
    by: Annotated[
        str | None,
        typer.Option("--by", help="Column of REPORTS that names a group, in clear: one estimate for each."),
    ] = None
    weights: Annotated[
        str | None,
        typer.Option("--weights", help="Column of REPORTS with public survey weights, at least 0."),
    ] = None
    simultaneous: Annotated[
        bool,
        typer.Option(
            "--simultaneous",
            help="Use longer intervals that hold for all groups, categories, cells, ranges or quantiles at once.",
        ),
    ] = False
    top: Annotated[
        int | None,
        typer.Option("--top", min=1, help="Categories to print, the rest in one line. Default: 25; by group, 5."),
    ] = None
