"""Every closed-form family against its formulas, its promise of privacy, and its limits."""

import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.mechanisms import FAMILIES, InputError, ptt2, verify
from optldp.mechanisms.families.grr import grr_variance
from optldp.mechanisms.families.square_wave import square_wave_half_width

NAMES = sorted(FAMILIES)
UNBIASED = sorted(set(FAMILIES) - {"square-wave", "grr"})
CLOSED_FORMS = sorted(set(FAMILIES) - {"grr"})
"""Families whose variance depends on the value alone; that of randomised response depends on the knots."""

KNOTS = np.linspace(-1, 1, 21)

budgets = st.floats(-5, 1.2).map(lambda power: 10**power)  # 1e-5 to 15.8
knot_lists = st.tuples(
    st.floats(-100, 100),
    st.floats(1e-3, 1e3),
    st.lists(st.integers(1, 1000), min_size=1, max_size=8),
).map(lambda case: case[0] + case[1] * np.cumsum([0, *case[2]]))


def closed_form(name, table, x, epsilon):
    """The variance on [-1, 1] by the formula beside the family; types I and II need the eta that the table chose."""
    family = FAMILIES[name]
    formula = getattr(importlib.import_module(family.__module__), f"{family.__name__}_variance")
    return formula(x, epsilon, *([table.provenance.parameters["eta"]] if name in ("ptt", "ptt2") else []))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60, deadline=None)
@given(knots=knot_lists, epsilon=budgets)
def test_a_table_verifies_for_any_knots_and_any_budget(name, knots, epsilon):
    """Rows sum to one, no ratio exceeds e^epsilon by even one bit, and unbiased means unbiased."""
    result = verify(FAMILIES[name](knots, epsilon))
    assert result.failures == ()
    assert result.max_row_sum_error < 1e-13


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 4.0, 16.0])
def test_the_budget_is_used_up(name, epsilon):
    """The margin for rounding costs at most 2e-12 of the budget."""
    found = verify(FAMILIES[name](KNOTS, epsilon)).max_log_ratio
    assert epsilon * (1 - 2e-12) - 1e-14 < found <= epsilon


@pytest.mark.parametrize("name", UNBIASED)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0, 16.0])
def test_the_mean_is_the_value(name, epsilon):
    """At knots and between them, to rounding."""
    table = FAMILIES[name](KNOTS, epsilon)
    x = np.linspace(-1, 1, 50)
    assert table.provenance.parameters["unbiased"] is True
    np.testing.assert_allclose(table.mean(x), x, atol=1e-13 * max(1, 10 / epsilon))


@pytest.mark.parametrize("name", CLOSED_FORMS)
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 0.61, 0.7, 1.0, 1.5, 2.0, 4.0, 10.0])
def test_the_variance_equals_its_closed_form(name, epsilon):
    """To 1e-10 relative at every knot."""
    table = FAMILIES[name](KNOTS, epsilon)
    expected = closed_form(name, table, KNOTS, epsilon)
    np.testing.assert_allclose(table.knot_variances, expected, rtol=1e-10)


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 10.0])
def test_randomised_response_has_its_closed_form(epsilon):
    """Its variance depends on the knots themselves."""
    knots = np.array([0.0, 1.0, 5.0, 6.5])
    table = FAMILIES["grr"](knots, epsilon)
    np.testing.assert_allclose(table.knot_variances, grr_variance(knots, epsilon), rtol=1e-10)
    mean = np.exp(epsilon) * knots + knots.sum() - knots
    np.testing.assert_allclose(table.knot_means, mean / (np.exp(epsilon) + 3), rtol=1e-10)


def test_the_square_wave_has_its_affine_mean():
    """q / 2 + q b + 2 b (p - q) x on [0, 1], Li et al. (2020)."""
    epsilon, x = 1.5, np.linspace(0, 1, 7)
    table = FAMILIES["square-wave"](x, epsilon)
    b = table.provenance.parameters["half_width"]
    ratio = np.exp(epsilon)
    assert b == pytest.approx((epsilon * ratio - ratio + 1) / (2 * ratio * (ratio - 1 - epsilon)), rel=1e-14)
    low = 1 / (2 * b * ratio + 1)
    np.testing.assert_allclose(table.mean(x), low / 2 + low * b + 2 * b * low * (ratio - 1) * x, rtol=1e-11)


def test_the_half_width_of_the_square_wave_is_smooth_where_its_series_ends():
    """Series and closed form meet at a budget of one, and the limit of no privacy budget is 1 / 2."""
    below, at = square_wave_half_width(np.nextafter(1.0, 0)), square_wave_half_width(1.0)
    assert below == pytest.approx(at, rel=1e-14)
    assert square_wave_half_width(1e-6) == pytest.approx(0.5, abs=1e-6)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=20, deadline=None)
