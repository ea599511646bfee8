"""What a report may cost: losses by their names, functions of one's own, or numbers in a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError

Losses = str | Callable[[np.ndarray, np.ndarray], ArrayLike] | ArrayLike

LOSSES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "absolute": lambda value, output: np.abs(output - value),
    "squared": lambda value, output: (output - value) ** 2,
    "zero-one": lambda value, output: (output != value).astype(float),
}
"""By name, of values (n, 1) and outputs (m,)."""

OF_LABELS = ("zero-one",)
"""Names of those that need no distance."""


def losses_of(asked: Losses, values: np.ndarray, outputs: np.ndarray, *, labels: bool = False) -> np.ndarray:
    """Return what each output costs for each value (n, m); InputError for what is no such number.

    Parameters
    ----------
    asked : str, callable or (n, m) array_like
    values, outputs : (n,), (m,) ndarray
    labels : bool
        Whether values are labels, by their numbers, between which there are no distances.

    Example
    -------
    >>> losses_of("absolute", np.array([0.0, 1.0]), np.array([0.0, 0.5])).tolist()
    [[0.0, 0.5], [1.0, 0.5]]
    """
    if isinstance(asked, str):
        if asked not in (known := OF_LABELS if labels else tuple(LOSSES)):
            raise InputError(f"a loss must be {', '.join(known)}, or a function or numbers of your own, got {asked!r}")
        return LOSSES[asked](values[:, None], outputs)
    try:
        losses = np.asarray(asked(values[:, None], outputs) if callable(asked) else asked, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"losses must be numbers of values (n, 1) and outputs (m,), got: {error}") from None
    if losses.shape != (values.size, outputs.size) or not np.isfinite(losses).all():
        told = f"shape {losses.shape}" if np.isfinite(losses).all() else "others"
        raise InputError(
            f"losses must be finite, a row for each of {values.size} values and a column for each of {outputs.size} "
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


def known_or_read(asked: str, names: Mapping[str, object], what: str) -> str | np.ndarray:
    """Return a name that there is, or the numbers of the file of that name; InputError for neither.

    Example
    -------
    >>> known_or_read("absolute", LOSSES, "a loss")
    'absolute'
    """
    if asked in names:
        return asked
    from ...estimators.data.numbers import read_matrix  # with duckdb, which no name waits for

    try:
        return read_matrix(asked)
    except InputError as error:
        raise InputError(f"{what} must be one of {', '.join(names)}, or a file of numbers, got: {error}") from None
