"""Collecting in two phases, from the server's side: tables out, reports in, one step at a time.

In the first phase a share of the clients reports through a table that needs no knowledge of the values; their
reports say roughly how the values are distributed.  The mechanism of the second phase is designed for that
distribution, and the other clients report through it.  Every client reports once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...estimators.counting.counts import ReportCounts
from ...estimators.estimate import NumberEstimate
from ...estimators.means.mean import MeanEstimate, estimate_mean
from ...estimators.methods import OF_ORACLE, PRIOR_METHODS, PriorMethod, unknown
from ...mechanisms import InputError, TabulatedMechanism
from ...mechanisms.budget import check_epsilon
from ...mechanisms.categorical.mechanism import CategoricalMechanism
from ...mechanisms.client.failures import ClientFailures
from ...mechanisms.display.display import Shown
from ...mechanisms.display.summary import Told
from ...mechanisms.units import units_label
from ...solvers import Progress
from ..designs.design import design
from ..designs.result import Design
from ..methods.base import Method
from ..methods.registry import OPTIMAL, as_method
from ..objectives.base import DEFAULT_TOLERANCE
from ..objectives.guarantee import Guarantee
from ..priors.checks import as_knots
from ..priors.prior import DEFAULT_KNOTS, DEFAULT_UNIFORM_SHARE, Prior
from ..priors.region import confidence_region, require_knots_among
from .first_phase import DESIGNED, FirstOracle, FirstPhase, FirstTable, first_phase

LEAST_CLIENTS = 30
"""Clients that each phase needs: with fewer, a variance estimated from their reports is no weight to combine by,
and a normal interval no interval."""


@dataclass(frozen=True, eq=False, repr=False)
class TwoPhasePlan(Shown):
    """Plan of both phases, fixed before the first client is asked.

    Deployed, it is four steps, with the clients' reports in between:

    1. send `first` to the clients of the first phase;
    2. ``design = plan.second(first_reports)``;
    3. send ``design.mechanism`` to the others;
    4. ``plan.finish(first_reports, design, second_reports)``.

    Draw the clients of each phase at random, independent of the values: the mean of either phase is then unbiased for
    the mean of all. `two_phase` simulates the whole.

    Parameters
    ----------
    domain : (float, float)
        Lowest and highest value that can be reported on; public.
    epsilon : float
        Budget of each client, spent on its one report.
    knots : int or (n,) array_like
        Of the design, and of the distribution that the first phase learns.
    phase_one : str, TabulatedMechanism or CategoricalMechanism
        "designed", the default, for the optimal unbiased table of a uniform prior; a family by name, "square-wave" or
        AAA's "grr" among them; a frequency oracle for the knots, "olh", "oue" or "rappor"; or your own mechanism within
        epsilon, as an exact table on this domain or an oracle with a category for each knot. With many knots, oracles
        measure the distribution badly and the mean worse, because they treat all knots as equally far apart.
    estimator : {"em", "smooth", "ems", "mr", "least-absolute"}
        From the first reports to a distribution; "least-absolute" is AAA's linear program. For an oracle "em", the
        exact maximum likelihood, "mr" or "least-absolute".
    method : str or Method
        Mechanism of the second phase, one of `METHODS`, or with its parameters, such as ``Lattice(window=25)``.
    uniform_share, tolerance : float
        As in `design`.
    units : str
    robust_confidence : float, optional
        In (0, 1): the second table then has the least guarantee over all priors that the first reports do not rule out
        at this confidence. Otherwise it is the best table for the estimated prior. The confidence holds for any number
        of clients, drawn from a large population: see `confidence_region`.

    Attributes
    ----------
    first : TabulatedMechanism or RoundedOracle
        Mechanism of the first phase.

    Raises
    ------
    InputError
        Anything of the above is not usable.

    Source: Wei et al. (2024), section 4.1; there the first phase is "grr", the estimator "least-absolute" and the
    method "aaa".

    Example
    -------
    >>> from optldp import TwoPhasePlan
    >>> plan = TwoPhasePlan((0.0, 10.0), 1.0, knots=11)
    >>> plan.first.provenance.method, plan.first.exact
    ('optimal', True)
    """

    domain: tuple[float, float]
    epsilon: float
    _: KW_ONLY
    knots: int | ArrayLike = DEFAULT_KNOTS
    phase_one: str | TabulatedMechanism | CategoricalMechanism = DESIGNED
    estimator: PriorMethod = "em"
    method: str | Method = OPTIMAL
    uniform_share: float = DEFAULT_UNIFORM_SHARE
    tolerance: float = DEFAULT_TOLERANCE
    units: str = ""
    robust_confidence: float | None = None
    _first: FirstPhase = field(init=False, repr=False)

    def _line(self) -> dict[str, Any]:
        return {
            "domain": units_label("{:.6g} to {:.6g}".format(*self.domain), self.units),
            "epsilon": self.epsilon,
            "knots": np.size(self.knots),
            "first": repr(self.first),
            "estimator": self.estimator,
            "method": str(self.method),
        }

    def _told(self) -> Told:
        return Told(self._line(), picture=self._first.drawn._told().picture)

    def __post_init__(self) -> None:
        grid = as_knots(self.knots, self.domain)
        grid.setflags(write=False)
        for name, value in (("knots", grid), ("domain", (float(grid[0]), float(grid[-1])))):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        if self.estimator not in PRIOR_METHODS:
            raise InputError(unknown("estimator", PRIOR_METHODS, self.estimator))
        as_method(self.method)
        if not 0.0 <= self.uniform_share <= 1.0:
            raise InputError(f"the uniform share must lie in [0, 1], got {self.uniform_share!r}")
        first = first_phase(self.phase_one, grid, self.epsilon, units=self.units, tolerance=self.tolerance)
        object.__setattr__(self, "_first", first)
        if isinstance(first, FirstOracle) and self.estimator not in OF_ORACLE:
            raise InputError(f"estimator must be one of {', '.join(OF_ORACLE)} for an oracle, got {self.estimator!r}")
        if self.robust_confidence is not None:
            self._check_robust(self.robust_confidence, grid)

    def _check_robust(self, confidence: float, grid: np.ndarray) -> None:
        if not 0.0 < confidence < 1.0:
            raise InputError(f"robust_confidence must lie strictly between 0 and 1, got {confidence!r}")
        if self.method != OPTIMAL:
            raise InputError(f"robust_confidence is an option of the method optimal, got {self.method!r}")
        require_knots_among(self._first_table, grid)

    @property
    def first(self) -> Any:
        """What the first phase reports through: a `TabulatedMechanism` or a `RoundedOracle`, as was asked for."""
        return self._first.mechanism

    @property
    def _first_table(self) -> TabulatedMechanism:
        if not isinstance(self._first, FirstTable):
            raise InputError("robust_confidence needs a table of numbers for the first phase, got an oracle")
        return self._first.mechanism

    def learn(self, first_reports: ArrayLike) -> Prior:
        """Return what the first reports say of the values, on the knots.

        They were private when they were made, so the prior is public to the server ("private-report"). Values
        between knots show as mass on both; the prior holds no further variance for that.

        Raises
        ------
        InputError
            Fewer than 30 reports, or reports that the first table cannot make.
        """
        _require_clients("the first phase", len(np.atleast_1d(first_reports)))
        weights = self._first.weights(first_reports, np.asarray(self.knots), self.estimator)
        return Prior.on_knots(self.knots, weights, source="private-report", units=self.units)

    def second(self, first_reports: ArrayLike, *, progress: Callable[[Progress], None] | None = None) -> Design:
        """Return the second phase's mechanism, designed for what the first reports say; errors as for `learn`.

        The table carries the learnt prior, and only that.
        """
        prior = self.learn(first_reports)
        if self.robust_confidence is not None:
            region = confidence_region(self._first_table, first_reports, self.knots, self.robust_confidence)
            return design(
                prior,
                self.epsilon,
                objective=Guarantee(region.or_every(prior), every_prior=True),
                uniform_share=self.uniform_share,
                tolerance=self.tolerance,
                progress=progress,
            )
        return design(
            prior,
            self.epsilon,
            method=self.method,
            uniform_share=self.uniform_share,
            tolerance=self.tolerance,
            progress=progress,
        )

    def finish(self, first_reports: ArrayLike, second: Design, second_reports: ArrayLike) -> TwoPhaseResult:
        r"""Combine the reports of both phases into one mean.

        Given the first phase, whatever it led to, the second table is unbiased and its clients are a random part
        of all, so E[m2 | phase one] = mean. The first mean, decoded without regard to its own reports, is unbiased
        too. Hence Cov(m1, m2) = E[(m1 - mean) E[m2 - mean | phase one]] = 0 although the two are not
        independent, and

            mean = (m1 / v1 + m2 / v2) / (1 / v1 + 1 / v2),   std_error^2 = 1 / (1 / v1 + 1 / v2),

        v the squared standard errors. They are estimated from the same reports, which costs a bias of order 1 / n,
        far below the standard error. (All this is for clients drawn from a large population; for the mean of the
        clients themselves the covariance is negative, -S^2 / n, and the interval on the safe side.) A first table
        without an unbiased mean is left out.

        Raises
        ------
        InputError
            Fewer than 30 reports in a phase, or reports that its table cannot make.
        """
        n_first = len(np.atleast_1d(first_reports))
        _require_clients("the first phase", n_first)
        _require_clients("the second phase", np.size(second_reports))
        later = estimate_mean(ReportCounts.from_reports(second.mechanism, second_reports))
        early = self._first.mean(first_reports)
        share, mean, std_error = _combined(early, later)
        return TwoPhaseResult(
            mean,
            std_error,
            n_first + int(np.size(second_reports)),
            "two-phase",
            first_weight=share,
            first_mean=early,
            second_mean=later,
            first=self.first,
            design=second,
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TwoPhaseResult(NumberEstimate):
    """The mean of the values, from the reports of both phases, and everything it came from.

    Attributes
    ----------
    first_weight : float
        Weight of the first phase's mean in the combined one.
    first_mean : NumberEstimate or None
        From the first phase alone; None where it has no unbiased mean.
    second_mean : MeanEstimate
        From the second phase alone.
    first : TabulatedMechanism or RoundedOracle
        What the first phase reported through.
    design : Design
        Mechanism of the second phase, with its certificate; its variances are under the learnt prior. A robust one
        says what it guarantees at the plan's confidence, and `is_minimax` if the first reports ruled out no prior.
    failures : ClientFailures
        Clients of either phase who were asked by `two_phase` and gave no report: they are not among the n.

    Example
    -------
    >>> from optldp.designer import two_phase
    >>> values = np.full(400, 2.5)
    >>> result = two_phase(values, 1.0, domain=(0.0, 10.0), knots=5, rng=np.random.default_rng(1))
    >>> result.n, result.design.method, bool(result.low < 2.5 < result.high)
    (400, 'optimal', True)
    """

    first_weight: float
    first_mean: NumberEstimate | None
    second_mean: MeanEstimate
    first: Any
    design: Design
    failures: ClientFailures = field(default_factory=ClientFailures)

    @property
    def prior(self) -> Prior:
        """What the first phase learnt, on the knots of the second."""
        table = self.design.mechanism
        assert table.prior is not None  # every design carries the prior it was made for
        return Prior(table.knots, table.prior.weights, table.prior.rounding, table.prior.source, table.units)


def _combined(early: NumberEstimate | None, later: MeanEstimate) -> tuple[float, float, float]:
    """Weight of the earlier mean, the combined mean, and its standard error."""
    if early is None:
        return 0.0, later.value, later.std_error
    first, second = early.std_error**2, later.std_error**2
    # Reports that are all alike say nothing of their variance: then each report counts alike.
    share = second / (first + second) if min(first, second) > 0 else early.n / (early.n + later.n)
    mean = share * early.value + (1 - share) * later.value
    return share, mean, math.sqrt(share**2 * first + (1 - share) ** 2 * second)


def _require_clients(phase: str, n: int) -> None:
    if n < LEAST_CLIENTS:
        raise InputError(
            f"{phase} needs at least {LEAST_CLIENTS} clients for a mean with a standard error, got {n}: "
            "ask more clients, or change the share"
        )
