"""The mechanism of least error of a mean of N users, bias allowed, outputs free, with its certificate.

The program is convex in the table, so it is solved as it stands, by one interior-point path as in `robust.optimum` with
the steps of `newton`: which values are cut, and whether at all, comes out.  Mostly it is a clip and a shift, and then
the means are put exactly there; where it is not (few users, large budgets, very wide sets), they stay what they are.

What the path ends with is a floor and means; the rows are computed afresh (`rows`), and every number returned is
recomputed from the returned table and multipliers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np

from ...mechanisms.errors import InputError, SolverError
from ..arrays import Array
from ..certificate import BestBound, Optimum, Progress, check_tolerance, relative_gap
from ..robust.sets import BoxSet
from ..unbiased.interior_point import finite
from ..unbiased.optimal_mechanism import CLOSED
from ..unbiased.pricing import price
from ..unbiased.primal_dual import FIRST_PRICING, OUTPUTS_PER_KNOT, REFINE_AT
from ..unbiased.refinement import refine_outputs
from ..unbiased.starting_point import starting_outputs, starting_point
from ..unbiased.window_rows import two_outputs
from .adversary import Adversary
from .box import widened
from .error_program import ErrorProgram, Multipliers
from .newton import ErrorIterate, error_step
from .rows import Clip, ClippedRows, sparse_rows_with_means

DEFAULT_TRUST = 3.0
"""Factor by which a prior may be off if nothing else is said: docs/theory/error.md has what it rests on."""

MAX_STEPS = 400
"""Newton steps allowed; four times what the hardest measured design takes."""

STALLED = 30
"""Steps without a better table or bound after which rounding has the word."""

HEADROOM = 0.3
"""The bias's share of the gap at the start, as a root, in units of the objective."""


def trusted(prior: Array, trust: float, *, share: float = 0.0) -> BoxSet:
    """Return the priors with every weight within the factor `trust` of the given prior, or of its mixture with an even
    share.

    With m = (1 - share) p + share / n the bounds are min(p_i, m_i) / trust and trust max(p_i, m_i): an even share makes
    impossible values possible, without claiming that somebody has them.

    Parameters
    ----------
    prior : (n,) ndarray
        Summing to one; knots without weight stay without it unless there is a share.
    trust : float
        At least 1, which trusts the prior wholly.
    share : float
        In [0, 1].

    Returns
    -------
    priors : BoxSet
        Of the n knots.

    Raises
    ------
    InputError
        A factor below 1 or not finite.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.biased import trusted
    >>> trusted(np.array([0.25, 0.75]), 2.0)
    BoxSet(low=array([0.125, 0.375]), high=array([0.5, 1. ]))
    >>> trusted(np.array([0.0, 1.0]), 2.0, share=0.1)
    BoxSet(low=array([0.   , 0.475]), high=array([0.1, 1. ]))
    """
    factor = check_trust(trust)
    mixed = (1 - share) * prior + share / len(prior)
    return BoxSet(np.minimum(prior, mixed) / factor, np.minimum(factor * np.maximum(prior, mixed), 1.0))


def check_trust(trust: object) -> float:
    """Return the factor by which a prior may be off.

    Raises
    ------
    InputError
        What is no number, below 1 or not finite.
    """
    if isinstance(trust, bool) or not isinstance(trust, int | float | np.number) or not 1 <= trust < math.inf:
        raise InputError(f"trust is the factor by which a prior may be off, at least 1, got {trust!r}")
    return float(trust)


def solve_error(
    program: ErrorProgram,
    *,
    tolerance: float = 1e-4,
    progress: Callable[[Progress], None] | None = None,
) -> Optimum[ClippedRows]:
    """Derive the mechanism of least R, bias allowed, outputs free, with its certificate.

    If rounding spoils the interior point and the two-output mechanism or a constant report is better, that one is
    returned, with the same certificate.

    Parameters
    ----------
    program : ErrorProgram
        Its priors a `BoxSet`.
    tolerance : float
        Relative gap of R to reach.
    progress : callable, optional
        Called after each step, with R and its bound.

    Returns
    -------
    best : Optimum of ClippedRows
        Its value is R, whose parts `ErrorProgram.error` tells; its bound holds for every mechanism on these knots,
        biased or not. Its multipliers are the fields of `Multipliers`.

    Raises
    ------
    InputError
        A tolerance that is not strictly between 0 and 1, or a set of another kind.

    Source: derived here; see `error_program` for the certificate.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.biased import ErrorProgram, solve_error, trusted
    >>> knots, prior = np.linspace(-1, 1, 9), np.exp(-2 * np.arange(9.0))
    >>> program = ErrorProgram(knots, np.e, trusted(prior / prior.sum(), 2.0), 10_000)
    >>> best = solve_error(program)
    >>> best.status.value, round(best.value, 4), round(best.bound, 4)
    ('optimal', 0.0043, 0.0043)
    >>> round(best.solution.clip.high, 1)  # what lies above counts as this
    -0.6
    """
    if not isinstance(program.priors, BoxSet):
        raise InputError(f"the least error needs bounds on a prior's weights, got {type(program.priors).__name__}")
    return _Path(program, program.priors, check_tolerance(tolerance), progress).run()


