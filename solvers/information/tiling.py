"""The most informative table of interval patterns: randomised response on the best cut of the knots into cells.

An interval [a, b) of knots is an arc from a to b, and equal row sums say that every knot is covered equally often: the
weights of the intervals are a flow from 0 to n.  Flows are mixtures of paths, and a path is a *tiling*, a cut of the
knots into consecutive cells.  With k cells of weight theta the rows sum to (k + E - 1) theta, so the program is

    maximise  sum_cells phi(cell) / (k + E - 1)    over all tilings:

no overlapping windows can tell more than the best cut into cells.  The ratio is maximised by longest paths (Dinkelbach,
1967): for a value v the longest path from 0 to n with lengths phi - v has length v (E - 1) at the optimum, never less
below it.  The potentials pi of that last path are multipliers, (E - 1) lambda_i = pi_{i+1} - pi_i: they satisfy
pi_b - pi_a >= phi - v for every interval, sum(lambda) = v, and so prove the optimum.

Several tilings may be equally good, for a uniform prior nearly always.  The table returned mixes all of them, each
path alike: no information is lost, knots are told apart that a single cut would lump together, and a symmetric prior
gets a symmetric table.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from .information_program import InformationProgram, interval_masses

MAX_PASSES = 100
"""Longest paths looked for; Dinkelbach's iteration converges quadratically, and 3 to 8 were seen."""

TIED = 1e-11
"""Share of the information by which a path may fall short and still count as equally good: rounding of its sums."""


@dataclass(frozen=True, eq=False)
class Tiling:
    """The best table of intervals.

    Attributes
    ----------
    marks : (n, m) ndarray
        1 for the knots of the interval of each column, else 0.
    weights : (m,) ndarray
        theta.
    multipliers : (n,) ndarray
        lambda, for `certified_interval_bound`.
    passes : int
        Longest paths that were needed.
    """

    marks: Array
    weights: Array
    multipliers: Array
    passes: int


def best_tiling(program: InformationProgram) -> Tiling:
    """Return the mixture of all best tilings, exactly, in O(n^2) a pass.

    Parameters
    ----------
    program : InformationProgram

    Source: derived here; Dinkelbach (1967), "On nonlinear fractional programming".

    Returns
    -------
    best : Tiling
        `marks`: one column for each pattern, 1 at the knots that it holds.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers import InformationProgram, best_tiling
    >>> best = best_tiling(InformationProgram(np.full(4, 0.25), 1.5))   # little budget: two halves
    >>> best.marks
    array([[1., 0.],
           [1., 0.],
           [0., 1.],
           [0., 1.]])
    """
    size, excess = program.size, program.ratio - 1
    heaviest = heaviest_tilings(program.values(interval_masses(program.prior)), excess)
    first, last = np.nonzero(heaviest.shares)
    knots = np.arange(size)[:, None]
    marks = ((knots >= first) & (knots < last)).astype(np.float64)
    theta = heaviest.shares[first, last] / (heaviest.shares.sum() + excess)  # one path: every knot is covered once
    return Tiling(marks, theta, heaviest.multipliers, heaviest.passes)


@dataclass(frozen=True, eq=False)
class HeaviestTilings:
    """What a linear function of the weights of intervals is at most.

    Attributes
    ----------
    shares : (n + 1, n + 1) ndarray
        Of the best paths, by the arcs that they use: intervals [a, b).
    multipliers : (n,) ndarray
        lambda: no interval is worth more than lambda . c, and its sum is what all weights are worth at most.
    passes : int
    """

    shares: Array
    multipliers: Array
    passes: int


def heaviest_tilings(values: Array, excess: float) -> HeaviestTilings:
    """Return the weights of intervals that cover all knots alike and are worth most, each interval worth its value.

    Parameters
    ----------
    values : (n + 1, n + 1) ndarray
        Of the interval [a, b) at [a, b], a < b; what stands elsewhere is not read.
    excess : float
        E - 1.

    Example
    -------
    >>> heaviest_tilings(np.triu(np.ones((3, 3)), 1), 1.0).multipliers   # two cells of one knot are worth most
    array([0.33333333, 0.33333333])
    """
    lengths = np.where(np.triu(np.ones(values.shape), 1) > 0, values, -np.inf)
    value, passes = 0.0, 1
    reach, cells, gains = _longest(lengths, value)
    while gains > value * (cells + excess) and passes < MAX_PASSES:
        value, passes = gains / (cells + excess), passes + 1
        reach, cells, gains = _longest(lengths, value)
    return HeaviestTilings(_mixed_paths(lengths, value, reach), (reach[1:] - reach[:-1]) / excess, passes)


def _longest(lengths: Array, value: float) -> tuple[Array, int, float]:
    """Return the longest way from 0 to each node at lengths - value, and the last one's cells and sum of lengths."""
    nodes = len(lengths)
    reach, before = np.zeros(nodes), np.zeros(nodes, dtype=np.int64)
    for b in range(1, nodes):
        ways = reach[:b] + lengths[:b, b] - value
        before[b] = np.argmax(ways)
        reach[b] = ways[before[b]]
    cells, gains, b = 0, 0.0, nodes - 1
    while b:
        cells, gains, b = cells + 1, gains + lengths[before[b], b], before[b]
    return reach, cells, gains


def _mixed_paths(lengths: Array, value: float, reach: Array) -> Array:
    """Return the share (n + 1, n + 1) of the longest paths that use each arc.

    Paths are counted from both ends, in logarithms: there may be more than doubles can hold.
    """
    nodes = len(lengths)
    tight = reach[:, None] + lengths - value - reach >= -TIED * max(value, np.finfo(float).tiny)
    ahead, behind = np.full(nodes, -np.inf), np.full(nodes, -np.inf)
    ahead[-1] = behind[0] = 0.0
    for b in range(1, nodes):
        behind[b] = np.logaddexp.reduce(behind[:b][tight[:b, b]], initial=-np.inf)
    for a in range(nodes - 2, -1, -1):
        ahead[a] = np.logaddexp.reduce(ahead[a + 1 :][tight[a, a + 1 :]], initial=-np.inf)
    with np.errstate(invalid="ignore"):
        shares = np.exp(behind[:, None] + ahead - ahead[0])
    return np.where(tight, shares, 0.0)
