r"""Linear queries of a distribution from reports: unbiased answers, each with its interval.

A query w asks for sum_x w_x f_x, f the frequencies of the knots. With the table P (n, m) and fixed weights pi of the
knots, the numbers a = W M^+ P / mu for each output, mu = pi P and M = P diag(1 / mu) P^T, have the mean w_x at every
knot x if the reports tell the query at all, and of all such numbers the least variance at pi. Their average over the
reports is the answer; its error is their scatter, less that of the values where it is about these very users.

The interval of an answer about the population is a pair of linear estimates (`affine_pairs`), which use that shares are
not negative, together with the answer itself. About these very users it is the normal one.

Where users report to several services, a user's numbers are averaged with weights of one over the variance that each
service's have at pi, as the population method of means does; then users are averaged, whichever services they chose.

Source: weighted least squares, as in `estimators/frequencies/decoder`; of queries McKenna, Maity, Mazumdar and Miklau
(2020), "A workload-adaptive mechanism for linear queries under local differential privacy".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from ..affine_pairs.intervals import AffinePairs
from ..affine_pairs.outcomes import Outcomes
from ..assumption_free.linear_numbers import REFUTED, facts_beside
from ..assumptions.base import Assumed, Assumption
from ..counting.counts import ReportCounts
from ..counting.group import ReportGroup
from ..estimate import Estimate, check_target
from ..intervals import CONFIDENCE, Interval, check_confidence, normal_interval
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
    explained : AffinePairs, optional
        Source of the intervals: all distributions, or those assumed, that explain the reports. Without it they are
        normal.
    queries : (q, K) ndarray, optional
        On the points of `explained`.

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
    explained: AffinePairs | None = None
    queries: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return the interval of each answer by itself; InputError for a confidence outside (0, 1)."""
        if self.explained is None:
            return normal_interval(self.value, self.std_error, confidence, -np.inf, np.inf)
        check_confidence(confidence)
        high = self.explained.largest(np.vstack([self.queries, -self.queries]), confidence)
        low, high = -high[len(self.queries) :], high[: len(self.queries)]
        return Interval(np.minimum(low, self.value), np.maximum(high, self.value), confidence)

    def shortest_possible(self, confidence: float = CONFIDENCE) -> np.ndarray | None:
        """Return (q,) what no honest interval is shorter than, on average at a distribution that explains the reports.

        None where intervals are normal, or where it is not known.
        """
        if self.explained is None or self.explained.reference is None:
            return None
        return self.explained.shortest_each(self.queries, confidence)

    def to_dict(self, confidence: float = CONFIDENCE) -> dict[str, Any]:
        """Return what every estimate has, and what stands beside an interval that is not normal."""
        found = super().to_dict(confidence)
        if self.explained is None:
            return found
        shortest = self.shortest_possible(confidence)
        each = [None] * self.value.size if shortest is None else shortest.tolist()
        found |= {"shortest_possible": each} | facts_beside(self.explained)
        p_value, free = found["assumption_p_value"], self.explained.unassumed()
        if p_value is not None and p_value < REFUTED and free is not None:
            without = replace(self, explained=free).interval(confidence)
            found["without_assumption"] = np.stack([without.low, without.high], axis=1).tolist()
        return found

    @property
    def labels(self) -> Mapping[str, Sequence[Any]]:
        """The number of each query, from 1."""
        return {"query": list(range(1, self.value.size + 1))}


