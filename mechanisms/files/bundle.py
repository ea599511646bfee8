"""Bundles on disk (optldp-bundle/1): JSON with one checksum over all members, or npz; docs/bundle-format.md."""

import io
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from ..channel import Channel
from ..documents.bundle import BUNDLE_FORMAT, Bundle, other_format
from ..documents.table import EXACT_FORMAT, FORMAT, document_to_table, table_to_document
from ..errors import InputError, TableError
from ..exactness.verification import require_usable
from ..table.table import TabulatedMechanism
from .atomic_write import replacing
from .checksum import checksum
from .json_text import from_json, to_json
from .npz_archive import NpzArchive
from .npz_table import MOST_ARRAYS, text_document, to_npz, with_arrays, with_vectors
from .table import SUFFIXES, checked_table
from .untrusted import json_content, one_line, opened, starts_zip


@cache
def bundle_kinds() -> dict[str, type[Bundle]]:
    """Return every kind of bundle by its name, loaded for bundles alone: a new one is a file and a place here."""
    from ..categorical.local_hashing import LocalHashing
    from ..categorical.projective_geometry import ProjectiveGeometry
    from ..categorical.subset_selection import SubsetSelection
    from ..categorical.table import CategoricalTable
    from ..categorical.unary_encoding import UnaryEncoding
    from ..combinators.attribute_sampling import AttributeSampling
    from ..combinators.personalised import PersonalisedMechanism
    from ..compact_tables.floor_and_windows import FloorForm
    from ..features.features import Features
    from ..key_value.response import KeyValueResponse
    from ..key_value.unary import KeyValueUnary
    from ..over_time.directions import Directions
    from ..over_time.memoised import Memoised
    from ..over_time.panel import Panel
    from ..over_time.rows import HistoryRows
    from ..over_time.tree import Tree
    from ..third_party.seeded_hashing import SeededHashing

    kinds = (
        CategoricalTable,
        UnaryEncoding,
        LocalHashing,
        SubsetSelection,
        ProjectiveGeometry,
        SeededHashing,
        PersonalisedMechanism,
        KeyValueUnary,
        KeyValueResponse,
        AttributeSampling,
        Features,
        Panel,
        HistoryRows,
        Memoised,
        Directions,
        Tree,
        FloorForm,
    )
    return {name: kind for kind in kinds for name in kind.names()}


def save_bundle(bundle: Bundle, path: str | os.PathLike[str]) -> None:
    """Verify a bundle and write it whole; one that does not keep its promise is never written.

    Parameters
    ----------
    bundle : mechanism
        For categories, pairs, attributes or levels, a way over time, or the floor form of a table. Tables have
        `save_table`.
    path : path
        A file that ends in ".json" (or ".npz", of a floor form); one that is there is replaced.

    Raises
    ------
    TableError
        The mechanism fails its own check of privacy.
    InputError
        A suffix other than ".json" (or ".npz", of a floor form), or a place that cannot be written; nothing is left
        behind.

    Example
    -------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from optldp import load_mechanism, save_bundle
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_bundle(categorical_grr(["yes", "no"], 1.0), Path(folder, "answer.json"))
    ...     load_mechanism(Path(folder, "answer.json"))
    CategoricalTable('grr', epsilon=1, categories=2)
    """
    target = Path(path)
    suffixes = SUFFIXES if bundle.vectors else SUFFIXES[:1]
    if target.suffix.lower() not in suffixes:
        raise InputError(f"a bundle's file must end in {' or '.join(suffixes)}, got {str(target)!r}")
    bundle.require_private()
    document = bundle_to_document(bundle)
    document["checksum"] = checksum(document)
    with replacing(target) as temporary:
        as_text = target.suffix.lower() == ".json"
        temporary.write_bytes(to_json(document).encode() if as_text else to_npz(document))


def load_mechanism(path: str | os.PathLike[str], *, allow_unproved: bool = False) -> TabulatedMechanism | Bundle:
    """Read a table or a bundle, check its format and checksum, and prove its promise by whole numbers.

    Parameters
    ----------
    path : path
    allow_unproved : bool
        For research: accept a table in doubles too, as `load_table` does. There are no bundles in doubles.

    Returns
    -------
    mechanism : TabulatedMechanism or bundle
        Whatever the file holds: a table, its floor form, or a mechanism for categories, pairs, attributes or levels.

    Raises
    ------
    TableError
        Neither, truncated, of another version, altered, not proved or broken; the message says what and where.
    InputError
        A file that cannot be read.

    Example
    -------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from optldp import load_mechanism, save_bundle
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_bundle(categorical_grr(["yes", "no"], 1.0), Path(folder, "answer.json"))
    ...     mechanism = load_mechanism(Path(folder, "answer.json"))
    >>> mechanism.epsilon, mechanism.categories.labels
    (1.0, ('yes', 'no'))
    """
    mechanism = read_unverified_mechanism(path)
    try:
        if isinstance(mechanism, Bundle):
            mechanism.require_private()
        else:
            require_usable(mechanism, allow_unproved=allow_unproved)
    except TableError as error:
        raise TableError(f"mechanism {str(path)!r} refused: {error}") from None
    return mechanism


