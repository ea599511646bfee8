"""Arguments and options that several commands share, declared once, with their defaults.

The defaults repeat those of `prior.py` and `designs.design.py`, so that `--help` need not load numpy; a test compares
them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

CONFIDENCE = 0.95
FLOOR = 1e-3
TOLERANCE = 1e-6

Table = Annotated[Path, typer.Argument(metavar="TABLE", help="Table file, .json or .npz.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
AllowUnproved = Annotated[
    bool, typer.Option("--allow-unproved", help="For research: accept tables in doubles too, which no client loads.")
]
DropMissing = Annotated[bool, typer.Option("--drop-missing", help="Leave out rows with no value.")]

SkipInvalid = Annotated[
    bool,
    typer.Option("--skip-invalid", help="Leave out, and count, rows that hold no report that the mechanism can make."),
]

Data = Annotated[Path | None, typer.Argument(metavar="DATA", help="CSV or Parquet file with the values.")]
Column = Annotated[str | None, typer.Option("--column", help="Numeric column of DATA.")]
Domain = Annotated[
    tuple[float, float] | None,
    typer.Option("--range", metavar="LO HI", help="Domain of the values; default: their extremes, a disclosure."),
]
PriorFile = Annotated[
    Path | None, typer.Option("--prior", help="CSV or Parquet with columns value and weight, instead of DATA.")
]
Knots = Annotated[
    int | None,
    typer.Option("--knots", help="Equally spaced knots. Default: 101, or a prior's own values (at most 401)."),
]
Floor = Annotated[
    float,
    typer.Option("--floor", help="Uniform share mixed into the prior to protect knots of no mass; 0 for none."),
]
Tolerance = Annotated[float, typer.Option("--tolerance", help="Relative gap of the certificate to reach.")]
Confidence = Annotated[float, typer.Option("--confidence", help="Coverage of intervals and bands.")]
Public = Annotated[bool, typer.Option("--public", help="The prior is public knowledge: no warning.")]
