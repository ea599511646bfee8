"""Both phases at once: values or client functions in, the mean out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ...estimators.methods import PriorMethod
from ...mechanisms import InputError, TabulatedMechanism
from ...mechanisms.categorical.mechanism import CategoricalMechanism
from ...mechanisms.sampling.domain import numbers, values_inside
from ...mechanisms.spaces.columns import naming
from ...solvers import Progress
from ..methods.base import Method
from ..methods.registry import OPTIMAL
from ..objectives.base import DEFAULT_TOLERANCE
from ..priors.prior import DEFAULT_KNOTS, DEFAULT_UNIFORM_SHARE
from .cohort import Client, Cohort, ValueCohort, cohort_of
from .first_phase import DESIGNED
from .plan import LEAST_CLIENTS, TwoPhasePlan, TwoPhaseResult

SHARE_OF_ROOT, LARGEST_SHARE = 9.0, 0.3
"""Unless told otherwise 9 sqrt(n) of n clients report first, three in ten at most: what the second phase loses by
learning from few falls with their number, what the first one loses grows with it, so that their best number goes with
the root of n. Anything near it is as good, as the first reports count towards the mean too: docs/accuracy/phases.md."""

STAGES = ("first phase", "design", "second phase")
"""What `progress` is told about, in order."""


def two_phase(
    clients: ArrayLike | Sequence[Client] | Cohort,
    epsilon: float,
    *,
    domain: tuple[float, float],
    rng: np.random.Generator,
    share: float | None = None,
    knots: int | ArrayLike = DEFAULT_KNOTS,
    phase_one: str | TabulatedMechanism | CategoricalMechanism = DESIGNED,
    estimator: PriorMethod = "em",
    method: str | Method = OPTIMAL,
    uniform_share: float = DEFAULT_UNIFORM_SHARE,
    tolerance: float = DEFAULT_TOLERANCE,
    robust_confidence: float | None = None,
    progress: Callable[[str, Progress | None], None] | None = None,
) -> TwoPhaseResult:
    """Learn the distribution from a share of the clients, design for it, and ask the others through the design.

    Every client reports once, and its `BudgetToken` ensures that no table needs more than epsilon. Clients are dealt to
    the phases at random; real ones who give no report are left out and counted in the result's `failures`. The others
    remain a random part of all if failures do not depend on values. The mean uses the reports of both: see
    `TwoPhasePlan.finish` for why that is unbiased. Only drawing and counting reports takes longer with more clients.

    Parameters
    ----------
    clients : (N,) array_like of float, or sequence of callable, or Cohort
        Values for a simulation; or real clients, which are functions from a table to one report, asked one by one, such
        as `OneReportClient`; or either as a cohort.
    epsilon : float
        Budget of each client.
    domain : (float, float)
        Where the values lie; public.
    rng : numpy.random.Generator
        Generator that deals the clients, and perturbs the values of simulated ones.
    share : float, optional
        Share of clients in the first phase, in (0, 1). Default: 9 / sqrt(N), 0.3 at most.
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
    >>> import numpy as np
    >>> from optldp import two_phase
    >>> rng = np.random.default_rng(3)
    >>> values = rng.normal(2.0, 0.5, 20_000).clip(0, 10)
    >>> result = two_phase(values, 1.0, domain=(0, 10), knots=21, rng=rng)
    >>> round(result.value, 2), round(result.std_error, 2), round(values.mean(), 2).item()
    (1.97, 0.07, 2.0)
    >>> result.prior.source
    'private-report'
    """
    plan = TwoPhasePlan(
        domain, epsilon, knots=knots, phase_one=phase_one, estimator=estimator, method=method,
        uniform_share=uniform_share, tolerance=tolerance, robust_confidence=robust_confidence,
    )  # fmt: skip
    return _carried_out(plan, cohort_of(clients, plan.epsilon, plan.domain), share, rng, progress)


def two_phase_attributes(
    values: Mapping[str, ArrayLike],
    plans: Mapping[str, TwoPhasePlan],
    *,
    rng: np.random.Generator,
    share: float | None = None,
    progress: Callable[[str, Progress | None], None] | None = None,
) -> dict[str, TwoPhaseResult]:
    """Simulate two phases for several attributes of the same clients, each of whom reports one of them, once.

    Clients are dealt at random to the attributes, in parts as equal as can be, and each attribute's part to its two
    phases: who reports what does not depend on the values, so every mean is unbiased for all clients, and a report
    costs what its attribute's plan says. Deployed, the steps of each plan are taken with the reports of its part, or
    ``AttributeSampling.of({name: plan.first ...}, 1, epsilon)`` lets the clients of a phase draw their attribute
    themselves.

    Parameters
    ----------
    values : mapping of str to (N,) array_like of float
        Every attribute of every client.
    plans : mapping of str to TwoPhasePlan
        Of each attribute.
    rng, share, progress
        As in `two_phase`; the stages' names begin with the attribute's.

    Returns
    -------
    results : dict of str to TwoPhaseResult

    Raises
    ------
    InputError
        Attributes without a plan or plans without one, columns of different lengths, and what `two_phase` raises, with
        the attribute.

    Source: Wei et al. (2024), section 3.2, after Wang et al. (2019).

    Example
    -------
    >>> rng = np.random.default_rng(3)
    >>> people = {"age": rng.uniform(18, 90, 4000), "hours": rng.uniform(20, 60, 4000)}
    >>> plans = {"age": TwoPhasePlan((18, 90), 1.0, knots=9), "hours": TwoPhasePlan((0, 80), 1.0, knots=9)}
    >>> results = two_phase_attributes(people, plans, rng=rng)
    >>> {name: found.n for name, found in results.items()}
    {'age': 2000, 'hours': 2000}
    """
    if set(values) != set(plans) or not plans:
        raise InputError(f"every attribute needs a plan, got values of {sorted(values)} and plans of {sorted(plans)}")
    _check_share(share)
    columns = {}
    for name in plans:
        with naming(name):
            columns[name] = numbers("values", values[name])
    if len({column.size for column in columns.values()}) > 1:
        raise InputError(f"columns must be of equal length, got {[column.size for column in columns.values()]}")
    everyone = np.arange(next(iter(columns.values())).size)
    parts = np.array_split(everyone if len(plans) == 1 else _generator(rng).permutation(everyone), len(plans))
    found = {}
    for (name, plan), part in zip(plans.items(), parts, strict=True):

        def tell(stage: str, step: Progress | None, name: str = name) -> None:
            if progress is not None:
                progress(f"{name}, {stage}", step)

        with naming(name):
            values_inside(columns[name], *plan.domain)  # of all: an error must not tell who was dealt what
            cohort = ValueCohort(columns[name][part], plan.epsilon, domain=plan.domain)
            found[name] = _carried_out(plan, cohort, share, rng, tell)
    return found


def _carried_out(
    plan: TwoPhasePlan,
    cohort: Cohort,
    share: float | None,
    rng: np.random.Generator,
    progress: Callable[[str, Progress | None], None] | None,
) -> TwoPhaseResult:
    """Deal the clients to the phases, and ask each of them."""
    _generator(rng)
    _check_share(share)
    n_first = first_size(cohort.n_clients, share)

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


def _generator(rng: np.random.Generator) -> np.random.Generator:
    if not isinstance(rng, np.random.Generator):
        raise InputError(f"rng must be a numpy.random.Generator, got {rng!r}: pass numpy.random.default_rng()")
    return rng


def _check_share(share: float | None) -> None:
    if share is not None and not 0.0 < share < 1.0:
        raise InputError(f"share must lie strictly between 0 and 1, got {share!r}")


def _enough(phase: str, cohort: Cohort, reports: np.ndarray) -> np.ndarray:
    """The reports, or InputError where so many clients failed that too few are left."""
    if len(reports) < LEAST_CLIENTS:
        raise InputError(f"the {phase} needs at least {LEAST_CLIENTS} reports, got {len(reports)}: {cohort.failures}")
    return reports


def variance_of_clients(found: TwoPhaseResult, n: int, share: float | None) -> float:
    """Return the variance of the population's mean from n clients in two phases, as that of one collection tells it.

    A report of either phase has the variance that it had there, V1 and V2, what the values vary by included, so that
    the table of the second phase is as good; with n1 and n2 clients the best weighted mean has

        1 / (n1 / V1 + n2 / V2),

    or V2 / n2 where the first phase has no mean. Raises InputError where a phase would have too few clients.

    Example
    -------
    >>> rng = np.random.default_rng(1)
    >>> found = two_phase(rng.uniform(0, 1, 2000), 1.0, domain=(0, 1), knots=5, rng=rng)
    >>> bool(np.isclose(variance_of_clients(found, 2000, None), found.std_error**2))
    True
    """
    n_first = first_size(n, share)
    of_second = (n - n_first) / (found.second_mean.n * found.second_mean.std_error**2)
    early = found.first_mean
    of_first = 0.0 if early is None else n_first / (early.n * early.std_error**2)
    return 1 / (of_first + of_second)


def first_size(n: int, share: float | None) -> int:
    """Return how many clients the first phase has; InputError if either phase would have too few."""
    if share is None:
        share = min(SHARE_OF_ROOT / math.sqrt(n), LARGEST_SHARE) if n else LARGEST_SHARE
    n_first = round(share * n)
    if min(n_first, n - n_first) < LEAST_CLIENTS:
        raise InputError(
            f"each phase needs at least {LEAST_CLIENTS} clients, got {n_first} and {n - n_first} of {n} with share "
            f"{share:g}: ask more clients, or change the share"
        )
    return n_first
