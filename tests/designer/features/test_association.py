"""Correlations by one feature a user: n times the variance is what the theory says, and intervals hold."""

# Each case knows which kind of mechanism it made; the types say only that it is one of two.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportCallIssue=false

import math

import numpy as np
import pytest
from optldp.designer.features import Pilot, design_association, people_of, split_variance
from optldp.designer.features.design import feature_prior
from optldp.estimators.features import estimate_features
from optldp.mechanisms import InputError
from optldp.mechanisms.features import Quadratic

BOX = {"x": (-1.0, 1.0), "y": (-1.0, 1.0)}
EVEN = np.linspace(-1, 1, 17)
GRID = np.array([(x, y) for x in EVEN for y in EVEN])


def gaussian(rho=0.5, sd=1 / 3):
    x, y = GRID.T
    return Pilot(("x", "y"), GRID, np.exp(-(x * x - 2 * rho * x * y + y * y) / (2 * sd**2 * (1 - rho**2))))


@pytest.mark.parametrize(("epsilon", "expected"), [(1, 4.683), (2, 1.724), (4, 1.0760)])
def test_a_product_of_signs_costs_what_its_closed_form_says(epsilon, expected):
    signs = Pilot(("x", "y"), [[a, b] for a in (-1, 1) for b in (-1, 1)])
    made = design_association("correlation", BOX, epsilon, signs, clip=math.inf, uniform_share=0.0)
    assert made.variances[0] == pytest.approx(1 / math.tanh(epsilon / 2) ** 2, rel=1e-5)
    assert made.variances[0] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(("epsilon", "even", "influence", "ranks"), [(1, 27.2, 295.8, 33.8), (4, 1.57, 5.29, 1.6)])
def test_columns_of_17_values_cost_what_was_derived(epsilon, even, influence, ranks):
    def cost(pilot, **more):
        return design_association("correlation", BOX, epsilon, pilot, clip=math.inf, uniform_share=0.0, **more)

    assert cost(Pilot(("x", "y"), GRID)).variances[0] == pytest.approx(even, rel=0.02)
    assert cost(gaussian()).variances[0] == pytest.approx(influence, rel=0.02)
    assert cost(gaussian(), rank=True).variances[0] == pytest.approx(ranks, rel=0.04)


@pytest.mark.parametrize(("epsilon", "split"), [(1, 1906.9), (2, 130.6), pytest.param(4, 9.6, marks=pytest.mark.slow)])
def test_half_the_budget_for_each_column_costs_what_was_derived(epsilon, split):
    found = split_variance(Pilot(("x", "y"), GRID), BOX, epsilon, clip=math.inf, uniform_share=0.0)
    assert found == pytest.approx(split, rel=0.005)


def test_the_influence_function_finds_a_correlation_that_is_not_the_pilots():
    made = design_association("correlation", BOX, 4.0, gaussian(0.5), clip=math.inf)
    rng, truth = np.random.default_rng(5), gaussian(0.6)
    records = truth.records[rng.choice(len(GRID), 20_000, p=truth.weights)]
    found = estimate_features(made.mechanism, made.mechanism.sample(records, rng))
    assert found.low[0] < np.corrcoef(records.T)[0, 1] < found.high[0]
    assert found.std_error[0] == pytest.approx(made.std_errors(20_000)[0], rel=0.25)


@pytest.mark.parametrize("target", ["correlation", "covariance"])
def test_moments_find_it_without_a_pilot(target):
    made = design_association(target, {"x": (0.0, 20.0), "y": (0.0, 80.0)}, 4.0)
    rng, law = np.random.default_rng(3), gaussian()
    records = (law.records[rng.choice(len(GRID), 20_000, p=law.weights)] + 1) * [10.0, 40.0]
    found = estimate_features(made.mechanism, made.mechanism.sample(records, rng))
    truth = {"correlation": np.corrcoef, "covariance": np.cov}[target](records.T)[0, 1]
    assert found.low[0] < truth < found.high[0]
    assert found.high[0] - found.low[0] < {"correlation": 0.3, "covariance": 40}[target]


