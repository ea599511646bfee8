"""What error one mechanism makes with one estimator: in closed form, or by parametric bootstrap.

In the bootstrap the prior stands for the truth. Each repetition draws the reports of n clients from it, and every
estimator is applied to the same reports. Reports are drawn as counts, never client by client: first the values' counts
on the knots, which all mechanisms share, then for each knot how often each output came of it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...estimators.counting.counts import ReportCounts, ReportGroup, Service
from ...estimators.distributions.estimation import estimate_distribution
from ...estimators.distributions.metrics import jensen_shannon_distance, wasserstein_1
from ...estimators.input_grid import InputGrid
from ...estimators.means.unbiasing import affine_unbiasing, optimal_decoder
from ...estimators.methods import DistributionMethod
from ...mechanisms import InputError, TabulatedMechanism
from ...mechanisms.shown.shown import Shown
from ...mechanisms.shown.told import Dots, Told
from ..priors.prior import Prior

LINEAR = ("ua", "decoder")
"""Estimators that are averages of decoded reports: unbiased, so their error has a closed form."""


@dataclass(frozen=True, eq=False, repr=False)
class Simulated(Shown):
    """A mean over repetitions and its Monte Carlo standard error, which is 0 for a closed form.

    Example
    -------
    >>> Simulated.over(np.array([1.0, 2.0, 3.0]))
    Simulated(value=2, error=0.57735)
    """

    value: float
    error: float

    def _told(self) -> Told:
        return Told(self._line(), picture=self.dots("mean over the repetitions"))

    def dots(self, what: str) -> Dots:
        """Return the picture of the number and of two of its standard errors to either side."""
        value, reach = np.array([self.value]), 2 * self.error
        return Dots([""], value, what, value - reach, value + reach)

    @classmethod
    def over(cls, drawn: np.ndarray) -> Simulated:
        """Return the mean of (R,) repetitions, R >= 2."""
        return cls(float(drawn.mean()), float(drawn.std(ddof=1)) / math.sqrt(drawn.size))


@dataclass(frozen=True, eq=False, repr=False)
class AdviceRow(Shown):
    """One mechanism with one estimator.

    Attributes
    ----------
    mechanism, estimator : str
    mse : Simulated
        Expected squared error of the mean of the values, in squared units; of a frequency, averaged over categories.
    jensen_shannon, wasserstein : Simulated or None
        Expected distance of the estimated distribution from the prior, on its knots: the root of the divergence in
        nats, and the mean distance in units. None for estimators of the mean alone, of frequencies that are no
        distribution, and the latter for all categories.
    seconds : float
        Wall time of one estimate, on average.

    Example
    -------
    >>> AdviceRow("duchi", "ua", Simulated(0.05, 0.0), None, None, 0.001)
    AdviceRow(mechanism='duchi', estimator='ua', mse=0.05)
    """

    mechanism: str
    estimator: str
    mse: Simulated
    jensen_shannon: Simulated | None
    wasserstein: Simulated | None
    seconds: float = field(compare=False)

    def _line(self) -> dict[str, Any]:
        found = {name: getattr(self, name) for name in ("mse", "jensen_shannon", "wasserstein")}
        numbers = {name: number.value for name, number in found.items() if number is not None}
        return {"mechanism": self.mechanism, "estimator": self.estimator} | numbers

    def _told(self) -> Told:
        return Told(self._line(), picture=self.mse.dots("expected squared error"))


@dataclass(frozen=True, eq=False)
class Case:
    """A mechanism by its name and its table, which carries the prior on its own knots; the truth; and n clients."""

    name: str
    mechanism: TabulatedMechanism
    truth: Prior
    n: int


def check_choices(n: int, repetitions: int, named: Mapping[str, tuple[Sequence[str], Sequence[str]]]) -> None:
    """Raise InputError for numbers below two, and for lists of names that hold an unknown one or none.

    Example
    -------
    >>> check_choices(100, 50, {"estimators": (["em"], ("ua", "em"))})
    """
    for what, value in (("n", n), ("repetitions", repetitions)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 2:
            raise InputError(f"{what} must be a whole number of at least 2, got {value!r}")
    for what, (given, known) in named.items():
        if isinstance(given, str) or not given:
            raise InputError(f"{what} must be a list of at least one name, got {given!r}")
        if unknown := [name for name in given if name not in known]:
            raise InputError(f"{what} must be out of {', '.join(known)}, got {unknown[0]!r}")


def linear_row(case: Case, estimator: str) -> AdviceRow | str:
    r"""Return the exact error of an average of decoded reports, or why there is none.

    Unbiased, it errs by Var(d) / n, the variance of a decoded report over values and noise: for "ua", with scale s
    and shift c, sum_i w_i [V_i + (m_i - m)^2] / s^2; for "decoder" sum_j q_j (d_j - mean)^2, q = w^T P.

    Example
    -------
    >>> from optldp.mechanisms import duchi
    >>> prior = Prior.on_knots([-1, 1], [1, 1], source="public")
    >>> row = linear_row(Case("duchi", duchi([-1, 1], 1.0).with_prior(prior.knot_prior), prior, 100), "ua")
    >>> round(row.mse.value, 4)  # ((e + 1) / (e - 1))^2 / n
    0.0468
    """
    started, table = time.perf_counter(), case.mechanism
    assert table.prior is not None  # every design carries its prior
    weights = table.prior.weights
    if estimator == "ua":
        affine = affine_unbiasing(table)
        if affine is None:
            return "the mean of its reports is not affine in the value"
        spread = table.knot_means - weights @ table.knot_means
        variance = float(weights @ (table.knot_variances + spread**2)) / affine[0] ** 2
    else:
        try:
            decoded = optimal_decoder(table)  # for the prior that the table carries
        except InputError as error:
            return str(error)
        variance = float(weights @ table.probabilities @ (decoded - case.truth.mean) ** 2)
    exact = Simulated(variance / case.n, 0.0)
    return AdviceRow(case.name, estimator, exact, None, None, time.perf_counter() - started)


def bootstrap_rows(
    case: Case,
    chosen: Sequence[DistributionMethod],
    repetitions: int,
    seed: tuple[int, int],
    progress: Callable[[str, str], None] | None = None,
) -> list[AdviceRow]:
    """Return the rows of estimators of the distribution, all applied to the same reports in each repetition.

    Parameters
    ----------
    case : Case
    chosen : sequence of DistributionMethod
    repetitions : int
        At least 2.
    seed : (int, int)
        Of the values' counts, and of the mechanism.
    progress : callable, optional
        Called with mechanism and estimator after every fit.

    Example
    -------
    >>> from optldp.mechanisms import duchi
    >>> prior = Prior.on_knots([-1, 1], [1, 1], source="public")
    >>> case = Case("duchi", duchi([-1, 1], 1.0), prior, 100)
    >>> [row.estimator for row in bootstrap_rows(case, ["em", "ems"], 3, (7, 0))]
    ['em', 'ems']
    """
    truth, grid = case.truth, InputGrid.knots(case.truth.knots)
    rows = case.mechanism.pmf(truth.knots)
    errors = {name: np.zeros((repetitions, 4)) for name in chosen}
    for repetition in range(repetitions):
        counts = _draw(case, rows, repetition, seed)
        for name in chosen:
            started = time.perf_counter()
            found = estimate_distribution(counts, method=name, grid=grid)
            seconds = time.perf_counter() - started
            errors[name][repetition] = (
                (found.mean().value - truth.mean) ** 2,
                jensen_shannon_distance(found.value, truth.weights),
                wasserstein_1(truth.knots, found.value, truth.weights),
                seconds,
            )
            if progress is not None:
                progress(case.name, name)
    made = []
    for name, drawn in errors.items():
        mse, jensen_shannon, wasserstein = (Simulated.over(drawn[:, k]) for k in range(3))
        made.append(AdviceRow(case.name, name, mse, jensen_shannon, wasserstein, float(drawn[:, 3].mean())))
    return made


def _draw(case: Case, rows: np.ndarray, repetition: int, seed: tuple[int, int]) -> ReportCounts:
    """Return the counted reports of n clients in one repetition."""
    values = np.random.default_rng([seed[0], repetition]).multinomial(case.n, case.truth.weights)
    held = values > 0
    # Seeds that differ by zeros at their end are the same: values and noise must not be drawn alike.
    noise = np.random.default_rng([seed[0], repetition, 1 + seed[1]])
    outputs = noise.multinomial(values[held], rows[held]).sum(axis=0)
    seen = np.flatnonzero(outputs)
    group = ReportGroup((0,), seen.astype(np.int32)[:, None], outputs[seen].astype(np.int64))
    return ReportCounts((Service(case.name, case.mechanism),), (group,))
