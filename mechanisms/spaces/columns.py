"""Several numbers of one user, each in a column of its own name."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from .interval import Interval, plain_number
from .space import Space


@dataclass(frozen=True, eq=False)
class Columns(Space):
    """A number for each of d names, from the interval of that name.

    Parameters
    ----------
    intervals : mapping of str to Interval

    Example
    -------
    >>> Columns({"age": Interval(18.0, 90.0), "hours": Interval(0.0, 80.0)}).admitted({"age": [20], "hours": [40]})
    array([[20., 40.]])
    """

    intervals: Mapping[str, Interval]

    def admitted(self, values: Mapping[str, ArrayLike] | ArrayLike, *, clip: bool = False) -> np.ndarray:
        """Return every value (N, d) of each name, drawn or not: an error must not tell what was drawn."""
        columns = zip(self.intervals.items(), self.split(values), strict=True)
        return np.column_stack([_named(name, interval, column, clip) for (name, interval), column in columns])

    def content(self, value: object) -> bytes:
        """Return a mapping of all names to numbers as the bytes of d doubles."""
        held = dict(value) if isinstance(value, Mapping) else {}
        numbers = [plain_number(held.get(name), *interval.domain) for name, interval in self.intervals.items()]
        if None in numbers or len(held) > len(numbers):
            many = len(self.intervals)
            raise InputError(
                f"the value must map each of {many} attributes to a number in its domain, got another: clip them"
            )
        return struct.pack(f"<{len(numbers)}d", *numbers)

    def of_content(self, content: bytes) -> np.ndarray:
        """Return the numbers (1, d)."""
        return self.admitted(np.array([struct.unpack(f"<{len(self.intervals)}d", content)]))

    def split(self, given: Mapping[str, ArrayLike] | ArrayLike) -> list[np.ndarray]:
        """Return one (N,) column of floats for each name; InputError for columns that do not match."""
        names = tuple(self.intervals)
        if isinstance(given, Mapping):
            if missing := [name for name in names if name not in given]:
                raise InputError(f"there must be a column for each attribute, got none for {missing[0]!r}")
            if unknown := [name for name in given if name not in names]:
                raise InputError(f"columns must be among {', '.join(names)}, got {unknown[0]!r}: drop it")
            columns = [_floats(f"attribute {name!r}", given[name], 1) for name in names]
        else:
            matrix = _floats("the attributes", given, 2)
            if matrix.shape[1] != len(names):
                raise InputError(f"there must be {len(names)} columns, got {matrix.shape[1]}")
            columns = list(matrix.T)
        for name, column in zip(names, columns, strict=True):
            if column.size != columns[0].size:
                raise InputError(
                    f"columns must be of equal length, got {column.size} for {name!r}, not {columns[0].size}"
                )
        return columns


@contextmanager
def naming(attribute: str) -> Iterator[None]:
    """Raise an InputError of the block again, with the attribute it is about.

    Example
    -------
    >>> with naming("age"):
    ...     Interval(18.0, 90.0).admitted(["old"])
    Traceback (most recent call last):
        ...
    optldp.mechanisms.errors.InputError: attribute 'age': values must be numbers, got list with something else in it
    """
    try:
        yield
    except InputError as error:
        raise InputError(f"attribute {attribute!r}: {error}") from None


def _named(name: str, interval: Interval, column: np.ndarray, clip: bool) -> np.ndarray:
    with naming(name):
        return interval.admitted(column, clip=clip)


def _floats(name: str, given: ArrayLike, dimensions: int) -> np.ndarray:
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers, got something else") from None
    if array.ndim != dimensions:
        raise InputError(f"{name} must have {dimensions} dimension{'s'[: dimensions - 1]}, got shape {array.shape}")
    return array
