"""One input in several spellings: columns of users have a whole number as `3`, a price as `3.50`, a rate as `3e-2`."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

LARGEST_WHOLE = 2.0**53
"""Above this a double without a fraction is no whole number that anybody counted."""


def spellings(value: Any) -> tuple[str, ...]:
    """Return the JSON lines that all mean this value, the plainest first, each once.

    As Python writes it; as JavaScript and whoever counts do, whole numbers without a point, no spaces, letters as they
    are; with one more decimal; with an exponent.

    Parameters
    ----------
    value : JSON value
        Numbers that are doubles have all spellings; whole numbers, such as of levels, have one.

    Example
    -------
    >>> spellings(3.0), spellings(0.25), spellings("ü")
    (('3.0', '3', '3.00', '3e+0'), ('0.25', '0.250', '2.5e-1'), ('"\\\\u00fc"', '"ü"'))
    >>> spellings([[["a", 1.0]], 2])
    ('[[["a", 1.0]], 2]', '[[["a",1]],2]', '[[["a", 1.00]], 2]', '[[["a", 1e+0]], 2]')
    """
    short = _written(value, _short, ",", ascii_alone=False)
    others = (_written(value, spell, ", ", ascii_alone=True) for spell in (_padded, _with_exponent))
    return tuple(dict.fromkeys([json.dumps(value), short, *others]))


def _written(value: Any, number: Any, between: str, *, ascii_alone: bool) -> str:
    if isinstance(value, list | tuple):
        return f"[{between.join(_written(one, number, between, ascii_alone=ascii_alone) for one in value)}]"
    return number(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=ascii_alone)


def _short(number: float) -> str:
    if abs(number) > LARGEST_WHOLE or not number.is_integer():
        return repr(number)
    return "-0" if repr(number) == "-0.0" else str(int(number))


def _padded(number: float) -> str:
    return repr(number) if "e" in repr(number) else repr(number) + "0"


def _with_exponent(number: float) -> str:
    return f"{Decimal(repr(number)).normalize():e}"
