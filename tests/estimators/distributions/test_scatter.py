"""What an average over draws is, and numbers that have no intervals."""

import numpy as np
import pytest
from optldp.estimators import ReportCounts, estimate_distribution
from optldp.estimators.distributions.scatter import ScatterEstimate
from optldp.mechanisms import InputError, square_wave

TABLE = square_wave(np.linspace(0.0, 1.0, 17), 2.0)
COUNTS = ReportCounts.from_reports(
    TABLE, TABLE.sample(np.random.default_rng(1).beta(2, 5, 2000), np.random.default_rng(2))
)


def test_values_of_the_smooth_fit_are_those_of_its_draws():
    """Weights, their scatter and the mean are averages over draws; intervals are not of them."""
    found = estimate_distribution(COUNTS)
    assert found.smooth is not None
    draws, points = found.smooth.draws, found.grid.points
    assert found.value == pytest.approx(draws.mean(axis=0))
    assert found.covariance == pytest.approx(np.cov(draws.T, bias=True))
    assert found.functional(points**2).std_error == pytest.approx(np.std(draws @ points**2))
    assert found.mean().value == pytest.approx((draws @ points).mean(), abs=1e-9)


def test_ems_has_no_intervals():
    """Its bias is not known: NaN for bands, means, variances, shares and quantiles, whatever scatter it has."""
    found = estimate_distribution(COUNTS, method="ems")
    assert np.isnan(found.interval().low).all()
    for one in (found.mean(), found.variance(), found.probability(0.1, 0.4), found.quantile(0.5)):
        interval = one.interval()
        assert np.isnan([interval.low, interval.high]).all()
        assert np.isfinite(one.value)
    assert isinstance(found.functional(found.grid.points), ScatterEstimate)
    assert np.isfinite(found.mean().std_error)
    with pytest.raises(InputError, match="confidence"):
        found.interval(2.0)
