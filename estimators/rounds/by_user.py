"""The average of numbers over all reports of several files, and its covariance by user."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..counting.counts import ReportCounts


def average_by_user(counts: ReportCounts, numbers: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the average (r,) of r numbers for each report, over all reports, and its covariance (r, r) by user.

    With N reports, n users and m_t the average over the reports of file t, a user u whose report to file t is y_ut adds
    z_u = sum_t (d_t(y_ut) - m_t), over the files that u reported to, to N times the average. Users are independent of
    each other, and nothing is asked of the reports of one of them: they may be equal, or of correlated values, or
    independent. So the covariance is

        n / (n - 1)  sum_u z_u z_u^T / N^2,

    about the average of the files' own expectations, weighed by their numbers of reports, which are taken as given. For
    one file it is that of a sample mean; for T files of the same n users with remembered reports that of one file; with
    independent reports that of T n users.

    Parameters
    ----------
    counts : ReportCounts
        J files, at least two users.
    numbers : sequence of (m_j, r) ndarray of float
        What each output of each file counts as.

    Source: Liang and Zeger (1986), "Longitudinal data analysis using generalized linear models", equation (10), with an
    independence working correlation.

    Example
    -------
    >>> from optldp.mechanisms.families.grr import grr
    >>> from ..counting.counts import Service
    >>> weeks = [Service(name, grr([0.0, 1.0], 1.0)) for name in ("may", "june")]
    >>> same = ReportCounts.from_outputs(weeks, np.repeat([[0, 0], [1, 1]], 50, axis=0))
    >>> value, covariance = average_by_user(same, [np.array([[0.0], [1.0]])] * 2)
    >>> value, np.sqrt(covariance).round(4)  # of 100 users, not of 200 reports
    (array([0.5]), array([[0.0503]]))
    """
    seen = [counts.reports_of(j) for j in range(len(counts.services))]
    reports, users = sum(int(one.sum()) for one in seen), counts.n_users
    average = np.sum([one @ number for one, number in zip(seen, numbers, strict=True)], axis=0) / reports
    centred = [number - one @ number / max(one.sum(), 1) for one, number in zip(seen, numbers, strict=True)]
    total = np.zeros((average.size, average.size))
    for group in counts.groups:
        added = sum(centred[j][column] for j, column in zip(group.services, group.outputs.T, strict=True))
        total += (added * group.counts[:, None]).T @ added
    return average, total * (users / (users - 1) / reports**2)
