"""Counts on disk, format optldp-counts/1, so that reports can be counted where they lie and added elsewhere.

An npz archive (a zip of binary arrays, without pickle): the text ``document``, JSON with the format, the services
(name and fingerprint of the table) and the sets of services; and for each set the arrays ``outputs.0``, ``counts.0``
and so on. No keys, no rows, no tables: the tables are wanted again when the counts are read.
"""

import io
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..mechanisms.atomic_write import replacing
from ..mechanisms.checksum import checksum
from ..mechanisms.errors import InputError, TableError
from ..mechanisms.table import TabulatedMechanism
from ..mechanisms.table_document import table_to_document
from ..mechanisms.table_file import UNREADABLE_ARCHIVE, from_json
from .report_counts import ReportCounts, Service
from .report_group import ReportGroup

FORMAT = "optldp-counts/1"

FINGERPRINT = ("units", "knots", "low", "high", "probabilities", "within")
"""What makes a table the same table: all that reports depend on; not its prior, claims or history."""


def save_counts(counts: ReportCounts, path: str | os.PathLike[str]) -> None:
    """Write counts whole or not at all.

    Parameters
    ----------
    counts : ReportCounts
    path : path
        Ends in ".npz"; an existing file is replaced.

    Raises
    ------
    InputError
        Another suffix, or a place that cannot be written; nothing is left behind.

    Example
    -------
    >>> import tempfile
    >>> from optldp.mechanisms.duchi import duchi
    >>> table = duchi([-1.0, 1.0], 1.0)
    >>> counts = ReportCounts.from_outputs([Service("web", table)], [[0], [1], [1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_counts(counts, Path(folder, "monday.npz"))
    ...     monday = load_counts(Path(folder, "monday.npz"), [table])
    >>> (monday + counts).n_users
    6
    """
    target = Path(path)
    if target.suffix.lower() != ".npz":
        raise InputError(f"a file of counts must end in .npz, got {str(target)!r}: rename it")
    document = {
        "format": FORMAT,
        "services": [{"name": s.name, "table": table_fingerprint(s.mechanism)} for s in counts.services],
        "groups": [list(group.services) for group in counts.groups],
    }
    arrays = {"document": np.frombuffer(json.dumps(document).encode(), dtype=np.uint8)}
    for number, group in enumerate(counts.groups):
        arrays |= {f"outputs.{number}": group.outputs, f"counts.{number}": group.counts}
    with replacing(target) as temporary:
        np.savez_compressed(temporary, **arrays)  # pyright: ignore[reportArgumentType] -- no array is allow_pickle


def load_counts(path: str | os.PathLike[str], mechanisms: Sequence[TabulatedMechanism]) -> ReportCounts:
    """Read counts that were made with these tables.

    Parameters
    ----------
    path : path
    mechanisms : sequence of TabulatedMechanism
        The table of each service, in the order in which they were counted.

    Raises
    ------
    InputError
        A file that cannot be read or holds no counts, counts of other services, or of other tables than these.
    """
    name = repr(str(path))
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"counts must be in a readable file, got {name}: {error.strerror or error}") from None
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {member: archive[member] for member in archive.files}
    except UNREADABLE_ARCHIVE as error:
        raise InputError(f"{name} must be a whole npz archive of counts: {' '.join(str(error).split())}") from None
    try:
        document = _document(arrays)
        services = _services(document["services"], mechanisms)
        groups = tuple(_group(arrays, number, of) for number, of in enumerate(document["groups"]))
        return ReportCounts(services, groups)
    except (InputError, TableError) as error:
        raise InputError(f"counts {name} refused: {error}") from None


def table_fingerprint(mechanism: TabulatedMechanism) -> str:
    """Return a checksum of all that a report's law depends on.

    Example
    -------
    >>> from optldp.mechanisms.duchi import duchi
    >>> table_fingerprint(duchi([0, 1], 1.0)) == table_fingerprint(duchi([0, 1], 2.0))
    False
    """
    document = table_to_document(mechanism)
    return checksum({name: document[name] for name in FINGERPRINT})


def _document(arrays: Mapping[str, Any]) -> dict[str, Any]:
    text = arrays.get("document")
    if not isinstance(text, np.ndarray) or text.dtype != np.uint8:
        raise InputError("it must have the text 'document', which is missing")
    document = from_json(text.tobytes())
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        found = document.get("format") if isinstance(document, dict) else None
        raise InputError(f"format must be {FORMAT!r}, got {found!r}")
    services, groups = document.get("services"), document.get("groups")
    if not isinstance(services, list) or not all(
        isinstance(s, dict) and isinstance(s.get("name"), str) and isinstance(s.get("table"), str) for s in services
    ):
        raise InputError("services must be a list of names and table fingerprints")
    if not isinstance(groups, list) or not all(
        isinstance(group, list) and all(type(j) is int for j in group) for group in groups
    ):
        raise InputError("groups must be lists of positions of services")
    if len(arrays) != 1 + 2 * len(groups):
        raise InputError(
            f"it must have outputs and counts for each of its {len(groups)} groups, got {len(arrays) - 1} arrays"
        )
    return document


def _services(recorded: list[dict[str, str]], mechanisms: Sequence[TabulatedMechanism]) -> tuple[Service, ...]:
    if len(recorded) != len(mechanisms):
        raise InputError(f"there must be a table for each of its {len(recorded)} services, got {len(mechanisms)}")
    for entry, mechanism in zip(recorded, mechanisms, strict=True):
        if entry["table"] != table_fingerprint(mechanism):
            raise InputError(
                f"its reports to service {entry['name']!r} must have been counted with the table given, "
                "but they were with another: give that one"
            )
    return tuple(Service(entry["name"], mechanism) for entry, mechanism in zip(recorded, mechanisms, strict=True))


def _group(arrays: Mapping[str, Any], number: int, services: list[int]) -> ReportGroup:
    outputs, counts = arrays.get(f"outputs.{number}"), arrays.get(f"counts.{number}")
    for array, kind in ((outputs, np.int32), (counts, np.int64)):
        if not isinstance(array, np.ndarray) or array.dtype != kind:
            raise InputError(f"group {number} must have outputs and counts, arrays of int32 and int64")
    return ReportGroup(tuple(services), np.asarray(outputs), np.asarray(counts))
