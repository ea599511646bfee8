"""Newton's method with variance rows: against the dense Newton system, its invariants, and HiGHS."""

from dataclasses import replace

import numpy as np
import pytest
from optldp.mechanisms.errors import SolverError
from optldp.solvers.interior_point import residuals
from optldp.solvers.minimax_newton import MinimaxIterate, MinimaxSystem, minimax_step
from optldp.solvers.minimax_program import MinimaxProgram
from optldp.solvers.starting_point import starting_outputs, starting_point

from .minimax_oracle import minimax_with_highs


def problem(random_program, seed: int, *, knots: tuple[int, int] = (2, 9)) -> MinimaxProgram:
    drawn = random_program(seed, knots=knots, budgets=(0.2, 5.0))
    return MinimaxProgram(drawn.knots, drawn.weights, drawn.ratio, [1.0, 0.4, 0.05][seed % 3])


def start(program: MinimaxProgram, count: int = 16) -> MinimaxIterate:
    n = len(program.knots)
    rho = np.full(n, program.share / n)
    point = starting_point(program.mixed(rho), starting_outputs(program.mixed(rho), count))
    variances = program.variances(point.outputs, point.probabilities)
    tau = 1.2 * variances.max()
    return MinimaxIterate(point, rho, tau - variances, tau)


def dense_direction(
    program: MinimaxProgram, it: MinimaxIterate, targets: list[np.ndarray], *, newton: bool
) -> list[np.ndarray]:
    """Solve all Newton equations at once, unknowns (dlam, dnu, drho, dtau, droom, dt, ds, du, dzs, dzu)."""
    point = it.point
    n, m = point.s.shape
    v, growth = point.outputs - program.knots[:, None], program.ratio - 1
    sizes = [n, n, n, 1, n, m, n * m, n * m, n * m, n * m]
    lam, nu, rho, tau, room, t, s, u, zs, zu = (
        np.arange(size) + offset for size, offset in zip(sizes, np.cumsum([0, *sizes[:-1]]), strict=True)
    )
    s, u, zs, zu = (a.reshape(n, m) for a in (s, u, zs, zu))
    rows: list[tuple[dict[int, float], float]] = []

    def equation(terms: list[tuple[np.ndarray, np.ndarray | float]], right: float) -> None:
        row: dict[int, float] = {}
        for index, value in terms:
            for k, one in zip(
                np.atleast_1d(index), np.broadcast_to(value, np.shape(np.atleast_1d(index))), strict=True
            ):
                row[int(k)] = row.get(int(k), 0.0) + float(one)
        rows.append((row, right))

    lack_sum, lack_mean = residuals(program.mixed(it.rho), point)
    lack_room = it.tau - it.room - program.variances(point.outputs, point.probabilities)
    lack_pair = growth * point.t - point.s - point.u
    on = 1.0 if newton else 0.0
    equation([(rho, 1.0)], 0.0)
    for i in range(n):
        equation([(t, 1.0), (s[i], 1.0)], on * lack_sum[i])
        equation([(t, v[i]), (s[i], v[i])], on * lack_mean[i])
        equation([(t, v[i] ** 2), (s[i], v[i] ** 2), (room[i], 1.0), (tau, -1.0)], on * lack_room[i])
        equation([(room[i], it.rho[i]), (rho[i], it.room[i])], targets[2][i])
    for y in range(m):
        g = [(lam, -np.ones(n)), (nu, -v[:, y]), (rho, v[:, y] ** 2)]
        equation([*g, (zu[:, y], -growth)], 0.0)
        for i in range(n):
            own = [(index[i], -value[i]) for index, value in g]
            equation([(s[i, y], 1.0), (u[i, y], 1.0), (t[y], -growth)], on * lack_pair[i, y])
            equation([(zs[i, y], 1.0), (zu[i, y], -1.0), *own], 0.0)
            equation([(s[i, y], point.zs[i, y]), (zs[i, y], point.s[i, y])], targets[0][i, y])
            equation([(u[i, y], point.zu[i, y]), (zu[i, y], point.u[i, y])], targets[1][i, y])
    assert len(rows) == sum(sizes)
    matrix = np.zeros((len(rows), len(rows)))
    for k, (row, _) in enumerate(rows):
        matrix[k, list(row)] = list(row.values())
    x = np.linalg.solve(matrix, np.array([right for _, right in rows]))
    return [x[part] for part in (lam, nu, rho, tau, room, t, s, u, zs, zu)]


