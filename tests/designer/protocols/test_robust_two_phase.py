"""Two phases whose second table is robust: designed for all that the first reports do not rule out."""

import numpy as np
import pytest
from optldp.designer import Design, Guarantee, Prior, TwoPhasePlan, WorstCase, confidence_region, design, two_phase
from optldp.estimators import count, estimate_mean
from optldp.mechanisms import InputError, grr, piecewise, verify
from optldp.mechanisms.exactness.make_exact import exact_if_possible as exact

DOMAIN = (-2.0, 6.0)
KNOTS = np.linspace(*DOMAIN, 9)
VALUES = np.random.default_rng(11).normal(0.5, 0.6, 6000).clip(*DOMAIN)


def designed(plan: TwoPhasePlan, clients: int = 3000) -> tuple[np.ndarray, Design]:
    first = plan.first.sample(VALUES[:clients], np.random.default_rng(2))
    made = plan.second(first)
    assert isinstance(made.objective, Guarantee)
    return first, made


@pytest.mark.slow
@pytest.mark.parametrize("phase_one", ["square-wave", "grr", "designed"])
def test_the_design_is_for_the_region_of_the_first_reports(phase_one):
    plan = TwoPhasePlan(DOMAIN, 2.0, knots=9, phase_one=phase_one, robust_confidence=0.9)
    first, made = designed(plan)
    learnt = plan.learn(first)
    region = confidence_region(plan.first, first, KNOTS, 0.9)
    assert made.value == region.around(learnt).largest(made.mechanism.knot_variances)[0]
    assert made.objective.ambiguity.label == "confidence region at 0.9 of 3000 reports"
    assert made.gap < 2e-6
    assert not made.evidence.is_minimax
    assert not verify(made.mechanism, epsilon=2.0).failures
    assert made.mechanism.prior is not None
    assert made.mechanism.prior.source == "private-report"
    np.testing.assert_array_equal(made.mechanism.prior.weights, learnt.weights)
    assert made.expected_variance == made.mechanism.expected_variance(learnt.knot_prior)


@pytest.mark.nightly
def test_it_is_compared_with_the_design_that_would_have_been_made():
    robust = TwoPhasePlan(DOMAIN, 2.0, knots=9, uniform_share=0.01, robust_confidence=0.9)
    first, made = designed(robust)
    plain = TwoPhasePlan(DOMAIN, 2.0, knots=9, uniform_share=0.01).second(first)
    assert isinstance(plain, Design)
    assert made.evidence.nominal_variance == pytest.approx(plain.expected_variance, rel=1e-12)
    largest = confidence_region(robust.first, first, KNOTS, 0.9).around(robust.learn(first)).largest
    assert made.evidence.nominal_guarantee == pytest.approx(largest(plain.mechanism.knot_variances)[0], rel=1e-12)
    assert made.value < made.evidence.nominal_guarantee


@pytest.mark.slow
def test_without_the_option_nothing_changes():
    plan = TwoPhasePlan(DOMAIN, 1.0, knots=9)
    first = plan.first.sample(VALUES[:500], np.random.default_rng(2))
    made = plan.second(first)
    assert not isinstance(made.objective, Guarantee)
    np.testing.assert_array_equal(made.mechanism.probabilities, design(plan.learn(first), 1.0).mechanism.probabilities)


@pytest.mark.nightly
def test_reports_that_say_nothing_lead_to_the_minimax_and_it_says_so():
    plan = TwoPhasePlan(DOMAIN, 0.2, knots=9, robust_confidence=0.95)
    _, made = designed(plan, 40)
    assert made.evidence.is_minimax
    assert made.objective.ambiguity.label == "every prior: 40 reports rule out none at confidence 0.95"
    assert made.value == pytest.approx(
        design(Prior.even(KNOTS), 0.2, objective=WorstCase()).evidence.worst_knot_variance, rel=3e-6
    )


@pytest.mark.slow
def test_reports_that_contradict_every_prior_lead_to_the_minimax_and_it_says_so():
    plan = TwoPhasePlan(DOMAIN, 0.5, knots=9, phase_one="grr", robust_confidence=0.95)
    made = plan.second(np.full(5000, plan.first.low[3]))
    assert isinstance(made.objective, Guarantee)
    assert made.evidence.is_minimax
    assert made.objective.ambiguity.label == "every prior: 5000 reports contradict them all at confidence 0.95"


@pytest.mark.nightly
def test_the_mean_is_combined_as_always():
    plan = TwoPhasePlan(DOMAIN, 1.0, knots=9, robust_confidence=0.95)
    first, made = designed(plan, 600)
    later = made.mechanism.sample(VALUES[600:], np.random.default_rng(3))
    result = plan.finish(first, made, later)
    assert result.design is made
    assert result.second_mean == estimate_mean(count(made.mechanism, later))
    np.testing.assert_allclose(result.prior.weights, plan.learn(first).weights, rtol=1e-14)  # products, anew
    assert abs(result.value - VALUES.mean()) < 4 * result.std_error


@pytest.mark.nightly
def test_the_protocol_hands_the_option_on():
    result = two_phase(
        VALUES, 2.0, domain=DOMAIN, knots=9, rng=np.random.default_rng(1), robust_confidence=0.9, share=0.3
    )
    assert isinstance(result.design.objective, Guarantee)
    assert result.design.objective.ambiguity.label == "confidence region at 0.9 of 1800 reports"
    assert result.interval().low < VALUES.mean() < result.interval().high


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"robust_confidence": 1.0}, "robust_confidence must lie strictly between 0 and 1, got 1.0"),
        ({"robust_confidence": np.nan}, "robust_confidence must lie strictly between 0 and 1, got nan"),
        ({"robust_confidence": 0.9, "method": "duchi"}, "robust_confidence is an option of the method optimal"),
        (
            {"robust_confidence": 0.9, "phase_one": exact(piecewise([-2, 0.3, 6], 0.5))},
            "knots must hold those of the first table, but 0.3 is not among them",
        ),
    ],
)
def test_a_plan_that_cannot_be_robust_is_refused_before_anyone_reports(options, says):
    with pytest.raises(InputError, match=says):
        TwoPhasePlan(DOMAIN, 1.0, knots=9, **options)


@pytest.mark.slow
def test_ones_own_table_on_some_of_the_knots_will_do():
    plan = TwoPhasePlan(DOMAIN, 2.0, knots=9, phase_one=exact(grr([-2, 0, 2, 6], 2.0)), robust_confidence=0.9)
    _, made = designed(plan)
    assert made.gap < 2e-6
    assert not made.evidence.is_minimax
