"""Means of periods from directions that agree with histories: their average, scaled back."""

from __future__ import annotations

import numpy as np

from ...mechanisms.errors import InputError
from ...mechanisms.over_time import Directions
from ...mechanisms.over_time.directions import POINT_BITS, ROOT_BITS
from ...mechanisms.over_time.normal_numbers import spread
from ...solvers.over_time.largest_normals import largest_sums
from ..methods import Target
from .periods import PeriodMeans

AT_ONCE = 2**18
"""Numbers of directions that are made at once: they stay in a processor's cache."""


def estimate_directions(way: Directions, reports: np.ndarray, *, target: Target = "population") -> PeriodMeans:
    """Return the means of all periods, with values scaled to [-1, 1].

    The direction g that is sent has the mean b v / |v| for a scaled history v = B x, with b the agreement that the
    weights give; |v| is the same for all users. So the mean of x is that of B^-1 g |v| / b, and its covariance that of
    these, which reports show. About these very users it is less, by what single reports do not tell: intervals for both
    targets are the same.

    Parameters
    ----------
    way : Directions
    reports : (N, 2) ndarray of uint64
    target : {"population", "users"}

    Raises
    ------
    InputError
        Fewer than two reports.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.designer import Prior
    >>> from optldp.designer.over_time import Repeated
    >>> from optldp.designer.over_time.directions import design_directions
    >>> from optldp.estimators.over_time.directions import estimate_directions
    >>> way = design_directions(Prior.even([-1.0, 1.0]), 4.0, Repeated(4, 1))
    >>> reports = way.drawn(np.tile([0.5, 0.5, -1, -1], (4000, 1)), np.random.default_rng(1))
    >>> estimate_directions(way, reports).value.round(1).tolist()
    [0.5, 0.5, -1.0, -1.0]
    """
    checked, many = way.checked_reports(reports), len(reports)
    if many < 2:
        raise InputError(f"there must be at least two reports, got {many}: add files")
    sums, squares = np.zeros(way.periods), np.zeros((way.periods, way.periods))
    some = max(1, AT_ONCE // way.periods)
    for start in range(0, many, some):
        found = way.directions_of(checked[start : start + some]) / spread()
        sums += found.sum(axis=0)
        squares += found.T @ found
    mean = sums / many
    covariance = (squares / many - np.outer(mean, mean)) / (many - 1)
    high, low = way.weights
    agreement = (high - low) * largest_sums(way.directions)[way.favoured - 1] / way.total
    back = np.linalg.inv(way.root / 2.0**ROOT_BITS) * (way.length / 2.0**POINT_BITS / agreement)
    return PeriodMeans(
        np.arange(1, way.periods + 1), back @ mean, back @ covariance @ back.T, np.full(way.periods, many),
        "least-squares", target,
    )  # fmt: skip
