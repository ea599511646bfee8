r"""Subset selection: a report is a set of d of the K categories, which holds the own one oftener than it must.

The own category is in the set with probability p, and the rest of it is chosen from all others, all choices alike.  A
set Z has probability p / C(K - 1, d - 1) under each category that it holds and (1 - p) / C(K - 1, d) under each other
one, whose ratio p (K - d) / ((1 - p) d) is e^epsilon at p = d E / (d E + K - d), E = e^epsilon.  With d = 1 it is
randomised response.  Of all mechanisms it tells most where all categories are as frequent (Ye and Barg 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb, lgamma, log
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..cost import require_affordable, sets_cost
from ..display.summary import Told
from ..errors import InputError, TableError
from ..integers.exponential import exponential_below
from ..integers.numerators import DENOMINATOR
from ..sampling.law import Words
from ..sampling.random_words import draw53
from ..sampling.subsets import random_choices
from ..spaces.categories import Categories
from ..table.provenance import Provenance
from .bit_vectors import BitVectors

NUMBERS_AT_ONCE = 2**22
"""Numbers that are shuffled at a time, 16 MB."""

MOST_LISTED = 2**20
"""Sets that are still listed."""

LEAST_LOG = -800.0
"""Of a probability: it is zero as a double, and that of a set which holds the category is, too."""


@dataclass(frozen=True, eq=False, repr=False)
class SubsetSelection(BitVectors):
    """A set of d categories as K bits of which d are one.

    Parameters
    ----------
    categories : Categories
    epsilon : float
    provenance : Provenance
    n_chosen : int
        d, from 1 to K - 1.
    own_chosen : int
        Probability, over 2^53, that the own category is in the set: more than d / K.

    Raises
    ------
    TableError
        Another d, or a numerator out of order.
    InputError
        Sets that are too large to be drawn, see `allow_large`.

    Example
    -------
    >>> from optldp.mechanisms.categorical.subset_selection import subset_selection
    >>> made = subset_selection(list("abcdefghij"), 1.0)
    >>> made.n_chosen, round(made.own_support, 4), round(made.other_support, 4), made.failures()
    (3, 0.5381, 0.2735, ())
    >>> made.bits(made.sample(["a", "j"])).sum(axis=1).tolist()
    [3, 3]
    """

    kind: ClassVar[str] = "subset-selection"
    n_chosen: int
    own_chosen: int

    def __post_init__(self) -> None:
        super().__post_init__()
        size, many, own = len(self.categories), self.n_chosen, self.own_chosen
        if not (type(many) is int and 1 <= many < size):
            raise TableError(f"n_chosen must be a whole number from 1 to {size - 1}, got {many!r}")
        if not (type(own) is int and many * DENOMINATOR < own * size and own < DENOMINATOR):
            raise TableError(
                f"own_chosen must be a whole number below 2^53 and more than {many}/{size} of it, got {own!r}"
            )
        require_affordable(f"subset selection of sets of {many} categories", sets_cost(many), "use another method")

    def _told(self) -> Told:
        told = super()._told()
        return Told(told.facts | {"chosen": self.n_chosen}, picture=told.picture)

    @property
    def own_support(self) -> float:
        return self.own_chosen / DENOMINATOR

    @property
    def other_support(self) -> float:
        """q* = (d - p) / (K - 1)."""
        own = Fraction(self.own_chosen, DENOMINATOR)
        return float((self.n_chosen - own) / (len(self.categories) - 1))

    @property
    def both_supported(self) -> tuple[float, float]:
        """p (d - 1) / (K - 1) with the own one; (d - 1)(d - 2p) / ((K - 1)(K - 2)) of two others."""
        others, rest = len(self.categories) - 1, self.n_chosen - 1
        own = Fraction(self.own_chosen, DENOMINATOR)
        two = rest * (self.n_chosen - 2 * own) / (others * (others - 1)) if others > 1 else Fraction(0)
        return float(own * rest / others), float(two)

    @property
    def support_ratio(self) -> float:
        return float(self.largest_ratio)

    @property
    def largest_ratio(self) -> Fraction:
        others = len(self.categories) - self.n_chosen
        return Fraction(self.own_chosen * others, (DENOMINATOR - self.own_chosen) * self.n_chosen)

    @property
    def fixed_size(self) -> int:
        """d."""
        return self.n_chosen

    @property
    def most_apart(self) -> int:
        """What is in either of two sets of d, or in neither: 2 min(d, K - d)."""
        return 2 * min(self.n_chosen, len(self.categories) - self.n_chosen)

    def log_elsewhere(self, reports: np.ndarray) -> np.ndarray:
        """Return that of any set, log((1 - p) / C(K - 1, d))."""
        return np.full(len(reports), self._log_elsewhere)

    @cached_property
    def _log_elsewhere(self) -> float:
        others = len(self.categories) - 1
        sets = lgamma(others + 1) - lgamma(self.n_chosen + 1) - lgamma(others - self.n_chosen + 1)
        return log((DENOMINATOR - self.own_chosen) / DENOMINATOR) - sets

    def nature(self) -> dict[str, object]:
        return super().nature() | {"numbers of outputs": self.n_chosen}

    def draw(self, codes: np.ndarray, words: Words) -> np.ndarray:
        """Draw (N, ceil(K / 8)) uint8: d of the others in a random order, the last of them replaced by a held own one.

        So every report takes 1 + d words, whatever the category and whether it is in the set.
        """
        size = len(self.categories)
        step = max(1, NUMBERS_AT_ONCE // size)
        reports = np.empty((codes.size, self.n_bytes), dtype=np.uint8)
        for start in range(0, codes.size, step):
            block = codes[start : start + step]
            held = draw53(words, block.size) < self.own_chosen
            others = random_choices(block.size, size - 1, self.n_chosen, words)
            others[held, -1] = size - 1
            bits = np.zeros((block.size, size), dtype=np.uint8)
            # Counted on from the category after the own one, which is the last.
            bits[np.arange(block.size)[:, None], (block[:, None] + 1 + others) % size] = 1
            reports[start : start + step] = np.packbits(bits, axis=1)
        return reports

    def checked_reports(self, reports: ArrayLike) -> np.ndarray:
        """Return the reports (N, ceil(K / 8)) uint8; InputError for other shapes, or sets of another size."""
        given = super().checked_reports(reports)
        ones = np.bitwise_count(given).sum(axis=1, dtype=np.int64)
        bad = ones != self.n_chosen
        if bad.any():
            row, must = int(np.argmax(bad)), f"reports must have {self.n_chosen} ones"
            raise InputError(f"{must}, got {int(ones[row])} in row {row + 1}: another mechanism made it")
        return given

    def pmf(self, reports: ArrayLike) -> np.ndarray:
        bits = self.bits(self.checked_reports(reports)).astype(bool)
        if self._log_elsewhere < LEAST_LOG:
            return np.zeros(bits.shape)
        others, own = len(self.categories) - 1, Fraction(self.own_chosen, DENOMINATOR)
        held, elsewhere = own / comb(others, self.n_chosen - 1), (1 - own) / comb(others, self.n_chosen)
        return np.where(bits, float(held), float(elsewhere))

    def all_reports(self) -> np.ndarray:
        size = len(self.categories)
        if self._log_elsewhere < LEAST_LOG or (many := comb(size, self.n_chosen)) > MOST_LISTED:
            raise InputError(
                f"at most {MOST_LISTED} reports can be listed, got all sets of {self.n_chosen} of {size} categories"
            )
        bits = np.zeros((many, size), dtype=np.uint8)
        bits[np.arange(many)[:, None], list(combinations(range(size), self.n_chosen))] = 1
        return np.packbits(bits, axis=1)


def subset_selection(
    categories: Categories | Sequence[object], epsilon: float, *, n_chosen: int | None = None
) -> SubsetSelection:
    """Return subset selection with the number of categories in a set that has the least total error.

    Sums of the variances of all K unbiased frequencies are compared for every d; the best is near K / (e^epsilon + 1).
    p is the largest numerator with p (K - d) <= L (1 - p) d, a rational L <= e^epsilon.

    Parameters
    ----------
    categories : Categories or sequence
    epsilon : float
    n_chosen : int, optional
        d, if it is to be another: from 1 to K - 1.

    Raises
    ------
    InputError
        Categories, an epsilon or a number that are not usable.

    Source
    ------
    Ye and Barg (2018), "Optimal schemes for discrete distribution estimation under locally differential privacy"; Wang,
    Huang, Wang, Nie, Xu, Yang, Li and Qiao (2016), "Mutual information optimally local private discrete distribution
    estimation".

    Example
    -------
    >>> [subset_selection(range(100), e).n_chosen for e in (0.5, 1.0, 2.0, 5.0)]
    [38, 27, 12, 1]
    >>> subset_selection(range(100), 1.0).frequency_variance(0.0) < 3.7
    True
    """
    return subsets_of_levels(categories, [epsilon], n_chosen=n_chosen)[0]


def subsets_of_levels(
    categories: Categories | Sequence[object], epsilons: Sequence[float], *, n_chosen: int | None = None
) -> tuple[SubsetSelection, ...]:
    """Return subset selection at each of several budgets with one size of sets, which so does not tell the level.

    Of all sizes the one by which users of whom as many are at each level tell most together: the sum over the levels of
    one over the total error is largest.

    Parameters
    ----------
    categories : Categories or sequence
    epsilons : sequence of float
        At least one.
    n_chosen : int, optional
        The size, if it is to be another: from 1 to K - 1.

    Raises
    ------
    InputError
        Categories, an epsilon or a number that are not usable.

    Example
    -------
    >>> [level.n_chosen for level in subsets_of_levels(range(41), [0.5, 1.0, 2.0])]
    [6, 6, 6]
    """
    names, budgets = Categories.of(categories), [check_epsilon(epsilon) for epsilon in epsilons]
    size, limits = len(names), [exponential_below(budget) for budget in budgets]
    if n_chosen is None:
        n_chosen = best_size(size, [float(limit) for limit in limits])
    if not (type(n_chosen) is int and 1 <= n_chosen < size):
        raise InputError(f"n_chosen must be a whole number from 1 to {size - 1}, got {n_chosen!r}")
    made = []
    for budget, limit in zip(budgets, limits, strict=True):
        top = limit.numerator * n_chosen
        own = DENOMINATOR * top // (top + limit.denominator * (size - n_chosen))
        made.append(SubsetSelection(names, budget, Provenance("subset"), n_chosen, own))
    return tuple(made)


def best_size(size: int, ratios: Sequence[float]) -> int:
    """Return the number of `size` categories in a set by which users at these ratios tell most together.

    The sum over the ratios of one over the total error is largest; of one ratio the error is least.

    Example
    -------
    >>> best_size(100, [np.e]), round(100 / (np.e + 1))
    (27, 27)
    """
    sizes = np.arange(1, size)
    told = sum(1.0 / _total_errors(size, sizes, ratio) for ratio in ratios)
    return int(sizes[np.argmax(told)])


def _total_errors(size: int, chosen: np.ndarray, ratio: float) -> np.ndarray:
    """Sum of the variances of all K unbiased frequencies, for one user, by the size of the sets."""
    own = chosen * ratio / (chosen * ratio + size - chosen)
    other = (chosen - own) / (size - 1)
    return ((size - 1) * other * (1 - other) + own * (1 - own)) / (own - other) ** 2
