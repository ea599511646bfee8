"""What a ledger needs to know of a mechanism: its cost, proved, and how its values and reports are written down."""

import struct
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from .bundle_file import bundle_to_document
from .categorical_mechanism import CategoricalMechanism
from .checksum import checksum
from .errors import InputError, TableError
from .exact_proof import prove
from .sampler import Sampler
from .table import TabulatedMechanism
from .table_document import table_to_document

MECHANISMS_REMEMBERED = 16
"""Proofs kept in mind: a service uses a few mechanisms for all its users."""


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


@dataclass(frozen=True)
class _Numbers(BookedMechanism):
    table: TabulatedMechanism

    def content(self, value: object) -> bytes:
        low, high = self.table.domain
        number = _number(value)
        if number is None or not low <= number <= high:
            raise InputError(f"the value must be a number in [{low:g}, {high:g}], got another: clip it")  # not shown
        return struct.pack("<d", number + 0.0)  # -0 is 0

    def draw(self, content: bytes) -> bytes:
        return repr(float(self.table.sample(struct.unpack("<d", content))[0])).encode()

    def read(self, text: bytes) -> float:
        return float(text)


@dataclass(frozen=True)
class _Labels(BookedMechanism):
    mechanism: CategoricalMechanism

    def content(self, value: object) -> bytes:
        labels = self.mechanism.categories.labels
        name = None if isinstance(value, bool) else str(value) if isinstance(value, str | int | float) else None
        if name not in labels:
            raise InputError(f"the value must be one of the {len(labels)} categories, got another")  # not shown
        return struct.pack("<q", labels.index(name))

    def draw(self, content: bytes) -> bytes:
        return self.mechanism.to_text(self.mechanism.sample_codes(list(struct.unpack("<q", content))))[0].encode()

    def read(self, text: bytes) -> Any:
        return self.mechanism.from_text([text.decode()])[0]


def booked(mechanism: object) -> BookedMechanism:
    """Return a mechanism, or that of a sampler, in the form that a ledger books.

    Raises
    ------
    TableError
        It is not exact, or not proved to keep its promise.
    InputError
        A simulated sampler, or a kind of mechanism that takes more than one number or category.

    Example
    -------
    >>> from .categorical_table import categorical_grr
    >>> made = booked(categorical_grr(["yes", "no"], 1.0))
    >>> made.epsilon, made.read(made.draw(made.content("yes"))) in (0, 1)
    (1.0, True)
    """
    if isinstance(mechanism, Sampler):
        if mechanism.simulated:
            raise InputError("a ledger is for real reports, got a simulated sampler: make one without an rng")
        mechanism = mechanism.mechanism
    if not isinstance(mechanism, TabulatedMechanism | CategoricalMechanism):
        raise InputError(
            f"a ledger books tables and mechanisms for categories, got {type(mechanism).__name__}: "
            "book the mechanisms that it is made of, each with its own value"
        )
    return _proved(mechanism)


@lru_cache(maxsize=MECHANISMS_REMEMBERED)
def _proved(mechanism: TabulatedMechanism | CategoricalMechanism) -> BookedMechanism:
    """Prove a mechanism, once for all its users; mechanisms are told apart as objects, which never change."""
    if isinstance(mechanism, CategoricalMechanism):
        mechanism.require_private()
        return _Labels(checksum(bundle_to_document(mechanism)).encode(), mechanism.epsilon, mechanism)
    proof = prove(mechanism)
    if not proof.ok:
        raise TableError(proof.failures[0])
    return _Numbers(checksum(table_to_document(mechanism)).encode(), mechanism.epsilon, mechanism)


def _number(value: object) -> float | None:
    """The value as a double if it is a number, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return None
    try:
        return float(value)
    except OverflowError:
        return None
