"""The fake law of key-value reports: what is shown at keys that a user does not hold."""

from fractions import Fraction
from typing import TypeVar

import numpy as np

from ..compact_tables.floor_and_windows import table_of
from ..errors import TableError
from ..exactness.make_exact import make_exact
from ..integers.numerators import DENOMINATOR
from ..table.table import TabulatedMechanism
from .mechanism import KeyValueMechanism

Made = TypeVar("Made", bound=KeyValueMechanism)


def exact_table(value: TabulatedMechanism) -> TabulatedMechanism:
    """Return the exact form of a value table; InputError for what is none, TableError for one that is not private."""
    table = table_of(value, "the mechanism of values")
    return table if table.exact else make_exact(table).mechanism


def fake_numerators(table: TabulatedMechanism) -> np.ndarray:
    """Return D over 2^53, proportional to the largest probability of each output, (m,) int64.

    Numerators are rounded down but for outputs that need one unit; the commonest output takes the rest, so that its
    ratio, if any, errs to less than c.

    Parameters
    ----------
    table : TabulatedMechanism
        Exact.

    Example
    -------
    >>> from ..families.duchi import duchi
    >>> fake_numerators(exact_table(duchi([0.0, 1.0], 1.0))) / 2**53
    array([0.5, 0.5])
    """
    largest = table.numerators.max(axis=0)
    most = largest.tolist()
    total = sum(most)
    fake = np.array([max(DENOMINATOR * one // total, 1) if one else 0 for one in most], dtype=np.int64)
    fake[largest.argmax()] += DENOMINATOR - fake.sum()
    return fake


def largest_odds(table: TabulatedMechanism, fake: np.ndarray) -> Fraction:
    """Return max over v and o of M(o | v) / D(o), which is c but for rounding.

    Example
    -------
    >>> from ..families.duchi import duchi
    >>> table = exact_table(duchi([0.0, 1.0], 1.0))
    >>> round(float(largest_odds(table, fake_numerators(table))), 6)
    1.462117
    """
    pairs = zip(table.numerators.max(axis=0).tolist(), fake.tolist(), strict=True)
    return max(Fraction(most, one) for most, one in pairs if one)


def checked_mechanism(made: Made) -> Made:
    """Return a mechanism that keeps its promise, or raise TableError with the cure."""
    if failures := made.failures():
        raise TableError(f"{failures[0]}: the value table spends too much, give it a smaller epsilon")
    return made
