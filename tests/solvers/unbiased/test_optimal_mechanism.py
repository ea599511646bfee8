"""The certified optimum: known optima, awkward programs, and honesty about what was reached."""

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.mechanisms import InputError, SolverError
from optldp.solvers import (
    Optimum,
    Progress,
    Rows,
    Status,
    UnbiasedProgram,
    certified_bound,
    solve_unbiased,
    solve_with_highs,
)
from optldp.solvers.unbiased import optimal_mechanism as unbiased_optimum
from optldp.solvers.unbiased import primal_dual
from optldp.solvers.unbiased.interior_point import newton_step
from optldp.solvers.unbiased.optimal_mechanism import solve_floor
from optldp.solvers.unbiased.window_rows import stretched_rows, two_outputs

KNOTS = np.linspace(-1, 1, 17)
PRIORS = {
    "gaussian": np.exp(-(KNOTS**2) / (2 * 0.1**2)),
    "exponential": np.exp(-6 * (KNOTS + 1)),
    "uniform": np.ones(17),
}
REFERENCE = {
    "gaussian": {0.5: 15.764916, 1.0: 3.345629, 2.0: 0.526262, 4.0: 0.046030},
    "exponential": {0.5: 15.795037, 1.0: 3.803270, 2.0: 0.770015, 4.0: 0.083001},
    "uniform": {0.5: 16.000626, 1.0: 3.909797, 2.0: 0.788867, 4.0: 0.108200},
}
"""Continuous-output optima of a column generation of its own, relative gap below 1e-6, printed to six decimals."""


def checked(knots: np.ndarray, weights: np.ndarray, epsilon: float, *, tolerance: float = 1e-6) -> Optimum[Rows]:
    """Solve, and recompute all that the result claims."""
    weights = np.asarray(weights, dtype=float) / np.sum(weights)
    program = UnbiasedProgram(knots, weights, float(np.exp(epsilon)))
    best = solve_unbiased(program.knots, weights, program.ratio, tolerance=tolerance)
    recheck(program, best, tolerance)
    return best


def recheck(program: UnbiasedProgram, best: Optimum[Rows], tolerance: float = 1e-6) -> None:
    """Feasible to rounding, no dearer than Duchi's, certified, and called optimal only if it is."""
    outputs, P = best.solution
    np.testing.assert_allclose(P.sum(1), 1, rtol=0, atol=1e-13)
    bias = (program.offsets(outputs) * P).sum(1)
    np.testing.assert_allclose(bias, 0, rtol=0, atol=1e-12 * np.abs(outputs).max())
    assert P.min() > 0
    assert np.all(P.max(0) <= program.ratio * P.min(0) * (1 + 1e-15))
    assert np.all(np.diff(outputs) > 0)
    assert best.value == program.objective(outputs, P)
    assert best.value <= program.objective(*two_outputs(program))
    assert best.bound == certified_bound(program, **best.multipliers)
    assert best.bound <= best.value * (1 + 1e-14)
    assert (best.status is Status.OPTIMAL) == (best.gap <= tolerance)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("name", list(PRIORS))
def test_the_reference_optima_come_out_to_six_digits(name, epsilon):
    best = checked(KNOTS, PRIORS[name], epsilon)
    assert best.status is Status.OPTIMAL
    assert best.value == pytest.approx(REFERENCE[name][epsilon], rel=1e-6, abs=6e-7)
    assert len(best.solution.outputs) <= 34


@pytest.mark.nightly
@pytest.mark.parametrize("name", list(PRIORS))
def test_a_grid_of_outputs_is_no_better_and_not_much_worse(name):
    """HiGHS on 201 outputs, an optimum over fewer mechanisms."""
    weights = PRIORS[name] / PRIORS[name].sum()
    best = checked(KNOTS, weights, 1.0)
    reach = 1.3 * (np.e + 1) / (np.e - 1)
    grid = solve_with_highs(KNOTS, weights, np.linspace(-reach, reach, 201), 1.0, solver="ipm").value
    assert best.value * (1 - 1e-6) <= grid <= best.value * 1.002


