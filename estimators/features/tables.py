"""Tables of two columns, from estimated cells and their covariance: a test of independence, the odds ratio of 2 x 2.

Pearson's statistic is of open counts. On estimated cells, whose noise is many times that of counts, it rejects
independence nearly always: the test here has the cells' own covariance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from ..intervals import CONFIDENCE, normal_quantile
from .fieller import fieller


@dataclass(frozen=True)
class IndependenceTest:
    """Wald's test that rows and columns of a table are independent.

    Attributes
    ----------
    statistic : float
        Chi-squared, if they are.
    degrees : int
    p : float
        Probability of at least this statistic if they are independent.

    Example
    -------
    >>> from optldp.estimators.features import IndependenceTest
    >>> IndependenceTest(3.84, 1, 0.05).degrees
    1
    """

    statistic: float
    degrees: int
    p: float


def independence(cells: ArrayLike, covariance: ArrayLike) -> IndependenceTest:
    """Test whether p_ij = p_i. p_.j for all i and j, by Wald's statistic with the cells' covariance.

    Parameters
    ----------
    cells : (r, c) array_like of float
        Estimated shares; they may be negative.
    covariance : (r c, r c) array_like of float
        Of the cells, row by row.

    Returns
    -------
    found : IndependenceTest

    Raises
    ------
    InputError
        Fewer than two rows or columns, or a covariance of another shape.

    Source: Wald (1943); for cells from randomised response Gaboardi, Lim, Rogers and Vadhan (2016), section 5.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.features import independence
    >>> cells = np.array([[0.3, 0.2], [0.2, 0.3]])
    >>> spread = (np.diag(cells.ravel()) - np.outer(cells, cells)) / 1000
    >>> found = independence(cells, spread)
    >>> round(found.statistic, 1), found.degrees, found.p < 1e-6
    (41.7, 1, True)
    """
    from scipy.special import chdtrc

    held, spread = _checked(cells, covariance)
    rows, columns = held.shape
    apart = held - np.outer(held.sum(axis=1), held.sum(axis=0))
    # The last row and column follow from the others.
    kept = np.arange(rows * columns).reshape(rows, columns)[:-1, :-1].ravel()
    by_cells = _slopes(held)[kept]
    gap = apart.ravel()[kept]
    statistic = float(gap @ np.linalg.solve(by_cells @ spread @ by_cells.T, gap))
    return IndependenceTest(statistic, kept.size, float(chdtrc(kept.size, max(statistic, 0.0))))


def odds_ratio(
    cells: ArrayLike, covariance: ArrayLike, *, confidence: float = CONFIDENCE
) -> tuple[float, float, float]:
    """Return the odds ratio t of a 2 x 2 table, and all t for which p11 p22 - t p12 p21 is near zero for its error.

    The interval inverts a test, because cells near zero have no normal logarithm and the logarithm's interval covers
    too rarely.

    Parameters
    ----------
    cells : (2, 2) array_like of float
    covariance : (4, 4) array_like of float
        Of the cells, row by row.
    confidence : float

    Returns
    -------
    value, low, high : float
        NaN for the value where an estimated product is not positive; ends from 0 to infinity.

    Raises
    ------
    InputError
        A table of another size.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.features import odds_ratio
    >>> cells = np.array([[0.4, 0.1], [0.2, 0.3]])
    >>> spread = (np.diag(cells.ravel()) - np.outer(cells, cells)) / 10000
    >>> [round(each, 1) for each in odds_ratio(cells, spread)]
    [6.0, 5.5, 6.6]
    """
    held, spread = _checked(cells, covariance)
    if held.shape != (2, 2):
        raise InputError(f"an odds ratio is of a 2 x 2 table, got {held.shape[0]} x {held.shape[1]}")
    a, b, c, d = held.ravel()
    # The mean of a product of estimates is the product and their covariance.
    same, cross = a * d - spread[0, 3], b * c - spread[1, 2]
    if cross == 0:
        return math.nan, 0.0, math.inf

    def variance(t: float) -> float:
        slope = np.array([d, -t * c, -t * b, a])
        # Half of them twice the product of second derivatives with the covariance: what products add.
        second = spread[0, 0] * spread[3, 3] + spread[0, 3] ** 2
        second += t * t * (spread[1, 1] * spread[2, 2] + spread[1, 2] ** 2)
        second -= 2 * t * (spread[0, 1] * spread[3, 2] + spread[0, 2] * spread[3, 1])
        return float(slope @ spread @ slope + second) / cross**2

    low, high = fieller(same / cross, variance, float(normal_quantile(confidence)))
    value = same / cross if same > 0 and cross > 0 else math.nan
    return float(value), max(float(low), 0.0), max(float(high), 0.0)


def _checked(cells: ArrayLike, covariance: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    held, spread = np.asarray(cells, dtype=float), np.asarray(covariance, dtype=float)
    if held.ndim != 2 or min(held.shape) < 2 or spread.shape != (held.size, held.size):
        raise InputError(f"a table must have two rows and columns, and its cells a covariance, got shape {held.shape}")
    return held, spread


def _slopes(cells: np.ndarray) -> np.ndarray:
    """The derivative (r c, r c) of p_ij - p_i. p_.j by each cell."""
    rows, columns = cells.shape
    of_row, of_column = cells.sum(axis=1), cells.sum(axis=0)
    same_row, same_column = (
        np.kron(np.eye(rows), np.ones((columns,) * 2)),
        np.kron(np.ones((rows,) * 2), np.eye(columns)),
    )
    return (
        np.eye(cells.size)
        - same_row * np.tile(of_column, rows)[:, None]
        - same_column * np.repeat(of_row, columns)[:, None]
    )
