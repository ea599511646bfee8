"""How far a mechanism is from every unbiased mechanism on the whole interval, and how many knots bring it near.

A design's own certificate covers mechanisms on its knots. `continuum_certificate` covers all of them, whatever they
do between the knots, by `optldp.solvers.unbiased.continuum`; `design_to_gap` adds knots until the gap to it is small.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ...mechanisms import InputError, TabulatedMechanism
from ...mechanisms.budget import check_epsilon
from ...solvers import Progress, Status
from ...solvers.unbiased.continuum import continuum_bound
from ...solvers.unbiased.program import UnbiasedProgram
from ..priors.prior import DEFAULT_FLOOR, Prior
from .design import DEFAULT_TOLERANCE, Design, against_optimum
from .optimum import CertifiedOptimum

FIRST_KNOTS = 21
"""Knots tried first: a design of hundredths of a second, fine enough for the law of the gap to show."""

MOST_KNOTS = 401
"""Knots tried last: designs of about half a minute, whose time grows faster than the squared number of knots."""

SMOOTH_ORDER = 2.0
"""The gap falls like this power of the knots' distance where the prior's density is bounded."""

ROUGH_ORDER = 1.0
"""Least power that two designs are believed to show: piles of data between knots make the gap uneven."""

SPARE = 1.08
"""More knots than the law says, so that the next design is usually the last one."""

TOLERANCE_SHARE = 0.1
"""The knots' own certificate may use up this share of the gap asked for."""


@dataclass(frozen=True)
class ContinuumCertificate:
    """A mechanism's expected variance beside what no unbiased epsilon-LDP mechanism on the interval can beat.

    Attributes
    ----------
    knots : int
    expected_variance : float
        Of the mechanism under the prior solved for, rounding between knots included; squared units.
    lower_bound : float
        Certified: every unbiased epsilon-LDP mechanism for inputs of the whole domain, with any real outputs, has at
        least this expected variance under that prior; squared units.
    knot_bound : float
        Certified for mechanisms that first round to the knots; squared units.
    """

    knots: int
    expected_variance: float
    lower_bound: float
    knot_bound: float

    @property
    def total_gap(self) -> float:
        """(expected variance - lower bound) / expected variance: what any other mechanism could gain at most."""
        return (self.expected_variance - self.lower_bound) / self.expected_variance


def continuum_certificate(
    prior: Prior, optimum: CertifiedOptimum, mechanism: TabulatedMechanism | None = None
) -> ContinuumCertificate:
    """Compare a mechanism with every unbiased mechanism on the whole domain.

    The bound holds for every distribution of values with this prior's weights and rounding. Cost: well below that of
    the optimum, O(n^2).

    Parameters
    ----------
    prior : Prior
        The one that the optimum was solved for: with its floor, if it had one.
    optimum : CertifiedOptimum
        Whose multipliers prove the bound.
    mechanism : TabulatedMechanism, optional
        On the prior's knots, with the optimum's budget. Default: the optimum's own.

    Raises
    ------
    InputError
        Knots or budgets that differ.

    Source: derived in solvers/unbiased/continuum.py.

    Example
    -------
    >>> from scipy.stats import uniform
    >>> from optldp.designer import Prior, certified_optimum
    >>> prior = Prior.from_distribution(uniform(0, 1), knots=21)
    >>> found = continuum_certificate(prior, certified_optimum(prior, 1.0, tolerance=1e-6))
    >>> f"{found.total_gap:.4f}"
    '0.0017'
    """
    table = optimum.mechanism if mechanism is None else mechanism
    for name, other in (("the optimum", optimum.mechanism), ("the mechanism", table)):
        if other.knots.size != prior.knots.size or (other.knots != prior.knots).any():
            raise InputError(
                f"{name} must be on the {prior.knots.size} knots of the prior, got {other.knots.size} knots: "
                "pass the prior that was designed for"
            )
    epsilon = optimum.mechanism.epsilon
    if table.epsilon != epsilon:
        raise InputError(f"mechanism and optimum must have one epsilon, got {table.epsilon!r} and {epsilon!r}")
    low, high = prior.domain
    half = 0.5 * (high - low)
    scaled = (prior.knots - 0.5 * (low + high)) / half
    scaled[[0, -1]] = -1.0, 1.0
    program = UnbiasedProgram(scaled, prior.weights, math.exp(epsilon))
    lam, nu = optimum.multipliers
    bound = continuum_bound(program, lam, nu, prior.rounding / half**2)
    return ContinuumCertificate(
        prior.knots.size,
        table.expected_variance(prior.knot_prior),
        float(half**2 * bound.lower_bound),
        float(optimum.lower_bound),
    )


