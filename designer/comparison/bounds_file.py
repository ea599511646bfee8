"""The file that a report on bounds fills budget by budget, so that after an interruption only the rest is computed.

The first line says what the others belong to, every further one is a budget with all its rows.  Of two lines for one
budget the later counts.  Lines are checked by hand, as those of a sweep are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import joblib

from ...estimators.reading.columns.files import FilePath
from ...mechanisms.files.checksum import checksum
from ...mechanisms.table.provenance import installed_version
from ..methods.registry import NAMES
from ..objectives.base import Objective
from ..priors.prior import Prior
from .bounds_result import MINIMAX, BudgetBounds
from .results_file import ResultsFile, ResultsWording
from .row import row_of

FORMAT = "optldp-bounds/4"

WORDING = ResultsWording(
    "a file of bounds",
    "a budget of bounds",
    "different bounds",
    {"prior": "another prior", "objectives": "other objectives"},
)


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
    >>> from optldp.designer.comparison.row import Row
    >>> prior = Prior.on_knots([0, 1], [1, 1], source="public")
    >>> row = Row.failed("prior", 1.0, "expected", "optimal", "only an example")
    >>> worst = Row.failed("prior", 1.0, "minimax", "minimax", "only an example")
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
    epsilon, *parts = found.values()
    if not (isinstance(epsilon, float) and isinstance(parts[0], list) and parts[0] and isinstance(parts[2], list)):
        return None
    rows, (worst,), judged = ([row_of(row, NAMES) for row in part] for part in (parts[0], [parts[1]], parts[2]))
    taken = [row for row in (*rows, worst, *judged) if row is not None and row.epsilon == epsilon]
    if len(taken) != len(rows) + 1 + len(judged):
        return None
    if taken[0].method != "optimal" or taken[len(rows)].method != MINIMAX:
        return None
    return BudgetBounds(epsilon, tuple(taken[: len(rows)]), taken[len(rows)], tuple(taken[len(rows) + 1 :]))
