"""The server's steps: a private first table, a prior from reports alone, a design for it, and both means together."""

from dataclasses import replace

import numpy as np
import pytest
from optldp.designer import Prior, TwoPhasePlan, design
from optldp.designer.methods.registry import NAMES
from optldp.designer.protocols.first_phase import FIRST_TABLES, ORACLES_BY_NAME
from optldp.estimators import InputGrid, ReportCounts, count, estimate_distribution, estimate_mean
from optldp.estimators.means.decoder import mean_decoder
from optldp.estimators.methods import PRIOR_METHODS
from optldp.mechanisms import InputError, TabulatedMechanism, duchi, piecewise, square_wave, verify
from optldp.mechanisms.exactness.make_exact import exact_if_possible as exact

DOMAIN = (-2.0, 6.0)
VALUES = np.random.default_rng(11).normal(0.5, 0.6, 4000).clip(*DOMAIN)


def collected(plan: TwoPhasePlan, seed: int = 3):
    """First reports, design and second reports of VALUES, the first 400 of them first."""
    rng = np.random.default_rng(seed)
    first = plan.first.sample(VALUES[:400], rng)
    second = plan.second(first)
    return first, second, second.mechanism.sample(VALUES[400:], rng)


@pytest.mark.parametrize("phase_one", [name for name in FIRST_TABLES if name not in ORACLES_BY_NAME])
def test_every_first_table_keeps_within_the_budget_on_the_domain(phase_one):
    plan = TwoPhasePlan(DOMAIN, 0.7, knots=9, phase_one=phase_one, units="points")
    checked = verify(plan.first, epsilon=0.7)
    assert checked.ok, checked.failures
    assert plan.first.domain == DOMAIN
    assert plan.first.units == "points"


def test_the_designed_first_table_is_the_optimum_of_a_flat_prior():
    plan = TwoPhasePlan(DOMAIN, 1.0, knots=9, phase_one="designed")
    flat = Prior.on_knots(np.linspace(*DOMAIN, 9), np.ones(9), source="public")
    assert np.array_equal(plan.first.probabilities, design(flat, 1.0, uniform_share=0.0).mechanism.probabilities)


@pytest.mark.parametrize("shape", [(1, 1), (2, 5), (0.5, 0.5)])
def test_the_default_first_table_tells_more_of_a_mean_than_the_square_wave(shape):
    """At epsilon 0.5 the square wave's unbiased mean varies more, whichever of these the values are."""
    plan = TwoPhasePlan(DOMAIN, 0.5, knots=17)
    other = TwoPhasePlan(DOMAIN, 0.5, knots=17, phase_one="square-wave")
    place = (np.linspace(*DOMAIN, 17) - DOMAIN[0]) / (DOMAIN[1] - DOMAIN[0])
    weights = np.clip(place, 0.02, 0.98) ** (shape[0] - 1) * (1 - np.clip(place, 0.02, 0.98)) ** (shape[1] - 1)
    mine, theirs = (weights @ mean_decoder(made.first).knot_variances / weights.sum() for made in (plan, other))
    assert mine < theirs


def test_ones_own_first_table_is_used_as_it_is():
    table = exact(piecewise([-2, 1, 6], 0.5))
    assert TwoPhasePlan(DOMAIN, 1.0, knots=9, phase_one=table).first is table


@pytest.mark.sampled(2)
@pytest.mark.parametrize("estimator", [name for name in PRIOR_METHODS if name != "least-absolute"])
def test_the_prior_is_the_estimate_from_the_first_reports(estimator):
    plan = TwoPhasePlan(DOMAIN, 2.0, knots=17, estimator=estimator, units="points")
    first = plan.first.sample(VALUES, np.random.default_rng(2))
    prior = plan.learn(first)
    counts = ReportCounts.from_reports(plan.first, first)
    expected = estimate_distribution(counts, method=estimator, grid=InputGrid.knots(np.linspace(*DOMAIN, 17)))
    assert np.allclose(prior.weights, expected.value, atol=1e-12)
    assert prior.source == "private-report"
    assert prior.units == "points"
    assert prior.mean == pytest.approx(VALUES.mean(), abs=0.4)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["optimal", "duchi", "aaa", "square-wave"])
