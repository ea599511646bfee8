"""Tallies out of arrays, for simulations that need no files."""

import numpy as np
from optldp.estimators.differences import MatchedTallies, Tally
from optldp.estimators.reading.columns import SkippedRows


def tally(mechanism, reports: np.ndarray, weights: np.ndarray | None = None) -> Tally:
    """Reports counted one by one; of tables by their outputs."""
    weights = np.ones(len(reports)) if weights is None else weights
    distinct, which = np.unique(reports, axis=0, return_inverse=True)
    which = which.ravel()
    return Tally(mechanism, distinct, np.bincount(which), np.bincount(which, weights), np.bincount(which, weights**2))


def matched(mechanism, first: np.ndarray, second: np.ndarray, both: int) -> MatchedTallies:
    """Reports of two periods, in which the last users of the first are the first of the second."""
    ones = np.ones(both)
    shared = [first[len(first) - both :], second[:both]]
    pairs = [Tally(mechanism, reports, ones.astype(int), ones, ones) for reports in shared]
    told = tally(mechanism, first), tally(mechanism, second), (pairs[0], pairs[1])
    return MatchedTallies(*told, 0, False, SkippedRows())