AWKWARD = {
    "zeros at the ends": [0, 0, 1, 3, 2, 0, 0],
    "zeros in the middle": [1, 2, 0, 0, 0, 2, 1],
    "a point mass inside": [0, 0, 0, 1, 0, 0, 0],
    "a point mass at an end": [1, 0, 0, 0, 0, 0, 0],
    "two point masses": [1, 0, 0, 0, 0, 1, 0],
    "thirty decades": 10.0 ** -np.linspace(0, 30, 7),
    "three hundred decades": 10.0 ** -np.linspace(0, 300, 7),
    "the smallest double": [1, 5e-324, 5e-324, 5e-324, 5e-324, 5e-324, 5e-324],
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("name", list(AWKWARD))
def test_awkward_priors_are_solved(name, epsilon):
    best = checked(np.linspace(-1, 1, 7), np.array(AWKWARD[name], dtype=float), epsilon)
    assert best.status is Status.OPTIMAL
    assert len(best.solution.outputs) <= 14


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(25))
def test_spiky_random_priors_on_random_knots_are_solved(seed):
    """Dirichlet(0.05) weights, up to forty knots, budgets from 0.02 to 12."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 41))
    knots = np.concatenate([[-1.0], np.sort(rng.uniform(-1, 1, n - 2)), [1.0]])
    best = checked(knots, rng.dirichlet(np.full(n, 0.05)), float(np.exp(rng.uniform(*np.log([0.02, 12])))))
    assert best.status is Status.OPTIMAL
    assert len(best.solution.outputs) <= 2 * n


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 8.0])
@pytest.mark.parametrize("share", [0.5, 0.1])
def test_for_two_knots_randomised_response_is_optimal(share, epsilon):
    """Source: Duchi, Jordan and Wainwright (2018); variance ((E + 1)/(E - 1))^2 - 1 at both ends."""
    best = checked(np.array([-1.0, 1.0]), np.array([share, 1 - share]), epsilon)
    assert best.value == pytest.approx(1 / np.tanh(epsilon / 2) ** 2 - 1, rel=1e-6 if epsilon < 5 else 1e-4)


@pytest.mark.nightly
@settings(max_examples=15, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1))
def test_mirroring_the_prior_mirrors_the_optimum(random_program, seed):
    program = random_program(seed, budgets=(0.05, 5.0))
    epsilon = float(np.log(program.ratio))
    one = checked(program.knots, program.weights, epsilon)
    other = checked(-program.knots[::-1], program.weights[::-1], epsilon)
    assert one.value == pytest.approx(other.value, rel=2e-6)


def test_a_symmetric_prior_has_an_equally_good_symmetric_optimum():
    """Averaging a mechanism with its mirror image keeps everything, so the optima agree with mirrored rows."""
    weights = PRIORS["gaussian"] / PRIORS["gaussian"].sum()
    best = checked(KNOTS, weights, 1.0)
    mirrored = UnbiasedProgram(KNOTS, weights, np.e).objective(
        -best.solution.outputs[::-1], best.solution.probabilities[::-1, ::-1]
    )
    assert mirrored == pytest.approx(best.value, rel=1e-12)


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["gaussian", "uniform"])
def test_more_budget_never_hurts(name):
    objectives = [checked(KNOTS, PRIORS[name], epsilon).value for epsilon in np.geomspace(0.05, 8, 12)]
    assert np.all(np.diff(objectives) < 0)


@pytest.mark.nightly
@settings(max_examples=15, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1))
def test_knowing_which_of_two_priors_holds_is_worth_something(random_program, seed):
    """A minimum of functions linear in the prior is concave: a mixture's optimum is no less than the mean of optima."""
    program = random_program(seed, budgets=(0.1, 5.0))
    epsilon = float(np.log(program.ratio))
    other = np.random.default_rng(seed).dirichlet(np.ones(len(program.knots)))
    optima = [checked(program.knots, p, epsilon).value for p in (program.weights, other)]
    mixed = checked(program.knots, 0.5 * (program.weights + other), epsilon).value
    assert mixed >= np.mean(optima) * (1 - 2e-6)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1e-5, 1e-3, 10.0, 16.0])
@pytest.mark.parametrize("name", list(PRIORS))
def test_extreme_budgets_give_a_feasible_mechanism_and_an_honest_status(name, epsilon):
    """`checked` recomputes the claims; whatever the status, the gap is small and the outputs few."""
    best = checked(KNOTS, PRIORS[name], epsilon)
    assert best.gap < 1e-3
    assert len(best.solution.outputs) <= 34


def test_a_looser_tolerance_takes_fewer_steps_and_is_kept():
    tight, loose = (checked(KNOTS, PRIORS["uniform"], 1.0, tolerance=tolerance) for tolerance in (1e-6, 1e-2))
    assert loose.steps < tight.steps
    assert tight.value <= loose.value <= tight.value * 1.01
    assert loose.status is Status.OPTIMAL


@pytest.mark.parametrize("steps", [0, 3, 8, 16])
def test_a_path_that_runs_out_of_steps_says_so(monkeypatch, steps):
    """Mechanism and bound are valid however early the end."""
    monkeypatch.setattr(primal_dual, "MAX_STEPS", steps)
    best = checked(KNOTS, PRIORS["uniform"], 1.0)
    assert best.status is Status.GAP_OPEN
    assert best.steps == steps
    assert best.bound <= REFERENCE["uniform"][1.0] <= best.value


