"""Sets of priors in the user's units: what they hold, when they hold everything, and what rounding does to them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.designer import BoxAmbiguity, Prior, RelativeAmbiguity, TotalVariationAmbiguity, WassersteinAmbiguity
from optldp.designer.priors.ambiguity import AMBIGUITIES, Ambiguity
from optldp.mechanisms import InputError
from scipy.stats import wasserstein_distance

KNOTS = np.array([0.0, 10.0, 30.0, 50.0])
PRIOR = Prior.on_knots(KNOTS, [0.1, 0.4, 0.3, 0.2], source="public")


def reaches(ambiguity: Ambiguity, prior: Prior = PRIOR) -> np.ndarray:
    """The largest weight that a member has at each knot: all ones where every prior is a member."""
    priors = ambiguity.around(prior)
    return np.array([priors.largest(unit)[0] for unit in np.eye(prior.knots.size)])


def test_relative_bounds_are_shares_of_each_weight():
    np.testing.assert_allclose(reaches(RelativeAmbiguity(0.2)), 1.2 * PRIOR.weights)
    worst = RelativeAmbiguity(0.5).around(PRIOR).largest(np.array([4.0, 1.0, 1.0, 0.0]))[1]
    np.testing.assert_allclose(worst, [0.15, 0.5, 0.25, 0.1], atol=0.11)
    assert np.all(np.abs(worst - PRIOR.weights) <= 0.5 * PRIOR.weights * (1 + 1e-12))
    assert worst.sum() == pytest.approx(1)


def test_a_total_variation_radius_is_the_share_that_may_be_elsewhere():
    np.testing.assert_allclose(reaches(TotalVariationAmbiguity(0.25)), np.minimum(PRIOR.weights + 0.25, 1))


def test_a_wasserstein_radius_is_in_the_units_of_the_knots():
    """One unit of travel on average brings a tenth of the mass over the first gap of ten."""
    assert reaches(WassersteinAmbiguity(1.0))[0] == pytest.approx(0.2)
    metres = Prior.on_knots(KNOTS / 1000 + 7, PRIOR.weights, source="public")
    np.testing.assert_allclose(reaches(WassersteinAmbiguity(3e-3), metres), reaches(WassersteinAmbiguity(3.0)))


def test_a_box_is_taken_as_it_is():
    box = BoxAmbiguity([0.0, 0.3, 0.2, 0.0], [0.2, 0.5, 0.5, 0.3])
    np.testing.assert_allclose(reaches(box), [0.2, 0.5, 0.5, 0.3])


@pytest.mark.parametrize(
    ("kind", "limit"),
    # 1 - min p; the farthest end from the mean, 23 of 50; a point mass at the rarest knot, (1 + psi) / 10 = 1.
    [(TotalVariationAmbiguity, 0.9), (WassersteinAmbiguity, 27.0), (RelativeAmbiguity, 9.0)],
)
def test_every_prior_is_contained_from_the_exact_radius_on(kind, limit):
    above, below = kind(limit * (1 + 1e-9)), kind(limit * (1 - 1e-6))
    assert above.contains_every(PRIOR)
    np.testing.assert_allclose(reaches(above), 1, atol=1e-8)
    assert not below.contains_every(PRIOR)
    assert reaches(below).min() < 1 - 1e-8


def test_only_the_whole_box_contains_every_prior():
    assert BoxAmbiguity(np.zeros(4), np.ones(4)).contains_every(PRIOR)
    assert not BoxAmbiguity([0, 0, 0, 1e-6], np.ones(4)).contains_every(PRIOR)
    assert not BoxAmbiguity(np.zeros(4), [1, 1, 1, 1 - 1e-6]).contains_every(PRIOR)


def test_a_relative_error_never_reaches_a_knot_without_mass():
    sparse = Prior.on_knots(KNOTS, [0, 1, 1, 0], source="public")
    assert not RelativeAmbiguity(1e308).contains_every(sparse)
    np.testing.assert_allclose(reaches(RelativeAmbiguity(1e308), sparse), [0, 1, 1, 0], atol=1e-12)


def test_single_priors_are_told():
    point = Prior.on_knots(KNOTS, [0, 1, 0, 0], source="public")
    for kind in AMBIGUITIES.values():
        assert kind(0.0).is_single(PRIOR)
        assert not kind(1e-3).is_single(PRIOR)
    assert RelativeAmbiguity(0.5).is_single(point)
    assert not TotalVariationAmbiguity(0.5).is_single(point)
    assert BoxAmbiguity(PRIOR.weights, PRIOR.weights).is_single(PRIOR)
    assert BoxAmbiguity(PRIOR.weights, np.ones(4)).is_single(PRIOR)
    assert BoxAmbiguity([0.1, 0.3, 0.3, 0.2], [0.1, 0.5, 0.3, 0.2]).is_single(PRIOR)
    assert not BoxAmbiguity([0.1, 0.3, 0.2, 0.2], [0.1, 0.5, 0.4, 0.2]).is_single(PRIOR)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1))
def test_rounding_brings_priors_no_farther_apart_than_the_values(seed):
    """So a ball of data sets is in the ball of knot priors: both distances shrink under random rounding."""
    rng = np.random.default_rng(seed)
    one, two = rng.uniform(0, 50, (2, 40))
    two[:25] = one[:25]
    priors = [Prior.from_data(values, knots=KNOTS, source="public") for values in (one, two)]
    around = WassersteinAmbiguity(wasserstein_distance(one, two)).around(priors[0])
    assert around.distance(priors[1].weights) <= around.radius * (1 + 1e-9)
    assert 0.5 * np.abs(priors[0].weights - priors[1].weights).sum() <= 15 / 40 + 1e-12


@pytest.mark.parametrize("value", [-0.1, np.nan, np.inf, "far", None])
@pytest.mark.parametrize("kind", AMBIGUITIES.values())
def test_a_bad_radius_is_one_line(kind, value):
    with pytest.raises(InputError, match=r"psi must be|radius must be") as refusal:
        kind(value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("low", "high", "says"),
    [
        ([0.5, 0.6], [0.6, 0.7], "sum of 1"),
        ([0.1, 0.1], [0.2, 0.2], "sum of 1"),
        ([0.3, 0.1], [0.2, 0.9], "low <= high"),
        ([-0.1, 0.1], [0.2, 0.9], "low must be one bound within"),
        ([0.1, 0.1], [np.nan, 0.9], "high must be one bound within"),
        ([0.1, 0.1, 0.1], [0.9, 0.9], "as many, got 3 and 2"),
        ([0.1, 0.1], [0.9, 0.9], "as many as the 4 knots, got 2"),
    ],
)
def test_bad_bounds_are_one_line(low, high, says):
    with pytest.raises(InputError, match=says) as refusal:
        BoxAmbiguity(low, high).around(PRIOR)
    assert "\n" not in str(refusal.value)


def test_labels_say_what_they_are():
    assert [kind(0.25).label for kind in AMBIGUITIES.values()] == [
        "weights within 0.25 of themselves",
        "total variation 0.25",
        "Wasserstein-1 distance 0.25",
    ]
