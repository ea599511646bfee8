"""The table of least error: against cvxpy, at its limits, and honest."""

import numpy as np
import pytest
from optldp.mechanisms import InputError, SolverError
from optldp.solvers import Optimum, Progress, RobustProgram, Status, solve_minimax, solve_robust, solve_unbiased
from optldp.solvers.biased import ClippedRows, ErrorProgram, Multipliers, solve_error, trusted
from optldp.solvers.biased import least_error as biased_optimum
from optldp.solvers.robust import BoxSet, MovedSet

from ..biased_oracle import error_with_cvxpy, random_prior, visits_prior

KNOTS = np.linspace(-1, 1, 9)
SKEWED = np.exp(-3 * (KNOTS + 1)) / np.exp(-3 * (KNOTS + 1)).sum()


def program_of(prior: np.ndarray, epsilon: float, users: int, trust: float) -> ErrorProgram:
    return ErrorProgram(np.linspace(-1, 1, len(prior)), float(np.exp(epsilon)), trusted(prior, trust), users)


def checked(program: ErrorProgram, *, tolerance: float = 1e-5) -> Optimum[ClippedRows]:
    """Solve, and recompute all that the result claims."""
    best = solve_error(program, tolerance=tolerance)
    (outputs, P, clip), box = best.solution, program.priors
    assert isinstance(box, BoxSet)
    np.testing.assert_allclose(P.sum(1), 1, rtol=0, atol=1e-13)
    assert P.min() > 0
    assert np.all(P.max(0) <= program.ratio * P.min(0) * (1 + 1e-14))
    assert np.all(np.diff(outputs) > 0)
    assert len(outputs) <= 3 * len(program.knots)
    assert best.value == program.error(outputs, P).rmse
    proof = best.multipliers
    assert best.bound == program.bound(Multipliers(**proof)) <= best.value
    for prior in (proof["worst"], proof["up"], proof["down"]):
        assert np.all((prior >= box.low) & (prior <= box.high))
        assert prior.sum() == pytest.approx(1, abs=1e-14)
    assert (best.status is Status.OPTIMAL) == (best.gap <= tolerance)
    if clip is not None:
        np.testing.assert_allclose(P @ outputs, clip.means(program.knots), rtol=0, atol=1e-6)
    return best


def agrees_with_cvxpy(program: ErrorProgram) -> None:
    """On the outputs found and a grid around them nothing is better, and the optimum lies between bound and R."""
    best = checked(program)
    assert best.status is Status.OPTIMAL
    reach = 1.1 * max(1.0, np.abs(best.solution.outputs).max())
    outputs = np.union1d(best.solution.outputs, np.linspace(-reach, reach, 31))
    assert isinstance(program.priors, BoxSet)
    found = error_with_cvxpy(program.knots, program.ratio, program.priors, program.users, outputs)
    assert best.bound * (1 - 5e-6) <= found <= best.value * (1 + 5e-6)  # Clarabel's accuracy
    assert found == pytest.approx(best.value, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "users", "trust", "mirrored"),
    [(1.0, 1000, 2.0, False), (1.0, 10**8, 1.05, True), (3.0, 10, 1.3, False), (0.3, 10**5, 100.0, True)],
)
def test_cvxpy_finds_the_same_error_on_nine_knots(epsilon, users, trust, mirrored):
    agrees_with_cvxpy(program_of(SKEWED[::-1] if mirrored else SKEWED, epsilon, users, trust))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_cvxpy_finds_the_same_error_on_twenty_five_knots(seed):
    """Ten to 10^8 users, priors trusted within a factor of 1.05 to 100, tails on either side."""
    rng = np.random.default_rng(seed)
    prior = random_prior(rng, np.linspace(-1, 1, 25))
    epsilon, users, trust = np.exp(rng.uniform(-1.5, 1.7)), 10 ** rng.uniform(1, 8), 1 + 10 ** rng.uniform(-1.3, 2)
    agrees_with_cvxpy(program_of(prior, float(epsilon), int(users), float(trust)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "users", "trust", "error", "bias", "cut"),
    [
        (1.0, 20_000, 1.25, 0.10979, 0.307, 12),
        (1.0, 20_000, 2.0, 0.17484, 0.171, 20),
        (1.0, 20_000, 5.0, 0.25966, 0.152, 31),
        (0.5, 20_000, 2.0, 0.26811, 0.291, 15),
        (4.0, 10**6, 2.0, 0.00984, 0.006, 63),
    ],
)
def test_visits_to_the_doctor_err_as_a_conic_program_on_refined_outputs_found(epsilon, users, trust, error, bias, cut):
    """Before this solver was there; to what its grid left open. The unbiased optimum errs by 0.5212 at epsilon 1."""
    best = solve_error(program_of(visits_prior(), epsilon, users, trust))
    assert best.status is Status.OPTIMAL
    assert best.bound * 38 <= error + 5e-6
    assert best.value * 38 == pytest.approx(error, rel=1.5e-3)
    assert best.solution.clip is not None
    assert best.solution.clip.low == -1
    assert best.solution.clip.shift * 38 == pytest.approx(bias, rel=0.1)
    assert (best.solution.clip.high + 1) * 38 == pytest.approx(cut, abs=1.5)


