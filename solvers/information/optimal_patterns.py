"""The private table of most information over all 2^n patterns, by column generation, with a certificate.

The master program, a linear one with a row for each knot, weighs the present patterns; patterns that would gain are
priced out by mass (`masses`) at multipliers between the master's and the best ones so far, which damps
their swings (Wentges, 1997).  Every pricing gives a bound; the best is kept.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ..arrays import Array
from ..certificate import Optimum, Progress, check_tolerance, relative_gap
from ..frequency.patterns import distinct, slack_marks
from ..linear_program import LinearProgram, solve_linear_program
from .information_program import InformationProgram, most_information
from .masses import MassGrid, best_patterns, certified_information_bound
from .tiling import best_tiling

MAX_ROUNDS = 120
"""Rounds of column generation; priors of 65 knots take 1 to 40."""

BATCH = 2
"""Patterns added in a round, for each knot."""

SHUFFLES = 12
"""Random orders of the knots that balanced patterns are taken from, to begin with."""

HELD = 30
"""Patterns that stay for the next round, for each knot: those of weight, then those nearest to being worth some."""

DAMPING = 0.5
"""Share of the best multipliers so far in those that are priced."""

GAIN_SHARE = 0.03
"""Share of the tolerance that a pattern must promise to gain: less is the master program's rounding."""

CLOSED = 0.8
"""Share of the tolerance to reach; the rest is room for the table's rounding."""

NEGLIGIBLE = 1e-12
"""Share of the heaviest weight below which a pattern is left out of the table: the simplex method's own rounding."""

POLISHES = 2
"""Corrections of the row sums; each one squares what is left, relative to the weights."""

WHOLE = 1e-13
"""Error of a row sum that is rounding."""

SEED = 20160101
"""Knots are run through in random orders, so that ties break differently; the same prior gives the same table."""


def solve_information(
    prior: ArrayLike,
    ratio: float,
    *,
    tolerance: float = 1e-6,
    progress: Callable[[Progress], None] | None = None,
) -> Optimum[Array]:
    """Derive the table of most mutual information over all patterns, with its certificate.

    Parameters
    ----------
    prior : (n,) array_like
        Non-negative, summing to 1.
    ratio : float
        E = e^epsilon.
    tolerance : float
        Relative gap to reach.
    progress : callable, optional
        Called after each round.

    Returns
    -------
    found : Optimum of (n, m) ndarray
        Probabilities: rows sum to one to rounding, each column takes two values, in the ratio E. Its value is their
        information in nats; its bound, the `certified_information_bound` of its multipliers, is above that of every
        table.

    Raises
    ------
    InputError
        Not a prior, a ratio or a tolerance.
    SolverError
        The master program was not solved.

    Source: the linear program: Kairouz, Oh and Viswanath (2016), theorem 4; the pricing is derived here.

    Example
    -------
    >>> from optldp.solvers import solve_information
    >>> found = solve_information([0.7, 0.3], 3.0)
    >>> found.solution.round(4), found.status.value
    (array([[0.25, 0.75],
           [0.75, 0.25]]), 'optimal')
    """
    started = time.perf_counter()
    check_tolerance(tolerance)
    program = InformationProgram(np.asarray(prior, dtype=np.float64), ratio)
    grid, rng = MassGrid.of(program.prior), np.random.default_rng(SEED)
    marks = _starting_marks(program, rng)
    best, bound = np.zeros(program.size), min(most_information(math.log(ratio)), program.entropy)
    rounds = 0
    while True:
        weights, lam, value = _weighed(program, marks)
        rounds += 1
        bound, best, new = _priced(program, grid, (lam, best, bound), tolerance * value, rng)
        if progress is not None:
            progress(Progress(rounds, value, bound, marks.shape[1], time.perf_counter() - started))
        if relative_gap(value, bound) <= CLOSED * tolerance or not new.size or rounds == MAX_ROUNDS:
            break
        spare = lam @ program.patterns(marks) - program.values(program.prior @ marks)
        near = np.argsort(np.where(weights > 0, -np.inf, spare), kind="stable")[: HELD * program.size]
        marks = distinct([marks[:, near], new])
    kept = weights > NEGLIGIBLE * weights.max()
    table = whole_table(program.patterns(marks[:, kept]), weights[kept], ratio)
    value, bound = program.information(table), certified_information_bound(program.prior, ratio, best)
    return Optimum(table, value, bound, {"lam": best}, tolerance, rounds, time.perf_counter() - started)


