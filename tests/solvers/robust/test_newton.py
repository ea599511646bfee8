"""Newton's method for sets of priors: against the dense Newton system, its invariants, HiGHS and cvxpy."""

from dataclasses import replace

import numpy as np
import pytest
from optldp.mechanisms import SolverError
from optldp.solvers import MinimaxProgram, RobustProgram
from optldp.solvers.robust import MixedSet
from optldp.solvers.robust.iterate import RobustIterate
from optldp.solvers.robust.newton import RESIDUAL_SHARE, RobustSystem, robust_step
from optldp.solvers.robust.polytope import PriorPolytope
from optldp.solvers.robust.saddle_point import _starting_multipliers
from optldp.solvers.unbiased.interior_point import residuals
from optldp.solvers.unbiased.starting_point import starting_outputs, starting_point

from ..minimax_oracle import minimax_with_highs
from ..robust_oracle import KINDS, random_set, robust_with_cvxpy


def problem(random_program, seed: int, kind: str, *, knots: tuple[int, int] = (2, 9)) -> RobustProgram:
    """The mixed set with all of the worst case, some of it or next to none; the others at random."""
    drawn = random_program(seed, knots=knots, budgets=(0.2, 5.0))
    if kind == "mixed":
        return RobustProgram(drawn.knots, drawn.ratio, MixedSet(drawn.weights, [1.0, 0.4, 0.05][seed % 3]))
    rng = np.random.default_rng(seed)
    return RobustProgram(drawn.knots, drawn.ratio, random_set(drawn.knots, drawn.weights, kind, rng))


def start(program: RobustProgram, polytope: PriorPolytope, count: int = 16) -> RobustIterate:
    x = polytope.centre()
    under = program.under(polytope.prior(x))
    point = starting_point(under, starting_outputs(under, count))
    eta, tau = _starting_multipliers(polytope, x, program.variances(point.outputs, point.probabilities))
    return RobustIterate(point, x, eta, polytope.slack(x), tau)


