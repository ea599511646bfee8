"""The structured interior point on given outputs."""

import math

import numpy as np
import pytest
from optldp.mechanisms import SolverError
from optldp.solvers import solve_on_outputs, solve_with_highs


def problem(n: int, m: int, epsilon: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    knots = np.linspace(-1, 1, n)
    weights = np.exp(-6 * (knots + 1))
    reach = 1.6 * (math.exp(epsilon) + 1) / math.expm1(epsilon)
    return knots, weights / weights.sum(), np.linspace(-reach, reach, m)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_it_agrees_with_highs_on_the_same_program(epsilon: float) -> None:
    """A general simplex solver finds the same optimum."""
    knots, weights, outputs = problem(9, 65, epsilon)
    ours = solve_on_outputs(knots, weights, outputs, math.exp(epsilon), tolerance=1e-9)
    rival = solve_with_highs(knots, weights, outputs, epsilon, solver="simplex")
    assert ours.value == pytest.approx(rival.value, rel=1e-7)
    assert ours.bound <= ours.value
    assert ours.gap <= 1e-9


def test_its_rows_are_feasible_to_rounding() -> None:
    """Rows sum to one, are unbiased and keep the ratio."""
    knots, weights, outputs = problem(17, 129, 1.0)
    found = solve_on_outputs(knots, weights, outputs, math.e)
    P = found.solution.probabilities
    assert np.abs(P.sum(1) - 1).max() < 1e-13
    assert np.all(np.abs(found.solution.outputs - outputs) <= 1.01e-7 * np.abs(outputs))
    assert np.abs(P @ found.solution.outputs - knots).max() < 1e-12
    assert (P.max(0) / P.min(0)).max() <= math.e * (1 + 1e-15)


def test_outputs_that_reach_not_far_enough_are_refused() -> None:
    """No unbiased mechanism exists inside Duchi's outputs."""
    knots, weights, _ = problem(5, 9, 1.0)
    with pytest.raises(SolverError, match="outputs must reach beyond"):
        solve_on_outputs(knots, weights, np.linspace(-1.5, 1.5, 9), math.e)
