r"""Unbiased reports of at most m outputs, wherever these are: least expected, worst or mixed squared error.

On given outputs z the least error is a channel program, and how it changes with an output is known from that program's
multipliers (envelope theorem):

    d value / d z_y = sum_i P_iy (2 rho_i (z_y - x_i) - nu_i),    rho = (1 - share) p + share q,

q the worst values' weights. Outputs are moved along it from two starts: the best ones found for one output less, with
one more where a column is cheapest, and quantiles of what the best table on a grid reports; where the program is the
same from either end, the second stays so. The first is no worse than what it starts from, so one output more never
makes a table worse. Of more than eight, outputs are moved at every second count only, at every fourth beyond sixteen,
and so on: between, one is added to those of one less. Nothing depends on who solved for free outputs, so neither does
the table. The error is not convex in z, and nothing here proves that there is nothing better: the bound of free outputs
does, up to what so few outputs cost.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from ...mechanisms.errors import InputError, SolverError
from ..arrays import Array
from ..cone import Cone, cheapest
from ..unbiased.unbiased_program import Rows
from .channel_program import ChannelProgram, even_weights
from .interior_point import ROWS_OFF, interior_point
from .optimal_table import solve_channel
from .reach import reach
from .tree_program import TreeProgram

MARGIN = 1e-4
"""Share of the range by which the outermost outputs stay beyond what privacy asks for: at the edge nothing is strictly
inside, and an interior point has no place to be."""

SOLVED, ROUGH = 1e-6, 1e-3
"""Relative gap of the programs on the way, and of the one on a grid."""

GRID, BEYOND = 65, 0.25
"""Outputs of the grid that quantiles are taken on, and the share of the range that it goes beyond, to either side."""

MOVES = 25
"""Steps of L-BFGS from the quantiles, which are far from an optimum; each solves one program or two."""

FEW_MOVES = 12
"""From the optimum of one output less, and to the end where nothing is symmetric."""

BOTH = 6
"""Outputs up to which both starts are followed; beyond, starts are near optima and the better one is."""

STILL = 1e-6
"""Share of the value by which a step must better it."""

TRIES, FEW_TRIES = 20, 3
"""Lengths of a step that are tried, up to as many outputs and beyond: more gain nothing there but rounding."""

POWERS = (1.0, 0.5, 0.25)
"""Of masses, in quantiles: the outermost outputs, of little mass, matter most to the worst case."""

PLACES = 200
"""Where one more output is looked for."""

APART = 1e-3
"""Share of the range that it stays away from the others."""

ALIKE = 1e-9
"""By which a program may differ from what it is from the other end, to count as symmetric."""


class Found(NamedTuple):
    """The best table that was found.

    Attributes
    ----------
    rows : Rows
        Outputs (k,), k at most m, and probabilities (n, k).
    value : float
        The squared error of a report, in the shares asked for.
    programs : int
        That were solved on the way.
    seconds : float
    """

    rows: Rows
    value: float
    programs: int
    seconds: float


class _Placed(NamedTuple):
    """Outputs, what they are worth, how that changes with them, and the multipliers behind it."""

    outputs: Array
    value: float
    slope: Array
    rho: Array
    lam: Array
    nu: Array


def solve_at_most(cone: Cone, weights: Array, knots: Array, most: int, *, share: float = 0.0) -> Found:
    """Return the best unbiased table found with at most so many outputs.

    Parameters
    ----------
    cone : Cone
        A tree in which each of n values has a node of its own.
    weights, knots : (n,) ndarray
        Prior weights that sum to one, and increasing values.
    most : int
        At least two.
    share : float
        Weight of the worst value's error; the rest is the expected error's.

    Returns
    -------
    found : Found
        No worse than the table found for fewer outputs.

    Raises
    ------
    InputError
        Fewer than two outputs, or a cone that is no such tree.
    SolverError
        Precision was lost.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers import solve_unbiased
    >>> from optldp.solvers.channel import solve_at_most
    >>> from optldp.solvers.cone import pure
    >>> x, p = np.linspace(-1, 1, 5), np.full(5, 0.2)
    >>> best = solve_unbiased(x, p, np.e)
    >>> few = solve_at_most(pure(5, 1.0), p, x, 4)
    >>> len(best.solution.outputs) > 4, len(few.rows.outputs), best.value < few.value < 1.06 * best.value
    (True, 4, True)
    """
    started = time.perf_counter()
    if most < 2:
        raise InputError(f"there must be at least two outputs, got {most!r}")
    search = _Search(cone, np.asarray(weights, dtype=np.float64), np.asarray(knots, dtype=np.float64), share)
    at, masses = search.solved(search.ends), search.masses()
    for count in range(3, most + 1):
        following = search.with_one_more(at)
        if count % _apart(count):
            at = min([at, following], key=lambda one: one.value)
            continue
        spreads = [search.solved(search.quantiles(search.grid, masses**power, count)) for power in POWERS]
        spread = min(spreads, key=lambda one: one.value)
        starts = sorted([following, spread], key=lambda one: one.value)[: 2 if count <= BOTH else 1]
        ends = [search.moved(one, MOVES if one is spread else FEW_MOVES) for one in starts]
        at = min([at, *ends], key=lambda one: one.value)
    found = solve_channel(search.program(at.outputs), tolerance=SOLVED)
    used = found.solution.any(axis=0)
    rows = Rows(at.outputs[used], found.solution[:, used])
    return Found(rows, found.value, search.programs, time.perf_counter() - started)


def _apart(count: int) -> int:
    """Return how far apart counts are at which outputs are moved: 1 up to eight, 2 up to sixteen, and so on."""
    return 1 << max((count - 1).bit_length() - 3, 0)


class _Search:
    """Where outputs may be, and what they are worth there."""

    def __init__(self, cone: Cone, weights: Array, knots: Array, share: float) -> None:
        self.cone, self.weights, self.knots, self.share, self.programs = cone, weights, knots, share, 0
        low, high = reach(cone, knots)
        self.width = high - low
        more = BEYOND * self.width
        self.grid = np.linspace(low - more, high + more, GRID)
        self.ends = np.array([low - MARGIN * self.width, high + MARGIN * self.width])
        turned = [weights[::-1] - weights, (knots + knots[::-1] - low - high) / self.width]
        self.symmetric = all(np.abs(one).max() <= ALIKE for one in turned) and np.allclose(
            cone.closed, cone.closed[::-1, ::-1], rtol=ALIKE, atol=0
        )

    def program(self, outputs: Array) -> ChannelProgram:
        return ChannelProgram.unbiased(self.cone, self.weights, self.knots, outputs, self.share)

    def masses(self) -> Array:
        """Return how often each output of a grid is reported by the table of least error on it (k,).

        Roughly solved: of the many tables that are nearly best it is one in their middle.
        """
        found = solve_channel(self.program(self.grid), tolerance=ROUGH, solver="tree")
        return self.rho(found.multipliers) @ found.solution

    def rho(self, proof: Mapping[str, Array]) -> Array:
        """Return what each value's error counts."""
        worst = self.share * proof["worst"] / proof["worst"].sum() if self.share else 0.0
        return (1 - self.share) * self.weights + worst

    def solved(self, outputs: Array) -> _Placed:
        """Return what outputs are worth; infinitely much where numbers are lost."""
        self.programs += 1
        tree = TreeProgram(self.program(outputs))
        if not tree.takes(tree.program):
            raise InputError("outputs can be placed for cones that are trees with a node for each value alone")
        try:
            at, _ = interior_point(tree, SOLVED)
            value = tree.worth(at) if np.abs(tree.missing(at).rows).max() <= ROWS_OFF else np.inf
        except SolverError:
            return _Placed(outputs, np.inf, *(np.zeros(0) for _ in range(4)))
        proof = tree.proof(at)
        rho = self.rho(proof)
        offsets = outputs - self.knots[:, None]
        per_output = 2 * rho[:, None] * offsets - proof["nu"][:, None]
        slope = (at.s[self.cone.places] * per_output).sum(0)
        return _Placed(outputs, value, slope, rho, proof["lam"], proof["nu"])

    def with_one_more(self, at: _Placed) -> _Placed:
        """Return outputs with one more where a column is cheapest."""
        low, high = at.outputs[[0, -1]] + np.array([-0.2, 0.2]) * self.width
        grid = np.linspace(low, high, PLACES)
        grid = grid[np.abs(grid[:, None] - at.outputs).min(1) > APART * self.width]
        offsets = grid - self.knots[:, None]
        costs = (at.rho[:, None] * offsets - at.nu[:, None]) * offsets - at.lam[:, None]
        prices, _ = cheapest(self.cone, costs, even_weights(self.weights))
        return self.solved(np.sort(np.r_[at.outputs, grid[prices.argmin()]]))

    def quantiles(self, outputs: Array, masses: Array, count: int) -> Array:
        """Return the middles of so many parts of equal mass, of what is reported; the outermost far enough out."""
        below = np.cumsum(masses) - masses / 2
        spread = np.interp((np.arange(count) + 0.5) / count, below / masses.sum(), outputs)
        spread[[0, -1]] = min(spread[0], self.ends[0]), max(spread[-1], self.ends[1])
        # A thousandth of what counts as apart breaks ties, and cannot merge two outputs.
        return self._even(np.maximum.accumulate(spread + np.arange(count) * APART * 1e-3 * self.width))

    def moved(self, start: _Placed, moves: int) -> _Placed:
        """Return the best of what L-BFGS comes by; symmetric if the start is."""
        if not np.isfinite(start.value):
            return start
        best = start
        keep = self.symmetric and np.abs(self._even(start.outputs) - start.outputs).max() <= ALIKE * self.width

        def told(places: Array) -> tuple[float, Array]:
            nonlocal best
            outputs = np.sort(places) * self.width
            at = self.solved(self._even(outputs) if keep else outputs)
            if not np.isfinite(at.value):
                return 10.0, np.zeros_like(places)  # a line search comes back from there
            best = min(best, at, key=lambda one: one.value)
            slope = (at.slope - at.slope[::-1]) / 2 if keep else at.slope
            return at.value / start.value, slope * self.width / start.value

        low, high = self.ends / self.width
        tries = TRIES if len(start.outputs) <= BOTH else FEW_TRIES
        bounds = [(None, low), *[(low, high)] * (len(start.outputs) - 2), (high, None)]
        options = {"maxiter": moves, "maxfun": 2 * moves, "maxls": tries, "ftol": STILL}
        minimize(told, start.outputs / self.width, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        return best

    def _even(self, outputs: Array) -> Array:
        """Return outputs that are the same from either end, if the program is."""
        return (outputs + self.ends.sum() - outputs[::-1]) / 2 if self.symmetric else outputs
