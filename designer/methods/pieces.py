"""A mechanism of a few numbers that comes near the optimum: PTT with the floor in a few pieces.

PTT spreads its floor evenly over one interval. Here the floor is even on each of a few intervals with gaps between
them, and a row is E times the floor on a window of constant floor mass, so that the window's length depends on the
value. The pieces are chosen for a prior, or for the worst case, by `optldp.solvers.shaped.search`; the table is judged
beside PTT and beside the certified optimum over all mechanisms.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...mechanisms.errors import InputError
from ...solvers.shaped.floor import PieceFloor
from ..objectives.base import DEFAULT_TOLERANCE, Objective, Problem, Solution
from ..objectives.variance import Variance
from ..objectives.worst_case import WorstCase
from .base import Built, Method
from .piece_search import MOST_PIECES, piece_search

DEFAULT_PIECES = 3
"""Of the floor: enough for most of what can be gained from epsilon 0.5 to 4, see docs/shaped.md."""


@dataclass(frozen=True, eq=False)
class PiecesEvidence:
    """What a design with a floor of few pieces shows beside its value.

    Attributes
    ----------
    shape : PieceFloor
        Its floor, in the units of the reports; making the table exact may move them by a millionth.
    window_mass : float
        Floor mass of every window.
    ptt_value : float
        The objective's value of PTT with its best eta.
    gap_closed : float
        Share of the way from PTT to the certified bound; 0 where PTT is within rounding of the bound.
    """

    shape: PieceFloor
    window_mass: float
    ptt_value: float
    gap_closed: float


@dataclass(frozen=True)
class Pieces(Method):
    """The piecewise mechanism whose floor has the best few pieces, for `Variance` or `WorstCase`.

    Parameters
    ----------
    pieces : int
        Largest number of pieces of the floor, 1 (which is PTT) to 12.

    Raises
    ------
    InputError
        A number that is not usable.

    Source: Ma, Zhu and Wang (OPTT), whose open question this answers; see docs/shaped.md.

    Example
    -------
    >>> from optldp.designer import Pieces, Prior, design
    >>> prior = Prior.on_knots([-1, -0.5, 0, 0.5, 1], [0, 1, 2, 1, 0], source="public")
    >>> made = design(prior, 1.0, method=Pieces(3))
    >>> made.evidence.shape.low.size, made.evidence.gap_closed > 0.5, made.bound <= made.value < made.evidence.ptt_value
    (3, True, True)
    """

    pieces: int = DEFAULT_PIECES

    def __post_init__(self) -> None:
        if isinstance(self.pieces, bool) or not isinstance(self.pieces, int) or not 1 <= self.pieces <= MOST_PIECES:
            raise InputError(f"pieces must be a whole number from 1 to {MOST_PIECES}, got {self.pieces!r}")

    @property
    def key(self) -> str:
        return "shaped"

    def build(self, problem: Problem, objective: Objective, solution: Solution) -> Built:
        if not isinstance(objective, Variance | WorstCase):
            raise InputError(f"pieces can be chosen for Variance and WorstCase alone, got {objective.label}")
        found = piece_search(problem, objective, solution.mechanism, self.pieces)
        floor, in_units = found.floors[-1].floor, found.domain.unit.values
        made, usual = found.table(floor), found.value(found.ptt())
        closed = closed_share(found.value(made), usual, objective.bound(problem, solution.multipliers))
        shape = PieceFloor(in_units(floor.low), in_units(floor.high), floor.mass)
        return Built(made, PiecesEvidence(shape, floor.window_mass(found.domain.ratio), usual, closed))


def closed_share(value: float, ptt_value: float, lower_bound: float) -> float:
    """Return (PTT - value) / (PTT - bound), or 0 where that is rounding over rounding.

    Example
    -------
    >>> closed_share(3.25, 4.0, 3.0)
    0.75
    """
    gap = ptt_value - lower_bound
    return (ptt_value - value) / gap if gap > DEFAULT_TOLERANCE * ptt_value else 0.0
