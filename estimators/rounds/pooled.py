"""The reports of several files of one table as those of one, and how many of them are worth an independent one."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...mechanisms.table.table import TabulatedMechanism
from ..counting.counts import ReportCounts, same_table
from .by_user import average_by_user

FAINT = 1.0
"""Squared standard errors by which even masses at all knots must differ in a direction for reports to tell of it."""

MOST_DIRECTIONS = 32
"""Directions looked at, those that reports tell most of."""


def of_one_table(counts: ReportCounts) -> list[list[int]]:
    """Return the files, by position, that have the same table.

    Example
    -------
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> from ..counting.counts import Service
    >>> weeks = [Service(str(week), duchi([0.0, 1.0], epsilon)) for week, epsilon in enumerate([1.0, 2.0, 1.0])]
    >>> of_one_table(ReportCounts(tuple(weeks), ()))
    [[0, 2], [1]]
    """
    alike: list[list[int]] = []
    for j, mechanism in enumerate(counts.mechanisms):
        for others in alike:
            if same_table(counts.mechanisms[others[0]], mechanism):
                others.append(j)
                break
        else:
            alike.append([j])
    return alike


def pooled(counts: ReportCounts) -> ReportCounts:
    """Return the reports of all files, which have one table, as those of one service: a row is a report, not a user.

    Example
    -------
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> from ..counting.counts import Service
    >>> weeks = [Service(name, duchi([0.0, 1.0], 1.0)) for name in ("may", "june")]
    >>> pooled(ReportCounts.from_outputs(weeks, [[0, 0], [1, 1], [1, -1]])).groups[0].counts
    array([2, 3])
    """
    seen = np.sum([counts.reports_of(j) for j in range(len(counts.services))], axis=0)
    outputs = np.flatnonzero(seen)
    return ReportCounts.from_outputs(counts.services[:1], outputs[:, None], seen[outputs])


def reports_worth_one(counts: ReportCounts) -> float:
    r"""Return how many of the pooled reports of files of one table are worth an independent one, at least 1.

    The log-likelihood of pooled reports takes them for independent. What it says of a distribution it says through
    averages of functions f of the outputs; by user such an average has the variance of `average_by_user`, and the
    log-likelihood takes it for Var_q(f) / N, q the outputs' frequencies. The largest ratio of the two, over all f that
    reports tell anything of, is what the log-likelihood is divided by: no interval that follows from it is then shorter
    than its variance by user allows. It is T for T reports of a user that are the same, 1 for independent ones, and
    between the two for others.

    The f are those of least squares in the scores of masses at the knots, s_k(y) = P(y | k) / q(y) - 1, from those that
    even masses differ most in to those in which they differ by one standard error.

    Parameters
    ----------
    counts : ReportCounts
        At least two users.

    Source: Kish (1965), "Survey sampling", section 5.4, for the design effect; Rao and Scott (1984), "On chi-squared
    tests for multiway contingency tables with cell proportions estimated from survey data", for its eigenvalues.

    Example
    -------
    >>> from optldp.mechanisms.families.grr import grr
    >>> from ..counting.counts import Service
    >>> weeks = [Service(name, grr([0.0, 1.0], 1.0)) for name in ("may", "june", "july")]
    >>> same = ReportCounts.from_outputs(weeks, np.repeat([[0, 0, 0], [1, 1, 1]], 500, axis=0))
    >>> round(reports_worth_one(same), 2)
    3.0
    """
    if counts.n_users < 2:
        return float(max(len(group.services) for group in counts.groups))
    seen = np.sum([counts.reports_of(j) for j in range(len(counts.services))], axis=0)
    told = _directions(counts.mechanisms[0], seen)
    if not told.shape[1]:
        return 1.0
    _, covariance = average_by_user(counts, [told] * len(counts.services))
    _, independent = average_by_user(pooled(counts), [told])
    root = np.linalg.inv(np.linalg.cholesky(independent))
    return max(1.0, float(np.linalg.eigvalsh(root @ covariance @ root.T)[-1]))


def _directions(mechanism: TabulatedMechanism, seen: np.ndarray) -> np.ndarray:
    """Functions (m, r) of the outputs that reports tell something of, next to uncorrelated and of variance one."""
    there = mechanism.possible
    often = np.where(there, seen + 0.5, 0.0)
    share = often[there] / often.sum()
    scores = mechanism.probabilities[:, there] / share - 1.0
    vectors, sizes, _ = np.linalg.svd((scores * np.sqrt(share)).T / math.sqrt(len(scores)), full_matrices=False)
    many = min(MOST_DIRECTIONS, int((seen.sum() * sizes**2 > FAINT).sum()))
    found = np.zeros((there.size, many))
    found[there] = vectors[:, :many] / np.sqrt(share)[:, None]
    return found


def shares_of(counts: ReportCounts, alike: Sequence[Sequence[int]]) -> np.ndarray:
    """Return the share of all reports that each of several sets of files has.

    Example
    -------
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> from ..counting.counts import Service
    >>> weeks = [Service(name, duchi([0.0, 1.0], 1.0)) for name in ("may", "june")]
    >>> shares_of(ReportCounts.from_outputs(weeks, [[0, 0], [1, 1], [1, -1]]), [[0], [1]])
    array([0.6, 0.4])
    """
    reports = np.array([sum(int(counts.reports_of(j).sum()) for j in files) for files in alike], dtype=float)
    return reports / reports.sum()
