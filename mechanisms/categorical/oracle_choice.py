"""Randomised response, hashing or subset selection: which frequency oracle to take for so many categories."""

from collections.abc import Sequence

from ..budget import check_epsilon
from ..spaces.categories import Categories
from .local_hashing import local_hashing
from .mechanism import CategoricalMechanism, PureProtocol
from .subset_selection import subset_selection
from .table import categorical_grr

WORTH = 0.02
"""By what share of the least error bits must err less than a number: they are longer, and slower to count."""

MOST_BITS = 1024
"""Categories up to which a report may be as many bits: 128 bytes."""


def frequency_oracle(categories: Categories | Sequence[object], epsilon: float) -> CategoricalMechanism:
    """Return GRR, OLH or subset selection, by the least expected squared error over all frequencies and by cost.

    The sum over the K categories of the variances of the unbiased estimates is
    ((K - 1) q (1 - q) + p (1 - p)) / (n (p - q)^2) with p = p*, q = q* for all frequencies, so no prior would choose
    otherwise.  Subset selection with sets of one category is GRR; with larger sets it errs least of the three, or as
    much as OLH. But its reports are K bits and nearly all differ, while those of GRR and OLH are one small number. So
    it is chosen only if it errs by 2% less than both, for at most 1024 categories.

    Parameters
    ----------
    categories : Categories or sequence
        At least two, all different.
    epsilon : float

    Returns
    -------
    oracle : CategoricalMechanism
        Exact, so that `save_bundle` takes it.

    Raises
    ------
    InputError
        Categories or an epsilon that are not usable.

    Source
    ------
    Wang, Blocki, Li and Jha (2017), section 6, and Ye and Barg (2018) compare the variances.

    Example
    -------
    >>> from optldp import frequency_oracle
    >>> for size in (3, 12, 2000):
    ...     print(frequency_oracle(range(size), 1.0))
    CategoricalTable('grr', epsilon=1, categories=3)
    SubsetSelection('subset', epsilon=1, categories=12)
    LocalHashing('olh', epsilon=1, categories=2000)
    """
    names = Categories.of(categories)
    budget, size = check_epsilon(epsilon), len(names)
    response, hashing = subset_selection(names, budget, n_chosen=1), local_hashing(names, budget)
    errors = [oracle_error(response), oracle_error(hashing)]
    if size <= MOST_BITS:
        subsets = subset_selection(names, budget)
        if oracle_error(subsets) < (1 - WORTH) * min(errors):
            return subsets
    return categorical_grr(names, budget) if errors[0] <= errors[1] else hashing


def oracle_error(made: PureProtocol) -> float:
    """Return the sum of the variances of all K unbiased frequencies, for one user.

    Example
    -------
    >>> oracle_error(subset_selection("abc", 1.0)) < oracle_error(local_hashing("abc", 1.0))
    True
    """
    return total_error(len(made.categories), made.own_support, made.other_support)


def total_error(size: int, own: float, other: float) -> float:
    """Return the sum of the variances of all K unbiased frequencies of a pure protocol, for one user.

    Example
    -------
    >>> total_error(2, 0.75, 0.25)
    1.5
    """
    return ((size - 1) * other * (1 - other) + own * (1 - own)) / (own - other) ** 2
