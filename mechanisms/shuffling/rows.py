"""What the rows of an exact mechanism have for mixing: ratios, variations, and what others' rows are sure to share."""

from __future__ import annotations

from fractions import Fraction
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from ..categorical import CategoricalTable
from ..compact_tables import FloorForm
from ..integers.numerators import DENOMINATOR
from ..table.table import TabulatedMechanism

SHARED = Fraction(9, 10)
"""Pairs whose others share this much of what they have alike are bounded apart from the rest."""

LOOKED_AT = 2**15
"""Entries of pairs of rows that are looked at one by one in whole numbers."""


@singledispatch
def numerators_of(channel: Any) -> np.ndarray | None:
    """Return the exact law (K, m) over 2^53 of whatever one user may report; None where it is not written down.

    Example
    -------
    >>> from optldp.mechanisms.categorical import categorical_grr
    >>> numerators_of(categorical_grr(["yes", "no"], 1.0)).shape, numerators_of("something else")
    ((2, 2), None)
    """
    return None


@numerators_of.register
def _(channel: TabulatedMechanism) -> np.ndarray:
    return channel.numerators


@numerators_of.register
def _(channel: CategoricalTable) -> np.ndarray:
    return channel.numerators


@numerators_of.register
def _(channel: FloorForm) -> np.ndarray:
    return channel.expand().numerators


class Pairs(NamedTuple):
    """Pairs of rows that are bounded together: their largest variation, and the least share of `Clones`."""

    beta: Fraction
    shared: Fraction


def largest_ratio(numerators: np.ndarray) -> Fraction | None:
    """Return the largest ratio of two numerators of an output; None where it is infinite.

    Example
    -------
    >>> largest_ratio(np.array([[3, 1, 0], [1, 3, 0]]))
    Fraction(3, 1)
    """
    possible = numerators[:, numerators.max(axis=0) > 0]
    ends = zip(possible.max(axis=0).tolist(), possible.min(axis=0).tolist(), strict=True)
    ratios = [(largest, smallest) for largest, smallest in ends]
    if any(smallest == 0 for _, smallest in ratios):
        return None
    return max(Fraction(largest, smallest) for largest, smallest in ratios)


def pairs_of(numerators: np.ndarray, p: Fraction) -> list[Pairs]:
    """Return pairs of rows (K, m) in one group or two: those of the largest variations, if others share much, and all.

    Example
    -------
    >>> eighths = np.array([[3, 1, 2, 2], [1, 3, 2, 2], [1, 1, 4, 2]]) * 2**50
    >>> pairs_of(eighths, Fraction(3))
    [Pairs(beta=Fraction(1, 4), shared=Fraction(1, 3))]
    """
    variations = _variations(numerators)
    rows, others = np.triu_indices(len(numerators), 1)
    order = np.argsort(-variations[rows, others], kind="stable")
    first, rest = order[:0], Fraction(1, 1) / p
    least = Fraction(1)
    floor = numerators.min(axis=0)
    for done, pair in enumerate(order[: LOOKED_AT // max(numerators.shape[1], 1)].tolist()):
        shared = _shared(numerators[rows[pair]], numerators[others[pair]], floor, p)
        if shared < SHARED:
            break
        least, first = min(least, shared), order[: done + 1]
    groups = [(first, least), (order[first.size :], rest)]
    return [
        Pairs(Fraction(int(variations[rows[some[0]], others[some[0]]]), DENOMINATOR), shared)
        for some, shared in groups
        if some.size
    ]


def _variations(numerators: np.ndarray) -> np.ndarray:
    """The total variation of every two rows (K, K), over 2^53."""
    return np.array([np.maximum(numerators - row, 0).sum(axis=1) for row in numerators])


def _shared(one: np.ndarray, other: np.ndarray, floor: np.ndarray, p: Fraction) -> Fraction:
    """The largest s with alpha U + alpha U' + s g V at most the floor, as in `upper`; at most 1."""
    a, b = p.as_integer_ratio()
    least = Fraction(1)
    for x, y, rest in zip(one.tolist(), other.tolist(), floor.tolist(), strict=True):
        alike = a * min(x, y) - b * max(x, y)
        if alike > 0:
            least = min(least, Fraction((a - b) * rest - b * abs(x - y), alike))
    return least
