r"""Linear queries of the frequencies of categories: W f without bias, and how far it may be off.

Where reports are few outputs, they are answered as those of numbers are, so that a table that tells no more than what
it was designed for serves. Where reports support categories, W f is linear in the unbiased frequencies f, whose
covariance C the protocol's law gives at the frequencies nearest to them: the error is the diagonal of W C W^T.

Source: `decoder` and `estimators/distributions/queries`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from ...mechanisms.statistics import Outputs, Supports, unread
from ..distributions.queries import QueriesEstimate, answers_of, checked_queries, numbers_of
from ..estimate import check_target
from ..means.unbiasing import normalised
from ..methods import Target
from .category_counts import CategoryCounts
from .estimation import estimate_frequencies
from .support_counts import SupportCounts


def estimate_category_queries(
    counts: CategoryCounts | SupportCounts,
    queries: ArrayLike,
    *,
    prior: ArrayLike | None = None,
    target: Target = "population",
) -> QueriesEstimate:
    """Answer linear queries of the frequencies of categories, without bias.

    Parameters
    ----------
    counts : CategoryCounts or SupportCounts
        Of at least two users.
    queries : (q, K) array_like
        Weights of the K categories, in the mechanism's order.
    prior : (K,) array_like, optional
        For tables: the frequencies at which the variance is made least. Default: equal ones.
    target : {"population", "users"}
        Whose frequencies they are; for "users" the scatter of their own categories is left out.

    Returns
    -------
    answers : QueriesEstimate

    Raises
    ------
    InputError
        Fewer than two users, queries that do not fit the categories or that reports cannot answer, or more than 4096
        categories for reports that support categories.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import CategoryCounts
    >>> from optldp.estimators.frequencies import estimate_category_queries
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> counts = CategoryCounts.from_reports(categorical_grr("abc", 2.0), np.repeat([0, 1, 2], [560, 250, 190]))
    >>> answers = estimate_category_queries(counts, [[1, 1, 0]])  # the share of a or b
    >>> answers.value.round(2), answers.std_error.round(3)
    (array([0.88]), array([0.018]))
    """
    check_target(target)
    n = counts.n_users
    if n < 2:
        raise InputError(f"users must be at least 2 for a standard error, got {n}")
    asked = checked_queries(queries, len(counts.mechanism.categories))
    match counts.mechanism.statistic:
        case Outputs(law) if isinstance(counts, CategoryCounts):
            weights = normalised("prior", len(law), np.ones(len(law)) if prior is None else prior)
            wanted = np.vstack([asked, asked**2]) if target == "users" else asked
            numbers, shares = numbers_of(wanted, law, weights)[:, counts.reports], counts.counts / n
            return answers_of(numbers @ shares, numbers[: len(asked)] ** 2 @ shares, len(asked), n, target)
        case Supports():
            if prior is not None:
                raise InputError("a prior is for tables, got reports that support categories: leave it out")
            found = estimate_frequencies(counts, target=target)
            if found.covariance is None:
                raise InputError(f"queries are answered of at most 4096 categories, got {asked.shape[1]:,}")
            error = np.sqrt(np.maximum(np.einsum("qi,ij,qj->q", asked, found.covariance, asked, optimize=True), 0.0))
            return QueriesEstimate(asked @ found.value, error, n, target=target)
        case statistic:
            raise unread(statistic)
