"""Families of events: ways to sort reports by one whole number each, and sets of those numbers.

A report is seen as columns: numbers (float64), or codes (int64). A family turns them into one code for each report: the
report's 64 bits, its last bits, its output, its place in a cell, the part between two quantiles. An event is a set of
codes of one family, and a code that was not known when the family was fitted is a code too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ....mechanisms import TabulatedMechanism
from ....mechanisms.table.outputs import locate_outputs
from .digits import DIGITS, MODULI, digit, last_digit, last_words, leading_place, remainders, signed_words

SINGLE, BITS, ARITHMETIC, OUTPUTS, PARTS, PLACE, CODES, STATED = (
    "single reports",
    "last bits and bytes",
    "decimal digits, and remainders of the 64 bits",
    "outputs, cells, and reports that are none",
    "tails and parts of cells",
    "places in cells",
    "parts of reports",
    "the mechanism's own ratios",
)
"""Groups of families."""

Columns = dict[str, np.ndarray]
"""What a number of reports are made of, by name: float64 or int64, one entry for each report."""

TAILS = 0.5 ** np.arange(6, 18)
QUANTILES = np.r_[TAILS[::-1], np.arange(1, 64) / 64, 1 - TAILS]
"""Numbers are cut at these quantiles of the reports seen, so that an event can be a part of a cell, or a far tail."""

LOW_BITS = (1, 2, 4)
"""The last bits of a number that are families of their own; the last eight are its first byte."""

PLACES = 64
"""Equal parts of a cell."""

FINE_PLACES = (1, 2, 3, 4, 5)
"""Digits to the base 256 of a report's place in its cell that are looked at, after the first."""

MOST_KNOWN = 4096
"""Codes of a family that are told apart: those seen most often."""

MOST_COLUMNS = 64
"""Columns that have families of their own; all have a part in the learned ones."""

SHOWN = 3
"""Codes of an event that its words name."""


@dataclass(frozen=True, eq=False)
class Family:
    """One way to sort reports.

    Attributes
    ----------
    group : str
        What kind of family it is, in words.
    name : str
        In words.
    codes : callable
        Columns of N reports in, (N,) int64 out.
    ordered : bool
        Whether codes next to each other belong together, as those of tails do.
    show : callable
        A code in words.
    known : (m,) ndarray of int64
        Codes that are told apart, rising; any other is one more.
    """

    group: str
    name: str
    codes: Callable[[Columns], np.ndarray]
    ordered: bool = False
    show: Callable[[int], str] = str
    known: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def fitted(self, columns: Columns) -> Family:
        """Return the family with the codes that these reports have more than once."""
        codes, counts = np.unique(self.codes(columns), return_counts=True)
        often = np.flatnonzero(counts > 1)
        if often.size > MOST_KNOWN:
            often = np.sort(often[np.argpartition(-counts[often], MOST_KNOWN)[:MOST_KNOWN]])
        return replace(self, known=codes[often])

    @property
    def size(self) -> int:
        """Numbers that `places` may return."""
        return self.known.size + 1

    def places(self, columns: Columns) -> np.ndarray:
        """Return (N,) the place of each report's code among the known ones; the last place is for all others."""
        codes = self.codes(columns)
        if not self.known.size:
            return np.zeros(codes.size, dtype=np.intp)
        if self.known[0] >= 0 and self.known[-1] < MOST_KNOWN:  # looking up is faster than searching
            table = np.full(MOST_KNOWN + 1, self.known.size)
            table[self.known] = np.arange(self.known.size)
            return table[np.minimum(codes.view(np.uint64), MOST_KNOWN).view(np.intp)]
        place = np.minimum(np.searchsorted(self.known, codes), self.known.size - 1)
        return np.where(self.known[place] == codes, place, self.known.size)

    def counts(self, columns: Columns, groups: np.ndarray, many: int) -> np.ndarray:
        """Return (many, size) how often each place comes in each group of reports."""
        return self.counts_of(groups, self.places(columns), many)

    def counts_of(self, groups: np.ndarray, places: np.ndarray, many: int) -> np.ndarray:
        """Return the same of places that are known already."""
        return np.bincount(groups * self.size + places, minlength=many * self.size).reshape(many, self.size)


