"""Sets of groups with a sign each, of which one that has the user's group on the right side is likelier."""

from __future__ import annotations

import itertools
import math

import numpy as np

from ...estimators.means.sides import side_decoders
from ...mechanisms.budget import inner_epsilon
from ...mechanisms.exactness.make_exact import make_exact
from ...mechanisms.table.provenance import Provenance
from ...mechanisms.table.table import TabulatedMechanism

MOST_SETS = 512
"""Outputs of a table, which is written in full."""


def signed_sets(groups: int, size: int, epsilon: float) -> TabulatedMechanism:
    """Return the table, in doubles, of all sets of so many of k groups with a sign each.

    Its knots are the lower and the upper side of each group. A set is e^epsilon times as likely if the side is in it.

    Source: subset selection of Ye and Barg (2018), on sides of which a set has at most one of each group.

    Example
    -------
    >>> table = signed_sets(3, 1, 1.0)
    >>> table.n_outputs, round(float(table.probabilities[0].max() / table.probabilities[0].min()), 4)
    (6, 2.7183)
    """
    sets = [
        [2 * group + side for group, side in zip(held, sides, strict=True)]
        for held in itertools.combinations(range(groups), size)
        for sides in itertools.product((0, 1), repeat=size)
    ]
    law = np.ones((2 * groups, len(sets)))
    for output, held in enumerate(sets):
        law[held, output] = math.exp(inner_epsilon(epsilon))
    law /= law.sum(axis=1, keepdims=True)
    told = Provenance("signed-sets", {"groups": groups, "size": size})
    return TabulatedMechanism.from_points(np.arange(2 * groups), np.arange(len(sets)), law, epsilon, provenance=told)


def best_signed_sets(
    sides: np.ndarray, reach: float, epsilon: float
) -> tuple[TabulatedMechanism, np.ndarray, np.ndarray]:
    """Return the exact table of the best size of sets, and n times the variances of means and of groups' shares.

    Parameters
    ----------
    sides : (2 k,) ndarray of float
        Share of the users on the lower and the upper side of each group, as rounding has them.
    reach : float
        How far a side is from its group's centre.
    epsilon : float

    Returns
    -------
    table : TabulatedMechanism
    variances, of_sizes : (k,) ndarray of float
        The latter relative to the squared share. With mean t of group g, of share p, the former is that of
        (s - t u) / p, of the numbers s and u that an output adds to the group's sum and share.

    Example
    -------
    >>> table, variances, of_sizes = best_signed_sets(np.full(10, 0.1), 1.0, 4.0)
    >>> table.n_outputs, variances.round(1), of_sizes.round(1)
    (10, array([7., 7., 7., 7., 7.]), array([5.6, 5.6, 5.6, 5.6, 5.6]))
    """
    k = len(sides) // 2
    made = [signed_sets(k, size, epsilon) for size in range(1, k) if math.comb(k, size) << size <= MOST_SETS]
    found = [(table, *costs(table, sides, reach)) for table in made]
    table, variances, of_sizes = min(found, key=lambda each: each[1].max())
    return make_exact(table).mechanism, variances, of_sizes


def costs(table: TabulatedMechanism, sides: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Return n times the variances (k,) of means, and of shares relative to their squares.

    Example
    -------
    >>> costs(signed_sets(2, 1, 2.0), np.full(4, 0.25), 1.0)[0].round(2)
    array([5.29, 5.29])
    """
    sums, sizes = side_decoders(table, reach)
    law = sides @ table.probabilities
    shares = sizes @ law
    ratio = (sums - (sums @ law / shares)[:, None] * sizes) / shares[:, None]
    return ratio**2 @ law, (sizes**2) @ law / shares**2 - 1
