"""What follows from estimated weights: means, variances, probabilities, quantiles and their intervals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.estimators import DistributionEstimate, InputGrid
from optldp.mechanisms import InputError
from optldp.solvers import MixtureFit, Stop
from scipy.special import ndtri

FIT = MixtureFit(np.ones(1), -1.0, 0.0, 0.0, 1, "em", Stop.CERTIFICATE)


def estimated(grid: InputGrid, weights, covariance=None) -> DistributionEstimate:
    weights = np.asarray(weights, dtype=np.float64)
    if covariance is None:
        covariance = (np.diag(weights) - np.outer(weights, weights)) / 1000
    return DistributionEstimate(grid, weights, covariance, 1000, "em", FIT, grid.size)


@st.composite
def estimates(draw) -> DistributionEstimate:
    gaps = draw(st.lists(st.floats(0.1, 2.0), min_size=1, max_size=8))
    weights = np.array(draw(st.lists(st.floats(0.01, 1.0), min_size=len(gaps), max_size=len(gaps))))
    edges = draw(st.floats(-10.0, 10.0)) + np.concatenate([[0.0], np.cumsum(gaps)])
    return estimated(InputGrid.cells(edges), weights / weights.sum())


CELLS = InputGrid.cells([0.0, 1.0, 2.0, 4.0])
WEIGHTS = np.array([0.2, 0.5, 0.3])


def test_mean_and_variance_are_those_of_the_points():
    """Sums over components, with the delta method's standard errors for a multinomial's covariance."""
    found = estimated(CELLS, WEIGHTS)
    points = np.array([0.5, 1.5, 3.0])
    centre = WEIGHTS @ points
    squared = (points - centre) ** 2
    mean, variance = found.mean(), found.variance()
    assert mean.value == pytest.approx(centre)
    assert mean.std_error == pytest.approx(np.sqrt(WEIGHTS @ squared / 1000))
    assert (mean.n, mean.method, mean.target) == (1000, "em", "population")
    assert variance.value == pytest.approx(WEIGHTS @ squared)
    assert variance.std_error == pytest.approx(np.sqrt((WEIGHTS @ squared**2 - (WEIGHTS @ squared) ** 2) / 1000))


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_intervals_are_normal_ones(confidence):
    """The normal quantile times the standard error on both sides, for the mean and for weights."""
    found = estimated(CELLS, WEIGHTS)
    reach = ndtri((1 + confidence) / 2)
    mean = found.mean()
    assert (mean.interval(confidence).low, mean.interval(confidence).high) == pytest.approx(
        (mean.value - reach * mean.std_error, mean.value + reach * mean.std_error)
    )
    errors = np.sqrt(WEIGHTS * (1 - WEIGHTS) / 1000)
    assert found.interval(confidence).low == pytest.approx(WEIGHTS - reach * errors)
    assert found.interval(confidence).high == pytest.approx(WEIGHTS + reach * errors)


def test_bands_and_probabilities_stay_within_0_and_1():
    """However large the scatter."""
    found = estimated(CELLS, WEIGHTS, 10 * (np.eye(3) - 1 / 3))
    assert (found.interval().low.min(), found.interval().high.max()) == (0.0, 1.0)
    inside = found.probability(0.0, 1.5)
    assert (inside.interval().low, inside.interval().high) == (0.0, 1.0)
    median = found.quantile(0.5)
    assert 0.0 <= median.interval().low < 0.1
    assert 3.8 < median.interval().high <= 4.0


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0, 4, 1.0), (-9, 9, 1.0), (0, 1, 0.2), (0.5, 1.5, 0.35), (2, 3, 0.15), (2.5, 2.5, 0.0), (5, 6, 0.0), (-2, -1, 0)],
)
def test_values_are_even_within_their_cells(low, high, expected):
    """The probability of a part of a cell is that part of its weight."""
    assert estimated(CELLS, WEIGHTS).probability(low, high).value == pytest.approx(expected, abs=1e-15)


@pytest.mark.slow
@given(estimates(), st.floats(0.001, 0.999))
@settings(max_examples=60)
def test_a_quantile_is_where_the_distribution_function_reaches_its_level(found, level):
    """Probability up to the quantile is the level, and its interval holds it."""
    quantile = found.quantile(level)
    bottom = float(found.grid.edges[0])
    assert found.probability(bottom, max(bottom, quantile.value)).value == pytest.approx(level, abs=1e-9)
    assert quantile.interval().low <= quantile.value <= quantile.interval().high
    assert quantile.std_error == pytest.approx(
        (quantile.interval().high - quantile.interval().low) / (2 * ndtri(0.975))
    )


@pytest.mark.slow
@given(estimates(), st.floats(0.01, 0.99))
@settings(max_examples=60)
def test_a_quantiles_interval_holds_what_the_probabilities_allow(found, level):
    """At the interval's lower end the upper limit of the distribution function reaches the level, and conversely."""
    quantile = found.quantile(level)
    bottom, top = float(found.grid.edges[0]), float(found.grid.edges[-1])
    reach = ndtri(0.975)
    at = [found.probability(bottom, max(bottom, float(edge))) for edge in found.grid.edges]
    for edge, below in zip(found.grid.edges, at, strict=True):
        if edge < quantile.interval().low and edge > bottom:
            assert below.value + reach * below.std_error < level + 1e-9
        if edge > quantile.interval().high and edge < top:
            assert below.value - reach * below.std_error >= level - 1e-9


