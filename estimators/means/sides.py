"""Numbers that a report of sides of groups adds to each group's sum, and to its share."""

from __future__ import annotations

import numpy as np

from ...mechanisms.errors import InputError
from ...mechanisms.table.table import TabulatedMechanism

LEAST_APART = 1e-13
"""Of a table's rows, as a share of the most that they are apart, below which they are not told from each other."""


def side_decoders(table: TabulatedMechanism, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers (k, m) that an output adds to each group's sum, and those that it adds to its share.

    With D the mean of the rows P, W = (P D^-1 P')^-1 P D^-1 are unbiased indicators of the 2 k sides of groups, of the
    least variance where these are alike in size. A group's sum is reach times the upper side less the lower.

    Parameters
    ----------
    table : TabulatedMechanism
        Its knots are 0, ..., 2 k - 1: the lower and the upper side of each group.
    reach : float

    Raises
    ------
    InputError
        A table of other knots, or one whose rows do not tell all sides apart.

    Example
    -------
    >>> from optldp.mechanisms import TabulatedMechanism
    >>> table = TabulatedMechanism.from_points(range(4), range(4), (np.eye(4) + 1) / 5, 1.0)
    >>> of_sums, of_sizes = side_decoders(table, 1.0)
    >>> (of_sums @ table.probabilities.T).round(9) + 0.0, (of_sizes @ table.probabilities.T).round(9)[0] + 0.0
    (array([[-1.,  1.,  0.,  0.],
           [ 0.,  0., -1.,  1.]]), array([1., 1., 0., 0.]))
    """
    law = table.probabilities
    if len(law) % 2 or not np.array_equal(table.knots, np.arange(len(law))):
        raise InputError("sides of groups must have a table of the knots 0, 1, ..., 2 k - 1, got other knots")
    weighted = law / np.maximum(law.mean(axis=0), np.finfo(float).tiny)
    apart = np.linalg.eigvalsh(weighted @ law.T)
    if apart[0] < LEAST_APART * apart[-1]:
        raise InputError("reports of sides must tell every side of each group, got a table that does not: design anew")
    sides = np.linalg.solve(weighted @ law.T, weighted)
    return reach * (sides[1::2] - sides[::2]), sides[1::2] + sides[::2]