@dataclass(frozen=True, eq=False)
class Event:
    """The reports whose place in a fitted family is one of some.

    Example
    -------
    >>> last_bit = Family(BITS, "the last bit", lambda columns: columns["report"].view(np.int64) & 1)
    >>> seen = {"report": np.array([1.0, 2.0, np.nextafter(1, 2), np.nextafter(2, 3)])}
    >>> event = Event(last_bit.fitted(seen), np.array([False, True, False]))
    >>> counts_inside([event], seen, np.array([0, 0, 0, 1]), 2).tolist(), event.words
    ([[1, 1]], 'the last bit: 1')
    """

    family: Family
    members: np.ndarray

    @property
    def words(self) -> str:
        """The event for people: its family and the first of its codes."""
        inside = np.flatnonzero(self.members[:-1])
        named = [self.family.show(int(code)) for code in self.family.known[inside[:SHOWN]]]
        if self.members[-1]:
            named.append("any seen at most once before")
        more = f" and {inside.size - SHOWN} more" if inside.size > SHOWN else ""
        return f"{self.family.name}: {', '.join(named)}{more}"


def counts_inside(events: Sequence[Event], columns: Columns, groups: np.ndarray, many: int) -> np.ndarray:
    """Return (E, many) how many reports of each group are in each event; each family is looked at once."""
    counts: dict[int, np.ndarray] = {}
    for event in events:
        if id(event.family) not in counts:
            counts[id(event.family)] = event.family.counts(columns, groups, many)
    return np.array([counts[id(event.family)][:, event.members].sum(axis=1) for event in events]).reshape(-1, many)


def families_of(columns: Columns, tables: Mapping[str, TabulatedMechanism]) -> list[Family]:
    """Return all families of the columns, fitted to these reports.

    Parameters
    ----------
    columns : Columns
    tables : mapping
        The table that a column's numbers are outputs of, where there is one.
    """
    found: list[Family] = []
    for name in list(columns)[:MOST_COLUMNS]:
        values = columns[name]
        if np.issubdtype(values.dtype, np.floating):
            found += _of_bits(name)
            found += _of_arithmetic(name, leading_place(values))
            found += _of_cuts(name, values, tables.get(name))
            if name in tables:
                found += _of_outputs(name, tables[name])
        else:
            found += _of_codes(name, values)
    return [family.fitted(columns) for family in found]


def _of_bits(name: str) -> list[Family]:
    """Single doubles; their last bits; each of their eight bytes."""

    def bits(columns: Columns) -> np.ndarray:
        return columns[name].view(np.int64)

    def last(many: int) -> Family:
        words = "the last bit" if many == 1 else f"the last {many} bits"
        return Family(BITS, f"{words} of {name}", lambda columns: bits(columns) & (2**many - 1))

    def byte(number: int) -> Family:
        label = f"byte {number} of {name}, from the low end"
        return Family(BITS, label, lambda columns: (bits(columns) >> 8 * number) & 255)

    exact = Family(SINGLE, f"{name} is exactly", bits, show=lambda code: repr(float(np.int64(code).view(np.float64))))
    return [exact, *map(last, LOW_BITS), *map(byte, range(8))]


def _of_arithmetic(name: str, lead: int) -> list[Family]:
    """Remainders of the 64 bits; decimal digits from 10^lead on, and the last that is not zero; all with the sign."""

    def remainder(modulus: int) -> Family:
        label = f"the remainder of the 64 bits of {name} by {modulus}, with its sign"
        return Family(ARITHMETIC, label, lambda columns: remainders(columns[name], modulus), show=signed_words)

    def decimal(place: int) -> Family:
        label = f"the digit of {name} at 1e{lead - place}, with its sign"
        return Family(ARITHMETIC, label, lambda columns: digit(columns[name], lead, place), show=signed_words)

    label = f"the last digit of {name} that is not zero, of {DIGITS}, with its sign and the zeros that follow"
    last = Family(ARITHMETIC, label, lambda columns: last_digit(columns[name]), show=last_words)
    return [*map(remainder, MODULI), *map(decimal, range(DIGITS)), last]