def test_the_bias_of_a_cut_covariance_is_in_its_own_units():
    """Scaled twice, where deviations of columns are below one, it left intervals that held in a third of the runs."""
    made, law = design_association("covariance", BOX, 4.0, gaussian()), gaussian()
    scale = np.sqrt(np.prod(np.diag(law.covariance)))
    off = scale * law.weights @ made.mechanism.values_of(law.records, 0) - law.covariance[0, 1]
    assert made.bias_low[0] <= off <= made.bias_high[0]
    assert off < -0.01 * law.covariance[0, 1]
    rng = np.random.default_rng(6)
    records = law.records[rng.choice(len(GRID), 5_000, p=law.weights)]
    found = estimate_features(made.mechanism, made.mechanism.sample(records, rng))
    noise = 1.959964 * found.std_error[0]
    ends = found.value[0] - noise - made.bias_high[0], found.value[0] + noise - made.bias_low[0]
    assert (found.low[0], found.high[0]) == pytest.approx(ends, rel=1e-5)


@pytest.mark.nightly
def test_a_clip_chosen_for_many_people_is_wider_than_one_for_few():
    few, many = (design_association("correlation", BOX, 1.0, gaussian(), users=n) for n in (1_000, 100_000_000))
    assert few.variances[0] < many.variances[0]
    assert few.bias_high[0] > many.bias_high[0]


def test_a_clipped_feature_says_how_far_its_target_may_be_off():
    made = design_association("correlation", BOX, 1.0, gaussian(), clip=1.5)
    psi, law = made.mechanism, gaussian()
    told = psi.told["reference"] + law.weights @ psi.values_of(law.records, 0)
    assert made.bias_low[0] <= told - psi.told["reference"] <= made.bias_high[0]
    assert told != pytest.approx(psi.told["reference"], abs=1e-6)


def test_people_are_those_of_a_standard_error_and_of_both_sides():
    made = design_association("correlation", BOX, 1.0, gaussian(), clip=math.inf, uniform_share=0.0)
    told = people_of(made, None, 0.05)
    assert told["people_within"] == pytest.approx(455_000, rel=0.02)
    assert told["people"] == math.ceil(made.variances[0] / 0.05**2)


@pytest.mark.parametrize(
    ("box", "pilot", "more", "says"),
    [
        ({"x": (-1, 1)}, None, {}, "is of two columns, got 1"),
        (BOX, Pilot(("x", "z"), GRID), {}, "a pilot must be of x, y, got x, z"),
        ({**BOX, "y": (-1.0, 0.5)}, Pilot(("x", "y"), GRID), {}, "column 'y' must lie within -1 to 0.5"),
        (BOX, None, {"rank": True}, "ranks are by public distribution functions"),
        (BOX, Pilot(("x", "y"), GRID), {"clip": 0.0}, "the clip must be positive"),
    ],
)
def test_bad_input_is_one_line(box, pilot, more, says):
    with pytest.raises(InputError, match=says):
        design_association("correlation", box, 1.0, pilot, **more)


def test_a_constant_column_is_refused_by_name():
    with pytest.raises(InputError, match="column 'y' must vary, got 2 alone"):
        Pilot(("x", "y"), [[0, 2], [1, 2]])


def test_values_of_a_feature_that_differ_by_rounding_are_one_knot():
    """Of this one there were two knots 2e-16 apart at an end, which no program takes."""
    psi = Quadratic([0, 0], [1 / 3, 1 / 3], 0.0, [0, 0], [[-0.3, 0.5], [0.5, -0.3]])
    ends = np.full(2, 2 / 3)
    values = psi.of(np.clip(GRID, -ends, ends))
    assert np.diff(feature_prior(values, np.ones(len(GRID)), psi.extremes(-ends, ends)).knots).min() > 1e-3
