"""How much a report says about the privacy level that its user chose, whatever the value is."""

import math
from collections.abc import Sequence
from itertools import permutations
from typing import TypeVar

import numpy as np

from ..categorical.local_hashing import LocalHashing
from ..categorical.subset_selection import SubsetSelection
from ..categorical.table import CategoricalTable
from ..categorical.unary_encoding import UnaryEncoding
from ..errors import InputError, unwired
from ..key_value.mechanism import KeyValueMechanism
from ..key_value.response import KeyValueResponse, likeliest_pair
from ..key_value.unary import KeyValueUnary
from ..table.table import TabulatedMechanism
from .attributes import AttributeSampling

Kind = TypeVar("Kind")


def report_leakage(levels: Sequence[object]) -> float:
    """Return the largest log-ratio of two levels' probabilities of a report of the same value.

    max over i, i', x, y of log(Pr(y | x, i) / Pr(y | x, i')): by bits for unary encodings, by numerators for tables,
    hashing and subsets.  Tables of numbers whose outputs are not the same, or whose law within outputs differs between
    rows, are taken to tell levels apart for certain.  Of several attributes: the sum of the k largest.  Of pairs, whose
    reports tell outputs by their numbers: over all sets of pairs that a user may hold; a bound where a place stands for
    each key and users hold more than one pair.

    Parameters
    ----------
    levels : sequence of mechanisms of one kind
        As `PersonalisedMechanism`, `PersonalisedAttributes` or `PersonalisedPairs` has them.

    Raises
    ------
    InputError
        A kind of mechanism that this has no rule for.

    Example
    -------
    >>> from ..categorical.unary_encoding import basic_rappor
    >>> round(report_leakage([basic_rappor(["a", "b"], 0.5), basic_rappor(["a", "b"], 1.0)]), 4)
    0.2963
    """
    if tables := _those(TabulatedMechanism, levels):
        return max(_of_table(tables[i], tables[k]) for i, k in _pairs(levels))
    if attributes := _those(AttributeSampling, levels):
        return _of_attributes(attributes)
    if pairs := _those(KeyValueMechanism, levels):
        if isinstance(pairs[0], KeyValueUnary):
            return _of_unary_pairs(pairs)
        if isinstance(pairs[0], KeyValueResponse):
            return _of_pair_responses(pairs)
        raise unwired("pairs", pairs[0])
    if encodings := _those(UnaryEncoding, levels):
        return _of_encodings(encodings)
    if categorical := _those(CategoricalTable, levels):
        laws = [level.probabilities for level in categorical]
    elif hashing := _those(LocalHashing, levels):
        laws = [np.array([level.own_support, (1.0 - level.own_support) / (level.n_values - 1)]) for level in hashing]
    elif subsets := _those(SubsetSelection, levels):
        laws = [np.array([level.own_support, 1.0 - level.own_support]) for level in subsets]
    else:
        raise InputError(f"levels must be tables, oracles for categories, attributes or pairs, got {levels[0]!r}")
    return max(_largest(laws[i], laws[k]) for i, k in _pairs(levels))


def _of_encodings(levels: Sequence[UnaryEncoding]) -> float:
    """Bits are independent, so that the largest ratio is that of the own bit times those of all others."""
    own = np.array([(level.own_support, 1.0 - level.own_support) for level in levels])
    other = np.array([(level.other_support, 1.0 - level.other_support) for level in levels])
    others = len(levels[0].categories) - 1
    return max(_largest(own[i], own[k]) + others * _largest(other[i], other[k]) for i, k in _pairs(levels))


def _of_attributes(levels: Sequence[AttributeSampling]) -> float:
    """Reports of attributes are independent given their values: the k that tell most are drawn together by somebody."""
    sampled, places = levels[0].sampled, range(len(levels[0].attributes))
    largest = 0.0
    for i, k in _pairs(levels):
        told = [_of_table(levels[i].mechanisms[place], levels[k].mechanisms[place]) for place in places]
        largest = max(largest, sum(sorted(told)[-sampled:]))
    return largest


def _of_unary_pairs(levels: Sequence[KeyValueMechanism]) -> float:
    """Places are independent given the pair: the own one, or none where a dummy was sampled, and those of other keys.

    A set is a mixture of its pairs with the same shares at all levels, and cannot exceed them.
    """
    others, largest = len(levels[0].keys) - 1, 0.0
    for i, k in _pairs(levels):
        (own, other), (own_there, other_there) = _places(levels[i]), _places(levels[k])
        each = _largest(other, other_there)
        mine = max(_largest(own, own_there), each if levels[i].padding else 0.0)
        largest = max(largest, mine + others * each)
    return largest


def _places(level: KeyValueMechanism) -> tuple[np.ndarray, np.ndarray]:
    """What the own place shows, nothing or an output, by the value (n, 1 + m), and what another one does (1 + m,)."""
    shown = level.own_shown * level.value.probabilities
    own = np.hstack([np.full((len(shown), 1), 1.0 - level.own_shown), shown])
    return own, np.append(1.0 - level.other_shown, level.other_shown * level.fake_law)


def _of_pair_responses(levels: Sequence[KeyValueMechanism]) -> float:
    """One place: of a key that is sampled as often as can be, of a key that never is, or of a dummy, likewise."""
    share = float(likeliest_pair(levels[0].padding))
    laws = []
    for level in levels:
        other = level.other_shown * level.fake_law
        sampled = share * level.own_shown * level.value.probabilities + (1.0 - share) * other
        dummy = (share * level.own_shown + (1.0 - share) * level.other_shown) * level.fake_law
        laws.append(np.vstack([other, sampled, *([dummy] if level.padding else [])]))
    return max(_largest(laws[i], laws[k]) for i, k in _pairs(levels))


def _of_table(table: TabulatedMechanism, other: TabulatedMechanism) -> float:
    same = (np.array_equal(getattr(table, name), getattr(other, name)) for name in ("knots", "low", "high"))
    if not all(same) or table.within.kind != "uniform" or other.within.kind != "uniform":
        return math.inf
    return _largest(table.probabilities, other.probabilities)


def _those(kind: type[Kind], levels: Sequence[object]) -> list[Kind]:
    return [level for level in levels if isinstance(level, kind)]


def _pairs(levels: Sequence[object]) -> list[tuple[int, int]]:
    return list(permutations(range(len(levels)), 2))


def _largest(law: np.ndarray, other: np.ndarray) -> float:
    """Largest log-ratio of the two, entry by entry, where the first is possible."""
    possible = law > 0
    if (other[possible] == 0).any():
        return math.inf
    return float(np.log(law[possible] / other[possible]).max())
