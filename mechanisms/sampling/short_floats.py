"""Floats shorter than doubles: 0.1 is another number in them, and so has another report where reports are repeated."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..errors import InputError


def require_doubles(values: object) -> None:
    """Raise InputError for short floats: an array of them, or one among values that are listed.

    Example
    -------
    >>> require_doubles(np.array([0.1])), require_doubles([0.1, 1])
    (None, None)
    >>> require_doubles([0.1, np.float32(0.1)])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    optldp.mechanisms.errors.InputError: values must be doubles or whole numbers, got float32, ...
    """
    if isinstance(values, np.ndarray) and values.dtype == object:
        values = values.ravel().tolist()
    if isinstance(values, Mapping):
        values = list(values.values())
    if isinstance(values, list | tuple):
        arrays = {value.dtype: value for value in values if isinstance(value, np.generic | np.ndarray)}
        for each in (*arrays.values(), *(value for value in values if isinstance(value, list | tuple))):
            require_doubles(each)
        return
    kind = np.asarray(values).dtype
    if kind.kind == "f" and kind.itemsize < 8:
        raise short_floats(str(kind))


def short_floats(kind: str) -> InputError:
    """Return what is to be raised for values of a type of short floats.

    Example
    -------
    >>> str(short_floats("float32"))[:53]
    'values must be doubles or whole numbers, got float32,'
    """
    return InputError(
        f"values must be doubles or whole numbers, got {kind}, whose 0.1 is not that of doubles and has another "
        "report, which spends again: round them to the decimals that were meant, as doubles"
    )
