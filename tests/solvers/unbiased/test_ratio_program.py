"""The optimal mechanism on given outputs: two solvers agree with each other and with known optima."""

import math

import numpy as np
import pytest
from optldp.mechanisms import InputError, SolverError
from optldp.solvers import Status, solve_with_cvxpy, solve_with_highs

KNOTS = np.linspace(-1.0, 1.0, 17)
PRIORS = {
    "gaussian": np.exp(-(KNOTS**2) / (2 * 0.1**2)),
    "exponential": np.exp(-6.0 * (KNOTS + 1.0)),
    "uniform": np.ones(17),
}
REFERENCE = {
    "gaussian": {0.5: 15.764916, 1.0: 3.345629, 2.0: 0.526262, 4.0: 0.046030},
    "exponential": {0.5: 15.795037, 1.0: 3.803270, 2.0: 0.770015, 4.0: 0.083001},
    "uniform": {0.5: 16.000626, 1.0: 3.909797, 2.0: 0.788867, 4.0: 0.108200},
}
"""Continuous-output optima, certified to a relative gap of 1e-6, printed to six decimals."""


def output_grid(epsilon: float, m: int) -> np.ndarray:
    """Outputs over one and a half times the range of Duchi's."""
    reach = 1.5 * (math.exp(epsilon) + 1) / (math.exp(epsilon) - 1)
    return np.linspace(-reach, reach, m)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("name", list(PRIORS))
def test_a_finer_output_grid_approaches_the_reference_optimum_from_above(name, epsilon):
    weights = PRIORS[name] / PRIORS[name].sum()
    coarse, fine = (
        solve_with_highs(KNOTS, weights, output_grid(epsilon, m), epsilon, solver="ipm").value for m in (49, 193)
    )
    reference = REFERENCE[name][epsilon]
    assert reference - 1e-6 < fine <= coarse + 1e-7
    assert fine < reference * (1.002 if epsilon < 4 else 1.05)


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
@pytest.mark.parametrize("name", list(PRIORS))
def test_highs_and_clarabel_agree_in_objective_and_duals(name, epsilon):
    weights = PRIORS[name] / PRIORS[name].sum()
    outputs = output_grid(epsilon, 41)
    first = solve_with_highs(KNOTS, weights, outputs, epsilon)
    second = solve_with_cvxpy(KNOTS, weights, outputs, epsilon)
    assert first.value == pytest.approx(second.value, rel=1e-6)
    for solution in (first, second):
        # The duals of an optimum are not unique, the bound they prove is.
        assert solution.multipliers["lam"].sum() == pytest.approx(first.value, rel=1e-6)
        assert dual_violation(solution, weights, outputs, epsilon) < 1e-6
        assert constraint_violation(solution, outputs, epsilon) < 1e-7
        assert solution.status is Status.OPTIMAL
        assert solution.gap < 1e-7


def dual_violation(solution, weights, outputs, epsilon) -> float:
    """How far F(y) = sum_i min(g_i, e^epsilon g_i) falls below zero, relative to the objective."""
    deviation = outputs - KNOTS[:, None]
    reduced = (
        weights[:, None] * deviation**2
        - solution.multipliers["lam"][:, None]
        - solution.multipliers["nu"][:, None] * deviation
    )
    return -np.minimum(reduced, math.exp(epsilon) * reduced).sum(axis=0).min() / solution.value


def constraint_violation(solution, outputs, epsilon) -> float:
    table = solution.solution
    ratio = (table.max(axis=0) - math.exp(epsilon) * table.min(axis=0)).max()
    sums = np.abs(table.sum(axis=1) - 1).max()
    return max(ratio, sums, np.abs(table @ outputs - KNOTS).max(), -table.min())


@pytest.mark.parametrize("solve", [solve_with_highs, solve_with_cvxpy])
def test_another_unit_and_origin_only_rescale(solve):
    weights = PRIORS["exponential"] / PRIORS["exponential"].sum()
    outputs = output_grid(1.0, 33)
    plain = solve(KNOTS, weights, outputs, 1.0)
    moved = solve(1e4 * KNOTS + 5e4, weights, 1e4 * outputs + 5e4, 1.0)
    assert moved.value == pytest.approx(1e8 * plain.value, rel=1e-6)
    assert moved.multipliers["lam"].sum() == pytest.approx(1e8 * plain.multipliers["lam"].sum(), rel=1e-6)
    table = moved.solution
    assert moved.bound == pytest.approx(1e8 * plain.bound, rel=1e-6)
    reduced = np.abs(table @ (1e4 * outputs) - 1e4 * KNOTS).max()
    assert reduced < 1e-3


def test_two_knots_at_the_ends_give_randomised_response():
    """With outputs +-C only, Duchi's mechanism is the one feasible point."""
    reach = (math.e + 1) / (math.e - 1)
    solution = solve_with_highs([-1, 1], [0.5, 0.5], [-reach, reach], 1.0)
    assert solution.value == pytest.approx(reach**2 - 1)
    assert solution.solution[0, 0] == pytest.approx(math.e / (1 + math.e))


@pytest.mark.parametrize("solve", [solve_with_highs, solve_with_cvxpy])
def test_outputs_too_narrow_for_the_budget_are_infeasible(solve):
    with pytest.raises(SolverError, match="infeasible"):
        solve(KNOTS, np.ones(17), np.linspace(-1.5, 1.5, 9), 1.0)


@pytest.mark.parametrize(
    "arguments",
    [
        ([0], [1], [0], 1.0),
        ([0, 1], [1], [0, 1], 1.0),
        ([0, 0], [1, 1], [0, 1], 1.0),
        ([0, 1], [1, -1], [0, 1], 1.0),
        ([0, math.nan], [1, 1], [0, 1], 1.0),
        ([0, 1], [1, 1], [], 1.0),
        ([0, 1], [1, 1], [0, 1], 0.0),
        ([0, 1], [1, 1], [0, 1], 1e4),
        ([0, 1], [1, 1], [0, 1], math.nan),
    ],
)
def test_malformed_programs_are_refused(arguments):
    with pytest.raises(InputError):
        solve_with_highs(*arguments)
