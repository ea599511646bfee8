"""What another table would have told of a question, once the reports are there: cheap enough to be said beside."""

from __future__ import annotations

import math

import numpy as np

from ....mechanisms.promise import Pure
from ....mechanisms.table.table import TabulatedMechanism
from ....solvers.lengths.length_program import RADIUS, LengthProgram, response_information
from ....solvers.lengths.shortest_table import solve_lengths

FAR_BETTER = 0.75
"""Share of an interval's length from which on a shorter one is not spoken of."""

FEW = 13
"""Knots on which two tables for the distribution are compared: half a second."""

MANY = 5_000
"""Reports below which no other table is spoken of."""


def arm_of_a_share(share: float, epsilon: float, n: int) -> float:
    """Return half the length of the interval of a share of n people by randomised response on it.

    Example
    -------
    >>> round(arm_of_a_share(0.5, 1.0, 20_000), 4)
    0.015
    """
    return RADIUS / math.sqrt(n * float(response_information(share, math.exp(epsilon))))


def shorter_for_distributions(table: TabulatedMechanism, weights: np.ndarray, n: int) -> float | None:
    """Return about how long intervals of the distribution function would be by their own table, over this one's.

    Both tables are taken on at most `FEW` of the knots. None where another table would not be far better, the reports
    are few, or the promise is another one.

    Parameters
    ----------
    table : TabulatedMechanism
    weights : (K,) ndarray
        Of its knots, as they were estimated.
    n : int
        Reports.

    Example
    -------
    >>> from optldp import Prior, design
    >>> prior = Prior.even(list(range(25)))
    >>> shorter_for_distributions(design(prior, 4.0).mechanism, prior.weights, 20_000) < 0.75
    True
    """
    if n < MANY or not isinstance(table.promise, Pure) or table.knots.size < 3:
        return None
    ratio = ratio_for_distributions(table, weights, n)
    return ratio if ratio < FAR_BETTER else None


def ratio_for_distributions(table: TabulatedMechanism, weights: np.ndarray, n: int) -> float:
    """Return the ratio of `shorter_for_distributions`, whatever it is; near one it may be larger.

    Example
    -------
    >>> from optldp import Prior, design
    >>> prior = Prior.even([0.0, 1.0])
    >>> round(ratio_for_distributions(design(prior, 1.0).mechanism, prior.weights, 1_000), 2)
    1.0
    """
    chosen = np.unique(np.rint(np.linspace(0, table.knots.size - 1, FEW)).astype(int))
    nearest = np.abs(np.arange(table.knots.size)[:, None] - chosen).argmin(1)
    mass = np.bincount(nearest, weights, minlength=chosen.size)
    cuts = np.tri(chosen.size)[:-1]
    program = LengthProgram(mass / mass.sum(), math.exp(table.epsilon), cuts, np.full(len(cuts), 1 / len(cuts)), n)
    return solve_lengths(program).value / program.value(table.probabilities[chosen])
