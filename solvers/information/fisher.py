"""The table of interval patterns with the least trace of the inverse Fisher information, with a certificate.

Reports of a table with columns q_y tell of the knots' distribution w, near a prior p, with Fisher information
M = sum_y q_y q_y^T / (p . q_y).  As M p = 1, on the tangent space of the simplex its inverse is M^-1 - p p^T: the
asymptotic covariance, times the number of reports, of the maximum likelihood estimate.  So

    tr(C M^-1) - p^T C p

is its squared error in the metric of C: summed over the knots for C = 1, integrated between the distribution functions
for `cumulative_importance`.  That is the *frequency program* of `frequency.program`, here over interval patterns alone.
For these pricing is exact: with W = R^-1 H^2 R^-1 the gains of all intervals,

    c^T W c / (p . c) - lambda . c,

follow from running sums of W in O(n^2), and so does the certificate

    tr(C M^-1)  >=  (tr H)^2 / (sum(lambda) + max_c (c^T W c / (p . c) - lambda . c) / (p . c)),

which holds for every symmetric H and every lambda, and for every table whose columns rise to one peak and fall.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from ..arrays import Array
from ..certificate import Optimum, Progress, check_tolerance, relative_gap
from ..frequency.frequency_program import ROUNDING, FrequencyProgram
from ..frequency.weights import PatternWeights, weigh_patterns
from .information_program import interval_masses
from .optimal_patterns import whole_table

MAX_ROUNDS = 60
"""Rounds of column generation; three times what was seen."""

BATCH = 3
"""Intervals added in a round, for each knot."""

WEIGHTS_SHARE = 1 / 10
"""Share of the tolerance that the weights are solved to."""

LEAST_PRECISION = 1e-11
"""Of the weights, relative to the error: what is still open then is rounding."""

LIGHT = 1e-2
"""Intervals with less than this share of the tolerance, relative to the heaviest, are left out."""

CLOSED = 0.7
"""Share of the tolerance to reach; the rest is room for what is left out of the table."""


def cumulative_importance(knots: ArrayLike) -> Array:
    """Return C with w^T C w the integral of F^2, F the distribution function of weights w that sum to zero.

    C = L^T diag(h) L + 1 1^T / n for partial sums L and the gaps h of the knots, in the knots' units; the last term is
    nothing to such weights and makes C positive definite.  The squared error it stands for is Cramer's distance, half
    the energy distance; the 1-Wasserstein distance is at most the square root of the width times it.

    Parameters
    ----------
    knots : (n,) array_like
        Increasing.

    Example
    -------
    >>> change = np.array([0.1, 0.0, -0.1])   # a tenth of the mass moves by two units
    >>> round(float(change @ cumulative_importance([0.0, 1.0, 2.0]) @ change), 6)
    0.02
    """
    x = np.asarray(knots, dtype=np.float64)
    sums = np.tri(x.size)[:-1] * np.sqrt(np.diff(x))[:, None]
    return sums.T @ sums + (x[-1] - x[0]) / x.size


def solve_interval_fisher(
    prior: ArrayLike,
    ratio: float,
    *,
    importance: ArrayLike | None = None,
    tolerance: float = 1e-6,
    progress: Callable[[Progress], None] | None = None,
) -> Optimum[Array]:
    """Derive the table of interval patterns with the least error for the knots' distribution, with its certificate.

    Parameters
    ----------
    prior : (n,) array_like
        Non-negative, summing to 1; zeros are welcome.
    ratio : float
        E = e^epsilon.
    importance : (n, n) array_like, optional
        C, positive definite; the identity by default.
    tolerance : float
        Relative gap to reach.
    progress : callable, optional
        Called after each round.

    Returns
    -------
    found : Optimum of (n, m) ndarray
        Probabilities: rows sum to one to rounding, each column takes two values, in the ratio E. Its value is their
        tr(C M^-1) - p^T C p; its bound, the `certified_interval_error` of its multipliers H (`root`) and lambda, is
        below that of every table whose columns have one peak.

    Raises
    ------
    InputError
        Not a prior, a ratio, an importance or a tolerance.
    SolverError
        Rounding stops the interior point.

    Source: staircase patterns: Kairouz, Oh and Viswanath (2016), theorem 2; A-optimal design: Pukelsheim (1993).

    Example
    -------
    >>> from optldp.solvers import solve_interval_fisher
    >>> found = solve_interval_fisher([0.7, 0.3], 3.0)
    >>> found.solution.round(4), round(found.value, 4)   # Warner's, whatever the prior
    (array([[0.75, 0.25],
           [0.25, 0.75]]), 1.92)
    """
    started = time.perf_counter()
    check_tolerance(tolerance)
    weighing = None if importance is None else np.asarray(importance, dtype=np.float64)
    program = FrequencyProgram(np.asarray(prior, dtype=np.float64), ratio, weighing)
    first, last = np.triu_indices(program.size + 1, 1)
    chosen = _starting_intervals(program.size, first, last)
    rounds, best, root, lam = 0, -np.inf, np.eye(program.size), np.ones(program.size)
    precision = tolerance * WEIGHTS_SHARE
    while True:
        marks = interval_marks(program.size, first[chosen], last[chosen])
        found = weigh_patterns(program, program.patterns(marks), tolerance=precision)
        gains, bound = _priced(program, found, first, last)
        if bound > best:
            best, root, lam = bound, found.root, found.multipliers
        rounds, error = rounds + 1, float(np.trace(found.root)) - program.square
        if progress is not None:
            progress(Progress(rounds, error, best, chosen.size, time.perf_counter() - started))
        gains[chosen] = -np.inf
        new = np.argsort(-gains, kind="stable")[: BATCH * program.size]
        new = new[gains[new] > 0]
        done = relative_gap(error, best) <= CLOSED * tolerance or rounds == MAX_ROUNDS
        if done or (not new.size and precision < LEAST_PRECISION):
            break
        precision = precision if new.size else precision / 10
        slack = last - first == 1
        held = chosen[(found.weights > LIGHT * tolerance * found.weights.max()) | slack[chosen]]
        chosen = np.unique(np.concatenate([held, new]))
    kept = found.weights > LIGHT * tolerance * found.weights.max()
    table = whole_table(program.patterns(marks[:, kept]), found.weights[kept], ratio)
    error, bound = program.error(table), certified_interval_error(program.prior, ratio, root, lam, importance)
    seconds = time.perf_counter() - started
    return Optimum(table, error, bound, {"root": root, "lam": lam}, tolerance, rounds, seconds)


def interval_marks(size: int, first: np.ndarray, last: np.ndarray) -> Array:
    """Return the marks (n, m) of the intervals [first, last) of knots."""
    knots = np.arange(size)[:, None]
    return ((knots >= first) & (knots < last)).astype(np.float64)


def _starting_intervals(size: int, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Single knots and all of them (they allow any rest), intervals at the ends, and widths in powers of two."""
    width = last - first
    powers = (width & (width - 1)) == 0
    return np.flatnonzero(powers | (first == 0) | (last == size))


