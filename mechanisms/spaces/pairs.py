"""The pairs that users hold: missing halves, sets, and the one pair of each set that is sampled."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..sampling.domain import values_inside
from ..sampling.law import Words
from ..sampling.random_words import draw53
from .categories import Categories
from .interval import Interval, plain_number
from .space import Space, require_no_clip

Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]
"""The holder, the key's position and the value of each pair, three (P,) arrays, holders in rising order."""


@dataclass(frozen=True, eq=False)
class HeldSets:
    """Sets of pairs of N users, checked.

    Parameters
    ----------
    holders, codes, values : (P,) ndarray
        The holder, the key's position and the value of each pair, holders in rising order.
    n_users : int
        N; users without a row hold no pair.
    """

    holders: np.ndarray
    codes: np.ndarray
    values: np.ndarray
    n_users: int

    def __len__(self) -> int:
        return self.n_users


@dataclass(frozen=True, eq=False)
class SampledPairs:
    """The one pair of each user that a report is drawn of.

    Parameters
    ----------
    places : (N,) ndarray of int
        The key's position; dummies follow the keys.
    values : (N,) ndarray
        Held there; that of a dummy is never looked at.
    """

    places: np.ndarray
    values: np.ndarray

    def __len__(self) -> int:
        return self.places.size

    def __getitem__(self, users: np.ndarray) -> SampledPairs:
        return SampledPairs(self.places[users], self.values[users])


@dataclass(frozen=True, eq=False)
class SetsOfPairs(Space):
    """Sets of pairs of a key and a number, no key twice in a set.

    A user of s pairs samples each with probability 1 / max(s, padding, 1), else one of `padding` dummy keys.

    Parameters
    ----------
    keys : Categories
    interval : Interval
        Of the numbers.
    padding : int
        Pairs that a user may hold without losing any; 0 where every user holds exactly one.

    Example
    -------
    >>> space = SetsOfPairs(Categories(["cook", "smith"]), Interval(0.0, 60.0), 1)
    >>> space.admitted((["smith", ""], [20.0, float("nan")])).codes
    array([1])
    """

    keys: Categories
    interval: Interval
    padding: int

    def admitted(self, values: tuple[ArrayLike, ArrayLike] | HeldSets, *, clip: bool = False) -> HeldSets:
        """Return the pairs of users who hold one each or, if there is padding, none: keys (N,) and numbers (N,).

        Keys are labels, empty text or None for a user without a pair, whose number is NaN. Sets are given as `of_sets`
        makes them.
        """
        require_no_clip("pairs", clip=clip)
        if isinstance(values, HeldSets):
            return values
        keys, numbers = values
        return HeldSets(*pairs_of_users(self.keys, self.interval.domain, keys, numbers), np.size(np.asarray(keys)))

    def of_sets(self, users: ArrayLike, keys: ArrayLike, values: ArrayLike, n_users: int) -> HeldSets:
        """Return the pairs of users who hold any number of them, all listed in one long table."""
        return HeldSets(*pairs_of_sets(self.keys, self.interval.domain, users, keys, values, n_users), n_users)

    def sampled(self, held: HeldSets, words: Words) -> SampledPairs:
        """Sample one pair of each user; InputError for a user without one where padding is 0."""
        pair, dummy = sampled_pairs(held.holders, held.n_users, self.padding, words)
        real = pair >= 0
        places = len(self.keys) + dummy
        places[real] = held.codes[pair[real]]
        values = np.full(held.n_users, self.interval.low)  # what a dummy holds is never looked at
        values[real] = held.values[pair[real]]
        return SampledPairs(places, values)

    def content(self, value: object) -> bytes:
        """Return a mapping of known keys to numbers as bytes, by rising positions of the keys."""
        low, high = self.interval.domain
        held = dict(value) if isinstance(value, Mapping) else {None: None}
        pairs = {self.keys.code(key): plain_number(number, low, high) for key, number in held.items()}
        if None in pairs or None in pairs.values() or len(pairs) < len(held):
            raise InputError(
                f"the value must map known keys to numbers in [{low:g}, {high:g}], got another: correct it"
            )
        if not self.padding and len(pairs) != 1:
            raise InputError("the value must be one pair, as there is no padding, got another number of them")
        return b"".join(struct.pack("<qd", *pair) for pair in sorted(pairs.items()))

    def of_content(self, content: bytes) -> HeldSets:
        """Return the set of one user."""
        pairs = [*struct.iter_unpack("<qd", content)]
        codes = np.array([code for code, _ in pairs], dtype=np.int64)
        numbers = np.array([number for _, number in pairs], dtype=float)
        return HeldSets(np.zeros(len(pairs), dtype=np.int64), codes, numbers, 1)


