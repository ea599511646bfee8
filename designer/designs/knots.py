"""How far a design is from every unbiased mechanism on the whole interval, and how many knots bring it near.

A design's own certificate covers mechanisms on its knots. `continuum_certificate` covers all of them, whatever they
do between the knots, by `optldp.solvers.unbiased.continuum`; a `KnotChoice` adds knots until the gap to it is small,
and its design is certified against all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...mechanisms.errors import InputError
from ...mechanisms.promise import Promise, Pure
from ...solvers import Status
from ...solvers.certificate import relative_gap
from ...solvers.unbiased.continuum import continuum_bound
from ...solvers.unbiased.unbiased_program import UnbiasedProgram
from ..objectives.base import DEFAULT_TOLERANCE, Problem, Solution, Told
from ..objectives.variance import Variance
from ..priors.even_knots import fewest_even_knots
from ..priors.prior import Prior
from .judging import design_table
from .result import Certificate, Design

FIRST_KNOTS = 21
"""Knots tried first: a design of hundredths of a second, fine enough for the law of the gap to show."""

DEFAULT_GAP = 1e-4
"""To the whole interval, if none is asked for: less than a tenth of what the uniform share may cost."""

MOST_KNOTS = 401
"""Knots tried last unless a gap is asked for: their tables have a third of a million entries, 5 MB as JSON."""

MOST_FOR_A_GAP = 2001
"""Knots tried last for a gap that is asked for: tables of eight million entries, half a gigabyte while made."""

SMOOTH_ORDER = 2.0
"""The gap falls like this power of the knots' distance where the prior's density is bounded."""

ROUGH_ORDER = 1.0
"""Least power that two designs are believed to show: piles of data between knots make the gap uneven."""

SPARE = 1.08
"""More knots than the law says, so that the next design is usually the last one."""

TOLERANCE_SHARE = 0.3
"""The knots' own certificate may use up this share of the gap asked for; of gaps above 1e-5 it uses less."""


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
        return relative_gap(self.expected_variance, self.lower_bound)

    @property
    def knot_gap(self) -> float:
        """(expected variance - knot bound) / expected variance: the same for those that first round to the knots."""
        return relative_gap(self.expected_variance, self.knot_bound)


@dataclass(frozen=True)
class KnotChoiceEvidence:
    """How many knots were tried until the gap was small enough.

    Attributes
    ----------
    tried : tuple of ContinuumCertificate
        One for each number of knots, the design's own last.
    """

    tried: tuple[ContinuumCertificate, ...]

    @property
    def last(self) -> ContinuumCertificate:
        """That of the design."""
        return self.tried[-1]


@dataclass(frozen=True)
class IntervalVariance(Variance):
    """Expected variance, bounded for every unbiased mechanism on the whole interval, not for those on the knots alone.

    Parameters
    ----------
    gap : float
        To that bound, relative, from which on a design is optimal.
    """

    gap: float

    nobody = "no unbiased mechanism on the whole interval"
    promises = (Pure,)

    def bound(self, problem: Problem, multipliers: Mapping[str, np.ndarray]) -> float:
        program = UnbiasedProgram(problem.unit.knots, problem.solved.weights, problem.ratio)
        rounding = problem.solved.rounding / problem.unit.half**2
        found = continuum_bound(program, multipliers["lam"], multipliers["nu"], rounding)
        return float(problem.unit.half**2 * found.lower_bound)

    def status(self, problem: Problem, value: float, bound: float, solution: Solution) -> Status:
        return Status.of(relative_gap(value, bound), self.gap)


def continuum_certificate(made: Design) -> ContinuumCertificate:
    """Compare a design of least expected variance with every unbiased mechanism on the whole domain.

    The bound holds for every distribution of values with the weights and rounding of the prior solved for. Cost: well
    below that of the optimum, O(n^2).

    Parameters
    ----------
    made : Design
        On the prior's knots, by any method.

    Returns
    -------
    found : ContinuumCertificate
        `total_gap`: the largest relative gain of any mechanism on the whole domain.

    Raises
    ------
    InputError
        Another objective, or a table on other knots.

    Source: derived in solvers/unbiased/continuum.py.

    Example
    -------
    >>> from scipy.stats import uniform
    >>> from optldp.designer import Prior, continuum_certificate, design
    >>> found = continuum_certificate(design(Prior.from_distribution(uniform(0, 1), knots=21), 1.0, uniform_share=0))
    >>> f"{found.total_gap:.4f}"
    '0.0017'
    """
    return _beside_the_interval(made, made.certificate)


def continuum_as_given(made: Design) -> ContinuumCertificate:
    """Return the same under the prior as given, without a uniform share: what belongs beside `expected_variance`.

    Example
    -------
    >>> from optldp.designer import Prior, design
    >>> made = design(Prior.on_knots([0, 5, 10], [8, 1, 1], source="public"), 1.0)
    >>> found = continuum_as_given(made)
    >>> found.expected_variance == made.expected_variance, found.lower_bound <= found.knot_bound <= made.bound
    (True, True)
    """
    return _beside_the_interval(made, made.certificate.as_given)


def _beside_the_interval(made: Design, certificate: Certificate) -> ContinuumCertificate:
    problem, multipliers = certificate.problem, certificate.multipliers
    if not isinstance(made.objective, Variance):
        raise InputError(f"the continuum's bound is on the expected variance, got {made.objective.label}")
    if made.mechanism.knots.size != problem.prior.knots.size:
        raise InputError(
            f"the design must be on the {problem.prior.knots.size} knots of the prior, got "
            f"{made.mechanism.knots.size} knots: use another method"
        )
    interval = IntervalVariance(problem.tolerance).bound(problem, multipliers)
    at_knots = float(Variance().bound(problem, multipliers))
    value = made.value if certificate is made.certificate else Variance().value(made.mechanism, problem)
    return ContinuumCertificate(problem.prior.knots.size, value, interval, at_knots)