def estimate_queries(
    counts: ReportCounts,
    queries: ArrayLike,
    *,
    prior: ArrayLike | None = None,
    target: Target = "population",
    assume: Assumption | Sequence[Assumption] = (),
) -> QueriesEstimate:
    """Answer linear queries of the distribution on the knots of tables, without bias.

    Parameters
    ----------
    counts : ReportCounts
        Of one service or of several whose tables have the same knots, of at least two users. A value between knots
        counts as its two neighbours, by the rounding.
    queries : (q, n) array_like
        Weights of the n knots.
    prior : (n,) array_like, optional
        Weights of the knots at which the variance is made least. Default: the table's prior, or equal weights; of
        several tables, the average of these.
    target : {"population", "users"}
        Whose distribution it is; for "users" the scatter of their own values is left out.
    assume : Assumption or sequence of Assumption
        What intervals may assume of the distribution, all of it (`estimators.assumptions`); answers do not use it.

    Returns
    -------
    answers : QueriesEstimate

    Raises
    ------
    InputError
        Counts of other things than numbers, of rounds, of tables whose knots differ or of fewer than two users,
        queries that do not fit the knots, or that some table's reports cannot answer; assumptions with target "users"
        or on other knots.

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
    if not isinstance(counts, ReportCounts):
        raise InputError("queries are answered from the counts of reports of numbers, count(table, reports)")
    counts.require_one_time("an answer to queries")
    counts.require_reports()
    if counts.n_users < 2:
        raise InputError(f"users must be at least 2 for a standard error, got {counts.n_users}")
    knots = counts.mechanisms[0].knots
    if (other := [s.name for s in counts.services if not np.array_equal(s.mechanism.knots, knots)]) != []:
        raise InputError(f"tables must have the same knots for queries of several, got others in {other[0]!r}")
    asked = checked_queries(queries, knots.size)
    each = [np.ones(knots.size) if table.prior is None else table.prior.weights for table in counts.mechanisms]
    weights = normalised("prior", knots.size, np.mean(each, axis=0) if prior is None else prior)
    laws = [table.statistic.law for table in counts.mechanisms]
    of_users = target == "users"  # whose own scatter is a query of squares, less the squared answer
    wanted = np.vstack([asked, asked**2]) if of_users else asked
    decoders = [numbers_of(wanted, law, weights) for law in laws]
    precisions = [1 / _noise(numbers, wanted, law, weights) for numbers, law in zip(decoders, laws, strict=True)]
    averages, squares = np.zeros(len(wanted)), np.zeros(len(asked))
    for group in counts.groups:
        numbers = _of_group(group, decoders, precisions)
        averages += numbers @ group.counts / counts.n_users
        squares += numbers[: len(asked)] ** 2 @ group.counts / counts.n_users
    found = answers_of(averages, squares, len(asked), counts.n_users, target)
    held = [assume] if isinstance(assume, Assumption) else list(assume)
    if target == "population":
        explained = AffinePairs.fitted(Outcomes.of(counts, at_knots=True), Assumed.of(held, knots, weights))
        return replace(found, explained=explained, queries=asked)
    if held:
        raise InputError(f"an assumption is of the population, got target {target}: leave it out")
    return found


def answers_of(averages: np.ndarray, squares: np.ndarray, many: int, n: int, target: Target) -> QueriesEstimate:
    """Return answers by the averages of users' numbers, of queries and then of their squares, and the mean squares."""
    value = averages[:many]
    scatter = squares - (averages[many:] if target == "users" else value**2)
    return QueriesEstimate(value, np.sqrt(np.maximum(scatter, 0.0) / (n - 1)), n, target=target)


def checked_queries(queries: ArrayLike, values: int) -> np.ndarray:
    """Return queries as numbers (q, n), or raise InputError for ones that are not, or not of so many values.

    Example
    -------
    >>> checked_queries([[1, 0]], 2)
    array([[1., 0.]])
    """
    asked = np.asarray(queries, dtype=np.float64)
    if asked.ndim != 2 or asked.shape[1] != values or not np.isfinite(asked).all():
        raise InputError(f"queries must be finite, a column for each of {values} values, got {asked.shape}")
    return asked


LEAST_NOISE = 1e-12
"""Variance below which a query's numbers are without noise, as of a query that all values answer alike."""


def _noise(numbers: np.ndarray, queries: np.ndarray, law: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the variance (q,) that a report adds to each answer, given its user's value, averaged by the weights."""
    return np.maximum(numbers**2 @ (weights @ law) - queries**2 @ weights, LEAST_NOISE)


def _of_group(group: ReportGroup, decoders: Sequence[np.ndarray], precisions: Sequence[np.ndarray]) -> np.ndarray:
    """Return the numbers (q, k) of users of the same services, for each combination of their outputs."""
    total = np.sum([precisions[j] for j in group.services], axis=0)
    return np.sum(
        [
            (precisions[j] / total)[:, None] * decoders[j][:, column]
            for j, column in zip(group.services, group.outputs.T, strict=True)
        ],
        axis=0,
    )


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
