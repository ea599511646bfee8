"""What error one mechanism makes with one estimator: in closed form, or by parametric bootstrap.

In the bootstrap the prior stands for the truth. Each repetition draws the reports of n clients from it, and every
estimator is applied to the same reports. Reports are drawn as counts, never client by client: first the values' counts
on the knots, which all mechanisms share, then for each knot how often each output came of it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ...estimators.counting.counts import ReportCounts, ReportGroup, Service
from ...estimators.distributions.estimation import estimate_alone
from ...estimators.distributions.metrics import jensen_shannon_distance, wasserstein_1
from ...estimators.input_grid import InputGrid
from ...estimators.means.unbiasing import affine_unbiasing, optimal_decoder
from ...estimators.methods import DistributionMethod, unknown
from ...mechanisms import InputError, TabulatedMechanism
from ...mechanisms.display.display import Shown
from ...mechanisms.display.summary import Dots, Told
from ...mechanisms.errors import unwired
from ..priors.prior import Prior
from .linearised import Linearised, rough_and_smoothed
from .race import Errors

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


Standing = Literal["first", "next", "behind", "worse"]


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
    draws : int
        Simulated collections that these are means of; 0 where the error is exact.
    standing : {"first", "next", "behind", "worse"}
        In a race: whether it won, came next, was left behind for time, or was clearly worse. Errors of the first two
        come of draws that chose no more than their order; those of the others are the first one's times what they were
        over it in the race.

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
    draws: int = 0
    standing: Standing = "behind"

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

    @cached_property
    def decoder(self) -> tuple[np.ndarray, float] | str:
        """What each output counts as for an unbiased mean, and the variance of that; or why there is none."""
        prior = self.mechanism.prior
        if prior is None:
            return "the table carries no prior"
        try:
            decoded = optimal_decoder(self.mechanism)  # for that prior
        except InputError as error:
            return str(error)
        return decoded, float(prior.weights @ self.mechanism.probabilities @ (decoded - self.truth.mean) ** 2)

    @cached_property
    def linearised(self) -> tuple[Linearised, ...]:
        """Linear estimates of the distribution about the truth, whose errors in a draw tell of those of others."""
        truth = self.truth
        return rough_and_smoothed(truth.knots, truth.weights, self.mechanism.pmf(truth.knots), self.n)

    def linear_error(self, of_distribution: bool) -> float:
        """Return what the best linear estimate errs by, units: of the distribution, or of the mean, biased or not."""
        _, smoothed = self.linearised
        if of_distribution:
            return smoothed.average
        unbiased = math.inf if isinstance(self.decoder, str) else self.decoder[1] / self.n
        return math.sqrt(min(smoothed.squared, unbiased))


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
        if strange := [name for name in given if name not in known]:
            raise InputError(unknown(what, known, strange[0], "out of"))


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
    elif estimator == "decoder":
        if isinstance(case.decoder, str):
            return case.decoder
        _, variance = case.decoder
    else:
        raise unwired("estimator", estimator)
    exact = Simulated(variance / case.n, 0.0)
    return AdviceRow(case.name, estimator, exact, None, None, time.perf_counter() - started)


def bootstrap_rows(
    case: Case,
    chosen: Sequence[DistributionMethod],
    repetitions: int,
    seed: tuple[int, int],
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

    Example
    -------
    >>> from optldp.mechanisms import duchi
    >>> prior = Prior.on_knots([-1, 1], [1, 1], source="public")
    >>> case = Case("duchi", duchi([-1, 1], 1.0), prior, 100)
    >>> [row.estimator for row in bootstrap_rows(case, ["em", "ems"], 3, (7, 0))]
    ['em', 'ems']
    """
    rows = case.mechanism.pmf(case.truth.knots)
    drawn = {name: list[Errors]() for name in chosen}
    for repetition in range(repetitions):
        for name, errors in distribution_errors(case, rows, chosen, repetition, seed).items():
            drawn[name].append(errors)
    return [simulated_row(case.name, name, errors) for name, errors in drawn.items()]


def distribution_errors(
    case: Case, rows: np.ndarray, chosen: Sequence[DistributionMethod], repetition: int, seed: tuple[int, int]
) -> dict[str, Errors]:
    """Return the errors of estimators of the distribution from the same reports of n clients.

    Parameters
    ----------
    case : Case
    rows : (K, M) ndarray
        Probabilities of the outputs at the truth's knots.
    chosen : sequence of DistributionMethod
    repetition : int
    seed : (int, int)
        Of the values' counts, and of the mechanism.
    """
    counts = draw_reports(case, rows, repetition, seed)
    truth, control, found = case.truth, _control(case, counts), dict[str, Errors]()
    (group,) = counts.groups
    outputs = np.zeros(rows.shape[1])
    outputs[group.outputs[:, 0]] = group.counts
    (rough, _), (smoothed, shrunk) = (one.beside(outputs) for one in case.linearised)
    for name in chosen:
        started = time.perf_counter()
        weights, mean = estimate_alone(counts, name, InputGrid.knots(truth.knots))
        seconds = time.perf_counter() - started
        found[name] = Errors(
            (mean - truth.mean) ** 2,
            jensen_shannon_distance(weights, truth.weights),
            wasserstein_1(truth.knots, weights, truth.weights),
            control,
            seconds,
            rough,
            smoothed,
            shrunk,
        )
    return found


def simulated_row(
    mechanism: str,
    estimator: str,
    errors: Sequence[Errors],
    *,
    instead: Mapping[str, np.ndarray] | None = None,
    standing: Standing = "behind",
) -> AdviceRow:
    """Return the means of draws, at least two, with their standard errors.

    Parameters
    ----------
    mechanism, estimator : str
    errors : sequence of Errors
    instead : mapping of str to ndarray, optional
        Errors by a criterion that stand for the drawn ones, with less scatter and the same mean.
    standing : {"first", "next", "behind", "worse"}
    """
    column = {name: np.array([getattr(one, name) for one in errors]) for name in Errors._fields} | dict(instead or {})
    found = [Simulated.over(column[name]) for name in ("squared", "jensen_shannon", "wasserstein")]
    squared, shannon, wasserstein = (None if math.isnan(one.value) else one for one in found)
    assert squared is not None  # every estimate has a mean
    seconds = float(column["seconds"].mean())
    return AdviceRow(mechanism, estimator, squared, shannon, wasserstein, seconds, len(errors), standing)


def _control(case: Case, counts: ReportCounts) -> float:
    """The squared error of the unbiased mean of these reports over its expectation, less one; 0 without such a mean."""
    if isinstance(case.decoder, str):
        return 0.0
    values, variance = case.decoder
    (group,) = counts.groups
    error = float(values[group.outputs[:, 0]] @ group.counts) / case.n - case.truth.mean
    return error**2 * case.n / variance - 1.0


def draw_reports(case: Case, rows: np.ndarray, repetition: int, seed: tuple[int, int]) -> ReportCounts:
    """Return the counted reports of n clients in one repetition."""
    values = np.random.default_rng([seed[0], repetition]).multinomial(case.n, case.truth.weights)
    held = values > 0
    # Seeds that differ by zeros at their end are the same: values and noise must not be drawn alike.
    noise = np.random.default_rng([seed[0], repetition, 1 + seed[1]])
    outputs = noise.multinomial(values[held], rows[held]).sum(axis=0)
    seen = np.flatnonzero(outputs)
    group = ReportGroup((0,), seen.astype(np.int32)[:, None], outputs[seen].astype(np.int64))
    return ReportCounts((Service(case.name, case.mechanism),), (group,))
