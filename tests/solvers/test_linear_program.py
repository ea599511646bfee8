"""The HiGHS adapter: right answers, right signs of the duals, and one error for every other end of a run."""

import math
import subprocess
import sys

import highspy
import numpy as np
import pytest
from optldp.mechanisms import InputError, SolverError
from optldp.solvers.linear_program import LinearProgram, solve_linear_program
from scipy import sparse
from scipy.optimize import linprog


def random_program(seed: int) -> LinearProgram:
    """A bounded, feasible program with equations, one-sided rows and zero coefficients."""
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(12, 30)) * (rng.random((12, 30)) < 0.4)
    inside = rng.random(30)
    activity = matrix @ inside
    slack = np.where(np.arange(12) < 4, 0.0, 0.1)
    return LinearProgram(
        cost=rng.normal(size=30),
        matrix=sparse.csc_array(matrix),
        row_lower=activity - slack,
        row_upper=np.where(slack > 0, math.inf, activity),
        lower=np.zeros(30),
        upper=np.ones(30),
    )


METHODS = [("choose", True), ("simplex", True), ("ipm", True), ("ipm", False)]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("solver", "crossover"), METHODS)
def test_every_solver_finds_scipys_optimum(seed, solver, crossover):
    program = random_program(seed)
    equal = program.row_lower == program.row_upper
    dense = program.matrix.toarray()
    expected = linprog(
        program.cost,
        -dense[~equal],
        -program.row_lower[~equal],
        dense[equal],
        program.row_lower[equal],
        (0, 1),
    )
    got = solve_linear_program(program, solver=solver, crossover=crossover)
    assert got.objective == pytest.approx(expected.fun, abs=1e-7)
    assert program.cost @ got.x == pytest.approx(got.objective, abs=1e-7)
    np.testing.assert_allclose(got.row_duals[equal], expected.eqlin.marginals, atol=1e-6)


@pytest.mark.nightly
def test_nothing_is_printed_by_the_first_model_of_a_process():
    """On the descriptor itself, past whatever Python writes to: 1.16 prints a banner as its first object is made."""
    made = "from scipy.sparse import csc_array\nimport numpy as np, math\n"
    made += "from optldp.solvers.linear_program import LinearProgram, solve_linear_program\n"
    made += "one = np.ones(1)\nprogram = LinearProgram(one, csc_array([[1.0]]), one, one, 0 * one, one)\n"
    done = subprocess.run(
        [sys.executable, "-c", made + "solve_linear_program(program)"], capture_output=True, check=True
    )
    assert (done.stdout, done.stderr) == (b"", b"")


def test_output_is_off_before_the_constructor_calls_what_logs(monkeypatch):
    """Whichever version of HiGHS is installed: what its constructor calls finds the output off."""
    seen = []

    def logs(highs):
        seen.append(highs.getOptionValue("output_flag")[1])

    monkeypatch.setattr(highspy.Highs, "enableCallbacks", logs)
    solve_linear_program(one_row())
    assert seen == [False]


def one_row(**change) -> LinearProgram:
    """minimise x + 3 y subject to x + y = 2, 0 <= x <= 1.5, 0 <= y."""
    parts = {
        "cost": np.array([1.0, 3.0]),
        "row_lower": np.array([2.0]),
        "row_upper": np.array([2.0]),
        "lower": np.zeros(2),
        "upper": np.array([1.5, math.inf]),
    }
    return LinearProgram(matrix=sparse.csc_array([[1.0, 1.0]]), **(parts | change))


def test_row_duals_are_shadow_prices():
    assert solve_linear_program(one_row()).row_duals == pytest.approx([3.0])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"upper": np.full(2, 0.1)}, "infeasible"),
        ({"row_lower": np.array([-math.inf]), "lower": np.full(2, -math.inf)}, "unbounded"),
    ],
)
def test_a_program_without_optimum_is_one_error(change, says):
    with pytest.raises(SolverError, match=says):
        solve_linear_program(one_row(**change))


@pytest.mark.parametrize(
    "change",
    [
        {"cost": np.array([1.0, math.nan])},
        {"cost": np.array([1.0, math.inf])},
        {"upper": np.array([math.nan, 1.0])},
        {"lower": np.zeros(3)},
        {"row_lower": np.zeros(2)},
    ],
)
def test_malformed_programs_are_refused(change):
    with pytest.raises(InputError):
        one_row(**change)


def test_a_time_limit_is_kept_and_named():
    rng = np.random.default_rng(0)
    matrix = sparse.csc_array(rng.random((300, 600)))
    program = LinearProgram(
        rng.random(600), matrix, np.ones(300), np.full(300, math.inf), np.zeros(600), np.full(600, math.inf)
    )
    with pytest.raises(SolverError, match="time limit"):
        solve_linear_program(program, time_limit=1e-4)
