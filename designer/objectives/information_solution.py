"""The measures of information solved twice, over interval patterns and over all, and places for their outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...mechanisms.errors import unwired
from ...solvers.frequency.frequency_program import MOST_ENUMERATED, FrequencyProgram, certified_frequency_bound
from ...solvers.frequency.optimal_sets import solve_frequency
from ...solvers.frequency.tightening import relaxed_certificate
from ...solvers.information.fisher import certified_interval_error, solve_interval_fisher
from ...solvers.information.information_program import InformationProgram, certified_interval_bound
from ...solvers.information.masses import certified_information_bound
from ...solvers.information.optimal_patterns import solve_information, whole_table
from ...solvers.information.tiling import best_tiling

Patterns = Literal["interval", "any"]

BOUND_TOLERANCE = 1e-3
"""Gap to which all patterns are solved when only their bound is asked for, or where there are too many to look at."""


@dataclass(frozen=True, eq=False)
class Found:
    """Probabilities (n, m) of the patterns asked for, and what proves bounds over all patterns and over intervals."""

    probabilities: np.ndarray
    multipliers: dict[str, Any]


def solve_mutual_information(
    weights: np.ndarray, ratio: float, patterns: Patterns, tolerance: float, progress: Callable[[Any], None] | None
) -> Found:
    """Solve for a ratio."""
    program = InformationProgram(weights, ratio)
    tiling = best_tiling(program)
    wanted = tolerance if patterns == "any" else max(tolerance, BOUND_TOLERANCE)
    best = solve_information(weights, ratio, tolerance=wanted, progress=progress)
    if patterns == "interval":
        table = whole_table(program.patterns(tiling.marks), tiling.weights, ratio)
    elif patterns == "any":
        table = best.solution
    else:
        raise unwired("patterns", patterns)
    return Found(table, {"any": best.multipliers["lam"], "intervals": tiling.multipliers})


def information_bounds(weights: np.ndarray, ratio: float, multipliers: Mapping[str, Any]) -> tuple[float, float]:
    """Return upper bounds on the nats of all tables, and of those of one-peaked columns."""
    return (
        certified_information_bound(weights, ratio, multipliers["any"]),
        certified_interval_bound(weights, ratio, multipliers["intervals"]),
    )


def solve_fisher(
    weights: np.ndarray,
    ratio: float,
    importance: np.ndarray | None,
    patterns: Patterns,
    tolerance: float,
    progress: Callable[[Any], None] | None,
) -> Found:
    """As above, for the trace of the inverse Fisher information."""
    intervals = solve_interval_fisher(weights, ratio, importance=importance, tolerance=tolerance, progress=progress)
    table, certificate = intervals.solution, None
    if patterns == "any" or weights.size <= MOST_ENUMERATED:
        exact = patterns == "any" and weights.size <= MOST_ENUMERATED
        wanted = tolerance if exact else max(tolerance, BOUND_TOLERANCE)
        best = solve_frequency(weights, ratio, importance=importance, tolerance=wanted, progress=progress)
        certificate = best.multipliers["certificate"]
        if patterns == "any":
            table = best.solution
        elif patterns != "interval":
            raise unwired("patterns", patterns)
    if certificate is None:
        certificate = relaxed_certificate(FrequencyProgram(weights, ratio, importance), BOUND_TOLERANCE)
    root, lam = intervals.multipliers["root"], intervals.multipliers["lam"]
    return Found(table, {"any": certificate, "root": root, "intervals": lam})


def fisher_bounds(
    weights: np.ndarray, ratio: float, importance: np.ndarray | None, multipliers: Mapping[str, Any]
) -> tuple[float, float]:
    """Return lower bounds on the trace of all tables, and of those of one-peaked columns."""
    return (
        certified_frequency_bound(weights, ratio, multipliers["any"], importance),
        certified_interval_error(weights, ratio, multipliers["root"], multipliers["intervals"], importance),
    )


LEAST_DISTANCE = 1e-6
"""Between two outputs, as a share of the domain: reports stay apart as text, and moving them apart shows nowhere."""


SHAPE_DIGITS = 6
"""Decimals to which two columns must agree to be one; patterns differ by whole numbers."""


def placed_outputs(knots: np.ndarray, weights: np.ndarray, probabilities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return places (m,), increasing, and the columns (n, m) in their order: the mean of the value given the report.

    Among all numbers that could stand for a report the posterior mean is nearest to the value, in expected square.  It
    is no unbiased estimate: reports are drawn towards the prior's mean.  Ties are ordered by the columns' own centres,
    and then moved apart by `LEAST_DISTANCE`.  Equal columns become one: apart they would tell nothing more.

    Parameters
    ----------
    knots, weights : (n,) ndarray
        Weights positive somewhere in each column.
    probabilities : (n, m) ndarray
        Columns of numbers that are not negative.

    Example
    -------
    >>> placed_outputs(np.array([0.0, 1.0]), np.array([0.5, 0.5]), np.array([[0.25, 0.75], [0.75, 0.25]]))
    (array([0.25, 0.75]), array([[0.75, 0.25],
           [0.25, 0.75]]))
    """
    columns = _merged(probabilities)
    low, width = knots[0], knots[-1] - knots[0]
    position = (knots - low) / width
    mean = (weights * position) @ columns / (weights @ columns)
    centre = position @ columns / columns.sum(0)
    order = np.lexsort([columns[0], centre, np.round(mean / LEAST_DISTANCE)])
    steps = LEAST_DISTANCE * np.arange(order.size)
    places = np.maximum.accumulate(mean[order] - steps) + steps  # each at least a step above the one before
    return low + width * places, columns[:, order]


def _merged(probabilities: np.ndarray) -> np.ndarray:
    """Return the columns with those of equal shape added up: of the same heights between the same ratio."""
    least, spread = probabilities.min(0), np.ptp(probabilities, axis=0)
    heights = np.divide(probabilities - least, spread, out=np.zeros_like(probabilities), where=spread > 0)
    ratio = np.divide(spread, least, out=np.full_like(least, np.inf), where=least > 0)  # some promises allow zeros
    shapes = np.round(np.vstack([heights, ratio]), SHAPE_DIGITS)
    _, first, which = np.unique(shapes, axis=1, return_index=True, return_inverse=True)
    merged = np.zeros((len(probabilities), first.size))
    np.add.at(merged.T, which.ravel(), probabilities.T)
    return merged
