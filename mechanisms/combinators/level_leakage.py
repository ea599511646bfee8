"""How much a report says about the privacy level that its user chose, whatever the value is."""

import math
from collections.abc import Sequence
from functools import singledispatch
from itertools import permutations
from typing import Any

import numpy as np

from ..categorical.local_hashing import LocalHashing
from ..categorical.projective_geometry import ProjectiveGeometry
from ..categorical.subset_selection import SubsetSelection
from ..categorical.table import CategoricalTable
from ..categorical.unary_encoding import UnaryEncoding
from ..errors import InputError
from ..key_value.response import KeyValueResponse, likeliest_pair
from ..key_value.unary import KeyValueUnary
from ..table.table import TabulatedMechanism
from .attribute_sampling import AttributeSampling


def report_leakage(levels: Sequence[Any]) -> float:
    """Return the largest log-ratio of two levels' probabilities of a report of the same value.

    max over i, i', x, y of log(Pr(y | x, i) / Pr(y | x, i')): by bits for unary encodings, by numerators for tables,
    hashing, subsets and points.  Tables of numbers whose outputs are not the same, or whose law within outputs differs
    between rows, are taken to tell levels apart for certain.  Of several attributes: the sum of the k largest.  Of
    pairs, whose reports tell outputs by their numbers: over all sets of pairs that a user may hold; a bound where a
    place stands for each key and users hold more than one pair.

    Parameters
    ----------
    levels : sequence of mechanisms of one kind
        As `PersonalisedMechanism` has them.

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
    return max(_log_ratio(one, other) for one, other in permutations(levels, 2))


@singledispatch
def _log_ratio(one: object, other: Any) -> float:
    """The largest log-ratio of a report of one level to that of the other, over reports and values."""
    raise InputError(f"levels must be tables, oracles for categories, attributes or pairs, got {one!r}")


@_log_ratio.register
def _(one: TabulatedMechanism, other: TabulatedMechanism) -> float:
    same = (np.array_equal(getattr(one, name), getattr(other, name)) for name in ("knots", "low", "high"))
    if not all(same) or one.within.kind != "uniform" or other.within.kind != "uniform":
        return math.inf
    return _largest(one.probabilities, other.probabilities)


@_log_ratio.register
def _(one: CategoricalTable, other: CategoricalTable) -> float:
    return _largest(one.probabilities, other.probabilities)


@_log_ratio.register
def _(one: LocalHashing, other: LocalHashing) -> float:
    laws = (np.array([each.own_support, (1.0 - each.own_support) / (each.n_values - 1)]) for each in (one, other))
    return _largest(*laws)


@_log_ratio.register(SubsetSelection | ProjectiveGeometry)
def _(one: SubsetSelection | ProjectiveGeometry, other: SubsetSelection | ProjectiveGeometry) -> float:
    return _largest(*(np.array([each.own_support, 1.0 - each.own_support]) for each in (one, other)))


@_log_ratio.register
def _(one: UnaryEncoding, other: UnaryEncoding) -> float:
    """Bits are independent, so that the largest ratio is that of the own bit times those of all others."""
    own, others = (
        _largest(*(np.array([share, 1.0 - share]) for share in shares))
        for shares in ((one.own_support, other.own_support), (one.other_support, other.other_support))
    )
    return own + (len(one.categories) - 1) * others


@_log_ratio.register
def _(one: AttributeSampling, other: AttributeSampling) -> float:
    """Reports of attributes are independent given their values: the k that tell most are drawn together by somebody."""
    told = [_log_ratio(mine, theirs) for mine, theirs in zip(one.mechanisms, other.mechanisms, strict=True)]
    return sum(sorted(told)[-one.sampled :])


@_log_ratio.register
def _(one: KeyValueUnary, other: KeyValueUnary) -> float:
    """Places are independent given the pair: the own one, or none where a dummy was sampled, and those of other keys.

    A set is a mixture of its pairs with the same shares at all levels, and cannot exceed them.
    """
    (own, elsewhere), (own_there, elsewhere_there) = _places(one), _places(other)
    each = _largest(elsewhere, elsewhere_there)
    mine = max(_largest(own, own_there), each if one.padding else 0.0)
    return mine + (len(one.keys) - 1) * each


@_log_ratio.register
def _(one: KeyValueResponse, other: KeyValueResponse) -> float:
    """One place: of a key that is sampled as often as can be, of a key that never is, or of a dummy, likewise."""
    return _largest(_pair_law(one), _pair_law(other))


def _places(level: KeyValueUnary) -> tuple[np.ndarray, np.ndarray]:
    """What the own place shows, nothing or an output, by the value (n, 1 + m), and what another one does (1 + m,)."""
    shown = level.own_shown * level.value.probabilities
    own = np.hstack([np.full((len(shown), 1), 1.0 - level.own_shown), shown])
    return own, np.append(1.0 - level.other_shown, level.other_shown * level.fake_law)


def _pair_law(level: KeyValueResponse) -> np.ndarray:
    """What the place of a key shows that is never sampled, or as often as can be, and that of a dummy."""
    share = float(likeliest_pair(level.padding))
    other = level.other_shown * level.fake_law
    sampled = share * level.own_shown * level.value.probabilities + (1.0 - share) * other
    dummy = (share * level.own_shown + (1.0 - share) * level.other_shown) * level.fake_law
    return np.vstack([other, sampled, *([dummy] if level.padding else [])])


def _largest(law: np.ndarray, other: np.ndarray) -> float:
    """Largest log-ratio of the two, entry by entry, where the first is possible."""
    possible = law > 0
    if (other[possible] == 0).any():
        return math.inf
    return float(np.log(law[possible] / other[possible]).max())
