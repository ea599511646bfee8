"""What the reports of a given table should count as: against cvxpy, closed forms, and honest."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.mechanisms import InputError, laplace, piecewise, square_wave
from optldp.solvers import Optimum, Status
from optldp.solvers.biased import (
    DecoderProgram,
    ErrorProgram,
    Multipliers,
    solve_decoder,
    solve_error,
    trusted,
)
from optldp.solvers.biased import decoder as biased_decoder
from optldp.solvers.biased.box import member
from optldp.solvers.robust import BoxSet

from ..biased_oracle import VISIT_KNOTS, decoder_with_cvxpy, random_prior, visits_prior

KNOTS = np.linspace(-1, 1, 9)
SKEWED = np.exp(-3 * (KNOTS + 1)) / np.exp(-3 * (KNOTS + 1)).sum()


def randomised_response(n: int, ratio: float) -> np.ndarray:
    return (np.ones((n, n)) + (ratio - 1) * np.eye(n)) / (n - 1 + ratio)


def random_table(rng: np.random.Generator, n: int) -> np.ndarray:
    """Windows, random responses or Dirichlet rows; more or fewer reports than knots, and sometimes one nobody makes."""
    m, kind = int(rng.integers(1, 2 * n)), rng.integers(3)
    if kind == 0:
        P = rng.dirichlet(np.full(m, rng.choice([0.1, 1.0, 10.0])), n)
    elif kind == 1:
        P = np.exp(-rng.uniform(0.1, 10) * np.abs(np.linspace(-1, 1, m) - np.linspace(-1, 1, n)[:, None]))
    else:
        P = randomised_response(n, 1 + float(rng.exponential(3)))
    P = np.hstack([P, np.zeros((n, int(rng.random() < 0.2)))])
    return P / P.sum(1, keepdims=True)


def checked(program: DecoderProgram, *, tolerance: float = 1e-6) -> Optimum[np.ndarray]:
    """Solve, and recompute all that the result claims."""
    best = solve_decoder(program, tolerance=tolerance)
    assert best.solution.shape == program.probabilities.shape[1:]
    assert best.value == program.error(best.solution).rmse
    assert best.bound == program.bound(Multipliers(**best.multipliers)) <= best.value
    assert (best.status is Status.OPTIMAL) == (best.gap <= tolerance)
    return best


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", range(20))
def test_cvxpy_finds_the_same_error(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    knots = np.linspace(-1, 1, n)
    box = trusted(random_prior(rng, knots), 1 + 10 ** rng.uniform(-1.3, 2))
    program = DecoderProgram(knots, random_table(rng, n), box, int(10 ** rng.uniform(1, 6)))
    best = checked(program)
    assert best.status is Status.OPTIMAL
    assert decoder_with_cvxpy(knots, program.probabilities, box, program.users) == pytest.approx(
        best.value, rel=5e-6, abs=1e-7
    )


@pytest.mark.parametrize(
    ("table", "few", "many"),
    [
        (piecewise(VISIT_KNOTS, 1.0).probabilities, 0.250, 0.053),
        (square_wave(VISIT_KNOTS, 1.0).probabilities, 0.243, 0.054),
        (laplace(VISIT_KNOTS, 1.0).probabilities, 0.534, 0.081),
        (randomised_response(39, float(np.e)), 0.476, 0.169),
    ],
    ids=["piecewise", "square wave", "Laplace", "randomised response"],
)
def test_visits_to_the_doctor_are_read_as_well_as_a_conic_program_does(table, few, many):
    """Before this solver was there; unbiased, 20,000 users err by .602, .618, .760 and 3.879."""
    for users, error in ((20_000, few), (10**6, many)):
        best = checked(DecoderProgram(VISIT_KNOTS, table, trusted(visits_prior(), 2.0), users))
        assert best.status is Status.OPTIMAL
        assert best.value == pytest.approx(error, abs=6e-4)


def test_many_users_have_the_unbiased_decoder_of_least_variance():
    """Where there are several unbiased ones: by a quadratic program for the worst prior."""
    P = np.kron(randomised_response(9, 4.0), np.array([0.3, 0.7])) * np.tile([1.2, 0.8], 9)
    P[:, ::2] *= np.linspace(0.8, 1.2, 9)[:, None]
    P /= P.sum(1, keepdims=True)
    best = checked(DecoderProgram(KNOTS, P, trusted(SKEWED, 2.0), 10**12))
    np.testing.assert_allclose(P @ best.solution, KNOTS, atol=1e-5)
    d = cp.Variable(18)
    cost = best.multipliers["worst"] @ P @ cp.square(d)
    cp.Problem(cp.Minimize(cost), [P @ d == KNOTS]).solve(solver=cp.CLARABEL)
    assert d.value is not None
    np.testing.assert_allclose(best.solution, d.value, atol=2e-3)


def test_one_user_of_a_known_prior_has_the_mean_of_the_posterior():
    """The bias of the mean is zero then, and what is left is the squared error of one report."""
    P = randomised_response(9, 4.0)
    best = checked(DecoderProgram(KNOTS, P, trusted(SKEWED, 1.0), 1), tolerance=1e-5)
    posterior = (SKEWED * KNOTS) @ P / (SKEWED @ P)
    np.testing.assert_allclose(best.solution, posterior, atol=2e-3)
    assert best.value == pytest.approx(np.sqrt(SKEWED @ (P * (posterior - KNOTS[:, None]) ** 2).sum(1)), rel=1e-5)


def test_reports_that_tell_nothing_count_as_the_middle_of_what_the_mean_may_be():
    box = trusted(SKEWED, 3.0)
    best = checked(DecoderProgram(KNOTS, np.full((9, 4), 0.25), box, 10**8))
    highest, lowest = (side * (box.largest(1 + side * KNOTS)[0] - 1) for side in (1, -1))
    np.testing.assert_allclose(best.solution, 0.5 * (highest + lowest), atol=1e-5)


@pytest.mark.slow
def test_a_table_made_for_least_error_has_no_better_decoder_than_its_outputs():
    """And any other table is worse, however it is read."""
    box, users = trusted(SKEWED, 2.0), 1000
    made = solve_error(ErrorProgram(KNOTS, np.e, box, users), tolerance=1e-6)
    own = checked(DecoderProgram(KNOTS, made.solution.probabilities, box, users))
    assert own.value == pytest.approx(made.value, rel=3e-6)
    other = checked(DecoderProgram(KNOTS, randomised_response(9, np.e), box, users))
    assert other.value > 1.1 * made.value


def test_units_and_origin_of_the_knots_do_not_matter():
    P, box = randomised_response(9, 3.0), trusted(SKEWED, 2.0)
    one = checked(DecoderProgram(KNOTS, P, box, 1000))
    other = checked(DecoderProgram(500 + 2000 * KNOTS, P, box, 1000))
    np.testing.assert_allclose(other.solution, 500 + 2000 * one.solution, rtol=1e-3)
    assert other.value == pytest.approx(2000 * one.value, rel=3e-6)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_multipliers_prove_more_than_a_decoder_promises(seed):
    """Any members of the set and any weights, against the unbiased decoder, the posterior's and random ones."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 10))
    knots = np.linspace(-1, 1, n)
    box = trusted(random_prior(rng, knots), 1 + float(rng.exponential(2)))
    P = random_table(rng, n)
    program = DecoderProgram(knots, P, box, int(10 ** rng.uniform(0, 8)))
    worst, up, down = (member(box, rng.dirichlet(np.ones(n))) for _ in range(3))
    r, s = rng.exponential(3, 2) * np.sqrt(program.users) * rng.choice([0, 1e-3, 1], 2)
    bound = program.bound(Multipliers(worst, up, down, float(r), float(s), np.zeros(n)))
    unbiased = np.asarray(np.linalg.lstsq(P, knots)[0], dtype=np.float64)
    for values in (unbiased, program.values(worst, np.zeros(n)), rng.normal(size=P.shape[1])):
        assert bound <= program.error(values).rmse