def test_the_design_is_for_the_prior_learnt_and_carries_nothing_else(method):
    plan = TwoPhasePlan(DOMAIN, 1.0, knots=9, method=method, uniform_share=0.01)
    first = plan.first.sample(VALUES[:500], np.random.default_rng(2))
    made = plan.second(first)
    expected = design(plan.learn(first), 1.0, method=method, uniform_share=0.01)
    assert np.array_equal(made.mechanism.probabilities, expected.mechanism.probabilities)
    assert made.mechanism.prior is not None
    assert made.mechanism.prior.source == "private-report"
    assert not verify(made.mechanism, epsilon=1.0).failures


@pytest.mark.parametrize("phase_one", ["square-wave", "grr", "designed"])
def test_both_means_are_combined_by_inverse_variance(phase_one):
    plan = TwoPhasePlan(DOMAIN, 1.0, knots=9, phase_one=phase_one)
    first, second, later = collected(plan)
    result = plan.finish(first, second, later)
    one, two = estimate_mean(count(plan.first, first)), estimate_mean(count(second.mechanism, later))
    precision = np.array([one.std_error, two.std_error]) ** -2.0
    assert result.value == pytest.approx(precision @ [one.value, two.value] / precision.sum(), rel=1e-12)
    assert result.std_error == pytest.approx(precision.sum() ** -0.5, rel=1e-12)
    assert result.first_weight == pytest.approx(precision[0] / precision.sum(), rel=1e-12)
    assert result.std_error < min(one.std_error, two.std_error)
    found = result.interval(0.9)
    assert (found.high - found.low) / 2 == pytest.approx(1.6448536269514722 * result.std_error, rel=1e-12)
    assert (found.high + found.low) / 2 == pytest.approx(result.value, abs=1e-12)
    assert (result.n, result.method, result.target) == (4000, "two-phase", "population")
    assert (result.first_mean, result.second_mean) == (one, two)


@pytest.mark.slow
def test_the_result_remembers_what_was_learnt():
    plan = TwoPhasePlan(DOMAIN, 1.0, knots=9, units="points")
    first, second, later = collected(plan)
    prior, learnt = plan.finish(first, second, later).prior, plan.learn(first)
    assert (prior.source, prior.units) == (learnt.source, learnt.units)
    for name in ("knots", "weights", "rounding"):  # divided by their sum once more
        np.testing.assert_allclose(getattr(prior, name), getattr(learnt, name), rtol=1e-15)


def test_a_first_table_without_an_unbiased_mean_is_left_out_of_the_mean():
    """Two outputs tell three knots apart by one number only, and its mean is bent."""
    bent = TabulatedMechanism.from_points([-2, 2, 6], [0, 1], [[0.6, 0.4], [0.6, 0.4], [0.4, 0.6]], 0.5)
    plan = TwoPhasePlan(DOMAIN, 1.0, knots=9, phase_one=exact(bent))
    first, second, later = collected(plan)
    result = plan.finish(first, second, later)
    alone = estimate_mean(count(second.mechanism, later))
    assert (result.value, result.std_error) == (alone.value, alone.std_error)
    assert (result.first_mean, result.first_weight, result.n) == (None, 0.0, 4000)


def test_the_first_mean_does_not_decode_by_the_prior_that_its_own_reports_taught():
    """A decoder chosen with the reports' help would be biased; that of the table alone is fixed beforehand."""
    rows = [[0.4, 0.3, 0.2, 0.1], [0.3, 0.3, 0.25, 0.15], [0.2, 0.15, 0.3, 0.35]]
    table = exact(TabulatedMechanism.from_points([-2, 2, 6], range(4), rows, 1.3))
    plan = TwoPhasePlan(DOMAIN, 1.3, knots=9, phase_one=table)
    first, second, later = collected(plan)
    found = plan.finish(first, second, later).first_mean
    assert found is not None
    assert found.method == "decoder"
    assert found.value == estimate_mean(count(plan.first, first)).value
    learnt = plan.learn(first).coarsened([-2, 2, 6]).weights
    assert found.value != pytest.approx(estimate_mean(count(plan.first, first), weights=learnt).value, rel=1e-6)


