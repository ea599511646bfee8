"""Tables on disk, in doubles (optldp-table/1) or exact (/2): JSON to read, npz for large ones; docs/table-format.md.

Both forms hold the same document with the same checksum. A table of 401 knots and 800 outputs is 6 MB of JSON
but at most 2.6 MB of npz (a zip of binary arrays, without pickle), and loads about ten times faster.
"""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from .atomic_write import replacing
from .checksum import checksum
from .errors import InputError, TableError
from .npz_archive import UNREADABLE_ARCHIVE as UNREADABLE_ARCHIVE  # other archives are read with it too
from .npz_archive import pack_arrays, unpack_arrays
from .table import TabulatedMechanism
from .table_document import (
    EXACT_FORMAT,
    FORMAT,
    document_to_table,
    ends_from_document,
    ends_to_document,
    require_keys,
    table_to_document,
)
from .verification import require_usable

MAX_BYTES = 2**29
"""Larger files are refused unread: 512 MiB holds 2,500 knots and 10,000 outputs as JSON."""

SUFFIXES = (".json", ".npz")
ZIP_START = b"PK"


def save_table(table: TabulatedMechanism, path: str | os.PathLike[str], *, allow_unproved: bool = False) -> None:
    """Prove a table's promise by whole numbers and write it whole, or write nothing.

    Parameters
    ----------
    table : TabulatedMechanism
        Exact; it is written as optldp-table/2.
    path : path
        Ends in ".json" or ".npz", which decides the form.
    allow_unproved : bool
        For research: write a table in doubles too, as optldp-table/1, if `verify` finds nothing broken. No client
        loads it.

    Raises
    ------
    TableError
        The table is not proved, or is broken.
    InputError
        Another suffix, or a place that cannot be written; nothing is left behind.

    Example
    -------
    >>> import tempfile
    >>> table = TabulatedMechanism([0, 1], [0, 1], [0, 1], [[0.75, 0.25], [0.25, 0.75]], 1.1, exact=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_table(table, Path(folder, "table.json"))
    ...     load_table(Path(folder, "table.json"))
    TabulatedMechanism('unspecified', epsilon=1.1, knots=2, outputs=2)
    """
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise InputError(f"a table file must end in {' or '.join(SUFFIXES)}, got {str(target)!r}")
    require_usable(table, allow_unproved=allow_unproved)
    document = table_to_document(table)
    document["checksum"] = checksum(document)
    content = to_json(document).encode() if target.suffix.lower() == ".json" else to_npz(document)
    with replacing(target) as temporary:
        temporary.write_bytes(content)


def load_table(path: str | os.PathLike[str], *, allow_unproved: bool = False) -> TabulatedMechanism:
    """Read a table of either form, check its format and checksum, and prove its promise by whole numbers.

    Parameters
    ----------
    path : path
    allow_unproved : bool
        For research: accept a table in doubles too (optldp-table/1) if `verify` finds nothing broken. Clients,
        tokens, bundles and protocols refuse it all the same.

    Raises
    ------
    TableError
        Not a table, truncated, of another version, altered, not proved or broken; the message says what and where.
    InputError
        A file that cannot be read.
    """
    table = read_unverified_table(path)
    try:
        require_usable(table, allow_unproved=allow_unproved)
    except TableError as error:
        raise TableError(f"table {str(path)!r} refused: {error}") from None
    return table


def read_unverified_table(path: str | os.PathLike[str]) -> TabulatedMechanism:
    """Read a table as `load_table` does, but leave `verify` to the caller: for auditors, not for clients.

    Raises
    ------
    TableError
        Not a table, truncated, of another version, or altered.
    InputError
        A file that cannot be read.
    """
    content = file_content(path, "table")
    try:
        return parse_table(content)
    except TableError as error:
        raise TableError(f"table {str(path)!r} refused: {error}") from None


def file_content(path: str | os.PathLike[str], what: str) -> bytes:
    """Return the bytes of a file, or raise TableError for one that is too large, InputError for an unreadable one."""
    name = repr(str(path))
    try:
        if Path(path).stat().st_size > MAX_BYTES:
            raise TableError(f"a {what} file must be at most {MAX_BYTES} bytes, got more in {name}")
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"the {what} must be a readable file, got {name}: {error.strerror or error}") from None


