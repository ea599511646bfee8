"""How the values behind reports scatter, as far as the reports tell: what an interval without privacy rests on.

The variance of the values is no unbiased function of the reports of most tables, so it is that of a distribution on the
knots under which all reports are likely, by EM from even weights that stops early.  It is good to some tenths where
noise prevails, and no part of any interval of an estimate.  Values between knots count as rounded to them, so that the
variance is a little too large: by a quarter of the squared spacing at most.
"""

from __future__ import annotations

import numpy as np

from ...mechanisms.table.table import TabulatedMechanism
from ..counting.counts import ReportCounts

LOGLIK_CHANGE = 1e-3
"""A step that changes the log-likelihood by less, in nats, is the last one: sooner than EM follows the noise."""

MOST_STEPS = 2_000

MOST_KNOTS, MOST_OUTPUTS = 512, 1024
"""Of a table that the steps go through: of more knots evenly spaced ones are looked at, and of more outputs neighbours
together.  So a large table takes no longer, and is off by the spacing that is left, of which see above."""


class ValueScatter:
    """The distribution of the values of all users, and from it the variance of those of a part.

    For a part it is one more step of EM from what all have, which draws small parts to all together.

    Parameters
    ----------
    table : TabulatedMechanism
    outputs : (m,) ndarray of float
        How often, or with what weight, each output was reported by all.
    users : float
        How many users of equal weights tell as much.

    Example
    -------
    >>> from optldp.mechanisms.families.grr import grr
    >>> scatter = ValueScatter(grr([0.0, 1.0], 3.0), np.array([500.0, 500.0]), 1000)
    >>> round(scatter.variance(np.array([500.0, 500.0])), 3)
    0.25
    """

    def __init__(self, table: TabulatedMechanism, outputs: np.ndarray, users: float) -> None:
        self._few = _Few(table.knots, [table.probabilities])
        self._weights = _likely(self._few.probabilities, self._few.counts([outputs / outputs.sum() * users]))

    def variance(self, outputs: np.ndarray) -> float:
        """Return the variance of the values of users who reported each output (m,) so often."""
        few = self._few
        return _variance(few.knots, _step(self._weights, few.probabilities, few.counts([outputs])))


def value_variance(counts: ReportCounts) -> float | None:
    """Return the variance of the values behind counts, squared units; None for tables without common knots.

    Users of several services count once for each of their reports.

    Example
    -------
    >>> from optldp.mechanisms.families.grr import grr
    >>> round(value_variance(ReportCounts.from_reports(grr([0.0, 1.0], 3.0), np.repeat([0.0, 1.0], 500))), 3)
    0.25
    """
    knots = counts.mechanisms[0].knots
    if any(not np.array_equal(knots, table.knots) for table in counts.mechanisms):
        return None
    few = _Few(knots, [table.probabilities for table in counts.mechanisms])
    often = few.counts([counts.reports_of(j).astype(np.float64) for j in range(len(counts.services))])
    return _variance(few.knots, _likely(few.probabilities, often))


class _Few:
    """Tables on the same knots side by side, of no more knots and outputs than are looked at."""

    def __init__(self, knots: np.ndarray, tables: list[np.ndarray]) -> None:
        rows = np.linspace(0, knots.size - 1, min(knots.size, MOST_KNOTS)).round().astype(int)
        self.knots, self._starts = knots[rows], [_starts(table.shape[1]) for table in tables]
        self.probabilities = np.hstack(
            [np.add.reduceat(table[rows], ends, axis=1) for table, ends in zip(tables, self._starts, strict=True)]
        )

    def counts(self, often: list[np.ndarray]) -> np.ndarray:
        """Return what outputs (m,) of each table count together."""
        return np.concatenate([np.add.reduceat(one, ends) for one, ends in zip(often, self._starts, strict=True)])


def _starts(outputs: int) -> np.ndarray:
    """The first output of each group of neighbours."""
    return np.arange(0, outputs, -(-outputs // MOST_OUTPUTS))


def _likely(probabilities: np.ndarray, often: np.ndarray) -> np.ndarray:
    """Weights (n,) of the knots under which outputs seen so often (m,) are likely."""
    seen = often > 0
    probabilities, often = probabilities[:, seen], often[seen]
    weights, last = np.full(len(probabilities), 1.0 / len(probabilities)), -np.inf
    for _ in range(MOST_STEPS):
        now = float(often @ np.log(weights @ probabilities))
        if now - last < LOGLIK_CHANGE:
            break
        weights, last = _step(weights, probabilities, often), now
    return weights


def _step(weights: np.ndarray, probabilities: np.ndarray, often: np.ndarray) -> np.ndarray:
    seen = often > 0
    made = weights * (probabilities[:, seen] @ (often[seen] / (weights @ probabilities[:, seen])))
    return made / made.sum()


def _variance(knots: np.ndarray, weights: np.ndarray) -> float:
    return float(weights @ (knots - weights @ knots) ** 2)
