"""What a report may cost: losses by their names, functions of one's own, or numbers in a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ....mechanisms.errors import InputError

Losses = str | Callable[[np.ndarray, np.ndarray], ArrayLike] | ArrayLike

CIRCULAR = "circular"
"""The loss that only values on a circle have."""

LOSSES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "absolute": lambda distance: distance,
    "squared": lambda distance: distance**2,
    "zero-one": lambda distance: (distance > 0).astype(float),
    CIRCULAR: lambda distance: distance,
}
"""By name, of the distances (n, m) of outputs from values."""

OF_LABELS = ("zero-one",)
"""Names of those that need no distance."""


def losses_of(
    asked: Losses, values: np.ndarray, outputs: np.ndarray, *, labels: bool = False, period: float | None = None
) -> np.ndarray:
    """Return what each output costs for each value (n, m); InputError for what is no such number.

    Parameters
    ----------
    asked : str, callable or (n, m) array_like
        A function gets values (n, 1) or places (n, 1, 2), and outputs.
    values, outputs : (n,), (m,) ndarray
        Of places (n, 2), (m, 2).
    labels : bool
        Whether values are labels, by their numbers, between which there are no distances.
    period : float, optional
        Of a circle that values are on: distance is the shorter way round.

    Example
    -------
    >>> losses_of("absolute", np.array([0.0, 1.0]), np.array([0.0, 0.5])).tolist()
    [[0.0, 0.5], [1.0, 0.5]]
    >>> losses_of("circular", np.array([0.0, 1.0]), np.array([0.0, 23.0]), period=24).tolist()
    [[0.0, 1.0], [1.0, 2.0]]
    """
    if isinstance(asked, str):
        known = OF_LABELS if labels else tuple(name for name in LOSSES if name != CIRCULAR or period is not None)
        if asked not in known:
            hint = ": give --circle PERIOD, or a prior.with_period(24)" if asked == CIRCULAR and not labels else ""
            told = f"{', '.join(known)}, or a function or numbers of your own"
            raise InputError(f"a loss must be {told}, got {asked!r}{hint}")
        apart = outputs - values[:, None]
        apart = np.hypot(*np.moveaxis(apart, -1, 0)) if values.ndim > 1 else np.abs(apart)
        return LOSSES[asked](apart if period is None else way_round(apart, period))
    try:
        losses = np.asarray(asked(values[:, None], outputs) if callable(asked) else asked, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"losses must be numbers of values (n, 1) and outputs (m,), got: {error}") from None
    if losses.shape != (len(values), len(outputs)) or not np.isfinite(losses).all():
        told = f"shape {losses.shape}" if np.isfinite(losses).all() else "others"
        raise InputError(
            f"losses must be finite, a row for each of {len(values)} values and a column for each of {len(outputs)} "
            f"outputs, got {told}"
        )
    return losses


class Readings(NamedTuple):
    """What each of m reports is best read as, by whoever knows the prior.

    Attributes
    ----------
    best : (m,) ndarray of int
        Number of the reading of least expected loss, the first one of several.
    chance : (m,) ndarray
        Probability of the report under the prior.
    cost : (m,) ndarray
        That probability times the expected loss of the reading, once the report is seen.
    """

    best: np.ndarray
    chance: np.ndarray
    cost: np.ndarray

    @property
    def risk(self) -> np.ndarray:
        """(m,) posterior risk: expected loss once the report is seen; NaN for a report that the prior rules out."""
        known = self.chance > 0
        return np.divide(self.cost, self.chance, out=np.full(self.cost.shape, np.nan), where=known)


def best_readings(law: np.ndarray, weights: np.ndarray, losses: np.ndarray) -> Readings:
    """Return what each report is best read as: argmin_r sum_x p(x) P(y | x) l(x, r).

    Parameters
    ----------
    law : (n, m) ndarray
        P(y | x), of n values and m reports.
    weights : (n,) ndarray
        The prior p.
    losses : (n, k) ndarray
        l(x, r), of k readings.

    Example
    -------
    >>> law = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> found = best_readings(law, np.array([0.9, 0.1]), 1 - np.eye(2))
    >>> found.best.tolist(), found.risk.round(4).tolist()
    ([0, 0], [0.0357, 0.25])
    """
    joint = weights[:, None] * law
    costs = joint.T @ losses
    return Readings(costs.argmin(1), joint.sum(0), costs.min(1))


def way_round(apart: np.ndarray, period: float) -> np.ndarray:
    """Return the shorter way round a circle between values that are so far apart on the line, not below zero.

    Example
    -------
    >>> way_round(np.array([1.0, 23.0, 25.0]), 24.0).tolist()
    [1.0, 1.0, 1.0]
    """
    once = apart % period
    return np.minimum(once, period - once)


def known_or_read(asked: str, names: Mapping[str, object], what: str) -> str | np.ndarray:
    """Return a name that there is, or the numbers of the file of that name; InputError for neither.

    Example
    -------
    >>> known_or_read("absolute", LOSSES, "a loss")
    'absolute'
    """
    if asked in names:
        return asked
    from ....estimators.reading.columns.number_cells import read_matrix  # with duckdb, which no name waits for

    try:
        return read_matrix(asked)
    except InputError as error:
        raise InputError(f"{what} must be one of {', '.join(names)}, or a file of numbers, got: {error}") from None
