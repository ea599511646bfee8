"""The unbiased mechanism of least guarantee over a set of priors, outputs free, with its certificate.

One interior-point path as in `unbiased.optimum`, with `newton` for the steps: steps on the present outputs until
what they cost is comparable to the complementarity gap, then refined outputs, and on.  Refinement, pricing and
certificate are those of the unbiased ratio program under the prior of the moment, which moves within the set.  For a
given floor the window rows have the least variance at every knot at once (`window_rows`), and so the least guarantee
for any set of priors: the end is theirs.

The prior starts at the analytic centre of its set, where multipliers that meet the equations are at hand.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np

from ...mechanisms.errors import SolverError
from ..arrays import Array
from ..certificate import BestBound, Optimum, Progress, check_tolerance, relative_gap
from ..unbiased.interior_point import finite
from ..unbiased.optimal_mechanism import CLOSED
from ..unbiased.pricing import price
from ..unbiased.primal_dual import FIRST_PRICING, OUTPUTS_PER_KNOT, REFINE_AT
from ..unbiased.refinement import refine_outputs
from ..unbiased.sparse_support import COST_SLACK, NEGLIGIBLE, push_to_basis, staircases
from ..unbiased.starting_point import starting_outputs, starting_point
from ..unbiased.unbiased_program import Rows, UnbiasedProgram
from ..unbiased.window_rows import stretched_rows, two_outputs
from .iterate import RobustIterate
from .minimax_program import MinimaxProgram
from .newton import robust_step
from .polytope import PriorPolytope
from .robust_program import RobustProgram

MAX_STEPS = 400
"""Newton steps allowed; four times what the hardest measured design takes."""

HEADROOM = 0.1
"""The inequalities' share of the starting gap, in units of the objective, at least."""

INSIDE = 2.0
"""The starting multipliers are this many times as large as just not being negative asks for, at least."""

KEPT = 0.5
"""Share of a lower bound's multiplier that may go where refined outputs change the variances."""


def solve_robust(
    program: RobustProgram,
    *,
    tolerance: float = 1e-6,
    progress: Callable[[Progress], None] | None = None,
) -> Optimum[Rows]:
    """Derive the unbiased mechanism of least guarantee over the program's priors, outputs free, with its certificate.

    If rounding spoils the interior point and the two-output mechanism is better, that one is returned, with the same
    certificate.

    Parameters
    ----------
    program : RobustProgram
    tolerance : float
        Relative gap to reach.
    progress : callable, optional
        Called after each step.

    Returns
    -------
    best : Optimum of Rows
        At most 3n outputs unless rounding stopped the clean-up. Its value is the guarantee, the largest expected
        variance over the set; its bound holds for every unbiased mechanism; among its multipliers is the `worst` prior.

    Raises
    ------
    InputError
        A tolerance that is not strictly between 0 and 1.
    SolverError
        A set without an inside.

    Source: linear programming duality; the worst prior: Wald (1950), Sion (1958).

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers import RobustProgram, solve_robust
    >>> from optldp.solvers.robust.sets import MovedSet
    >>> knots, prior = np.linspace(-1, 1, 5), np.array([0.05, 0.2, 0.5, 0.2, 0.05])
    >>> best = [solve_robust(RobustProgram(knots, 5.0, MovedSet(prior, radius))) for radius in (0.1, 0.3)]
    >>> [round(each.value, 3) for each in best], best[0].multipliers["worst"].round(2)
    ([1.235, 1.38], array([0.1, 0.2, 0.4, 0.2, 0.1]))
    """
    return _Path(program, check_tolerance(tolerance), progress).run()


