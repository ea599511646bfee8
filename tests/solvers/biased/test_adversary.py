"""The adversary's equations: met by the start, met by a Newton direction, and its priors in the box."""

from dataclasses import replace

import numpy as np
import pytest
from optldp.solvers.biased import ErrorProgram, trusted
from optldp.solvers.biased.adversary import Adversary
from optldp.solvers.biased.box import analytic_centre, widened
from optldp.solvers.biased.least_error import _Path
from optldp.solvers.biased.newton import ErrorIterate, ErrorSystem, error_step

KNOTS = np.linspace(-1, 1, 9)
SKEWED = np.exp(-2 * (KNOTS + 1)) / np.exp(-2 * (KNOTS + 1)).sum()
BOX = trusted(SKEWED, 3.0)
PROGRAM = ErrorProgram(KNOTS, 4.0, BOX, 500)


def left(it: ErrorIterate) -> list[np.ndarray]:
    """What the equations of the module's text lack."""
    a = it.adversary
    v, b = PROGRAM.moments(it.point.outputs, it.point.probabilities)
    supports = (a.levels + a.over @ a.high - a.under @ a.low)[1:]
    return [
        np.stack([v, b, -b]) - a.levels[:, None] - a.over + a.under,
        supports + a.room - a.bias,
        a.priors.sum(1) - a.totals,
        it.point.nu - a.nu,
        it.point.probabilities.sum(1) - 1,
        np.array([a.totals[1:].sum() - 2 * a.users * a.bias]),
    ]


def path_at(steps: int) -> ErrorIterate:
    path = _Path(PROGRAM, BOX, 1e-6, None)
    it = path._start()
    for _ in range(steps):
        it = error_step(path.inner, it)
    return it


def test_the_start_meets_all_equations_inside_all_inequalities():
    it = path_at(0)
    for lack in left(it):
        np.testing.assert_allclose(lack, 0, atol=1e-9)
    assert min(part.min() for pair in it.pairs for part in pair) > 0


def test_the_start_is_the_analytic_centre_for_each_prior():
    a = path_at(0).adversary
    for prior, total in zip(a.priors, a.totals, strict=True):
        np.testing.assert_allclose(prior / total, analytic_centre(widened(BOX)), rtol=1e-9)


@pytest.mark.parametrize("steps", [1, 6, 12])
def test_a_full_newton_step_meets_all_equations_and_products_change_by_their_targets(steps):
    """All are linear but the products, so that a full step leaves nothing, whatever was left before."""
    it = path_at(steps)
    it = replace(it, adversary=replace(it.adversary, bias=1.01 * it.adversary.bias, room=1.02 * it.adversary.room))
    assert max(np.abs(lack).max() for lack in left(it)) > 1e-6
    targets = [-0.5 * value * slack for value, slack in it.pairs]
    move = ErrorSystem(PROGRAM, it).direction(targets, newton=True)
    (dlam, dt), (ds, du) = move.parts, move.values[:2]
    adversary = it.adversary.primal_step(move.adversary, 1.0).dual_step(move.adversary, 1.0)
    point = replace(it.point, t=it.point.t + dt, s=it.point.s + ds, u=it.point.u + du, nu=adversary.nu)
    for lack in left(ErrorIterate(point, adversary)):
        np.testing.assert_allclose(lack, 0, atol=1e-8)
    for (value, slack), dv, dz, target in zip(it.pairs, move.values, move.slacks, targets, strict=True):
        np.testing.assert_allclose(slack * dv + value * dz, target, atol=1e-8)
    offsets = it.point.outputs - KNOTS[:, None]
    g = (adversary.priors[0][:, None] * offsets - adversary.nu[:, None]) * offsets - (it.point.lam + dlam)[:, None]
    np.testing.assert_allclose(it.point.zs + move.slacks[0] - it.point.zu - move.slacks[1], g, atol=1e-8)


def test_mended_multipliers_meet_the_equations_of_larger_variances():
    a = path_at(8).adversary
    variances = a.levels[0] + a.over[0] - a.under[0]
    grown = a.mended(variances + np.linspace(0, 1, 9))
    np.testing.assert_allclose(grown.levels[0] + grown.over[0] - grown.under[0], variances + np.linspace(0, 1, 9))
    assert grown.under.min() > 0
    assert isinstance(grown, Adversary)
