"""From text to checked values: strict JSON, types and ranges, the checksum."""

from __future__ import annotations

import hashlib
import json
import re
import struct
from collections.abc import Iterable
from math import isfinite
from typing import Any, NoReturn

MOST_BYTES = 2**25
MOST_PARSED = 160 * 2**20
"""Bytes that a text may take once parsed, by the count of docs/table-format.md."""


class TableError(ValueError):
    """A file that cannot be used; the message is one line and says the first fault."""


def refuse(message: str) -> NoReturn:
    """Raise `TableError`."""
    raise TableError(message)


def need(condition: bool, message: str) -> None:
    """Raise `TableError` unless the condition holds."""
    if not condition:
        refuse(message)


def parse(text: str) -> Any:
    """Return the value of a JSON text: no key twice, no NaN, numbers that fit in doubles.

    Example
    -------
    >>> parse('{"a": 1, "a": 1}')
    Traceback (most recent call last):
    optldp_client.reading.TableError: keys must not repeat, got one twice
    """
    size = len(text.encode(errors="replace"))
    need(size <= MOST_BYTES, f"a file must be at most {MOST_BYTES} bytes, got {size}")
    parts = 40 * text.count(",") + 500 * text.count("[") + 2000 * (text.count("{") + text.count(":"))
    need(size + parts <= MOST_PARSED, "a file must have fewer members and elements")
    need(re.search("[0-9]{4001}", text) is None, "a number must have at most 4000 digits in a row")
    try:
        return json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_no_constant)
    except TableError:
        raise
    except (ValueError, RecursionError):
        refuse("the file must be whole JSON text, got something else")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    need(len(made) == len(pairs), "keys must not repeat, got one twice")
    return made


def _no_constant(name: str) -> NoReturn:
    refuse(f"numbers must be finite, got {name}")


def require_checksum(document: dict[str, Any]) -> None:
    """Refuse a document whose checksum is another than it states."""
    need(document["checksum"] == checksum_of(document), "the checksum must fit: the file was altered")


def checksum_of(document: dict[str, Any]) -> str:
    """Return the checksum of a document, whatever it states."""
    content = {key: value for key, value in document.items() if key != "checksum"}
    try:
        return f"sha256:{hashlib.sha256(_encoded(content)).hexdigest()}"
    except UnicodeEncodeError:
        refuse("text must be Unicode, got half a surrogate pair")


def inside(name: str, value: Any) -> dict[str, Any]:
    """Return a mechanism that is a member of another, and so has no checksum, with the one that it would have."""
    document = as_object(name, value)
    need("checksum" not in document, f"{name} must have no checksum, as it is inside another mechanism")
    return document | {"checksum": checksum_of(document)}


def _encoded(value: Any) -> bytes:
    if isinstance(value, dict):
        members = sorted((key.encode(), element) for key, element in value.items())
        parts = (struct.pack("<cQ", b"s", len(key)) + key + _encoded(element) for key, element in members)
        return struct.pack("<cQ", b"o", len(value)) + b"".join(parts)
    if isinstance(value, list):
        return struct.pack("<cQ", b"a", len(value)) + b"".join(map(_encoded, value))
    if isinstance(value, str):
        return struct.pack("<cQ", b"s", len(value.encode())) + value.encode()
    if value is None or isinstance(value, bool):
        return {None: b"z", True: b"t", False: b"f"}[value]
    return b"n" + struct.pack("<d", as_number("every number", value))


def as_object(name: str, value: Any, keys: Iterable[str] | None = None) -> dict[str, Any]:
    """Return an object, of these keys and no others if they are given."""
    if not isinstance(value, dict):
        refuse(f"{name} must be an object")
    wanted = value.keys() if keys is None else set(keys)
    need(value.keys() == wanted, f"{name} must have the keys {', '.join(sorted(wanted))}, and no others")
    return value


def as_list(name: str, value: Any) -> list[Any]:
    """Return a list."""
    return value if isinstance(value, list) else refuse(f"{name} must be a list")


def as_text(name: str, value: Any) -> str:
    """Return a text."""
    return value if isinstance(value, str) else refuse(f"{name} must be text")


def as_number(name: str, value: Any) -> float:
    """Return a finite double, 0 for -0; true and text are no numbers."""
    need(isinstance(value, int | float) and not isinstance(value, bool), f"{name} must be a number")
    try:
        double = float(value) + 0.0
    except OverflowError:
        refuse(f"{name} must fit in a double")
    need(isfinite(double), f"{name} must fit in a double")
    return double


def as_numbers(name: str, value: Any) -> list[float]:
    """Return a list of finite doubles."""
    return [as_number(f"every entry of {name}", entry) for entry in as_list(name, value)]


def as_wholes(name: str, value: Any, least: int, most: int) -> list[int]:
    """Return a list of whole numbers, which are written without point or exponent, in a range."""
    entries = as_list(name, value)
    fits = all(type(entry) is int and least <= entry <= most for entry in entries)
    need(fits, f"{name} must be whole numbers from {least} to {most}")
    return entries


def as_ends(name: str, value: Any) -> list[float]:
    """Return the ends of outputs, of which "-inf" and "inf" are infinite."""
    infinite = {"-inf": float("-inf"), "inf": float("inf")}
    return [
        infinite[end] if isinstance(end, str) and end in infinite else as_number(f"every entry of {name}", end)
        for end in as_list(name, value)
    ]
