"""What `optldp evaluate` may be asked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ....mechanisms.errors import InputError
from .assumed import ASSUMPTIONS
from .shared import CONFIDENCE, Clip, Confidence, DropMissing, Json, Options, PriorFile, Table, people


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(Options):
    """What `optldp evaluate` may be asked."""

    table: Table
    data: Annotated[Path | None, typer.Option("--on", metavar="DATA", help="File of values, as for design.")] = None
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--column", help="Column of DATA; for places x, then y; attributes have columns with their own names."
        ),
    ] = None
    prior_file: PriorFile = None
    users: Annotated[int | None, people("Users who will report, for the errors of estimates.")] = None
    assume: Annotated[
        list[str] | None,
        typer.Option(
            "--assume",
            metavar=f"<{'|'.join(ASSUMPTIONS)}>",
            help="Compute how many people must be exempt for these values to meet an assumption near the table's "
            "prior, in the form of --assume of estimate. Example: --assume shape=1.1",
        ),
    ] = None
    confidence: Confidence = CONFIDENCE
    clip: Clip = False
    drop_missing: DropMissing = False
    as_json: Json = False

    @property
    def column(self) -> str | None:
        """The one column, if one was named; InputError for several."""
        if len(self.columns or ()) > 1:
            raise InputError(f"evaluate takes one --column, but of places two, got {', '.join(self.columns or ())}")
        return self.columns[0] if self.columns else None
