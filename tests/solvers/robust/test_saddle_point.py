"""The robust optimum: against cvxpy, between the expected-variance optimum and the minimax, and honest."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.mechanisms import InputError, SolverError
from optldp.solvers import Optimum, Progress, RobustProgram, Rows, Status, solve_minimax, solve_robust, solve_unbiased
from optldp.solvers.robust import BandSet, BoxSet, MixedSet, MovedSet, PriorSet, TransportSet
from optldp.solvers.robust import saddle_point as robust_optimum
from optldp.solvers.robust.newton import RobustSystem, robust_step
from optldp.solvers.unbiased.window_rows import two_outputs

from ..robust_oracle import KINDS, random_set, robust_with_cvxpy

KNOTS = np.linspace(-1, 1, 9)
SLOPE = np.arange(1.0, 10.0) / 45
TWO_SETS = pytest.mark.parametrize("priors", [MixedSet(SLOPE, 1.0), MovedSet(SLOPE, 0.1)], ids=["mixed", "moved"])


def checked(program: RobustProgram, *, tolerance: float = 1e-6) -> Optimum[Rows]:
    """Solve, and recompute all that the result claims."""
    best = solve_robust(program, tolerance=tolerance)
    outputs, P = best.solution
    np.testing.assert_allclose(P.sum(1), 1, rtol=0, atol=1e-13)
    np.testing.assert_allclose(P @ outputs, program.knots, rtol=0, atol=1e-12 * np.abs(outputs).max())
    assert P.min() > 0
    assert np.all(P.max(0) <= program.ratio * P.min(0) * (1 + 1e-15))
    assert np.all(np.diff(outputs) > 0)
    assert len(outputs) <= 3 * len(program.knots)
    assert best.value == program.objective(program.variances(outputs, P))
    assert best.value <= program.objective(program.variances(*two_outputs(program.under(best.multipliers["worst"]))))
    assert best.bound == max(0.0, program.bound(**best.multipliers))
    assert best.bound <= best.value * (1 + 1e-14)
    assert best.multipliers["worst"].sum() == pytest.approx(1, abs=1e-9)
    # A member: no values that are larger on it than on all of the set.
    for values in np.random.default_rng(0).uniform(0, 1, (5, len(program.knots))):
        assert best.multipliers["worst"] @ values <= program.priors.largest(values)[0] + 1e-9
    assert (best.status is Status.OPTIMAL) == (best.gap <= tolerance)
    return best


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_cvxpy_on_the_same_outputs_finds_no_better_and_on_a_grid_neither(kind, epsilon):
    """From the definition of the set; the optimum over the returned outputs lies between bound and guarantee."""
    priors = random_set(KNOTS, SLOPE, kind, np.random.default_rng(7))
    best = checked(RobustProgram(KNOTS, float(np.exp(epsilon)), priors))
    assert best.status is Status.OPTIMAL
    on_same = robust_with_cvxpy(KNOTS, float(np.exp(epsilon)), priors, best.solution.outputs)
    assert best.bound * (1 - 1e-7) <= on_same <= best.value * (1 + 1e-7)
    reach = 1.2 * np.abs(best.solution.outputs).max()
    on_grid = robust_with_cvxpy(KNOTS, float(np.exp(epsilon)), priors, np.linspace(-reach, reach, 81))
    assert best.bound <= on_grid <= best.value * 1.05


def vertices_of_the_moved(prior: np.ndarray, radius: float) -> list[np.ndarray]:
    """By brute force: mass is taken in some order, whole weights at a time, and put on one knot."""
    from itertools import permutations

    found, n = [], len(prior)
    for order in permutations(range(n)):
        for goal in range(n):
            q, left = prior.copy(), radius
            for i in order:
                if i != goal:
                    taken = min(left, q[i])
                    q[i], q[goal], left = q[i] - taken, q[goal] + taken, left - taken
            found.append(q)
    return found


@pytest.mark.nightly
@pytest.mark.parametrize("epsilon", [0.7, 3.0])
def test_brute_force_over_all_vertices_of_a_tiny_set_agrees(epsilon):
    """The largest over vertices is the guarantee; and no mixture of them is harder than the worst prior."""
    knots, prior, radius = np.array([-1.0, -0.2, 0.3, 1.0]), np.array([0.1, 0.5, 0.3, 0.1]), 0.25
    program = RobustProgram(knots, float(np.exp(epsilon)), MovedSet(prior, radius))
    best = checked(program)
    vertices = np.array(vertices_of_the_moved(prior, radius))
    assert (vertices @ program.variances(*best.solution)).max() == pytest.approx(best.value, rel=1e-12)
    rng = np.random.default_rng(3)
    for mixture in rng.dirichlet(np.full(len(vertices), 0.1), 20) @ vertices:
        known = solve_unbiased(knots, mixture / mixture.sum(), float(np.exp(epsilon)), tolerance=1e-4)
        assert known.bound <= best.value
    known = solve_unbiased(knots, best.multipliers["worst"] / best.multipliers["worst"].sum(), float(np.exp(epsilon)))
    assert known.value == pytest.approx(best.value, rel=3e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=12, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1))
def test_random_knots_priors_sets_and_budgets_are_solved(random_program, kind, seed):
    drawn = random_program(seed, knots=(3, 9), budgets=(0.05, 8.0))
    priors = random_set(drawn.knots, drawn.weights, kind, np.random.default_rng(seed))
    assert checked(RobustProgram(drawn.knots, drawn.ratio, priors)).status is Status.OPTIMAL


@pytest.mark.nightly
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_every_prior_is_the_minimax(epsilon):
    """However every prior is described."""
    ratio = float(np.exp(epsilon))
    minimax = solve_minimax(KNOTS, ratio)
    for priors in (
        BoxSet(np.zeros(9), np.ones(9)),
        MovedSet(SLOPE, 0.99),
        TransportSet(KNOTS, SLOPE, 1.9),
        BandSet(np.zeros((0, 9)), np.zeros(0), np.zeros(0)),
    ):
        best = checked(RobustProgram(KNOTS, ratio, priors))
        assert best.value == pytest.approx(minimax.value, rel=3e-6)


@pytest.mark.nightly
@pytest.mark.parametrize("radius", [1e-10, 1e-7])
def test_next_to_no_room_is_the_optimum_for_the_prior(radius):
    known = solve_unbiased(KNOTS, SLOPE, np.e)
    for priors in (
        BoxSet((1 - radius) * SLOPE, (1 + radius) * SLOPE),
        MovedSet(SLOPE, radius),
        TransportSet(KNOTS, SLOPE, radius),
    ):
        best = checked(RobustProgram(KNOTS, np.e, priors))
        assert best.status is Status.OPTIMAL
        assert best.value == pytest.approx(known.value, rel=3e-6)


@pytest.mark.slow
@pytest.mark.parametrize("make", [lambda r: MovedSet(SLOPE, r), lambda r: TransportSet(KNOTS, SLOPE, r)])
def test_more_room_never_guarantees_more_and_the_guarantee_is_concave_in_the_radius(make):
    radii = np.array([1e-3, 0.1, 0.3, 0.5, 0.7])
    found = np.array([checked(RobustProgram(KNOTS, 5.0, make(radius))).value for radius in radii])
    assert np.all(np.diff(found) > -1e-6 * found[0])
    slopes = np.diff(found) / np.diff(radii)
    assert np.all(np.diff(slopes) < 1e-4)


def test_weights_that_cannot_change_are_kept():
    low, high = SLOPE.copy(), SLOPE.copy()
    low[[2, 5]] -= 0.04
    high[[2, 5]] += 0.04
    best = checked(RobustProgram(KNOTS, 3.0, BoxSet(low, high)))
    fixed = np.delete(np.arange(9), [2, 5])
    np.testing.assert_allclose(best.multipliers["worst"][fixed], SLOPE[fixed], rtol=1e-12)
    assert best.status is Status.OPTIMAL


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "gap"), [(1e-5, 1e-3), (1e-3, 1e-4), (10.0, 1e-4), (16.0, 0.05)])
def test_extreme_budgets_give_a_feasible_mechanism_and_an_honest_status(epsilon, gap):
    """`checked` recomputes the claims; whatever the status, the gap is small."""
    for priors in (MixedSet(SLOPE, 0.1), MovedSet(SLOPE, 0.1), TransportSet(KNOTS, SLOPE, 0.1)):
        assert checked(RobustProgram(KNOTS, float(np.exp(epsilon)), priors)).gap < gap


@TWO_SETS
@pytest.mark.parametrize("steps", [0, 3, 8, 14])
def test_a_path_that_runs_out_of_steps_says_so(monkeypatch, steps, priors: PriorSet):
    """Mechanism and bound are valid however early the end."""
    program = RobustProgram(KNOTS, np.e, priors)
    reference = checked(program)
    monkeypatch.setattr(robust_optimum, "MAX_STEPS", steps)
    best = checked(program)
    assert best.status is Status.GAP_OPEN
    assert best.steps == steps
    assert best.bound <= reference.value
    assert best.value >= reference.bound


@TWO_SETS
def test_the_best_of_the_path_is_kept_on_both_sides(monkeypatch, priors: PriorSet):
    """Near the end rounding can throw the path back: what was reached before must not be lost."""
    taken = []

    def falls_back(program, polytope, it):
        taken.append(it)
        return taken[6] if len(taken) == 15 else robust_step(program, polytope, it)

    monkeypatch.setattr(robust_optimum, "robust_step", falls_back)
    monkeypatch.setattr(robust_optimum, "MAX_STEPS", 16)
    program, polytope = RobustProgram(KNOTS, np.e, priors), priors.polytope()
    best = checked(program)
    before, after = taken[14], taken[15]
    variances = program.variances(before.point.outputs, before.point.probabilities)
    assert best.value <= program.objective(variances)
    bounds = [program.bound(polytope.prior(it.x), it.point.lam, it.point.nu) for it in (before, after)]
    assert best.bound >= bounds[0]
    assert best.bound > bounds[1]


@TWO_SETS
def test_the_path_ends_where_two_outputs_are_proved_good_enough(priors: PriorSet):
    """At small budgets they are cheaper than the path for long, and the bound is as good for them."""
    paths = [robust_optimum._Path(RobustProgram(KNOTS, np.exp(0.05), priors), 1e-3, None) for _ in range(2)]
    paths[1].at_most = np.inf
    early, late = (path.run() for path in paths)
    assert early.status is Status.OPTIMAL
    assert early.steps < late.steps


@TWO_SETS
def test_a_step_that_is_not_finite_is_the_last(monkeypatch, priors: PriorSet):
    monkeypatch.setattr(robust_optimum, "robust_step", lambda program, polytope, it: replace(it, eta=it.eta * np.nan))
    best = checked(RobustProgram(KNOTS, np.e, priors))
    assert (best.status, best.steps) == (Status.GAP_OPEN, 1)


@pytest.mark.slow
@TWO_SETS
def test_a_step_that_fails_ends_the_path_at_the_last_good_point(monkeypatch, priors: PriorSet):
    taken = []

    def fails_at_last(program, polytope, it):
        taken.append(it)
        if len(taken) == 15:
            raise SolverError("rounding")
        return robust_step(program, polytope, it)

    program = RobustProgram(KNOTS, np.e, priors)
    reference = checked(program)
    monkeypatch.setattr(robust_optimum, "robust_step", fails_at_last)
    best = checked(program)
    assert best.status is Status.GAP_OPEN
    assert reference.bound <= best.value < 1.02 * reference.value


@TWO_SETS
def test_where_the_clean_up_fails_the_two_outputs_remain(monkeypatch, priors: PriorSet):
    """And they are judged by the same certificate."""

    def fails(*_):
        raise SolverError("no rows")

    monkeypatch.setattr(robust_optimum, "sparse_minimax", fails)
    best = checked(RobustProgram(KNOTS, np.e, priors))
    assert len(best.solution.outputs) == 2
    assert best.status is Status.GAP_OPEN


def test_a_path_that_breaks_at_once_returns_two_outputs(monkeypatch):
    def breaks(*_):
        raise SolverError("no step")

    monkeypatch.setattr(robust_optimum, "robust_step", breaks)
    monkeypatch.setattr(robust_optimum, "sparse_minimax", breaks)
    best = checked(RobustProgram(KNOTS, 5.0, MovedSet(SLOPE, 0.1)))
    assert (len(best.solution.outputs), best.bound, best.status) == (2, 0.0, Status.GAP_OPEN)


def test_progress_is_reported_after_each_step():
    told: list[Progress] = []
    best = solve_robust(RobustProgram(KNOTS, 5.0, MovedSet(SLOPE, 0.1)), progress=told.append)
    assert [one.step for one in told] == list(range(len(told)))
    assert len(told) == best.steps + 1
    assert told[-1].gap < 1e-6
    assert told[-1].bound == best.bound <= told[-1].value == pytest.approx(best.value, rel=1e-6)


def test_the_start_meets_the_equations_of_the_weights():
    """And so do the multipliers after the outputs were refined, where mending has to do it."""
    for priors in (MovedSet(SLOPE, 0.1), TransportSet(KNOTS, SLOPE, 0.1), BoxSet(0.5 * SLOPE, 1.5 * SLOPE)):
        program = RobustProgram(KNOTS, 5.0, priors)
        path = robust_optimum._Path(program, 1e-6, None)
        it, polytope = path._start(), path.polytope
        assert it.eta.min() > 0
        for _ in range(15):
            it = robust_step(program, polytope, it)
        for one in (path._start(), path._refine(it, 1e-2, 1e-2)):
            variances = program.variances(one.point.outputs, one.point.probabilities)
            met = one.tau * polytope.border + one.eta @ polytope.rows
            np.testing.assert_allclose(met, variances @ polytope.spread, atol=1e-8 * variances.max())
            assert one.eta.min() > 0
            assert np.all(one.slack > 0)


def test_a_newton_direction_meets_all_equations():
    """Sums, means and the equations of the weights after a full step, and products by their targets."""
    for priors in (MovedSet(SLOPE, 0.1), TransportSet(KNOTS, SLOPE, 0.2), BoxSet(0.5 * SLOPE, 1.5 * SLOPE)):
        program = RobustProgram(KNOTS, 5.0, priors)
        path = robust_optimum._Path(program, 1e-6, None)
        polytope, it = path.polytope, path._start()
        for _ in range(4):
            it = robust_step(program, polytope, it)
        targets = [-0.5 * value * slack for value, slack in it.pairs]
        move = RobustSystem(program, polytope, it).direction(targets, newton=True)
        P = it.point.probabilities + move.dt + move.values[0]
        np.testing.assert_allclose(P.sum(1), 1, atol=1e-9)
        np.testing.assert_allclose(P @ it.point.outputs, KNOTS, atol=1e-9)
        met = (it.tau + move.dtau) * polytope.border + (it.eta + move.values[2]) @ polytope.rows
        np.testing.assert_allclose(met, program.variances(it.point.outputs, P) @ polytope.spread, atol=1e-8)
        assert polytope.border @ move.dx == pytest.approx(0, abs=1e-12)
        np.testing.assert_allclose(polytope.rows @ move.dx, -move.slacks[2], atol=1e-12)
        for (value, slack), dv, dz, target in zip(it.pairs, move.values, move.slacks, targets, strict=True):
            np.testing.assert_allclose(slack * dv + value * dz, target, atol=1e-9)
        g = program.under(polytope.prior(it.x + move.dx)).reduced_costs(
            it.point.outputs - KNOTS[:, None], it.point.lam + move.dlam, it.point.nu + move.dnu
        )
        z = it.point.zs + move.slacks[0] - it.point.zu - move.slacks[1]
        np.testing.assert_allclose(z, g, atol=1e-8)


def test_a_refined_move_leaves_less_of_the_residuals(monkeypatch):
    """A solve spoilt on purpose is made good again."""
    program = RobustProgram(KNOTS, 5.0, TransportSet(KNOTS, SLOPE, 0.2))
    path = robust_optimum._Path(program, 1e-6, None)
    it = path._start()
    for _ in range(8):
        it = robust_step(program, path.polytope, it)
    system = RobustSystem(program, path.polytope, it)
    monkeypatch.setattr("optldp.solvers.robust.newton.RESIDUAL_SHARE", 1e-12)
    move = system.direction([np.zeros_like(value) for value, _ in it.pairs], newton=True)
    spoilt = move.plus(1e-3, system.direction([np.ones_like(value) for value, _ in it.pairs], newton=False))
    spoilt.values[2][:] += 0.1

    def lack(one):
        P = it.point.probabilities + one.dt + one.values[0]
        met = (it.tau + one.dtau) * path.polytope.border + (it.eta + one.values[2]) @ path.polytope.rows
        return np.abs(met - program.variances(it.point.outputs, P) @ path.polytope.spread).max()

    assert lack(system.refined(spoilt)) < 1e-6 * lack(spoilt)


@pytest.mark.parametrize(("knots", "ratio", "says"), [(KNOTS[::-1], 3.0, "increase"), (KNOTS, 1.0, "ratio")])
def test_a_program_that_makes_no_sense_is_refused(knots, ratio, says):
    with pytest.raises(InputError, match=says):
        RobustProgram(knots, ratio, MovedSet(SLOPE, 0.1))


@pytest.mark.slow
@settings(max_examples=25, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(KINDS))
def test_no_prior_of_the_set_bounds_more_than_a_mechanism_guarantees(random_program, seed, kind):
    """Any member, any multipliers, against Duchi's mechanism."""
    drawn = random_program(seed, knots=(3, 9), budgets=(0.1, 4.0))
    rng = np.random.default_rng(seed)
    priors = random_set(drawn.knots, drawn.weights, kind, rng)
    program = RobustProgram(drawn.knots, drawn.ratio, priors)
    member = priors.polytope().prior(priors.polytope().centre())
    known = solve_unbiased(drawn.knots, member / member.sum(), drawn.ratio, tolerance=1e-2)
    lam = known.multipliers["lam"] * rng.uniform(0.5, 1.5, len(member))
    assert program.bound(member, lam, known.multipliers["nu"]) <= program.objective(
        program.variances(*two_outputs(drawn))
    )


@pytest.mark.nightly
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_a_hundred_knots_are_solved(epsilon):
    knots = np.linspace(-1, 1, 101)
    prior = np.exp(-(knots**2) / 0.02)
    prior /= prior.sum()
    for priors in (BoxSet(0.8 * prior, 1.2 * prior), MovedSet(prior, 0.1), TransportSet(knots, prior, 0.1)):
        assert checked(RobustProgram(knots, float(np.exp(epsilon)), priors)).status is Status.OPTIMAL
