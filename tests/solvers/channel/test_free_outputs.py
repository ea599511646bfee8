"""Free outputs for any cone: known optima, the pure solver, grids, and prices over the whole line."""

import numpy as np
import pytest
from optldp.mechanisms import InputError
from optldp.solvers import Status, solve_minimax, solve_unbiased
from optldp.solvers.channel import ChannelProgram, LinePrices, solve_channel, solve_free_outputs
from optldp.solvers.cone import Cone, blocks, line, pure, value_budgets

X = np.linspace(-1, 1, 7)
CONES = {
    "pure": pure(7, 1.0),
    "line": line(X, 2.0),
    "blocks": blocks([0, 0, 0, 1, 1, 2, 2], 1.0, 2.0),
    "by value": value_budgets(np.linspace(1, 3, 7)),
}


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("kind", CONES)
def test_no_grid_is_better_and_a_fine_one_comes_near(kind, share):
    """The optimum is within a millionth of its bound, private and unbiased; the bound is proved again."""
    cone, p = CONES[kind], np.random.default_rng(1).dirichlet(np.full(7, 5.0))
    found = solve_free_outputs(cone, p, X, share=share)
    outputs, table = found.solution
    assert found.status is Status.OPTIMAL
    assert found.bound <= found.value
    assert cone.holds(table)
    assert table.sum(1) == pytest.approx(np.ones(7), abs=1e-14)
    assert table @ outputs == pytest.approx(X, abs=1e-9)
    assert found.value == pytest.approx(_error(p, share, outputs, table), rel=1e-12)
    again = LinePrices(cone, p, X, share, **found.multipliers).over_the_line(1e-9).bound
    assert again == pytest.approx(found.bound, rel=1e-6)
    reach = 1.3 * np.abs(outputs).max()
    grid = solve_channel(ChannelProgram.unbiased(cone, p, X, np.linspace(-reach, reach, 201), share))
    assert found.bound <= grid.value <= found.value * 1.003


def _error(p, share, outputs, table):
    each = (table * (outputs - X[:, None]) ** 2).sum(1)
    return (1 - share) * p @ each + share * each.max()


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_pure_privacy_has_the_optimum_of_its_own_solvers(epsilon):
    """Expected and worst case, 9 values."""
    x, even = np.linspace(-1, 1, 9), np.full(9, 1 / 9)
    for share, known in ((0.0, solve_unbiased(x, even, np.exp(epsilon))), (1.0, solve_minimax(x, np.exp(epsilon)))):
        found = solve_free_outputs(pure(9, epsilon), even, x, share=share)
        assert max(found.bound, known.bound) <= min(found.value, known.value) * (1 + 1e-9)
        assert found.gap <= 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "value"), [(0.5, 16.000626), (1.0, 3.909797), (2.0, 0.788867), (4.0, 0.108200)])
def test_the_uniform_prior_on_17_knots(epsilon, value):
    """Computed independently, to six digits."""
    found = solve_free_outputs(pure(17, epsilon), np.full(17, 1 / 17), np.linspace(-1, 1, 17))
    assert found.value == pytest.approx(value, rel=1e-6, abs=6e-7)


@pytest.mark.parametrize("kind", CONES)
def test_prices_hold_between_places_and_beyond(kind):
    """Of random multipliers, against a fine grid far beyond the window; the valley's floor is found."""
    cone, rng = CONES[kind], np.random.default_rng(2)
    prices = LinePrices(cone, np.full(7, 1 / 7), X, 0.0, rng.uniform(0.2, 0.8, 7), rng.normal(size=7))
    line_ = prices.over_the_line(1e-7)
    low, high = prices.window
    grid = np.unique(np.r_[np.linspace(low, high, 4001), np.linspace(-4, 4, 8001), 3 * low, 3 * high])
    least = prices.at(grid)[0].min()
    floor = (line_.bound - prices.lam.sum()) / prices.oracle_weights.sum()
    assert floor <= least <= floor + 1e-5
    assert (prices.at(np.array([low, high, 2 * low, 2 * high]))[0] > 0).all()
    columns = prices.at(line_.minima)[1]
    nearer = prices.best_of(columns)
    assert (prices.at(nearer)[0] <= prices.at(line_.minima)[0] + 1e-12).all()


@pytest.mark.slow
def test_without_a_tree_the_gap_is_small_and_honest():
    """The smaller of two budgets: private, unbiased, within 1e-4 of a bound that no fine grid undercuts."""
    x, p = np.array([-1.0, -0.2, 0.5, 1.0]), np.array([0.1, 0.4, 0.3, 0.2])
    cone = value_budgets([1.0, 1.5, 2.0, 3.0], "min")
    found = solve_free_outputs(cone, p, x, tolerance=1e-4)
    outputs, table = found.solution
    assert cone.tree is None
    assert cone.holds(table)
    assert table @ outputs == pytest.approx(x, abs=1e-8)
    assert LinePrices(cone, p, x, 0.0, **found.multipliers).over_the_line(1e-7).bound >= found.bound - 1e-6
    grid = np.union1d(outputs, np.linspace(-6, 6, 121))
    fine = solve_channel(ChannelProgram.unbiased(cone, p, x, grid), solver="highs")
    assert found.bound <= fine.value * (1 + 1e-9)
    assert found.value <= fine.value * (1 + 1e-4)


@pytest.mark.slow
def test_disturbed_multipliers_prove_less():
    """And never more than what is reached."""
    cone: Cone = CONES["line"]
    p, rng = np.full(7, 1 / 7), np.random.default_rng(3)
    found = solve_free_outputs(cone, p, X)
    for size in (1e-4, 1e-2, 1.0):
        other = {name: each + size * rng.normal(size=7) for name, each in found.multipliers.items()}
        assert LinePrices(cone, p, X, 0.0, **other).over_the_line(1e-7).bound < found.value * (1 + 1e-9)


def test_a_tolerance_that_is_none_is_refused():
    """One line."""
    with pytest.raises(InputError, match="tolerance must lie"):
        solve_free_outputs(CONES["pure"], np.full(7, 1 / 7), X, tolerance=0.0)
