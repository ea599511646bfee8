"""Points of the path, on the way and near its end."""

import numpy as np
import pytest
from optldp.solvers.barrier.column_value import ColumnValue
from optldp.solvers.barrier.path import Walk
from optldp.solvers.barrier.problem import Problem, State
from optldp.solvers.barrier.start import start


@pytest.fixture
def some_problem():
    """A random problem of few knots."""

    def make(seed: int, knots: int = 12) -> Problem:
        rng = np.random.default_rng(seed)
        x = np.concatenate([[-1.0], np.sort(rng.uniform(-1, 1, knots - 2)), [1.0]])
        p = rng.dirichlet(np.ones(knots)) + 1e-3
        return Problem.of(x, p / p.sum(), float(np.exp(rng.uniform(0.2, 3))))

    return make


@pytest.fixture
def some_point(some_problem):
    """A point of its path, early or late, moved at random but with F positive."""

    def make(seed: int, knots: int = 12) -> tuple[Problem, State, ColumnValue]:
        problem, rng = some_problem(seed, knots), np.random.default_rng(seed)
        passed: list[State] = []
        first = start(problem)
        assert first is not None
        Walk(problem, first).until(lambda here: passed.append(here.state) or len(passed) > 3 * seed)
        state = passed[-1]
        by = rng.normal(size=2 * knots) * 0.1 * np.concatenate([np.abs(state.lam), np.abs(state.nu)])
        for step in 0.5 ** np.arange(40):
            moved = state.moved(by, step)
            F = problem.at(moved)
            if F.proper and F.lowest > 0.5 * problem.at(state).lowest:
                return problem, moved, F
        raise AssertionError("a point of the path must be inside")

    return make
