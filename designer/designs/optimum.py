"""The optimal mechanism for a prior, in the user's units, with the certificate of its optimality.

The prior's knots are mapped to [-1, 1], the program of `optldp.solvers` is solved there with a budget a hair below
epsilon (`inner_epsilon`), and the result is mapped back.  Variances scale with the squared half-width; the variance
that rounding to knots adds is the same for every mechanism and is added to objective and bound alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from ...mechanisms import Provenance, TabulatedMechanism
from ...mechanisms.budget import inner_epsilon
from ...solvers import Progress, Status, certified_bound, solve_unbiased
from ...solvers.unbiased.program import UnbiasedProgram
from ..priors.prior import Prior


@dataclass(frozen=True, eq=False)
class CertifiedOptimum:
    """The optimum for one prior and budget.

    Attributes
    ----------
    mechanism : TabulatedMechanism
        Outputs are points; at most 2n of them unless rounding stopped the clean-up.
    lower_bound : float
        On the expected variance of ANY unbiased epsilon-LDP mechanism on these knots under this prior, any real
        outputs; rounding between knots included; squared units.
    status : Status
        Whether the tolerance was reached.
    steps : int
        Interior-point steps taken.
    multipliers : (2, n) ndarray
        lambda and nu behind the bound, for knots mapped to [-1, 1].
    """

    mechanism: TabulatedMechanism
    lower_bound: float
    status: Status
    steps: int
    multipliers: np.ndarray


def certified_optimum(
    prior: Prior, epsilon: float, *, tolerance: float, progress: Callable[[Progress], None] | None = None
) -> CertifiedOptimum:
    """Solve for the prior as it is (no floor) and tabulate the result.

    Parameters
    ----------
    prior : Prior
    epsilon : float
        Budget, already checked.
    tolerance : float
        Relative gap to reach on the knots' own expected variance, without rounding.
    """
    middle, half = _scaling(prior)
    scaled = (prior.knots - middle) / half
    scaled[[0, -1]] = -1.0, 1.0
    # Threads of a second core mostly wait for each other at these sizes, and far longer on a busy machine: at 401
    # knots one thread took 42 s where two took 135 s beside another process.
    with threadpool_limits(1, user_api="blas"):
        best = solve_unbiased(
            scaled, prior.weights, math.exp(inner_epsilon(epsilon)), tolerance=tolerance, progress=progress
        )
    mechanism = TabulatedMechanism.from_points(
        prior.knots,
        middle + half * best.outputs,
        best.probabilities,
        epsilon,
        provenance=Provenance("optimal", {"unbiased": True, "tolerance": tolerance}),
        units=prior.units,
    )
    # The bound must hold for the whole budget, not for the slightly smaller one the table was built with.
    program = UnbiasedProgram(scaled, prior.weights, math.exp(epsilon))
    bound = half**2 * certified_bound(program, best.lam, best.nu) + prior.rounding_variance
    return CertifiedOptimum(mechanism, bound, best.status, best.steps, np.stack([best.lam, best.nu]))


def _scaling(prior: Prior) -> tuple[float, float]:
    low, high = prior.domain
    return 0.5 * (low + high), 0.5 * (high - low)
