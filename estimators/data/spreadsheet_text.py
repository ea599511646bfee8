"""Text in a CSV that people open in a spreadsheet: what would be read as a formula is made text.

A spreadsheet runs a cell that begins with =, +, - or @ as a formula, quoted or not, and categories may come from
strangers.  So results for people have an apostrophe before such a cell, as OWASP advises ("CSV Injection"); numbers,
Parquet files, and what other programs read back (reports, keys) are left as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_FORMULA = re.compile(r"(.*[;,|\t])?\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]", re.DOTALL)
"""How a cell begins that a spreadsheet may run: also with the wide forms of the four signs, after space, or behind what
separates cells in other countries' files."""

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
"""A number with a sign is one and runs nothing."""


def spreadsheet_columns(columns: Mapping[str, Sequence[Any]]) -> tuple[dict[str, Sequence[Any]], int]:
    """Return columns whose text runs nothing in a spreadsheet, and how many cells had to change.

    Example
    -------
    >>> spreadsheet_columns({"category": ["=1+1", "-5", "cook"], "frequency": [0.5, -0.25, 0.75]})
    ({'category': ["'=1+1", '-5', 'cook'], 'frequency': [0.5, -0.25, 0.75]}, 1)
    """
    safe, changed = {}, 0
    for name, cells in columns.items():
        if np.asarray(cells).dtype.kind not in "UO":
            safe[name] = cells
            continue
        safe[name] = [_safe(cell) for cell in cells]
        changed += sum(new != old for new, old in zip(safe[name], cells, strict=True))
    return safe, changed


def _safe(cell: Any) -> Any:
    if not isinstance(cell, str) or not _FORMULA.match(cell) or _NUMBER.fullmatch(cell):
        return cell
    return f"'{cell}"
