"""The barrier whose weights move: against HiGHS, and the way back to the other path where it is lost."""

# What stands in for a solver in a test is found where it is used, in another module than its own.
# pyright: reportPrivateImportUsage=false

import numpy as np
import pytest
from optldp.solvers import MinimaxProgram, Status, solve_minimax
from optldp.solvers.robust import minimax
from optldp.solvers.robust.line_path import solve_on_the_line

from ..minimax_oracle import minimax_with_highs

KNOTS = np.linspace(-1, 1, 35)
EVEN = np.full(35, 1 / 35)
STEEP = np.exp(-6 * KNOTS) / np.exp(-6 * KNOTS).sum()


def silent(*_) -> None:
    """Nobody watches."""


@pytest.fixture
def no_other_path(monkeypatch):
    """The path on refined outputs must not be needed."""

    def refuse(*_, **__):
        raise AssertionError("the barrier was lost")

    monkeypatch.setattr(minimax, "solve_robust", refuse)


@pytest.mark.slow
@pytest.mark.parametrize("share", [1.0, 0.5, 0.01])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_highs_on_the_same_outputs_finds_no_better(no_other_path, epsilon, share):
    program = MinimaxProgram(KNOTS, STEEP, float(np.exp(epsilon)), share)
    best = solve_minimax(KNOTS, program.ratio, prior=STEEP, share=share, tolerance=1e-5)
    assert best.status is Status.OPTIMAL
    assert len(best.solution.outputs) <= 2 * len(KNOTS) + 1
    on_same = minimax_with_highs(program, best.solution.outputs)
    assert best.bound * (1 - 1e-8) <= on_same <= best.value * (1 + 1e-8)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("knots", [40, 101])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 4.0])
def test_the_least_worst_case_is_closed_at_usual_budgets(no_other_path, knots, epsilon):
    best = solve_minimax(np.linspace(-1, 1, knots), float(np.exp(epsilon)), tolerance=1e-5)
    assert best.gap <= 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_a_problem_that_is_hardly_asymmetric_has_the_same_optimum(epsilon):
    """One knot moved by 1e-9 is too far for the half that says all."""
    moved = KNOTS.copy()
    moved[4] += 1e-9
    one, other = (solve_on_the_line(x, EVEN, np.exp(epsilon), 1.0, 1e-5, silent) for x in (KNOTS, moved))
    assert one is not None
    assert other is not None
    bounds = [found.lam.sum() + found.nu @ KNOTS - found.weights @ KNOTS**2 for found in (one, other)]
    assert bounds[0] == pytest.approx(bounds[1], rel=2e-5)


@pytest.mark.slow
def test_what_it_returns_is_a_mixture_with_the_prior():
    found = solve_on_the_line(KNOTS, STEEP, np.e, 0.25, 1e-5, silent)
    assert found is not None
    assert (found.weights >= 0.75 * STEEP - 1e-8).all()
    assert found.weights.sum() == pytest.approx(1, abs=1e-8)


@pytest.mark.nightly
def test_where_it_is_lost_the_other_path_is_taken(monkeypatch):
    best = solve_minimax(KNOTS, np.e)
    monkeypatch.setattr(minimax, "solve_on_the_line", lambda *_: None)
    other = solve_minimax(KNOTS, np.e)
    assert other.status is Status.OPTIMAL
    assert other.value == pytest.approx(best.value, rel=2e-6)
    assert other.steps != best.steps
