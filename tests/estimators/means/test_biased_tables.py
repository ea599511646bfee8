"""Means behind tables whose reports are biased on purpose: by their law inverted, never by an average of reports."""

import numpy as np
import pytest
from optldp import Prior, design, estimate_mean
from optldp.designer.objectives import Loss
from optldp.estimators import bias_aware_mean, count, estimate_combined_mean, estimate_distribution
from optldp.estimators.distributions import estimate_queries
from optldp.mechanisms import InputError, Metric

KNOTS, SHARES = np.arange(4.0), np.array([0.85, 0.1, 0.05, 0.0])
COMBINED = ("ua", "uwa", "population", "decoder")


def table(epsilon):
    """A table of least absolute error by distance, which reports nearer the middle than values are."""
    prior = Prior.on_knots(KNOTS, [1, 2, 2, 1], source="public")
    return design(prior, Metric(epsilon), objective=Loss("absolute"), outputs=np.arange(-2, 6.5, 0.5)).mechanism


@pytest.fixture(scope="module")
def invertible():
    made = table(3.0)
    return made, made.sample(np.random.default_rng(1).permutation(np.repeat(KNOTS, (SHARES * 100_000).astype(int))))


def test_every_mean_inverts_the_law(invertible):
    """Estimates lie within 4 of their standard errors of the values' mean; the average of the reports is 6 away."""
    made, reports = invertible
    counts, truth = count(made, reports), float(KNOTS @ SHARES)
    found = [estimate_mean(counts, target="users"), estimate_mean(counts), estimate_mean(counts, winsorise=1e-4)]
    found += [estimate_combined_mean(counts, method=method) for method in COMBINED]
    for each in found:
        assert abs(each.value - truth) < 4 * each.std_error
        assert abs(reports.mean() - truth) > 6 * each.std_error
    assert estimate_distribution(counts, method="mr").mean().value == pytest.approx(truth, abs=4 * found[1].std_error)
    total = estimate_queries(counts, KNOTS[None])
    assert abs(total.value[0] - truth) < 4 * total.std_error[0]
    aware = bias_aware_mean(counts, SHARES)
    assert aware.interval().low < truth < aware.interval().high


def test_values_of_reports_are_unbiased_at_every_knot(invertible):
    made, _ = invertible
    assert np.abs(made.knot_bias).max() > 0.04
    for k in range(KNOTS.size):  # the law itself, as counts of 10^9 users
        often = np.rint(made.probabilities[k] * 1e9).astype(np.int64)
        counts = count(made, np.repeat(made.low, often // 10_000))
        assert estimate_mean(counts).value == pytest.approx(KNOTS[k], abs=1e-3)


def test_raw_reports_are_never_averaged(invertible):
    made, reports = invertible
    with pytest.raises(InputError, match="no scale and shift unbiases them"):
        estimate_mean(count(made, reports), raw=True)
    for method in COMBINED[:2]:
        with pytest.raises(InputError, match="no scale and shift unbiases them"):
            estimate_combined_mean(count(made, reports, raw=True), method=method, raw=True)


def test_a_law_without_an_inverse_is_refused():
    made = table(1.0)
    counts = count(made, made.sample(np.repeat(KNOTS, 50), np.random.default_rng(2)))
    with pytest.raises(InputError, match="an unbiased mean must be possible, but 4 knots have rank 2"):
        estimate_mean(counts)
    for method in COMBINED:
        with pytest.raises(InputError, match="an unbiased mean must be possible"):
            estimate_combined_mean(counts, method=method)
