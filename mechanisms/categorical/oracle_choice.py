"""Randomised response or hashing: which frequency oracle errs less for so many categories at this budget."""

from collections.abc import Sequence

from ..budget import check_epsilon
from ..integers.numerators import DENOMINATOR
from .categories import Categories
from .local_hashing import local_hashing
from .mechanism import CategoricalMechanism
from .table import categorical_grr, randomised_response_numerators


def frequency_oracle(categories: Categories | Sequence[object], epsilon: float) -> CategoricalMechanism:
    """Return GRR or OLH, whichever has the smaller expected squared error over all frequencies.

    The sum over the K categories of the variances of the unbiased estimates is
    ((K - 1) q (1 - q) + p (1 - p)) / (n (p - q)^2), whatever the frequencies, with p = p*, q = q*.  GRR wins for few
    categories, about K < 3 e^epsilon + 2.

    Raises
    ------
    InputError
        Categories or an epsilon that are not usable.

    Source
    ------
    Wang, Blocki, Li and Jha (2017), section 6 compares the variances of frequencies near zero.

    Example
    -------
    >>> frequency_oracle(range(5), 1.0), frequency_oracle(range(50), 1.0)
    (CategoricalTable('grr', epsilon=1, categories=5), LocalHashing('olh', epsilon=1, categories=50))
    """
    names = Categories.of(categories)
    budget = check_epsilon(epsilon)
    own, other = (share / DENOMINATOR for share in randomised_response_numerators(len(names), budget))
    hashing = local_hashing(names, budget)
    if total_error(len(names), own, other) <= total_error(len(names), hashing.own_support, hashing.other_support):
        return categorical_grr(names, budget)
    return hashing


def total_error(size: int, own: float, other: float) -> float:
    """Return the sum of the variances of all K unbiased frequencies of a pure protocol, for one user.

    Example
    -------
    >>> total_error(2, 0.75, 0.25)
    1.5
    """
    return ((size - 1) * other * (1 - other) + own * (1 - own)) / (own - other) ** 2
