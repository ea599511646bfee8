"""The best floors of one, two, three, ... pieces for a prior and a budget, with what they are measured by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from ...mechanisms import InputError, TabulatedMechanism, ptt
from ...mechanisms.families.ptt import optimal_eta, window_shape
from ...mechanisms.families.unit_domain import UnitDomain
from ...solvers import Progress, Status
from ...solvers.shaped.floor import PieceFloor
from ...solvers.shaped.rows import piece_rows
from ...solvers.shaped.search import ShapedFloor, ShapeProblem, best_floors
from ...solvers.shaped.starts import gathered
from ..priors.prior import Prior
from .design import DEFAULT_TOLERANCE
from .minimax import design_minimax
from .optimum import certified_optimum

MOST_PIECES = 12
"""More pieces gain next to nothing, and the optimum itself takes less time."""

NEGLIGIBLE_FLOOR = 1e-9
"""Outputs with less of the optimum's floor, as a share, are left out of the starts."""


@dataclass(frozen=True, eq=False)
class ShapedChain:
    """The best floors found, on knots scaled to [-1, 1].

    Attributes
    ----------
    prior : Prior
        As solved for.
    domain : UnitDomain
    worst_case : bool
        Whether the largest variance at a knot was minimised rather than the expected one.
    floors : list of ShapedFloor
        The best of at most 1, 2, ... pieces.
    lower_bound : float
        Certified, on the objective of any unbiased epsilon-LDP mechanism on the knots; squared units.
    status : Status
    optimum : TabulatedMechanism
        The mechanism behind the bound.
    """

    prior: Prior
    domain: UnitDomain
    worst_case: bool
    floors: list[ShapedFloor]
    lower_bound: float
    status: Status
    optimum: TabulatedMechanism

    @property
    def second_moment(self) -> float:
        """Of the prior on the scaled domain, or 1 for the worst case: what the best eta depends on."""
        return _second_moment(self.prior, self.domain, self.worst_case)

    def objective(self, table: TabulatedMechanism) -> float:
        """Return what is minimised, of any table on the knots."""
        if self.worst_case:
            return float(table.knot_variances.max())
        return table.expected_variance(self.prior.knot_prior)

    def ptt(self) -> TabulatedMechanism:
        """Return PTT with the eta that is best for the objective."""
        return ptt(self.prior.knots, self.domain.epsilon, second_moment=self.second_moment)

    def table(self, floor: PieceFloor) -> TabulatedMechanism:
        """Return the table of a floor on the scaled domain, in doubles."""
        cells = piece_rows(floor, self.domain.position, self.domain.ratio)
        parameters = {
            "unbiased": True,
            "piece_low": self.domain.in_units(floor.low).tolist(),
            "piece_high": self.domain.in_units(floor.high).tolist(),
            "piece_mass": floor.mass.tolist(),
            "window_mass": floor.window_mass(self.domain.ratio),
            "worst_case": self.worst_case,
        }
        return self.domain.table(*cells, "shaped", parameters)


def shaped_chain(
    solved: Prior,
    epsilon: float,
    pieces: int,
    worst_case: bool,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
    progress: Callable[[Progress], None] | None = None,
) -> ShapedChain:
    """Solve for the optimum, whose certificate and floor are used, then for floors of 1 to `pieces` pieces."""
    if isinstance(pieces, bool) or not isinstance(pieces, int) or not 1 <= pieces <= MOST_PIECES:
        raise InputError(f"pieces must be a whole number from 1 to {MOST_PIECES}, got {pieces!r}")
    if not 0 < tolerance < 1:
        raise InputError(f"tolerance must lie strictly between 0 and 1, got {tolerance!r}")
    domain = UnitDomain.of(solved.knots, epsilon)
    if worst_case:
        best = design_minimax(solved.knots, epsilon, tolerance=tolerance, exact=False, progress=progress)
    else:
        best = certified_optimum(solved, epsilon, tolerance=tolerance, progress=progress)
    low, high = solved.domain
    outputs = (best.mechanism.low - (low + high) / 2) / ((high - low) / 2)
    floors = best.mechanism.probabilities.min(axis=0)
    some = floors > NEGLIGIBLE_FLOOR * floors.sum()
    problem = ShapeProblem(domain.position, solved.weights, domain.ratio, worst_case)
    with threadpool_limits(1, user_api="blas"):  # as in `certified_optimum`
        found = best_floors(
            problem,
            _ptt_floor(domain, _second_moment(solved, domain, worst_case)),
            pieces,
            gathered(outputs[some], floors[some], pieces),
        )
    return ShapedChain(solved, domain, worst_case, found, best.lower_bound, best.status, best.mechanism)


def _second_moment(prior: Prior, domain: UnitDomain, worst_case: bool) -> float:
    return 1.0 if worst_case else float(min(prior.weights @ domain.position**2, 1.0))


def _ptt_floor(domain: UnitDomain, second_moment: float) -> PieceFloor:
    """PTT's floor: density q on [-(k + a), k + a], of total mass 1 - 1/k."""
    stretch, half_width = window_shape(domain.excess, optimal_eta(domain.epsilon, second_moment), kind=1)
    side = stretch + half_width
    return PieceFloor(np.array([-side]), np.array([side]), np.array([1 - 1 / stretch]))