@pytest.mark.parametrize("newton", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_the_reduced_system_solves_the_full_one(random_program, seed, newton):
    """At an iterate that satisfies no primal equation, for arbitrary complementarity targets."""
    program = problem(random_program, seed, knots=(2, 4))
    rng = np.random.default_rng(seed)
    it = start(program, 6)
    point = it.point
    point = replace(
        point, s=point.s * rng.uniform(0.7, 1.3, point.s.shape), u=point.u * rng.uniform(0.7, 1.3, point.u.shape)
    )
    it = replace(it, point=point, room=it.room * rng.uniform(0.7, 1.3, it.room.shape))
    size = it.complementarity / point.s.size
    targets = [*(rng.normal(size=(2, *point.s.shape)) * size), rng.normal(size=it.rho.shape) * size]
    move = MinimaxSystem(program, it).direction(targets, newton=newton)
    (ds, du, droom), (dzs, dzu, drho) = move.values, move.slacks
    got = [move.dlam, move.dnu, drho, np.array([move.dtau]), droom, move.dt, ds, du, dzs, dzu]
    for one, other in zip(got, dense_direction(program, it, targets, newton=newton), strict=True):
        np.testing.assert_allclose(one, other.reshape(one.shape), rtol=1e-6, atol=1e-8 * np.abs(other).max())


@pytest.mark.parametrize("seed", range(12))
def test_steps_stay_feasible_and_lower_the_complementarity(random_program, seed):
    """Primal residuals stay the rounding of squared outputs, slacks belong to the multipliers, the gap falls."""
    program = problem(random_program, seed)
    first = it = start(program)
    for _ in range(8):
        after = minimax_step(program, it)
        assert after.complementarity < it.complementarity
        it, point, mixed = after, after.point, program.mixed(after.rho)
        assert min(a.min() for a in (point.t, point.s, point.u, point.zs, point.zu, it.rho, it.room)) > 0
        assert np.abs(np.concatenate(residuals(mixed, point))).max() < 1e-11 * max(1, point.outputs.max()) ** 2
        variances = program.variances(point.outputs, point.probabilities)
        np.testing.assert_allclose(variances + it.room, it.tau, rtol=1e-10)
        assert it.rho.sum() == pytest.approx(program.share, rel=1e-14)
        g = mixed.reduced_costs(mixed.offsets(point.outputs), point.lam, point.nu)
        np.testing.assert_allclose(point.zs - point.zu, g, rtol=1e-9, atol=1e-14 * np.abs(g).max())
        assert mixed.column_values(g).min() > 0
    assert it.complementarity < 2e-2 * first.complementarity


@pytest.mark.parametrize("seed", range(6))
def test_complementarity_is_the_duality_gap(random_program, seed):
    """With tau in the place of the largest variance."""
    program = problem(random_program, seed)
    it = minimax_step(program, minimax_step(program, start(program)))
    variances = program.variances(it.point.outputs, it.point.probabilities)
    primal = (1 - program.share) * (program.prior @ variances) + program.share * it.tau
    assert it.complementarity == pytest.approx(primal - it.point.dual_objective, rel=1e-6)


@pytest.mark.parametrize("seed", range(9))
def test_the_limit_is_the_optimum_that_highs_finds_on_these_outputs(random_program, seed):
    """Within forty steps to seven digits."""
    program = problem(random_program, seed, knots=(3, 9))
    it = start(program, 24)
    steps = 0
    while it.complementarity > 1e-8 * abs(it.point.dual_objective):
        it = minimax_step(program, it)
        steps += 1
    assert steps <= 40
    expected = minimax_with_highs(program, it.point.outputs)
    assert it.point.dual_objective == pytest.approx(expected, rel=1e-7)
    variances = program.variances(it.point.outputs, it.point.probabilities)
    assert program.objective(variances) == pytest.approx(expected, rel=1e-7)


def test_an_iterate_that_is_not_finite_is_an_error(random_program):
    """What overflow leaves ends in an error, not in a loop."""
    program = problem(random_program, 1)
    it = start(program)
    with pytest.raises(SolverError):
        minimax_step(program, replace(it, point=replace(it.point, s=it.point.s * np.nan)))
