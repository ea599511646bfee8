"""User-level weighted averaging (UWA): every user's reports weighed by what they say of that user's value."""

from collections.abc import Sequence

import numpy as np

from ...mechanisms.errors import InputError
from ..counting.counts import ReportGroup, Service
from ..input_grid import InputGrid

BLOCK = 256
"""Combinations of outputs handled at a time: two blocks of likelihoods of 257 components are 1 MB, in cache."""

ROWS_PER_PREFIX = 128
"""So many combinations must share their first outputs, on average, for those to be worth a product of their own."""

LARGEST_TOTAL_BUDGET = 600.0
"""A likelihood relative to its largest value is at least exp(-sum of budgets), which must not underflow (e^-708)."""


def user_weights(
    group: ReportGroup, services: Sequence[Service], variances: np.ndarray, grid: InputGrid, prior: np.ndarray
) -> np.ndarray:
    r"""Return the weights of the reports of each combination of outputs in a group, which sum to one.

    From the posterior f of the user's value given all of the user's outputs o_1..o_J,

        f_k ~ p_k prod_j P_j(o_j | k),   V_j = sum_k f_k var_j(k),   w_j = (1/V_j) / sum_t (1/V_t),

    where the sum over t runs over the user's services; the user's number is sum_j w_j d_j.

    **It is biased**: the weights depend on the reports that they weigh.  With a value of 0.9 on [-1, 1], one Duchi
    and one piecewise report, the bias is -0.004 at epsilon 1, -0.016 at 2 and -0.021 at 3 (summed over all pairs of
    reports, 201 knots), for any number of users.

    Outputs are sorted, so combinations that begin alike are neighbours: the likelihood of what they have in common
    is multiplied into the variances once, and each combination costs the product of its other rows and J sums.

    Parameters
    ----------
    group : ReportGroup
        R combinations of the outputs of J services.
    services : sequence of Service
        All services; those of the group are looked up in it.
    variances : (len(services), K) ndarray of float
        Variance of each service's unbiased number, a decoded report or a raw one, at each component.
    grid : InputGrid
        K components.
    prior : (K,) ndarray of float
        What each user's value is thought to be before any report; uniform in the source.

    Returns
    -------
    weights : (R, J) ndarray of float

    Raises
    ------
    InputError
        Budgets of one user that sum to more than 600.

    Source: Du, Ye, Fu and Hu (2025), "Privacy for Free", algorithms 1 and 2 and equation (8).

    Example
    -------
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> service, grid = Service("a", duchi([-1.0, 1.0], 1.0)), InputGrid.knots([-1.0, 1.0])
    >>> group = ReportGroup((0, 1), np.array([[0, 0], [0, 1]], dtype=np.int32), np.array([3, 5]))
    >>> user_weights(group, [service] * 2, np.array([[2.0, 2.0], [6.0, 6.0]]), grid, np.array([0.5, 0.5]))
    array([[0.75, 0.25],
           [0.75, 0.25]])
    """
    chosen = [services[j] for j in group.services]
    if len(chosen) == 1:
        return np.ones((len(group.outputs), 1))
    if (total := sum(service.mechanism.epsilon for service in chosen)) > LARGEST_TOTAL_BUDGET:
        raise InputError(f"a user's budgets must sum to at most {LARGEST_TOTAL_BUDGET:g} for weights, got {total:g}")
    tables = [_relative_likelihood(grid.rows(service.mechanism)) for service in chosen]
    weighted = prior[:, None] * variances[list(group.services)].T
    precision = 1 / _posterior_sums(group.outputs, tables, weighted)
    return precision / precision.sum(axis=1, keepdims=True)


def weighted_values(group: ReportGroup, weights: np.ndarray, decoders: Sequence[np.ndarray]) -> np.ndarray:
    """Return the (R,) weighted averages sum_j w_j d_j(o_j) of the decoded reports of each combination of outputs.

    Parameters
    ----------
    group : ReportGroup
        R combinations of the outputs of J services.
    weights : (R, J) ndarray of float
    decoders : sequence of (m,) ndarray of float
        Unbiased values, per service of all that there are.

    Example
    -------
    >>> group = ReportGroup((0, 1), np.array([[0, 0], [0, 1]], dtype=np.int32), np.array([3, 5]))
    >>> weighted_values(group, np.full((2, 2), 0.5), [np.array([-2.0, 2.0])] * 2)
    array([-2.,  0.])
    """
    decoded = [decoders[j][column] for j, column in zip(group.services, group.outputs.T, strict=True)]
    return np.einsum("rj,jr->r", weights, np.stack(decoded))


def _relative_likelihood(rows: np.ndarray) -> np.ndarray:
    """(m, K) likelihood of each component given each output, over its largest: a long product stays in range."""
    largest = rows.max(axis=0)
    return np.ascontiguousarray(np.divide(rows, largest, out=np.zeros_like(rows), where=largest > 0).T)


def _posterior_sums(outputs: np.ndarray, tables: Sequence[np.ndarray], weighted: np.ndarray) -> np.ndarray:
    """(R, J) sum over components of the product of all likelihoods and each column of `weighted`.

    The posterior's normaliser is left out: it is the same for all columns, and only their ratios matter.
    """
    depth, starts = _common_prefixes(outputs)
    sums = np.empty((len(outputs), weighted.shape[1]))
    product, row = np.empty((2, BLOCK, weighted.shape[0]))
    for start, end in zip(starts, np.append(starts[1:], len(outputs)), strict=True):
        shared = weighted
        for table, output in zip(tables[:depth], outputs[start, :depth], strict=True):
            shared = shared * table[output][:, None]
        for first in range(start, end, BLOCK):
            block = outputs[first : min(first + BLOCK, end), depth:].T
            size = block.shape[1]
            for j, (table, output) in enumerate(zip(tables[depth:], block, strict=True)):
                # mode "clip" writes straight into `out`; outputs are known to be in range.
                np.take(table, output, axis=0, out=row[:size] if j else product[:size], mode="clip")
                if j:
                    product[:size] *= row[:size]
            np.matmul(product[:size], shared, out=sums[first : first + size])
    return sums


def _common_prefixes(outputs: np.ndarray) -> tuple[int, np.ndarray]:
    """How many first columns to treat as a prefix, and where each run of equal prefixes starts."""
    changed = np.zeros(len(outputs), dtype=bool)
    changed[0] = True
    depth, starts = 0, np.zeros(1, dtype=np.intp)
    for column in outputs.T[:-1]:
        changed[1:] |= column[1:] != column[:-1]
        found = np.flatnonzero(changed)
        if found.size * ROWS_PER_PREFIX > len(outputs):
            break
        depth, starts = depth + 1, found
    return depth, starts