def pairs_of_users(categories: Categories, domain: tuple[float, float], keys: ArrayLike, values: ArrayLike) -> Pairs:
    """Return the pairs of users who hold one pair or none: an empty key and NaN.

    Raises
    ------
    InputError
        Half a pair, lists of different lengths, an unknown key, a value outside the domain.

    Example
    -------
    >>> pairs_of_users(Categories(["a", "b"]), (0.0, 1.0), ["b", "", "a"], [0.5, float("nan"), 1.0])
    (array([0, 2]), array([1, 0]), array([0.5, 1. ]))
    """
    labels, numbers = _same_length(keys, values)
    no_key, no_value = _no_text(labels), np.isnan(numbers)
    for bad, half, other in ((no_key & ~no_value, "value", "key"), (~no_key & no_value, "key", "value")):
        _require_none(bad, f"a key-value report with a {half} must have a {other}", f"add it, or drop the {half}")
    users = np.flatnonzero(~no_key)
    return users, categories.codes(labels[users]), values_inside(numbers[users], *domain)


def pairs_of_sets(
    categories: Categories,
    domain: tuple[float, float],
    users: ArrayLike,
    keys: ArrayLike,
    values: ArrayLike,
    n_users: int,
) -> Pairs:
    """Return the pairs of users who hold any number of them, sorted by holder; O(P log P).

    Raises
    ------
    InputError
        What `pairs_of_users` raises; a missing pair, holders that are not 0..n_users - 1, a key held twice.

    Example
    -------
    >>> pairs_of_sets(Categories(["a", "b"]), (0.0, 1.0), [2, 0, 2], ["b", "b", "a"], [0.1, 0.2, 0.3], 3)
    (array([0, 2, 2]), array([1, 1, 0]), array([0.2, 0.1, 0.3]))
    """
    rows, codes, inside = pairs_of_users(categories, domain, keys, values)
    holders = np.asarray(users)
    if holders.ndim != 1 or (holders.size and not np.issubdtype(holders.dtype, np.integer)):
        raise InputError(f"users must be one-dimensional integers, got shape {holders.shape} of {holders.dtype}")
    if holders.size != np.size(np.asarray(keys)):
        raise InputError(f"users must be as many as keys, got {holders.size} and {np.size(np.asarray(keys))}")
    if rows.size < holders.size:
        missing = holders.size - rows.size
        raise InputError(f"a row of a set must have a pair, got {missing} without: leave out the rows of such users")
    if holders.size and not (holders.min() >= 0 and holders.max() < n_users):
        raise InputError(f"users must lie in 0..{n_users - 1}, got {int(holders.min())} to {int(holders.max())}")
    holders = holders.astype(np.int64)
    pair_ids = holders * len(categories) + codes
    if (repeated := pair_ids.size - np.unique(pair_ids).size) > 0:
        raise InputError(f"a user must hold a key once at most, got {repeated} repeated pairs: average their values")
    order = np.argsort(holders, kind="stable")
    return holders[order], codes[order], inside[order]


def sampled_pairs(users: np.ndarray, n_users: int, padding: int, words: Words) -> tuple[np.ndarray, np.ndarray]:
    """Sample one pair of each user, or a dummy: each of s pairs with probability 1 / max(s, padding, 1).

    A number of 53 random bits modulo that size decides, so no pair is likelier than 2^53 / size rounded up, over 2^53.

    Parameters
    ----------
    users : (P,) ndarray of int
        The holder of each pair, rising.
    n_users, padding : int
    words : Words

    Returns
    -------
    pair, dummy : (N,) ndarray of int
        The position of the user's pair, or -1; the number of the dummy key where there is no pair.

    Raises
    ------
    InputError
        Without padding, a user who holds no pair.

    Source: Gu et al. (2020), padding and sampling; there a user of fewer pairs has more dummies to choose from.

    Example
    -------
    >>> from ..sampling.random_words import random_words
    >>> sampled_pairs(np.array([0, 2]), 3, 1, random_words(None))
    (array([ 0, -1,  1]), array([0, 0, 0]))
    """
    held = np.bincount(users, minlength=n_users)
    if not padding:
        _require_none(held == 0, "every user must hold a pair where padding is 0", "make the mechanism with padding=1")
    size = np.maximum(held, max(padding, 1))
    number = draw53(words, n_users) % size
    first = np.cumsum(held) - held
    return np.where(number < held, first + number, -1), number


def _same_length(keys: ArrayLike, values: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    labels = np.asarray(keys)
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("values must be numbers, NaN where there is none, got something else among them") from None
    if labels.ndim != 1 or labels.shape != numbers.shape:
        raise InputError(f"keys and values must be lists of one length, got shapes {labels.shape} and {numbers.shape}")
    return labels, numbers


def _no_text(labels: np.ndarray) -> np.ndarray:
    if labels.dtype == object:
        return (labels == None) | (labels == "")  # noqa: E711 -- elementwise
    return labels == "" if labels.dtype.kind == "U" else np.zeros(labels.shape, dtype=bool)


def _require_none(bad: np.ndarray, requirement: str, cure: str) -> None:
    if bad.any():
        raise InputError(f"{requirement}, got {int(bad.sum())} without, first in row {int(np.argmax(bad)) + 1}: {cure}")
