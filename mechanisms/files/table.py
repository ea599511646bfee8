"""Tables on disk, in doubles (optldp-table/1) or exact (/2): JSON to read, npz for large ones; docs/table-format.md.

Both forms hold the same document with the same checksum. A table of 401 knots and 800 outputs is 6 MB of JSON
but at most 2.6 MB of npz (a zip of binary arrays, without pickle), and loads about ten times faster.
"""

import io
import os
from pathlib import Path
from typing import Any, BinaryIO

from ..documents.bundle import other_format
from ..documents.table import EXACT_FORMAT, FORMAT, document_to_table, require_modest_table, table_to_document
from ..errors import InputError, TableError
from ..exactness.verification import require_usable
from ..table.table import TabulatedMechanism
from .atomic_write import replacing
from .checksum import checksum
from .json_text import from_json, to_json
from .npz_table import from_npz, to_npz
from .untrusted import json_content, one_line, opened, starts_zip

SUFFIXES = (".json", ".npz")


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
        Another suffix, a table that would cost too much to be read again (see `allow_large`), or a place that cannot be
        written; nothing is left behind.

    Example
    -------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from optldp import TabulatedMechanism, load_table, save_table
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
    require_modest_table(document)
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

    Returns
    -------
    table : TabulatedMechanism
        Of numbers; `load_mechanism` reads floor forms and bundles, too.

    Raises
    ------
    TableError
        Not a table, truncated, of another version, altered, not proved or broken; the message says what and where.
    InputError
        A file that cannot be read.

    Example
    -------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from optldp import load_table, make_exact, save_table
    >>> from optldp.mechanisms import duchi
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_table(make_exact(duchi([0, 100], 1.0)).mechanism, Path(folder, "mech.json"))
    ...     table = load_table(Path(folder, "mech.json"))
    >>> table.epsilon, table.domain, table.exact
    (1.0, (0.0, 100.0), True)
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
    with opened(path, "table") as stream:
        try:
            return stream_table(stream)
        except TableError as error:
            raise TableError(f"table {str(path)!r} refused: {error}") from None


def parse_table(content: bytes) -> TabulatedMechanism:
    """Return the table in a file's bytes, of either form and not verified.

    Raises
    ------
    TableError
        Not a table, truncated, of another version, or altered.
    """
    return stream_table(io.BytesIO(content))


def stream_table(stream: BinaryIO) -> TabulatedMechanism:
    """Return the table in an open file as `parse_table` does."""
    try:
        return checked_table(from_npz(stream) if starts_zip(stream) else from_json(json_content(stream)))
    except (InputError, TableError) as error:
        raise TableError(one_line(error)) from None


def checked_table(document: Any) -> TabulatedMechanism:
    """Return the table of a whole document whose format and checksum are right; TableError or InputError else."""
    if not isinstance(document, dict):
        raise TableError(f"the file must hold one JSON object, got {type(document).__name__}")
    for key in ("format", "checksum"):
        if key not in document:
            raise TableError(f"the table must have the key {key!r}, which is missing")
    if document["format"] not in (FORMAT, EXACT_FORMAT):
        raise other_format(document, f"{FORMAT!r} or {EXACT_FORMAT!r}")
    try:
        table = document_to_table(document)
        found = checksum(document)
    except RecursionError:
        raise TableError("the document must not be nested deeper than a table is") from None
    if document["checksum"] != found:
        raise TableError(f"checksum must be {found}, got {document['checksum']!r}: the file was altered")
    return table
