"""Drawing of categories: from a category's number and random words of 64 bits to a report, as a file holds it.

docs/bundle-format.md has the steps, and takes the words in the same order. No message holds a value.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from .drawing import random_words

ALL_WORDS = 2**64


class Oracle(Protocol):
    """Draws a report of a category's number."""

    def draw(self, code: int) -> str:
        """Return the report as text."""
        ...


@dataclass(frozen=True)
class Categories:
    """A mechanism for categories that is proved private, made by `read_categories`: how to draw, and what it says.

    Attributes
    ----------
    kind : str
        `categorical-table`, `unary-encoding`, `subset-selection`, `local-hashing` or `projective-geometry`.
    labels : tuple of str
    epsilon : float
        The budget that each report of a value spends; proved.
    checksum : str
    """

    kind: str
    labels: tuple[str, ...]
    epsilon: float
    checksum: str
    _codes: Mapping[str, int] = field(repr=False)
    oracle: Oracle = field(repr=False)

    def report(self, value: str) -> str:
        """Draw a report, as a file holds it, of one of the categories; it spends epsilon again each time.

        Raises
        ------
        ValueError
            The value is none of the categories. The message does not say which it is.
        OSError
            The secure generator fails or gives too little; nothing was drawn.
        """
        return self.oracle.draw(self.code(value))

    def code(self, value: object) -> int:
        """Return a category's number, from 0; ValueError for what is none, which it does not say."""
        code = self._codes.get(value) if isinstance(value, str) else None
        if code is None:
            raise ValueError(f"the value must be one of the {len(self.labels)} categories, got another")
        return code


@dataclass(frozen=True)
class TableOracle:
    """Whole outputs, by running sums of each category's row over 2^53."""

    sums: Sequence[Sequence[int]]

    def draw(self, code: int) -> str:
        """Return the output's number."""
        (word,) = random_words(1)
        return str(bisect_right(self.sums[code], word >> 11))


@dataclass(frozen=True)
class UnaryOracle:
    """A bit for each category, one with probability `own` / 2^53 at the own place and `other` / 2^53 elsewhere."""

    size: int
    own: int
    other: int

    def draw(self, code: int) -> str:
        """Return the bits in hexadecimal."""
        words, limit = random_words(self.size), self.other << 11
        bits = [word < limit for word in words]
        bits[code] = words[code] < self.own << 11
        return bits_as_text(bits)


@dataclass(frozen=True)
class SubsetOracle:
    """A set of `chosen` categories, which holds the own one with probability `own` / 2^53."""

    size: int
    chosen: int
    own: int

    def draw(self, code: int) -> str:
        """Return the set as bits in hexadecimal."""
        words = words_of(1 + self.chosen)
        held = next(words) >> 11 < self.own
        others = choices(self.size - 1, self.chosen, words)  # counted on from the one after the own
        if held:
            others[-1] = self.size - 1
        bits = [False] * self.size
        for other in others:
            bits[(code + 1 + other) % self.size] = True
        return bits_as_text(bits)


@dataclass(frozen=True)
class HashOracle:
    """A seed, and the hash under it with probability `own` / 2^53, each other value with `other` / 2^53."""

    field: Field
    digits: int
    own: int
    other: int

    def draw(self, code: int) -> str:
        """Return seed * g + value."""
        g = self.field.size
        first, second = random_words(2)
        seed, over = first % self.field.points(self.digits), (second >> 11) - self.own
        step = 0 if over < 0 else 1 + over // self.other
        return str(seed * g + (self.field.hashed(seed, code, self.digits) + step) % g)


