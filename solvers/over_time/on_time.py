"""Who reports a value and who its change, if each period is answered when it ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .rows import improved_shares


@dataclass(frozen=True, eq=False)
class OnTime:
    """Shares of users, and what they tell of each period when it ends.

    Attributes
    ----------
    levels : (T,) ndarray of float
        Of users who report their value of a period.
    steps : (T,) ndarray of float
        Of those who report its change since the period before; the first is 0. All together have the sum one.
    each, change : float
        Average variances times n of the periods' means and of their changes, about a population's.

    Example
    -------
    >>> made = best_on_time(3, 1.0, 100.0, "each")
    >>> made.levels.round(2).tolist(), made.steps.round(2).tolist(), round(made.each, 2)
    ([0.33, 0.33, 0.33], [0.0, 0.0, 0.0], 3.0)
    """

    levels: np.ndarray
    steps: np.ndarray
    each: float
    change: float


def best_on_time(periods: int, level: float, step: float, of: str) -> OnTime:
    """Return the shares that tell each period's mean, or its change, best from what was reported until it ends.

    A level has variance v, a change w. With shares l_t and d_t, B_t = l_t / v and c_t = d_t / w, what is known of the
    mean of period t is I_t = B_t + c_t I_(t-1) / (I_(t-1) + c_t), and of its change
    c_t + I_(t-1) B_t / (I_(t-1) + B_t): the filter of levels and steps. Both variances are convex in the shares.

    Parameters
    ----------
    periods : int
        T, from 2.
    level, step : float
        v and w, positive.
    of : {"each", "change"}

    Example
    -------
    >>> made = best_on_time(3, 4.0, 1.0, "change")
    >>> made.levels.sum() < 0.1, round(made.change, 1)
    (np.True_, 2.0)
    """
    whole = np.zeros(2 * periods - 1)

    def gains(kept: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, float]:
        now = whole.copy()
        now[kept] = shares
        each, change = _variances(now, level, step)
        cost, gain = each if of == "each" else change
        return gain[kept], cost

    shares = improved_shares(gains, whole.size)
    (each, _), (change, _) = _variances(shares, level, step)
    return OnTime(shares[:periods], np.r_[0.0, shares[periods:]], each, change)


def _variances(
    shares: np.ndarray, level: float, step: float
) -> tuple[tuple[float, np.ndarray], tuple[float, np.ndarray]]:
    """The variance of a period's mean and that of a change, each with how much every share gains."""
    periods = (len(shares) + 1) // 2
    told, moved = (shares[:periods] / level).tolist(), [0.0, *(shares[periods:] / step).tolist()]
    known = [told[0]]
    for b, c in zip(told[1:], moved[1:], strict=True):
        known.append(b + _series(c, known[-1]))
    changes = [c + _series(before, b) for c, before, b in zip(moved[1:], known, told[1:], strict=False)]
    each, change = _mean_inverse(known), _mean_inverse(changes)
    found = []
    for of_each in (True, False):
        # Backwards: how the sum of variances falls with what is known of each period.
        slope, told_gain, moved_gain = 0.0, [0.0] * periods, [0.0] * periods
        for t in range(periods - 1, -1, -1):
            slope += 1 / known[t] ** 2 if of_each and known[t] else 0.0
            told_gain[t], moved_gain[t] = slope, slope
            if t == 0:
                break
            before, b, c = known[t - 1], told[t], moved[t]
            moved_gain[t] *= _slope(before, c)
            slope *= _slope(c, before)
            if not of_each:
                inverse = 1 / changes[t - 1] ** 2 if changes[t - 1] else 0.0
                moved_gain[t] += inverse
                told_gain[t] += inverse * _slope(before, b)
                slope += inverse * _slope(b, before)
        many = periods if of_each else periods - 1
        gain = np.r_[np.array(told_gain) / level, np.array(moved_gain[1:]) / step] / many
        found.append((each if of_each else change, gain))
    return found[0], found[1]


def _series(one: float, other: float) -> float:
    """Of two informations in series, one after the other."""
    return one * other / (one + other) if one and other else 0.0


def _slope(by: float, of: float) -> float:
    """How fast `_series` grows in `of`."""
    return (by / (by + of)) ** 2 if by else 0.0


def _mean_inverse(known: list[float]) -> float:
    return sum(1 / one if one else np.inf for one in known) / len(known)
