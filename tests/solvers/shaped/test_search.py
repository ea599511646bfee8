"""The search for floors: never above its start, monotone in the pieces, masses as good as a linear program's."""

# Lists stand for the arrays of a floor.
# pyright: reportArgumentType=false

import math
from itertools import pairwise

import numpy as np
import pytest
from optldp.mechanisms.families.ptt import optimal_eta, window_shape
from optldp.solvers import PieceFloor, UnbiasedProgram, certified_bound, solve_unbiased
from optldp.solvers.linear_program import LinearProgram, solve_linear_program
from optldp.solvers.shaped.floor import reach
from optldp.solvers.shaped.form import FloorForm
from optldp.solvers.shaped.search import ShapeProblem, best_floors
from scipy import sparse

KNOTS = np.linspace(-1, 1, 9)
WEIGHTS = {
    "uniform": np.full(9, 1 / 9),
    "peaked": np.exp(-(KNOTS**2) / 0.1) / np.exp(-(KNOTS**2) / 0.1).sum(),
    "one-sided": np.exp(-4 * KNOTS) / np.exp(-4 * KNOTS).sum(),
}


def ptt_floor(epsilon: float, second_moment: float) -> PieceFloor:
    k, a = window_shape(math.expm1(epsilon), optimal_eta(epsilon, second_moment), kind=1)
    return PieceFloor([-k - a], [k + a], [1 - 1 / k])


@pytest.mark.nightly
@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("worst", [False, True])
def test_more_pieces_never_cost_and_one_is_ptt(name, epsilon, worst):
    problem = ShapeProblem(KNOTS, WEIGHTS[name], math.exp(epsilon), worst)
    first = ptt_floor(epsilon, 1.0 if worst else float(WEIGHTS[name] @ KNOTS**2))
    found = best_floors(problem, first, 3 if problem.symmetric else 2)
    objectives = [one.objective for one in found]
    assert objectives[0] == pytest.approx(problem.objective(first), rel=1e-6)
    assert all(after <= before for before, after in pairwise(objectives))
    assert objectives[-1] < 0.999 * objectives[0]
    for count, one in enumerate(found, start=1):
        assert one.floor.low.size <= count
        assert one.objective == problem.objective(one.floor)
        low, high = reach(one.floor, problem.ratio)
        assert low <= -1 + 1e-9
        assert high >= 1 - 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_no_floor_is_below_the_certified_bound(name, epsilon):
    ratio, weights = math.exp(epsilon), WEIGHTS[name]
    best = solve_unbiased(KNOTS, weights, ratio)
    bound = certified_bound(UnbiasedProgram(KNOTS, weights, ratio), **best.multipliers)
    found = best_floors(ShapeProblem(KNOTS, weights, ratio), ptt_floor(epsilon, float(weights @ KNOTS**2)), 2)
    assert all(one.objective >= bound for one in found)


def best_masses(floor: PieceFloor, weights: np.ndarray, ratio: float, parts: int) -> float:
    """The least expected variance over the floor's intervals by linear programming on cells: rows s and masses t."""
    ends = [np.linspace(a, b, parts + 1) for a, b in zip(floor.low, floor.high, strict=True)]
    low, high = (np.concatenate([e[pick] for e in ends]) for pick in (slice(None, -1), slice(1, None)))
    middle, second = (low + high) / 2, ((low + high) / 2) ** 2 + (high - low) ** 2 / 12
    spread = np.kron(np.eye(floor.low.size), np.full((parts, 1), 1 / parts))  # of a piece's mass over its cells
    n, c = KNOTS.size, low.size
    rows = sparse.block_array(
        [
            [sparse.kron(sparse.eye_array(n), np.ones((1, c))), np.ones((n, c)) @ spread],
            [sparse.kron(sparse.eye_array(n), middle[None, :]), np.tile(middle @ spread, (n, 1))],
            [-sparse.eye_array(n * c), np.kron(np.ones((n, 1)), (ratio - 1) * spread)],
        ],
        format="csc",
    )
    equal = np.concatenate([np.ones(n), KNOTS])
    size = n * c + floor.low.size
    program = LinearProgram(
        cost=np.concatenate([np.kron(weights, second), second @ spread]),
        matrix=sparse.csc_array(rows),
        row_lower=np.concatenate([equal, np.zeros(n * c)]),
        row_upper=np.concatenate([equal, np.full(n * c, np.inf)]),
        lower=np.zeros(size),
        upper=np.full(size, np.inf),
    )
    return solve_linear_program(program).objective - float(weights @ KNOTS**2)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["uniform", "one-sided"])
@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_a_linear_program_finds_no_better_masses_on_the_same_intervals(name, epsilon):
    """On cells, so it comes near from above; in the masses the problem is convex, and its optimum is found."""
    weights, ratio = WEIGHTS[name], math.exp(epsilon)
    found = best_floors(ShapeProblem(KNOTS, weights, ratio), ptt_floor(epsilon, float(weights @ KNOTS**2)), 2)[-1]
    on_cells = best_masses(found.floor, weights, ratio, 40)
    assert found.objective <= on_cells * (1 + 1e-6)
    assert on_cells <= found.objective * (1 + 2e-3)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("pieces", [1, 2, 3, 4, 5])
def test_a_vector_says_all_of_a_floor(symmetric, pieces):
    half = np.arange(1.0, pieces + 1)
    ends = np.concatenate([-half[::-1], half])
    masses = np.minimum(np.arange(pieces), np.arange(pieces)[::-1]) + 1.0
    floor = PieceFloor.of_windows(ends[::2], ends[1::2], masses, 3.0)
    form = FloorForm(pieces, symmetric, 3.0)
    vector = form.vector(floor)
    assert vector.size == (2 * pieces - (pieces // 2) if symmetric else 3 * pieces)
    again = form.floor(vector)
    for name in ("low", "high", "mass"):
        np.testing.assert_allclose(getattr(again, name), getattr(floor, name), atol=1e-12)
    assert form.windows() @ vector == pytest.approx(masses.sum())


@pytest.mark.parametrize(
    ("knots", "weights", "worst", "symmetric"),
    [
        ([-1, 0, 1], [1, 2, 1], False, True),
        ([-1, 0, 1], [1, 2, 3], False, False),
        ([-1, 0, 1], [1, 2, 3], True, True),
        ([-1, 0.5, 1], [1, 2, 1], True, False),
    ],
)
def test_what_mirrors_itself_is_symmetric(knots, weights, worst, symmetric):
    share = np.array(weights) / np.sum(weights)
    assert ShapeProblem(np.array(knots, dtype=float), share, 3.0, worst).symmetric is symmetric


def test_the_way_back_from_more_pieces_finds_what_growing_misses():
    """The uniform prior at epsilon 4: three pieces grown from fewer gain half as much."""
    knots = np.linspace(-1, 1, 17)
    weights = np.full(17, 1 / 17)
    first = ptt_floor(4.0, float(weights @ knots**2))
    found = best_floors(ShapeProblem(knots, weights, math.exp(4.0)), first, 3)
    assert found[2].objective < 0.992 * found[0].objective
