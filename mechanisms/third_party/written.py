"""How other packages write reports: numbers, labels, bits in many forms, sets, values of a hash beside their seeds."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..categorical.bit_vectors import BitVectors
from ..categorical.mechanism import CategoricalMechanism
from ..errors import InputError, unwired
from ..report_text import LONGEST_INTEGER, integers_of_text
from .seeded_hashing import SeededHashing

WRITTEN: dict[str, tuple[str, ...]] = {
    "grr": ("index", "label"),
    "rappor": ("bits", "integer", "columns"),
    "oue": ("bits", "integer", "columns"),
    "olh": ("seeded",),
    "subset": ("set", "bits"),
}
"""How reports of each law may be written, first as packages return them."""

SEED = "seed"
"""The column of the seeds of hashed reports."""

MOST_INTEGER = 4096
"""Categories whose bits may be written as one whole number: Python reads no longer ones."""

_BIT = re.compile(r"[01](\.0*)?")
_BETWEEN = re.compile(r"[\s,;()\[\]]+")


def written_by_default(law: str) -> str:
    """Return how packages return reports of a law.

    Example
    -------
    >>> written_by_default("oue")
    'bits'
    """
    return WRITTEN[law][0]


@dataclass(frozen=True, eq=False)
class Written:
    """Reports of an adopted mechanism as text, in one column or several.

    - index: the number of the category, from 0 (pure-ldp, multi-freq-ldpy);
    - label: the category itself (OpenDP);
    - bits: a bit for each category, the first category's first: "0110", "[0, 1, 1, 0]", "0. 1. 1. 0.";
    - integer: bits as a whole number, the first category's bit the one of value 1;
    - columns: a column for each category, of its name, with 0 or 1;
    - set: the numbers of the categories in a set, in any order: "[4 0 7]" (multi-freq-ldpy);
    - seeded: the value of the hash in one column, its seed in the column "seed".

    Parameters
    ----------
    mechanism : CategoricalMechanism
        Adopted.
    form : str

    Raises
    ------
    InputError
        No such form.

    Example
    -------
    >>> from optldp.mechanisms.third_party import Written, adopt
    >>> made = adopt("oue", ["a", "b", "c"], 1.0)
    >>> made.bits(Written(made, "bits").reports([["[1, 0, 1]", "011"]]))
    array([[1, 0, 1],
           [0, 1, 1]], dtype=uint8)
    """

    mechanism: CategoricalMechanism
    form: str

    def __post_init__(self) -> None:
        if self.form not in _READ:
            raise InputError(f"reports that others drew are written as {', '.join(_READ)}, got {self.form!r:.40}")
        if self.form == "integer" and len(self.mechanism.categories) > MOST_INTEGER:
            raise InputError(f"bits as one whole number are for at most {MOST_INTEGER} categories: write them as bits")

    def columns(self, column: str) -> tuple[str, ...]:
        """Return the columns of a file that reports stand in, `column` being where one is enough."""
        if self.form == "columns":
            return self.mechanism.categories.labels
        return (column, SEED) if self.form == "seeded" else (column,)

    def reports(self, columns: Sequence[Sequence[str]]) -> np.ndarray:
        """Return the reports (N, ...) that stand in columns of text; InputError with the first row that holds none."""
        return _READ[self.form](self.mechanism, *columns)

    def counted(self, texts: Sequence[str]) -> np.ndarray:
        """Return reports as `count` writes them: as here where that is one column, else as the mechanism does."""
        if self.form == "seeded":
            return self.mechanism.from_text(texts)
        return _READ["bits" if self.form == "columns" else self.form](self.mechanism, texts)

    def texts(self, reports: np.ndarray) -> list[str]:
        """Return reports as text that `counted` reads."""
        if self.form == "label":
            return [self.mechanism.categories.labels[report] for report in reports.tolist()]
        if self.form == "set":
            assert isinstance(self.mechanism, BitVectors)
            return [" ".join(map(str, np.flatnonzero(row))) for row in self.mechanism.bits(reports)]
        if self.form in ("index", "seeded"):
            return self.mechanism.to_text(reports)
        if self.form not in ("bits", "columns", "integer"):
            raise unwired("form", self.form)
        assert isinstance(self.mechanism, BitVectors)
        bits = ["".join(map(str, row)) for row in self.mechanism.bits(reports).tolist()]
        return bits if self.form != "integer" else [str(int(text[::-1], 2)) for text in bits]


def _indices(mechanism: CategoricalMechanism, texts: Sequence[str]) -> np.ndarray:
    return mechanism.from_text(texts)


def _labels(mechanism: CategoricalMechanism, texts: Sequence[str]) -> np.ndarray:
    return mechanism.categories.codes(np.asarray(texts, dtype=np.str_))


def _bits(mechanism: CategoricalMechanism, texts: Sequence[str]) -> np.ndarray:
    size, rows = len(mechanism.categories), []
    for row, text in enumerate(texts, 1):
        cells = [cell for cell in _BETWEEN.split(text) if cell]
        if len(cells) == 1:
            cells = list(cells[0])
        if len(cells) != size or not all(map(_BIT.fullmatch, cells)):
            raise InputError(f"reports must be {size} bits, got {text!r:.60} in row {row}")
        rows.append([cell[0] == "1" for cell in cells])
    return np.packbits(np.array(rows, dtype=bool).reshape(len(texts), size), axis=1)


def _integers(mechanism: CategoricalMechanism, texts: Sequence[str]) -> np.ndarray:
    size = len(mechanism.categories)
    most, longest = 2**size, len(str(2**size))
    bits = []
    for row, text in enumerate(texts, 1):
        if not (text.isascii() and text.isdigit() and len(text) <= longest and int(text) < most):
            raise InputError(f"reports must be whole numbers of {size} bits, got {text!r:.60} in row {row}")
        bits.append(f"{int(text):0{size}b}"[::-1])
    return _bits(mechanism, bits)


def _columns(mechanism: CategoricalMechanism, *columns: Sequence[str]) -> np.ndarray:
    for label, column in zip(mechanism.categories.labels, columns, strict=True):
        wrong = next((i for i, text in enumerate(column) if not _BIT.fullmatch(text)), None)
        if wrong is not None:
            raise InputError(f"column {label!r} must hold 0 or 1, got {column[wrong]!r:.60} in row {wrong + 1}")
    bits = [[text[0] == "1" for text in column] for column in columns]
    return np.packbits(np.array(bits, dtype=bool).T, axis=1)


def _sets(mechanism: CategoricalMechanism, texts: Sequence[str]) -> np.ndarray:
    size = len(mechanism.categories)
    bits = np.zeros((len(texts), size), dtype=bool)
    for row, text in enumerate(texts):
        cells = [cell for cell in _BETWEEN.split(text) if cell]
        numbers = {int(cell) for cell in cells if cell.isascii() and cell.isdigit() and len(cell) <= LONGEST_INTEGER}
        if len(numbers) < len(cells) or max(numbers, default=size) >= size:
            raise InputError(f"reports must be different numbers below {size}, got {text!r:.60} in row {row + 1}")
        bits[row, list(numbers)] = True
    return mechanism.checked_reports(np.packbits(bits, axis=1))


def _seeded(mechanism: CategoricalMechanism, values: Sequence[str], seeds: Sequence[str]) -> np.ndarray:
    assert isinstance(mechanism, SeededHashing)
    wrong = next((i for i, seed in enumerate(seeds) if len(seed) > LONGEST_INTEGER), None)
    if wrong is not None:
        raise InputError(f"seeds must be whole numbers below 2^63, got {seeds[wrong]!r:.40} in row {wrong + 1}")
    return mechanism.numbered(integers_of_text(values), integers_of_text(seeds))


_READ: dict[str, Callable[..., np.ndarray]] = {
    "index": _indices, "label": _labels, "bits": _bits, "integer": _integers, "columns": _columns, "set": _sets,
    "seeded": _seeded,
}  # fmt: skip
