"""Writes what Unicode's form NFC takes into clients whose platforms have it not: names of users stand in that form.

`python -m clients.conformance.normal_forms` writes the files anew. Each says which version of Unicode its lines are of;
characters that are assigned keep their form in all later versions.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from .manifest import CLIENTS

WIDTH = 108
"""Characters of a line of data."""

HANGUL = range(0xAC00, 0xD7A4)
"""Syllables, which are computed."""

FILES = {
    "rust/client/src/unicode.rs": (
        "//! {about}\n\n#[rustfmt::skip]\npub const DECOMPOSED: &[&str] = &[\n",
        "];\n\n#[rustfmt::skip]\npub const CLASSES: &[&str] = &[\n",
        "];\n",
    ),
    "go/internal/names/unicode.go": (
        "package names\n\n// {about}\n\nvar decomposed = []string{\n",
        "}\n\nvar classes = []string{\n",
        "}\n",
    ),
    "c/over_time/unicode.h": (
        "/* {about} */\n#ifndef OPTLDP_UNICODE_H\n#define OPTLDP_UNICODE_H\n\n"
        "static const char *const decomposed[] = {\n",
        "};\n\nstatic const char *const classes[] = {\n",
        "};\n\n#endif\n",
    ),
}


def about() -> str:
    """Return what a file says of itself."""
    version = unicodedata.unidata_version
    return f"Canonical decompositions and combining classes of Unicode {version}, made by clients/conformance."


def decompositions() -> Iterator[tuple[int, str]]:
    """Yield characters and what each consists of: one or two characters, with `!` where NFC leaves them apart.

    Example
    -------
    >>> dict(decompositions())[0xC0], dict(decompositions())[0x958]
    ('41.300', '915.93c!')
    """
    for code in set(range(0x110000)) - set(HANGUL):
        parts = unicodedata.decomposition(chr(code)).split()
        if parts and not parts[0].startswith("<"):
            apart = len(parts) == 2 and unicodedata.normalize("NFC", chr(code)) != chr(code)
            yield code, ".".join(f"{int(part, 16):x}" for part in parts) + "!" * apart


def combining() -> Iterator[tuple[int, str]]:
    """Yield combining classes, each with a range of characters that have it."""
    first = last = kind = 0
    for code in range(0x110000):
        own = unicodedata.combining(chr(code))
        if own != kind and kind:
            yield kind, f"{first:x}-{last:x}"
        first, last, kind = (first if own == kind else code), code, own


def lines() -> tuple[list[str], list[str]]:
    """Return the lines of characters that follow each other, the first one's number first, and those of each class."""
    return list(_lines(sorted(decompositions()), step=1)), list(_lines(sorted(combining()), step=0))


def _lines(entries: list[tuple[int, str]], step: int) -> Iterator[str]:
    line, due = "", -1
    for number, entry in entries:
        if number != due or len(line) + len(entry) >= WIDTH:
            if line:
                yield line
            line = f"{number:x}"
        line, due = f"{line} {entry}", number + step
    yield line


def file_of(name: str) -> str:
    """Return the text of a client's file."""
    head, middle, end = (part.replace("{about}", about()) for part in FILES[name])
    mark = "\t" if name.startswith("go") else "    "
    first, second = ("".join(f'{mark}"{line}",\n' for line in each) for each in lines())
    return head + first + middle + second + end


if __name__ == "__main__":
    for name in FILES:
        (CLIENTS / name).write_text(file_of(name))