@dataclass(frozen=True)
class GeometryOracle:
    """Points of so many entries: by `own` / 2^53 one that supports the category, else one that does not."""

    field: Field
    length: int
    own: int

    def draw(self, code: int) -> str:
        """Return the point's number."""
        field, q, d = self.field, self.field.size, self.length
        words, supporting = words_of(3), field.points(d - 1)
        supported = next(words) >> 11 < self.own
        on, off = below(supporting, words), below(field.points(d) - supporting, words)
        every = [off // q**place % q for place in reversed(range(d - 1))]
        own, rest = field.point(code, d), field.point(on, d - 1) if supported else every
        first = own.index(1)
        vector = [*rest[:first], 0, *rest[first:]]
        lacking = field.negative(field.inner(own, vector))
        vector[first] = lacking if supported else field.sum(lacking, 1)
        return str(field.number(vector))


@dataclass(frozen=True)
class Field:
    """The field of `prime` ** len(tail) elements; `tail` are the coefficients below the highest of its polynomial."""

    prime: int
    tail: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many elements there are."""
        return self.prime ** len(self.tail)

    def hashed(self, seed: int, code: int, digits: int) -> int:
        """Return the hash of a category's number, of so many digits, under a seed.

        Example
        -------
        >>> [Field(2, (1, 1)).hashed(4, code, 2) for code in range(6)]
        [0, 1, 2, 3, 3, 2]
        """
        return self.inner(self.point(seed, digits), [code // self.size**i % self.size for i in range(digits)])

    def points(self, length: int) -> int:
        """Return how many vectors have a one as the first entry that is not zero."""
        return (self.size**length - 1) // (self.size - 1)

    def point(self, number: int, length: int) -> list[int]:
        """Return the vector of a point's number: zeros, its one, and entries that are free."""
        q, free = self.size, 0
        while free + 1 < length and number >= q**free:
            number, free = number - q**free, free + 1
        return [*[0] * (length - 1 - free), 1, *(number // q**place % q for place in reversed(range(free)))]

    def number(self, vector: Sequence[int]) -> int:
        """Return the number of the point on the line of a vector, which is not zero."""
        first, leading = next((i, entry) for i, entry in enumerate(vector) if entry != 0)
        inverse = next(each for each in range(1, self.size) if self.product(leading, each) == 1)
        free = 0
        for entry in vector[first + 1 :]:
            free = free * self.size + self.product(inverse, entry)
        return self.points(len(vector) - 1 - first) + free

    def inner(self, a: Sequence[int], b: Sequence[int]) -> int:
        """Return the inner product of two vectors."""
        total = 0
        for x, y in zip(a, b, strict=True):
            total = self.sum(total, self.product(x, y))
        return total

    def negative(self, a: int) -> int:
        """Return what makes the sum zero."""
        return self._whole([-part for part in self._parts(a)])

    def _parts(self, element: int) -> list[int]:
        return [element // self.prime**i % self.prime for i in range(len(self.tail))]

    def _whole(self, parts: Sequence[int]) -> int:
        return sum(part % self.prime * self.prime**i for i, part in enumerate(parts))

    def sum(self, a: int, b: int) -> int:
        """Return a sum of two elements."""
        return self._whole([x + y for x, y in zip(self._parts(a), self._parts(b), strict=True)])

    def product(self, a: int, b: int) -> int:
        """Return a product of two elements."""
        total, power = [0] * len(self.tail), self._parts(a)
        for digit in self._parts(b):
            total = [t + digit * x for t, x in zip(total, power, strict=True)]
            top = power[-1]  # what leaves at the top comes back as the polynomial has it
            power = [(x - top * e) % self.prime for x, e in zip([0, *power[:-1]], self.tail, strict=True)]
        return self._whole(total)


def words_of(expected: int) -> Iterator[int]:
    """Yield random words, so many asked for at once and then one by one: none is left when the draw is done."""
    yield from random_words(expected)
    while True:
        yield from random_words(1)


def choices(many: int, chosen: int, words: Iterator[int]) -> list[int]:
    """Return `chosen` of `many`, all different, all orders alike: the first steps of a Fisher-Yates shuffle."""
    moved: dict[int, int] = {}  # what stands where the shuffle has been, so that nothing else is written down
    drawn = []
    for i in range(chosen):
        other = i + below(many - i, words)
        drawn.append(moved.get(other, other))
        moved[other] = moved.get(i, i)
    return drawn


def below(bound: int, words: Iterator[int]) -> int:
    """Return a whole number below the bound; words that would favour some are drawn again."""
    word = next(words)
    while word >= ALL_WORDS - ALL_WORDS % bound:
        word = next(words)
    return word % bound


def bits_as_text(bits: Sequence[bool]) -> str:
    """Return bits in hexadecimal, the first the highest of the first byte.

    Example
    -------
    >>> bits_as_text([True, False, True]), bits_as_text([False] * 8 + [True])
    ('a0', '0080')
    """
    many = -(-len(bits) // 8)
    number = int("".join("1" if bit else "0" for bit in bits), 2)
    return (number << (8 * many - len(bits))).to_bytes(many, "big").hex()