@dataclass(frozen=True)
class KnotChoice:
    """A prior whose number of knots brings a design's gap to the continuum down to `gap`; `design` takes it as a prior.

    It starts with `FIRST_KNOTS` and assumes that the gap falls with distance^2, then with the measured power. It ends
    with slightly more knots than necessary, usually after two or three designs, or with `most_knots` and status
    GAP_OPEN. Values with few enough distinct numbers, such as whole numbers, become the knots themselves, so that
    nothing is rounded. The design's bound and gap are those to every unbiased mechanism on the whole interval; those
    for its knots alone are in its evidence, a `KnotChoiceEvidence`.

    Parameters
    ----------
    prior : Prior or callable
        A prior whose values are known, so that `prior.on` can put it on other knots; or a function from a number of
        knots to the same prior on them, such as `lambda n: Prior.from_data(values, knots=n, domain=(0, 100))`.
    gap : float, optional
        Relative, in (0, 1). Default: 1e-4, as far as 401 knots reach it.
    most_knots : int, optional
        At least `FIRST_KNOTS`. Default: 2001 if a gap is given, 401 otherwise.

    Raises
    ------
    InputError
        An option that is not usable, or, in a design, a prior with another number of knots than asked for.

    Source: the law is that of solvers/unbiased/continuum.py; measured in docs/continuum.md.

    Example
    -------
    >>> from scipy.stats import uniform
    >>> from optldp import KnotChoice
    >>> from optldp.designer import Prior, design
    >>> found = design(KnotChoice(Prior.from_distribution(uniform(0, 1))), 1.0)
    >>> found.status, found.gap <= 1e-4, [one.knots for one in found.evidence.tried]
    (<Status.OPTIMAL: 'optimal'>, True, [21, 91])
    """

    prior: Prior | Callable[[int], Prior]
    gap: float | None = None
    most_knots: int | None = None

    def __post_init__(self) -> None:
        if not 0 < self.wanted < 1:
            raise InputError(f"gap must lie strictly between 0 and 1, got {self.gap!r}")
        if not self.most >= FIRST_KNOTS:
            raise InputError(f"most_knots must be at least {FIRST_KNOTS}, got {self.most_knots!r}")

    @property
    def wanted(self) -> float:
        """The gap to reach."""
        return DEFAULT_GAP if self.gap is None else self.gap

    @property
    def most(self) -> int:
        """The most knots that there may be."""
        if self.most_knots is not None:
            return self.most_knots
        return MOST_KNOTS if self.gap is None else MOST_FOR_A_GAP

    @property
    def tolerance(self) -> float:
        """Of the knots' own certificate."""
        return min(DEFAULT_TOLERANCE, TOLERANCE_SHARE * self.wanted)

    def on(self, knots: int) -> Prior:
        """Return the prior on so many knots."""
        found = self.prior.on(knots) if isinstance(self.prior, Prior) else self.prior(knots)
        if found.knots.size != knots:
            raise InputError(f"the prior asked for must be on {knots} knots, got {found.knots.size}: give prior.on")
        return found

    def unrounded(self, instead: Prior) -> Prior | None:
        """Return the same prior on no more knots than these that round none of its values, even ones or its own."""
        own, most = None, instead.knots.size
        if isinstance(self.prior, Prior) and self.prior.rounding_variance == 0 and self.prior.knots.size <= most:
            own, most = self.prior, self.prior.knots.size - 1
        even = fewest_even_knots(lambda n: instead if n == instead.knots.size else self.on(n), instead.domain, most)
        return own if even is None else self.on(even)

    def enough(self, last: ContinuumCertificate) -> bool:
        """Whether to stop: the gap is small enough, or there may be no more knots."""
        return last.total_gap <= self.wanted or last.knots >= self.most

    def next_knots(self, tried: Sequence[ContinuumCertificate]) -> int:
        """Return how many knots bring the gap to `gap` by the law through the last two, odd, or else the most."""
        if not tried:
            return FIRST_KNOTS
        last, order = tried[-1], SMOOTH_ORDER
        if len(tried) > 1:
            before = tried[-2]
            finer = math.log((last.knots - 1) / (before.knots - 1))
            order = math.log(before.total_gap / last.total_gap) / finer
            order = min(max(order, ROUGH_ORDER), SMOOTH_ORDER)
        between = max(last.total_gap - last.knot_gap, 0.0) / (self.wanted - self.tolerance)
        halves = math.ceil(0.5 * SPARE * (last.knots - 1) * between ** (1 / order))
        return min(max(2 * halves + 1, last.knots + 2), self.most)


def design_on_enough_knots(
    choice: KnotChoice,
    privacy: Promise | float,
    *,
    uniform_share: float | None,
    tolerance: float | None,
    exact: bool,
    progress: Told,
) -> Design:
    """Return the design on the first number of knots whose gap to the continuum is small enough, or on the most."""
    tried: tuple[ContinuumCertificate, ...] = ()
    while True:
        prior = choice.on(choice.next_knots(tried))
        unrounded = choice.unrounded(prior)
        made = design_table(
            prior if unrounded is None else unrounded,
            privacy,
            IntervalVariance(choice.wanted),
            None,
            uniform_share=uniform_share,
            tolerance=choice.tolerance if tolerance is None else tolerance,
            exact=exact,
            progress=progress,
        )
        tried = (*tried, continuum_certificate(made))
        if unrounded is not None or choice.enough(tried[-1]):
            return replace(made, evidence=KnotChoiceEvidence(tried))
