"""How much two inputs differ in an event, from below: in earnest by Clopper and Pearson, in a search by Wilson.

Inputs are drawn at random, each of the two with the same chance. Of the reports in an event, the share that came from
the first input then is p / (p + q), whatever p and q are, and epsilon is at least its log-odds.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv


def certain_bound(inside: int, other: int, risk: float) -> float:
    """Return the log-ratio that the event shows at least, wrong with probability `risk` at most; -inf for nothing.

    log(s / (1 - s)), s being Clopper and Pearson's lower bound of the share inside / (inside + other).

    Parameters
    ----------
    inside, other : int
        Reports in the event of the first and of the second input, each input drawn with probability one half.
    risk : float

    Source: Clopper and Pearson (1934).

    Example
    -------
    >>> certain_bound(0, 5, 0.01), round(certain_bound(900, 100, 0.01), 3), round(certain_bound(50, 0, 0.001), 3)
    (-inf, 1.953, 1.91)
    """
    if inside == 0:
        return -np.inf
    share = float(betaincinv(inside, other + 1, risk))
    return float(np.log(share) - np.log1p(-share)) if share > 0 else -np.inf


def likely_bound(one: np.ndarray, other: np.ndarray, weight: np.ndarray | float, z: np.ndarray | float) -> np.ndarray:
    """Return Wilson's bound of the log-ratio, z standard errors down: quick, and good enough to search by.

    Parameters
    ----------
    one, other : ndarray
        Reports in events, of a first and of a second input.
    weight : float or ndarray
        Reports of the second input for each of the first, in or out of the event.
    z : float or ndarray

    Source: Wilson (1927).

    Example
    -------
    >>> likely_bound(np.array([0, 5, 900]), np.array([0, 0, 100]), 1.0, 2.0).round(2)
    array([-inf, 0.22, 1.99])
    """
    total = one + other
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = z * np.sqrt(one * (other / total) + z * z / 4)
        low = one + z * z / 2 - spread  # the share, times total + z^2
        bound = np.log(low / (total + z * z - low)) + np.log(weight)
    return np.where(one > 0, bound, -np.inf)