@pytest.mark.slow
@pytest.mark.parametrize("trust", [1.5, 20.0])
def test_many_users_have_the_best_unbiased_table_for_the_worst_prior(trust):
    program = program_of(SKEWED, 1.0, 10**13, trust)
    known = solve_robust(RobustProgram(KNOTS, np.e, program.priors))
    best = checked(program)
    assert best.value * np.sqrt(1e13) == pytest.approx(np.sqrt(known.value), rel=3e-5)
    assert program.error(*best.solution[:2]).bias_bound < 1e-3 * best.value


@pytest.mark.nightly
def test_every_prior_has_less_than_the_minimax_and_with_many_users_no_less():
    """Bias helps the worst case, too, while users are few."""
    minimax = np.sqrt(solve_minimax(KNOTS, np.e).value)
    made = {users: ErrorProgram(KNOTS, np.e, BoxSet(np.zeros(9), np.ones(9)), users) for users in (10, 1000, 10**12)}
    best = {users: checked(program, tolerance=1e-6) for users, program in made.items()}
    found = [best[users].value * np.sqrt(users) for users in made]
    few, rows = Multipliers(**best[10].multipliers), best[10].solution[:2]
    b, most = made[10].moments(*rows)[1], made[10].error(*rows).bias_bound
    pulled = np.abs(few.nu) > 1e-3 * few.weight
    assert pulled.any()
    np.testing.assert_allclose(b[pulled], -np.sign(few.nu[pulled]) * most, rtol=1e-2)
    assert found[0] < found[1] < found[2] * (1 + 2e-5)
    assert found[0] < 0.9 * minimax
    assert found[2] == pytest.approx(minimax, rel=3e-5)


@pytest.mark.slow
@pytest.mark.parametrize("users", [10, 10**6])
def test_ever_less_trust_ends_at_the_least_worst_case_of_as_many_users(users):
    """Bias allowed: of a few users below the minimax, of many at it."""
    every = ErrorProgram(KNOTS, np.e, BoxSet(np.zeros(9), np.ones(9)), users)
    limit = checked(every, tolerance=1e-5)
    found = [checked(program_of(SKEWED, 1.0, users, trust)).value for trust in (10.0, 1e3, 1e7)]
    assert found[0] < found[1] < limit.value * (1 + 2e-5)
    assert found[2] == pytest.approx(limit.value, rel=3e-5)


