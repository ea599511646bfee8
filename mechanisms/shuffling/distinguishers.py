"""Which values and which classes of outputs are told apart best, to be tried in earnest."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..integers.numerators import DENOMINATOR
from .lower import Distinguisher

MOST_PAIRS = 64
"""Pairs of values that are tried with every value of the rest: those of the largest total variation."""

MOST_CLASSED, MOST_TRIED = 48, 3
"""Of these the ones whose outputs are put in classes, and the ones that are bounded in earnest."""


MOST_CUTS = 256
"""Places where outputs in their order may be cut."""


class _Three(NamedTuple):
    """Two values of a user and that of all others, by their rows."""

    one: int
    other: int
    rest: int


def likely_best(numerators: np.ndarray) -> list[Distinguisher]:
    """Return some distinguishers of a mechanism with these numerators (K, m) over 2^53, the likely best ones.

    For many users the best have the largest sum of (P - P')^2 / z over their classes, which ranks them. Any is a bound.

    Example
    -------
    >>> [made.rest for made in likely_best(np.array([[3, 1], [1, 3]]) * 2**51)][0]
    (Fraction(3, 4), Fraction(1, 4), Fraction(0, 1))
    """
    law = numerators[:, numerators.max(axis=0) > 0] / DENOMINATOR
    variations = np.array([np.abs(law - row).sum(axis=1) for row in law])
    one, other = np.triu_indices(len(law), 1)
    order = np.argsort(-variations[one, other], kind="stable")[:MOST_PAIRS]
    first = np.concatenate([one[order], other[order]])  # the user may hold either
    second = np.concatenate([other[order], one[order]])
    scores = (law[first] - law[second]) ** 2 @ (1 / law).T
    best = np.argsort(-scores, axis=None, kind="stable")[:MOST_CLASSED]
    pairs, rests = np.unravel_index(best, scores.shape)
    threes = [_Three(int(first[i]), int(second[i]), int(z)) for i, z in zip(pairs, rests, strict=True)]
    whole = numerators[:, numerators.max(axis=0) > 0]
    classed = [_classed(whole, law, three) for three in threes]
    return [made for _, made in sorted(classed, key=lambda each: -each[0])[:MOST_TRIED]]


def _classed(numerators: np.ndarray, law: np.ndarray, three: _Three) -> tuple[float, Distinguisher]:
    """Outputs in the order of what they say, cut in three where that keeps most of it, and what it keeps."""
    p, q, z = (law[row] for row in three)
    order = np.argsort(-(p - q) / z, kind="stable")
    told, size = np.cumsum((p - q)[order]), np.cumsum(z[order])
    upto = np.unique(
        np.linspace(1, order.size - 1, min(order.size - 1, MOST_CUTS)).astype(np.int64)
    )  # so many speak for the one, and all from some on for the other
    for_one = told[upto - 1] ** 2 / size[upto - 1]
    for_other = (told[-1] - told[upto - 1]) ** 2 / (size[-1] - size[upto - 1])
    between = told[None, upto - 1] - told[upto - 1, None], size[None, upto - 1] - size[upto - 1, None]
    left = np.divide(between[0] ** 2, between[1], out=np.zeros_like(between[0]), where=between[1] > 0)
    kept = np.where(between[1] >= 0, for_one[:, None] + for_other[None, :] + left, -1.0)
    i, k = np.unravel_index(int(np.argmax(kept)), kept.shape)
    classes = order[: upto[i]], order[upto[k] :], order[upto[i] : upto[k]]
    laws = (tuple(Fraction(int(numerators[row, each].sum()), DENOMINATOR) for each in classes) for row in three)
    return float(kept[i, k]), Distinguisher(*laws)  # pyright: ignore[reportArgumentType] -- three of three
