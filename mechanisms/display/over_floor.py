"""A law over its floor: how many times as likely a value makes a report as the value that makes it least likely."""

from __future__ import annotations

import numpy as np

FAVOUR = "log of the probability over its floor"


def over_floor(probabilities: np.ndarray, floors: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return every probability over its report's floor, and the floors.

    Reports' own rates cancel out: of a mechanism that spends its budget nearly all ratios are 1 or e^epsilon, and a
    value's window is seen. A ratio is infinite where some other value never gives the report, and 1 where none does.

    Parameters
    ----------
    probabilities : (n, m) ndarray of float
        Of m reports at n values.
    floors : (m,) ndarray of float, optional
        Where these are some of all values: the least of all of them.

    Returns
    -------
    ratios : (n, m) ndarray of float
        At least 1.
    floors : (m,) ndarray of float
        The least probability of each report over all values.

    Example
    -------
    >>> ratios, floors = over_floor(np.array([[0.75, 0.25], [0.25, 0.75]]))
    >>> ratios.tolist(), floors.tolist()
    ([[3.0, 1.0], [1.0, 3.0]], [0.25, 0.25])
    """
    least: np.ndarray = np.min(probabilities, axis=0) if floors is None else floors
    ratios = np.where(probabilities > 0, np.inf, 1.0)
    np.divide(probabilities, least, out=ratios, where=least > 0)
    return ratios, least


def favour(probabilities: np.ndarray) -> np.ndarray:
    """Return the logarithm of every probability over its report's floor, infinite ones as the largest that is not.

    Example
    -------
    >>> favour(np.array([[0.5, 0.25, 0.25], [0.25, 0.75, 0.0]])).round(2).tolist()
    [[0.69, 0.0, 1.1], [0.0, 1.1, 0.0]]
    """
    ratios, _ = over_floor(probabilities)
    return np.log(np.minimum(ratios, ratios[np.isfinite(ratios)].max(initial=1.0)))
