"""Both phases at once: values or client functions in, the mean out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ...estimators.methods import DistributionMethod
from ...mechanisms import InputError, TabulatedMechanism
from ...solvers import Progress
from ..objectives.base import DEFAULT_TOLERANCE
from ..priors.prior import DEFAULT_KNOTS, DEFAULT_UNIFORM_SHARE
from .cohort import Client, Cohort, cohort_of
from .plan import LEAST_CLIENTS, TwoPhasePlan, TwoPhaseResult

DEFAULT_SHARE = 0.1
"""Share of the clients that reports first. Their reports count towards the mean too, so that little is lost if a
smaller share would have done; Wei et al. (2024) use a tenth."""

STAGES = ("first phase", "design", "second phase")
"""What `progress` is told about, in order."""


def two_phase(
    clients: ArrayLike | Sequence[Client] | Cohort,
    epsilon: float,
    *,
    domain: tuple[float, float],
    rng: np.random.Generator,
    share: float = DEFAULT_SHARE,
    knots: int | ArrayLike = DEFAULT_KNOTS,
    phase_one: str | TabulatedMechanism = "square-wave",
    estimator: DistributionMethod = "em",
    method: str = "optimal",
    uniform_share: float = DEFAULT_UNIFORM_SHARE,
    tolerance: float = DEFAULT_TOLERANCE,
    robust_confidence: float | None = None,
    progress: Callable[[str, Progress | None], None] | None = None,
) -> TwoPhaseResult:
    """Learn the distribution from a share of the clients, design for it, and ask the others through the design.

    Every client reports once, and its `BudgetToken` sees to it that no table needs more than epsilon. Clients are
    dealt to the phases at random; real ones who give no report are left out and counted in the result's `failures`,
    which leaves a random part of all as long as it is not their values that make them fail. The mean uses the reports
    of both: see `TwoPhasePlan.finish` for why that is unbiased. Work grows with the number of clients only by drawing
    and counting their reports.

    Parameters
    ----------
    clients : (N,) array_like of float, or sequence of callable, or Cohort
        Values, to simulate with; or real clients, functions that take a table and return one report (and are
        asked one by one), such as `OneReportClient`; or either as a cohort.
    epsilon : float
        Budget of each client.
    domain : (float, float)
        Where the values lie; public.
    rng : numpy.random.Generator
        Deals the clients, and perturbs the values of simulated ones.
    share : float
        Share of clients in the first phase, in (0, 1).
    knots, phase_one, estimator, method, uniform_share, tolerance, robust_confidence
        As in `TwoPhasePlan`.
    progress : callable, optional
        Called with the stage and the solver's progress, or None at the stage's end.

    Returns
    -------
    result : TwoPhaseResult

    Raises
    ------
    InputError
        A share outside (0, 1), fewer than 30 clients in a phase, values outside the domain, or an option that is
        not usable; before anyone has reported. Fewer than 30 reports in a phase, because clients failed.

    Source: Wei et al. (2024), sections 3.4 and 4.1.

    Example
    -------
    >>> rng = np.random.default_rng(3)
    >>> values = rng.normal(2.0, 0.5, 20_000).clip(0, 10)
    >>> result = two_phase(values, 1.0, domain=(0, 10), knots=21, rng=rng)
    >>> bool(result.interval().low < values.mean() < result.interval().high), result.prior.source
    (True, 'private-report')
    """
    if not isinstance(rng, np.random.Generator):
        raise InputError(f"rng must be a numpy.random.Generator, got {rng!r}: pass numpy.random.default_rng()")
    if not 0.0 < share < 1.0:
        raise InputError(f"share must lie strictly between 0 and 1, got {share!r}")
    plan = TwoPhasePlan(
        domain, epsilon, knots=knots, phase_one=phase_one, estimator=estimator, method=method,
        uniform_share=uniform_share, tolerance=tolerance, robust_confidence=robust_confidence,
    )  # fmt: skip
    cohort = cohort_of(clients, plan.epsilon, plan.domain)
    n_first = _first_size(cohort.n_clients, share)

    def tell(stage: str, step: Progress | None = None) -> None:
        if progress is not None:
            progress(stage, step)

    early, later = cohort.deal(n_first, rng)
    first_reports = _enough("first phase", early, early.report(plan.first, rng))
    tell("first phase")
    second = plan.second(first_reports, progress=lambda step: tell("design", step))
    tell("design")
    second_reports = _enough("second phase", later, later.report(second.mechanism, rng))
    result = replace(plan.finish(first_reports, second, second_reports), failures=early.failures + later.failures)
    tell("second phase")
    return result


def _enough(phase: str, cohort: Cohort, reports: np.ndarray) -> np.ndarray:
    """The reports, or InputError where so many clients failed that too few are left."""
    if reports.size < LEAST_CLIENTS:
        raise InputError(f"the {phase} needs at least {LEAST_CLIENTS} reports, got {reports.size}: {cohort.failures}")
    return reports


def _first_size(n: int, share: float) -> int:
    """Clients in the first phase; InputError if either phase would have too few."""
    n_first = round(share * n)
    if min(n_first, n - n_first) < LEAST_CLIENTS:
        raise InputError(
            f"each phase needs at least {LEAST_CLIENTS} clients, got {n_first} and {n - n_first} of {n} with share "
            f"{share:g}: ask more clients, or change the share"
        )
    return n_first
