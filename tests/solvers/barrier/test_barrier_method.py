"""Where the path leads: floors and multipliers a tolerance apart, judged by rows and by exact pricing."""

import numpy as np
import pytest
from optldp.mechanisms import SolverError
from optldp.solvers import Progress, Status, UnbiasedProgram, certified_bound, solve_unbiased
from optldp.solvers.barrier import barrier_method as barrier_optimum
from optldp.solvers.barrier import path
from optldp.solvers.barrier.barrier_method import solve_by_barrier
from optldp.solvers.barrier.primal import best_floor
from optldp.solvers.barrier.problem import Problem
from optldp.solvers.barrier.windows import Windows
from optldp.solvers.unbiased import optimal_mechanism as unbiased_optimum
from optldp.solvers.unbiased.window_rows import stretched_rows, window_rows

X = np.linspace(-1, 1, 33)
BELL = np.exp(-0.5 * (X / 0.3) ** 2)
BELL /= BELL.sum()


def silent(*_: object) -> None:
    pass


@pytest.mark.parametrize("dense", [0, 1000])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_the_floor_and_the_multipliers_meet(epsilon, dense, monkeypatch):
    """Rows by `unbiased`, bound by exact pricing over the line; with either Newton system."""
    monkeypatch.setattr(path, "DENSE", dense)
    program = UnbiasedProgram(X, BELL, float(np.exp(epsilon)))
    found = solve_by_barrier(X, BELL, program.ratio, 1e-6, silent)
    assert found is not None
    objective = program.objective(*stretched_rows(program, found.floor.outputs, found.floor.masses))
    assert objective == pytest.approx(found.floor.objective, rel=1e-10)
    bound = certified_bound(program, found.lam, found.nu)
    assert 0 <= objective - bound <= 1.2e-6 * objective


SHAPES = {
    "flat": np.full(33, 1 / 33),
    "bell": BELL,
    "one value": 0.95 * np.eye(33)[20] + 0.05 / 33,
    "falling": np.exp(-6 * (X + 1)) / np.exp(-6 * (X + 1)).sum(),
}


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [8.5, 10.0, 11.5])
@pytest.mark.parametrize("name", list(SHAPES))
def test_large_budgets_are_closed(name, epsilon):
    """Where windows of neighbours hardly meet and F is some 1e-12 of what it is summed from.

    Rounding ends the path near 1e-6, on some machines at 1.23e-6 (flat, 8.5); `solve_unbiased` takes another way then.
    """
    program = UnbiasedProgram(X, SHAPES[name], float(np.exp(epsilon)))
    found = solve_by_barrier(X, program.weights, program.ratio, 1e-6, silent)
    assert found is not None
    bound = certified_bound(program, found.lam, found.nu)
    assert 0 <= found.floor.objective - bound <= 2e-6 * bound


def test_floors_cost_what_their_rows_cost():
    """Random floors, without rows in O(n log n) and by the rows themselves."""
    rng = np.random.default_rng(5)
    problem = Problem.of(X, BELL, 5.0)
    program = UnbiasedProgram(X, BELL, 5.0)
    for _ in range(20):
        outputs = np.concatenate([[-3.0], np.sort(rng.uniform(-3, 3, 20)), [3.0]])
        masses = rng.dirichlet(np.ones(22)) + 0.2
        masses *= rng.uniform(0.4, 0.7) / masses.sum()
        floor = best_floor(problem, outputs, masses)
        if floor is None:
            with pytest.raises(SolverError):
                stretched_rows(program, outputs, masses)
            continue
        rows = window_rows(program, floor.outputs, floor.masses)
        assert program.objective(floor.outputs, rows) == pytest.approx(floor.objective, rel=1e-12)


def test_windows_have_the_means_asked_for():
    rng = np.random.default_rng(1)
    windows = Windows(3.0, np.sort(rng.uniform(-4, 4, 30)), np.full(30, 0.02))
    low, high = windows.reach
    means = np.linspace(low, high, 50)
    np.testing.assert_allclose(windows.means(windows.starts(means)), means, rtol=0, atol=1e-12)


def test_knots_of_no_weight_are_left_out_and_cost_nothing():
    """But never the ends, which bind every mechanism."""
    p = np.zeros(33)
    p[[8, 16, 17]] = 0.2, 0.5, 0.3
    program = UnbiasedProgram(X, p, np.e)
    found = solve_by_barrier(X, p, np.e, 1e-6, silent)
    assert found is not None
    assert np.count_nonzero(found.lam) == 5
    best = solve_unbiased(X, p, np.e)
    assert best.status is Status.OPTIMAL
    assert best.value == pytest.approx(program.objective(*best.solution))


