"""The file that a sweep fills row by row, so that after an interruption only what is missing is computed.

The first line says what the rows belong to: the library's version, the options, the unit and a checksum of every
prior.  It does not name the budgets and methods, so that a wider sweep goes on where a narrower one ended.  Every
further line is one row, and is checked here: what may stand in it are this table's columns and nothing else, which a
library for schemas (pydantic, jsonschema) would say at no less length.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

from ...estimators.data.files import FilePath
from ...mechanisms.files.checksum import checksum
from ...mechanisms.table.provenance import installed_version
from ..methods.registry import METHODS
from ..priors.prior import Prior
from .results_file import ResultsFile, ResultsWording
from .table import COLUMNS, TEXT_COLUMNS, SweepRow

FORMAT = "optldp-sweep/2"

WORDING = ResultsWording(
    "a file that a sweep made", "a row of this sweep", "different sweeps", {"priors": "other priors"}
)


class SweepResults:
    """A results file, made or taken up, for one sweep at a time.

    Parameters
    ----------
    path : path
        Made if it is missing or empty.
    priors : mapping of str to Prior
    uniform_share, tolerance : float
        Of the sweep; with other priors, options or another version of the library the rows would not compare.

    Attributes
    ----------
    rows : list of SweepRow
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
    ...     results.append([SweepRow.failed("flat", 1.0, "duchi", "only an example")])
    ...     [row.key for row in SweepResults(results.path, priors, uniform_share=0.0, tolerance=1e-6).rows]
    [('flat', 1.0, 'duchi')]
    """

    def __init__(self, path: FilePath, priors: Mapping[str, Prior], *, uniform_share: float, tolerance: float) -> None:
        self._file = ResultsFile(path, _header(priors, uniform_share, tolerance), partial(_row, priors), WORDING)
        self.path, self.rows = self._file.path, self._file.items

    def append(self, rows: Iterable[SweepRow]) -> None:
        """Add rows and flush them to the disk; InputError where that cannot be done."""
        self._file.append(asdict(row) for row in rows)


def _header(priors: Mapping[str, Prior], uniform_share: float, tolerance: float) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": installed_version(),
        "uniform_share": float(uniform_share),
        "tolerance": float(tolerance),
        "units": next(iter(priors.values())).units,
        "priors": {
            name: checksum({"knots": prior.knots, "weights": prior.weights, "rounding": prior.rounding})
            for name, prior in sorted(priors.items())
        },
    }


def _row(priors: Mapping[str, Prior], found: Any) -> SweepRow | None:
    return SweepRow(**found) if isinstance(found, dict) and _is_row(found, priors) else None


def _is_row(fields: dict[str, Any], priors: Mapping[str, Prior]) -> bool:
    if tuple(fields) != COLUMNS or not all(isinstance(fields[name], str) for name in TEXT_COLUMNS):
        return False
    if fields["prior"] not in priors or fields["method"] not in METHODS or fields["epsilon"] is None:
        return False
    numbers = (fields[name] for name in COLUMNS if name not in TEXT_COLUMNS)
    return all(number is None or (isinstance(number, float) and math.isfinite(number)) for number in numbers)
