"""What ways tell whose reports are of whole histories: all periods together, by least squares."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np

from ....estimators.over_time import PeriodMeans
from ....estimators.over_time.directions import estimate_directions
from ....estimators.over_time.linear import estimate_rows, grouped
from ....estimators.over_time.tree import of_tree
from ....mechanisms.errors import InputError
from ....mechanisms.over_time import Directions, HistoryRows, Tree, Way
from ....mechanisms.over_time.histories import scaled


@singledispatch
def of_histories(
    way: Way, reports: Any, beside: dict[str, np.ndarray], of: str, smooth: float | None, target: Any
) -> PeriodMeans | None:
    """Return what reports of histories tell, in the units of values; None where reports are of single periods."""
    return


@of_histories.register
def _(
    way: HistoryRows, reports: np.ndarray, beside: dict[str, np.ndarray], of: str, smooth: float | None, target: Any
) -> PeriodMeans:
    low, high = way.values.domain  # pyright: ignore[reportAttributeAccessIssue] -- of numbers
    found = grouped(way.rows, way.variances, beside["row"], scaled(reports, low, high))
    if way.stays and smooth is not None:
        raise InputError("values that are taken to stay have nothing to smooth, got --smooth: leave it out")
    return in_units(way, lambda asked: estimate_rows(found, asked, stays=way.stays, target=target), of, smooth)


@of_histories.register
def _(
    way: Directions, reports: np.ndarray, beside: dict[str, np.ndarray], of: str, smooth: float | None, target: Any
) -> PeriodMeans:
    means = estimate_directions(way, reports, target=target)

    def average() -> PeriodMeans:
        return replace(means.average(), n=means.n[:1])

    def asked_for(asked: str) -> PeriodMeans:
        return {"each": lambda: means, "average": average, "change": means.changes}[asked]()

    return in_units(way, asked_for, of, smooth)


@of_histories.register
def _(
    way: Tree, reports: np.ndarray, beside: dict[str, np.ndarray], of: str, smooth: float | None, target: Any
) -> PeriodMeans:
    found = of_tree(way, reports, beside["branch"].astype(int), beside["period"])
    return in_units(way, lambda asked: estimate_rows(found, asked, target=target), of, smooth)


def in_units(way: Way, estimate: Any, of: str, smooth: float | None) -> PeriodMeans:
    """Return an estimate in the units of values, smoothed before averages and changes are taken."""
    low, high = way.values.domain  # pyright: ignore[reportAttributeAccessIssue] -- of numbers
    half, middle = 0.5 * (high - low), 0.5 * (high + low)
    if smooth is None:
        return estimate(of).affine(half, 0.0 if of == "change" else middle)
    means: PeriodMeans = estimate("each").affine(half, middle).smoothed(smooth)
    return {"each": lambda: means, "average": means.average, "change": means.changes}[of]()


def require_rows(way: Any, periods: np.ndarray, users: np.ndarray | None, beside: dict[str, np.ndarray]) -> None:
    """Raise InputError for rows that are not the way's, do not end in their period, or are not their user's."""
    if "branch" in beside:
        _require_branches(way, users, beside["branch"])
    if "row" not in beside:
        return
    row = beside["row"]
    if ((row != np.rint(row)) | (row < 0) | (row >= len(way.rows))).any():
        raise InputError(
            f"rows must be whole numbers from 0 to {len(way.rows) - 1}, got others: these are of another way"
        )
    beside["row"] = row = row.astype(int)
    wrong = way.ends[row] != periods
    if users is not None:
        wrong |= way.rows_of(users.astype(str).tolist()) != row
    if wrong.any():
        raise InputError(
            f"reports must be of their users' rows in their last periods, got {int(wrong.sum())} others, the first in "
            f"period {int(periods[int(np.argmax(wrong))])}: these are of another way, or forged"
        )


def _require_branches(way: Any, users: np.ndarray | None, branch: np.ndarray) -> None:
    """Raise InputError for branches that are not the way's, or not their user's."""
    many = len(way.branches)
    wrong = (branch != np.rint(branch)) | (branch < 0) | (branch > many)
    if users is not None:
        wrong |= way.beside(users.astype(str).tolist())["branch"] != branch
    if wrong.any():
        raise InputError(
            f"reports must be of their users' branches, from 0 to {many}, got {int(wrong.sum())} others: these are of "
            "another way, or forged"
        )
