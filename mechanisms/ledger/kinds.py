"""The kinds of mechanisms that a ledger books: tables, and those for categories, pairs and several attributes."""

import json
import math
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..categorical.categories import Categories
from ..categorical.mechanism import CategoricalMechanism
from ..client.sampler import Sampler
from ..composed.attributes import AttributeSampling
from ..documents.table import table_to_document
from ..errors import InputError, TableError, unwired
from ..exactness.proof import prove
from ..files.bundle import bundle_to_document
from ..files.checksum import checksum
from ..floors.form import FloorForm
from ..key_value.mechanism import KeyValueMechanism
from ..promise import Pure
from ..table.table import TabulatedMechanism

MECHANISMS_REMEMBERED = 16
"""Proofs kept in mind: a service uses a few mechanisms for all its users."""

Bookable = TabulatedMechanism | FloorForm | CategoricalMechanism | KeyValueMechanism | AttributeSampling
"""What takes one value of one user, of which all is said."""


@dataclass(frozen=True)
class BookedMechanism(ABC):
    """A mechanism that was proved private by whole numbers.

    Attributes
    ----------
    checksum : bytes
        That of its document: other mechanisms' reports are others.
    epsilon : float
        What a report costs.
    """

    checksum: bytes
    epsilon: float

    @abstractmethod
    def content(self, value: object) -> bytes:
        """Return a value as bytes, equal values alike, or raise InputError without showing it."""

    @abstractmethod
    def draw(self, content: bytes) -> bytes:
        """Draw a report by the operating system's generator and return it as text."""

    @abstractmethod
    def read(self, text: bytes) -> Any:
        """Return the report of such a text."""


