"""The information criteria solved twice, over interval patterns and over all, each bound for the whole budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...solvers.frequency.optimum import relaxed_certificate, solve_frequency
from ...solvers.frequency.program import MOST_ENUMERATED, Certificate, FrequencyProgram, certified_frequency_bound
from ...solvers.information.fisher import certified_interval_error, solve_interval_fisher
from ...solvers.information.masses import certified_information_bound
from ...solvers.information.optimum import solve_information, whole_table
from ...solvers.information.program import InformationProgram, certified_interval_bound
from ...solvers.information.tiling import best_tiling

Patterns = Literal["interval", "any"]

BOUND_TOLERANCE = 1e-3
"""Gap to which all patterns are solved when only their bound is asked for, or where there are too many to look at."""


@dataclass(frozen=True, eq=False)
class Solution:
    """Probabilities (n, m) of the patterns asked for, and bounds over all patterns and over intervals."""

    probabilities: np.ndarray
    bound: float
    interval_bound: float


def solve_mutual_information(
    weights: np.ndarray,
    inner: float,
    ratio: float,
    patterns: Patterns,
    tolerance: float,
    progress: Callable[[Any], None] | None,
) -> Solution:
    """Solve for the ratio `inner`, a hair below `ratio`, which the bounds are for."""
    program = InformationProgram(weights, inner)
    tiling = best_tiling(program)
    wanted = tolerance if patterns == "any" else max(tolerance, BOUND_TOLERANCE)
    best = solve_information(weights, inner, tolerance=wanted, progress=progress)
    table = best.probabilities
    if patterns == "interval":
        table = whole_table(program.patterns(tiling.marks), tiling.weights, inner)
    return Solution(
        table,
        certified_information_bound(weights, ratio, best.multipliers),
        certified_interval_bound(weights, ratio, tiling.multipliers),
    )


def solve_fisher(
    weights: np.ndarray,
    inner: float,
    ratio: float,
    importance: np.ndarray | None,
    patterns: Patterns,
    tolerance: float,
    progress: Callable[[Any], None] | None,
) -> Solution:
    """As above, for the trace of the inverse Fisher information."""
    intervals = solve_interval_fisher(weights, inner, importance=importance, tolerance=tolerance, progress=progress)
    table, certificate = intervals.probabilities, None
    if patterns == "any" or weights.size <= MOST_ENUMERATED:
        exact = patterns == "any" and weights.size <= MOST_ENUMERATED
        wanted = tolerance if exact else max(tolerance, BOUND_TOLERANCE)
        best = solve_frequency(weights, inner, importance=importance, tolerance=wanted, progress=progress)
        certificate = best.certificate
        if patterns == "any":
            table = best.probabilities
    return Solution(
        table,
        _best_bound(weights, ratio, importance, certificate),
        certified_interval_error(weights, ratio, intervals.root, intervals.multipliers, importance),
    )


def _best_bound(
    weights: np.ndarray, ratio: float, importance: np.ndarray | None, certificate: Certificate | None
) -> float:
    if certificate is None:
        certificate = relaxed_certificate(FrequencyProgram(weights, ratio, importance), BOUND_TOLERANCE)
    return certified_frequency_bound(weights, ratio, certificate, importance)
