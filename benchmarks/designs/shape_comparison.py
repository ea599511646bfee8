"""What other shapes of the piecewise mechanism bring: several heights, lengths that vary, floors of several pieces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from optldp.designer import Prior, Variance, WorstCase
from optldp.designer.designs.judging import problem_for
from optldp.designer.methods.piece_search import PieceFloors, piece_search
from optldp.designer.methods.pieces import closed_share
from optldp.designer.objectives.base import DEFAULT_TOLERANCE
from optldp.mechanisms import InputError, TabulatedMechanism, ptt2
from optldp.mechanisms.families.ptt import optimal_eta, window_shape
from optldp.mechanisms.families.unit_domain import UnitDomain
from optldp.solvers.arrays import Array

from .shaped_heights import cheapest_heights

PIECES = (1, 2, 3, 5, 8)
"""Numbers of pieces of the floor that are compared."""

CELLS = 40
"""Heights that the program for one common shape may choose."""

WIDER = (1.0, 1.1, 1.25, 1.5)
"""Windows tried for it, as multiples of PTT's length: one of PTT's length has room for a single height only."""

PARTS = 4
"""Into which every cell of PTT's table is cut for heights of each value's own."""


@dataclass(frozen=True, eq=False)
class Chain:
    """The best floors of pieces, for which of the two objectives, and the certified bound on it."""

    found: PieceFloors
    worst_case: bool
    lower_bound: float

    @property
    def domain(self) -> UnitDomain:
        return self.found.domain

    @property
    def prior(self) -> Prior:
        return self.found.problem.prior


@dataclass(frozen=True)
class ShapeRow:
    """One shape of mechanism; variances in squared units.

    Attributes
    ----------
    name : str
        "ptt", "tent", "common heights", "own heights", "1 piece", "2 pieces", ..., "optimum".
    expected_variance : float
        Under the prior, rounding between knots included.
    worst_knot_variance : float
        Largest at a knot.
    gap_closed : float
        Share of the way from PTT to the certified bound, in what was minimised; negative for what is worse than PTT.
    """

    name: str
    expected_variance: float
    worst_knot_variance: float
    gap_closed: float


def shape_comparison(
    prior: Prior,
    epsilon: float,
    *,
    pieces: Iterable[int] = PIECES,
    worst_case: bool = False,
    tolerance: float = DEFAULT_TOLERANCE,
) -> list[ShapeRow]:
    """Return PTT, its rivals of other shapes and the certified optimum, each with its best parameters.

    Parameters
    ----------
    prior : Prior
        Solved for as it is, without a uniform share.
    epsilon : float
    pieces : iterable of int
        Numbers of pieces of the floor to compare, 1 to 12.
    worst_case : bool
        Choose all parameters for the largest variance at a knot instead of the expected one.
    tolerance : float
        Relative gap of the certificate to reach.

    Raises
    ------
    InputError
        An epsilon, a tolerance or a number of pieces that is not usable.

    Example
    -------
    >>> from optldp.designer import Prior
    >>> rows = shape_comparison(Prior.on_knots(np.linspace(-1, 1, 9), np.ones(9), source="public"), 0.5, pieces=[2])
    >>> [(row.name, round(row.gap_closed, 2)) for row in rows if row.name != "tent"]
    [('ptt', 0.0), ('common heights', 0.0), ('own heights', 0.0), ('2 pieces', 1.0), ('optimum', 1.0)]
    """
    chosen = list(pieces)
    if not chosen:
        raise InputError("shape_comparison needs at least one number of pieces, got none")
    objective = WorstCase() if worst_case else Variance()
    problem = problem_for(prior, epsilon, objective, uniform_share=0.0, tolerance=tolerance)
    solution = objective.solve(problem)
    found = piece_search(problem, objective, solution.mechanism, max(chosen))
    chain = Chain(found, worst_case, objective.bound(problem, solution.multipliers))
    reference = chain.found.ptt()
    rows = [
        _of_table(chain, "ptt", reference),
        _of_table(chain, "tent", ptt2(prior.knots, chain.domain.epsilon, second_moment=chain.found.second_moment)),
        _of_variances(chain, "common heights", common_heights(chain)),
        _of_variances(chain, "own heights", own_heights(chain)),
    ]
    for count in chosen:
        if not 1 <= count <= len(chain.found.floors):
            raise InputError(f"numbers of pieces must be 1 or more, got {count!r}")
        name = f"{count} piece" + ("s" if count > 1 else "")
        rows.append(_of_table(chain, name, chain.found.table(chain.found.floors[count - 1].floor)))
    return [*rows, _of_table(chain, "optimum", solution.mechanism)]


def common_heights(chain: Chain) -> Array:
    """Return the variances at the knots of the best shape with many heights that is the same for all values.

    The density is h(y - k x) within a of k x and q elsewhere in [-(k + a), k + a], with h free between q and E q on
    cells: for PTT's k the best of several a.
    """
    domain = chain.domain
    stretch, length = _ptt_shape(chain)
    constants = []
    for wider in WIDER:
        side = stretch + wider * length
        density = (1 - 1 / stretch) / (2 * side)
        edges = np.linspace(-wider * length, wider * length, CELLS + 1)
        # 1 + 1e-12 is room for the rounding of a window that has none to spare
        _, second = cheapest_heights(edges, density * (1 + 1e-12), domain.ratio, 1 / stretch, 0.0)
        constants.append(2 * density * side**3 / 3 + second)
    return (stretch - 1) * domain.position**2 + min(constants)


def own_heights(chain: Chain) -> Array:
    """Return the variances at the knots when every value has heights of its own over PTT's floor."""
    domain = chain.domain
    stretch, length = _ptt_shape(chain)
    side = stretch + length
    density = (1 - 1 / stretch) / (2 * side)
    kinks = stretch * domain.position
    edges = np.unique(np.clip(np.concatenate([[-side, side], kinks - length, kinks + length]), -side, side))
    edges = np.concatenate([np.linspace(a, b, PARTS + 1)[:-1] for a, b in pairwise(edges)])
    edges = np.append(edges, side)
    second = [cheapest_heights(edges, density, domain.ratio, 1 / stretch, x)[1] for x in domain.position]
    return 2 * density * side**3 / 3 + np.array(second) - domain.position**2


def _ptt_shape(chain: Chain) -> tuple[float, float]:
    eta = optimal_eta(chain.domain.epsilon, chain.found.second_moment)
    return window_shape(chain.domain.excess, eta, kind=1)


def _of_table(chain: Chain, name: str, table: TabulatedMechanism) -> ShapeRow:
    return _row(chain, name, table.expected_variance(chain.prior.knot_prior), float(table.knot_variances.max()))


def _of_variances(chain: Chain, name: str, scaled: Array) -> ShapeRow:
    low, high = chain.prior.domain
    variances = ((high - low) / 2) ** 2 * scaled
    expected = float(chain.prior.weights @ variances) + chain.prior.rounding_variance
    return _row(chain, name, expected, float(variances.max()))


def _row(chain: Chain, name: str, expected: float, worst: float) -> ShapeRow:
    objective = worst if chain.worst_case else expected
    return ShapeRow(
        name, expected, worst, closed_share(objective, chain.found.value(chain.found.ptt()), chain.lower_bound)
    )