def test_reports_that_are_all_alike_do_not_take_all_the_weight():
    plan = TwoPhasePlan(DOMAIN, 1.0, knots=9, phase_one=exact(duchi(DOMAIN, 1.0)))
    _, second, later = collected(plan)
    alike = np.full(400, plan.first.high[0])
    result = plan.finish(alike, second, later)
    assert result.first_weight == 0.1
    assert result.std_error == pytest.approx(0.9 * result.second_mean.std_error, rel=1e-12)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"domain": (1.0, 1.0)}, "a range must be finite and have low < high"),
        ({"epsilon": 0.0}, "epsilon must be positive and finite, got 0.0"),
        ({"knots": 1}, "knots must be at least 2, got 1"),
        ({"phase_one": "best"}, "phase_one must be a mechanism or one of designed, laplace"),
        (
            {"phase_one": exact(duchi(DOMAIN, 1.5))},
            "the first table must keep within epsilon 1: the log-ratio must be at most 1, got 1.4999",
        ),
        ({"phase_one": exact(duchi([0, 1], 1.0))}, "the first table's domain must be (-2.0, 6.0), got (0.0, 1.0)"),
        (
            {"phase_one": replace(exact(duchi(DOMAIN, 0.9)), epsilon=0.5)},
            "the first table must keep within epsilon 1",
        ),
        ({"estimator": "ml"}, "estimator must be one of em, smooth, ems, mr, least-absolute, got 'ml'"),
        ({"method": "best"}, f"method must be one of {', '.join(NAMES)}, got 'best'"),
        ({"uniform_share": -0.1}, "the uniform share must lie in [0, 1], got -0.1"),
        ({"uniform_share": np.nan}, "the uniform share must lie in [0, 1], got nan"),
    ],
)
def test_a_bad_plan_is_one_line(options, says):
    with pytest.raises(InputError) as refusal:
        TwoPhasePlan(**{"domain": DOMAIN, "epsilon": 1.0, **options})
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)


class TestReports:
    PLAN = TwoPhasePlan(DOMAIN, 1.0, knots=9)

    def test_a_phase_needs_thirty_clients(self):
        first, second, later = collected(self.PLAN)
        with pytest.raises(InputError, match=r"the first phase needs at least 30 clients .*, got 29"):
            self.PLAN.second(first[:29])
        with pytest.raises(InputError, match=r"the first phase needs at least 30 clients .*, got 29"):
            self.PLAN.finish(first[:29], second, later)
        with pytest.raises(InputError, match=r"the second phase needs at least 30 clients .*, got 29"):
            self.PLAN.finish(first, second, later[:29])
        assert self.PLAN.finish(first[:30], second, later[:30]).n == 60

    def test_foreign_reports_are_counted(self):
        first, second, later = collected(self.PLAN)
        with pytest.raises(InputError, match="reports must be outputs of this table, got 1 of 400 that cannot be"):
            self.PLAN.second(np.append(first[:-1], 1e6))
        with pytest.raises(InputError, match="reports must be outputs of this table"):
            self.PLAN.finish(first, second, np.append(later, 1e6))


def test_a_broken_promise_of_ones_own_table_is_refused():
    """A table whose log-ratio is within the plan's budget, but beyond what it claims itself, is not trusted."""
    with pytest.raises(InputError, match="the first table must keep"):
        TwoPhasePlan(DOMAIN, 2.0, phase_one=replace(exact(square_wave(DOMAIN, 1.0)), epsilon=0.5))