@pytest.mark.slow
def test_no_budget_and_no_doubt_make_a_constant_report():
    """At the middle of what the mean may be; the error is what the prior leaves open."""
    program = program_of(SKEWED, 1e-4, 1000, 2.0)
    best = checked(program, tolerance=1e-4)
    highest, lowest = (side * (program.priors.largest(1 + side * KNOTS)[0] - 1) for side in (1, -1))
    assert np.ptp(best.solution.probabilities @ best.solution.outputs) < 1e-2
    assert program.error(*best.solution[:2]).bias_bound == pytest.approx(0.5 * (highest - lowest), rel=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_less_is_never_worse_than_the_unbiased_table_and_more_users_or_trust_never_hurt(epsilon):
    found = {}
    for users in (10, 10**4):
        for trust in (1.0, 1.2, 3.0):
            program = program_of(SKEWED, epsilon, users, trust)
            found[users, trust] = checked(program).value
            known = solve_unbiased(KNOTS, SKEWED, program.ratio, tolerance=1e-4)
            assert found[users, trust] <= program.error(*known.solution).rmse
    for users in (10, 10**4):
        assert found[users, 1.0] <= found[users, 1.2] * (1 + 1e-5) <= found[users, 3.0] * (1 + 2e-5)
    for trust in (1.0, 1.2, 3.0):
        assert found[10, trust] >= found[10**4, trust] * (1 - 1e-5)


@pytest.mark.slow
def test_a_long_tail_is_cut_and_the_rest_shifted_to_where_both_signs_of_the_bias_are_alike():
    prior = np.exp(-4 * np.linspace(0, 2, 25)) / np.exp(-4 * np.linspace(0, 2, 25)).sum()
    program = program_of(prior, 1.0, 10**4, 2.0)
    best = checked(program)
    outputs, P, clip = best.solution
    b, most = program.moments(outputs, P)[1], program.error(outputs, P).bias_bound
    assert clip is not None
    assert clip.low == -1
    assert -0.7 < clip.high < 0.5
    assert clip.shift > 0
    assert program.priors.largest(b - b.min())[0] + b.min() == pytest.approx(most, rel=1e-3)
    assert program.priors.largest(b.max() - b)[0] - b.max() == pytest.approx(most, rel=1e-3)
    mirrored = checked(program_of(prior[::-1], 1.0, 10**4, 2.0)).solution.clip
    assert mirrored is not None
    assert mirrored.high == 1
    assert mirrored.low == pytest.approx(-clip.high, abs=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("trust", [1.1, 3.0, 40.0])
@pytest.mark.parametrize("users", [10, 10**4, 10**7])
def test_both_signs_of_the_bias_bind_by_weights_that_the_worst_prior_tells(users, trust):
    """Shifting all outputs changes neither rows nor privacy: r = N B - w.b and s = N B + w.b, and neither is zero."""
    program = program_of(SKEWED, 1.0, users, trust)
    best = checked(program, tolerance=1e-7)
    b, proof = program.moments(*best.solution[:2])[1], best.multipliers
    most = program.error(*best.solution[:2]).bias_bound
    bound, tilt = users * most, proof["worst"] @ b
    np.testing.assert_allclose((proof["weight_up"], proof["weight_down"]), (bound - tilt, bound + tilt), rtol=3e-2)
    for side in (1, -1):
        assert program.priors.largest(1 + side * b)[0] - 1 == pytest.approx(most, rel=1e-2)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11])
def test_where_the_theorem_says_so_the_optimum_is_a_clip(seed):
    """Its two conditions, on the weights and on the levels of the bias, computed from what was found."""
    rng = np.random.default_rng(seed)
    knots = np.linspace(-1, 1, 21)
    trust, users = float(rng.uniform(1.2, 4)), int(10 ** rng.uniform(3, 6))
    program = program_of(random_prior(rng, knots), float(rng.uniform(0.5, 3)), users, trust)
    best = checked(program)
    box, b = program.priors, program.moments(*best.solution[:2])[1]
    assert isinstance(box, BoxSet)
    least = (box.low / box.high).max()
    pulled = 0.5 * program.error(*best.solution[:2]).bias_bound * ((users - 1) - (users + 1) * least)
    far = max(knots[-1] - best.solution.outputs[0], best.solution.outputs[-1] - knots[0])
    share, order = (1 - box.low.sum()) / (box.high - box.low).sum(), np.argsort(b)
    mass = np.cumsum((box.high - box.low)[order]) / (box.high - box.low).sum()
    levels = b[order[np.searchsorted(mass, [share, 1 - share])]]
    assert pulled > far
    assert np.ptp(levels) < 1e-6
    assert best.solution.clip is not None