@dataclass(frozen=True, eq=False)
class GapDesign:
    """The design that was enough, or the last one tried, with its certificate against the continuum.

    Attributes
    ----------
    design : Design
    certificate : ContinuumCertificate
    status : Status
        OPTIMAL when the total gap is within the one asked for, GAP_OPEN otherwise.
    tried : tuple of ContinuumCertificate
        One per number of knots, in order; the last is `certificate`.
    """

    design: Design
    certificate: ContinuumCertificate
    status: Status
    tried: tuple[ContinuumCertificate, ...]


def design_to_gap(
    prior_at: Callable[[int], Prior],
    epsilon: float,
    *,
    gap: float = 1e-3,
    floor: float = DEFAULT_FLOOR,
    most_knots: int = MOST_KNOTS,
    progress: Callable[[Progress], None] | None = None,
) -> GapDesign:
    """Design with as many knots as bring the total gap to the continuum to `gap`.

    Starts with `FIRST_KNOTS`, then follows the law of the gap, distance^2 at first and afterwards as measured. Ends
    with slightly more knots than are necessary, usually after two or three designs, or with `most_knots` and status
    GAP_OPEN.

    Parameters
    ----------
    prior_at : callable
        Gives the same prior on a given number of knots, such as
        `lambda n: Prior.from_data(values, knots=n, domain=(0, 100))`.
    epsilon : float
        Privacy budget.
    gap : float
        Relative, in (0, 1).
    floor : float
        As in `design`; the certificate is under the prior with it.
    most_knots : int
        At least `FIRST_KNOTS`.
    progress : callable, optional
        Called with `Progress` after each solver step.

    Raises
    ------
    InputError
        An option that is not usable, or a prior with another number of knots than asked for.
    SolverError
        No solution was found.

    Source: the law is that of solvers/unbiased/continuum.py; measured in docs/continuum.md.

    Example
    -------
    >>> from scipy.stats import uniform
    >>> from optldp.designer import Prior
    >>> found = design_to_gap(lambda n: Prior.from_distribution(uniform(0, 1), knots=n), 1.0, gap=1e-3)
    >>> found.status, found.certificate.total_gap <= 1e-3, len(found.tried)
    (<Status.OPTIMAL: 'optimal'>, True, 2)
    """
    check_epsilon(epsilon)
    if not 0 < gap < 1:
        raise InputError(f"gap must lie strictly between 0 and 1, got {gap!r}")
    if not most_knots >= FIRST_KNOTS:
        raise InputError(f"most_knots must be at least {FIRST_KNOTS}, got {most_knots!r}")
    tolerance = min(DEFAULT_TOLERANCE, TOLERANCE_SHARE * gap)
    tried: list[ContinuumCertificate] = []
    while True:
        knots = _next_knots(tried, gap, most_knots)
        prior = prior_at(knots)
        if prior.knots.size != knots:
            raise InputError(f"prior_at({knots}) must give a prior on {knots} knots, got {prior.knots.size}")
        made, optimum = against_optimum(
            prior, epsilon, method="optimal", floor=floor, tolerance=tolerance, exact=True, progress=progress
        )
        tried.append(continuum_certificate(prior.floored(floor), optimum, made.mechanism))
        reached = tried[-1].total_gap <= gap
        if reached or knots >= most_knots:
            status = Status.OPTIMAL if reached else Status.GAP_OPEN
            return GapDesign(made, tried[-1], status, tuple(tried))


def _next_knots(tried: list[ContinuumCertificate], gap: float, most: int) -> int:
    """The number of knots at which the law through the last two gaps reaches `gap`, odd, or else `most`."""
    if not tried:
        return FIRST_KNOTS
    last, order = tried[-1], SMOOTH_ORDER
    if len(tried) > 1:
        before = tried[-2]
        finer = math.log((last.knots - 1) / (before.knots - 1))
        order = math.log(before.total_gap / last.total_gap) / finer
        order = min(max(order, ROUGH_ORDER), SMOOTH_ORDER)
    halves = math.ceil(0.5 * SPARE * (last.knots - 1) * (last.total_gap / gap) ** (1 / order))
    return min(max(2 * halves + 1, last.knots + 2), most)
