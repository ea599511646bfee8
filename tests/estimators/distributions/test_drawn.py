"""Intervals that are not normal: the middle of draws, and none at all."""

import numpy as np
import pytest
from optldp.estimators import ReportCounts, estimate_distribution
from optldp.estimators.distributions.drawn import DrawnEstimate, ScatterEstimate, middle_of
from optldp.mechanisms import InputError, square_wave

TABLE = square_wave(np.linspace(0.0, 1.0, 17), 2.0)
COUNTS = ReportCounts.from_reports(
    TABLE, TABLE.sample(np.random.default_rng(1).beta(2, 5, 2000), np.random.default_rng(2))
)


def test_the_middle_of_draws_holds_their_share_and_the_value():
    """A quarter on either side; a value outside widens the interval up to it."""
    draws = np.linspace(0.0, 1.0, 101)
    assert middle_of(draws, 0.5, 0.5) == middle_of(draws[::-1], 0.5, 0.5)
    found = middle_of(draws, 0.5, 0.5)
    assert (found.low, found.high) == pytest.approx((0.25, 0.75))
    assert middle_of(draws, 0.9, 0.5).high == 0.9
    with pytest.raises(InputError, match="confidence"):
        DrawnEstimate(0.5, 0.1, 1, "smooth", draws=draws).interval(1.0)


def test_results_of_the_smooth_fit_are_those_of_its_draws():
    """Functionals, variance and quantiles: drawn one by one, by hand."""
    found = estimate_distribution(COUNTS)
    assert found.smooth is not None
    draws, points = found.smooth.draws, found.grid.points
    assert found.value == pytest.approx(draws.mean(axis=0))
    assert found.covariance == pytest.approx(np.cov(draws.T, bias=True))
    by_hand = [one @ points**2 - (one @ points) ** 2 for one in draws]
    assert found.variance().std_error == pytest.approx(np.std(by_hand))
    assert found.functional(points**2).interval(0.9).low == pytest.approx(np.quantile(draws @ points**2, 0.05))
    edges = found.grid.edges
    medians = [np.interp(0.5, np.concatenate([[0.0], np.cumsum(one)]), edges) for one in draws]
    interval = found.quantile(0.5).interval()
    assert (interval.low, interval.high) == pytest.approx(np.quantile(medians, [0.025, 0.975]))
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