def test_not_every_optimum_is_a_clip():
    """Few users and a large budget: neighbouring values are better counted as one than told apart."""
    knots = np.linspace(-1, 1, 21)
    prior = np.exp(-4 * knots**2)
    few = checked(program_of(prior / prior.sum(), 4.0, 5, 1.02))
    assert few.status is Status.OPTIMAL
    assert few.solution.clip is None
    steps = np.diff(few.solution.probabilities @ few.solution.outputs)
    flat = steps < 1e-3
    assert flat[5:15].any()
    assert not flat[5:15].all()


def test_a_wide_set_on_coarse_knots_has_a_bias_of_two_levels_in_turns():
    """The first knot alone has more than a 59th of the prior."""
    prior = np.exp(-5.2 * (KNOTS + 1))
    program = program_of(0.999 * prior / prior.sum() + 0.001 / 9, 0.22, 108, 58.0)
    best = checked(program)
    b = program.moments(*best.solution[:2])[1]
    assert best.solution.clip is None
    assert b[0] == pytest.approx(b[2], abs=0.01)
    assert b[1] == pytest.approx(b[3], abs=0.01)
    assert b[0] - b[1] == pytest.approx(0.25, abs=0.01)


@pytest.mark.nightly
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_a_hundred_knots_are_solved(epsilon):
    knots = np.linspace(-1, 1, 101)
    prior = np.exp(-6 * (knots + 1)) + 1e-5
    program = program_of(prior / prior.sum(), epsilon, 20_000, 2.0)
    assert checked(program, tolerance=1e-6).status is Status.OPTIMAL
    assert checked(program, tolerance=1e-4).solution.clip is not None


@pytest.mark.parametrize("trust", [1.0, 3.0])
def test_values_that_nobody_has_are_no_obstacle(trust):
    prior = SKEWED.copy()
    prior[[0, 4, 7, 8]] = 0
    assert checked(program_of(prior / prior.sum(), 1.0, 500, trust)).status is Status.OPTIMAL


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "users", "trust"), [(1e-3, 10, 1.0), (0.05, 10**9, 2.0), (12.0, 1000, 2.0), (1.0, 10**15, 1e6)]
)
def test_extreme_cases_give_a_table_and_an_honest_status(epsilon, users, trust):
    """`checked` recomputes the claims."""
    assert checked(program_of(SKEWED, epsilon, users, trust), tolerance=1e-4).gap < 1e-3


@pytest.mark.parametrize("steps", [0, 3, 10])
def test_a_path_that_runs_out_of_steps_says_so(monkeypatch, steps):
    """Table and bound are valid however early the end."""
    program = program_of(SKEWED, 1.0, 1000, 2.0)
    reference = checked(program)
    monkeypatch.setattr(biased_optimum, "MAX_STEPS", steps)
    best = checked(program)
    assert best.status is Status.GAP_OPEN
    assert best.steps == steps
    assert best.bound <= reference.value
    assert best.value >= reference.bound


def test_a_path_that_breaks_at_once_returns_the_better_of_two_outputs_and_a_constant(monkeypatch):
    def breaks(*_):
        raise SolverError("no step")

    monkeypatch.setattr(biased_optimum, "error_step", breaks)
    monkeypatch.setattr(biased_optimum, "sparse_rows_with_means", breaks)
    for users, outputs in ((10**6, 2), (1, 1)):
        best = checked(program_of(SKEWED, 0.5, users, 1.1))
        assert (len(best.solution.outputs), best.bound, best.status) == (outputs, 0.0, Status.GAP_OPEN)


def test_progress_is_reported_after_each_step():
    told: list[Progress] = []
    best = solve_error(program_of(SKEWED, 1.0, 1000, 2.0), progress=told.append)
    assert [one.step for one in told] == list(range(best.steps + 1))
    assert told[-1].bound == best.bound <= told[-1].value
    assert told[-1].gap < 1e-4


def test_a_set_of_another_kind_is_refused():
    with pytest.raises(InputError, match="bounds on a prior's weights"):
        solve_error(ErrorProgram(KNOTS, np.e, MovedSet(SKEWED, 0.1), 10))