def plain_number(value: object, low: float, high: float) -> float | None:
    """Return a value as a double if it is a number from low to high, else None; -0 is 0.

    Example
    -------
    >>> plain_number(-0.0, 0.0, 1.0), plain_number("0", 0.0, 1.0), plain_number(float("nan"), 0.0, 1.0)
    (0.0, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return None
    try:
        number = float(value) + 0.0
    except Exception:  # a number of somebody's own making; what it says may be the value
        return None
    return number if low <= number <= high else None


@dataclass(frozen=True)
class _Numbers(BookedMechanism):
    mechanism: TabulatedMechanism | FloorForm

    def content(self, value: object) -> bytes:
        low, high = self.mechanism.domain
        number = plain_number(value, low, high)
        if number is None:
            raise InputError(f"the value must be a number in [{low:g}, {high:g}], got another: clip it")  # not shown
        return struct.pack("<d", number)

    def draw(self, content: bytes) -> bytes:
        return repr(float(self.mechanism.sample(struct.unpack("<d", content))[0])).encode()

    def read(self, text: bytes) -> float:
        return float(text)


@dataclass(frozen=True)
class _Labels(BookedMechanism):
    mechanism: CategoricalMechanism

    def content(self, value: object) -> bytes:
        code = _code(self.mechanism.categories, value)
        if code is None:
            many = len(self.mechanism.categories)
            raise InputError(f"the value must be one of the {many} categories, got another: correct it")
        return struct.pack("<q", code)

    def draw(self, content: bytes) -> bytes:
        report = self.mechanism.sample_codes(list(struct.unpack("<q", content)))
        return self.mechanism.to_text(report)[0].encode()

    def read(self, text: bytes) -> Any:
        return self.mechanism.from_text([text.decode()])[0]


@dataclass(frozen=True)
class _Pairs(BookedMechanism):
    mechanism: KeyValueMechanism

    def content(self, value: object) -> bytes:
        low, high = self.mechanism.value.domain
        held = dict(value) if isinstance(value, Mapping) else {None: None}
        pairs = {_code(self.mechanism.keys, key): plain_number(number, low, high) for key, number in held.items()}
        if None in pairs or None in pairs.values() or len(pairs) < len(held):
            raise InputError(
                f"the value must map known keys to numbers in [{low:g}, {high:g}], got another: correct it"
            )
        if not self.mechanism.padding and len(pairs) != 1:
            raise InputError("the value must be one pair, as there is no padding, got another number of them")
        return b"".join(struct.pack("<qd", *pair) for pair in sorted(pairs.items()))

    def draw(self, content: bytes) -> bytes:
        pairs = [*struct.iter_unpack("<qd", content)]
        labels = np.array([self.mechanism.keys.labels[code] for code, _ in pairs], dtype=np.str_)
        numbers = np.array([number for _, number in pairs], dtype=float)
        report = self.mechanism.sample_sets(np.zeros(len(pairs), dtype=int), labels, numbers, 1)
        return self.mechanism.to_text(report)[0].encode()

    def read(self, text: bytes) -> Any:
        return self.mechanism.from_text([text.decode()])[0]


@dataclass(frozen=True)
class _Attributes(BookedMechanism):
    mechanism: AttributeSampling

    def content(self, value: object) -> bytes:
        names, tables = self.mechanism.attributes, self.mechanism.mechanisms
        held = dict(value) if isinstance(value, Mapping) else {}
        numbers = [plain_number(held.get(name), *table.domain) for name, table in zip(names, tables, strict=True)]
        if None in numbers or len(held) > len(names):
            raise InputError(
                f"the value must map each of {len(names)} attributes to a number in its domain, got another: clip them"
            )
        return struct.pack(f"<{len(numbers)}d", *numbers)

    def draw(self, content: bytes) -> bytes:
        numbers = struct.unpack(f"<{len(self.mechanism.attributes)}d", content)
        held = {name: [number] for name, number in zip(self.mechanism.attributes, numbers, strict=True)}
        drawn = {name: float(report[0]) for name, report in self.mechanism.sample(held).items()}
        return json.dumps({name: None if math.isnan(report) else report for name, report in drawn.items()}).encode()

    def read(self, text: bytes) -> dict[str, float]:
        return {name: math.nan if report is None else report for name, report in json.loads(text).items()}


_KINDS: tuple[tuple[type, Callable[..., BookedMechanism]], ...] = (
    (TabulatedMechanism, _Numbers),
    (FloorForm, _Numbers),
    (CategoricalMechanism, _Labels),
    (KeyValueMechanism, _Pairs),
    (AttributeSampling, _Attributes),
)


def booked(mechanism: object) -> BookedMechanism:
    """Return a mechanism, or that of a sampler, in the form that a ledger books.

    Raises
    ------
    TableError
        It is not exact, or not proved to keep its promise.
    InputError
        A simulated sampler, or something else than a mechanism of one of these kinds.

    Example
    -------
    >>> from ..categorical.table import categorical_grr
    >>> made = booked(categorical_grr(["yes", "no"], 1.0))
    >>> made.epsilon, made.read(made.draw(made.content("yes"))) in (0, 1)
    (1.0, True)
    """
    if isinstance(mechanism, Sampler):
        if mechanism.simulated:
            raise InputError("a ledger is for real reports, got a simulated sampler: make one without an rng")
        mechanism = mechanism.mechanism
    if not isinstance(mechanism, Bookable):
        raise InputError(
            "a ledger books tables and mechanisms for categories, pairs and attributes, "
            f"got {type(mechanism).__name__}: of one with levels, book the mechanism of the user's level"
        )
    return _proved(mechanism)


@lru_cache(maxsize=MECHANISMS_REMEMBERED)
def _proved(mechanism: Bookable) -> BookedMechanism:
    """Prove a mechanism, once for all its users; those that are equal, number by number, are one."""
    if isinstance(mechanism, TabulatedMechanism):
        if not isinstance(mechanism.promise, Pure):
            raise TableError(f"a ledger books pure privacy, got a table that promises {mechanism.promise}")
        failures, document = prove(mechanism).failures, table_to_document(mechanism)
    else:
        failures, document = mechanism.failures(), bundle_to_document(mechanism)
    if failures:
        raise TableError(failures[0])
    for kind, form in _KINDS:
        if isinstance(mechanism, kind):
            return form(checksum(document).encode(), mechanism.epsilon, mechanism)
    raise unwired("mechanism", mechanism)


def _code(labels: Categories, value: object) -> int | None:
    """The position of a label, or of what prints so, among the labels; None if it is none of them."""
    if isinstance(value, bool) or not isinstance(value, str | int | float) or str(value) not in labels.labels:
        return None
    return labels.labels.index(str(value))
