"""The mechanism of least worst-case variance, in the user's units, with the certificate of its optimality.

The program of `optldp.solvers` is solved on knots mapped to [-1, 1] with a budget a hair below epsilon
(`inner_epsilon`), tabulated in the user's units and judged again from the table.  The certificate is for the knots, so
it holds for the domain that they lie in: no unbiased epsilon-LDP mechanism there has a smaller worst case.  Between
two knots a table rounds at random, which adds up to a quarter of their squared distance.  A minimax design is level on
most of the domain, so its largest variance over the domain is above the one at the knots by that; more knots make it
small, see `minimax_knots`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from ...mechanisms import InputError, Provenance, TabulatedMechanism
from ...mechanisms.budget import check_epsilon, inner_epsilon
from ...mechanisms.exactness.make_exact import exact_if_possible
from ...mechanisms.exactness.verification import require_private
from ...mechanisms.table.knots import check_knots
from ...solvers import Progress, Status
from ...solvers.robust.minimax import MinimaxOptimum, solve_minimax
from ...solvers.robust.minimax_program import MinimaxProgram
from ..priors.checks import as_knots
from ..priors.prior import Prior
from .design import DEFAULT_TOLERANCE

DEFAULT_EXCESS = 1e-4
"""Share of the worst case that rounding between knots may add: below what a million reports could show."""

TRIAL_KNOTS = 17
"""Knots of the trial design in `minimax_knots`: up to epsilon 4 its worst case is within a percent of that on many."""


@dataclass(frozen=True, eq=False)
class MinimaxDesign:
    """A mechanism, its variances and the certificate.

    Attributes
    ----------
    mechanism : TabulatedMechanism
    epsilon : float
    weight : float
        Of the worst case in the objective, in (0, 1].
    worst_case_variance : float
        Largest over the whole domain, rounding between knots included; squared units.
    worst_value : float
        A value that attains it.
    worst_knot_variance : float
        Largest at a knot.
    expected_variance : float or None
        Under the prior as given, rounding between knots included; None without a prior.
    objective : float
        (1 - weight) expected variance + weight largest variance at a knot.
    lower_bound : float
        Certified: no unbiased epsilon-LDP mechanism on these knots has a lower objective, whatever its real outputs.
        At weight 1 that bounds the worst case over the whole domain too, of tables and of any other mechanism.
    least_favourable : (n,) ndarray
        Multipliers of the variances, as weights that sum to one. At weight 1 this is the prior behind the bound: the
        best expected variance under it is the least worst case. Below, (1 - weight) prior + weight times these is.
    max_log_ratio, max_abs_bias : float
        Of the table as returned.
    status : Status
        OPTIMAL when the solver reached its tolerance, GAP_OPEN otherwise.
    seconds : float
        Wall time.
    """

    mechanism: TabulatedMechanism
    epsilon: float
    weight: float
    worst_case_variance: float
    worst_value: float
    worst_knot_variance: float
    expected_variance: float | None
    objective: float
    lower_bound: float
    least_favourable: np.ndarray
    max_log_ratio: float
    max_abs_bias: float
    status: Status
    seconds: float

    @property
    def relative_gap(self) -> float:
        """(objective - lower bound) / objective: how far from optimal at the knots this can be at most."""
        return (self.objective - self.lower_bound) / self.objective

    @property
    def between_knots(self) -> float:
        """Share by which the largest variance over the domain is above the largest one at a knot."""
        return self.worst_case_variance / self.worst_knot_variance - 1


def design_minimax(
    knots: ArrayLike,
    epsilon: float,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
    exact: bool = True,
    units: str = "",
    progress: Callable[[Progress], None] | None = None,
) -> MinimaxDesign:
    """Build the unbiased mechanism whose largest variance at a knot is least; no prior, so no data, goes into it.

    Parameters
    ----------
    knots : (n,) array_like
        Increasing, in the user's units; the domain reaches from the first to the last.
    epsilon : float
        Privacy budget.
    tolerance : float
        Relative gap of the certificate to reach.
    exact : bool
        Whether to make the table exact, as in `design`.
    units : str
        Of the knots, for people to read.
    progress : callable, optional
        Called with `Progress` after each solver step.

    Raises
    ------
    InputError
        Knots, an epsilon or a tolerance that are not usable.

    Source: the program: solvers/robust/minimax_program.py.

    Example
    -------
    >>> from optldp.mechanisms import FAMILIES
    >>> knots = np.linspace(0, 100, 21)
    >>> best = design_minimax(knots, 1.0)
    >>> best.relative_gap < 2e-6
    True
    >>> rivals = [FAMILIES[name](knots, 1.0).worst_case_variance()[0] for name in ("duchi", "hybrid", "three-outputs")]
    >>> best.worst_case_variance < 0.95 * min(rivals)
    True
    """
    grid = check_knots(knots)
    even = Prior.on_knots(grid, np.ones(grid.size), source="public", units=units)
    made = weighted_design(even, epsilon, 1.0, tolerance, exact, progress)
    return replace(made, expected_variance=None)


def minimax_knots(low: float, high: float, epsilon: float, *, excess: float = DEFAULT_EXCESS) -> np.ndarray:
    """Return equally spaced knots, so many that rounding between them adds little to the least worst case.

    Rounding adds at most h^2/4 between knots h apart. It is held below `excess` times a certified bound b on the worst
    case over the domain, from a trial design on few knots: n - 1 = width / (2 sqrt(excess b)), rounded up.

    Parameters
    ----------
    low, high : float
        The domain.
    epsilon : float
    excess : float
        Positive; the share of the worst case that may be added.

    Example
    -------
    >>> [len(minimax_knots(-1, 1, epsilon)) for epsilon in (1.0, 2.0)]
    [52, 109]
    """
    if not excess > 0:
        raise InputError(f"excess must be positive, got {excess!r}: use a small share such as 1e-4")
    trial = design_minimax(as_knots(TRIAL_KNOTS, (low, high)), epsilon, tolerance=1e-3, exact=False)
    intervals = math.ceil((high - low) / (2 * math.sqrt(excess * trial.lower_bound)))
    return np.linspace(low, high, max(intervals, 1) + 1)


def weighted_design(
    prior: Prior,
    epsilon: float,
    weight: float,
    tolerance: float,
    exact: bool,
    progress: Callable[[Progress], None] | None,
) -> MinimaxDesign:
    """Return the design of least (1 - weight) expected + weight worst-case variance, see `design_trade_off`."""
    epsilon, started = check_epsilon(epsilon), time.perf_counter()
    if not 0 < tolerance < 1:
        raise InputError(f"tolerance must lie strictly between 0 and 1, got {tolerance!r}")
    low, high = prior.domain
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    scaled = (prior.knots - middle) / half
    scaled[[0, -1]] = -1.0, 1.0
    with threadpool_limits(1, user_api="blas"):  # as in `certified_optimum`
        best = solve_minimax(
            scaled,
            math.exp(inner_epsilon(epsilon)),
            prior=prior.weights,
            share=weight,
            tolerance=tolerance,
            progress=progress,
        )
    # The bound must hold for the whole budget, not for the slightly smaller one the table was built with.
    bound = MinimaxProgram(scaled, prior.weights, math.exp(epsilon), weight).bound(best.rho, best.lam, best.nu)
    bound = half**2 * bound + (1 - weight) * prior.rounding_variance
    table = TabulatedMechanism.from_points(
        prior.knots,
        middle + half * best.outputs,
        best.probabilities,
        epsilon,
        provenance=Provenance("minimax", {"unbiased": True, "weight": weight, "tolerance": tolerance}),
        units=prior.units,
    )
    made = _judge(exact_if_possible(table) if exact else table, prior, weight, bound, best)
    return replace(made, seconds=time.perf_counter() - started)


def _judge(table: TabulatedMechanism, prior: Prior, weight: float, bound: float, best: MinimaxOptimum) -> MinimaxDesign:
    checked = require_private(table)
    worst, where = table.worst_case_variance()
    at_knot = float(table.knot_variances.max())
    expected = table.expected_variance(prior.knot_prior)
    objective = (1 - weight) * expected + weight * at_knot
    certificate = {
        "objective": objective,
        "lower_bound": bound,
        "relative_gap": (objective - bound) / objective,
        "worst_case_variance": worst,
        "worst_knot_variance": at_knot,
        "status": str(best.status),
    }
    return MinimaxDesign(
        table.with_provenance(replace(table.provenance, certificate=certificate)),
        table.epsilon,
        weight,
        worst,
        where,
        at_knot,
        expected,
        objective,
        bound,
        best.least_favourable,
        checked.max_log_ratio,
        checked.max_abs_bias,
        best.status,
        0.0,
    )