@pytest.mark.nightly
def test_it_is_the_optimum_of_the_other_path(random_program, monkeypatch):
    """Two methods that share nothing but the program and the pricing."""
    for seed in range(12):
        program = random_program(seed, knots=(18, 40), budgets=(0.2, 5.0))
        one = solve_unbiased(program.knots, program.weights, program.ratio)
        with monkeypatch.context() as other_path:
            other_path.setattr(unbiased_optimum, "BARRIER", 10**9)
            other = solve_unbiased(program.knots, program.weights, program.ratio)
        assert one.status is other.status is Status.OPTIMAL
        assert one.value == pytest.approx(other.value, rel=2e-6)


def test_where_it_is_lost_the_other_path_takes_over(monkeypatch):
    monkeypatch.setattr(unbiased_optimum, "solve_by_barrier", lambda *_: None)
    assert solve_unbiased(X, BELL, np.e).status is Status.OPTIMAL


def test_what_is_lost_among_too_many_knots_is_solved_on_fewer_and_says_so(monkeypatch):
    """A floor serves all knots, and windows between fewer ones prove nearly as much."""
    x = np.linspace(-1, 1, 65)
    p = np.exp(-0.5 * (x / 0.3) ** 2)
    program = UnbiasedProgram(x, p / p.sum(), np.e)
    monkeypatch.setattr(unbiased_optimum, "solve_by_barrier", lambda *_: None)
    monkeypatch.setattr(unbiased_optimum, "STUBBORN", 40)
    monkeypatch.setattr(unbiased_optimum, "FEWER", 33)
    best = solve_unbiased(program.knots, program.weights, program.ratio)
    assert best.status is Status.GAP_OPEN
    assert best.gap < 2e-3
    assert best.value == program.objective(*best.solution)
    assert best.bound == certified_bound(program, **best.multipliers)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [30.0, 34.0, 300.0, 700.0])
def test_budgets_beyond_doubles_have_an_honest_status(epsilon):
    """F is smaller than its own rounding there: no start, or none that leads anywhere, and no warning."""
    best = solve_unbiased(np.linspace(-1, 1, 18), np.full(18, 1 / 18), float(np.exp(epsilon)))
    assert best.bound <= best.value
    assert (best.status is Status.OPTIMAL) == (best.gap <= 1e-6)


def test_many_clustered_knots_without_windows_are_bounded_by_nothing_worse(monkeypatch):
    """Multipliers of fewer knots need not have two roots in every row."""
    rng = np.random.default_rng(0)
    x = np.unique(np.append([-1, 1], 1 - 10.0 ** rng.uniform(-12, 0, 88)))
    p = rng.choice([0.0, 1.0], len(x))
    monkeypatch.setattr(unbiased_optimum, "solve_by_barrier", lambda *_: None)
    monkeypatch.setattr(unbiased_optimum, "STUBBORN", 40)
    monkeypatch.setattr(unbiased_optimum, "FEWER", 30)
    best = solve_unbiased(x, p / p.sum(), float(np.exp(5.0)), tolerance=1e-3)
    assert best.bound <= best.value


@pytest.mark.slow
def test_who_watches_changes_nothing():
    x, p = np.linspace(-1, 1, 60), np.zeros(60)
    p[[0, -1]] = 0.5
    told: list[Progress] = []
    ratio = float(np.exp(7.0))
    one, other = solve_unbiased(x, p, ratio), solve_unbiased(x, p, ratio, progress=told.append)
    assert one.bound == other.bound
    assert one.value == other.value
    assert all(step.bound <= step.value * (1 + 1e-6) for step in told)


def test_a_system_that_is_singular_loses_the_path(monkeypatch):
    def fails(*_: object) -> None:
        raise RuntimeError("Factor is exactly singular")

    monkeypatch.setattr(path, "_system", fails)
    assert solve_by_barrier(X, BELL, np.e, 1e-6, silent) is None


def test_a_path_without_steps_is_lost(monkeypatch):
    monkeypatch.setattr(path, "MOST_STEPS", 3)
    assert solve_by_barrier(X, BELL, np.e, 1e-6, silent) is None


@pytest.mark.nightly
def test_grids_are_walked_from_coarse_to_fine(monkeypatch):
    """Most steps on few knots; and from nothing where no coarse state will do."""
    x = np.linspace(-1, 1, 257)
    p = np.exp(-0.5 * (x / 0.3) ** 2)
    p /= p.sum()
    sizes: list[int] = []
    before = solve_by_barrier(x, p, np.e, 1e-6, lambda value, multipliers, pieces: sizes.append(pieces))
    assert before is not None
    assert min(sizes) <= 67
    assert sum(size > 400 for size in sizes) < 30
    monkeypatch.setattr(barrier_optimum, "NEAR", -1.0)
    cold = solve_by_barrier(x, p, np.e, 1e-6, silent)
    assert cold is not None
    assert cold.floor.objective == pytest.approx(before.floor.objective, rel=2e-6)
