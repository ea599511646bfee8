"""The best floors of one, two, three, ... pieces for a prior and a budget, with what they are measured by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from ...mechanisms.families.ptt import optimal_eta, ptt, window_shape
from ...mechanisms.families.unit_domain import UnitDomain
from ...mechanisms.table.table import TabulatedMechanism
from ...solvers.shaped.floor import PieceFloor, piece_rows
from ...solvers.shaped.search import ShapedFloor, ShapeProblem, best_floors
from ...solvers.shaped.starts import gathered
from ..objectives.base import Objective, Problem

MOST_PIECES = 12
"""More pieces gain next to nothing, and the optimum itself takes less time."""

NEGLIGIBLE_FLOOR = 1e-9
"""Outputs with less of the optimum's floor, as a share, are left out of the starts."""


@dataclass(frozen=True, eq=False)
class PieceFloors:
    """The best floors found, on knots scaled to [-1, 1].

    Attributes
    ----------
    problem : Problem
    objective : Variance or WorstCase
    domain : UnitDomain
    floors : list of ShapedFloor
        The best of at most 1, 2, ... pieces.
    """

    problem: Problem
    objective: Objective
    domain: UnitDomain
    floors: list[ShapedFloor]

    @property
    def second_moment(self) -> float:
        """Of the prior on the scaled domain, or 1 for the worst case: what the best eta depends on."""
        return _second_moment(self.problem, self.objective)

    def value(self, table: TabulatedMechanism) -> float:
        """Return what is minimised, of any table on the knots."""
        return self.objective.value(table, self.problem)

    def ptt(self) -> TabulatedMechanism:
        """Return PTT with the eta that is best for the objective."""
        return ptt(self.problem.prior.knots, self.domain.epsilon, second_moment=self.second_moment)

    def table(self, floor: PieceFloor) -> TabulatedMechanism:
        """Return the table of a floor on the scaled domain, in doubles."""
        cells = piece_rows(floor, self.domain.position, self.domain.ratio)
        parameters = {
            "unbiased": True,
            "piece_low": self.domain.unit.values(floor.low).tolist(),
            "piece_high": self.domain.unit.values(floor.high).tolist(),
            "piece_mass": floor.mass.tolist(),
            "window_mass": floor.window_mass(self.domain.ratio),
            "worst_case": not self.objective.uses_prior,
        }
        return self.domain.table(*cells, "shaped", parameters)


def piece_search(problem: Problem, objective: Objective, optimum: TabulatedMechanism, pieces: int) -> PieceFloors:
    """Search for floors of 1 to `pieces` pieces, starting from PTT's and from that of the optimum.

    Parameters
    ----------
    problem : Problem
    objective : Variance or WorstCase
    optimum : TabulatedMechanism
        The objective's.
    pieces : int
        1 to `MOST_PIECES`.
    """
    domain = UnitDomain.of(problem.prior.knots, problem.epsilon)
    outputs, floors = problem.unit.places(optimum.low), optimum.probabilities.min(axis=0)
    some = floors > NEGLIGIBLE_FLOOR * floors.sum()
    shapes = ShapeProblem(domain.position, problem.solved.weights, domain.ratio, not objective.uses_prior)
    with threadpool_limits(1, user_api="blas"):  # as in `Variance`
        found = best_floors(
            shapes,
            _ptt_floor(domain, _second_moment(problem, objective)),
            pieces,
            gathered(outputs[some], floors[some], pieces),
        )
    return PieceFloors(problem, objective, domain, found)


def _second_moment(problem: Problem, objective: Objective) -> float:
    return float(min(problem.solved.weights @ problem.unit.knots**2, 1.0)) if objective.uses_prior else 1.0


def _ptt_floor(domain: UnitDomain, second_moment: float) -> PieceFloor:
    """PTT's floor: density q on [-(k + a), k + a], of total mass 1 - 1/k."""
    stretch, half_width = window_shape(domain.excess, optimal_eta(domain.epsilon, second_moment), kind=1)
    side = stretch + half_width
    return PieceFloor(np.array([-side]), np.array([side]), np.array([1 - 1 / stretch]))
