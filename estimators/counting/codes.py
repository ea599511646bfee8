"""A user's outputs, at all services, as a few integers: what a database can group by at the speed of one column.

Each service has a field of bits that holds its output plus one, or zero where the user did not report to it.
Codes of different services combine by bitwise or, and order as the lists of outputs do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from ...mechanisms.errors import InputError
from ..reading.columns.simulated_columns import OUTPUT
from .group import NOT_REPORTED

WORD_BITS = 63
"""Bits used of a 64-bit integer: all but the sign, so that codes order as their fields do."""

MAX_SERVICES = 62
"""Sets of services are numbered by the bits of one 64-bit integer."""

REPEATED, FOREIGN, UNNAMED = -1, -2, -3
"""In place of a user's code, in what an engine answers: several reports to a service, a report that is none, no key."""

FAULTS = {
    REPEATED: "users with several reports to a service",
    FOREIGN: "users with a report that is no output of its table",
    UNNAMED: "reports without a key",
}


@dataclass(frozen=True)
class OutputCodes:
    """Where each service's field lies.

    Parameters
    ----------
    words : tuple of int
        The integer that holds each service's field, not decreasing.
    shifts : tuple of int
        The field's lowest bit.
    widths : tuple of int
        Its number of bits.

    Example
    -------
    >>> codes = OutputCodes.of([2, 5])
    >>> word = codes.encode(0, np.array([1, -1])) | codes.encode(1, np.array([4, 0]))
    >>> codes.decode([word])
    array([[ 1,  4],
           [-1,  0]], dtype=int32)
    """

    words: tuple[int, ...]
    shifts: tuple[int, ...]
    widths: tuple[int, ...]

    @classmethod
    def of(cls, sizes: Sequence[int]) -> Self:
        """Return the layout for services with so many outputs.

        Raises
        ------
        InputError
            More than 62 services.
        """
        require_few(len(sizes))
        widths = tuple(int(size).bit_length() for size in sizes)  # holds 0 .. size
        words, shifts = [], []
        word, free = 0, WORD_BITS
        for width in widths:
            if width > free:
                word, free = word + 1, WORD_BITS
            free -= width
            words.append(word)
            shifts.append(free)
        return cls(tuple(words), tuple(shifts), widths)

    @property
    def n_words(self) -> int:
        """Number of integers for each user."""
        return self.words[-1] + 1

    @property
    def columns(self) -> list[str]:
        """Names of the integers where an engine answers with them: output, output_2, and so on."""
        return [OUTPUT, *(f"{OUTPUT}_{i}" for i in range(2, self.n_words + 1))]

    def encode(self, service: int, outputs: np.ndarray) -> np.ndarray:
        """Return the part (N,) that outputs of one service, -1 for none, have in their word."""
        return (outputs.astype(np.int64) - NOT_REPORTED) << self.shifts[service]

    def decode(self, codes: Sequence[np.ndarray]) -> np.ndarray:
        """Return the outputs (R, J) of R codes, given word by word; -1 where there is none."""
        outputs = np.empty((len(codes[0]), len(self.words)), dtype=np.int32)
        for j, (word, shift, width) in enumerate(zip(self.words, self.shifts, self.widths, strict=True)):
            outputs[:, j] = ((codes[word] >> shift) & ((1 << width) - 1)) + NOT_REPORTED
        return outputs


def require_few(services: int) -> None:
    """Raise InputError for more services than their sets have bits.

    Example
    -------
    >>> require_few(62)
    """
    if services > MAX_SERVICES:
        raise InputError(f"services must be at most {MAX_SERVICES}, got {services}: count them in parts")
