"""Drawing of what is more than one value: pairs of a key and a number, several numbers, and any of these at levels.

docs/bundle-format.md has the steps, and takes the words in the same order. No message holds a value.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from .category_drawing import Categories, Oracle, choices, words_of
from .drawing import Table, random_words

LEVEL = "level"


class Part(Protocol):
    """A mechanism alone or inside another; a value is checked as a whole before a random word is drawn for it."""

    @property
    def epsilon(self) -> float:
        """The budget of a report; proved."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """What a file calls the cells of a report."""
        ...

    def check(self, value: Any) -> None:
        """Raise ValueError, which does not say the value, for what is none of the mechanism."""
        ...

    def cells(self, value: Any) -> list[str]:
        """Draw a report of a value that was checked."""
        ...


@dataclass(frozen=True)
class Combined:
    """A mechanism for pairs, for several numbers or at levels that is proved private, made by `read_combined`.

    Attributes
    ----------
    kind : str
        `key-value-unary`, `key-value-response`, `attributes`, `personalised`, `personalised-pairs` or
        `personalised-attributes`.
    epsilons : tuple of float
        The budget of each level, from the most private on, that a report of a value spends; of what has no levels, one.
    columns : tuple of str
        The columns of a report.
    checksum : str
    """

    kind: str
    epsilons: tuple[float, ...]
    columns: tuple[str, ...]
    checksum: str
    _part: Part = field(repr=False)

    def line(self, value: Any) -> str:
        """Draw a report, its cells joined by commas, as `optldp audit --sampler` takes it: levels are numbered from 0.

        A value is a list of pairs (key, number), a list of a number for each attribute, or of levels a pair (value,
        level's number from 0); it spends epsilon again each time.

        Raises
        ------
        ValueError
            The value is none of the mechanism. The message does not say which it is.
        OSError
            The secure generator fails or gives too little; nothing was drawn.
        """
        self._part.check(value)
        return ",".join(self._part.cells(value))

    def report(self, value: Any) -> dict[str, str]:
        """Draw a report as the cells of a file of reports, by column, where levels are told by budgets; as `line`."""
        self._part.check(value)
        cells = self._part.cells(value)
        if isinstance(self._part, Levels):
            cells = self._part.told(cells)
        return dict(zip(self.columns, cells, strict=True))


@dataclass(frozen=True)
class OneNumber:
    """A table that is inside another mechanism."""

    table: Table
    columns: tuple[str, ...] = ("report",)

    @property
    def epsilon(self) -> float:
        """That of the table."""
        return self.table.epsilon

    def check(self, value: Any) -> None:
        """A value is a number."""
        self.table.placed(value)

    def cells(self, value: Any) -> list[str]:
        """Return the very double in decimal digits."""
        return [repr(self.table.report(value) + 0.0)]  # without the sign of -0


@dataclass(frozen=True)
class OneCategory:
    """A mechanism for categories that is inside another."""

    categories: Categories
    columns: tuple[str, ...] = ("report",)

    @property
    def epsilon(self) -> float:
        """That of the mechanism."""
        return self.categories.epsilon

    def check(self, value: Any) -> None:
        """A value is a category."""
        self.categories.code(value)

    def cells(self, value: Any) -> list[str]:
        """Return the report as text."""
        return [self.categories.report(value)]


@dataclass(frozen=True)
class Pairs:
    """A pair of those that a user holds: its key by `own` and `other` / 2^53, its number by a table.

    Attributes
    ----------
    apart : bool
        Whether each key is shown or not by itself; else one place of all is shown.
    fake : sequence of int
        Running sums over 2^53 of the outputs at places that are not the user's.
    """

    apart: bool
    epsilon: float
    codes: Mapping[str, int]
    table: Table
    padding: int
    fake: Sequence[int]
    own: int
    other: int
    columns: tuple[str, ...] = ("report",)

    def check(self, value: Any) -> None:
        """A value is a list of pairs of a key and a number, whose keys differ."""
        pairs = _listed(value)
        if pairs is None or any(len(_listed(pair) or ()) != 2 for pair in pairs):
            raise ValueError("pairs must be a list of lists of a key and a number, got something else")
        for key, number in pairs:
            if not isinstance(key, str) or key not in self.codes:
                raise ValueError(f"a key must be one of the {len(self.codes)} keys, got another")
            self.table.placed(number)
        if len({key for key, _ in pairs}) < len(pairs):
            raise ValueError("a user must hold a key once at most, got one twice")
        if not pairs and not self.padding:
            raise ValueError("every user must hold a pair, as padding is 0, got none")

    def cells(self, value: Any) -> list[str]:
        """Return places and outputs, joined by semicolons."""
        keys = len(self.codes)
        (word,) = random_words(1)
        number = (word >> 11) % max(len(value), self.padding, 1)
        held = number < len(value)
        code, of = (self.codes[value[number][0]], value[number][1]) if held else (keys + number, self.table.knots[0])
        output = self.table.index(of)
        if not self.apart:
            place, other = random_words(2)
            over = (place >> 11) - self.own
            step = 0 if over < 0 else 1 + over // self.other
            return [f"{(code + step) % (keys + self.padding)}:{output if held and step == 0 else self._fake(other)}"]
        words, shown = random_words(2 * keys), []
        for key in range(keys):
            if words[2 * key] >> 11 < (self.own if key == code else self.other):
                shown.append(f"{key}:{output if key == code else self._fake(words[2 * key + 1])}")
        return [";".join(shown) or "-"]

    def _fake(self, word: int) -> int:
        return bisect_right(self.fake, word >> 11)


@dataclass(frozen=True)
class Attributes:
    """A number for each attribute, of which so many that are drawn are reported."""

    columns: tuple[str, ...]
    tables: tuple[OneNumber, ...]
    sampled: int
    epsilon: float

    def check(self, value: Any) -> None:
        """A value is a list of numbers."""
        numbers = _listed(value)
        if numbers is None or len(numbers) != len(self.tables):
            raise ValueError(f"the values must be a list of {len(self.tables)} numbers, got something else")
        for table, number in zip(self.tables, numbers, strict=True):
            table.check(number)

    def cells(self, value: Any) -> list[str]:
        """Return a cell for each attribute, empty where it was not drawn."""
        drawn = set(choices(len(self.tables), self.sampled, words_of(self.sampled)))
        pairs = enumerate(zip(self.tables, value, strict=True))
        return [table.cells(number)[0] if i in drawn else "" for i, (table, number) in pairs]


@dataclass(frozen=True)
class Levels:
    """A mechanism of each level, and how the level itself is told.

    Attributes
    ----------
    oracle : Oracle or None
        By which the level is reported; None: in the clear.
    number : callable
        From the oracle's report as text to its number among all of them.
    renamed : bool
        Whether that number is what a file holds, as of other protocols than randomised response.
    """

    levels: tuple[Part, ...]
    oracle: Oracle | None
    number: Callable[[str], int]
    renamed: bool

    @property
    def epsilon(self) -> float:
        """That of the level which spends most."""
        return self.levels[-1].epsilon

    @property
    def columns(self) -> tuple[str, ...]:
        """That of the level, and those of its report."""
        return (LEVEL, *self.levels[0].columns)

    def check(self, value: Any) -> None:
        """A value is a pair of a value as the level takes it and the level's number."""
        pair = _listed(value)
        if pair is None or len(pair) != 2:
            raise ValueError("the value must be a list of a value and a level's number, got something else")
        level = pair[1]
        if type(level) is not int or not 0 <= level < len(self.levels):
            raise ValueError(f"the level must be a whole number from 0 to {len(self.levels) - 1}, got another")
        self.levels[level].check(pair[0])

    def cells(self, value: Any) -> list[str]:
        """Return the level's report as a number, and the cells of the value's, which is drawn first."""
        of, level = value
        cells = self.levels[level].cells(of)
        return [str(level if self.oracle is None else self.number(self.oracle.draw(level))), *cells]

    def told(self, cells: list[str]) -> list[str]:
        """Return cells as a file of reports holds them."""
        level, *others = cells
        return cells if self.renamed else [repr(self.levels[int(level)].epsilon), *others]


def _listed(value: Any) -> list[Any] | tuple[Any, ...] | None:
    return value if isinstance(value, list | tuple) else None
