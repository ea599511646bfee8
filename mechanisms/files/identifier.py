"""What names a table or a bundle in few letters, beside its reports and their counts: made of its file's checksum."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..compact_tables.floor_and_windows import form_of
from .bundle import document_of
from .checksum import PREFIX, checksum

if TYPE_CHECKING:
    from ..channel import Channel

LETTER, DIGITS = "t", 12
"""A letter first, so that no program takes an identifier for a number, of which it would change the spelling."""

PATTERN = f"{LETTER}[0-9a-f]{{{DIGITS}}}"
"""What every identifier matches, as a regular expression."""


def table_identifier(mechanism: Channel) -> str:
    """Return the letter t and the first twelve hexadecimal digits of the checksum that the mechanism's file has.

    The table that a floor form expands to is named as the form: what is on disk, and what people report through.

    Example
    -------
    >>> from ..categorical.table import categorical_grr
    >>> table_identifier(categorical_grr(["yes", "no"], 1.0))
    't95ae466ab6ce'
    """
    return identifier_of(file_checksum(mechanism))


def file_checksum(mechanism: Channel) -> str:
    """Return the checksum that the mechanism's file has, "sha256:" and 64 hexadecimal digits.

    Example
    -------
    >>> from ..categorical.table import categorical_grr
    >>> identifier_of(file_checksum(categorical_grr(["yes", "no"], 1.0)))
    't95ae466ab6ce'
    """
    form = form_of(mechanism)
    return checksum(document_of(mechanism if form is None else form))


def identifier_of(found: str) -> str:
    """Return the identifier of what has this checksum.

    Example
    -------
    >>> identifier_of("sha256:0123456789abcdef")
    't0123456789ab'
    """
    return LETTER + found.removeprefix(PREFIX)[:DIGITS]