@given(scale=st.floats(1e-3, 1e3), shift=st.floats(-10, 10), epsilon=st.floats(0.05, 8))
def test_changing_the_units_changes_nothing_else(name, scale, shift, epsilon):
    """A family on scaled knots is the scaled family: equal probabilities, scaled outputs."""
    plain, scaled = FAMILIES[name](KNOTS, epsilon), FAMILIES[name](scale * KNOTS + shift, epsilon)
    if plain.low.size == scaled.low.size:  # edges may coincide in one of the two units only
        expected = plain.affine(scale, shift)
        size = scale + abs(shift)
        np.testing.assert_allclose(scaled.low, expected.low, atol=1e-12 * size / epsilon)
        np.testing.assert_allclose(scaled.high, expected.high, atol=1e-12 * size / epsilon)
        np.testing.assert_allclose(scaled.probabilities, expected.probabilities, atol=1e-10)
    np.testing.assert_allclose(scaled.knot_variances, scale**2 * plain.knot_variances, rtol=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_more_budget_never_hurts(name):
    """Worst-case variance falls with epsilon, for reports decoded by the affine mean."""
    worst = []
    for epsilon in np.geomspace(0.05, 12, 25):
        table = FAMILIES[name]([-1, 1], epsilon)
        slope = np.diff(table.knot_means)[0] / 2
        worst.append(table.worst_case_variance()[0] / slope**2)
    assert np.all(np.diff(worst) < 0)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("epsilon", [1e-6, 16.0])
@pytest.mark.parametrize("knots", [[0.0, 1.0], [1e6, 1e6 + 0.25, 1e6 + 1], np.linspace(-1, 1, 401)])
def test_the_limits_of_the_budget_and_of_the_knots_hold(name, epsilon, knots):
    """Smallest and largest epsilon; two knots, far-off units, many knots."""
    table = FAMILIES[name](knots, epsilon)
    assert not verify(table).failures
    reports = table.sample(np.repeat(knots, 3), np.random.default_rng(0))
    assert np.isfinite(reports).all()
    assert table.output_index(reports).min() >= 0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("epsilon", [0, -1.0, np.nan, np.inf, 17.0, "much"])
def test_a_useless_budget_is_refused(name, epsilon):
    """With the requirement and the value in the message."""
    with pytest.raises(InputError, match="epsilon must be"):
        FAMILIES[name]([0, 1], epsilon)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("knots", [[], [1.0], [1.0, 1.0], [2.0, 1.0], [0.0, np.nan], [[0, 1], [2, 3]], ["a", "b"]])
def test_useless_knots_are_refused(name, knots):
    """Fewer than two, repeated, falling, missing, or not a list of numbers."""
    with pytest.raises(InputError, match="knots must"):
        FAMILIES[name](knots, 1.0)


@pytest.mark.parametrize("name", ["ptt", "ptt2"])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_windows_that_meet_exactly_leave_no_trace_in_privacy_or_sums(name, epsilon):
    """With eta = 3 neighbouring windows of this grid share edges, up to rounding of the knots."""
    for n in (3, 5, 11, 101):
        result = verify(FAMILIES[name].__call__(np.linspace(-1, 1, n), epsilon, eta=3.0))  # type: ignore[call-arg]
        assert not result.failures
        assert result.max_row_sum_error < 1e-14


def test_cells_too_thin_for_the_units_become_points_and_keep_their_mass():
    """Knots that are neighbouring doubles: many edges coincide in the user's units, some three at a time."""
    knots = 1e15 + np.arange(33.0) / 8
    for name in NAMES:
        assert verify(FAMILIES[name](knots, 1.0)).max_row_sum_error < 1e-14
    table = ptt2(knots, 16.0)
    assert verify(table).max_row_sum_error < 1e-14
    assert np.any(table.low == table.high)
    assert table.low.size < ptt2(knots - 1e15, 16.0).low.size


def test_tent_density_integrates_to_its_masses():
    """Type II: mass and mean of every cell by Gauss-Legendre quadrature of the density itself."""
    epsilon, eta = 1.2, 2.7
    knots = np.array([-1.0, -0.4, 0.3, 1.0])
    table = ptt2(knots, epsilon, eta=eta)
    ratio = np.exp(epsilon)
    stretch = (ratio - 1 + 2 * eta) / (ratio - 1)
    half_width = stretch / (eta - 1)
    base = 1 / (2 * eta * half_width + half_width * (ratio - 1))
    node, weight = np.polynomial.legendre.leggauss(4)
    y = table.low[:, None] + (node + 1) / 2 * (table.high - table.low)[:, None]
    for i, x in enumerate(knots):
        density = base * (1 + (ratio - 1) * np.maximum(0, 1 - np.abs(y - stretch * x) / half_width))
        mass = density @ weight * (table.high - table.low) / 2
        mean = (density * y) @ weight * (table.high - table.low) / 2 / mass
        np.testing.assert_allclose(table.probabilities[i], mass, rtol=1e-11)
        np.testing.assert_allclose(table.output_mean[i], mean, atol=1e-11)