def test_a_step_that_fails_ends_the_path_at_the_last_good_point(monkeypatch):
    taken = []

    def fails_at_last(program, it):
        taken.append(it)
        if len(taken) == 15:
            raise SolverError("rounding")
        return newton_step(program, it)

    monkeypatch.setattr(primal_dual, "newton_step", fails_at_last)
    best = checked(KNOTS, PRIORS["uniform"], 1.0)
    assert best.status is Status.GAP_OPEN
    assert best.value < 1.1 * REFERENCE["uniform"][1.0]


def test_the_best_of_the_path_is_kept_on_both_sides(monkeypatch):
    """Near the end rounding can throw the path back: what was reached before must not be lost."""
    taken = []

    def falls_back(program, it):
        taken.append(it)
        return taken[8] if len(taken) == 15 else newton_step(program, it)

    monkeypatch.setattr(primal_dual, "newton_step", falls_back)
    monkeypatch.setattr(primal_dual, "MAX_STEPS", 16)
    best = checked(KNOTS, PRIORS["uniform"], 1.0)
    program = UnbiasedProgram(KNOTS, np.full(17, 1 / 17), np.e)
    before, after = taken[14], taken[15]
    assert best.value <= program.objective(before.outputs, before.probabilities)
    assert best.value < program.objective(after.outputs, after.probabilities)
    assert best.bound >= certified_bound(program, before.lam, before.nu)
    assert best.bound > certified_bound(program, after.lam, after.nu)


def test_a_step_that_is_not_finite_is_the_last(monkeypatch):
    monkeypatch.setattr(primal_dual, "newton_step", lambda program, it: replace(it, s=it.s * np.nan))
    best = checked(KNOTS, PRIORS["uniform"], 1.0)
    assert best.status is Status.GAP_OPEN
    assert best.steps == 1


def test_where_the_clean_up_fails_the_two_outputs_remain(monkeypatch):
    """And they are judged by the same certificate."""

    def fails(*_):
        raise SolverError("no rows")

    monkeypatch.setattr(unbiased_optimum, "sparse_mechanism", fails)
    best = checked(KNOTS, PRIORS["uniform"], 1.0)
    assert len(best.solution.outputs) == 2
    assert best.status is Status.GAP_OPEN


def test_progress_is_reported_before_every_step_and_at_the_end():
    told: list[Progress] = []
    started = time.perf_counter()
    best = solve_unbiased(KNOTS, np.full(17, 1 / 17), np.e, progress=told.append)
    assert [one.step for one in told] == list(range(best.steps + 1))
    assert told[-1].gap <= 1e-6
    assert told[-1].bound == best.bound <= told[-1].value == pytest.approx(best.value, rel=1e-6)
    seconds = [one.seconds for one in told]
    assert seconds == sorted(seconds)
    assert seconds[-1] <= best.seconds <= time.perf_counter() - started
    assert all(one.columns >= 16 for one in told)


def test_a_callback_may_interrupt():
    """What it raises comes through, so that a user can stop a long design."""

    def interrupt(progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve_unbiased(KNOTS, np.full(17, 1 / 17), np.e, progress=interrupt)


def test_the_same_program_has_the_same_answer():
    one, two = (solve_unbiased(KNOTS, np.full(17, 1 / 17), np.e) for _ in range(2))
    np.testing.assert_array_equal(one.solution.probabilities, two.solution.probabilities)
    assert one.bound == two.bound


def test_a_malformed_program_is_refused():
    with pytest.raises(InputError, match="sum to 1"):
        solve_unbiased(KNOTS, np.ones(17), np.e)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_a_floor_has_rows_of_the_optimum_and_its_bound(epsilon):
    """Rows made over it afterwards close the gap to the bound of its multipliers; who watches sees the bound rise."""
    knots, seen = np.linspace(-1, 1, 65), []
    weights = np.exp(-3 * (knots + 1))
    program = UnbiasedProgram(knots, weights / weights.sum(), float(np.exp(epsilon)))
    found = solve_floor(program.knots, program.weights, program.ratio, progress=seen.append)
    assert found is not None
    objective = program.objective(*stretched_rows(program, found.solution.outputs, found.solution.masses))
    bound = certified_bound(program, **found.multipliers)
    assert 0 <= objective - bound <= 1e-6 * objective
    assert bound == pytest.approx(checked(knots, weights, epsilon).bound, rel=1e-6)
    assert [step.bound for step in seen] == sorted(step.bound for step in seen)
    assert found.steps == len(seen)


def test_no_floor_is_found_where_the_barrier_is_lost():
    """Beyond the budgets that doubles hold; the other way is for those who ask for a mechanism."""
    knots = np.linspace(-1, 1, 33)
    assert solve_floor(knots, np.full(33, 1 / 33), float(np.exp(30.0))) is None
