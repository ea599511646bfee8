"""The minimax optimum: against HiGHS, against the expected-variance optimum, and honest about what was reached."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.mechanisms import InputError
from optldp.solvers import MinimaxProgram, Optimum, Progress, Rows, Status, solve_minimax, solve_unbiased
from optldp.solvers.unbiased.window_rows import two_outputs

from ..minimax_oracle import minimax_with_highs

KNOTS = np.linspace(-1, 1, 9)
SLOPE = np.arange(1.0, 10.0) / 45


def checked(program: MinimaxProgram, *, tolerance: float = 1e-6) -> Optimum[Rows]:
    """Solve, and recompute all that the result claims."""
    best = solve_minimax(program.knots, program.ratio, prior=program.prior, share=program.share, tolerance=tolerance)
    recheck(program, best, tolerance)
    return best


def least_favourable(best: Optimum[Rows]) -> np.ndarray:
    """The prior of the worst case's part."""
    rho = best.multipliers["rho"]
    return rho / rho.sum()


def recheck(program: MinimaxProgram, best: Optimum[Rows], tolerance: float = 1e-6) -> None:
    """Feasible to rounding, no dearer than Duchi's, certified, and called optimal only if it is."""
    outputs, P = best.solution
    np.testing.assert_allclose(P.sum(1), 1, rtol=0, atol=1e-13)
    np.testing.assert_allclose(P @ outputs, program.knots, rtol=0, atol=1e-12 * np.abs(outputs).max())
    assert P.min() > 0
    assert np.all(P.max(0) <= program.ratio * P.min(0) * (1 + 1e-15))
    assert np.all(np.diff(outputs) > 0)
    assert len(outputs) <= 3 * len(program.knots)
    assert best.value == program.objective(program.variances(outputs, P))
    assert best.value <= program.objective(program.variances(*two_outputs(program.mixed(best.multipliers["rho"]))))
    assert best.bound == max(0.0, program.bound(**best.multipliers))
    assert best.bound <= best.value * (1 + 1e-14)
    assert best.multipliers["rho"].min() >= 0
    assert least_favourable(best).sum() == pytest.approx(1, rel=1e-14)
    assert (best.status is Status.OPTIMAL) == (best.gap <= tolerance)


def plain(epsilon: float, share: float = 1.0, knots: np.ndarray = KNOTS) -> MinimaxProgram:
    prior = SLOPE if len(knots) == 9 else np.full(len(knots), 1 / len(knots))
    return MinimaxProgram(knots, prior, float(np.exp(epsilon)), share)


@pytest.mark.slow
@pytest.mark.parametrize("share", [1.0, 0.3])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_highs_on_the_same_outputs_finds_no_better_and_on_a_fine_grid_neither(epsilon, share):
    """The optimum over the returned outputs lies between bound and objective; a grid's lies above, by little."""
    program = plain(epsilon, share)
    best = checked(program)
    assert best.status is Status.OPTIMAL
    on_same = minimax_with_highs(program, best.solution.outputs)
    assert best.bound * (1 - 1e-8) <= on_same <= best.value * (1 + 1e-8)
    reach = 1.2 * np.abs(best.solution.outputs).max()
    on_grid = minimax_with_highs(program, np.linspace(-reach, reach, 301))
    assert best.bound <= on_grid <= best.value * 1.003


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_the_least_favourable_prior_is_no_easier_when_known(epsilon):
    """Saddle point: the best expected variance under it is the minimax; under any other prior it is no more."""
    program = plain(epsilon)
    best = checked(program)
    known = solve_unbiased(KNOTS, least_favourable(best), program.ratio)
    assert known.bound <= best.value
    assert known.value == pytest.approx(best.value, rel=3e-6)
    for weights in (np.full(9, 1 / 9), SLOPE, np.eye(9)[4], np.eye(9)[0]):
        assert solve_unbiased(KNOTS, weights, program.ratio).bound <= best.value


def test_where_the_prior_has_weight_the_variance_is_the_largest():
    """Complementary slackness, in a case with rows of both kinds."""
    program = plain(2.0)
    best = checked(program)
    variances = program.variances(*best.solution)
    slack = 1 - variances / variances.max()
    assert slack.max() > 0.01
    assert least_favourable(best) @ slack < 2e-6


@pytest.mark.nightly
@settings(max_examples=25, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1), share=st.sampled_from([1.0, 0.5, 0.02]))
def test_random_knots_priors_and_budgets_are_solved(random_program, seed, share):
    drawn = random_program(seed, budgets=(0.05, 8.0))
    assert checked(MinimaxProgram(drawn.knots, drawn.weights, drawn.ratio, share)).status is Status.OPTIMAL


