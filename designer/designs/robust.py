"""Designs for a prior that may be wrong: the least variance that can be guaranteed over a set of priors.

The robust program of `optldp.solvers` is solved on knots mapped to [-1, 1] with a budget a hair below epsilon
(`inner_epsilon`), tabulated in the user's units and judged again from the table: what it guarantees is computed from
its variances by sorting or by one-dimensional duality, not taken from the solver.  The certificate is the certified
bound for the worst prior that was found: as that prior may be the true one, nobody guarantees less.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from threadpoolctl import threadpool_limits

from ...mechanisms import InputError, Provenance, TabulatedMechanism
from ...mechanisms.budget import check_epsilon, inner_epsilon
from ...mechanisms.exactness.make_exact import exact_if_possible
from ...mechanisms.exactness.verification import require_private
from ...solvers import Progress, Status
from ...solvers.robust.optimum import solve_robust
from ...solvers.robust.program import RobustProgram
from ...solvers.robust.sets import PriorSet
from ..priors.ambiguity import Ambiguity
from ..priors.prior import Prior
from ..priors.unit_interval import UnitInterval
from .design import DEFAULT_TOLERANCE
from .optimum import CertifiedOptimum, certified_optimum


@dataclass(frozen=True, eq=False)
class RobustDesign:
    """A mechanism, what it guarantees over a set of priors, and the certificate.

    Variances are in squared units.

    Attributes
    ----------
    mechanism : TabulatedMechanism
    epsilon : float
    ambiguity : str
        The set of priors, for people to read.
    guaranteed_variance : float
        Largest expected variance at the knots over the priors of the set, plus the rounding of the prior as given;
        rounded up. Data whose knot prior lies in the set and whose rounding adds no more have at most this. See
        `guaranteed_anywhere` for any rounding.
    lower_bound : float
        Certified: no unbiased epsilon-LDP mechanism on these knots has a smaller sum of those two, whatever its real
        outputs. Less the rounding it bounds what can be guaranteed for data: the worst prior of the set need not admit
        as much rounding as the given one.
    worst_prior : (n,) ndarray
        The member of the set behind the bound; the best expected variance under it is the least guarantee.
    expected_variance : float
        Under the prior as given, rounding between knots included.
    worst_case_variance : float
        Largest over the whole domain, between knots too.
    nominal_variance, nominal_guarantee : float
        The same two, expected variance and guarantee, of the optimum for the prior as given.
    max_log_ratio, max_abs_bias : float
        Of the table as returned.
    status : Status
        OPTIMAL when the solver reached its tolerance, GAP_OPEN otherwise.
    seconds : float
        Wall time.
    is_minimax : bool
        Whether the set held every prior, so that this is the minimax design; see `TwoPhasePlan`.
    """

    mechanism: TabulatedMechanism
    epsilon: float
    ambiguity: str
    guaranteed_variance: float
    lower_bound: float
    worst_prior: np.ndarray
    expected_variance: float
    worst_case_variance: float
    nominal_variance: float
    nominal_guarantee: float
    max_log_ratio: float
    max_abs_bias: float
    status: Status
    seconds: float
    is_minimax: bool = False

    @property
    def relative_gap(self) -> float:
        """(guaranteed variance - lower bound) / guaranteed variance: how far from optimal this can be at most."""
        return (self.guaranteed_variance - self.lower_bound) / self.guaranteed_variance

    @property
    def price_of_robustness(self) -> float:
        """Expected variance under the prior as given, over that of the optimum for it: at least about one."""
        return self.expected_variance / self.nominal_variance

    @property
    def gain_of_robustness(self) -> float:
        """Share by which the guarantee is below that of the optimum for the prior as given."""
        return 1 - self.guaranteed_variance / self.nominal_guarantee

    @property
    def guaranteed_anywhere(self) -> float:
        """The guarantee for data anywhere between the knots: rounding adds at most h^2/4, h their largest distance."""
        given = 0.0 if self.mechanism.prior is None else float(self.mechanism.prior.rounding.sum())
        return self.guaranteed_variance - given + float(np.diff(self.mechanism.knots).max()) ** 2 / 4


def design_robust(
    prior: Prior,
    epsilon: float,
    ambiguity: Ambiguity,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
    exact: bool = True,
    progress: Callable[[Progress], None] | None = None,
) -> RobustDesign:
    """Build the unbiased mechanism of least guarantee: its largest expected variance over the priors of a set.

    Parameters
    ----------
    prior : Prior
        What is known; the set is around it.
    epsilon : float
        Privacy budget.
    ambiguity : Ambiguity
        How far the prior may be wrong: `RelativeAmbiguity`, `TotalVariationAmbiguity`, `WassersteinAmbiguity`,
        `BoxAmbiguity`.
    tolerance : float
        Relative gap of the certificate to reach.
    exact : bool
        Whether to make the table exact, as in `design`.
    progress : callable, optional
        Called with `Progress` after each solver step: of the nominal optimum first, then of the design.

    Raises
    ------
    InputError
        An epsilon, a tolerance or a set that is not usable; a set that contains every prior, for which the design is
        `design_minimax`.

    Source: the program: solvers/robust/program.py.

    Example
    -------
    >>> from optldp.designer.priors.ambiguity import TotalVariationAmbiguity
    >>> prior = Prior.on_knots(np.linspace(-1, 1, 11), [0, 0, 1, 4, 9, 12, 9, 4, 1, 0, 0], source="public")
    >>> safe = design_robust(prior, 2.0, TotalVariationAmbiguity(0.1))
    >>> safe.relative_gap < 2e-6, safe.guaranteed_variance < safe.nominal_guarantee
    (True, True)
    >>> 1.0 < safe.price_of_robustness < 1.02
    True
    """
    _check_tolerance(tolerance)
    ambiguity.around(prior)  # what does not fit is an error of its own
    if ambiguity.contains_every(prior):
        radius = getattr(ambiguity, "radius", getattr(ambiguity, "psi", None))
        what = "the ambiguity" if radius is None else f"ambiguity radius {radius:.9g}"
        raise InputError(
            f"{what} contains every prior on the knots: the design is then minimax, "
            "use --objective minimax / design_minimax"
        )
    return robust_design(prior, epsilon, ambiguity, tolerance, exact, progress)


def robust_design(
    prior: Prior,
    epsilon: float,
    ambiguity: Ambiguity,
    tolerance: float,
    exact: bool,
    progress: Callable[[Progress], None] | None,
    floor: float = 0.0,
) -> RobustDesign:
    """As `design_robust`, for sets that contain every prior too: the same program gives the minimax design.

    With a floor the nominal optimum, which the design is compared with, is that for the prior with so much mixed in.
    """
    epsilon, started = check_epsilon(epsilon), time.perf_counter()
    _check_tolerance(tolerance)
    priors = ambiguity.around(prior)
    nominal = certified_optimum(prior.floored(floor), epsilon, tolerance=tolerance, progress=progress)
    if ambiguity.is_single(prior):
        found = _single(prior, epsilon, priors, tolerance, nominal, progress)
    else:
        found = _solved(prior, epsilon, priors, tolerance, progress)
    tables = [found.mechanism, nominal.mechanism]
    if exact:
        tables = [exact_if_possible(table) for table in tables]
    bound = found.bound + prior.rounding_variance
    every = ambiguity.contains_every(prior)
    made = _judge(tables, prior, priors, ambiguity.label, bound, found, every)
    return replace(made, seconds=time.perf_counter() - started)


@dataclass(frozen=True, eq=False)
class _Found:
    """A table, a bound without rounding in squared units, the prior behind it, and whether the gap was closed."""

    mechanism: TabulatedMechanism
    bound: float
    worst_prior: np.ndarray
    status: Status


def _solved(
    prior: Prior,
    epsilon: float,
    priors: PriorSet,
    tolerance: float,
    progress: Callable[[Progress], None] | None,
) -> _Found:
    unit = UnitInterval.of(prior.knots)
    with threadpool_limits(1, user_api="blas"):  # as in `certified_optimum`
        best = solve_robust(
            RobustProgram(unit.knots, math.exp(inner_epsilon(epsilon)), priors), tolerance=tolerance, progress=progress
        )
    # The bound must hold for the whole budget, not for the slightly smaller one the table was built with.
    bound = RobustProgram(unit.knots, math.exp(epsilon), priors).bound(best.worst_prior, best.lam, best.nu)
    table = TabulatedMechanism.from_points(
        prior.knots, unit.values(best.outputs), best.probabilities, epsilon, units=prior.units
    )
    return _Found(table, unit.half**2 * bound, best.worst_prior, best.status)


def _single(
    prior: Prior,
    epsilon: float,
    priors: PriorSet,
    tolerance: float,
    nominal: CertifiedOptimum,
    progress: Callable[[Progress], None] | None,
) -> _Found:
    """The optimum for the one prior of the set, which is the given one but for boxes around another."""
    only = priors.some_prior
    if not np.array_equal(only, prior.weights):
        alone = Prior.on_knots(prior.knots, only, source=prior.source, units=prior.units)
        nominal = certified_optimum(alone, epsilon, tolerance=tolerance, progress=progress)
        return _Found(nominal.mechanism, nominal.lower_bound, only, nominal.status)
    return _Found(nominal.mechanism, nominal.lower_bound - prior.rounding_variance, only, nominal.status)


def _judge(
    tables: list[TabulatedMechanism],
    prior: Prior,
    priors: PriorSet,
    label: str,
    bound: float,
    found: _Found,
    every: bool,
) -> RobustDesign:
    """Keep the table with the better guarantee, the one solved for or the nominal one, and recompute all of it."""
    rounding = prior.rounding_variance
    guarantees = [priors.largest(table.knot_variances)[0] + rounding for table in tables]
    expected = [table.expected_variance(prior.knot_prior) for table in tables]
    # On a set next to nothing wide the optimum for the prior can be the better one by rounding.
    best = int(guarantees[1] <= guarantees[0])
    table = tables[best]
    certificate = {
        "guaranteed_variance": guarantees[best],
        "lower_bound": bound,
        "relative_gap": (guarantees[best] - bound) / guarantees[best],
        "expected_variance": expected[best],
        "worst_case_variance": table.worst_case_variance()[0],
        "status": str(found.status),
    }
    table = replace(
        table,
        prior=prior.knot_prior,
        provenance=Provenance("robust", {"unbiased": True, "ambiguity": label}, certificate=certificate),
    )
    checked = require_private(table)
    return RobustDesign(
        table,
        table.epsilon,
        label,
        guarantees[best],
        bound,
        found.worst_prior,
        expected[best],
        checked.worst_case_variance,
        expected[1],
        guarantees[1],
        checked.max_log_ratio,
        checked.max_abs_bias,
        found.status,
        0.0,
        every,
    )


def _check_tolerance(tolerance: float) -> None:
    if not 0 < tolerance < 1:
        raise InputError(f"tolerance must lie strictly between 0 and 1, got {tolerance!r}")
