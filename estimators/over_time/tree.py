"""Reports of values and of signs of changes, as linear reports of periods' means."""

from __future__ import annotations

import numpy as np

from ...mechanisms.errors import InputError
from ...mechanisms.over_time import Tree
from ...mechanisms.over_time.histories import scaled
from .linear import Groups, grouped


def of_tree(way: Tree, reports: np.ndarray, branches: np.ndarray, periods: np.ndarray) -> Groups:
    """Return reports by what they tell: the mean of a period, or by how much it is above that when the block began.

    A sign is multiplied by 2 / b, of an agreement b with half the difference; values are scaled to [-1, 1]. Reports are
    taken to be of different users. Signs of one user hang together where several are not fair, and as changes mostly
    come and go, sums over blocks err a little less than is told.

    Parameters
    ----------
    way : Tree
    reports : (N, 2) ndarray of float
    branches : (N,) ndarray of int
        From 1 on; 0 of values.
    periods : (N,) ndarray of int

    Raises
    ------
    InputError
        Signs of users who report values, or values of others.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.designer import Prior
    >>> from optldp.designer.over_time import Repeated
    >>> from optldp.designer.over_time.noise import Noise
    >>> from optldp.designer.over_time.tree import design_tree, plan_tree
    >>> from optldp import design
    >>> from optldp.estimators.over_time.linear import estimate_rows
    >>> from optldp.estimators.over_time.tree import of_tree
    >>> from optldp.mechanisms.sampling.random_words import random_words
    >>> prior = Prior.even([-1.0, 0.0, 1.0])
    >>> table = design(prior, 4.0, exact=True).mechanism
    >>> way = design_tree(table, plan_tree(Noise(prior), 4.0, Repeated(4, 1)), 4.0)
    >>> users = [str(number) for number in range(20_000)]
    >>> histories = np.tile([0.5, 0.5, -1, -1], (20_000, 1))
    >>> who, periods, reports = way.drawn_lives(users, histories, random_words(np.random.default_rng(1)))
    >>> found = of_tree(way, reports, way.beside(users)["branch"][who], periods)
    >>> estimate_rows(found, "each").value.round(1).tolist()
    [0.5, 0.5, -1.0, -1.0]
    """
    signs = reports[:, 0] == 1
    if (signs != (branches > 0)).any():
        raise InputError(
            "users of branches must report signs and all others values, got reports of another way: name their file"
        )
    wide = way.periods + 1
    place, which = np.unique(branches * wide + periods, return_inverse=True)
    branch, end = np.divmod(place, wide)
    rows = np.zeros((place.size, way.periods))
    rows[np.arange(place.size), end - 1] = 1
    scale, variances = np.ones(place.size), np.full(place.size, way.variance)
    for number, (step, law) in enumerate(way.branches, 1):
        mine = np.flatnonzero(branch == number)
        rows[mine, np.maximum(end[mine] - step, 1) - 1] = -1
        scale[mine], variances[mine] = 2 / law.agreement, 4 / law.agreement**2
    low, high = way.table.domain
    numbers = np.where(signs, reports[:, 1], scaled(reports[:, 1], low, high)) * scale[which]
    return grouped(rows, variances, which, numbers)
