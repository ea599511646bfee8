"""The prior of log densities: what its differences are, on every grid and in every unit."""

import numpy as np
import pytest
from optldp.estimators import InputGrid
from optldp.estimators.distributions import log_splines
from optldp.estimators.distributions.log_splines import FAINT, POLYNOMIAL_SD, log_spline_basis


def covariance(grid: InputGrid, order: int, length: float) -> np.ndarray:
    basis = log_spline_basis(grid, order, length)
    return basis @ basis.T


@pytest.mark.parametrize("length", [0.1, 1.0])
def test_of_order_one_it_is_brownian_motion(length):
    """The variance of a difference is the distance over the length, but for what a cubic smooths within a piece."""
    grid = InputGrid.equal_cells(3.0, 7.0, 256)
    spread = covariance(grid, 1, length)
    for a, b in [(10, 200), (50, 90), (0, 255)]:
        distance = (grid.points[b] - grid.points[a]) / 4.0
        assert spread[a, a] + spread[b, b] - 2 * spread[a, b] == pytest.approx(distance / length, rel=0.05)


@pytest.mark.parametrize("order", [2, 3])
def test_the_bend_is_that_of_integrated_brownian_motion(order):
    """Divided differences of the order m have variance (1 / h) c_m / length^{2m - 1}, averaged over their own width."""
    grid, length, step = InputGrid.equal_cells(0.0, 1.0, 256), 0.5, 32
    steps = np.diff(np.eye(8), order, axis=0)[2]
    places = 16 + step * np.arange(8)
    spread = covariance(grid, order, length)[np.ix_(places, places)]
    h = step / 256
    averaged = {2: 2 / 3, 3: 11 / 20}[order]  # the integral of the squared B-spline of degree m - 1
    assert steps @ spread @ steps == pytest.approx(averaged * (h / length) ** (2 * order - 1), rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("order", [1, 2, 3])
def test_finer_grids_and_other_units_change_nothing(order):
    """The covariance at the same places of cells twice as many, and of a domain elsewhere."""
    coarse, fine = InputGrid.equal_cells(0.0, 1.0, 135), InputGrid.equal_cells(0.0, 1.0, 405)
    expected = covariance(coarse, order, 0.3)
    assert covariance(fine, order, 0.3)[1::3, 1::3] == pytest.approx(expected, abs=1e-9 * expected.max())
    moved = covariance(InputGrid.equal_cells(-50.0, 950.0, 135), order, 0.3)
    assert moved == pytest.approx(expected, abs=1e-9 * expected.max())


@pytest.mark.parametrize("order", [2, 3])
def test_polynomials_below_the_order_are_left_free(order):
    """However long the length, a straight line, and of order three a parabola, has a standard deviation of five."""
    grid = InputGrid.equal_cells(0.0, 1.0, 256)
    basis = log_spline_basis(grid, order, 1e6)
    centred = basis - basis.mean(axis=0)
    line = np.polyfit(grid.points, centred, 1)[0]
    assert np.sqrt(line @ line) == pytest.approx(2 * POLYNOMIAL_SD, rel=0.05)
    rest = (
        centred
        - np.polynomial.polynomial.polyval(
            grid.points, np.polynomial.polynomial.polyfit(grid.points, centred, order - 1)
        ).T
    )
    assert np.abs(rest).max() < 1e-6


@pytest.mark.parametrize("order", [1, 2, 3])
def test_what_is_left_out_is_not_to_be_seen(order, monkeypatch):
    """Less than half of order three and three quarters of order two are kept; at no place is a thousandth missing."""
    grid = InputGrid.equal_cells(0.0, 1.0, 256)
    kept = log_spline_basis(grid, order, 0.25)
    monkeypatch.setattr(log_splines, "FAINT", 0.0)
    whole = log_spline_basis(grid, order, 0.25)
    assert kept.shape[1] <= {1: 1.0, 2: 0.75, 3: 0.5}[order] * whole.shape[1]
    assert kept == pytest.approx(whole[:, : kept.shape[1]])
    assert (whole[:, kept.shape[1] :] ** 2).sum(axis=1).max() <= FAINT**2
