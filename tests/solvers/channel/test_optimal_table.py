"""The channel program against programs with all pairs written out, closed forms and values that others published."""

import math

import numpy as np
import pytest
from optldp.mechanisms import InputError
from optldp.solvers import Status
from optldp.solvers.channel import ChannelProgram, solve_channel
from optldp.solvers.cone import Cone, blocks, circle, line, pure, ratios, sensitive, value_budgets

CONES = {
    "pure": pure(6, 1.0),
    "line": line(np.linspace(-1, 1, 6), 2.0),
    "circle": circle(np.arange(6), 6, 0.5),
    "average by value": value_budgets(np.linspace(0.5, 3, 6)),
    "smaller by value": value_budgets(np.linspace(0.5, 3, 6), rule="min"),
    "blocks": blocks([0, 0, 1, 1, 2, 2], 1.0, 3.0),
    "sensitive": sensitive(np.arange(6) < 3, 1.0),
    "any": ratios(np.random.default_rng(1).uniform(0.3, 3, (6, 6))),
}


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("kind", CONES)
def test_few_rows_have_the_optimum_of_all_pairs(kind, share):
    """cvxpy with every pair a row: same optimum; the table keeps its promise and the bound is proved again."""
    import cvxpy as cp

    rng = np.random.default_rng(2)
    cone, p, losses = CONES[kind], rng.dirichlet(np.ones(6)), rng.random((6, 9))
    program = ChannelProgram(cone, p, losses, share)
    found = solve_channel(program)
    P = cp.Variable((6, 9), nonneg=True)
    each = cp.sum(cp.multiply(losses, P), axis=1)
    pairs = [P[i] <= math.exp(cone.closed[i, j]) * P[j] for i, j in np.argwhere(np.isfinite(cone.closed)) if i != j]
    problem = cp.Problem(
        cp.Minimize((1 - share) * p @ each + share * cp.max(each)),  # pyright: ignore[reportArgumentType] -- untyped
        [cp.sum(P, axis=1) == 1, *pairs],  # pyright: ignore[reportArgumentType] -- of numpy's type, says cvxpy
    )
    problem.solve(solver=cp.CLARABEL)
    assert found.value == pytest.approx(problem.value, rel=1e-6)
    assert found.status is Status.OPTIMAL
    assert found.bound <= found.value
    assert cone.excess(found.solution) < 1e-12
    assert found.solution.sum(1) == pytest.approx(np.ones(6), abs=1e-14)
    assert program.bound(**found.multipliers) == found.bound


@pytest.mark.parametrize(("epsilon", "worst"), [(0.5, 0.940), (1, 0.787), (2, 0.428), (4, 0.104)])
def test_the_least_worst_error_of_a_biased_report_on_17_values(epsilon, worst):
    """Golden numbers of Optimal-GPM's program (PETS 2025): values and outputs on [-1, 1] in steps of 1/8 and 1/16."""
    x, z = np.linspace(-1, 1, 17), np.linspace(-1, 1, 33)
    found = solve_channel(ChannelProgram(pure(17, epsilon), np.full(17, 1 / 17), (z - x[:, None]) ** 2, 1.0))
    assert found.value == pytest.approx(worst, abs=5e-4)
    assert found.gap < 1e-6


@pytest.mark.parametrize("n", [2, 5, 9])
def test_equal_values_are_told_by_randomised_response(n):
    """Zero-one loss, even weights: (n - 1) / (e^epsilon + n - 1)."""
    found = solve_channel(ChannelProgram(pure(n, 1.5), np.full(n, 1 / n), 1 - np.eye(n)), tolerance=1e-9)
    assert found.value == pytest.approx((n - 1) / (math.exp(1.5) + n - 1), rel=1e-8)


def test_two_unbiased_outputs_are_duchis():
    """At the ends of what unbiased reports need, ((E + 1) / (E - 1))^2 - 1; nearer ones are refused."""
    reach = (math.e + 1) / (math.e - 1)
    knots, even = np.array([-1.0, 1.0]), np.array([0.5, 0.5])
    program = ChannelProgram.unbiased(pure(2, 1.0), even, knots, 1.0000001 * reach * knots)
    assert solve_channel(program).value == pytest.approx(reach**2 - 1, rel=1e-6)
    for ends in (0.999 * reach * knots, np.array([-9, 0.5]), np.array([-1.0, 9.0])):
        with pytest.raises(InputError, match="unbiased reports must reach beyond"):
            ChannelProgram.unbiased(pure(2, 1.0), even, knots, ends)


@pytest.mark.parametrize("kind", ["pure", "line", "any"])
def test_disturbed_multipliers_prove_less(kind):
    """A worse bound, and a right one; those of an unbiased program, too."""
    rng, x, cone = np.random.default_rng(3), np.linspace(-1, 1, 6), CONES[kind]
    program = ChannelProgram.unbiased(cone, np.full(6, 1 / 6), x, np.linspace(-30, 30, 31), 0.5)
    found = solve_channel(program)
    assert found.gap < 1e-6
    assert found.solution @ np.linspace(-30, 30, 31) == pytest.approx(x, abs=1e-6)
    for _ in range(5):
        other = {name: each + 0.1 * rng.normal(size=6) for name, each in found.multipliers.items()}
        assert program.bound(**other) < found.value * (1 + 1e-9)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"weights": np.ones(2)}, "weights must be 2"),
        ({"losses": np.ones((3, 2))}, "a row for each of 2 values"),
        ({"share": 1.5}, "share of the worst"),
        ({"deviations": np.ones((2, 3))}, "deviations must be finite"),
    ],
)
def test_what_makes_no_sense_is_refused(change, words):
    """One line each."""
    given: dict[str, object] = {"weights": np.array([0.5, 0.5]), "losses": np.ones((2, 2)), **change}
    cone: Cone = pure(2, 1.0)
    with pytest.raises(InputError, match=words):
        ChannelProgram(cone, **given)  # pyright: ignore[reportArgumentType] -- wrong ones
