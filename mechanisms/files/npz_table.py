"""The npz form of a table: small arrays first, so that the large ones can have one shape only and be checked as they
come; docs/table-format.md."""

import json
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from ..documents.bundle import other_format
from ..documents.table import (
    EXACT_FORMAT,
    FORMAT,
    MAX_SIDE,
    ends_from_document,
    ends_to_document,
    require_modest_table,
)
from ..errors import InputError, TableError
from ..integers.numerators import check_numerators
from ..table.checks import check_outputs, check_rows
from ..table.knots import check_knots
from .json_text import from_json
from .npz_archive import Check, NpzArchive, pack_arrays

MOST_ARRAYS = 8
"""The document, knots, both ends, probabilities, a law's matrix, a prior's weights and rounding."""

MOST_TEXT = 2**22
"""Bytes of the document without its arrays: a long provenance."""

FORMATS = {FORMAT: "probabilities", EXACT_FORMAT: "numerators"}
"""The matrix of each format."""

LAW_MATRICES, PRIOR_VECTORS = ("within.tilt", "within.rate"), ("prior.weights", "prior.rounding")


def to_npz(document: dict[str, Any]) -> bytes:
    """Return a zip of the document's arrays, each named by its path, and of the rest as JSON text.

    Raises InputError for a document that would not be read again.
    """
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
    return pack_arrays({"document": text_array(rest), **arrays})


def text_array(document: dict[str, Any]) -> np.ndarray:
    """Return the bytes of a document's JSON text; InputError for more than are read again."""
    text = json.dumps(document, allow_nan=False).encode()
    if len(text) > MOST_TEXT:
        raise InputError(f"all but the arrays must take at most {MOST_TEXT} bytes, got {len(text)}: shorten it")
    return np.frombuffer(text, dtype=np.uint8)


def text_document(archive: NpzArchive) -> Any:
    """Return the JSON value of an archive's document, or raise TableError."""
    return from_json(archive.array("document", np.uint8, (None,), most=MOST_TEXT).tobytes())


def from_npz(stream: BinaryIO) -> dict[str, Any]:
    """Return the document of an npz file with its arrays in place.

    Raises
    ------
    TableError
        No archive of a table, or an array that is not of the shape that knots and outputs give it, or not a table's.
    InputError
        Knots that are none, or a table that would cost too much.
    """
    archive = NpzArchive(stream, MOST_ARRAYS)
    return with_arrays(archive, text_document(archive))


def with_arrays(archive: NpzArchive, document: Any) -> dict[str, Any]:
    """Return the document of a table with its arrays in place, as `from_npz` does."""
    kind = document.get("format") if isinstance(document, dict) else None
    if not isinstance(kind, str) or kind not in FORMATS:
        raise other_format(document if isinstance(document, dict) else {}, " or ".join(map(repr, FORMATS)))
    for name in archive.names:
        if name not in ("document", "knots", "low", "high", FORMATS[kind], *PRIOR_VECTORS, *LAW_MATRICES):
            raise TableError(f"the array {name!r:.60} has no place in the document")
    _put(document, "knots", check_knots(archive.array("knots", np.float64, (None,), most=MAX_SIDE)))
    n = document["knots"].size
    low = archive.array("low", np.float64, (None,), most=MAX_SIDE)
    high = archive.array("high", np.float64, low.shape)
    check_outputs(low, high)
    _put(document, "low", ends_to_document(low))
    _put(document, "high", ends_to_document(high))
    require_modest_table(document)
    for name, size in zip(PRIOR_VECTORS, (n, n - 1), strict=True):
        if name in archive.names:
            _put(document, name, archive.array(name, np.float64, (size,)))
    _put_matrices(archive, document, FORMATS[kind], (n, low.size))
    return document


def with_vectors(archive: NpzArchive, document: dict[str, Any], vectors: Mapping[str, type[np.generic]]) -> None:
    """Put a bundle's long lists, by their paths, into its document.

    Raises
    ------
    TableError
        A list that is missing and is no part of a member, one of another type, or an array that has no place.
    """
    for name in archive.names:
        if name != "document" and name not in vectors:
            raise TableError(f"the array {name!r:.60} has no place in the document")
    for name, kind in vectors.items():
        if "." not in name or name in archive.names:
            _put(document, name, archive.array(name, kind, (None,), most=MAX_SIDE))


def _put_matrices(archive: NpzArchive, document: dict[str, Any], name: str, shape: tuple[int, int]) -> None:
    whole = name == "numerators"
    matrix = archive.array(name, np.int64 if whole else np.float64, shape, check_numerators if whole else check_rows)
    _put(document, name, matrix)
    for law in LAW_MATRICES:
        if law in archive.names:
            _put(document, law, archive.array(law, np.float64, shape, _finite(law)))


def _finite(name: str) -> Check:
    def check(block: np.ndarray, first: int) -> None:
        wrong = np.argwhere(~np.isfinite(block))
        if wrong.size:
            i, j = wrong[0]
            raise TableError(f"{name} must be finite, got {block[i, j]} at row {first + i}, output {j}")

    return check


def _put(document: dict[str, Any], name: str, value: Any) -> None:
    *parents, key = name.split(".")
    place: Any = document
    for parent in parents:
        place = place.get(parent) if isinstance(place, dict) else None
    if not isinstance(place, dict) or key in place:
        raise TableError(f"the array {name!r} has no place in the document")
    place[key] = value
