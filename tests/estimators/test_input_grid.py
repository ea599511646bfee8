"""Grids of inputs: exact rows of each table for points and for cells, on domains of any size and place."""

import numpy as np
import pytest
from optldp.estimators import InputGrid
from optldp.mechanisms import FAMILIES, InputError, TabulatedMechanism

from .means.test_unbiasing import random_table

DOMAINS = [(-1.0, 1.0), (0.0, 200_000.0), (1e6, 1e6 + 3), (-1e-9, 0.0)]


def uneven(low: float, high: float, seed: int, knots: int = 6) -> TabulatedMechanism:
    """A random table with unequal gaps."""
    inside = np.sort(np.random.default_rng(seed).random(knots - 2))
    table = random_table(seed, knots, 4)
    points = low + (high - low) * np.concatenate([[0.0], inside, [1.0]])
    return TabulatedMechanism.from_points(points, table.low, table.probabilities, table.epsilon)


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("cells", [1, 3, 8, 50])
def test_rows_of_cells_are_averages_over_them(domain, cells):
    """Against the midpoint rule on 4000 points a cell, for cells that straddle knots and cells between them."""
    table = uneven(*domain, seed=cells)
    grid = InputGrid.equal_cells(domain[0], domain[1], cells)
    inside = (np.arange(4000) + 0.5) / 4000
    rows = grid.rows(table)
    for k, (left, right) in enumerate(zip(grid.edges[:-1], grid.edges[1:], strict=True)):
        fine = table.pmf(np.clip(left + (right - left) * inside, *table.domain)).mean(axis=0)
        np.testing.assert_allclose(rows[k], fine, atol=1e-7)


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("flat", [True, False])
def test_rows_sum_to_one(domain, flat):
    table = uneven(*domain, seed=9)
    low, high = domain
    grid = InputGrid.equal_cells(low, high, 13) if flat else InputGrid.knots(np.linspace(low, high, 13))
    rows = grid.rows(table)
    assert rows.shape == (13, 4)
    assert (rows > 0).all()
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=1e-9)


def test_rows_of_a_tables_own_knots_are_its_own():
    table = uneven(-1.0, 1.0, seed=1)
    np.testing.assert_array_equal(InputGrid.common([table]).rows(table), table.probabilities)


def test_rows_of_points_between_knots_are_those_of_rounding():
    table = uneven(-1.0, 1.0, seed=2)
    grid = InputGrid.knots([-0.91, 0.1, 0.13])
    np.testing.assert_array_equal(grid.rows(table), table.pmf([-0.91, 0.1, 0.13]))


def test_another_unit_does_not_change_the_rows():
    plain, moved = uneven(-1.0, 1.0, seed=3), uneven(5e4, 7e4, seed=3)
    for first, second in (
        (InputGrid.equal_cells(-1, 1, 7), InputGrid.equal_cells(5e4, 7e4, 7)),
        (InputGrid.knots([-0.5, 0.25]), InputGrid.knots([5.5e4, 6.25e4])),
    ):
        np.testing.assert_allclose(second.rows(moved), first.rows(plain), atol=1e-12)


def test_a_part_of_the_domain_will_do():
    """Cells that leave out both ends average over what they hold."""
    table = uneven(0.0, 1.0, seed=4)
    part = InputGrid.cells([0.25, 0.5, 0.75]).rows(table)
    whole = InputGrid.cells([0.0, 0.25, 0.5, 0.75, 1.0]).rows(table)
    np.testing.assert_allclose(part, whole[1:3], rtol=1e-12)


def test_the_common_grid_of_nested_knots_is_the_finest():
    tables = [FAMILIES[name](np.linspace(0, 1, n), 1.0) for name, n in (("duchi", 3), ("laplace", 9), ("grr", 5))]
    grid = InputGrid.common(tables)
    np.testing.assert_array_equal(grid.points, np.linspace(0, 1, 9))
    assert not grid.flat
    assert grid.size == 9


def test_knots_written_with_other_last_digits_are_the_same():
    """0.1 + 0.2 is not 0.3, but it is that knot."""
    first = FAMILIES["duchi"]([0.0, 0.1 + 0.2, 1.0], 1.0)
    second = FAMILIES["duchi"]([0.0, 0.3, 0.5, 1.0], 1.0)
    assert InputGrid.common([first, second]).size == 4


def test_knots_that_disagree_are_refused_in_one_line():
    tables = [FAMILIES["duchi"](np.linspace(0, 1, n), 1.0) for n in (4, 6)]
    with pytest.raises(InputError, match=r"one of 4 knots has 0.333333, which the finest, of 6, lacks") as caught:
        InputGrid.common(tables)
    assert "\n" not in str(caught.value)


def test_points_have_edges_half_way():
    grid = InputGrid.knots([0.0, 1.0, 4.0])
    assert grid.edges.tolist() == [0.0, 0.5, 2.5, 4.0]
    assert InputGrid.cells([0.0, 1.0, 4.0]).points.tolist() == [0.5, 2.5]


@pytest.mark.parametrize("points", [[-2.0, 0.0], [0.5, 1.5]])
@pytest.mark.parametrize("kind", [InputGrid.knots, InputGrid.cells])
def test_a_grid_outside_the_domain_is_refused(kind, points):
    with pytest.raises(InputError, match=r"cells must lie in the table's domain \[-1, 1\], got"):
        kind(points).rows(uneven(-1.0, 1.0, seed=5))


@pytest.mark.parametrize("edges", [[], [1.0], [0.0, 0.0], [1.0, 0.0], [0.0, np.nan], [0.0, np.inf], [[0.0, 1.0]]])
def test_edges_that_make_no_cells_are_refused(edges):
    with pytest.raises(InputError, match="edges must be at least 2 finite, strictly increasing numbers"):
        InputGrid.cells(edges)


@pytest.mark.parametrize("points", [[], [1.0, 1.0], [np.nan]])
def test_points_that_make_no_grid_are_refused(points):
    with pytest.raises(InputError, match="points must be at least 1 finite, strictly increasing numbers"):
        InputGrid.knots(points)


@pytest.mark.parametrize("cells", [0, -3])
def test_no_cells_are_refused(cells):
    with pytest.raises(InputError, match=f"cells must be at least 1, got {cells}"):
        InputGrid.equal_cells(0.0, 1.0, cells)


def test_a_grid_cannot_be_changed():
    grid = InputGrid.cells([0.0, 1.0])
    with pytest.raises(ValueError, match="read-only"):
        grid.edges[0] = -1.0
