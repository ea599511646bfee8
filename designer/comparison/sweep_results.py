"""The file that a sweep fills row by row, so that after an interruption only what is missing is computed.

The first line says what the rows belong to: the library's version, the options, the unit and a checksum of every
prior.  It does not name the budgets and methods, so that a wider sweep goes on where a narrower one ended.  Every
further line is one row, and is checked: what may stand in it are this table's columns and nothing else, which a library
for schemas (pydantic, jsonschema) would say at no less length.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import joblib

from ...estimators.reading.columns.files import FilePath
from ...mechanisms.files.checksum import checksum
from ...mechanisms.table.provenance import installed_version
from ..methods.registry import NAMES
from ..objectives.base import Objective
from ..objectives.variance import Variance
from ..priors.prior import Prior
from .results_file import ResultsFile, ResultsWording
from .row import Row, row_of

FORMAT = "optldp-sweep/4"

WORDING = ResultsWording(
    "a file that a sweep made",
    "a row of this sweep",
    "different sweeps",
    {"priors": "other priors", "objectives": "other objectives"},
)


class SweepResults:
    """A results file, made or taken up, for one sweep at a time.

    Parameters
    ----------
    path : path
        Made if it is missing or empty.
    priors : mapping of str to Prior
    uniform_share, tolerance : float
    objective : Objective, optional
    objectives : sequence of Objective
        Of the sweep; with other priors, options or another version of the library the rows would not compare.

    Attributes
    ----------
    rows : list of Row
        Those that the file held when it was opened, with whatever budgets and methods.

    Raises
    ------
    InputError
        A file of another sweep, one that is no results file, a line that is no row, or a path that cannot be
        written. Such a file is left as it is.

    Example
    -------
    >>> import tempfile
    >>> priors = {"flat": Prior.on_knots([0, 1], [1, 1], source="public")}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = SweepResults(f"{folder}/sweep.jsonl", priors, uniform_share=0.0, tolerance=1e-6)
    ...     results.append([Row.failed("flat", 1.0, "expected", "duchi", "only an example")])
    ...     [row.key for row in SweepResults(results.path, priors, uniform_share=0.0, tolerance=1e-6).rows]
    [('flat', 1.0, 'expected', 'duchi')]
    """

    def __init__(
        self,
        path: FilePath,
        priors: Mapping[str, Prior],
        *,
        uniform_share: float,
        tolerance: float,
        objective: Objective | None = None,
        objectives: Sequence[Objective] = (),
    ) -> None:
        asked = [Variance() if objective is None else objective, *objectives]
        self._file = ResultsFile(path, _header(priors, uniform_share, tolerance, asked), partial(_row, priors), WORDING)
        self.path, self.rows = self._file.path, self._file.items

    def append(self, rows: Iterable[Row]) -> None:
        """Add rows and flush them to the disk; InputError where that cannot be done."""
        self._file.append(asdict(row) for row in rows)


def _header(
    priors: Mapping[str, Prior], uniform_share: float, tolerance: float, objectives: Sequence[Objective]
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": installed_version(),
        "uniform_share": float(uniform_share),
        "tolerance": float(tolerance),
        "units": next(iter(priors.values())).units,
        "objectives": [joblib.hash(objective) for objective in objectives],  # labels leave out what sets them apart
        "priors": {
            name: checksum({"knots": prior.knots, "weights": prior.weights, "rounding": prior.rounding})
            for name, prior in sorted(priors.items())
        },
    }


def _row(priors: Mapping[str, Prior], found: Any) -> Row | None:
    row = row_of(found, NAMES)
    return row if row is not None and row.prior in priors else None
