"""From many outputs to at most 3n: no variance rises."""

import numpy as np
import pytest
from optldp.mechanisms import SolverError
from optldp.solvers import MinimaxProgram, RobustProgram
from optldp.solvers.robust import MixedSet
from optldp.solvers.robust.iterate import RobustIterate
from optldp.solvers.robust.newton import robust_step
from optldp.solvers.robust.saddle_point import sparse_minimax
from optldp.solvers.unbiased.starting_point import starting_outputs, starting_point
from optldp.solvers.unbiased.window_rows import stretched_rows


def interior(program: MinimaxProgram, gap: float = 1e-6) -> RobustIterate:
    """A nearly optimal interior point on many more outputs than a basis has."""
    n = len(program.knots)
    rho = np.full(n, program.share / n)
    point = starting_point(program.mixed(rho), starting_outputs(program.mixed(rho), 6 * n + 10))
    variances = program.variances(point.outputs, point.probabilities)
    it = RobustIterate(point, rho, 1.1 * variances.max() - variances, rho, 1.1 * variances.max())
    mixtures = RobustProgram(program.knots, program.ratio, MixedSet(program.prior, program.share))
    polytope = mixtures.priors.polytope()
    while it.complementarity > gap * abs(it.point.dual_objective):
        it = robust_step(mixtures, polytope, it)
    return it


def problem(random_program, seed: int) -> MinimaxProgram:
    drawn = random_program(seed, budgets=(0.1, 5.0))
    return MinimaxProgram(drawn.knots, drawn.weights, drawn.ratio, [1.0, 0.2][seed % 2])


@pytest.mark.parametrize("seed", range(12))
def test_at_most_3n_outputs_remain_and_no_variance_rises(random_program, seed):
    program = problem(random_program, seed)
    it = interior(program)
    outputs, P = sparse_minimax(program, it.point.outputs, it.point.t)
    assert len(outputs) <= 3 * len(program.knots) < len(it.point.outputs)
    before = program.variances(*stretched_rows(program.mixed(it.x), it.point.outputs, it.point.t))
    assert np.all(program.variances(outputs, P) <= before * (1 + 1e-7))
    assert np.all(before <= program.variances(it.point.outputs, it.point.probabilities) * (1 + 1e-7))


@pytest.mark.parametrize("seed", range(12))
def test_what_remains_is_feasible(random_program, seed):
    program = problem(random_program, seed)
    it = interior(program)
    outputs, P = sparse_minimax(program, it.point.outputs, it.point.t)
    np.testing.assert_allclose(P.sum(1), 1, rtol=0, atol=1e-14)
    np.testing.assert_allclose(P @ outputs, program.knots, rtol=0, atol=1e-13 * np.abs(outputs).max())
    assert P.min() > 0
    assert np.all(P.max(0) <= program.ratio * P.min(0) * (1 + 1e-15))
    assert np.all(np.diff(outputs) > 0)


def test_a_clean_up_that_would_cost_more_is_not_used(random_program, monkeypatch):
    """Where a fall by half is demanded, the dense rows come back."""
    monkeypatch.setattr("optldp.solvers.robust.saddle_point.COST_SLACK", -0.5)
    program = problem(random_program, 2)
    it = interior(program)
    dense = stretched_rows(program.mixed(it.x), it.point.outputs, it.point.t)
    for got, expected in zip(sparse_minimax(program, it.point.outputs, it.point.t), dense, strict=True):
        np.testing.assert_array_equal(got, expected)


def test_a_clean_up_without_rows_is_not_used(random_program, monkeypatch):
    """Where rounding leaves the lighter floor without rows, the dense ones come back."""
    calls = []

    def fails_the_second_time(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise SolverError("no rows")
        return stretched_rows(*arguments)

    monkeypatch.setattr("optldp.solvers.robust.saddle_point.stretched_rows", fails_the_second_time)
    program = problem(random_program, 2)
    it = interior(program)
    outputs, _ = sparse_minimax(program, it.point.outputs, it.point.t)
    assert len(calls) == 2
    assert len(outputs) == len(it.point.outputs)


def test_a_floor_without_rows_is_an_error(random_program):
    program = problem(random_program, 2)
    with pytest.raises(SolverError):
        sparse_minimax(program, np.array([-0.5, 0.5]), np.array([0.4, 0.4]))
