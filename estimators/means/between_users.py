"""Weights between users who reported to different services, where those users may be taken for alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...mechanisms.table.table import TabulatedMechanism
from ..counting.counts import ReportCounts
from ..input_grid import InputGrid
from ..intervals import Sample


def user_precision(
    tables: Sequence[TabulatedMechanism], values: Sequence[np.ndarray], grid: InputGrid, prior: np.ndarray
) -> float:
    r"""Return one over the expected variance of a user's number: sum_j E_p Var(d_j | x) + Var_p(x).

    Parameters
    ----------
    tables : sequence of TabulatedMechanism
        Of the user's services.
    values : sequence of (m_j,) ndarray of float
        What each output of each table adds to the user's number, which is unbiased.
    grid : InputGrid
        K components.
    prior : (K,) ndarray of float
        Weights of the components, summing to one.

    Example
    -------
    >>> from ...mechanisms.families.duchi import duchi
    >>> table, grid = duchi([-1.0, 1.0], 1.0), InputGrid.knots([-1.0, 1.0])
    >>> round(1 / user_precision([table], [table.low], grid, np.array([0.5, 0.5])), 4)  # reports are +-2.164
    4.6827
    """
    points = grid.points
    spread = prior @ points**2 - (prior @ points) ** 2
    for table, added in zip(tables, values, strict=True):
        rows = grid.rows(table)
        spread += prior @ (rows @ added**2 - (rows @ added) ** 2)
    return float(1.0 / spread)


def weighed_sample(counts: ReportCounts, totals: Sequence[np.ndarray], precisions: Sequence[float]) -> Sample:
    r"""Return the sample whose mean is that of the users' numbers, weighed by the precision of their group.

    Given which users reported to which services, the variance of sum_u v_u z_u / sum_u v_u is that of the average of

        z + (v_u / mean v) (z_u - z),    z the weighted mean,

    which are what the sample holds.  Its width is infinite: the bounds for any number of users are not for it.

    Parameters
    ----------
    counts : ReportCounts
        G groups.
    totals : sequence of (R_g,) ndarray of float
        The users' numbers z.
    precisions : sequence of float
        v of each group, positive.

    Source: Cochran (1977), "Sampling techniques", chapter 5, on weights of strata with one mean.

    Example
    -------
    >>> from ...mechanisms.families.duchi import duchi
    >>> from ..counting.counts import Service
    >>> services = [Service("a", duchi([-1.0, 1.0], 1.0)), Service("b", duchi([-1.0, 1.0], 2.0))]
    >>> counts = ReportCounts.from_outputs(services, [[0, -1], [1, -1], [-1, 0], [-1, 0]])
    >>> weighed_sample(counts, [np.array([2.0, 4.0]), np.array([1.0])], [1.0, 3.0]).mean
    1.5
    """
    numbers, seen = np.concatenate(totals), np.concatenate([group.counts for group in counts.groups])
    weight = np.repeat(precisions, [len(group.counts) for group in counts.groups])
    share = weight * seen.sum() / (seen @ weight)
    mean = float(seen @ (share * numbers)) / float(seen.sum())
    return Sample.of(mean + share * (numbers - mean), seen, np.inf)
