"""In which encoding a text file is written, by its bytes: marks at the start, zeros, and what UTF-8 forbids."""

from __future__ import annotations

import codecs
from pathlib import Path

AT_ONCE = 2**20
"""Bytes looked at at a time."""

HEAD = 2**12
"""Bytes at the start whose zeros betray UTF-16 without a mark."""

BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}

_NEVER = bytes(set(range(32)) - set(b"\t\n\f\r")) + b"\x7f\xff"
"""Bytes that no Western text of one byte a character has: control characters, and the rare letter that is also -1."""


def encoding_of(file: Path) -> str:
    """Return utf-8, utf-16, utf-16-le, utf-16-be, latin-1 or windows-1252; utf-8 for what is none of these.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_bytes("Stra\u00dfe".encode("latin-1"))
    >>> encoding_of(path)
    'latin-1'
    """
    with file.open("rb") as stream:
        head = stream.read(HEAD)
    for mark, encoding in BYTE_ORDER_MARKS.items():
        if head.startswith(mark):
            return encoding
    if b"\0" in head:
        return _wide(head)
    return "utf-8" if (upper := _upper_bytes(file)) is None else _narrow(upper)


def _wide(head: bytes) -> str:
    """UTF-16 has its zeros, the upper halves of common letters, in every other place."""
    odd, even = head[1::2].count(0), head[::2].count(0)
    if odd > len(head) / 4 and not even:
        return "utf-16-le"
    return "utf-16-be" if even > len(head) / 4 and not odd else "utf-8"


def _upper_bytes(file: Path) -> set[int] | None:
    """The bytes from 128 of a text that is not UTF-8; None for UTF-8, for a mixture, and for what is no text."""
    decoder, seen, broken = codecs.getincrementaldecoder("utf-8")(), set[int](), False
    with file.open("rb") as stream:
        while True:
            block = stream.read(AT_ONCE)
            if not broken:
                try:
                    decoder.decode(block, final=not block)
                except UnicodeDecodeError:
                    broken = True
                    stream.seek(0)
                    continue
            elif not block.isascii() or len(block.translate(None, _NEVER)) != len(block):
                if len(block.translate(None, _NEVER)) != len(block):
                    return None
                if _has_wide_letters(block):
                    return None
                seen.update(set(block) - set(range(128)))
            if not block:
                return seen if broken else None


def _has_wide_letters(block: bytes) -> bool:
    """Whether some letters are UTF-8: a file with a few spoilt rows, which are for others to judge."""
    return any(not character.isascii() for character in block.decode("utf-8", errors="ignore"))


def _narrow(upper: set[int]) -> str:
    """Latin-1 has no letters from 128 to 159, where Windows has quotation marks and the euro."""
    low = {byte for byte in upper if byte < 160}
    if not low:
        return "latin-1"
    return "utf-8" if low & {0x81, 0x8D, 0x8F, 0x90, 0x9D} else "windows-1252"
