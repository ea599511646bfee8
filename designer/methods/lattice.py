"""AAA as its paper defines it: optimal noise on a lattice, with geometric tails that are really sampled.

The domain is cut into N intervals of width sigma. A value is rounded at random to one of the lattice points
x_0 + i sigma, i = 0..N, and the report is a lattice point x_0 + k sigma for any integer k. Row i chooses the
probabilities of its noise j = k - i freely for |j| < M; beyond this window they fall off geometrically,

    P(k | i) = q_i r^(k - i - M)  for k - i >= M,    P(k | i) = q'_i r^(i - k - M)  for k - i <= -M.

The noise of least expected variance under the prior, unbiased and private, is a linear program. It is a
restriction of the program over free outputs, kept as the faithful baseline.

**Privacy in the tails.** Write q_i = u_i r^i. Wherever row i is on its right tail, P(k | i) is then
u_i r^(k - M): output k scales all rows on their tail alike. From k = N + M on that is every row, so the
ratios no longer depend on k, and the one constraint at k = N + M is the constraint of every output beyond
it. The same holds on the left up to k = -M, with q'_i = v_i r^(N - i) and P(k | i) = v_i r^(N - M - k). In
between, k is one of finitely many outputs and has its own constraint on all rows, free or tied to a tail.
As 2 M > N, no output lies on the left tail of one row and on the right tail of another.

**From the solver's answer to a table.** A linear program is solved to 1e-10; a table must be private
exactly. So the program gets a budget smaller by 1e-8, its answer is pressed into exact ratios, each row
is then multiplied by 1 + a + b j (constant on its tails) that restores its sum and mean, and what was
kept back covers that change.

Source: Wei et al. (2024), "AAA: an Adaptive Mechanism for Locally Differentially Private Mean Estimation",
eq. (9) to (15), with unbiasedness (missing in eq. 15) and with privacy on every output, tails included
(missing in the released code).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...mechanisms.budget import check_epsilon, inner_epsilon
from ...mechanisms.errors import InputError, SolverError
from ...mechanisms.exactness.verification import require_private
from ...mechanisms.sampling.geometric import GeometricTails
from ...mechanisms.table.provenance import Provenance
from ...mechanisms.table.table import TabulatedMechanism
from ..objectives.base import Objective, Problem, Solution
from ..priors.prior import Prior
from .base import Built, Method

if TYPE_CHECKING:
    from .lattice_program import LatticeShape

MAX_INTERVALS = 25
"""Default fineness of the lattice: 26 inputs take hundredths of a second, or, where tails are needed, seconds."""

REACH = 1.5
"""The default window lets outputs reach this many times as far as those of Duchi's mechanism. Nearer, the
tails must carry the unbiasedness (at epsilon 0.5, M = 2 N costs a third of the variance); farther gains
nothing."""

MAX_WINDOW = 10
"""Largest default window in multiples of N: beyond it the program takes longer than so small a budget is
worth."""

MAX_PROGRAM_EPSILON = 12.0
"""Budget spent at most: beyond it a solver cannot tell e^-epsilon from zero, and the variance left to
gain is far below that of rounding to the lattice."""

TAIL_SHARE = 0.99
"""The default ratio is that of discrete Laplace noise of this share of the budget, which then lies
strictly inside the family whatever the window, so that the program always has a solution."""

SPACING_TOLERANCE = 1e-9
"""By how much of a step a lattice point may miss its place: the rounding of linspace."""


@dataclass(frozen=True)
class Lattice(Method):
    """AAA's optimal lattice noise as a method of `design`; see `lattice_mechanism`.

    Parameters
    ----------
    window : int, optional
        M, with 2 M > N: number of steps over which the noise is free. Default: outputs reach 1.5 times as far as
        Duchi's, with at least 2 N and at most 10 N steps.
    intervals : int, optional
        N, a divisor of the number of the prior's intervals. Default: the largest that is at most 25.
    ratio : float, optional
        r in (0, 1) of the geometric tails. Default: exp(-0.99 epsilon / N).

    Example
    -------
    >>> import numpy as np
    >>> from optldp.designer import Lattice, Prior, design
    >>> prior = Prior.on_knots(np.linspace(-1, 1, 5), [1, 2, 3, 2, 1], source="public")
    >>> round(design(prior, 1.0, method=Lattice(window=9)).expected_variance, 3)
    3.873
    """

    window: int | None = None
    intervals: int | None = None
    ratio: float | None = None

    @property
    def key(self) -> str:
        return "aaa"

    def build(self, problem: Problem, objective: Objective, solution: Solution) -> Built:
        made = lattice_mechanism(
            problem.solved, problem.epsilon, intervals=self.intervals, window=self.window, ratio=self.ratio
        )
        return Built(made)


def lattice_mechanism(
    prior: Prior,
    epsilon: float,
    *,
    intervals: int | None = None,
    window: int | None = None,
    ratio: float | None = None,
) -> TabulatedMechanism:
    """Design AAA's optimal lattice noise for a prior.

    Parameters
    ----------
    prior : Prior
        On equally spaced knots, of which the lattice takes every so-many-th.
    epsilon : float
        Privacy budget.
    intervals : int, optional
        N, a divisor of the number of the prior's intervals. Default: the largest that is at most 25.
    window : int, optional
        M, with 2 M > N: number of steps over which the noise is free. Default: outputs reach 1.5 times as far as
        Duchi's, with at least 2 N and at most 10 N steps.
    ratio : float, optional
        r in (0, 1) of the geometric tails. Default: exp(-0.99 epsilon / N), just above e^(-epsilon/N), at and
        above which discrete Laplace noise belongs to the family and the program has a solution whatever M is.
        The paper uses 0.5.

    Returns
    -------
    mechanism : TabulatedMechanism
        Finite outputs as points, the two tails as `GeometricTails`; its prior is the given one on the
        lattice.

    Raises
    ------
    InputError
        Knots not equally spaced, or N, M, r, epsilon not as said above.
    SolverError
        No solution: a ratio below e^(-epsilon/N) can cause that, or a budget so tiny (below about 1e-5) that
        the solver's tolerance outweighs it.

    Source: Wei et al. (2024), AAA, eq. (15).

    Example
    -------
    >>> prior = Prior.on_knots(np.linspace(-1, 1, 5), [1, 2, 3, 2, 1], source="public")
    >>> table = lattice_mechanism(prior, 1.0)
    >>> round(float(table.expected_variance(prior.knot_prior)), 3)
    3.873
    """
    from .lattice_program import optimal_noise  # HiGHS and sparse matrices take a tenth of a second to load

    budget = check_epsilon(epsilon)
    spent = min(inner_epsilon(budget), MAX_PROGRAM_EPSILON)
    lattice = _lattice(prior, spent, intervals, window, ratio)
    coarse = prior.coarsened(prior.knots[:: (prior.knots.size - 1) // lattice.intervals])
    outputs, step = _outputs(coarse.knots, lattice)
    try:
        probabilities = optimal_noise(lattice, coarse.weights, spent)
    except SolverError as error:
        raise SolverError(
            f"lattice noise must exist for N={lattice.intervals}, M={lattice.window}, r={lattice.ratio:.6g}, "
            f"but {error}: widen the window, or use a ratio above {math.exp(-spent / lattice.intervals):.6g}"
        ) from None
    # The lattice has every output; those of no probability for any input are left out, the tails are kept.
    kept = np.any(probabilities > 0, axis=0)
    kept[[0, -1]] = True
    low, high = outputs.copy(), outputs.copy()
    low[0], high[-1] = -math.inf, math.inf
    mechanism = TabulatedMechanism(
        knots=coarse.knots,
        low=low[kept],
        high=high[kept],
        probabilities=probabilities[:, kept],
        epsilon=budget,
        within=GeometricTails(step, lattice.ratio),
        provenance=Provenance(
            "aaa",
            {
                "intervals": lattice.intervals,
                "window": lattice.window,
                "ratio": lattice.ratio,
                "unbiased": True,
            },
        ),
        prior=coarse.knot_prior,
        units=prior.units,
    )
    require_private(mechanism)
    return mechanism


def _lattice(
    prior: Prior, epsilon: float, intervals: int | None, window: int | None, ratio: float | None
) -> LatticeShape:
    """The three parameters, checked or by default."""
    from .lattice_program import LatticeShape

    total = prior.knots.size - 1
    if intervals is None:
        intervals = max(d for d in range(1, min(total, MAX_INTERVALS) + 1) if total % d == 0)
    if not isinstance(intervals, int | np.integer) or intervals < 1 or total % intervals:
        raise InputError(f"intervals must divide the prior's {total}, got {intervals!r}: try {_divisors(total)}")
    if window is None:
        duchi = (math.exp(epsilon) + 1) / math.expm1(epsilon)
        wanted = math.ceil(intervals / 2 * (1 + REACH * duchi))
        window = min(max(2 * intervals, wanted), MAX_WINDOW * intervals)
    if not isinstance(window, int | np.integer) or 2 * window <= intervals:
        raise InputError(f"window must be a whole number above half the {intervals} intervals, got {window!r}")
    if ratio is None:
        ratio = math.exp(-TAIL_SHARE * epsilon / intervals)
    if not 0.0 < ratio < 1.0:
        raise InputError(f"ratio must lie strictly between 0 and 1, got {ratio!r}")
    return LatticeShape(int(intervals), int(window), float(ratio))


def _outputs(knots: np.ndarray, lattice: LatticeShape) -> tuple[np.ndarray, float]:
    """LatticeShape points in the user's units, with the knots themselves inside the domain; and the step."""
    step = float(knots[-1] - knots[0]) / lattice.intervals
    even = np.linspace(knots[0], knots[-1], knots.size)
    rounding = 2 * float(np.spacing(np.abs(knots).max()))
    if np.abs(knots - even).max() > SPACING_TOLERANCE * step + rounding:
        raise InputError("a lattice needs a prior on equally spaced knots: pass a number of knots, not positions")
    outputs = knots[0] + step * lattice.columns
    outputs[lattice.window : lattice.window + knots.size] = knots
    return outputs, step


def _divisors(total: int) -> str:
    return ", ".join(str(d) for d in range(1, total + 1) if total % d == 0)
