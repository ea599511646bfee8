"""The split of a budget: the variance it is judged by, and that nothing tried is better."""

import math

import numpy as np
import pytest
from optldp.mechanisms import InputError, Provenance, TabulatedMechanism, duchi, piecewise, square_wave
from optldp.mechanisms.key_value import best_key_value, key_value_response, key_value_unary
from optldp.mechanisms.key_value.choice import key_mean_variance
from optldp.mechanisms.key_value.response import KeyValueResponse
from optldp.mechanisms.key_value.unary import KeyValueUnary
from optldp.mechanisms.table.knot_prior import KnotPrior


def published_variance(mechanism, eps_value, frequency, x):
    """PCKV's estimator by its 2 x 2 matrix: the variance of n m for users with value x, outcome by outcome."""
    a, b = mechanism.own_shown, mechanism.other_shown
    p = math.exp(eps_value) / (1 + math.exp(eps_value))
    solve = np.linalg.inv([[a * p - b / 2, a * (1 - p) - b / 2], [a * (1 - p) - b / 2, a * p - b / 2]])
    total = 0.0
    up = (1 + x) / 2 * p + (1 - x) / 2 * (1 - p)
    for outcome in ([1, 0], [0, 1], [0, 0]):
        plus, minus = solve @ (np.array(outcome) - b / 2)
        residual = (plus - minus) - x * (plus + minus)
        own = a * (up if outcome[0] else 1 - up) if any(outcome) else 1 - a
        other = b / 2 if any(outcome) else 1 - b
        total += (frequency * own + (1 - frequency) * other) * residual**2
    return total / frequency**2


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("unary", [True, False])
@pytest.mark.parametrize("frequency", [0.02, 0.5, 1.0])
def test_the_variance_is_that_of_the_published_estimator(epsilon, unary, frequency):
    """Averaged over the knots, by the prior if there is one; in squared units."""
    make = key_value_unary if unary else key_value_response
    values = duchi([-1.0, 0.2, 1.0], epsilon)
    made = make(range(4), values, epsilon)
    each = [published_variance(made, epsilon, frequency, x) for x in (-1.0, 0.2, 1.0)]
    assert key_mean_variance(made, frequency) == pytest.approx(np.mean(each), rel=1e-9)
    prior = KnotPrior(np.array([0.2, 0.5, 0.3]), np.zeros(2), "public")
    weighted = make(range(4), values.with_prior(prior), epsilon)
    assert key_mean_variance(weighted, frequency) == pytest.approx(np.dot([0.2, 0.5, 0.3], each), rel=1e-9)
    wide = make(range(4), duchi([10.0, 22.0, 30.0], epsilon), epsilon)
    assert key_mean_variance(wide, frequency) == pytest.approx(100 * np.mean(each), rel=1e-9)


@pytest.mark.parametrize("unary", [True, False])
def test_a_fake_law_off_the_middle_is_allowed_for(unary):
    """Outputs of unequal weight: frequencies and sums by solving the two expectations as a linear system."""
    matrix, outputs = np.array([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]]), np.array([-5.0, 0.0, 30.0]) / 14
    unbiased = Provenance("by hand", {"unbiased": True})
    value = TabulatedMechanism.from_points([0.0, 1.0], outputs, matrix, 1.62, provenance=unbiased)
    made = (key_value_unary if unary else key_value_response)(range(3), value, 2.0)
    a, b, fake = made.own_shown, made.other_shown, made.fake_law
    other = np.array([b, b * fake @ outputs])  # expected: shown, and the sum of what is shown
    solve = np.linalg.inv(np.array([[a - b, 0.0], [-other[1], a]]))
    total = 0.0
    for x, row in zip((0.0, 1.0), matrix, strict=True):
        laws = 0.3 * np.append(a * row, 1 - a) + 0.7 * np.append(b * fake, 1 - b)
        facts = np.array([[1.0, y] for y in outputs] + [[0.0, 0.0]])
        residuals = [np.array([-x, 1.0]) @ solve @ (fact - other) for fact in facts]
        assert laws @ residuals == pytest.approx(0.0, abs=1e-12)
        total += laws @ np.square(residuals) / 0.3**2 / 2
    assert key_mean_variance(made, 0.3) == pytest.approx(total, rel=1e-9)


@pytest.mark.nightly
@pytest.mark.parametrize("unary", [True, False])
def test_the_choice_is_the_best_of_many(unary):
    """Against a finer set of splits, which it may miss by a percent; the budget is spent."""
    epsilon, knots = 4.0, np.linspace(-1.0, 1.0, 9)
    made = best_key_value(range(6), lambda budget: piecewise(knots, budget), epsilon, unary=unary)
    assert isinstance(made, KeyValueUnary if unary else KeyValueResponse)
    assert 0 <= epsilon - made.max_log_ratio < 1e-12
    shares, owns = np.linspace(0.3, 0.999, 12), np.linspace(0.45, 0.8, 8) if unary else [None]
    others = []
    for share in shares:
        for own in owns:
            given = {} if own is None else {"own_shown": own}
            make = key_value_unary if unary else key_value_response
            others.append(key_mean_variance(make(range(6), piecewise(knots, share * epsilon), epsilon, **given), 1 / 6))
    assert key_mean_variance(made, 1 / 6) < 1.01 * min(others)
    assert made.value.epsilon < 0.95 * epsilon


@pytest.mark.slow
def test_stochastic_rounding_takes_the_whole_budget_and_is_shown_more_often():
    """As PCKV has it but for a = 1/2, which is the best for the frequency, not for the mean."""
    knots = np.linspace(0.0, 1.0, 9)
    made = best_key_value(range(10), lambda budget: duchi(knots, budget), 1.0)
    assert made.value.epsilon == pytest.approx(1.0, rel=1e-8)
    assert made.own_shown == pytest.approx(0.65)
    plain = key_value_unary(range(10), duchi(knots, 1.0), 1.0)
    assert 0.9 < key_mean_variance(made, 0.1) / key_mean_variance(plain, 0.1) < 0.95


def test_padding_lets_the_value_have_more_than_the_whole_budget():
    made = best_key_value(range(10), lambda budget: duchi([0.0, 1.0], budget), 1.0, unary=False, padding=3)
    assert made.value.epsilon == pytest.approx(math.log1p(3 * math.expm1(1.0)), rel=1e-8)
    assert made.padding == 3
    assert 0 <= 1.0 - made.max_log_ratio < 1e-8


@pytest.mark.nightly
def test_another_frequency_is_another_choice():
    """Where everybody holds the key, fakes do not matter."""

    def family(budget):
        return piecewise(np.linspace(-1, 1, 9), budget)

    rare, common = (best_key_value(range(4), family, 3.0, frequency=f) for f in (0.01, 1.0))
    assert key_mean_variance(rare, 0.01) < key_mean_variance(common, 0.01)
    assert key_mean_variance(common, 1.0) < key_mean_variance(rare, 1.0)


def test_what_cannot_be_judged_is_refused():
    made = key_value_unary(range(4), square_wave([0.0, 0.5, 1.0], 1.0), 1.0)
    with pytest.raises(InputError, match="must be unbiased, got 'square-wave'"):
        key_mean_variance(made, 0.5)
    for frequency in (0.0, 1.1, float("nan")):
        with pytest.raises(InputError, match=r"frequency must lie in \(0, 1\]"):
            best_key_value(range(4), lambda budget: duchi([0.0, 1.0], budget), 1.0, frequency=frequency)
