"""Whoever fails is followed by the next, and value and bound are those of the objective whoever it was."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from optldp import Prior, design
from optldp.designer import TradeOff, Variance, WorstCase
from optldp.designer.objectives import variance, worst_case
from optldp.designer.objectives.accelerators import Accelerator, solved
from optldp.designer.objectives.base import Problem, Solution
from optldp.mechanisms import SolverError
from optldp.solvers import Status

PRIOR = Prior.on_knots(3 + 4 * np.linspace(-1, 1, 4), [1, 2, 5, 3], source="public")


def fails(*_: Any, **__: Any) -> Any:
    raise SolverError("numbers were lost")


@pytest.mark.slow
@pytest.mark.parametrize("objective", [Variance(), TradeOff(0.4), WorstCase()], ids=lambda one: one.key)
def test_where_the_barrier_fails_the_general_solver_proves_the_same(monkeypatch, objective):
    """On knots that are not those of the unit interval: multipliers are mapped with them."""
    usual = design(PRIOR, 1.0, objective=objective, uniform_share=0.0)
    monkeypatch.setattr(variance, "solve_unbiased", fails)
    monkeypatch.setattr(worst_case, "solve_minimax", fails)
    other = design(PRIOR, 1.0, objective=objective, uniform_share=0.0)
    assert (usual.solver, other.solver) == ("barrier", "tree")
    assert other.status == "optimal"
    assert max(usual.bound, other.bound) <= min(usual.value, other.value)
    assert other.value == pytest.approx(usual.value, rel=2e-6)
    assert other.certificate.check().bound == other.bound


def test_an_open_gap_is_handed_on_and_the_least_is_kept():
    problem, asked = Problem(PRIOR, 1.0), Variance()
    best = asked.solve(problem)

    def opened(bound: float) -> Accelerator:
        told = {name: bound * each for name, each in best.multipliers.items()}
        found = Solution(best.mechanism, told, Status.GAP_OPEN)
        return Accelerator(f"open {bound}", lambda problem: True, lambda problem, progress: replace(found))

    assert solved(problem, asked, [opened(0.5), opened(0.9), opened(0.7)], None).solver == "open 0.9"
    assert solved(problem, asked, [opened(0.9), *asked.ways()], None).solver == "barrier"


def test_if_all_fail_the_error_is_the_last_ones():
    with pytest.raises(SolverError, match="numbers were lost"):
        solved(Problem(PRIOR, 1.0), Variance(), [Accelerator("a", lambda problem: True, fails)], None)