def whole_table(patterns: Array, weights: Array, ratio: float) -> Array:
    """Return the columns c theta with rows that sum to one to rounding.

    The weights change as little as can be, relatively, and those that fall to zero are left out; what few patterns
    cannot make up is a last column of its own, of nearly equal numbers.

    Example
    -------
    >>> whole_table(np.array([[3.0, 1.0], [1.0, 3.0]]), np.array([0.25, 0.2500001]), 3.0).round(12)
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    for _ in range(POLISHES):
        scaled = patterns * weights
        weights = np.maximum(weights * (1 + np.linalg.lstsq(scaled, 1 - scaled.sum(1))[0]), 0.0)
    table = (patterns * weights)[:, weights > 0]
    missing = 1 - table.sum(1)
    if np.abs(missing).max() <= WHOLE:
        return table
    share = 2 * np.ptp(missing) / (1 - 1 / ratio) + 2 * np.abs(missing).max()
    table = (1 - share) * table
    return np.column_stack([table, 1 - table.sum(1)])


def _starting_marks(program: InformationProgram, rng: np.random.Generator) -> Array:
    """Return marks (n, m): slack, the best tiling, and balanced patterns of about the best mass.

    Windows of a circle of knots in any order mark every knot about equally often, as equal row sums need; in natural
    order they are perfectly balanced for a uniform prior, in random ones a swap brings their masses to the best one.
    """
    wanted = (program.slope - 1) / (program.ratio - 1)
    natural = np.arange(program.size)
    orders = [natural, *(rng.permutation(program.size) for _ in range(SHUFFLES))]
    balanced = [_windows(program.prior, order, wanted) for order in orders]
    swapped = [_swapped(program.prior, windows, wanted) for windows in balanced]
    return distinct([slack_marks(program.size), best_tiling(program).marks, balanced[0], *swapped])


def _windows(prior: Array, order: np.ndarray, wanted: float) -> Array:
    """Return the marks (n, 2 n) of the windows of a circle that come closest to a mass, from below and from above."""
    size = prior.size
    around = np.append(0.0, np.cumsum(np.tile(prior[order], 2)))
    starts = np.arange(size)
    ends = np.searchsorted(around, around[:size] + wanted, side="right")
    ends = np.minimum(np.concatenate([ends - 1, ends]), np.tile(starts, 2) + size)
    places = (np.arange(size)[:, None] - np.tile(starts, 2)) % size  # how far after the start
    marks = np.zeros((size, 2 * size))
    marks[order] = places < ends - np.tile(starts, 2)
    return marks


def _swapped(prior: Array, marks: Array, wanted: float) -> Array:
    """Return the marks after the one swap of a marked and an unmarked knot that brings the mass nearest."""
    swapped = marks.copy()
    for column, mass in enumerate(prior @ marks):
        inside, outside = np.flatnonzero(marks[:, column] == 1), np.flatnonzero(marks[:, column] == 0)
        if inside.size and outside.size:
            missed = np.abs(mass + prior[outside] - prior[inside][:, None] - wanted)
            out, into = np.unravel_index(int(missed.argmin()), missed.shape)
            if missed[out, into] < abs(mass - wanted):
                swapped[inside[out], column], swapped[outside[into], column] = 0, 1
    return swapped


def _weighed(program: InformationProgram, marks: Array) -> tuple[Array, Array, float]:
    """Return the best weights of the patterns, multipliers and the value of the master program."""
    rows, count = np.ones(program.size), marks.shape[1]
    values = program.values(program.prior @ marks)
    scale = values.max()  # information may be 1e-12 at small budgets, below any solver's tolerance
    matrix = sparse.csc_array(program.patterns(marks))
    made = LinearProgram(-values / scale, matrix, rows, rows, np.zeros(count), np.full(count, np.inf))
    found = solve_linear_program(made)
    return np.maximum(found.x, 0), -scale * found.row_duals, -scale * found.objective


def _priced(
    program: InformationProgram,
    grid: MassGrid,
    known: tuple[Array, Array, float],
    wanted: float,
    rng: np.random.Generator,
) -> tuple[float, Array, Array]:
    """Return the best bound, its multipliers, and marks of patterns that gain at the master's."""
    lam, best, bound = known
    centre, new = best, np.zeros((program.size, 0))
    for damping in (DAMPING, 0.0):
        trial = damping * centre + (1 - damping) * lam
        worst, marks = best_patterns(program, trial, BATCH * program.size, grid, rng)
        made = program.bound(trial, worst)
        if made < bound:
            bound, best = made, trial
        mass = program.prior @ marks
        gains = (program.values(mass) - lam @ program.patterns(marks)) / (1 + (program.ratio - 1) * mass)
        new = marks[:, gains > GAIN_SHARE * wanted]
        if new.size:
            break
    return bound, best, new
