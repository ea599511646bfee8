"""Squared errors of the mean, as AAA's section 7.2 defines them, with as little simulation as will do.

A mechanism that everybody uses and that is unbiased errs by V / n, V its expected variance over the data: exact, no
simulation. Given what the first phase found, the second phase's squared error is exact too,

    V_2 / n_2 + S^2 (1 / n_2 - 1 / n),

V_2 the designed table's expected variance over the data, S^2 the variance of the values (n_2 of n clients are drawn
without replacement). So only first phases are simulated, and each repetition is worth many.

With d attributes each client reports one of them, so that n / d clients report each: n_2 is then a part of these.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from optldp.designer import Lattice, Prior, TwoPhasePlan, design
from optldp.estimators import InputGrid, ReportCounts, likelihood_of
from optldp.estimators.distributions.smoothed_em import ems
from optldp.estimators.means.decoder import mean_decoder
from optldp.estimators.methods import PriorMethod
from optldp.mechanisms import TabulatedMechanism, square_wave
from optldp.mechanisms.families.duchi import duchi_variance
from optldp.mechanisms.families.hybrid import hybrid_variance
from optldp.mechanisms.families.laplace import laplace_variance
from optldp.mechanisms.families.piecewise import piecewise_variance
from optldp.mechanisms.families.three_outputs import three_outputs_variance
from optldp.mechanisms.table.moments import prior_variance

CLOSED_FORMS = {
    "laplace": laplace_variance,
    "duchi": duchi_variance,
    "piecewise": piecewise_variance,
    "hybrid": hybrid_variance,
    "three-outputs": three_outputs_variance,
}

DOMAIN = (-1.0, 1.0)

SHARE = 0.1
"""Of the clients, in the first phase."""

SW_CELLS = 256
"""Of the distribution that square-wave reports are turned into."""

OUR_KNOTS = 33
"""Of the library's own two phases: 0.0625 apart."""


@dataclass(frozen=True)
class Error:
    """A mean squared error times n, and its standard error over the repetitions (zero where it is exact)."""

    value: float
    spread: float = 0.0

    @classmethod
    def of(cls, squares: list[float]) -> Error:
        """Return the mean over repetitions."""
        found = np.array(squares)
        return cls(float(found.mean()), float(found.std(ddof=1) / np.sqrt(found.size)) if found.size > 1 else np.nan)

    def __str__(self) -> str:
        return f"{self.value:.4g}" if self.spread <= 1e-9 * self.value else f"{self.value:.4g} ± {self.spread:.1g}"


def closed_forms(values: np.ndarray, epsilon: float, attributes: int = 1) -> dict[str, Error]:
    """Everybody uses one closed form, for one of so many attributes: exact."""
    one = _one_of(attributes, values)
    return {name: Error(attributes * float(of(values, epsilon).mean()) + one) for name, of in CLOSED_FORMS.items()}


def optimum(values: np.ndarray, epsilon: float, knots: int, attributes: int = 1) -> dict[str, Error]:
    """Everybody uses the optimum for the data themselves, which nobody knows; and the bound that certifies it."""
    found = design(Prior.from_data(values, knots=knots, domain=DOMAIN), epsilon, uniform_share=0.0, exact=False)
    one = _one_of(attributes, values)
    known = {"bound": found.bound, "optimum, data known": found.expected_variance}
    return {name: Error(attributes * variance + one) for name, variance in known.items()}


def square_wave_mean(values: np.ndarray, epsilon: float, repetitions: int, seed: list[int]) -> Error:
    """Everybody uses the square wave; the mean of the distribution by EMS, as Li et al. (2020) have it."""
    grid = InputGrid.equal_cells(*DOMAIN, SW_CELLS)
    mechanism = square_wave(grid.edges, epsilon)
    squares = []
    for r in range(repetitions):
        reports = mechanism.sample(values, np.random.default_rng([*seed, r]))
        fit = ems(likelihood_of(ReportCounts.from_reports(mechanism, reports), grid))
        squares.append(values.size * float(grid.points @ fit.weights - values.mean()) ** 2)
    return Error.of(squares)


def aaa_two_phases(
    values: np.ndarray,
    epsilon: float,
    intervals: int,
    repetitions: int,
    seed: list[int],
    *,
    share: float = SHARE,
    window: int | None = None,
    attributes: int = 1,
    estimator: PriorMethod = "em",
) -> Error:
    """AAA: randomised response on the knots, then lattice noise; the mean of the second phase alone."""
    plan = TwoPhasePlan(
        DOMAIN, epsilon, knots=intervals + 1, phase_one="grr", estimator=estimator, method=Lattice(window=window)
    )
    truth = Prior.from_data(values, knots=intervals + 1, domain=DOMAIN)
    n = values.size // attributes
    n_first = round(share * n)
    squares = []
    for r in range(repetitions):
        rng = np.random.default_rng([*seed, r])
        reports = plan.first.sample(rng.choice(values, n_first, replace=False), rng)
        variance = plan.second(reports).mechanism.expected_variance(truth.knot_prior)
        squares.append(values.size * _phase_error(variance, values, n - n_first))
    return Error.of(squares)


def our_two_phases(values: np.ndarray, epsilon: float, repetitions: int, seed: list[int], attributes: int = 1) -> Error:
    """The library's defaults: square wave, then the optimum; the means of both phases, weighted by their variances.

    Reports are decoded as `estimate_mean` does unless it is asked for raw ones.  The weights are taken as known;
    `two_phase` estimates them, see the check of the simulation.
    """
    plan = TwoPhasePlan(DOMAIN, epsilon, knots=OUR_KNOTS)
    truth = Prior.from_data(values, knots=OUR_KNOTS, domain=DOMAIN)
    n, n_mine = values.size, values.size // attributes
    n_first = round(SHARE * n_mine)
    assert isinstance(plan.first, TabulatedMechanism)
    early = _phase_error(_decoded_variance(plan.first, truth), values, n_first)
    squares = []
    for r in range(repetitions):
        rng = np.random.default_rng([*seed, r])
        reports = plan.first.sample(rng.choice(values, n_first, replace=False), rng)
        later = _phase_error(_decoded_variance(plan.second(reports).mechanism, truth), values, n_mine - n_first)
        weight = later / (early + later)
        # Two parts of one finite population: their means' covariance is -S^2 / n.
        shared = -2 * weight * (1 - weight) * values.var(ddof=1) / n
        squares.append(n * (weight**2 * early + (1 - weight) ** 2 * later + shared))
    return Error.of(squares)


def _one_of(attributes: int, values: np.ndarray) -> float:
    """n times the squared error of the mean of n / d values drawn without replacement: S^2 (d - 1)."""
    return (attributes - 1) * float(values.var(ddof=1))


def _decoded_variance(table: TabulatedMechanism, truth: Prior) -> float:
    """Expected variance of a report as the library decodes it by default."""
    decoder = mean_decoder(table)
    return prior_variance(table.knots, table.knots, decoder.knot_variances, truth.knot_prior)


def _phase_error(variance: float, values: np.ndarray, clients: int) -> float:
    """Expected squared error of the mean of so many clients' reports about the mean of all values."""
    sampling = values.var(ddof=1) * (1 / clients - 1 / values.size)
    return variance / clients + float(sampling)
