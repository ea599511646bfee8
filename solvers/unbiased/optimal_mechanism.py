"""The certified optimum over all unbiased mechanisms with free real outputs.

From `BARRIER` knots on by a barrier over the output line (`solvers/barrier`), whose steps cost O(n log n); below, and
where that is lost, by a primal-dual path with refined outputs (`primal_dual`), whose steps cost O(n^3). What either
ends with is a floor and multipliers; the floor is cleaned up to a basic mechanism, and every number returned is
recomputed from the returned mechanism and multipliers.

Measured growth is in docs/benchmarks.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from ...mechanisms.errors import SolverError
from ..arrays import Array
from ..barrier.barrier_method import solve_by_barrier
from ..barrier.grids import coarser, refined
from ..barrier.primal import Floor
from ..barrier.problem import Problem, State
from ..certificate import Optimum, Progress, Solved, check_tolerance, relative_gap
from .pricing import certified_bound
from .primal_dual import PrimalDualPath
from .sparse_support import sparse_mechanism
from .unbiased_program import Rows, UnbiasedProgram
from .window_rows import stretched_rows, two_outputs

BARRIER = 18
"""Knots from which the barrier is the faster way."""

CLOSED = 0.8
"""Share of the tolerance to reach on a path; the rest is room for the clean-up's rounding."""

CLEANED_UP = 256
"""Knots up to which the mechanism is made basic, in O(n^3): half a second there."""

STUBBORN, FEWER = 400, 201
"""Where the barrier is lost the primal-dual path takes over, beyond the first number of knots on the second of them: up
to a minute, growing like n^3. The gap that is left is that of the windows between these knots, and is said."""

POSITIVE = 1e-9
"""Share of even weights with fewer knots, so that every row has a window."""


def solve_unbiased(
    knots: Array,
    weights: Array,
    ratio: float,
    *,
    tolerance: float = 1e-6,
    progress: Callable[[Progress], None] | None = None,
) -> Optimum[Rows]:
    """Derive the unbiased mechanism of least expected variance, outputs free, with its certificate.

    If rounding spoils the interior point (epsilon below about 0.01, where the optimum tends to two outputs) and the
    two-output mechanism is better, that one is returned, with the same certificate.

    Parameters
    ----------
    knots : (n,) ndarray
        Increasing, from -1 to 1.
    weights : (n,) ndarray
        Prior weights, non-negative, summing to 1.
    ratio : float
        E = e^epsilon.
    tolerance : float
        Relative gap to reach.
    progress : callable, optional
        Called after each step.

    Returns
    -------
    best : Optimum of Rows
        Its value is the expected variance on the knots; its bound holds for every unbiased mechanism.

    Raises
    ------
    InputError
        A shape does not fit, or a number is out of range.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers import solve_unbiased
    >>> best = solve_unbiased(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), np.e)
    >>> round(best.value, 4), round(((np.e + 1) / (np.e - 1)) ** 2 - 1, 4)  # Duchi's, which is optimal here
    (3.6827, 3.6827)
    >>> best.solution.probabilities.round(4)
    array([[0.7311, 0.2689],
           [0.2689, 0.7311]])
    """
    program = UnbiasedProgram(knots, weights, ratio)
    run = _Run(program, check_tolerance(tolerance), progress)
    n = len(program.knots)
    if n >= BARRIER:
        run.barrier()
    if n < BARRIER or not run.closed:
        run.primal_dual()
    return run.optimum(Rows(*run.mechanism), run.objective)


def solve_floor(
    knots: Array,
    weights: Array,
    ratio: float,
    *,
    tolerance: float = 1e-6,
    progress: Callable[[Progress], None] | None = None,
) -> Optimum[Floor] | None:
    """Return the floor that `solve_unbiased` would make rows over, in O(n) memory; None where the barrier is lost.

    Parameters and errors are those of `solve_unbiased`.

    Example
    -------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 33)
    >>> found = solve_floor(x, np.full(33, 1 / 33), np.e)
    >>> found is not None and bool(found.solution.masses.sum() < 1 < np.e * found.solution.masses.sum())
    True
    """
    program = UnbiasedProgram(knots, weights, ratio)
    run = _Run(program, check_tolerance(tolerance), progress)
    found = run.floor()
    return None if found is None else run.optimum(found, found.objective)


