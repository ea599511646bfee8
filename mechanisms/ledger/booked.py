"""What a ledger books: any mechanism of one promise, whose reports and values it keeps as bytes."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..budget import MAX_EPSILON
from ..categorical.table import CategoricalTable
from ..channel import Channel
from ..client.sampler import Sampler
from ..errors import InputError, TableError
from ..exactness.proof import failures_of
from ..exactness.verification import require_proved
from ..files.bundle import document_of
from ..files.checksum import checksum
from ..promise import OfPairs, Pure
from ..sampling.random_words import random_words
from ..sampling.short_floats import require_doubles
from ..table.table import TabulatedMechanism

MECHANISMS_REMEMBERED = 16
"""Proofs kept in mind: a service uses a few mechanisms for all its users."""


@dataclass(frozen=True)
class BookedMechanism:
    """A mechanism that was proved private by whole numbers.

    Attributes
    ----------
    checksum : bytes
        That of its document: other mechanisms' reports are others.
    epsilon : float
        What a report costs.
    mechanism : Channel
    """

    checksum: bytes
    epsilon: float
    mechanism: Channel

    def content(self, value: object) -> bytes:
        """Return a value as bytes, equal values alike, or raise InputError without showing it."""
        require_doubles(value)  # 0.1 of a float32 is another value, and would be spent again
        return self.mechanism.inputs.content(value)

    def draw(self, content: bytes) -> bytes:
        """Draw a report by the operating system's generator and return it as text."""
        made, words = self.mechanism, random_words(None)
        held = made.inputs.sampled(made.inputs.of_content(content), words)
        return made.to_text(made.draw(held, words))[0].encode()

    def read(self, text: bytes) -> Any:
        """Return the report of such a text."""
        return self.mechanism.report_of(text.decode())


def booked(mechanism: object) -> BookedMechanism:
    """Return a mechanism, or that of a sampler, in the form that a ledger books.

    Raises
    ------
    TableError
        It is not exact, or not proved to keep its promise, or promises nothing of some pair of values.
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
    if not isinstance(mechanism, Channel) or mechanism.promise is None:
        raise InputError(
            "a ledger books tables and mechanisms for categories, pairs and attributes, "
            f"got {type(mechanism).__name__}: where users have levels, book the mechanism of the level"
        )
    return _proved(mechanism)


@lru_cache(maxsize=MECHANISMS_REMEMBERED)
def _proved(mechanism: Channel) -> BookedMechanism:
    """Prove a mechanism, once for all its users; those that are equal, number by number, are one."""
    if failures := failures_of(mechanism):
        raise TableError(failures[0])
    return BookedMechanism(checksum(document_of(mechanism)).encode(), _cost(mechanism), mechanism)


def _cost(mechanism: Channel) -> float:
    """The epsilon of pure privacy that a report costs: of a promise of pairs the largest log-ratio, proved as well."""
    promise = mechanism.promise
    table = isinstance(mechanism, TabulatedMechanism)
    if not isinstance(promise, OfPairs) or not (table or isinstance(mechanism, CategoricalTable)):
        if not isinstance(promise, Pure):
            raise TableError(f"a ledger books pure privacy, got a table that promises {promise}")
        return promise.epsilon
    values = mechanism.knots if table else np.arange(len(mechanism.categories))
    most = float(promise.limits(values).max())
    if most > MAX_EPSILON:
        raise TableError(
            f"a ledger books the largest log-ratio of two values, at most {MAX_EPSILON:g}, got {most:g} of a table "
            f"that promises {promise}"
        )
    if table:
        require_proved(mechanism, epsilon=most)
    else:
        replace(mechanism, epsilon=most, promise=Pure(most)).require_private()
    return most
