"""JSON text, to be read by eye; and out of a file that may be hostile, within limits that are checked beforehand.

A parsed `{}` takes thirty times the memory of its text.  So the marks of the text are counted first, which bounds what
parsing can take; tables that are too large for it are no reading matter, and go into the npz form.
"""

import json
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from ..errors import InputError, TableError

MAX_JSON_BYTES = 2**25
"""Size of a text: 2 million numerators."""

MAX_PARSED_BYTES = 160 * 2**20
"""What a text may take in memory while it is parsed, itself included; a process of numpy then stays below 300 MB."""

MAX_DEPTH = 16
"""Of lists and objects in each other; a bundle of levels with a law within cells has 7."""

MOST_DIGITS = 4000
"""In a row; a double has at most 767 that tell, and Python refuses to read whole numbers of more than 4300."""

COSTS = {b'"': 32, b",": 40, b":": 2000, b"{": 2000, b"[": 500}
"""Bytes that CPython takes for half a text, a number, a key with its member, an object and a list; of the last three
some times as many, as they take time as well."""

BLOCK = 2**20
"""Bytes whose marks are told from the insides of texts at a time."""

DIGITS = bytes(48 if 48 <= byte <= 57 else 32 for byte in range(256))

TOO_LARGE = "JSON text must be at most {most} bytes {when}, got {got}: use a table's .npz form, or fewer numbers"


def from_json(content: bytes) -> Any:
    """Return the JSON value of a text, or raise TableError in one line.

    Refused are more than the limits above, a byte order mark, other encodings than UTF-8, a key that comes twice, NaN
    and infinities, and surrogates that stand alone.

    Example
    -------
    >>> from_json(b'{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    """
    try:
        require_modest(content)
        if DIGITS[48:49] * (MOST_DIGITS + 1) in content.translate(DIGITS):
            raise ValueError(f"numbers must have at most {MOST_DIGITS} digits")
        value = json.loads(content.decode(), object_pairs_hook=_without_repeats, parse_constant=_refuse)
        _require_plain([value], 0)
    except TableError:
        raise
    except RecursionError:
        raise TableError(f"the file must be whole JSON text, nested at most {MAX_DEPTH} deep, got deeper") from None
    except ValueError as error:
        raise TableError(f"the file must be whole JSON text: {' '.join(str(error).split())[:200]}") from None
    return value


def require_modest(content: bytes) -> None:
    """Raise TableError for a text that is too large, or that would take too much memory once it is parsed.

    Example
    -------
    >>> require_modest(b"[{}, {}]")
    """
    if len(content) > MAX_JSON_BYTES:
        raise TableError(TOO_LARGE.format(most=MAX_JSON_BYTES, when="long", got=len(content)))
    marks, inside = _marks(content)
    taken = len(content) + (len(content) + inside) * _width(content)
    taken += sum(cost * int(marks[ord(mark)]) for mark, cost in COSTS.items())
    if taken > MAX_PARSED_BYTES:
        raise TableError(TOO_LARGE.format(most=MAX_PARSED_BYTES, when="once parsed", got=f"up to {taken}"))


def _marks(content: bytes) -> tuple[np.ndarray, int]:
    """Return how often (256,) each byte stands outside of texts, quotation marks included, and the bytes inside."""
    text = np.frombuffer(content.replace(b"\\\\", b"__").replace(b'\\"', b"__"), dtype=np.uint8)
    counts, within = np.zeros(256, dtype=np.int64), np.uint8(0)
    for start in range(0, text.size, BLOCK):
        block = text[start : start + BLOCK]
        quotes = block == ord(b'"')
        odd = (np.cumsum(quotes, dtype=np.uint8) + within) & 1
        counts += np.bincount(block[quotes | (odd == 0)], minlength=256)
        within = odd[-1]
    return counts, text.size - int(counts.sum())


def _width(content: bytes) -> int:
    """Bytes that each character takes in memory, by the longest of them in UTF-8."""
    first = int(np.frombuffer(content, dtype=np.uint8).max(initial=0))
    return 1 if first < 0xC4 else 2 if first < 0xF0 else 4


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"numbers must be finite, got {constant}")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        seen: set[str] = set()
        repeated = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise TableError(f"keys must not repeat, got {repeated!r:.60} twice")
    return members


def _require_plain(value: Any, depth: int) -> None:
    """Refuse what is nested too deep, and text that is not Unicode."""
    if depth > MAX_DEPTH:
        raise RecursionError
    for part in (value.keys(), value.values()) if isinstance(value, dict) else (value,):
        if not set(map(type, part)) <= {int, float}:
            for element in part:
                if isinstance(element, str):
                    if not element.isascii():
                        element.encode()  # raises UnicodeEncodeError, which is a ValueError
                elif isinstance(element, list | dict):
                    _require_plain(element, depth + 1)


def to_json(document: dict[str, Any]) -> str:
    """Return JSON text with a line for each member and matrix row, to be read and compared by eye.

    Raises InputError for a document that would not be read again; nothing more is made of it than fits.

    Example
    -------
    >>> print(to_json({"a": [1, 2], "b": {}}), end="")
    {
     "a": [1, 2],
     "b": {}
    }
    """
    pieces, size = [], 0
    for piece in _lines(document, ""):
        pieces.append(piece)
        size += len(piece)
        if size >= MAX_JSON_BYTES:
            raise InputError(TOO_LARGE.format(most=MAX_JSON_BYTES, when="long", got="more"))
    text = "".join(pieces) + "\n"
    try:
        require_modest(text.encode())
    except TableError as error:
        raise InputError(str(error)) from None
    return text


def _lines(value: Any, indent: str) -> Iterator[str]:
    deeper = indent + " "
    if isinstance(value, dict) and value:
        yield from _nested("{}", indent, ((f"{json.dumps(k)}: ", _lines(v, deeper)) for k, v in value.items()))
    elif isinstance(value, np.ndarray) and value.ndim == 2 and len(value):
        rows = (iter([json.dumps(row.tolist(), allow_nan=False)]) for row in value)
        yield from _nested("[]", indent, (("", row) for row in rows))
    elif isinstance(value, list) and any(isinstance(element, dict) for element in value):
        yield from _nested("[]", indent, (("", _lines(element, deeper)) for element in value))
    else:
        yield json.dumps(value.tolist() if isinstance(value, np.ndarray) else value, allow_nan=False)


def _nested(brackets: str, indent: str, parts: Iterator[tuple[str, Iterator[str]]]) -> Iterator[str]:
    """The parts of an object or a list, each with what stands before it, on lines of their own."""
    before = f"{brackets[0]}\n{indent} "
    for start, lines in parts:
        yield before + start
        yield from lines
        before = f",\n{indent} "
    yield f"\n{indent}{brackets[1]}"