def test_negative_weights_prove_nothing():
    program = DecoderProgram(KNOTS, randomised_response(9, 3.0), trusted(SKEWED, 2.0), 10)
    assert program.bound(Multipliers(SKEWED, SKEWED, SKEWED, 0.0, -1.0, np.zeros(9))) == 0


@pytest.mark.parametrize("steps", [0, 2])
def test_a_path_that_runs_out_of_steps_says_so(monkeypatch, steps):
    monkeypatch.setattr(biased_decoder, "MAX_STEPS", steps)
    best = checked(DecoderProgram(KNOTS, randomised_response(9, 3.0), trusted(SKEWED, 2.0), 1000))
    assert (best.status, best.steps) == (Status.GAP_OPEN, steps)


@pytest.mark.parametrize(
    ("P", "says"),
    [
        (np.eye(8), "a row and bounds for each of 9 knots"),
        (np.full((9, 2), 0.4), "sum to one"),
        (np.hstack([np.full((9, 1), 1.5), np.full((9, 1), -0.5)]), "non-negative"),
    ],
)
def test_a_table_that_is_none_is_refused(P, says):
    with pytest.raises(InputError, match=says):
        DecoderProgram(KNOTS, P, BoxSet(0.5 * SKEWED, np.minimum(2 * SKEWED, 1)), 10)
