r"""The table whose reports answer linear numbers with the shortest intervals: column generation over interval patterns.

Weights of the present intervals are found by `length_weights`; at their departures each interval [a, b) of values
lessens the lengths by c^T W c / (g . c), all of them known from running sums, and the best that new weights could do to
first order is a heaviest tiling (`information/tiling`), exactly. Intervals on it, and those that nearly gain, come in.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from ..arrays import Array, Indices
from ..certificate import Optimum, Progress
from ..information.fisher import interval_marks, interval_quadratics
from ..information.information_program import interval_masses
from ..information.optimal_patterns import whole_table
from ..information.tiling import heaviest_tilings
from .length_bound import certified_length_bound, length_certificate
from .length_program import LengthProgram
from .length_weights import LengthPath, weigh_lengths

MOST_ROUNDS = 10
"""Of column generation; four to seven are usual."""

QUANTILES, EVENLY = 18, 8
"""Cells of equal mass, and of equal width, between whose ends the first intervals are."""

BATCH = 2
"""Intervals added in a round, for each value."""

FIRST, FALL, LAST_GAP = 0.03, 0.5, 5e-3
"""Gap to which the weights of the first round are found, its fall from round to round, and the least."""

BETWEEN = 0.5
"""Share of the tiling's multipliers in those that price: where few intervals are heavy the weights' own say little."""

LIGHT = 1e-4
"""Intervals with less than this share of the heaviest weight leave between rounds, and the table at the end."""

BARRIER = 0.1
"""Share of the gap that departures may leave open, and the most that they may."""


def solve_lengths(
    program: LengthProgram, *, tolerance: float = 1e-2, progress: Callable[[Progress], None] | None = None
) -> Optimum[Array]:
    """Derive a table with short intervals, of columns that favour an interval of values each, with valid bounds.

    Parameters
    ----------
    program : LengthProgram
    tolerance : float
        Relative gain from one round to the next that is none.
    progress : callable, optional
        Called after each round.

    Returns
    -------
    found : Optimum of (n, m) ndarray
        Probabilities; rows sum to one to rounding, each column takes two values, in the ratio E. Its value is
        `LengthProgram.value`. Better tables may exist: its bound is what no table whose columns have one peak is below,
        `certified_length_bound` of its multiplier `certificate`.

    Raises
    ------
    SolverError
        Precision was lost.

    Source: the problem: Armstrong and Kolesar (2018); patterns: Kairouz, Oh and Viswanath (2016); the rest is derived
    here.

    Example
    -------
    >>> cuts = np.tri(8)[:-1]
    >>> program = LengthProgram(np.full(8, 1 / 8), np.e, cuts, np.full(7, 1 / 7), 20_000)
    >>> found = solve_lengths(program)
    >>> response = (np.ones((8, 8)) + (np.e - 1) * np.eye(8)) / (np.e + 7)
    >>> found.value < 0.9 * program.value(response), found.bound < found.value
    (True, True)
    """
    started = time.perf_counter()
    excess, masses = program.ratio - 1, interval_masses(program.prior)
    departures = program.departures(BARRIER * FIRST)
    first, last = _starting_intervals(program.prior)
    parts, gap = program.weights / (len(program.weights) if program.worst else 1), FIRST
    value, best, at, rounds = np.inf, np.ones((program.size, 1)), parts, 0
    for rounds in range(1, MOST_ROUNDS + 1):
        departures.share = BARRIER * gap
        patterns = 1 + excess * interval_marks(program.size, first, last)
        path = LengthPath(program, patterns, departures, parts)
        weigh_lengths(path, gap)
        parts = path.parts
        found, before = program.worth(path.lengths), value
        heavy = path.c > LIGHT * path.c.max()
        if found < value:
            value, at = found, path.parts
            best = whole_table(patterns[:, heavy], path.c[heavy], program.ratio)
        if progress is not None:
            progress(Progress(rounds, found, 0.0, first.size, time.perf_counter() - started))
        if before - found < tolerance * found and gap <= LAST_GAP:
            break
        gap = max(FALL * gap, LAST_GAP)
        values = interval_quadratics(path.squared, program.ratio) / (1 + excess * np.clip(masses, 0, 1))
        first, last = _next_intervals(program, path, values, (first[heavy], last[heavy]))
    value = program.value(best)
    made = length_certificate(program, best, at)
    seconds = time.perf_counter() - started
    return Optimum(
        best, value, certified_length_bound(program, made), {"certificate": made}, tolerance, rounds, seconds
    )


def _next_intervals(
    program: LengthProgram, path: LengthPath, values: Array, held: tuple[Indices, Indices]
) -> tuple[Indices, Indices]:
    """Return intervals for the next round: those of weight, of the best tilings, the nearest to gaining, and slack."""
    size, excess = program.size, program.ratio - 1
    tilings = heaviest_tilings(values, excess)
    lam = BETWEEN * tilings.multipliers + (1 - BETWEEN) * path.lam
    charge = lam.sum() + excess * interval_masses(lam)
    gains = np.where(np.triu(np.ones(values.shape), 1) > 0, values - charge, -np.inf)
    chosen = np.zeros(values.shape, dtype=bool)
    chosen.flat[np.argsort(-gains, axis=None)[: BATCH * size]] = True
    chosen &= gains > 0
    chosen[held] = chosen[tilings.shares > 0] = True
    return _with_slack(chosen)


def _with_slack(chosen: Array) -> tuple[Indices, Indices]:
    """Return intervals with all single values, and all of them, which allow any rest."""
    size = len(chosen) - 1
    chosen[np.arange(size), np.arange(size) + 1] = chosen[0, size] = True
    first, last = np.nonzero(chosen)
    return first, last


def _starting_intervals(prior: Array) -> tuple[Indices, Indices]:
    """Return the intervals between cells of equal mass and of equal width."""
    size = prior.size
    by_mass = np.searchsorted(np.cumsum(prior), np.linspace(0, 1, QUANTILES + 1)[1:-1]) + 1
    nodes = np.unique(np.concatenate([[0, size], by_mass, np.rint(np.linspace(0, size, EVENLY + 1)).astype(int)]))
    nodes = nodes[nodes <= size]
    chosen = np.zeros((size + 1, size + 1), dtype=bool)
    chosen[np.ix_(nodes, nodes)] = True
    return _with_slack(np.triu(chosen, 1))
