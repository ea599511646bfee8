r"""Linear queries of a distribution from the reports of one table: unbiased answers, each with its interval.

A query w asks for sum_x w_x f_x, f the frequencies of the knots. With the table P (n, m) and fixed weights pi of the
knots, the numbers a = W M^+ P / mu for each output, mu = pi P and M = P diag(1 / mu) P^T, have the mean w_x at every
knot x if the reports tell the query at all, and of all such numbers the least variance at pi. Their average over the
reports is the answer; its error is their scatter, less that of the values where it is about these very users.

Source: weighted least squares, as in `estimators/frequencies/decoder`; of queries McKenna, Maity, Mazumdar and Miklau
(2020), "A workload-adaptive mechanism for linear queries under local differential privacy".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from ..counting.counts import ReportCounts
from ..estimate import Estimate, check_target
from ..intervals import CONFIDENCE, Interval, normal_interval
from ..means.unbiasing import RANK_TOLERANCE, UNBIASED_TOLERANCE, normalised
from ..methods import Target


@dataclass(frozen=True, eq=False, repr=False)
class QueriesEstimate(Estimate):
    """Answers to linear queries.

    Parameters
    ----------
    value, std_error : (q,) ndarray
    n : int
    method : str
    target : {"users", "population"}

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.distributions import QueriesEstimate
    >>> QueriesEstimate(np.array([0.25]), np.array([0.125]), 100).to_dict()["query"]
    [1]
    """

    value: np.ndarray
    std_error: np.ndarray
    n: int
    method: str = "unbiased"
    target: Target = "population"

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return the normal interval of each answer by itself; InputError for a confidence outside (0, 1)."""
        return normal_interval(self.value, self.std_error, confidence, -np.inf, np.inf)

    @property
    def labels(self) -> Mapping[str, Sequence[Any]]:
        """The number of each query, from 1."""
        return {"query": list(range(1, self.value.size + 1))}


def estimate_queries(
    counts: ReportCounts, queries: ArrayLike, *, prior: ArrayLike | None = None, target: Target = "population"
) -> QueriesEstimate:
    """Answer linear queries of the distribution on the knots of one table, without bias.

    Parameters
    ----------
    counts : ReportCounts
        Of one table, at least two reports. A value between knots counts as the two beside it, as it was rounded.
    queries : (q, n) array_like
        Weights of the n knots.
    prior : (n,) array_like, optional
        Weights of the knots that the variance is to be least at. Default: the table's prior, or equal weights.
    target : {"population", "users"}
        Whose distribution it is: of "users" the scatter of their own values is left out.

    Returns
    -------
    answers : QueriesEstimate

    Raises
    ------
    InputError
        Counts of several tables or of fewer than two reports, queries that do not fit the knots, or ones that the
        table's reports do not tell.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import count
    >>> from optldp.estimators.distributions import estimate_queries
    >>> from optldp.mechanisms import grr
    >>> table = grr([0.0, 1.0, 2.0], 2.0)
    >>> reports = table.sample(np.repeat([0.0, 1.0, 2.0], [600, 300, 100]), np.random.default_rng(5))
    >>> answers = estimate_queries(count(table, reports), np.tri(3))  # shares up to each value
    >>> answers.value.round(2), answers.std_error.round(3)
    (array([0.6 , 0.89, 1.  ]), array([0.023, 0.018, 0.   ]))
    """
    check_target(target)
    if not isinstance(counts, ReportCounts) or len(counts.services) > 1:
        raise InputError("queries are answered from the counts of one table's reports, count(table, reports)")
    if counts.n_users < 2:
        raise InputError(f"reports must be at least 2 for a standard error, got {counts.n_users}")
    table = counts.mechanisms[0]
    asked = np.asarray(queries, dtype=np.float64)
    if asked.ndim != 2 or asked.shape[1] != table.knots.size or not np.isfinite(asked).all():
        raise InputError(f"queries must be finite, a column for each of {table.knots.size} knots, got {asked.shape}")
    weights = np.ones(table.knots.size) if table.prior is None else table.prior.weights
    weights = normalised("prior", table.knots.size, weights if prior is None else prior)
    law, shares = table.statistic.law, counts.reports_of(0) / counts.n_users
    of_users = target == "users"  # whose own scatter is a query of squares, less the squared answer
    numbers = numbers_of(np.vstack([asked, asked**2]) if of_users else asked, law, weights)
    averages = numbers @ shares
    value = averages[: len(asked)]
    scatter = numbers[: len(asked)] ** 2 @ shares - (averages[len(asked) :] if of_users else value**2)
    error = np.sqrt(np.maximum(scatter, 0.0) / (counts.n_users - 1))
    return QueriesEstimate(value, error, counts.n_users, target=target)


def numbers_of(queries: np.ndarray, law: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return what each report adds to each answer, (q, m); InputError for queries that reports do not tell.

    Example
    -------
    >>> numbers_of(np.array([[1.0, 0.0]]), np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([0.5, 0.5]))
    array([[ 1.5, -0.5]])
    """
    floor = np.maximum(weights, RANK_TOLERANCE)  # an output that the prior thinks impossible may be reported
    average = floor @ law
    used = average > 0
    root = np.sqrt(average[used])
    scaled = law[:, used] / root
    numbers = np.zeros((len(queries), law.shape[1]))
    numbers[:, used] = queries @ np.linalg.pinv(scaled, rcond=RANK_TOLERANCE).T / root
    off = np.abs(numbers @ law.T - queries).max(axis=1)
    if (wrong := np.flatnonzero(~(off <= UNBIASED_TOLERANCE * np.abs(queries).max(axis=1, initial=1.0)))).size:
        raise InputError(
            f"queries must be told by the table's reports, got {wrong.size} that are not, the first being number "
            f"{wrong[0] + 1}: design a table for them (--objective workload)"
        )
    return numbers
