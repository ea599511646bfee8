"""Refined outputs: the mechanism is post-processed, nothing it promises is lost, and the bound comes closer."""

from dataclasses import replace

import numpy as np
import pytest
from optldp.mechanisms import SolverError
from optldp.solvers import Pricing, UnbiasedProgram, certified_bound, price
from optldp.solvers.unbiased.interior_point import Iterate, newton_step
from optldp.solvers.unbiased.refinement import refine_outputs
from optldp.solvers.unbiased.starting_point import starting_outputs, starting_point


def refined(program: UnbiasedProgram, steps: int) -> tuple[Iterate, Iterate, Pricing]:
    """Return an iterate after some steps, the same refined, and the pricing in between."""
    it = starting_point(program, starting_outputs(program, 16))
    for _ in range(steps):
        it = newton_step(program, it)
    pricing = price(program, it.lam, it.nu)
    loss = it.dual_objective - certified_bound(program, it.lam, it.nu)
    return it, refine_outputs(program, it, pricing, it.complementarity, loss), pricing


def loss_of(program: UnbiasedProgram, it: Iterate) -> float:
    return it.dual_objective - certified_bound(program, it.lam, it.nu)


@pytest.mark.parametrize("steps", [4, 9])
@pytest.mark.parametrize("seed", range(8))
def test_sums_means_and_ratios_survive(random_program, seed, steps):
    """Whatever goes on inside, rows still sum to one around their knots and columns stay strictly within the ratio."""
    program = random_program(seed)
    before, after, _ = refined(program, steps)
    for it in (before, after):
        P, reach = it.probabilities, np.abs(it.outputs).max()
        np.testing.assert_allclose(P.sum(1), 1, rtol=0, atol=1e-13)
        np.testing.assert_allclose(P @ it.outputs, program.knots, rtol=0, atol=1e-12 * max(1, reach))
        assert np.all(P.max(0) < program.ratio * P.min(0))
        np.testing.assert_allclose(it.s + it.u, np.broadcast_to((program.ratio - 1) * it.t, it.s.shape), rtol=1e-9)
    assert np.all(np.diff(after.outputs) > 0)


@pytest.mark.parametrize("seed", range(8))
def test_the_new_point_is_strictly_inside_on_both_sides(random_program, seed):
    program = random_program(seed)
    _, it, _ = refined(program, 9)
    assert min(a.min() for a in (it.t, it.s, it.u, it.zs, it.zu)) > 0
    g = program.reduced_costs(program.offsets(it.outputs), it.lam, it.nu)
    assert program.column_values(g).min() > 0
    np.testing.assert_allclose(it.zs - it.zu, g, rtol=1e-9, atol=1e-14 * np.abs(g).max())


@pytest.mark.parametrize("seed", range(8))
def test_where_a_column_prices_in_an_output_comes_in(random_program, seed):
    """Every local minimum with F < 0 has an output at a small share of the distance between old outputs."""
    program = random_program(seed)
    before, after, pricing = refined(program, 9)
    spacing = np.diff(before.outputs).min()
    for y in pricing.outputs[pricing.values < 0]:
        assert np.abs(after.outputs - y).min() < 0.1 * spacing


@pytest.mark.parametrize("seed", range(8))
def test_a_few_steps_later_the_outputs_cost_less(random_program, seed):
    """The loss is what refinement is for: dual objective on the outputs minus the bound over all outputs."""
    program = random_program(seed, knots=(4, 9), budgets=(0.2, 4.0))
    before, it, _ = refined(program, 12)
    for _ in range(4):
        it = newton_step(program, it)
    assert loss_of(program, it) < 0.3 * loss_of(program, before)


@pytest.mark.parametrize("epsilon", [1.0, 8.0, 14.0])
@pytest.mark.parametrize("decay", [0.0, 3.0, 10.0])
def test_making_room_for_new_outputs_costs_what_the_old_ones_did(decay, epsilon):
    """The dual objective falls by a small multiple of the loss, also where E is large and rare knots have no weight.

    A uniform shift of lambda by tau gives up n tau, the certified loss; the barrier weights may need twice that.
    """
    knots = np.linspace(-1, 1, 21)
    weights = np.exp(-decay * (knots + 1))
    program = UnbiasedProgram(knots, weights / weights.sum(), float(np.exp(epsilon)))
    it = starting_point(program, starting_outputs(program, 42))
    for _ in range(25):
        it = newton_step(program, it)
    loss = loss_of(program, it)
    after = refine_outputs(program, it, price(program, it.lam, it.nu), it.complementarity, loss)
    assert 0 < it.dual_objective - after.dual_objective < 3 * loss


@pytest.mark.parametrize("steps", [3, 8, 13])
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_the_spread_costs_no_more_than_the_gap_allows(random_program, seed, steps):
    """Where no output is dropped, as here, the objective rises by at most half the gap, however small that is."""
    program = random_program(seed)
    before, after, _ = refined(program, steps)
    assert np.isin(before.outputs, after.outputs).all()
    old, new = (program.objective(it.outputs, it.probabilities) for it in (before, after))
    assert old < new <= old + 0.5 * before.complementarity * (1 + 1e-4)


def test_multipliers_that_cannot_be_repaired_are_an_error(random_program):
    """NaN stands for what overflow would leave; the shift ends instead of looping."""
    program = random_program(1)
    it = starting_point(program, starting_outputs(program, 16))
    broken = replace(it, nu=np.nan * it.nu)
    with pytest.raises(SolverError, match="could not be made feasible"):
        refine_outputs(program, broken, Pricing(np.array([0.0]), np.array([-1.0])), 1.0, 1.0)
