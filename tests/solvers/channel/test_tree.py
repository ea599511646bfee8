"""The interior point on trees: its algebra against dense matrices, its optima against HiGHS and published numbers."""

import numpy as np
import pytest
from optldp.mechanisms import InputError, SolverError
from optldp.solvers import Status
from optldp.solvers.channel import ChannelProgram, solve_channel
from optldp.solvers.channel.covariance import coupled, visits
from optldp.solvers.channel.elimination import Elimination
from optldp.solvers.channel.repair import repaired
from optldp.solvers.cone import Cone, blocks, circle, line, pure, sensitive, value_budgets
from optldp.solvers.cone.tree import Tree


def random_tree(nodes: int) -> Cone:
    """A cone of random edges, of whose nodes two in three are values."""
    rng = np.random.default_rng(nodes)
    parents = np.array([-1] + [rng.integers(0, k) for k in range(1, nodes)])
    tree = Tree(parents, *rng.uniform(0.2, 2, (2, nodes)))
    return Cone.of_tree(tree, rng.permutation(nodes)[: max(2, nodes * 2 // 3)])


TREES = {
    "pure": pure(7, 1.0),
    "line": line(np.sort(np.random.default_rng(4).random(7)), 5.0),
    "blocks": blocks([0, 0, 1, 1, 2, 2, 2], 1.0, 3.0),
    "by value": value_budgets(np.linspace(0.5, 3, 7)),
    "sensitive": sensitive(np.arange(7) < 3, 1.0),
} | {f"random, {nodes} nodes": random_tree(nodes) for nodes in (3, 5, 12, 30)}


@pytest.mark.parametrize("kind", TREES)
def test_elimination_solves_and_sums_what_dense_inverses_do(kind):
    """Weights over eight orders of magnitude."""
    cone, rng, m = TREES[kind], np.random.default_rng(1), 4
    assert cone.tree is not None
    weights, G = 10 ** rng.uniform(-4, 4, (len(cone.logs), m)), cone.rows.toarray()
    eliminated = Elimination(cone, cone.tree).of(weights)
    given, factors = rng.normal(size=(cone.nodes, m)), rng.normal(size=(2, cone.values, m))
    inverses = [np.linalg.inv(G.T @ (weights[:, y, None] * G)) for y in range(m)]
    expected = np.stack([inverse @ given[:, y] for y, inverse in enumerate(inverses)], axis=1)
    assert eliminated.solve(given) == pytest.approx(expected, rel=1e-6, abs=1e-8 * abs(expected).max())
    among = [inverse[np.ix_(cone.places, cone.places)] for inverse in inverses]
    sums = np.einsum("kiy,yij,ljy->kilj", factors, among, factors)
    found = coupled(visits(cone.tree), cone.places, eliminated, factors)
    assert found == pytest.approx(sums, rel=1e-6, abs=1e-8 * abs(sums).max())


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("kind", TREES)
def test_biased_optima_are_those_of_highs(kind, share):
    """Random losses and weights: each one's bound is below the other's value, and tables keep what they promise."""
    cone, rng = TREES[kind], np.random.default_rng(2)
    n = cone.values
    program = ChannelProgram(cone, rng.dirichlet(np.ones(n)), rng.random((n, 9)), share)
    _agree(program)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("kind", ["pure", "line", "blocks", "by value", "random, 12 nodes"])
def test_unbiased_optima_are_those_of_highs(kind, share):
    """Values on [-1, 1]; outputs twice as far out as they must be."""
    cone, rng = TREES[kind], np.random.default_rng(2)
    n = cone.values
    x = np.sort(rng.uniform(-1, 1, n))
    program = ChannelProgram.unbiased(cone, rng.dirichlet(np.ones(n)), x, _far(cone, x), share)
    tree, _ = _agree(program)
    assert tree.solution @ (_far(cone, x)) == pytest.approx(x, abs=1e-9)


def _far(cone: Cone, x: np.ndarray) -> np.ndarray:
    """Outputs over a range in which an unbiased table has room."""
    reach = 2.0
    while not all(cone.holds(abs(reach * sign - x)[:, None]) for sign in (-1, 1)):
        reach *= 1.1
    return np.linspace(-2 * reach, 2 * reach, 25)


def _agree(program):
    tree, highs = (solve_channel(program, solver=solver) for solver in ("tree", "highs"))
    assert (tree.solver, highs.solver) == ("tree", "highs")
    assert max(tree.bound, highs.bound) <= min(tree.value, highs.value) * (1 + 1e-9)
    for found in (tree, highs):
        assert found.status is Status.OPTIMAL
        assert found.value == program.value(found.solution)
        assert found.bound == program.bound(**found.multipliers)
        assert program.cone.holds(found.solution)
        assert found.solution.sum(1) == pytest.approx(np.ones(program.cone.values), abs=1e-14)
    return tree, highs


@pytest.mark.parametrize(("epsilon", "value"), [(0.5, 16.000626), (1.0, 3.909797), (2.0, 0.788867), (4.0, 0.108200)])
def test_outputs_close_together_come_near_the_optimum_of_free_ones(epsilon, value):
    """Uniform prior on 17 knots; the optima of free outputs were computed independently."""
    x, reach = np.linspace(-1, 1, 17), 1.6 / np.tanh(epsilon / 2)
    program = ChannelProgram.unbiased(pure(17, epsilon), np.full(17, 1 / 17), x, np.linspace(-reach, reach, 401))
    found = solve_channel(program)
    assert found.solver == "tree"
    assert found.status is Status.OPTIMAL
    assert value * (1 - 1e-6) <= found.value <= value * 1.0002


@pytest.mark.parametrize(("epsilon", "worst"), [(0.5, 0.94004), (1, 0.78705), (2, 0.42785), (4, 0.10419)])
def test_the_least_worst_error_of_a_biased_report_by_the_interior_point(epsilon, worst):
    """To five digits; the published numbers have three."""
    x, z = np.linspace(-1, 1, 17), np.linspace(-1, 1, 33)
    program = ChannelProgram(pure(17, epsilon), np.full(17, 1 / 17), (z - x[:, None]) ** 2, 1.0)
    found = solve_channel(program, solver="tree")
    assert found.value == pytest.approx(worst, abs=6e-6)
    assert found.gap < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 1.0])
@pytest.mark.parametrize("cone", [pure(61, 1.0), line(np.linspace(-1, 1, 61), 10.0)], ids=["pure", "line"])
def test_dozens_of_values_are_proved_to_a_millionth(cone, share):
    """Absolute loss; few outputs are used."""
    x = np.linspace(-1, 1, 61)
    found = solve_channel(ChannelProgram(cone, np.full(61, 1 / 61), abs(x - x[:, None]), share))
    assert found.solver == "tree"
    assert found.gap <= 1e-6
    assert found.steps < 60


def test_who_cannot_be_solved_on_a_tree_goes_to_highs():
    """A circle, and a line with a value twice; asked for by name they are refused."""
    for cone in (circle(np.arange(6), 6, 0.5), line([0, 1, 1, 2, 3, 4], 1.0)):
        program = ChannelProgram(cone, np.full(6, 1 / 6), np.random.default_rng(5).random((6, 8)))
        assert solve_channel(program).solver == "highs"
        with pytest.raises(InputError, match="a node for each value"):
            solve_channel(program, solver="tree")


def test_a_table_that_is_a_little_off_is_repaired():
    """Off by a millionth everywhere: sums, means and ratios are right afterwards, and its value hardly moved."""
    x, z = np.linspace(-1, 1, 7), np.linspace(-6, 6, 25)
    rng, cone = np.random.default_rng(6), line(np.linspace(-1, 1, 7), 1.5)
    program = ChannelProgram.unbiased(cone, np.full(7, 1 / 7), x, z)
    good = solve_channel(program).solution
    table = repaired(program, good + 1e-6 * rng.normal(size=good.shape))
    assert cone.holds(table)
    assert table.sum(1) == pytest.approx(np.ones(7), abs=1e-14)
    assert table @ z == pytest.approx(x, abs=1e-13)
    assert program.value(table) == pytest.approx(program.value(good), rel=1e-2)


def test_a_table_that_is_nothing_like_one_is_refused():
    """Rows that sum to a half."""
    program = ChannelProgram(pure(3, 1.0), np.full(3, 1 / 3), 1 - np.eye(3))
    with pytest.raises(SolverError, match="what a solver left off"):
        repaired(program, np.full((3, 3), 1 / 6) + 0.01 * np.eye(3))
