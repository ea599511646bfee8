"""Means of groups: sums over each group over its share of the users, by signed features or by sets of sides."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...mechanisms.errors import InputError
from ...mechanisms.table.table import TabulatedMechanism
from ..intervals import normal_quantile
from ..means.sides import side_decoders
from .fieller import fieller


@dataclass(frozen=True, eq=False)
class Totals:
    """What users of each group are off from its reference, added up, and the group's share; means over all users.

    Attributes
    ----------
    sums, sizes : (k,) ndarray of float
    of_sums, of_sizes, of_both : (k,) ndarray of float
        Their variances and covariance.

    Example
    -------
    >>> import numpy as np
    >>> none = np.zeros(1)
    >>> Totals(np.array([0.5]), np.array([0.25]), none, none, none).sums
    array([0.5])
    """

    sums: np.ndarray
    sizes: np.ndarray
    of_sums: np.ndarray
    of_sizes: np.ndarray
    of_both: np.ndarray


def totals_of_signs(signs: np.ndarray, value: np.ndarray, variance: np.ndarray) -> Totals:
    """Return what signed features tell, of signs (H, k) whose columns have no correlation.

    Parameters
    ----------
    signs : (H, k) ndarray of float
        Of the features of sums; those of sizes have the same but for the first, whose mean is 1.
    value, variance : (2 H - 1,) ndarray of float
        Means of the features, sums first, and their variances.

    Example
    -------
    >>> found = totals_of_signs(np.array([[1.0, 1.0], [1.0, -1.0]]), np.array([0.5, 0.5, 0.0]), np.full(3, 1e-4))
    >>> found.sums, found.sizes
    (array([0.5, 0. ]), array([0.5, 0.5]))
    """
    rows, k = signs.shape
    sums, sizes = signs.T @ value[:rows] / rows, signs.T @ np.concatenate([[1.0], value[rows:]]) / rows
    of_sums, of_sizes = (np.full(k, each.sum() / rows**2) for each in (variance[:rows], variance[rows:]))
    return Totals(sums, sizes, of_sums, of_sizes, np.zeros(k))


def totals_of_sides(table: TabulatedMechanism, reach: float, often: np.ndarray) -> Totals:
    """Return what reports of sides tell.

    Parameters
    ----------
    table, reach : of `side_decoders`
    often : (m,) ndarray of int
        How often each output was reported.

    Example
    -------
    >>> from optldp.mechanisms import TabulatedMechanism
    >>> table = TabulatedMechanism.from_points(range(4), range(4), (np.eye(4) + 1) / 5, 1.0)
    >>> totals_of_sides(table, 1.0, np.array([200, 400, 200, 200])).sums.round(9) + 0.0
    array([1., 0.])
    """
    users = int(often.sum())
    shares = often / users
    sums, sizes = side_decoders(table, reach)
    means = sums @ shares, sizes @ shares

    def together(one: int, other: int) -> np.ndarray:
        both = (sums, sizes)
        return ((both[one] * both[other]) @ shares - means[one] * means[other]) / (users - 1)

    return Totals(*means, together(0, 0), together(1, 1), together(0, 1))


def group_means(
    told: Mapping[str, Any], totals: Totals, confidence: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return each group's mean, its standard error, and the ends of Fieller's interval, without the bias by clipping.

    Parameters
    ----------
    told : mapping
        The mechanism's: the reference `centres` of the groups, and their `names`.
    totals : Totals
    confidence : float

    Returns
    -------
    mean, std_error, low, high : (k,) ndarray of float

    Raises
    ------
    InputError
        A group whose share is not told from zero.

    Source: Fieller (1954).

    Example
    -------
    >>> signs, told = np.array([[1.0, 1.0], [1.0, -1.0]]), {"centres": [10.0, 20.0], "names": ["a", "b"]}
    >>> found = group_means(told, totals_of_signs(signs, np.array([0.5, 0.5, 0.0]), np.full(3, 1e-4)), 0.95)
    >>> found[0], found[2].round(2)
    (array([11., 20.]), array([10.97, 19.97]))
    """
    centres = np.array(told["centres"], dtype=float)
    ratio, error, low, high = (np.empty(centres.size) for _ in range(4))
    each = (totals.sums, totals.sizes, totals.of_sums, totals.of_sizes, totals.of_both)
    for place, (top, size, of_top, of_size, of_both) in enumerate(zip(*each, strict=True)):
        if size <= 0:
            raise InputError(
                f"the share of group {told['names'][place]!r} must be told from zero, got {size:.2g}: collect more, "
                "or merge groups"
            )

        def spread(
            t: float, size: float = size, top: float = of_top, below: float = of_size, both: float = of_both
        ) -> float:
            return (top - 2 * t * both + t * t * below) / size**2

        ratio[place], error[place] = top / size, math.sqrt(spread(top / size))
        low[place], high[place] = fieller(ratio[place], spread, float(normal_quantile(confidence)))
    return centres + ratio, error, centres + low, centres + high
