"""The file that a report on bounds fills budget by budget, so that after an interruption only the rest is computed.

JSON lines as in `sweep_results.py`: the first says what the others belong to, every further one is a budget with all
its rows.  A line is written by one call and flushed to the disk; one without its end is dropped on reading.  Of two
lines for one budget the later counts.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import joblib

from ..estimators.data_file import FilePath
from ..mechanisms.atomic_write import replacing
from ..mechanisms.checksum import checksum
from ..mechanisms.errors import InputError
from ..mechanisms.provenance import installed_version
from .bounds_criteria import BoundsCriterion, CriterionRow
from .bounds_result import MINIMAX, BoundRow, BudgetBounds
from .mechanism_design import METHODS
from .prior import Prior
from .sweep_table import TEXT_COLUMNS

FORMAT = "optldp-bounds/1"

COLUMNS = tuple(column.name for column in fields(BoundRow))

JUDGED_COLUMNS = tuple(column.name for column in fields(CriterionRow))
JUDGED_TEXT = ("criterion", "method", "status", "error")


class BoundsFile:
    """A results file, made or taken up, for one computation at a time.

    Parameters
    ----------
    path : path
        Made if it is missing or empty.
    prior : Prior
    floor, tolerance : float
    criteria : sequence of BoundsCriterion
        With another prior, other options or another version of the library the rows would not compare.

    Attributes
    ----------
    budgets : dict of float to BudgetBounds
        What the file held when it was opened.

    Raises
    ------
    InputError
        A file of another computation, one that is no results file, a line that is no budget, or a path that cannot be
        written. Such a file is left as it is.

    Example
    -------
    >>> import tempfile
    >>> prior = Prior.on_knots([0, 1], [1, 1], source="public")
    >>> row = BoundRow.failed("prior", 1.0, "optimal", "only an example")
    >>> worst = BoundRow.failed("prior", 1.0, "minimax", "only an example")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = BoundsFile(f"{folder}/bounds.jsonl", prior, floor=0.0, tolerance=1e-6)
    ...     file.append(BudgetBounds(1.0, (row,), worst))
    ...     list(BoundsFile(file.path, prior, floor=0.0, tolerance=1e-6).budgets)
    [1.0]
    """

    def __init__(
        self,
        path: FilePath,
        prior: Prior,
        *,
        floor: float,
        tolerance: float,
        criteria: Sequence[BoundsCriterion] = (),
    ) -> None:
        self.path = Path(path)
        self.budgets: dict[float, BudgetBounds] = {}
        header = _header(prior, floor, tolerance, criteria)
        content = self._content()
        if not content:
            with replacing(self.path) as part:
                part.write_bytes(_line(header))
            return
        lines = content.split(b"\n")
        torn = lines.pop()  # empty, or what an interruption left of a line
        _check_header(lines[0] if lines else torn, header, self.path)
        for number, line in enumerate(lines[1:], start=2):
            budget = _budget(_parsed(line))
            if budget is None:
                raise InputError(f"line {number} of results {str(self.path)!r} must be a budget of bounds: delete it")
            self.budgets[budget.epsilon] = budget
        if torn:
            self._change(lambda: os.truncate(self.path, len(content) - len(torn)))

    def append(self, budget: BudgetBounds) -> None:
        """Add a budget and flush it to the disk; InputError where that cannot be done."""

        def add() -> None:
            with self.path.open("ab", buffering=0) as stream:
                stream.write(_line(asdict(budget)))
                os.fsync(stream.fileno())

        self._change(add)

    def _content(self) -> bytes:
        if self.path.exists() and not self.path.is_file():
            raise InputError(f"results must be a readable file, got {str(self.path)!r}, which is none: name another")
        try:
            return self.path.read_bytes() if self.path.exists() else b""
        except OSError as error:
            raise InputError(f"results must be a readable file, got {str(self.path)!r}: {error.strerror}") from None

    def _change(self, change: Any) -> None:
        try:
            change()
        except OSError as error:
            raise InputError(f"results must be writable, got {str(self.path)!r}: {error.strerror}") from None


def _header(prior: Prior, floor: float, tolerance: float, criteria: Sequence[BoundsCriterion]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": installed_version(),
        "floor": float(floor),
        "tolerance": float(tolerance),
        "units": prior.units,
        "criteria": [joblib.hash(criterion) for criterion in criteria],  # labels leave out what sets them apart
        "prior": checksum({"knots": prior.knots, "weights": prior.weights, "rounding": prior.rounding}),
    }


def _check_header(line: bytes, header: dict[str, Any], path: Path) -> None:
    found = _parsed(line)
    if not (isinstance(found, dict) and found.get("format") == FORMAT):
        raise InputError(f"results must be a file of bounds, got {str(path)!r}: name another")
    for name, wanted in header.items():
        if found.get(name) != wanted:
            given = f"{name} {found.get(name)!r} instead of {wanted!r}"
            other = {"prior": "another prior", "criteria": "other criteria"}.get(name, given)
            raise InputError(
                f"results of different bounds must not be mixed, got {str(path)!r} with {other}: name another file"
            )


def _line(document: dict[str, Any]) -> bytes:
    return json.dumps(document, allow_nan=False).encode() + b"\n"


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _budget(found: Any) -> BudgetBounds | None:
    """Return the budget that a line holds, or None for a line that holds none."""
    if not (isinstance(found, dict) and tuple(found) == ("epsilon", "rows", "minimax", "criteria")):
        return None
    epsilon, rows, worst, judged = found.values()
    if not (isinstance(epsilon, float) and isinstance(rows, list) and _is_row(worst, epsilon, (MINIMAX,))):
        return None
    if not (rows and all(_is_row(row, epsilon, METHODS) for row in rows) and rows[0]["method"] == "optimal"):
        return None
    if not (isinstance(judged, list) and all(_is_judged(row, epsilon) for row in judged)):
        return None
    return BudgetBounds(
        epsilon,
        tuple(BoundRow(**row) for row in rows),
        BoundRow(**worst),
        tuple(CriterionRow(**row) for row in judged),
    )


def _is_row(found: Any, epsilon: float, methods: tuple[str, ...]) -> bool:
    return _has(found, COLUMNS, TEXT_COLUMNS, epsilon) and found["method"] in methods


def _is_judged(found: Any, epsilon: float) -> bool:
    if not _has(found, JUDGED_COLUMNS, JUDGED_TEXT, epsilon):
        return False
    return found["method"] in (*METHODS, found["criterion"])


def _has(found: Any, columns: tuple[str, ...], texts: tuple[str, ...], epsilon: float) -> bool:
    """Whether this is a row of that budget with just these columns, its numbers finite or missing."""
    if not (isinstance(found, dict) and tuple(found) == columns):
        return False
    if not all(isinstance(found[name], str) for name in texts):
        return False
    numbers = [found[name] for name in columns if name not in texts]
    finite = all(number is None or (isinstance(number, float) and math.isfinite(number)) for number in numbers)
    return finite and found["epsilon"] == epsilon
