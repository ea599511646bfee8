r"""Local hashing (OLH): randomised response to a random hash of the category, with an exactly uniform hash family.

Categories are numbered 0..K - 1 and written as vectors of d digits over the field of g elements; the hash with
coefficients a in that space is h_a(x) = sum_i a_i x_i, in the field. Two different categories differ in some digit, so
of all a that are not zero exactly (g^(d-1) - 1) / (g^d - 1) < 1/g give them the same hash: pure by construction, not on
average over some family that is taken to be random. Multiples of a make the same partition, so one a of each line is
enough: S = (g^d - 1) / (g - 1) hashes, of which the seed picks one.

The family is small: S g distinct reports, at most about g^2 K, whatever the number of users. So reports can be counted,
and whatever is estimated from the counts costs no more for more users.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..budget import check_epsilon
from ..integers.finite_field import LARGEST_FIELD, finite_field, prime_power
from ..integers.numerators import DENOMINATOR
from ..integers.projective_points import many_points, point_entries, points
from ..sampling.law import Words
from ..sampling.random_words import draw53
from ..spaces.categories import Categories
from ..table.provenance import Provenance
from .hashed_response import HashedResponse
from .table import randomised_response_numerators

HASHED_AT_ONCE = 2**20
"""Users whose digits are formed at a time."""


@dataclass(frozen=True, eq=False, repr=False)
class LocalHashing(HashedResponse):
    """A public seed, and randomised response among g hash values; a report is seed * g + value.

    Parameters
    ----------
    categories : Categories
    epsilon : float
    provenance : Provenance
    n_values : int
        g, a power of a prime from 2 to 256.
    own_value : int
        Probability of the hash itself, over 2^53; each other value has the same share of the rest.

    Raises
    ------
    InputError
        g is no prime power.
    TableError
        A numerator that leaves no equal whole shares to the others, or gives the hash itself less than an equal share.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.mechanisms.categorical.local_hashing import local_hashing
    >>> olh = local_hashing(list("abcdefghij"), 1.0)
    >>> olh.n_values, olh.n_hashes, olh.failures()
    (4, 5, ())
    >>> olh.hashes(np.arange(3), np.array([4, 4, 4]))
    array([0, 1, 2])
    """

    kind: ClassVar[str] = "local-hashing"

    def require_values(self) -> None:
        """Raise InputError unless there is a field of so many elements."""
        finite_field(self.n_values)

    @cached_property
    def n_digits(self) -> int:
        """d, the digits of a category."""
        return next(d for d in range(1, 64) if self.n_values**d >= len(self.categories))

    @property
    def n_hashes(self) -> int:
        """S = (g^d - 1) / (g - 1), the number of seeds."""
        return many_points(self.n_values, self.n_digits)

    @property
    def other_support(self) -> float:
        same = Fraction(self.n_values ** (self.n_digits - 1) - 1, self.n_values**self.n_digits - 1)
        return float(same * self.own_value + (1 - same) * self.other_value) / DENOMINATOR

    @property
    def both_supported(self) -> None:
        """Of some categories more hashes are alike than of others."""
        return None

    @property
    def most_apart(self) -> int:
        """Two hashes support at most what has two of their values."""
        return min(len(self.categories), 2 * self.n_values ** (self.n_digits - 1))

    @property
    def n_listed(self) -> int:
        """S g."""
        return self.n_reports

    def coefficients(self, seeds: np.ndarray) -> np.ndarray:
        """Return the coefficients (N, d) of the hashes: the points of a projective space."""
        return points(seeds, self.n_values, self.n_digits)

    def digits(self, codes: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the base-g digits of categories, each (N,), the least first."""
        return (codes // self.n_values**place % self.n_values for place in range(self.n_digits))

    def hashes(self, codes: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Return the hash (N,) of each category under the hash of each seed; O(N d)."""
        factors = point_entries(seeds, self.n_values, self.n_digits)
        return finite_field(self.n_values).inner(factors, self.digits(codes)).astype(np.int64)

    def nature(self) -> dict[str, object]:
        return super().nature() | {"numbers of outputs": self.n_values}

    def draw(self, codes: np.ndarray, words: Words) -> np.ndarray:
        """Draw (N,) int64; what depends on the category is drawn by whole numbers over 2^53.

        The seed is a word modulo S, so that some seeds are likelier than others by S / 2^64; it tells nothing anyway.
        """
        reports = np.empty(codes.size, dtype=np.int64)
        for start in range(0, codes.size, HASHED_AT_ONCE):
            block = codes[start : start + HASHED_AT_ONCE]
            seeds = (words(block.size) % np.uint64(self.n_hashes)).astype(np.int64)
            uniform = draw53(words, block.size) - self.own_value
            step = np.where(uniform < 0, 0, 1 + uniform // self.other_value)
            values = (self.hashes(block, seeds) + step) % self.n_values
            reports[start : start + HASHED_AT_ONCE] = seeds * self.n_values + values
        return reports

    def supported(self, reports: np.ndarray) -> np.ndarray:
        """Return whether each report supports each category, (N, K) bool; O(N K)."""
        seeds, which = np.unique(reports // self.n_values, return_inverse=True)
        size = len(self.categories)
        digits = self.digits(np.arange(size))
        table = finite_field(self.n_values).inner_table(self.coefficients(seeds), digits, size)
        return table[which] == (reports % self.n_values)[:, None]

    def supported_at(self, code: int, reports: np.ndarray) -> np.ndarray:
        seeds, values = reports // self.n_values, reports % self.n_values
        return self.hashes(np.full(reports.size, code), seeds) == values


def local_hashing(
    categories: Categories | Sequence[object], epsilon: float, *, n_values: int | None = None
) -> LocalHashing:
    """Return optimised local hashing with the number of hash values that gives rare categories the least variance.

    The field must have a prime power of elements; the best one is within 3% of g = e^epsilon + 1, the best number,
    wherever that is at most 256.

    Parameters
    ----------
    categories : Categories or sequence
    epsilon : float
    n_values : int, optional
        g, if it is to be another: a power of a prime from 2 to 256.

    Raises
    ------
    InputError
        Categories, an epsilon or a number of values that are not usable.

    Source
    ------
    Wang, Blocki, Li and Jha (2017), section 5; hashing by lines of a finite geometry as in Feldman, Nelson, Nguyen and
    Talwar (2022), "Private frequency estimation via projective geometry".

    Example
    -------
    >>> local_hashing(range(300), 1.0).frequency_variance(0.0) < 3.7
    True
    """
    if n_values is not None:
        return _with_values(Categories.of(categories), check_epsilon(epsilon), n_values)
    return hashing_of_levels(categories, [epsilon])[0]


def hashing_of_levels(categories: Categories | Sequence[object], epsilons: Sequence[float]) -> tuple[LocalHashing, ...]:
    """Return local hashing at each budget, all with as many hash values: their reports are of one kind.

    The number is that of the largest sum of one over the variances of rare categories, which is what reports of known
    levels tell together.  It costs little: 1% to 8% of that sum for budgets a factor of two to ten apart.

    Parameters
    ----------
    categories : Categories or sequence
    epsilons : sequence of float
        At least one.

    Raises
    ------
    InputError
        Categories or an epsilon that are not usable.

    Example
    -------
    >>> [local_hashing(range(41), e).n_values for e in (0.5, 1.0, 2.0)]
    [3, 4, 7]
    >>> hashing_of_levels(range(41), [0.5, 1.0, 2.0])[0].n_values
    7
    """
    names, budgets = Categories.of(categories), [check_epsilon(epsilon) for epsilon in epsilons]
    fields = [g for g in range(2, LARGEST_FIELD + 1) if prime_power(g)]
    made = (tuple(_with_values(names, budget, g) for budget in budgets) for g in fields)
    return max(made, key=lambda levels: sum(1.0 / level.frequency_variance(0.0) for level in levels))


def _with_values(names: Categories, epsilon: float, g: int) -> LocalHashing:
    own, _ = randomised_response_numerators(g, epsilon)
    return LocalHashing(names, epsilon, Provenance("olh"), g, own)
