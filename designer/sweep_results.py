"""The file that a sweep fills row by row, so that after an interruption only what is missing is computed.

JSON lines.  The first says what the rows belong to: the library's version, the options, the unit and a checksum of
every prior.  It does not name the budgets and methods, so that a wider sweep goes on where a narrower one ended.  Every
further line is one row.  A line is written by one call and flushed to the disk, so that a process or a machine that
stops leaves at most one line without its end; reading drops that.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..estimators.data_file import FilePath
from ..mechanisms.atomic_write import replacing
from ..mechanisms.checksum import checksum
from ..mechanisms.errors import InputError
from ..mechanisms.provenance import installed_version
from .mechanism_design import METHODS
from .prior import Prior
from .sweep_table import COLUMNS, TEXT_COLUMNS, SweepRow

FORMAT = "optldp-sweep/1"


class SweepResults:
    """A results file, made or taken up, for one sweep at a time.

    Parameters
    ----------
    path : path
        Made if it is missing or empty.
    priors : mapping of str to Prior
    floor, tolerance : float
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
    ...     results = SweepResults(f"{folder}/sweep.jsonl", priors, floor=0.0, tolerance=1e-6)
    ...     results.append([SweepRow.failed("flat", 1.0, "duchi", "only an example")])
    ...     [row.key for row in SweepResults(results.path, priors, floor=0.0, tolerance=1e-6).rows]
    [('flat', 1.0, 'duchi')]
    """

    def __init__(self, path: FilePath, priors: Mapping[str, Prior], *, floor: float, tolerance: float) -> None:
        self.path, self.rows = Path(path), []
        header = _header(priors, floor, tolerance)
        content = self._content()
        if not content:
            with replacing(self.path) as part:
                part.write_bytes(_line(header))
            return
        lines = content.split(b"\n")
        torn = lines.pop()  # empty, or what an interruption left of a line
        _check_header(lines[0] if lines else torn, header, self.path)
        self.rows = [self._row(number, line, priors) for number, line in enumerate(lines[1:], start=2)]
        if torn:
            self._write(lambda: os.truncate(self.path, len(content) - len(torn)))

    def append(self, rows: Iterable[SweepRow]) -> None:
        """Add rows and flush them to the disk; InputError where that cannot be done."""

        def add() -> None:
            with self.path.open("ab", buffering=0) as stream:
                stream.write(b"".join(_line(asdict(row)) for row in rows))
                os.fsync(stream.fileno())

        self._write(add)

    def _content(self) -> bytes:
        if self.path.exists() and not self.path.is_file():
            raise InputError(f"results must be a readable file, got {str(self.path)!r}, which is none: name another")
        try:
            return self.path.read_bytes() if self.path.exists() else b""
        except OSError as error:
            raise InputError(f"results must be a readable file, got {str(self.path)!r}: {error.strerror}") from None

    def _write(self, change: Callable[[], object]) -> None:
        try:
            change()
        except OSError as error:
            raise InputError(f"results must be writable, got {str(self.path)!r}: {error.strerror}") from None

    def _row(self, number: int, line: bytes, priors: Mapping[str, Prior]) -> SweepRow:
        fields = _parsed(line)
        if not (isinstance(fields, dict) and _is_row(fields, priors)):
            raise InputError(f"line {number} of results {str(self.path)!r} must be a row of this sweep: delete it")
        return SweepRow(**fields)


def _header(priors: Mapping[str, Prior], floor: float, tolerance: float) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": installed_version(),
        "floor": float(floor),
        "tolerance": float(tolerance),
        "units": next(iter(priors.values())).units,
        "priors": {
            name: checksum({"knots": prior.knots, "weights": prior.weights, "rounding": prior.rounding})
            for name, prior in sorted(priors.items())
        },
    }


def _check_header(line: bytes, header: dict[str, Any], path: Path) -> None:
    found = _parsed(line)
    if not (isinstance(found, dict) and found.get("format") == FORMAT):
        raise InputError(f"results must be a file that a sweep made, got {str(path)!r}: name another")
    for name, wanted in header.items():
        if found.get(name) != wanted:
            other = "other priors" if name == "priors" else f"{name} {found.get(name)!r} instead of {wanted!r}"
            raise InputError(
                f"results of different sweeps must not be mixed, got {str(path)!r} with {other}: name another file"
            )


def _line(document: dict[str, Any]) -> bytes:
    return json.dumps(document, allow_nan=False).encode() + b"\n"


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _is_row(fields: dict[str, Any], priors: Mapping[str, Prior]) -> bool:
    if tuple(fields) != COLUMNS or not all(isinstance(fields[name], str) for name in TEXT_COLUMNS):
        return False
    if fields["prior"] not in priors or fields["method"] not in METHODS or fields["epsilon"] is None:
        return False
    numbers = (fields[name] for name in COLUMNS if name not in TEXT_COLUMNS)
    return all(number is None or (isinstance(number, float) and math.isfinite(number)) for number in numbers)