def dense_direction(
    program: RobustProgram, polytope: PriorPolytope, it: RobustIterate, targets: list[np.ndarray], *, newton: bool
) -> list[np.ndarray]:
    """Solve all Newton equations at once, unknowns (dlam, dnu, dx, dtau, deta, dt, ds, du, dzs, dzu)."""
    point = it.point
    n, m = point.s.shape
    v, growth = point.outputs - program.knots[:, None], program.ratio - 1
    spread, border, faces = polytope.spread, polytope.spread.sum(0), polytope.rows
    sizes = [n, n, spread.shape[1], 1, len(faces), m, n * m, n * m, n * m, n * m]
    lam, nu, dx, tau, eta, t, s, u, zs, zu = (
        np.arange(size) + offset for size, offset in zip(sizes, np.cumsum([0, *sizes[:-1]]), strict=True)
    )
    s, u, zs, zu = (a.reshape(n, m) for a in (s, u, zs, zu))
    rows: list[np.ndarray] = []
    right: list[float] = []

    def equation(terms: list[tuple[np.ndarray, np.ndarray | float]], value: float) -> None:
        row = np.zeros(sum(sizes))
        for index, factor in terms:
            np.add.at(row, index, factor)
        rows.append(row)
        right.append(value)

    lack_sum, lack_mean = residuals(program.under(polytope.prior(it.x)), point)
    lack_weight = it.tau * border + it.eta @ faces
    lack_weight = lack_weight - program.variances(point.outputs, point.probabilities) @ spread
    lack_pair = growth * point.t - point.s - point.u
    on = 1.0 if newton else 0.0
    equation([(dx, border)], 0.0)
    for i in range(n):
        equation([(t, 1.0), (s[i], 1.0)], on * lack_sum[i])
        equation([(t, v[i]), (s[i], v[i])], on * lack_mean[i])
    for k in range(len(dx)):
        moved = [(own, spread[i, k] * v[i] ** 2) for i in range(n) for own in (t, s[i])]
        equation([*moved, (tau, -border[k]), (eta, -faces[:, k])], on * lack_weight[k])
    for j in range(len(faces)):
        equation([(eta[[j]], it.slack[j]), (dx, -it.eta[j] * faces[j])], targets[2][j])
    for y in range(m):
        g = [[(lam[[i]], -1.0), (nu[[i]], -v[i, y]), (dx, v[i, y] ** 2 * spread[i])] for i in range(n)]
        equation([*(term for own in g for term in own), (zu[:, y], -growth)], 0.0)
        for i in range(n):
            own = [(index, -np.asarray(value)) for index, value in g[i]]
            equation([(s[i, [y]], 1.0), (u[i, [y]], 1.0), (t[[y]], -growth)], on * lack_pair[i, y])
            equation([(zs[i, [y]], 1.0), (zu[i, [y]], -1.0), *own], 0.0)
            equation([(s[i, [y]], point.zs[i, y]), (zs[i, [y]], point.s[i, y])], targets[0][i, y])
            equation([(u[i, [y]], point.zu[i, y]), (zu[i, [y]], point.u[i, y])], targets[1][i, y])
    assert len(rows) == sum(sizes)
    x = np.linalg.solve(np.array(rows), np.array(right))
    return [x[part] for part in (lam, nu, dx, tau, eta, t, s, u, zs, zu)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("newton", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_the_reduced_system_solves_the_full_one(random_program, seed, newton, kind):
    """At an iterate that satisfies no primal equation, for arbitrary complementarity targets."""
    program = problem(random_program, seed, kind, knots=(2, 4))
    polytope, rng = program.priors.polytope(), np.random.default_rng(seed)
    it = start(program, polytope, 6)
    point = it.point
    point = replace(
        point, s=point.s * rng.uniform(0.7, 1.3, point.s.shape), u=point.u * rng.uniform(0.7, 1.3, point.u.shape)
    )
    it = replace(it, point=point, eta=it.eta * rng.uniform(0.7, 1.3, it.eta.shape))
    size = it.complementarity / point.s.size
    targets = [*(rng.normal(size=(2, *point.s.shape)) * size), rng.normal(size=it.eta.shape) * size]
    move = RobustSystem(program, polytope, it).direction(targets, newton=newton)
    (ds, du, deta), (dzs, dzu, dslack) = move.values, move.slacks
    got = [move.dlam, move.dnu, move.dx, np.array([move.dtau]), deta, move.dt, ds, du, dzs, dzu]
    for one, other in zip(got, dense_direction(program, polytope, it, targets, newton=newton), strict=True):
        np.testing.assert_allclose(one, other.reshape(one.shape), rtol=1e-6, atol=1e-8 * np.abs(other).max())
    np.testing.assert_allclose(dslack, -(polytope.rows @ move.dx), atol=1e-12)


@pytest.mark.parametrize("kind", ["mixed", "box", "transport"])
@pytest.mark.parametrize("seed", range(12))
def test_steps_stay_feasible_and_lower_the_complementarity(random_program, seed, kind):
    """Primal residuals stay the rounding of squared outputs, slacks belong to the multipliers, the gap falls.

    Where a weight has more inequalities than its bound by zero, its equation is met to a share of the gap only.
    """
    program = problem(random_program, seed, kind)
    polytope = program.priors.polytope()
    first = it = start(program, polytope)
    for _ in range(8):
        after = robust_step(program, polytope, it)
        assert after.complementarity < it.complementarity
        lack = 1e-10 * it.tau if kind == "mixed" else RESIDUAL_SHARE * it.complementarity
        it, point, under = after, after.point, program.under(polytope.prior(after.x))
        assert min(a.min() for a in (point.t, point.s, point.u, point.zs, point.zu, it.eta, it.slack)) > 0
        assert np.abs(np.concatenate(residuals(under, point))).max() < 1e-11 * max(1, point.outputs.max()) ** 2
        variances = program.variances(point.outputs, point.probabilities)
        met = it.tau * polytope.border + it.eta @ polytope.rows
        np.testing.assert_allclose(met, variances @ polytope.spread, rtol=0, atol=lack)
        np.testing.assert_allclose(it.slack, polytope.slack(it.x), rtol=1e-9, atol=1e-13)
        assert (polytope.base + polytope.spread @ it.x).sum() == pytest.approx(1, rel=1e-12)
        g = under.reduced_costs(under.offsets(point.outputs), point.lam, point.nu)
        np.testing.assert_allclose(point.zs - point.zu, g, rtol=1e-9, atol=1e-14 * np.abs(g).max())
        assert under.column_values(g).min() > 0
    assert it.complementarity < 2e-2 * first.complementarity


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_complementarity_is_the_duality_gap(random_program, seed, kind):
    """With the multipliers' value in the place of the guarantee, which is no more."""
    program = problem(random_program, seed, kind)
    polytope = program.priors.polytope()
    it = start(program, polytope)
    for _ in range(2):
        it = robust_step(program, polytope, it)
    variances = program.variances(it.point.outputs, it.point.probabilities)
    primal = it.tau * (1 - polytope.base.sum()) + polytope.right @ it.eta + polytope.base @ variances
    assert it.complementarity == pytest.approx(primal - it.point.dual_objective, rel=1e-6)
    assert program.objective(variances) <= primal * (1 + 1e-9)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", ["mixed", "box", "transport"])
@pytest.mark.parametrize("seed", range(9))
def test_the_limit_is_the_optimum_that_others_find_on_these_outputs(random_program, seed, kind):
    """Within forty steps to seven digits, by HiGHS on the minimax program and by cvxpy on the sets' definitions."""
    program = problem(random_program, seed, kind, knots=(3, 9))
    polytope = program.priors.polytope()
    it = start(program, polytope, 24)
    steps = 0
    while it.complementarity > 1e-8 * abs(it.point.dual_objective):
        it = robust_step(program, polytope, it)
        steps += 1
    assert steps <= 40
    if isinstance(program.priors, MixedSet):
        minimax = MinimaxProgram(program.knots, program.priors.prior, program.ratio, program.priors.share)
        expected = minimax_with_highs(minimax, it.point.outputs)
    else:
        expected = robust_with_cvxpy(program.knots, program.ratio, program.priors, it.point.outputs)
    assert it.point.dual_objective == pytest.approx(expected, rel=1e-7)
    variances = program.variances(it.point.outputs, it.point.probabilities)
    assert program.objective(variances) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_an_iterate_that_is_not_finite_is_an_error(random_program, kind):
    """What overflow leaves ends in an error, not in a loop."""
    program = problem(random_program, 1, kind)
    polytope = program.priors.polytope()
    it = start(program, polytope)
    with pytest.raises(SolverError):
        robust_step(program, polytope, replace(it, point=replace(it.point, s=it.point.s * np.nan)))


@pytest.mark.parametrize("kind", KINDS)
def test_a_move_that_misses_the_means_is_refined(random_program, kind):
    """As rounding makes it at small budgets; what is right already stays."""
    program = problem(random_program, 4, kind)
    polytope = program.priors.polytope()
    it = start(program, polytope)
    for _ in range(4):
        it = robust_step(program, polytope, it)
    system = RobustSystem(program, polytope, it)
    move = system.direction([-0.5 * value * slack for value, slack in it.pairs], newton=True)
    assert system.refined(move) is move
    spoilt = replace(move, values=[move.values[0] + 1e-3 * it.point.outputs, *move.values[1:]])

    def off(one):
        return np.abs((it.point.probabilities + one.dt + one.values[0]) @ it.point.outputs - program.knots).max()

    assert off(system.refined(spoilt)) < 1e-6 * off(spoilt)


def test_a_refinement_that_makes_it_worse_is_not_used(random_program, monkeypatch):
    program = problem(random_program, 4, "mixed")
    polytope = program.priors.polytope()
    it = start(program, polytope)
    system = RobustSystem(program, polytope, it)
    move = system.direction([-0.5 * value * slack for value, slack in it.pairs], newton=True)
    spoilt = replace(move, values=[move.values[0] + 1e-3 * it.point.outputs, *move.values[1:]])
    monkeypatch.setattr(system, "_solved", lambda *_: spoilt.plus(5.0, spoilt))
    assert system.refined(spoilt) is spoilt
