"""EMS against a loop, its smoothing, its stop and its evidence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.estimators.distributions.smoothed_em import LOGLIK_CHANGE, ems, smoothed
from optldp.mechanisms import InputError, square_wave
from optldp.solvers import Stop, fit_mixture
from optldp.solvers.likelihood.dense import DenseLikelihood

TABLE = square_wave(np.linspace(0.0, 1.0, 12), 1.5).probabilities
COUNTS = np.random.default_rng(3).multinomial(5000, np.linspace(1, 3, 12) / 24 @ TABLE)


def looped_ems(table: np.ndarray, counts: np.ndarray, tolerance: float) -> tuple[np.ndarray, int]:
    """Algorithm 1 of Li et al. (2020), one user's posterior after the other."""
    size = len(table)
    weights, before, steps = [1 / size] * size, -np.inf, 0
    while True:
        steps += 1
        posterior, loglik = [0.0] * size, 0.0
        for output, count in enumerate(counts):
            whole = sum(weights[k] * table[k, output] for k in range(size))
            loglik += count * np.log(whole)
            for k in range(size):
                posterior[k] += count * weights[k] * table[k, output] / whole
        if abs(loglik - before) < tolerance:
            return np.array(weights), steps
        before = loglik
        fresh = [p / sum(counts) for p in posterior]
        inner = [(fresh[k - 1] + 2 * fresh[k] + fresh[k + 1]) / 4 for k in range(1, size - 1)]
        ends = [(2 * fresh[0] + fresh[1]) / 3, (2 * fresh[-1] + fresh[-2]) / 3]
        joined = [ends[0], *inner, ends[1]]
        weights = [w / sum(joined) for w in joined]


@pytest.mark.parametrize("tolerance", [LOGLIK_CHANGE, 1e-7])
def test_it_is_the_loop_over_posteriors(tolerance):
    """The same weights after the same number of steps as the algorithm written out."""
    found = ems(DenseLikelihood([TABLE], COUNTS), loglik_change=tolerance)
    weights, steps = looped_ems(TABLE, COUNTS, tolerance)
    assert np.abs(found.weights - weights).max() < 1e-10
    assert (found.iterations, found.stop, found.method) == (steps, Stop.LOGLIK_CHANGE, "ems")


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=9).filter(lambda values: sum(values) > 1e-3))
def test_smoothing_keeps_the_mass_and_the_sign(values):
    """Smoothed weights lie on the simplex."""
    found = smoothed(np.array(values) / np.sum(values))
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    assert (found >= 0).all()


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ([1.0], [1.0]),
        ([1.0, 0.0], [2 / 3, 1 / 3]),
        ([0.0, 1.0, 0.0], np.array([1 / 3, 1 / 2, 1 / 3]) / (7 / 6)),
        ([1.0, 0.0, 0.0, 0.0], np.array([2 / 3, 1 / 4, 0, 0]) / (11 / 12)),
    ],
)
def test_an_end_is_averaged_with_its_one_neighbour(weights, expected):
    """Two to one at the ends, a quarter, a half and a quarter inside, and then scaled."""
    assert smoothed(np.array(weights)) == pytest.approx(np.array(expected), abs=1e-15)


def test_it_costs_likelihood_and_says_how_much():
    """The certificate is recomputed from the weights and bounds what the exact maximum gains."""
    likelihood = DenseLikelihood([TABLE], COUNTS)
    found = ems(likelihood, loglik_change=1e-9)
    ratio = COUNTS / (found.weights @ TABLE)
    assert found.certificate == pytest.approx((TABLE @ ratio).max() / COUNTS.sum() - 1, rel=1e-9)
    gain = fit_mixture(likelihood, certificate=1e-12).loglik - found.loglik
    assert 1.0 < gain <= found.gap_bound <= COUNTS.sum() * found.certificate


def test_a_limit_on_the_steps_is_kept_and_reported():
    """Every step is shown, and the last is the limit's; what smoothness costs is in the bound."""
    seen = []
    found = ems(DenseLikelihood([TABLE], COUNTS), max_iterations=4, loglik_change=1e-9, progress=seen.append)
    assert found.stop == Stop.ITERATION_LIMIT
    assert [one.step for one in seen] == [1, 2, 3, 4, 5]
    assert (seen[-1].value, seen[-1].bound) == (found.loglik, found.loglik + found.gap_bound)


def test_one_component_is_certain():
    """There is nothing to smooth."""
    assert ems(DenseLikelihood([[[0.25, 0.75]]], [3, 4])).weights == pytest.approx([1.0])


@pytest.mark.parametrize("tolerance", [0.0, -1.0, float("nan"), float("inf")])
def test_a_tolerance_is_positive(tolerance):
    """A rule that no step can meet is refused instead of run for ever."""
    with pytest.raises(InputError, match="loglik_change must be positive and finite, got"):
        ems(DenseLikelihood([TABLE], COUNTS), loglik_change=tolerance)
