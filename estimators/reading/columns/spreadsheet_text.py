"""Text in a CSV that people open in a spreadsheet: what would be read as a formula is made text.

A spreadsheet runs a cell that begins with =, +, - or @ as a formula, quoted or not, also behind what cannot be seen,
and categories may come from strangers.  So results for people have an apostrophe before such a cell, as OWASP advises
("CSV Injection"); numbers, Parquet files, and what other programs read back (reports, keys) are left as they are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_SIGNS = frozenset("=+-@\u2212")
"""What a formula begins with, as NFKC has the wide and the small forms; U+2212 is the minus that NFKC leaves."""

_SEPARATORS = re.compile(r"[;,|\t]")
"""What separates cells in other countries' files."""

_FILLERS = frozenset("\u115f\u1160\u3164\uffa0")
"""Letters by their category that are drawn as nothing."""

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
    if not isinstance(cell, str) or _NUMBER.fullmatch(cell):
        return cell
    runs = cell[:1] in ("\t", "\r", "\n") or any(map(_is_formula, _SEPARATORS.split(cell)))
    return f"'{cell}" if runs else cell


def _is_formula(text: str) -> bool:
    """Whether the first character that can be seen is a sign of a formula: programs drop others as they read a file."""
    seen = next((letter for letter in text if not _is_invisible(letter)), "")
    return unicodedata.normalize("NFKC", seen)[:1] in _SIGNS


def _is_invisible(letter: str) -> bool:
    """Spaces of all kinds, controls, formats such as U+200B and U+FEFF, marks with nothing under them, fillers."""
    if letter.isascii():
        return letter <= " " or letter == "\x7f"
    return not letter.isprintable() or unicodedata.category(letter).startswith("M") or letter in _FILLERS
