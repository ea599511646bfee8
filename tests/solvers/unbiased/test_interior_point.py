"""Newton's method against the dense Newton system, its invariants, and HiGHS."""

from dataclasses import replace

import numpy as np
import pytest
from optldp.mechanisms import SolverError
from optldp.solvers import UnbiasedProgram, solve_with_highs
from optldp.solvers.unbiased.interior_point import Iterate, NewtonSystem, dual_step, newton_step, residuals
from optldp.solvers.unbiased.starting_point import starting_outputs, starting_point


def start(program: UnbiasedProgram, count: int = 16) -> Iterate:
    return starting_point(program, starting_outputs(program, count))


def dense_direction(
    program: UnbiasedProgram, it: Iterate, rs: np.ndarray, ru: np.ndarray, *, newton: bool
) -> list[np.ndarray]:
    """Solve all 2n + m + 4nm Newton equations at once, unknowns (dlam, dnu, dt, ds, du, dzs, dzu)."""
    n, m = it.s.shape
    v, growth = program.offsets(it.outputs), program.ratio - 1
    sizes = [n, n, m, n * m, n * m, n * m, n * m]
    lam, nu, t, s, u, zs, zu = (
        np.arange(size) + offset for size, offset in zip(sizes, np.cumsum([0, *sizes[:-1]]), strict=True)
    )
    s, u, zs, zu = (a.reshape(n, m) for a in (s, u, zs, zu))
    matrix, right = np.zeros((sum(sizes), sum(sizes))), np.zeros(sum(sizes))
    lacks = (*residuals(program, it), growth * it.t - it.s - it.u)
    row = 0
    for i in range(n):
        for weight, lack in ((np.ones(m), lacks[0][i]), (v[i], lacks[1][i])):
            matrix[row, t] = matrix[row, s[i]] = weight
            right[row] = lack if newton else 0.0
            row += 1
    for y in range(m):
        # sum_i g_i = (E - 1) sum_i z_u: in the multipliers, dg = -(dlam + v dnu).
        matrix[row, lam], matrix[row, nu], matrix[row, zu[:, y]] = -1.0, -v[:, y], -growth
        row += 1
        for i in range(n):
            matrix[row, [s[i, y], u[i, y], t[y]]] = 1.0, 1.0, -growth
            right[row] = lacks[2][i, y] if newton else 0.0
            matrix[row + 1, [zs[i, y], zu[i, y], lam[i], nu[i]]] = 1.0, -1.0, 1.0, v[i, y]
            matrix[row + 2, [s[i, y], zs[i, y]]] = it.zs[i, y], it.s[i, y]
            matrix[row + 3, [u[i, y], zu[i, y]]] = it.zu[i, y], it.u[i, y]
            right[row + 2], right[row + 3] = rs[i, y], ru[i, y]
            row += 4
    assert row == sum(sizes)
    x = np.linalg.solve(matrix, right)
    return [x[part] for part in (lam, nu, t, s, u, zs, zu)]


@pytest.mark.parametrize("newton", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_the_reduced_system_solves_the_full_one(random_program, seed, newton):
    """At an iterate that satisfies no primal equation, for arbitrary complementarity targets."""
    program = random_program(seed, knots=(2, 4), budgets=(0.3, 3.0))
    rng = np.random.default_rng(seed)
    it = start(program, 6)
    it = replace(it, s=it.s * rng.uniform(0.7, 1.3, it.s.shape), u=it.u * rng.uniform(0.7, 1.3, it.u.shape))
    rs, ru = rng.normal(size=(2, *it.s.shape)) * it.complementarity / it.s.size
    got = NewtonSystem(program, it).direction(rs, ru, newton=newton)
    for one, other in zip(got, dense_direction(program, it, rs, ru, newton=newton), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9 * np.abs(other).max())


@pytest.mark.parametrize("seed", range(12))
def test_steps_stay_feasible_and_lower_the_complementarity(random_program, seed):
    """Primal residuals stay rounding, dual slacks belong to the multipliers, and the gap falls every time."""
    program = random_program(seed)
    it = start(program)
    reach = it.outputs.max()
    for _ in range(8):
        after = newton_step(program, it)
        assert after.complementarity < it.complementarity
        it = after
        assert min(a.min() for a in (it.t, it.s, it.u, it.zs, it.zu)) > 0
        assert np.abs(np.concatenate(residuals(program, it))).max() < 1e-12 * max(1, reach)
        np.testing.assert_allclose(it.s + it.u, np.broadcast_to((program.ratio - 1) * it.t, it.s.shape), rtol=1e-9)
        g = program.reduced_costs(program.offsets(it.outputs), it.lam, it.nu)
        np.testing.assert_allclose(it.zs - it.zu, g, rtol=1e-9, atol=1e-14 * np.abs(g).max())
        assert program.column_values(g).min() > 0
    assert it.complementarity < 1e-2 * start(program).complementarity


@pytest.mark.parametrize("seed", range(4))
def test_complementarity_is_the_duality_gap(random_program, seed):
    program = random_program(seed)
    it = newton_step(program, newton_step(program, start(program)))
    gap = program.objective(it.outputs, it.probabilities) - it.dual_objective
    assert it.complementarity == pytest.approx(gap, rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_the_limit_is_the_optimum_that_highs_finds_on_these_outputs(random_program, seed):
    """Within thirty steps to eight digits."""
    program = random_program(seed, knots=(3, 9), budgets=(0.2, 5.0))
    it = start(program, 24)
    steps = 0
    while it.complementarity > 1e-9 * abs(it.dual_objective):
        it = newton_step(program, it)
        steps += 1
    assert steps <= 30
    expected = solve_with_highs(program.knots, program.weights, it.outputs, float(np.log(program.ratio))).value
    assert it.dual_objective == pytest.approx(expected, rel=1e-7)
    assert program.objective(it.outputs, it.probabilities) == pytest.approx(expected, rel=1e-7)


def test_a_dual_step_stops_short_of_the_boundary(random_program):
    """However far the direction points outside, every F stays positive."""
    program = random_program(1)
    it = start(program)
    down = -100 * np.ones_like(it.lam) * np.abs(it.lam).max()
    after = dual_step(program, it, -down, 0 * down, program.offsets(it.outputs))
    g = program.reduced_costs(program.offsets(it.outputs), after.lam, after.nu)
    assert program.column_values(g).min() > 0
    assert after.lam.sum() > it.lam.sum()


def test_a_dual_step_with_no_room_is_an_error(random_program):
    program = random_program(1)
    it = start(program)
    with pytest.raises(SolverError, match="vanished"):
        dual_step(program, it, 1e12 * np.ones_like(it.lam), 0 * it.nu, program.offsets(it.outputs))


def test_an_iterate_that_is_not_finite_is_an_error(random_program):
    """What overflow leaves ends in an error, not in a loop."""
    program = random_program(1)
    it = start(program)
    with pytest.raises(SolverError):
        newton_step(program, replace(it, s=it.s * np.nan))
