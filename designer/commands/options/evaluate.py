"""What `optldp evaluate` may be asked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from .shared import CONFIDENCE, Clip, Confidence, DropMissing, Json, Options, PriorFile, Table, people


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(Options):
    """What `optldp evaluate` may be asked."""

    table: Table
    data: Annotated[Path | None, typer.Option("--on", metavar="DATA", help="File of values, as for design.")] = None
    column: Annotated[
        str | None, typer.Option("--column", help="Column of DATA; attributes have columns of their own names.")
    ] = None
    prior_file: PriorFile = None
    users: Annotated[int | None, people("Users who will report, for the errors of estimates.")] = None
    confidence: Confidence = CONFIDENCE
    clip: Clip = False
    drop_missing: DropMissing = False
    as_json: Json = False