@given(estimates(), st.floats(0.01, 100.0), st.floats(-100.0, 100.0))
@settings(max_examples=40)
def test_units_change_values_as_they_should(found, scale, shift):
    """With x -> scale x + shift means and quantiles move, variances scale, probabilities stay."""
    moved = estimated(InputGrid.cells(scale * found.grid.edges + shift), found.value, found.covariance)
    mean, other = found.mean(), moved.mean()
    reach = 1e-9 * (1 + abs(shift) + scale * 30)
    assert other.value == pytest.approx(scale * mean.value + shift, abs=reach)
    assert other.interval().low == pytest.approx(scale * mean.interval().low + shift, abs=reach)
    assert moved.variance().value == pytest.approx(scale**2 * found.variance().value, rel=1e-6, abs=reach**2)
    assert moved.quantile(0.3).interval().high == pytest.approx(
        scale * found.quantile(0.3).interval().high + shift, abs=reach
    )
    low, high = found.grid.points[0], found.grid.edges[-1]
    plain, again = found.probability(low, high), moved.probability(scale * low + shift, scale * high + shift)
    assert again.value == pytest.approx(plain.value, abs=1e-6)


def test_a_range_of_whole_cells_is_a_sum_of_weights():
    """Any linear functional of the weights has the standard error of its coefficients."""
    found = estimated(CELLS, WEIGHTS)
    sum_of_two = found.functional([1.0, 1.0, 0.0])
    inside = found.probability(0.0, 2.0)
    assert sum_of_two.value == pytest.approx(inside.value)
    assert sum_of_two.std_error == pytest.approx(inside.std_error) == pytest.approx(np.sqrt(0.7 * 0.3 / 1000))


def test_adding_a_constant_to_coefficients_adds_no_scatter():
    """The weights sum to one, also where rounding left the covariance's rows off zero."""
    covariance = (np.diag(WEIGHTS) - np.outer(WEIGHTS, WEIGHTS)) / 1000
    found = estimated(CELLS, WEIGHTS, covariance + 1e-18)
    plain, far = found.functional([1.0, 2.0, 4.0]), found.functional([1e6 + 1, 1e6 + 2, 1e6 + 4])
    assert far.std_error == pytest.approx(plain.std_error, rel=1e-6)
    assert far.value == pytest.approx(plain.value + 1e6)


def test_an_interval_ends_where_the_lower_limit_last_stays_below_the_level():
    """A limit of the distribution function may fall again: all that it allows is in the interval."""
    grid = InputGrid.cells([0.0, 1.0, 2.0, 3.0])
    # Certain that 70% lie below 1, but not where the rest lies.
    covariance = 0.02 * np.outer([0.0, 1.0, -1.0], [0.0, 1.0, -1.0])
    found = estimated(grid, [0.7, 0.0, 0.3], covariance).quantile(0.65)
    lower = 0.7 - ndtri(0.975) * np.sqrt(0.02)
    assert found.interval().low == pytest.approx(0.65 / 0.7)
    assert found.interval().high == pytest.approx(2 + (0.65 - lower) / (1 - lower))


def test_knots_are_spread_to_the_middles_between_them():
    """The ends' cells are half as wide, and the mean is that of the knots themselves."""
    found = estimated(InputGrid.knots([0.0, 1.0, 2.0]), [0.5, 0.5, 0.0])
    assert found.mean().value == pytest.approx(0.5)
    assert found.probability(0.0, 0.5).value == pytest.approx(0.5)
    assert found.quantile(0.5).value == pytest.approx(0.5)
    assert found.quantile(0.75).value == pytest.approx(1.0)


def test_a_quantile_between_two_lumps_is_the_first_ends():
    """Where nobody is, the lower end of the gap is the quantile."""
    found = estimated(InputGrid.cells([0.0, 1.0, 2.0, 3.0]), [0.5, 0.0, 0.5])
    assert found.quantile(0.5).value == pytest.approx(1.0)


def test_one_point_is_certain():
    """One component has all the mass: nothing scatters, and ranges hold it or do not."""
    found = estimated(InputGrid.knots([3.0]), [1.0])
    assert (found.mean().value, found.mean().std_error, found.variance().value) == (3.0, 0.0, 0.0)
    assert (found.quantile(0.2).interval().low, found.quantile(0.9).interval().high) == (3.0, 3.0)
    assert [found.probability(*ends).value for ends in ((0, 9), (2.9, 3.1), (3.1, 3.5), (0, 2.9))] == [1, 1, 0, 0]


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, float("nan")])
def test_a_quantiles_share_is_inside_0_and_1(level):
    """One line with the share."""
    with pytest.raises(InputError, match="a quantile's share must lie strictly between 0 and 1, got"):
        estimated(CELLS, WEIGHTS).quantile(level)


@pytest.mark.parametrize("ends", [(2.0, 1.0), (float("nan"), 1.0), (0.0, float("nan"))])
def test_a_range_has_its_ends_in_order(ends):
    """One line with the range."""
    with pytest.raises(InputError, match="a range must have its ends in order, got"):
        estimated(CELLS, WEIGHTS).probability(*ends)
