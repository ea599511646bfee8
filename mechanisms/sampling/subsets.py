"""Random choices of some things out of many, all alike, by whole numbers: for attributes and sets of categories.

Every choice takes as many words, whatever was chosen: only words that would favour some number are drawn again.
"""

import numpy as np

from .law import Words

ALL_WORDS = 2**64
"""How many random words there are."""


def random_choices(users: int, size: int, chosen: int, words: Words) -> np.ndarray:
    """Return which of `size` things each user has drawn, (N, chosen) int32, all different, all orders alike.

    The first steps of a Fisher-Yates shuffle, for all users at once; O(N size).  As the order is random too, the first
    few of a row are a choice of so few.

    Example
    -------
    >>> from .random_words import random_words
    >>> np.sort(random_choices(2, 3, 3, random_words(None)))
    array([[0, 1, 2],
           [0, 1, 2]], dtype=int32)
    """
    everyone = np.arange(users)
    order = np.tile(np.arange(size, dtype=np.int32), (users, 1))
    for place in range(chosen):
        other = place + uniform_below(size - place, users, words)
        drawn = order[everyone, other]
        order[everyone, other] = order[:, place]
        order[:, place] = drawn
    return order[:, :chosen]


def random_subsets(users: int, size: int, sampled: int, words: Words) -> np.ndarray:
    """Return which of `size` things each user has drawn, (N, size) bool with `sampled` in each row, all sets alike.

    Example
    -------
    >>> from .random_words import random_words
    >>> random_subsets(2, 5, 3, random_words(None)).sum(axis=1)
    array([3, 3])
    """
    chosen = np.zeros((users, size), dtype=bool)
    chosen[np.arange(users)[:, None], random_choices(users, size, sampled, words)] = True
    return chosen


def uniform_below(bound: int, size: int, words: Words) -> np.ndarray:
    """Draw (size,) whole numbers from 0 to bound - 1, all equally likely; words that would favour some are drawn again.

    Example
    -------
    >>> from .random_words import random_words
    >>> bool((uniform_below(3, 1000, random_words(None)) < 3).all())
    True
    """
    last = np.uint64(ALL_WORDS - ALL_WORDS % bound - 1)
    drawn = words(size).copy()
    while (again := np.flatnonzero(drawn > last)).size:
        drawn[again] = words(again.size)
    return (drawn % np.uint64(bound)).astype(np.int64)