def interval_quadratics(squared: Array, ratio: float) -> Array:
    """Return c^T W c (n + 1, n + 1) for the patterns c of the intervals [a, b), a <= b, from running sums of W.

    Example
    -------
    >>> interval_quadratics(np.eye(2), 3.0)[[0, 0], [1, 2]]   # of (3, 1) and (3, 3)
    array([10., 18.])
    """
    size, excess = len(squared), ratio - 1
    table = np.zeros((size + 1, size + 1))
    table[1:, 1:] = squared.cumsum(0).cumsum(1)
    corner = np.diag(table)
    inner = corner + corner[:, None] - 2 * table
    rows = table[:, -1]
    return table[-1, -1] + 2 * excess * (rows - rows[:, None]) + excess**2 * inner


def _violations(program: FrequencyProgram, root: Array, multipliers: Array) -> tuple[Array, Array]:
    """Return c^T W c / z - lambda . c and z for all intervals (n + 1, n + 1), rounding included."""
    excess, squared = program.ratio - 1, program.squared(root)
    z = 1 + excess * np.clip(interval_masses(program.prior), 0, 1)
    charge = multipliers.sum() + excess * interval_masses(multipliers)
    rounding = 8 * program.size * ROUNDING * float(np.abs(squared).sum() + np.abs(multipliers).sum()) * program.ratio
    return interval_quadratics(squared, program.ratio) / z - charge + rounding, z


def _priced(
    program: FrequencyProgram, found: PatternWeights, first: np.ndarray, last: np.ndarray
) -> tuple[Array, float]:
    violations, z = _violations(program, found.root, found.multipliers)
    violations, z = violations[first, last], z[first, last]
    return violations, _bound(program, found.root, found.multipliers, float((violations / z).max()))


def _bound(program: FrequencyProgram, root: Array, multipliers: Array, shift: float) -> float:
    trace, total = float(np.trace(root)), float(multipliers.sum()) + shift
    least = program.sampling_trace
    if trace > 0 and total > 0:
        least = max(least, trace**2 / total * (1 - 2 * program.size * ROUNDING))
    return least - program.square


def certified_interval_error(
    prior: ArrayLike, ratio: float, root: ArrayLike, lam: ArrayLike, importance: ArrayLike | None = None
) -> float:
    """Return a lower bound on the error of every table whose columns have one peak, for any H and lambda.

    Parameters
    ----------
    prior : (n,) array_like
    ratio : float
        E = e^epsilon.
    root, lam : (n, n), (n,) array_like
        H, of which the symmetric part counts, and lambda.
    importance : (n, n) array_like, optional

    Example
    -------
    >>> H = np.array([[1.25, -0.75], [-0.75, 1.25]])  # inverse information of randomised response at epsilon = ln 3
    >>> round(certified_interval_error([0.5, 0.5], 3.0, H, [1.25, 1.25]), 6)
    2.0
    """
    program = FrequencyProgram(np.asarray(prior), ratio, None if importance is None else np.asarray(importance))
    half, multipliers = np.asarray(root, dtype=np.float64), np.asarray(lam, dtype=np.float64)
    if half.shape != (program.size,) * 2 or multipliers.shape != (program.size,):
        raise InputError(
            f"root and multipliers must be of {program.size} knots, got {half.shape} and {multipliers.shape}"
        )
    half = (half + half.T) / 2
    violations, z = _violations(program, half, multipliers)
    places = np.triu_indices(program.size + 1)
    return _bound(program, half, multipliers, float((violations[places] / z[places]).max()))