class _Run:
    """The best mechanism and the best bound so far."""

    def __init__(self, program: UnbiasedProgram, tolerance: float, progress: Callable[[Progress], None] | None) -> None:
        self.program, self.tolerance, self.progress = program, tolerance, progress
        self.started = time.perf_counter()
        self.mechanism = two_outputs(program)
        self.objective = program.objective(*self.mechanism)
        # No multipliers at all certify that no variance is negative.
        self.bound, self.lam, self.nu = 0.0, np.zeros(len(program.knots)), np.zeros(len(program.knots))
        self.shown = 0.0  # certified on the way, for those who watch; what is returned does not depend on them
        self.steps = 0

    @property
    def closed(self) -> bool:
        return relative_gap(self.objective, self.bound) <= self.tolerance

    def floor(self) -> Floor | None:
        """Solve over the output line and keep the multipliers; None where the barrier is lost."""
        x, p, E = self.program.knots, self.program.weights, self.program.ratio
        found = solve_by_barrier(x, p, E, CLOSED * self.tolerance, self.on_the_line)
        if found is None:
            return None
        self._multipliers(found.lam, found.nu)
        return found.floor

    def barrier(self) -> None:
        """Solve over the output line."""
        if (found := self.floor()) is not None:
            self._mechanism(found.outputs, found.masses)

    def primal_dual(self) -> None:
        """Solve on refined outputs."""
        before = self.steps

        def report(step: int, value: float, bound: float, outputs: int) -> None:
            self.steps = before + step
            self._report(value, bound if few is None else 0.0, outputs)

        x, p, E = self.program.knots, self.program.weights, self.program.ratio
        fine = Problem.of(x, (1 - POSITIVE) * p + POSITIVE / len(x), E)
        few = coarser(fine, FEWER) if len(x) > STUBBORN else None
        program = self.program if few is None else UnbiasedProgram(few.x, few.p, E)
        path = PrimalDualPath(program, CLOSED * self.tolerance, report)
        it = path.run()
        self.steps = before + path.steps
        if few is None:
            self._mechanism(it.outputs, it.t)
            self._multipliers(*path.multipliers)
        else:
            with suppress(SolverError):
                outputs, P = sparse_mechanism(program, it.outputs, it.t)
                self._mechanism(outputs, P.min(0))
            state = State(*path.multipliers, mu=0.0, share=0.0)
            if few.at(state).proper:  # every row has a window that can be put between knots
                between = refined(few, state, fine)
                self._multipliers(between.lam, between.nu)

    def on_the_line(self, value: float, multipliers: tuple[Array, Array] | None, outputs: int) -> None:
        if self.progress is not None:
            shown = 0.0
            if multipliers is not None:
                shown = certified_bound(self.program, *multipliers)
            self._report(value, shown, outputs)
        self.steps += 1

    def _report(self, value: float, bound: float, outputs: int) -> None:
        """Tell a value that has been reached, or will be, and the best bound that was certified."""
        if self.progress is not None:
            self.shown = max(self.shown, self.bound, bound)
            reached = min(self.objective, max(value, self.shown))
            self.progress(Progress(self.steps, reached, self.shown, outputs, time.perf_counter() - self.started))

    def _mechanism(self, outputs: Array, floor: Array) -> None:
        """Keep the floor's best mechanism if it is the best."""
        rows = sparse_mechanism if len(self.program.knots) <= CLEANED_UP else stretched_rows
        with suppress(SolverError):
            found = rows(self.program, outputs, floor)
            objective = self.program.objective(*found)
            if objective < self.objective:
                self.mechanism, self.objective = found, objective

    def _multipliers(self, lam: Array, nu: Array) -> None:
        """Keep the multipliers if they prove more."""
        bound = certified_bound(self.program, lam, nu)
        if bound > self.bound:
            self.bound, self.lam, self.nu = bound, lam, nu

    def optimum(self, solution: Solved, value: float) -> Optimum[Solved]:
        """Return a solution and its value with the best bound so far."""
        seconds = time.perf_counter() - self.started
        return Optimum(
            solution, value, self.bound, {"lam": self.lam, "nu": self.nu}, self.tolerance, self.steps, seconds
        )
