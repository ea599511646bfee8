"""What an exact mechanism has for mixing: ratios and variations of its rows, and what others are sure to share."""

from __future__ import annotations

from fractions import Fraction
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from ..categorical import CategoricalTable
from ..categorical.mechanism import PureProtocol
from ..compact_tables import FloorForm
from ..integers.numerators import DENOMINATOR
from ..table.table import TabulatedMechanism
from ..third_party import SeededHashing

SHARED = Fraction(9, 10)
"""Pairs whose others share this much of what they have alike are bounded apart from the rest."""

ROUNDED = Fraction(1, 2**50)
"""No less than two probabilities in doubles are off by together."""

DUST = 2**40
"""One part in so many of what two rows have alike may be left out at an output."""

LOOKED_AT = 2**20
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
    """Pairs of rows that are bounded together: largest variation, least share, and most that is left out of V."""

    beta: Fraction
    shared: Fraction
    left_out: Fraction = Fraction(0)


class Ratios(NamedTuple):
    """The largest ratio of two values' reports, and groups of pairs that are all pairs, the largest variation first."""

    p: Fraction
    pairs: tuple[Pairs, ...]


@singledispatch
def ratios_of(channel: Any) -> Ratios | None:
    """Return what is known of a mechanism beyond its budget; None for nothing, or where a ratio is infinite.

    Of tables it is what their numerators say. Where reports support values and say nothing more, those of two values
    differ by p* - q*: a value is supported so much less often under another one, and all else is as likely.

    Example
    -------
    >>> from optldp.mechanisms.categorical import basic_rappor, categorical_grr
    >>> [round(float(ratios_of(make("abc", 2.0)).pairs[0].beta), 4) for make in (categorical_grr, basic_rappor)]
    [0.6805, 0.4621]
    """
    numerators = numerators_of(channel)
    p = None if numerators is None else largest_ratio(numerators)
    if numerators is None or p is None:
        return None
    return Ratios(p, tuple(pairs_of(numerators, p)) if p > 1 else (Pairs(Fraction(0), Fraction(1)),))


@ratios_of.register
def _(channel: PureProtocol) -> Ratios | None:
    return _of_supports(channel.largest_ratio, channel.own_support, channel.other_support)


@ratios_of.register
def _(channel: SeededHashing) -> Ratios | None:
    """Two categories may have different hashes under all seeds, whatever is so on average over categories."""
    return _of_supports(channel.largest_ratio, channel.own_support, (1 - channel.own_support) / (channel.n_values - 1))


def _of_supports(p: Fraction | None, own: float, other: float) -> Ratios | None:
    if p is None:
        return None
    beta = Fraction(own) - Fraction(other) + ROUNDED
    return Ratios(p, (Pairs(min(beta, (p - 1) / (p + 1)), 1 / p),))


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
    >>> [(float(beta), round(float(shared), 6)) for beta, shared, _ in pairs_of(eighths, Fraction(3))]
    [(0.25, 1.0)]
    """
    variations = _variations(numerators)
    rows, others = np.triu_indices(len(numerators), 1)
    order = np.argsort(-variations[rows, others], kind="stable")
    first, rest = order[:0], Fraction(1, 1) / p
    least, left_out = Fraction(1), Fraction(0)
    floor = numerators.min(axis=0)
    for done, pair in enumerate(order[: LOOKED_AT // max(numerators.shape[1], 1)].tolist()):
        shared, dust = _shared(numerators[rows[pair]], numerators[others[pair]], floor, p)
        if shared < SHARED:
            break
        least, left_out, first = min(least, shared), max(left_out, dust), order[: done + 1]
    groups = [(first, least, left_out), (order[first.size :], rest, Fraction(0))]
    return [
        Pairs(Fraction(int(variations[rows[some[0]], others[some[0]]]), DENOMINATOR), shared, dust)
        for some, shared, dust in groups
        if some.size
    ]


def _variations(numerators: np.ndarray) -> np.ndarray:
    """The total variation of every two rows (K, K), over 2^53."""
    return np.array([np.maximum(numerators - row, 0).sum(axis=1) for row in numerators])


def _shared(one: np.ndarray, other: np.ndarray, floor: np.ndarray, p: Fraction) -> tuple[Fraction, Fraction]:
    """The largest s with alpha U + alpha U' + s g V at most the floor, as in `upper`; at most 1.

    Outputs of a few numerators, of which solvers leave some, may share little: they are left out, and their mass of V
    is returned beside s.
    """
    a, b = p.as_integer_ratio()
    apart = b * np.abs(one - other).astype(object)  # beyond 64 bits
    alike = a * np.minimum(one, other).astype(object) - b * np.maximum(one, other).astype(object)
    of_them = alike > 0
    shares = ((a - b) * floor.astype(object) - apart)[of_them] / alike[of_them]  # each the nearest double
    dust = (shares < float(SHARED)) & (alike[of_them] * DUST < (a - b) * DENOMINATOR).astype(bool)
    left_out = Fraction(int(alike[of_them][dust].sum()), (a - b) * DENOMINATOR)
    return Fraction(min(shares[~dust].min(initial=1.0), 1.0)) * (1 - ROUNDED), left_out
