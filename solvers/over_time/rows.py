"""Which rows of histories users are to report, and with what shares: an optimal design, proved by its directions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .trajectories import reach

STEPS = 400

WORK = 6e9
"""Multiplications after which steps end, whatever the gap: some seconds."""

GAP = 1e-3
"""Relative gap of the certificate that is asked for."""

LEAST_SHARE = 1e-4
"""Rows with a smaller share of the users are left out; what is left is judged anew."""


@dataclass(frozen=True, eq=False)
class RowDesign:
    """Rows, the share of users for each, and their variance.

    Attributes
    ----------
    rows : (m, T) ndarray of float
        Of a reach of one.
    shares : (m,) ndarray of float
        Positive, of sum one.
    variances : (m,) ndarray of float
        Variance of one report of each row about its value, and of that value between users.
    information : (T, T) ndarray of float
        M = sum_a q_a a a' / v_a.
    value : float
        tr(W'W M^-1): the variance times n about the mean of a population.
    bound : float
        No shares of the candidates have a smaller value.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.over_time import best_rows
    >>> made = best_rows(np.eye(2), np.ones(2), np.zeros((2, 2)), np.eye(2), 1)
    >>> made.shares.tolist(), round(made.value, 2), round(made.bound, 2)
    ([0.5, 0.5], 4.0, 4.0)
    """

    rows: np.ndarray
    shares: np.ndarray
    variances: np.ndarray
    information: np.ndarray
    value: float
    bound: float


def candidate_rows(periods: int) -> np.ndarray:
    """Return rows that are tried: single periods, their differences, first parts against last ones, and cosines.

    Example
    -------
    >>> candidate_rows(3).shape
    (10, 3)
    """
    one, at = np.eye(periods), np.arange(periods)
    parts = np.where(at < np.arange(1, periods)[:, None], 1.0, -1.0)
    waves = np.cos(np.pi * np.outer(np.arange(periods), 2 * at + 1) / (2 * periods))
    return np.vstack([one, np.diff(one, axis=0), parts, waves])


def best_rows(
    candidates: np.ndarray, noise: np.ndarray, spread: np.ndarray, workload: np.ndarray, changes: int
) -> RowDesign:
    """Return the shares of rows that answer a workload of the periods' means with the least variance.

    A report of row a, scaled to a reach of one, varies by v_a = V_a + a' S a; least squares has the variance
    tr(W'W M^-1) / n with M = sum_a q_a a a' / v_a. By the equivalence theorem of Kiefer and Wolfowitz shares q are best
    exactly if no a has a' M^-1 W'W M^-1 a / v_a above that trace. With the largest of these, trace^2 / largest is a
    lower bound.

    Parameters
    ----------
    candidates : (C, T) ndarray of float
        Rows of any length.
    noise : (C,) ndarray of float
        V_a, of a report of each row scaled to a reach of one.
    spread : (T, T) ndarray of float
        S, covariances of a user's values, in units of half the range.
    workload : (T, T) ndarray of float
        W'W.
    changes : int
        k.

    Returns
    -------
    design : RowDesign

    Source: Kiefer and Wolfowitz (1960); multiplicative steps of Yu (2010).

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.over_time import best_rows
    >>> one = np.eye(3)
    >>> found = best_rows(one, np.ones(3), np.zeros((3, 3)), np.diag([1.0, 4.0, 9.0]), 2)
    >>> found.shares.round(3).tolist(), round(found.value, 2)
    ([0.167, 0.333, 0.5], 36.0)
    """
    rows = candidates / reach(candidates, changes)[:, None]
    varies = noise + np.einsum("ij,ij->i", rows @ spread, rows)
    steps = int(min(STEPS, max(1, WORK / (rows.size * rows.shape[1]))))

    def gains(kept: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, float]:
        return _directions(rows[kept], shares, varies[kept], workload)

    shares = improved_shares(gains, len(rows), steps)
    used = np.flatnonzero(shares)
    mine = shares[used]
    information = (rows[used] * (mine / varies[used])[:, None]).T @ rows[used]
    inverse = np.linalg.inv(information)
    value = float(np.trace(workload @ inverse))
    whole = np.einsum("ij,ij->i", rows @ (inverse @ workload @ inverse), rows) / varies
    return RowDesign(rows[used], mine, varies[used], information, value, value**2 / float(whole.max()))


def improved_shares(
    gains: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, float]], many: int, steps: int = STEPS
) -> np.ndarray:
    """Return the shares (C,) of so many rows, of sum one, after multiplicative steps from even ones; small ones are 0.

    Parameters
    ----------
    gains : callable
        Returns, of the numbers (K,) of the rows that are left and their shares, how much each gains, -df / dq, and the
        cost f; where shares are best no gain is above the cost.
    many, steps : int
        C, and at most so many steps.

    Example
    -------
    >>> improved_shares(lambda kept, shares: (1 / shares**2, float((1 / shares).sum())), 2).tolist()
    [0.5, 0.5]
    """
    shares, kept = np.full(many, 1 / many), np.arange(many)
    for _ in range(steps):
        each, cost = gains(kept, shares[kept])
        if each.max() <= (1 + GAP) * cost:
            break
        shares[kept] *= np.sqrt(each / cost)
        shares /= shares.sum()
        kept = np.flatnonzero(shares > LEAST_SHARE / 10)
    shares = np.where(shares > LEAST_SHARE, shares, 0.0)
    return shares / shares.sum()


def _directions(
    rows: np.ndarray, shares: np.ndarray, varies: np.ndarray, workload: np.ndarray
) -> tuple[np.ndarray, float]:
    """How much each row gains, and the trace that none may exceed where shares are best."""
    inverse = np.linalg.inv((rows * (shares / varies)[:, None]).T @ rows)
    each = np.einsum("ij,ij->i", rows @ (inverse @ workload @ inverse), rows) / varies
    return each, float(np.trace(workload @ inverse))
