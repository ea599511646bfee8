"""Programs lowered to cones: bounds from any dual vector, against other solvers and closed forms."""

# cvxpy's comparisons are constraints, which its types do not say.
# pyright: reportArgumentType=false

import math

import cvxpy as cp
import numpy as np
import pytest
from optldp.mechanisms import InputError, SolverError
from optldp.solvers.conic_program import ConeProgram
from scipy.optimize import linprog, lsq_linear

RNG = np.random.default_rng(7)
A, B = RNG.normal(size=(6, 4)), RNG.normal(size=6)
P = np.array([0.1, 0.2, 0.3, 0.4])


def in_box(residual):
    """The least r . x for x in [0, 1]."""
    return float(np.minimum(residual, 0).sum())


def linear():
    """Least largest entry of A x - b over the box, against scipy's HiGHS."""
    x = cp.Variable(4)
    problem = cp.Problem(cp.Minimize(cp.max(A @ x - B)), [x >= 0, x <= 1])
    rows = np.hstack([A, -np.ones((6, 1))])
    found = linprog([0, 0, 0, 0, 1], A_ub=rows, b_ub=B, bounds=[(0, 1)] * 4 + [(None, None)])
    return problem, {x: in_box}, found.fun


def quadratic():
    """Least |A x - b| over the box, against scipy's bounded least squares."""
    x = cp.Variable(4)
    problem = cp.Problem(cp.Minimize(cp.norm(A @ x - B)), [x >= 0, x <= 1])
    return problem, {x: in_box}, math.sqrt(2 * lsq_linear(A, B, (0, 1), tol=1e-14).cost)


def squares():
    """The same squared, plus a number, so that cvxpy adds another cone and an offset."""
    x = cp.Variable(4)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(A @ x - B) + 3), [x >= 0, x <= 1])
    return problem, {x: in_box}, 3 + 2 * lsq_linear(A, B, (0, 1), tol=1e-14).cost


def logarithms():
    """The cross entropy of p is least at p: its entropy."""
    x = cp.Variable(4)
    problem = cp.Problem(cp.Minimize(-P @ cp.log(x)), [cp.sum(x) == 1, x >= 0])
    return problem, {x: lambda r: float(r.min())}, float(-P @ np.log(P))


def exponentials():
    """The sum of exp(-x) over the simplex is least where all are alike."""
    x = cp.Variable(4)
    problem = cp.Problem(cp.Minimize(cp.log_sum_exp(-3 * x)), [cp.sum(x) == 1, x >= 0])
    return problem, {x: lambda r: float(r.min())}, math.log(4) - 0.75


def without_weight():
    """Variables of no cost, whose multipliers must vanish: least |x_0 - 2| over the box."""
    x = cp.Variable(4)
    problem = cp.Problem(cp.Minimize(np.array([1.0, 0, 0, 0]) @ cp.abs(x - 2)), [x >= 0, x <= 1])
    return problem, {x: in_box}, 1.0


PROGRAMS = [linear, quadratic, squares, logarithms, exponentials, without_weight]


@pytest.mark.parametrize("made", PROGRAMS, ids=lambda made: made.__name__)
def test_the_bound_is_the_optimum_of_another_solver(made):
    problem, least, optimum = made()
    program = ConeProgram.of(problem, list(least))
    primal, dual = program.solve()
    bound = program.bound(dual, least)
    assert program.cost @ primal + program.offset == pytest.approx(optimum, rel=1e-7)
    assert optimum * (1 - 1e-7) <= bound <= optimum * (1 + 1e-12)


@pytest.mark.parametrize("made", PROGRAMS, ids=lambda made: made.__name__)
def test_no_dual_vector_proves_more(made):
    """Whatever it is: another size, noise small and large, of a multiple of one cone's part, none at all."""
    problem, least, optimum = made()
    program = ConeProgram.of(problem, list(least))
    dual = program.solve()[1]
    forged = [factor * dual for factor in (-1, 0, 0.5, 0.999, 1.001, 2, 1e6)]
    forged += [dual + size * RNG.normal(size=dual.size) for size in (1e-9, 1e-6, 1e-3, 1, 1e3) for _ in range(5)]
    forged += [np.where(np.arange(dual.size) == row, 1.5, 1.0) * dual for row in range(dual.size)]
    bounds = [program.bound(each, least) for each in forged]
    assert max(bounds) <= optimum * (1 + 1e-9)
    assert np.isfinite(bounds).sum() >= 5  # many are moved back to where they prove something


def test_an_unknown_variable_that_could_be_anything_leaves_no_bound():
    """r is not zero on x, of which nothing is said: x could pay any bound off."""
    x, y = cp.Variable(), cp.Variable()
    program = ConeProgram.of(cp.Problem(cp.Minimize(x + y), [x + y >= 1, y <= 1, y >= 0]), [y])
    unmoved = np.zeros(3)
    assert program.bound(unmoved, {y: in_box}) <= 1 + 1e-12
    free = ConeProgram.of(cp.Problem(cp.Minimize(x + y), [y >= 0, y <= 1]), [y])
    assert free.bound(np.zeros(2), {y: in_box}) == -math.inf


@pytest.mark.parametrize("vector", [np.zeros(3), np.full(10, np.nan)], ids=["of another size", "no numbers"])
def test_multipliers_of_no_such_program_are_refused(vector):
    problem, least, _ = linear()
    program = ConeProgram.of(problem, list(least))
    with pytest.raises(InputError, match="multipliers must be 14 finite numbers"):
        program.bound(vector if vector.size == 3 else np.full(program.right.size, np.nan), least)


def test_what_cannot_be_solved_is_told_in_one_line():
    x, whole = cp.Variable(), cp.Variable(integer=True)
    with pytest.raises(SolverError, match="Clarabel ended with PrimalInfeasible: loosen its constraints"):
        ConeProgram.of(cp.Problem(cp.Minimize(x), [x >= 1, x <= 0]), [x]).solve()
    with pytest.raises(SolverError, match="Clarabel ended with DualInfeasible"):
        ConeProgram.of(cp.Problem(cp.Minimize(x), [x <= 0]), [x]).solve()
    with pytest.raises(InputError, match="got one with whole numbers"):
        ConeProgram.of(cp.Problem(cp.Minimize(whole), [whole >= 0.5]), [whole])
    matrix = cp.Variable((2, 2), symmetric=True)
    with pytest.raises(InputError, match="got one of matrices or powers: write it with squares"):
        ConeProgram.of(cp.Problem(cp.Minimize(cp.lambda_max(matrix)), [cp.trace(matrix) == 1]), [matrix])


def test_a_missing_solver_is_told_in_one_line(monkeypatch):
    monkeypatch.setattr(cp, "installed_solvers", lambda: ["SCS"])
    x = cp.Variable()
    with pytest.raises(SolverError, match="need Clarabel, which cvxpy does not find: pip install clarabel"):
        ConeProgram.of(cp.Problem(cp.Minimize(x), [x >= 1]), [x])