class _Path(BestBound[Multipliers]):
    """The interior-point path with its best bound and its best iterate."""

    def __init__(
        self, program: ErrorProgram, box: BoxSet, tolerance: float, progress: Callable[[Progress], None] | None
    ) -> None:
        some = box.some_prior
        super().__init__(progress, Multipliers(some, some, some, 0.0, 0.0, np.zeros(len(program.knots))))
        self.program, self.box, self.tolerance = program, box, tolerance
        self.wider = widened(box)
        self.inner = ErrorProgram(program.knots, program.ratio, self.wider, program.users)
        self.simple = min(_simple(program), key=lambda table: program.error(*table).rmse)
        self.at_most = program.error(*self.simple).rmse

    def run(self) -> Optimum[ClippedRows]:
        return self._result(self._close_gap(self._start()))

    def _start(self) -> ErrorIterate:
        program = self.inner
        under = program.under(self.wider.some_prior)
        point = starting_point(under, starting_outputs(under, max(OUTPUTS_PER_KNOT * len(program.knots), 16)))
        v, _ = program.moments(point.outputs, point.probabilities)
        users = float(program.users)
        adversary = Adversary.start(self.wider, users, v, HEADROOM * math.sqrt(users * float(v.mean())))
        return ErrorIterate(replace(point, nu=adversary.nu), adversary)

    def _close_gap(self, it: ErrorIterate) -> ErrorIterate:
        """Return the best iterate of a path that ends with a closed gap, by rounding or after MAX_STEPS."""
        best, least, users, gaps = it, np.inf, self.program.users, [np.inf] * STALLED
        with suppress(SolverError, np.linalg.LinAlgError), np.errstate(all="ignore"):  # what is not finite ends it
            while self.steps < MAX_STEPS:
                gap = it.complementarity
                rmse = self.program.error(it.point.outputs, it.point.probabilities).rmse
                if rmse < least:
                    best, least = it, rmse
                reached = min(least, self.at_most)
                near = gap < FIRST_PRICING * users * rmse * rmse
                loss = it.dual_objective - users * self._improve_bound(it) ** 2 if near else 0.0
                self.tell(reached, len(it.point.outputs))
                gaps.append(relative_gap(reached, self.bound))
                if gaps[-1] <= CLOSED * self.tolerance or (self.bound > 0 and gaps[-1] >= gaps[-1 - STALLED]):
                    break
                if loss > REFINE_AT * gap:
                    it = self._refine(it, gap, loss)
                self.steps += 1
                it = finite(error_step(self.inner, it))
        return best

    def _refine(self, it: ErrorIterate, gap: float, loss: float) -> ErrorIterate:
        """Refine the outputs, which adds to the variances and leaves the means, and mend the multipliers."""
        under = self.inner.under(it.adversary.priors[0])
        point = refine_outputs(under, it.point, price(under, it.point.lam, it.point.nu), gap, loss)
        v, _ = self.inner.moments(point.outputs, point.probabilities)
        return ErrorIterate(point, it.adversary.mended(v))

    def _improve_bound(self, it: ErrorIterate) -> float:
        """Return the certified bound of this iterate's multipliers, keeping the best seen."""
        multipliers = it.adversary.multipliers(self.box, it.point.lam)
        return self.improve(self.program.bound(multipliers), multipliers)

    def _result(self, it: ErrorIterate) -> Optimum[ClippedRows]:
        program, (outputs, P) = self.program, self.simple
        value, clip = program.error(outputs, P).rmse, None
        means = program.knots + program.moments(it.point.outputs, it.point.probabilities)[1]
        snapped = Clip.near(program.knots, means, self.box.some_prior)
        for given, wanted in ((None, means), (snapped, snapped.means(program.knots))):
            with suppress(SolverError):
                found = sparse_rows_with_means(program.ratio, it.point.outputs, it.point.t, wanted, self.box)
                reached = program.error(*found).rmse
                close = given is not None and relative_gap(reached, self.bound) <= self.tolerance
                if close or reached < value:
                    (outputs, P), value, clip = found, reached, given
        solution, proof = ClippedRows(outputs, P, clip), vars(self.multipliers)
        return Optimum(solution, value, self.bound, proof, self.tolerance, self.steps, self.seconds)


def _simple(program: ErrorProgram) -> list[tuple[Array, Array]]:
    """Two tables that are all but optimal at small budgets: one constant report, and two reports, unbiased."""
    n, x = len(program.knots), program.knots
    highest, lowest = program.priors.largest(x + 1)[0] - 1, 1 - program.priors.largest(1 - x)[0]
    constant = np.array([0.5 * (highest + lowest)]), np.ones((n, 1))
    return [constant, two_outputs(program.under(program.priors.some_prior))]