def parse_table(content: bytes) -> TabulatedMechanism:
    """Return the table in a file's bytes, of either form and not verified.

    Raises
    ------
    TableError
        Not a table, truncated, of another version, or altered.
    """
    try:
        return checked_table(from_npz(content) if content.startswith(ZIP_START) else from_json(content))
    except InputError as error:
        raise TableError(str(error)) from None


def checked_table(document: Any) -> TabulatedMechanism:
    """Return the table of a whole document whose format and checksum are right; TableError or InputError else."""
    if not isinstance(document, dict):
        raise TableError(f"the file must hold one JSON object, got {type(document).__name__}")
    require_keys("the table", document, ("format", "checksum"), optional=tuple(document))
    if document["format"] not in (FORMAT, EXACT_FORMAT):
        known = f"{FORMAT!r} or {EXACT_FORMAT!r}"
        raise TableError(f"format must be {known}, got {document['format']!r:.60}: another optldp wrote it")
    try:
        table = document_to_table(document)
        found = checksum(document)
    except RecursionError:
        raise TableError("the document must not be nested deeper than a table is") from None
    if document["checksum"] != found:
        raise TableError(f"checksum must be {found}, got {document['checksum']!r}: the file was altered")
    return table


def to_json(document: dict[str, Any]) -> str:
    """Return JSON text with a line for each member and matrix row, to be read and compared by eye."""
    return _json_lines(document, "") + "\n"


def _json_lines(value: Any, indent: str) -> str:
    deeper = indent + " "
    if isinstance(value, dict) and value:
        inner = (f"{deeper}{json.dumps(k)}: {_json_lines(v, deeper)}" for k, v in value.items())
        return "{\n" + ",\n".join(inner) + "\n" + indent + "}"
    if isinstance(value, np.ndarray) and value.ndim == 2:
        inner = (deeper + json.dumps(row.tolist(), allow_nan=False) for row in value)
        return "[\n" + ",\n".join(inner) + "\n" + indent + "]"
    if isinstance(value, list) and any(isinstance(element, dict) for element in value):
        return "[\n" + ",\n".join(deeper + _json_lines(element, deeper) for element in value) + "\n" + indent + "]"
    plain = value.tolist() if isinstance(value, np.ndarray) else value
    return json.dumps(plain, allow_nan=False)


def from_json(content: bytes) -> Any:
    """Return the JSON value of a file, or raise TableError; a key that comes twice is refused."""
    try:
        return json.loads(content, object_pairs_hook=_without_repeats)
    except TableError:
        raise
    except (ValueError, RecursionError) as error:
        raise TableError(f"the file must be whole JSON text: {error}") from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise TableError(f"keys must not repeat, got {repeated!r} twice")
    return members


def to_npz(document: dict[str, Any]) -> bytes:
    """Return a zip of the document's arrays, each named by its path, and of the rest as JSON text."""
    arrays: dict[str, np.ndarray] = {}
    rest: dict[str, Any] = {}
    for key, value in document.items():
        if key in ("low", "high"):
            arrays[key] = ends_from_document(key, value)
        elif isinstance(value, np.ndarray):
            arrays[key] = value
        elif isinstance(value, dict):
            arrays |= {f"{key}.{k}": v for k, v in value.items() if isinstance(v, np.ndarray)}
            rest[key] = {k: v for k, v in value.items() if not isinstance(v, np.ndarray)}
        else:
            rest[key] = value
    text = np.frombuffer(json.dumps(rest, allow_nan=False).encode(), dtype=np.uint8)
    return pack_arrays({"document": text, **arrays})


def from_npz(content: bytes) -> Any:
    """Return the document of an npz file with its arrays in place, or raise TableError."""
    arrays = unpack_arrays(content, MAX_BYTES)
    text = arrays.pop("document", None)
    if text is None:
        raise TableError("an npz table must have the array 'document', which is missing")
    document = from_json(text.tobytes())
    for name, array in arrays.items():
        _put(document, name, array)
    return document


def _put(document: Any, name: str, array: np.ndarray) -> None:
    *parents, key = name.split(".")
    place = document
    for parent in parents:
        place = place.get(parent) if isinstance(place, dict) else None
    if not isinstance(place, dict) or key in place:
        raise TableError(f"the array {name!r} has no place in the document")
    kind = np.dtype(np.int64 if name == "numerators" else np.float64)
    if array.dtype != kind or array.ndim not in (1, 2):
        raise TableError(f"the array {name!r} must hold {kind.name}, in a list or a matrix")
    place[key] = ends_to_document(array) if name in ("low", "high") else array
