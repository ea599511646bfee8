"""Confidence regions of reports: valid at any sample size, linear in the prior, honest when empty."""

import numpy as np
import pytest
from optldp.designer import Prior, confidence_region
from optldp.designer.priors.region import ReportAmbiguity
from optldp.mechanisms import InputError, TabulatedMechanism, grr, piecewise, square_wave
from scipy.stats import binomtest

KNOTS = np.linspace(0, 10, 9)
PRIOR = Prior.on_knots(KNOTS, [1, 2, 4, 8, 4, 2, 1, 1, 1], source="public")


def holds(region: ReportAmbiguity, weights: np.ndarray) -> bool:
    shares = region.matrix @ weights
    return bool((region.low <= shares).all() and (shares <= region.high).all())


@pytest.mark.parametrize("make", [grr, square_wave])
@pytest.mark.parametrize("n", [30, 400])
def test_the_true_prior_is_missed_no_more_often_than_stated(make, n):
    """At confidence 0.8, 300 collections: the share that misses is at most 0.2 and three standard errors."""
    rng, table = np.random.default_rng(n), make(KNOTS, 2.0)
    missed = 0
    for _ in range(300):
        values = rng.choice(KNOTS, n, p=PRIOR.weights)
        missed += not holds(confidence_region(table, table.sample(values, rng), KNOTS, 0.8), PRIOR.weights)
    assert missed <= 300 * 0.2 + 3 * np.sqrt(300 * 0.2 * 0.8)


def test_bands_are_clopper_pearson_and_massart():
    table = grr(np.array([0.0, 5.0, 10.0]), 1.0)
    reports = np.repeat(table.low, [50, 30, 20])
    region = confidence_region(table, reports, table.knots, 0.9)
    assert region.matrix.shape == (5, 3)
    np.testing.assert_allclose(region.matrix, np.vstack([table.probabilities.T, table.probabilities.T[:2].cumsum(0)]))
    for row, count in enumerate([50, 30, 20]):
        exact = binomtest(count, 100).proportion_ci(1 - 0.05 / 3, method="exact")
        assert region.low[row] == pytest.approx(exact.low, rel=1e-9)
        assert region.high[row] == pytest.approx(exact.high, rel=1e-9)
    reach = np.sqrt(np.log(2 / 0.05) / 200)
    np.testing.assert_allclose(region.low[3:], np.array([0.5, 0.8]) - reach)
    np.testing.assert_allclose(region.high[3:], np.array([0.5, 0.8]) + reach)


def test_outputs_never_and_always_seen_have_one_sided_bounds():
    table = grr(np.array([0.0, 10.0]), 4.0)
    region = confidence_region(table, np.full(200, table.low[0]), table.knots, 0.9)
    assert region.high[0] == 1
    assert region.low[1] == 0
    assert np.isfinite(region.low).all()
    assert np.isfinite(region.high).all()


def test_values_between_knots_are_covered_through_their_weights():
    """The law of reports is linear in the prior's weights for values anywhere."""
    rng, table = np.random.default_rng(4), square_wave(KNOTS, 2.0)
    values = rng.beta(2, 5, 50_000) * 10
    region = confidence_region(table, table.sample(values, rng), KNOTS, 0.99)
    assert holds(region, Prior.from_data(values, knots=KNOTS, source="public").weights)
    finer = np.linspace(0, 10, 17)
    finer_region = confidence_region(table, table.sample(values, rng), finer, 0.99)
    assert holds(finer_region, Prior.from_data(values, knots=finer, source="public").weights)


def test_more_reports_say_more():
    rng, table = np.random.default_rng(5), square_wave(KNOTS, 2.0)
    largest = []
    for n in (100, 1000, 10_000):
        reports = table.sample(rng.choice(KNOTS, n, p=PRIOR.weights), rng)
        largest.append(confidence_region(table, reports, KNOTS, 0.95).around(PRIOR).largest(KNOTS)[0])
    assert largest[0] > largest[1] > largest[2] > PRIOR.mean


def test_few_reports_of_a_small_budget_rule_out_nothing():
    table = square_wave(KNOTS, 0.2)
    region = confidence_region(table, table.sample(np.full(30, 5.0), np.random.default_rng(1)), KNOTS, 0.95)
    assert region.contains_every(PRIOR)
    assert region.label == "every prior: 30 reports rule out none at confidence 0.95"
    assert region.around(PRIOR).largest(KNOTS)[0] == pytest.approx(10, rel=1e-9)


def test_reports_that_no_prior_can_explain_leave_every_prior():
    """All clients report the same of nine outputs: at this budget no prior makes that likely."""
    table = grr(KNOTS, 0.5)
    region = confidence_region(table, np.full(5000, table.low[3]), KNOTS, 0.95)
    with pytest.raises(InputError, match="excludes all priors"):
        region.around(PRIOR)
    opened = region.or_every(PRIOR)
    assert opened.contradicted
    assert opened.contains_every(PRIOR)
    assert opened.label == "every prior: 5000 reports contradict them all at confidence 0.95"


def test_a_region_with_priors_stays_as_it_is():
    table = square_wave(KNOTS, 2.0)
    reports = table.sample(np.full(1000, 5.0), np.random.default_rng(1))
    region = confidence_region(table, reports, KNOTS, 0.95)
    assert region.or_every(PRIOR) is region
    assert not region.contains_every(PRIOR)
    assert not region.is_single(PRIOR)
    assert region.label == "confidence region at 0.95 of 1000 reports"


@pytest.mark.parametrize("confidence", [0.0, 1.0, np.nan, -1])
def test_confidence_lies_between_zero_and_one(confidence):
    table = grr(KNOTS, 1.0)
    with pytest.raises(InputError, match="confidence must lie strictly between 0 and 1"):
        confidence_region(table, table.low, KNOTS, confidence)


def test_knots_of_the_table_must_be_among_those_of_the_prior():
    table = piecewise([0, 3, 10], 1.0)
    with pytest.raises(InputError, match="knots must hold those of the first table, but 3 is not among them"):
        confidence_region(table, table.sample([3.0], np.random.default_rng(1)), KNOTS, 0.9)


def test_foreign_reports_and_other_knots_are_refused():
    table = TabulatedMechanism.from_points([0, 10], [0, 1], [[0.6, 0.4], [0.4, 0.6]], 0.5)
    with pytest.raises(InputError, match="outputs of this table"):
        confidence_region(table, [0.0, 0.5], KNOTS, 0.9)
    region = confidence_region(table, np.repeat([0.0, 1.0], 500), KNOTS, 0.9)
    for ask in (region.around, region.or_every):
        with pytest.raises(InputError, match="the region is for 9 knots, got a prior on 2"):
            ask(Prior.on_knots([0, 10], [1, 1], source="public"))