def read_unverified_mechanism(path: str | os.PathLike[str]) -> TabulatedMechanism | Bundle:
    """Read a table or a bundle as `load_mechanism` does, but leave privacy to the caller: for auditors.

    Raises
    ------
    TableError
        Neither, truncated, of another version, or altered.
    InputError
        A file that cannot be read.
    """
    with opened(path, "mechanism") as stream:
        try:
            return stream_mechanism(stream)
        except TableError as error:
            raise TableError(f"mechanism {str(path)!r} refused: {error}") from None


def parse_mechanism(content: bytes) -> TabulatedMechanism | Bundle:
    """Return the table or bundle in a file's bytes, not verified; TableError for anything else."""
    return stream_mechanism(io.BytesIO(content))


def stream_mechanism(stream: BinaryIO) -> TabulatedMechanism | Bundle:
    """Return the table or bundle in an open file as `parse_mechanism` does."""
    try:
        document = _npz_document(stream) if starts_zip(stream) else from_json(json_content(stream))
        if not isinstance(document, dict) or document.get("format") != BUNDLE_FORMAT:
            return checked_table(document)
        bundle = document_to_mechanism({k: v for k, v in document.items() if k != "checksum"})
        found = checksum(document)
    except (InputError, TableError) as error:
        raise TableError(one_line(error)) from None
    except RecursionError:
        raise TableError("the document must not be nested deeper than a bundle is") from None
    if document.get("checksum") != found:
        raise TableError(f"checksum must be {found}, got {document.get('checksum')!r:.80}: the file was altered")
    return bundle


def _npz_document(stream: BinaryIO) -> dict[str, Any]:
    """The document of a table or a bundle with its arrays in place."""
    archive = NpzArchive(stream, MOST_ARRAYS)
    document = text_document(archive)
    if not isinstance(document, dict) or document.get("format") != BUNDLE_FORMAT:
        return with_arrays(archive, document)
    kind = bundle_kinds().get(name) if isinstance(name := document.get("kind"), str) else None
    if kind is None or not kind.vectors:
        raise TableError(f"a bundle in an archive must be of kind floor, got {name!r:.60}: others are JSON text")
    with_vectors(archive, document, kind.vectors)
    return document


def bundle_to_document(bundle: Bundle) -> dict[str, Any]:
    """Return the document of a bundle, without a checksum; its members' documents have none either."""
    return {"format": BUNDLE_FORMAT, "kind": bundle.kind, **{k: _plain(v) for k, v in bundle.members().items()}}


def document_of(mechanism: Channel) -> dict[str, Any]:
    """Return the document of a table or a bundle, without a checksum.

    Example
    -------
    >>> from optldp.mechanisms.categorical import categorical_grr
    >>> document_of(categorical_grr(["yes", "no"], 1.0))["kind"]
    'categorical-table'
    """
    return _plain(mechanism)


def _plain(value: Any) -> Any:
    if isinstance(value, Bundle):
        return bundle_to_document(value)
    if isinstance(value, TabulatedMechanism):
        return table_to_document(value)
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value


def document_to_mechanism(document: Any) -> TabulatedMechanism | Bundle:
    """Return the table or bundle of a document without a checksum; TableError or InputError at its first fault."""
    if not isinstance(document, Mapping):
        raise TableError(f"a mechanism must be an object, got {type(document).__name__}")
    if "checksum" in document:
        raise TableError("a member must have no checksum of its own, got one: the whole document's covers it")
    kind = document.get("format")
    if kind in (FORMAT, EXACT_FORMAT):
        return document_to_table(document)
    if kind != BUNDLE_FORMAT:
        raise other_format(document, repr(BUNDLE_FORMAT))
    name, known = document.get("kind"), bundle_kinds()
    if not isinstance(name, str) or name not in known:
        raise TableError(f"kind must be one of {', '.join(known)}, got {name!r:.60}")
    members = {k: v for k, v in document.items() if k not in ("format", "kind")}
    made = known[name].from_members(members, document_to_mechanism)
    if made.kind != name:
        raise TableError(f"kind must be {made.kind!r} for these members, got {name!r}")
    return made