@pytest.mark.nightly
@settings(max_examples=10, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1))
def test_mirroring_the_knots_changes_nothing(random_program, seed):
    drawn = random_program(seed, budgets=(0.1, 5.0))
    one = checked(MinimaxProgram(drawn.knots, drawn.weights, drawn.ratio, 0.5))
    other = checked(MinimaxProgram(-drawn.knots[::-1], drawn.weights[::-1], drawn.ratio, 0.5))
    assert one.value == pytest.approx(other.value, rel=2e-6)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 8.0])
def test_for_two_knots_randomised_response_is_optimal(epsilon):
    """Source: Duchi, Jordan and Wainwright (2018); variance ((E + 1)/(E - 1))^2 - 1 at both ends."""
    best = checked(plain(epsilon, knots=np.array([-1.0, 1.0])))
    assert best.value == pytest.approx(1 / np.tanh(epsilon / 2) ** 2 - 1, rel=2e-6)


@pytest.mark.nightly
def test_more_budget_never_hurts_and_more_knots_never_help():
    budgets = [checked(plain(epsilon)).value for epsilon in np.geomspace(0.05, 8, 10)]
    assert np.all(np.diff(budgets) < 0)
    for epsilon in (0.5, 2.0, 5.0):
        nested = [checked(plain(epsilon, knots=np.linspace(-1, 1, n))).value for n in (3, 5, 9, 17, 33)]
        assert np.all(np.diff(nested) > -1e-6 * nested[0])


def test_the_prior_has_no_say_where_the_worst_case_is_all():
    one, other = (solve_minimax(KNOTS, np.e, prior=prior) for prior in (None, SLOPE))
    np.testing.assert_array_equal(one.solution.probabilities, other.solution.probabilities)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_a_larger_share_of_the_worst_case_buys_it_with_expected_variance(epsilon):
    """From close to the expected-variance optimum to the minimax; the front is convex."""
    shares = [1e-6, 0.01, 0.1, 0.3, 0.6, 1.0]
    points = [checked(plain(epsilon, share)) for share in shares]
    variances = np.array([plain(epsilon).variances(*point.solution) for point in points])
    expected, worst = variances @ SLOPE, variances.max(1)
    assert np.all(np.diff(expected) > -1e-6 * expected[0])
    assert np.all(np.diff(worst) < 1e-6 * worst[0])
    assert expected[0] == pytest.approx(solve_unbiased(KNOTS, SLOPE, np.exp(epsilon)).value, rel=1e-5)
    for point, share in zip(points, shares, strict=True):
        assert np.all((1 - share) * expected + share * worst >= point.value * (1 - 1e-6))


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "gap"), [(1e-5, 1e-3), (1e-3, 1e-4), (10.0, 1e-4), (16.0, 0.05)])
@pytest.mark.parametrize("share", [1.0, 0.1])
def test_extreme_budgets_give_a_feasible_mechanism_and_an_honest_status(epsilon, gap, share):
    """`checked` recomputes the claims; whatever the status, the gap is small and the outputs few."""
    assert checked(plain(epsilon, share)).gap < gap


@pytest.mark.nightly
@pytest.mark.parametrize("epsilon", [0.02, 0.05, 0.06])
def test_small_budgets_at_many_knots_are_solved(epsilon):
    """Their outputs crowd around two points, where the squares of the offsets are nearly a line in them."""
    assert checked(plain(epsilon, knots=np.linspace(-1, 1, 101))).status is Status.OPTIMAL


@pytest.mark.sampled(3)
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_a_hundred_knots_are_solved_in_a_hundred_steps(epsilon):
    """Steps, unlike seconds, are the same on a busy machine."""
    best = checked(plain(epsilon, knots=np.linspace(-1, 1, 101)))
    assert best.status is Status.OPTIMAL
    assert best.steps <= 100


def test_a_looser_tolerance_takes_fewer_steps_and_is_kept():
    tight, loose = (checked(plain(1.0), tolerance=tolerance) for tolerance in (1e-6, 1e-2))
    assert loose.steps < tight.steps
    assert tight.value <= loose.value <= tight.value * 1.01
    assert loose.status is Status.OPTIMAL


def test_progress_is_reported_before_every_step_and_at_the_end():
    told: list[Progress] = []
    started = time.perf_counter()
    best = solve_minimax(KNOTS, np.e, progress=told.append)
    assert [one.step for one in told] == list(range(best.steps + 1))
    assert told[-1].gap <= 1e-6
    seconds = [one.seconds for one in told]
    assert seconds == sorted(seconds)
    assert seconds[-1] <= best.seconds <= time.perf_counter() - started
    assert all(one.columns >= 16 for one in told)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(InputError, match="share"):
        solve_minimax(KNOTS, np.e, share=0.0)
    with pytest.raises(InputError, match="ratio"):
        solve_minimax(KNOTS, 1.0)
    with pytest.raises(InputError, match="weights"):
        solve_minimax(KNOTS, np.e, prior=np.ones(9))