class _Path(BestBound[dict[str, Array]]):
    """The interior-point path with its best bound."""

    def __init__(self, program: RobustProgram, tolerance: float, progress: Callable[[Progress], None] | None) -> None:
        # Without multipliers of the rows any prior certifies that no variance is negative.
        none = np.zeros(len(program.knots))
        super().__init__(progress, {"worst": program.priors.some_prior, "lam": none, "nu": none})
        self.program, self.tolerance = program, tolerance
        self.polytope = program.priors.polytope()
        # Two outputs are all but optimal at small budgets, where rounding keeps the path from coming as close.
        self.fallback = two_outputs(program.under(program.priors.some_prior))
        self.at_most = program.objective(program.variances(*self.fallback))

    def run(self) -> Optimum[Rows]:
        return self._result(self._close_gap(self._start()))

    def _start(self) -> RobustIterate:
        polytope, program = self.polytope, self.program
        x = polytope.centre()
        under = program.under(polytope.prior(x))
        point = starting_point(under, starting_outputs(under, max(OUTPUTS_PER_KNOT * len(program.knots), 16)))
        variances = program.variances(point.outputs, point.probabilities)
        eta, tau = _starting_multipliers(polytope, x, variances)
        return RobustIterate(point, x, eta, polytope.slack(x), tau)

    def _close_gap(self, it: RobustIterate) -> RobustIterate:
        """Return the cheapest iterate of a path that ends with a closed gap, by rounding or after MAX_STEPS."""
        best, cheapest = it, np.inf
        with suppress(SolverError):
            while self.steps < MAX_STEPS:
                gap = it.complementarity
                objective = self.program.objective(self.program.variances(it.point.outputs, it.point.probabilities))
                if objective < cheapest:
                    best, cheapest = it, objective
                near = gap < FIRST_PRICING * objective
                loss = it.point.dual_objective - self._improve_bound(it) if near else 0.0
                reached = min(objective, self.at_most)
                self.tell(reached, len(it.point.outputs))
                if near and relative_gap(reached, self.bound) <= CLOSED * self.tolerance:
                    break
                if loss > REFINE_AT * gap:
                    it = self._refine(it, gap, loss)
                self.steps += 1
                it = finite(robust_step(self.program, self.polytope, it))
        return best

    def _refine(self, it: RobustIterate, gap: float, loss: float) -> RobustIterate:
        """Refine the outputs, which adds to the variances, and mend the multipliers that go with them."""
        under = self.program.under(self.polytope.prior(it.x))
        pricing = price(under, it.point.lam, it.point.nu)
        point = refine_outputs(under, it.point, pricing, gap, loss)
        eta, tau = _mended(self.polytope, self.program.variances(point.outputs, point.probabilities), it.eta, it.tau)
        return replace(it, point=point, eta=eta, tau=tau)

    def _improve_bound(self, it: RobustIterate) -> float:
        """Return the certified bound of this iterate's multipliers, keeping the best seen."""
        multipliers = {"worst": self.polytope.prior(it.x), "lam": it.point.lam, "nu": it.point.nu}
        return self.improve(self.program.bound(**multipliers), multipliers)

    def _result(self, it: RobustIterate) -> Optimum[Rows]:
        best, value = self.fallback, self.at_most
        with suppress(SolverError):
            found = sparse_minimax(self.program, it.point.outputs, it.point.t)
            reached = self.program.objective(self.program.variances(*found))
            if reached < value:
                best, value = found, reached
        return Optimum(Rows(*best), value, self.bound, self.multipliers, self.tolerance, self.steps, self.seconds)


def _starting_multipliers(polytope: PriorPolytope, x: Array, variances: Array) -> tuple[Array, float]:
    """Return eta > 0 and tau with spread' V = tau border + rows' eta, for x at the centre.

    There rows' (1 / slack) is a multiple of the border, so any multiple of 1 / slack may be added to a solution.
    """
    inverse, border, k = 1 / polytope.slack(x), polytope.border, len(polytope.right)
    prior = polytope.prior(x)
    middle = float(prior @ variances / prior.sum())
    scaled = polytope.rows * inverse[:, None]
    gram = scaled.T @ scaled
    size = 1 / np.sqrt(np.diag(gram))
    right = variances @ polytope.spread - middle * border
    particular = inverse * (scaled @ (size * np.linalg.solve(gram * size[:, None] * size, size * right)))
    least = float((-particular / inverse).max())
    share = max(INSIDE * least, HEADROOM * float(variances.max()) / k)
    along = float((inverse @ polytope.rows) @ border / (border @ border))
    return particular + share * inverse, middle - share * along


def _mended(polytope: PriorPolytope, variances: Array, eta: Array, tau: float) -> tuple[Array, float]:
    """Return eta > 0 and tau that meet the equations of the weights for variances that have changed.

    The multiplier of a weight's lower bound takes up the change, down to its half; what is more raises tau.
    """
    lower = len(polytope.free)
    lack = (tau * polytope.border + eta @ polytope.rows - variances @ polytope.spread)[:lower]
    shift = max(0.0, float((-lack - KEPT * eta[:lower]).max()))
    return np.concatenate([eta[:lower] + lack + shift, eta[lower:]]), tau + shift


def sparse_minimax(program: MinimaxProgram | RobustProgram, outputs: Array, floor: Array) -> tuple[Array, Array]:
    """Return (outputs (k,), probabilities (n, k)), k <= 3n, with the variances of the floor's best rows or less.

    Parameters
    ----------
    outputs, floor : (m,) ndarray
        Increasing outputs and the floor t > 0 of each.

    Raises
    ------
    SolverError
        The floor admits no unbiased rows.
    """
    n = len(program.knots)
    mixed = UnbiasedProgram(program.knots, np.full(n, 1 / n), program.ratio)  # what follows uses no weights
    outputs, P = stretched_rows(mixed, outputs, floor)
    position, pattern, theta = staircases(mixed, floor, P)
    offsets = mixed.offsets(outputs[position])
    columns = np.concatenate([pattern, pattern * offsets, pattern * offsets**2])
    basis, weight = push_to_basis(columns, np.zeros(len(theta)), theta)
    lighter = np.zeros(len(outputs))
    np.add.at(lighter, position[basis], np.maximum(weight, 0))
    used = lighter * program.ratio > NEGLIGIBLE
    try:
        fewer, sparse = stretched_rows(mixed, outputs[used], lighter[used])
    except SolverError:
        return outputs, P
    before, after = (program.objective(program.variances(*made)) for made in ((outputs, P), (fewer, sparse)))
    return (fewer, sparse) if after <= before * (1 + COST_SLACK) else (outputs, P)
