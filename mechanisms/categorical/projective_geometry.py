r"""Projective geometry response: a report is a point of a finite geometry, on the plane of the own category oftener.

Categories and reports are points of the projective space of d dimensions over the field of q elements: vectors of
length d whose first entry that is not zero is one.  A report u supports the categories v with <u, v> = 0, which are
those on a hyperplane.  Of all n = (q^d - 1) / (q - 1) reports m = (q^(d-1) - 1) / (q - 1) support a category and
l = (q^(d-2) - 1) / (q - 1) support two, whichever two.  A user's report is one of the m with probability p, all alike,
else one of the n - m others.  Their ratio p (n - m) / ((1 - p) m) is e^epsilon at p = m E / (m E + n - m).

So it is subset selection from few sets instead of all: a report is a number below n, which is at most about q K, and
reports can be counted.  It errs least where m / n is near 1 / (E + 1), so at q near E + 1, and as subset selection
where there are as many categories as points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..display.summary import Told
from ..errors import TableError
from ..integers.exponential import exponential_below
from ..integers.finite_field import LARGEST_FIELD, finite_field, prime_power
from ..integers.numerators import DENOMINATOR
from ..integers.projective_points import many_points, point_entries, point_numbers, points
from ..sampling.law import Words
from ..sampling.random_words import draw53
from ..sampling.subsets import uniform_below
from ..spaces.categories import Categories
from ..table.provenance import Provenance
from .numbered_reports import NumberedReports
from .oracle_choice import total_error

DRAWN_AT_ONCE = 2**18
"""Users whose vectors are formed at a time."""

Share = TypeVar("Share", Fraction, float)


@dataclass(frozen=True, eq=False, repr=False)
class ProjectiveGeometry(NumberedReports):
    """A point of a projective space over q elements, of the least dimension with a point for each category.

    Parameters
    ----------
    categories : Categories
        The first K points, in order.
    epsilon : float
    provenance : Provenance
    order : int
        q, a power of a prime from 2 to 256.
    own_supported : int
        Probability, over 2^53, that the report supports the own category: more than the share m / n of all points.

    Raises
    ------
    InputError
        q is no prime power.
    TableError
        A q that is no whole number, or a numerator out of order.

    Source
    ------
    Feldman, Nelson, Nguyen and Talwar (2022), "Private frequency estimation via projective geometry", section 3, there
    for primes.

    Example
    -------
    >>> from optldp.mechanisms.categorical.projective_geometry import projective_geometry
    >>> made = projective_geometry(list("abcdefg"), 1.0, order=2)
    >>> made.n_reports, made.n_supporting, round(made.own_support, 4), round(made.other_support, 4), made.failures()
    (7, 3, 0.6709, 0.3882, ())
    >>> made.supported(made.sample(["a", "g"])).sum(axis=1).tolist()
    [3, 3]
    """

    kind: ClassVar[str] = "projective-geometry"
    order: int
    own_supported: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if type(self.order) is not int:
            raise TableError(f"order must be a whole number, got {self.order!r:.40}")
        finite_field(self.order)  # raises where there is none
        own = self.own_supported
        if not (type(own) is int and self.n_supporting * DENOMINATOR < own * self.n_reports and own < DENOMINATOR):
            raise TableError(
                "own_supported must be a whole number below 2^53 and more than "
                f"{self.n_supporting}/{self.n_reports} of it, got {own!r:.40}"
            )

    def _told(self) -> Told:
        told = super()._told()
        return Told(told.facts | {"order": self.order}, picture=told.picture)

    @cached_property
    def length(self) -> int:
        """d, the entries of a vector: the least that leaves a point for each category."""
        return least_length(len(self.categories), self.order)

    @property
    def n_reports(self) -> int:
        """n, the points."""
        return many_points(self.order, self.length)

    @property
    def n_listed(self) -> int:
        """n."""
        return self.n_reports

    @property
    def n_supporting(self) -> int:
        """m, the reports that support a category."""
        return many_points(self.order, self.length - 1)

    @property
    def n_supporting_both(self) -> int:
        """l, the reports that support each of two categories."""
        return many_points(self.order, self.length - 2)

    @property
    def own_support(self) -> float:
        return self.own_supported / DENOMINATOR

    @property
    def other_support(self) -> float:
        own = Fraction(self.own_supported, DENOMINATOR)
        return float(_other_support(own, self.n_reports, self.n_supporting, self.n_supporting_both))

    @property
    def both_supported(self) -> tuple[float, float] | None:
        """Never on a line, where a report supports one point; else three categories may lie on a line or not."""
        return (0.0, 0.0) if self.n_supporting_both == 0 else None

    @property
    def support_ratio(self) -> float:
        return float(self.largest_ratio)

    @property
    def largest_ratio(self) -> Fraction:
        elsewhere = self.n_reports - self.n_supporting
        return Fraction(self.own_supported * elsewhere, (DENOMINATOR - self.own_supported) * self.n_supporting)

    @property
    def fixed_size(self) -> int | None:
        """m, where each point is a category; else some reports support more categories than others."""
        return self.n_supporting if len(self.categories) == self.n_reports else None

    @property
    def most_apart(self) -> int:
        """What is on one of two hyperplanes and not on the other, 2 (m - l) points."""
        return min(len(self.categories), 2 * (self.n_supporting - self.n_supporting_both))

    def log_elsewhere(self, reports: np.ndarray) -> np.ndarray:
        """Return that of any report off the category's hyperplane, log((1 - p) / (n - m))."""
        share = (DENOMINATOR - self.own_supported) / DENOMINATOR / (self.n_reports - self.n_supporting)
        return np.full(len(reports), np.log(share))

    def nature(self) -> dict[str, object]:
        return super().nature() | {"orders": self.order}

    def draw(self, codes: np.ndarray, words: Words) -> np.ndarray:
        """Draw (N,) int64: whether the own category is supported, then a report that does so and one that does not.

        So every report takes three words, whatever the category and whether it is supported, but for those that would
        favour some number, which are drawn again.
        """
        reports = np.empty(codes.size, dtype=np.int64)
        for start in range(0, codes.size, DRAWN_AT_ONCE):
            block = codes[start : start + DRAWN_AT_ONCE]
            supported = draw53(words, block.size) < self.own_supported
            on = uniform_below(self.n_supporting, block.size, words)
            off = uniform_below(self.n_reports - self.n_supporting, block.size, words)
            reports[start : start + DRAWN_AT_ONCE] = self._completed(block, supported, on, off)
        return reports

    def _completed(self, codes: np.ndarray, supported: np.ndarray, on: np.ndarray, off: np.ndarray) -> np.ndarray:
        """Return the reports (N,) whose entries are drawn but for one, where the category's vector has its first one.

        That one makes the inner product zero, or one.  The points of the hyperplane are the points of the other
        entries then; those off it are all vectors of these, zero too, as each has one multiple of inner product one.
        """
        field, q, d = finite_field(self.order), self.order, self.length
        every = (off // q**place % q for place in reversed(range(d - 1)))
        either = zip(point_entries(on, q, d - 1), every, strict=True)
        rest = np.array([np.where(supported, one, other) for one, other in either]).T
        own = points(codes, q, d)
        first = np.argmax(own != 0, axis=1)
        vectors = np.zeros_like(own)
        vectors[np.arange(d) != first[:, None]] = rest.reshape(-1)
        lacking = field.negatives[field.inner(own.T, vectors.T)]
        vectors[np.arange(codes.size), first] = field.sums[lacking, np.where(supported, 0, 1)]
        return point_numbers(vectors, field)

    def pmf(self, reports: ArrayLike) -> np.ndarray:
        mine = self.supported(self.checked_reports(reports))
        held = self.own_supported / self.n_supporting
        elsewhere = (DENOMINATOR - self.own_supported) / (self.n_reports - self.n_supporting)
        return np.where(mine, held, elsewhere) / DENOMINATOR

    def supported(self, reports: np.ndarray) -> np.ndarray:
        """Return whether each report supports each category, (N, K) bool; O(N K)."""
        distinct, which = np.unique(reports, return_inverse=True)
        size, planes = len(self.categories), points(distinct, self.order, self.length)
        own = point_entries(np.arange(size), self.order, self.length)
        return (finite_field(self.order).inner_table(planes, own, size) == 0)[which]

    def supported_at(self, code: int, reports: np.ndarray) -> np.ndarray:
        planes = point_entries(reports, self.order, self.length)
        own = point_entries(np.array([code]), self.order, self.length)
        return finite_field(self.order).inner(planes, own) == 0


def projective_geometry(
    categories: Categories | Sequence[object], epsilon: float, *, order: int | None = None
) -> ProjectiveGeometry:
    """Return projective geometry response over the field that has the least total error.

    Sums of the variances of all K unbiased frequencies are compared for every field of up to 256 elements, with the
    least dimension that has a point for each category; the best is near e^epsilon + 1, where that is in reach.  p is
    the largest numerator with p (n - m) <= L (1 - p) m, a rational L <= e^epsilon.

    Parameters
    ----------
    categories : Categories or sequence
    epsilon : float
    order : int, optional
        q, the elements of the field, if it is to be another: a power of a prime from 2 to 256.

    Raises
    ------
    InputError
        Categories, an epsilon or an order that are not usable.

    Source
    ------
    Feldman, Nelson, Nguyen and Talwar (2022), "Private frequency estimation via projective geometry", section 3.

    Example
    -------
    >>> made = projective_geometry(range(1000), 2.0)
    >>> made.order, made.length, made.n_reports
    (8, 5, 4681)
    """
    return geometry_of_levels(categories, [epsilon], order=order)[0]


def geometry_of_levels(
    categories: Categories | Sequence[object], epsilons: Sequence[float], *, order: int | None = None
) -> tuple[ProjectiveGeometry, ...]:
    """Return projective geometry response at each budget, all over one field: their reports are of one kind.

    The field is that of the largest sum of one over the total errors, which is what reports of known levels tell
    together.

    Parameters
    ----------
    categories : Categories or sequence
    epsilons : sequence of float
        At least one.
    order : int, optional
        q, if it is to be another: a power of a prime from 2 to 256.

    Raises
    ------
    InputError
        Categories, an epsilon or an order that are not usable.

    Example
    -------
    >>> [level.order for level in geometry_of_levels(range(100), [0.5, 1.0, 2.0])]
    [7, 7, 7]
    """
    names, budgets = Categories.of(categories), [check_epsilon(epsilon) for epsilon in epsilons]
    size, limits = len(names), [exponential_below(budget) for budget in budgets]
    q = best_order(size, [float(limit) for limit in limits]) if order is None else order
    finite_field(q)  # raises where there is none
    n, m = (many_points(q, least_length(size, q) - less) for less in (0, 1))
    made = []
    for budget, limit in zip(budgets, limits, strict=True):
        top = limit.numerator * m
        own = DENOMINATOR * top // (top + limit.denominator * (n - m))
        made.append(ProjectiveGeometry(names, budget, Provenance("projective-geometry"), q, own))
    return tuple(made)


def least_length(size: int, q: int) -> int:
    """Return the least length of vectors over q elements of which there are points for so many categories.

    Example
    -------
    >>> least_length(7, 2), least_length(8, 2), least_length(2, 256)
    (3, 4, 2)
    """
    return next(length for length in range(2, 64) if many_points(q, length) >= size)


def best_order(size: int, ratios: Sequence[float]) -> int:
    """Return the elements of the field by which users at these ratios tell most together.

    Example
    -------
    >>> best_order(1000, [np.exp(2.0)])  # e^2 + 1 = 8.39
    8
    """
    fields = [q for q in range(2, LARGEST_FIELD + 1) if prime_power(q)]
    return max(fields, key=lambda q: sum(1.0 / _total_error(size, q, ratio) for ratio in ratios))


def _total_error(size: int, q: int, ratio: float) -> float:
    length = least_length(size, q)
    n, m, both = (many_points(q, length - less) for less in (0, 1, 2))
    own = m * ratio / (m * ratio + n - m)
    return total_error(size, own, _other_support(own, n, m, both))


def _other_support(own: Share, n: int, m: int, both: int) -> Share:
    """q*: of the m reports that support the own category `both` support another one, and of the others m - both."""
    return own * both / m + (1 - own) * (m - both) / (n - m)
