"""Counts on disk, format optldp-counts/1, so that reports can be counted where they lie and added elsewhere.

An npz archive (a zip of binary arrays, without pickle): the text ``document``, JSON with the format, the services
(name and fingerprint of the table), the sets of services and, where the services are files of different times,
``"rounds": true``; and for each set the arrays ``outputs.0``, ``counts.0`` and so on.
No keys, no rows, no tables: the tables are wanted again when the counts are read.
"""

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...mechanisms.documents.table import require_keys, table_to_document
from ...mechanisms.errors import InputError, TableError
from ...mechanisms.files.atomic_write import replacing
from ...mechanisms.files.checksum import checksum
from ...mechanisms.files.npz_archive import NpzArchive, pack_arrays
from ...mechanisms.files.npz_table import text_array, text_document
from ...mechanisms.files.untrusted import one_line, opened
from ...mechanisms.table.table import TabulatedMechanism
from .counts import ReportCounts, Service, require_outputs, require_sets
from .group import ReportGroup, increasing_rows
from .user_numbers import whole_counts

FORMAT = "optldp-counts/1"

MOST_GROUPS = 2**12
"""Sets of services that a file may have: all those of twelve services."""

FINGERPRINT = ("units", "knots", "low", "high", "probabilities", "numerators", "within")
"""What makes a table the same table: all that reports depend on, of what it has; not its prior, claims or history."""


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
        Another suffix, more sets of services than a file may have, or a place that cannot be written; nothing is
        left behind.

    Example
    -------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from optldp.estimators import ReportCounts, Service, load_counts
    >>> from optldp.estimators import save_counts
    >>> from optldp.mechanisms.families.duchi import duchi
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
    document |= {"rounds": True} if counts.rounds else {}
    _require_few(len(counts.groups))
    arrays = {"document": text_array(document)}
    for number, group in enumerate(counts.groups):
        arrays |= {f"outputs.{number}": group.outputs, f"counts.{number}": group.counts}
    content = pack_arrays(arrays)
    with replacing(target) as temporary:
        temporary.write_bytes(content)


def load_counts(path: str | os.PathLike[str], mechanisms: Sequence[TabulatedMechanism]) -> ReportCounts:
    """Read counts that were made with these tables.

    Parameters
    ----------
    path : path
    mechanisms : sequence of TabulatedMechanism
        The table of each service, in the order in which they were counted.

    Returns
    -------
    counts : ReportCounts

    Raises
    ------
    InputError
        A file that cannot be read or holds no counts, counts of other services, or of other tables than these.

    Example
    -------
    >>> import pathlib, tempfile
    >>> from optldp.estimators import count, load_counts, save_counts
    >>> from optldp.mechanisms import grr
    >>> table, path = grr([0, 1], 1.0), pathlib.Path(tempfile.mkdtemp(), "counts.npz")
    >>> save_counts(count(table, [0, 1, 1]), path)
    >>> load_counts(path, [table]).groups[0].counts
    array([1, 2])
    """
    with opened(path, "file of counts") as stream:
        try:
            archive = NpzArchive(stream, 1 + 2 * MOST_GROUPS)
            document = _document(archive)
            services = _services(document["services"], mechanisms)
            sets = [tuple(group) for group in document["groups"]]
            require_sets(sets, len(services))
            groups = tuple(_group(archive, number, of, services) for number, of in enumerate(sets))
            return ReportCounts(services, groups, rounds="rounds" in document)
        except (InputError, TableError) as error:
            raise InputError(f"counts {str(path)!r} refused: {one_line(error)}") from None


def table_fingerprint(mechanism: TabulatedMechanism) -> str:
    """Return a checksum of all that a report's law depends on.

    Example
    -------
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> table_fingerprint(duchi([0, 1], 1.0)) == table_fingerprint(duchi([0, 1], 2.0))
    False
    """
    document = table_to_document(mechanism)
    return checksum({name: document[name] for name in FINGERPRINT if name in document})


def _document(archive: NpzArchive) -> dict[str, Any]:
    document = text_document(archive)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        found = document.get("format") if isinstance(document, dict) else None
        raise InputError(f"format must be {FORMAT!r}, got {found!r:.60}")
    require_keys("the counts", document, ("format", "services", "groups"), ("rounds",))
    if document.get("rounds", True) is not True:
        raise InputError(f"rounds must be true or absent, got {document['rounds']!r:.60}")
    services, groups = document["services"], document["groups"]
    if not isinstance(services, list) or not all(
        isinstance(s, dict) and set(s) == {"name", "table"} and all(isinstance(v, str) for v in s.values())
        for s in services
    ):
        raise InputError("services must be a list of names and table fingerprints")
    if not isinstance(groups, list) or not all(
        isinstance(group, list) and all(type(j) is int for j in group) for group in groups
    ):
        raise InputError("groups must be lists of positions of services")
    _require_few(len(groups))
    if len(archive.names) != 1 + 2 * len(groups):
        found = f"{len(archive.names) - 1} arrays"
        raise InputError(f"it must have outputs and counts for each of its {len(groups)} groups, got {found}")
    return document


def _require_few(n_groups: int) -> None:
    if n_groups > MOST_GROUPS:
        raise InputError(
            f"a file of counts must have at most {MOST_GROUPS} sets of services, got {n_groups}: "
            "count fewer services together"
        )


def _services(recorded: list[dict[str, str]], mechanisms: Sequence[TabulatedMechanism]) -> tuple[Service, ...]:
    if len(recorded) != len(mechanisms):
        raise InputError(f"there must be a table for each of its {len(recorded)} services, got {len(mechanisms)}")
    for entry, mechanism in zip(recorded, mechanisms, strict=True):
        if entry["table"] != table_fingerprint(mechanism):
            raise InputError(
                f"its reports to service {entry['name']!r:.60} must have been counted with the table given, "
                "but they were with another: give that one"
            )
    return tuple(Service(entry["name"], mechanism) for entry, mechanism in zip(recorded, mechanisms, strict=True))


def _group(archive: NpzArchive, number: int, positions: tuple[int, ...], services: Sequence[Service]) -> ReportGroup:
    """The counts first, which can be no more than there are outputs together; then as many rows of outputs."""
    mine = [services[j] for j in positions]

    def check_counts(block: np.ndarray, first: int) -> None:
        whole_counts("counts", block, least=1)

    def check_outputs(block: np.ndarray, first: int) -> None:
        if block.min() < 0 or not increasing_rows(block):
            raise InputError("a group's outputs must be different rows from 0 on, in lexicographic order: count_rows")
        for service, column in zip(mine, block.T, strict=True):
            require_outputs(service, int(column.max()))

    most = math.prod(service.mechanism.low.size for service in mine)
    counts = archive.array(f"counts.{number}", np.int64, (None,), check_counts, most=most)
    outputs = archive.array(f"outputs.{number}", np.int32, (counts.size, len(mine)), check_outputs)
    return ReportGroup(positions, outputs, counts)