def _of_cuts(name: str, values: np.ndarray, table: TabulatedMechanism | None) -> list[Family]:
    """Parts between quantiles of what was seen, tails among them; with a table, such parts of each output."""
    finite = values[np.isfinite(values)]
    cuts = np.unique(np.quantile(finite, QUANTILES)) if finite.size else np.empty(0)

    def part(code: int) -> str:
        ends = [-np.inf, *cuts.tolist(), np.inf]
        return "missing or infinite" if code > cuts.size else f"from {ends[code]:.6g} to {ends[code + 1]:.6g}"

    def parts(columns: Columns) -> np.ndarray:
        numbers = columns[name]
        return np.where(np.isfinite(numbers), np.searchsorted(cuts, numbers), cuts.size + 1)

    families = [Family(PARTS, f"{name} lies", parts, ordered=True, show=part)]
    if table is not None and not table.is_discrete:
        step = cuts.size + 2

        def both(columns: Columns) -> np.ndarray:
            return _outputs(table, columns[name]) * step + parts(columns)

        show = lambda code: f"output {code // step} {part(code % step)}"  # noqa: E731
        families.append(Family(PARTS, f"{name} is in parts of outputs", both, show=show))
    return families


def _of_outputs(name: str, table: TabulatedMechanism) -> list[Family]:
    """Outputs, those that are none; equal parts of cells, and the digits of a report's place in its cell."""

    def foreign(columns: Columns) -> np.ndarray:
        return (_outputs(table, columns[name]) < 0).astype(np.int64)

    families = [
        Family(OUTPUTS, f"{name} is an output", lambda columns: _outputs(table, columns[name]), show=_output_words),
        Family(OUTPUTS, f"{name} is no output of the table", foreign, show=lambda code: "true" if code else "false"),
    ]
    if (np.isfinite(table.low) & np.isfinite(table.high) & (table.low < table.high)).any():

        def place(columns: Columns) -> np.ndarray:
            return _in_cells(table, columns[name])

        def digit(number: int) -> Family:
            label = f"digit {number} to the base 256 of the place of {name} in its cell"
            return Family(
                PLACE, label, lambda columns: np.floor(place(columns) * 256.0 ** (number + 1)).astype(np.int64) & 255
            )

        families.append(
            Family(
                PLACE,
                f"the place of {name} in its cell, in {PLACES} parts",
                lambda columns: np.floor(place(columns) * PLACES).astype(np.int64),
                ordered=True,
            )
        )
        families += map(digit, FINE_PLACES)
    return families


def _outputs(table: TabulatedMechanism, reports: np.ndarray) -> np.ndarray:
    return locate_outputs(table.low, table.high, table.within, reports).astype(np.int64)


def _output_words(code: int) -> str:
    return "none" if code < 0 else str(code)


def _in_cells(table: TabulatedMechanism, reports: np.ndarray) -> np.ndarray:
    """Return the place in [0, 1] of each report in its cell; -1 for reports that are in no finite cell."""
    outputs = _outputs(table, reports)
    low, high = table.low[outputs], table.high[outputs]
    inside = (outputs >= 0) & np.isfinite(low) & np.isfinite(high) & (low < high)
    share = np.full(reports.size, -1.0)
    share[inside] = (reports[inside] - low[inside]) / (high[inside] - low[inside])
    return share


def _of_codes(name: str, values: np.ndarray) -> list[Family]:
    """Codes themselves; where there are very many, their last bits and parts between quantiles."""
    families = [Family(CODES, f"{name} is", lambda columns: columns[name])]
    if values.size and np.ptp(values) >= PLACES:
        cuts = np.unique(np.quantile(values, QUANTILES))
        families += [
            Family(CODES, f"the last bit of {name}", lambda columns: columns[name] & 1),
            Family(CODES, f"the last byte of {name}", lambda columns: columns[name] & 255),
            Family(CODES, f"the part of {name}", lambda columns: np.searchsorted(cuts, columns[name]), ordered=True),
        ]
    return families
