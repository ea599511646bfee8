"""The file that a report on bounds fills budget by budget, so that after an interruption only the rest is computed.

The first line says what the others belong to, every further one is a budget with all its rows.  Of two lines for one
budget the later counts.  Lines are checked by hand, as those of a sweep are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

import joblib

from ...estimators.data.files import FilePath
from ...mechanisms.files.checksum import checksum
from ...mechanisms.table.provenance import installed_version
from ..methods.registry import METHODS
from ..objectives.base import Objective
from ..priors.prior import Prior
from .bounds_result import MINIMAX, BoundRow, BudgetBounds
from .objective_rows import ObjectiveRow
from .results_file import ResultsFile, ResultsWording
from .table import TEXT_COLUMNS

FORMAT = "optldp-bounds/2"

WORDING = ResultsWording(
    "a file of bounds",
    "a budget of bounds",
    "different bounds",
    {"prior": "another prior", "objectives": "other objectives"},
)

COLUMNS = tuple(column.name for column in fields(BoundRow))

JUDGED_COLUMNS = tuple(column.name for column in fields(ObjectiveRow))
JUDGED_TEXT = ("objective", "method", "status", "error")


class BoundsFile:
    """A results file, made or taken up, for one computation at a time.

    Parameters
    ----------
    path : path
        Made if it is missing or empty.
    prior : Prior
    uniform_share, tolerance : float
    objectives : sequence of Objective
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
    ...     file = BoundsFile(f"{folder}/bounds.jsonl", prior, uniform_share=0.0, tolerance=1e-6)
    ...     file.append(BudgetBounds(1.0, (row,), worst))
    ...     list(BoundsFile(file.path, prior, uniform_share=0.0, tolerance=1e-6).budgets)
    [1.0]
    """

    def __init__(
        self,
        path: FilePath,
        prior: Prior,
        *,
        uniform_share: float,
        tolerance: float,
        objectives: Sequence[Objective] = (),
    ) -> None:
        self._file = ResultsFile(path, _header(prior, uniform_share, tolerance, objectives), _budget, WORDING)
        self.path, self.budgets = self._file.path, {budget.epsilon: budget for budget in self._file.items}

    def append(self, budget: BudgetBounds) -> None:
        """Add a budget and flush it to the disk; InputError where that cannot be done."""
        self._file.append([asdict(budget)])


def _header(prior: Prior, uniform_share: float, tolerance: float, objectives: Sequence[Objective]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": installed_version(),
        "uniform_share": float(uniform_share),
        "tolerance": float(tolerance),
        "units": prior.units,
        "objectives": [joblib.hash(objective) for objective in objectives],  # labels leave out what sets them apart
        "prior": checksum({"knots": prior.knots, "weights": prior.weights, "rounding": prior.rounding}),
    }


def _budget(found: Any) -> BudgetBounds | None:
    """Return the budget that a line holds, or None for a line that holds none."""
    if not (isinstance(found, dict) and tuple(found) == ("epsilon", "rows", "minimax", "judged")):
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
        tuple(ObjectiveRow(**row) for row in judged),
    )


def _is_row(found: Any, epsilon: float, methods: tuple[str, ...]) -> bool:
    return _has(found, COLUMNS, TEXT_COLUMNS, epsilon) and found["method"] in methods


def _is_judged(found: Any, epsilon: float) -> bool:
    if not _has(found, JUDGED_COLUMNS, JUDGED_TEXT, epsilon):
        return False
    return found["method"] in (*METHODS, found["objective"])


def _has(found: Any, columns: tuple[str, ...], texts: tuple[str, ...], epsilon: float) -> bool:
    """Whether this is a row of that budget with just these columns, its numbers finite or missing."""
    if not (isinstance(found, dict) and tuple(found) == columns):
        return False
    if not all(isinstance(found[name], str) for name in texts):
        return False
    numbers = [found[name] for name in columns if name not in texts]
    finite = all(number is None or (isinstance(number, float) and math.isfinite(number)) for number in numbers)
    return finite and found["epsilon"] == epsilon
