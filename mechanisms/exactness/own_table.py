"""From a matrix of somebody's own, or of somebody else's, to an exact table whose privacy is proved."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..errors import InputError, TableError
from ..table.provenance import Provenance
from ..table.table import TabulatedMechanism
from .make_exact import make_exact, stretched
from .verification import is_unbiased, log_ratios, verify

ROOM = 1e-9
"""Share of a budget within which doubles count as rounded: one that is found is so much more than the largest
log-ratio, and a ratio that exceeds by no more what was named is brought below it."""


def own_table(
    knots: ArrayLike,
    reports: ArrayLike,
    probabilities: ArrayLike,
    epsilon: float | None = None,
    *,
    method: str = "own",
    units: str = "",
) -> TabulatedMechanism:
    """Return the exact and proved table of a matrix P(report | value), for `compare`, `plots` and files.

    Parameters
    ----------
    knots : (n,) array_like
        Values with a row of their own, increasing. Values between two of them are rounded at random to one.
    reports : (m,) or (m + 1,) array_like
        The numbers that are reported, in any order; or the m + 1 edges of cells, increasing, in which a report is even.
    probabilities : (n, m) array_like
        Probability of each report at each knot. Rows sum to one.
    epsilon : float, optional
        The budget for which the table is proved. A matrix that exceeds it by a billionth or less, as e^epsilon in
        doubles does, is brought below it. Its rows move together and its reports apart by that much, so the means stay.
        Default: the largest log-ratio and a billionth of it.
    method, units : str
        The table's name in its file, and the units of the knots.

    Returns
    -------
    TabulatedMechanism
        With the probabilities as whole numbers over 2^53. It claims to be unbiased if the mean of every knot's
        reports is the knot.

    Raises
    ------
    TableError
        No probability law, or a matrix that does not keep the budget.
    InputError
        Some values can give a report that others cannot, and no epsilon is named: no budget is kept.

    Example
    -------
    >>> from optldp.mechanisms import own_table
    >>> mine = own_table([0, 10], [-10, 20], [[0.75, 0.25], [0.25, 0.75]])
    >>> mine.exact, round(mine.epsilon, 6)
    (True, 1.098612)
    """
    values, matrix = _numbers("reports", reports), _numbers("probabilities", probabilities)
    if values.ndim != 1 or matrix.ndim != 2 or values.size - matrix.shape[1] not in (0, 1):
        raise TableError(
            "a table needs a matrix with a row for each knot, and a report for each column or one edge more, "
            f"got shapes {matrix.shape} and {values.shape}"
        )
    if values.size == matrix.shape[1]:
        order = np.argsort(values, kind="stable")
        values, matrix, make = values[order], matrix[:, order], TabulatedMechanism.from_points
    else:
        make = TabulatedMechanism.from_edges
    drawn = make(knots, values, matrix, 1.0)
    unbiased = {"unbiased": True} if is_unbiased(drawn) else {}
    budget = _least_budget(drawn) if epsilon is None else check_epsilon(epsilon)
    origin = Provenance(method=method, parameters=unbiased)
    return make_exact(_within(make(knots, values, matrix, budget, provenance=origin, units=units))).mechanism


def _numbers(name: str, given: ArrayLike) -> np.ndarray:
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers, as many in each row, got something else among them") from None


def _within(table: TabulatedMechanism) -> TabulatedMechanism:
    """The table, its largest log-ratio r brought below its budget if rounding is all that it exceeds it by.

    Of rows (1 - s) P + s q, with q their mean, it is at most about r - s (1 - e^-r), as q is at least their least.
    """
    most = float(log_ratios(table).max())
    near = table.epsilon * (1 - ROOM) < most <= table.epsilon * (1 + ROOM)
    if not near or not verify(table).failures:
        return table
    share = (most - table.epsilon * (1 - ROOM)) / -np.expm1(-most)
    return stretched(table, float(share), table.probabilities.mean(axis=0))


def _least_budget(table: TabulatedMechanism) -> float:
    ratios = log_ratios(table)
    if not np.isfinite(ratios).all():
        j = int(np.argmax(ratios))
        raise InputError(
            f"every report must be possible at every value or at none, got a zero at output {j}: no epsilon is kept"
        )
    if not ratios.any():
        raise InputError("some report must be likelier at one value than at another, got rows that are all alike")
    return float(ratios.max()) * (1 + ROOM)
