"""A mechanism of a few numbers that comes near the optimum: PTT with the floor in a few pieces.

PTT spreads its floor evenly over one interval.  Here the floor is even on each of a few intervals with gaps between
them, and a row is E times the floor on a window of constant floor mass, so that the window's length depends on the
value.  The pieces are chosen for a prior, or for the worst case, by `optldp.solvers.shaped.search`; the table is judged
beside PTT and beside the certified optimum over all mechanisms.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from ...mechanisms import TabulatedMechanism
from ...mechanisms.budget import check_epsilon
from ...mechanisms.exactness.make_exact import exact_if_possible
from ...mechanisms.exactness.verification import require_private
from ...solvers import Progress, Status
from ...solvers.shaped.floor import PieceFloor
from ..priors.prior import DEFAULT_FLOOR, Prior
from .design import DEFAULT_TOLERANCE
from .shaped_chain import ShapedChain, shaped_chain

DEFAULT_PIECES = 3
"""Of the floor: enough for most of what can be gained from epsilon 0.5 to 4, see docs/shaped.md."""


@dataclass(frozen=True, eq=False)
class ShapedDesign:
    """A mechanism with a floor of pieces and what was recomputed from its table.

    Attributes
    ----------
    mechanism : TabulatedMechanism
    epsilon : float
    shape : PieceFloor
        Its floor, in the units of the reports; making the table exact may move them by a millionth.
    window_mass : float
        Floor mass of every window.
    expected_variance : float
        Under the prior as given, without any uniform share; rounding between knots included; squared units.
    worst_case_variance : float
        Largest over the whole domain, between knots too.
    objective : float
        What was minimised: the expected variance under the prior solved for, or the largest variance at a knot.
    ptt_objective : float
        The same of PTT with its best eta.
    lower_bound : float
        Certified: no unbiased epsilon-LDP mechanism on these knots has a lower objective.
    max_log_ratio, max_abs_bias : float
        Of the table as returned.
    status : Status
        Of the lower bound: OPTIMAL when its solver reached the tolerance, GAP_OPEN otherwise.
    seconds : float
    """

    mechanism: TabulatedMechanism
    epsilon: float
    shape: PieceFloor
    window_mass: float
    expected_variance: float
    worst_case_variance: float
    objective: float
    ptt_objective: float
    lower_bound: float
    max_log_ratio: float
    max_abs_bias: float
    status: Status
    seconds: float

    @property
    def relative_gap(self) -> float:
        """(objective - lower bound) / objective: how far from optimal this can be at most."""
        return (self.objective - self.lower_bound) / self.objective

    @property
    def gap_closed(self) -> float:
        """Share of the way from PTT to the certified bound; 0 where PTT is within rounding of the bound."""
        return closed_share(self.objective, self.ptt_objective, self.lower_bound)


def design_shaped(
    prior: Prior,
    epsilon: float,
    *,
    pieces: int = DEFAULT_PIECES,
    worst_case: bool = False,
    floor: float = DEFAULT_FLOOR,
    tolerance: float = DEFAULT_TOLERANCE,
    exact: bool = True,
    progress: Callable[[Progress], None] | None = None,
) -> ShapedDesign:
    """Build the piecewise mechanism whose floor has the best few pieces for a prior.

    Parameters
    ----------
    prior : Prior
    epsilon : float
        Privacy budget.
    pieces : int
        Largest number of pieces of the floor, 1 (which is PTT) to 12.
    worst_case : bool
        Minimise the largest variance at a knot instead of the expected one; the prior then only says where the knots
        are.
    floor : float
        Uniform share mixed into the prior before solving, as in `design`.
    tolerance : float
        Relative gap of the certificate to reach.
    exact : bool
        Whether to make the table exact, as in `design`.
    progress : callable, optional
        Called with `Progress` after each step of the certificate's solver.

    Raises
    ------
    InputError
        An epsilon, a tolerance or a number of pieces that is not usable.

    Source: Ma, Zhu and Wang (OPTT), whose open question this answers; see docs/shaped.md.

    Example
    -------
    >>> from optldp.designer import Prior
    >>> prior = Prior.on_knots([-1, -0.5, 0, 0.5, 1], [0, 1, 2, 1, 0], source="public")
    >>> made = design_shaped(prior, 1.0)
    >>> made.shape.low.size, made.gap_closed > 0.5, made.lower_bound <= made.objective < made.ptt_objective
    (3, True, True)
    """
    started = time.perf_counter()
    chain = shaped_chain(
        prior.floored(floor), check_epsilon(epsilon), pieces, worst_case, tolerance=tolerance, progress=progress
    )
    made = judged(chain, prior, chain.floors[-1].floor, exact=exact)
    return replace(made, seconds=time.perf_counter() - started)


def judged(chain: ShapedChain, prior: Prior, floor: PieceFloor, *, exact: bool) -> ShapedDesign:
    """Tabulate a floor and judge the table under the prior as given and the one solved for."""
    made = chain.table(floor)
    table = replace(exact_if_possible(made) if exact else made, prior=prior.knot_prior, units=prior.units)
    checked = require_private(table)
    objective, expected = chain.objective(table), table.expected_variance(prior.knot_prior)
    certificate = {
        "objective": objective,
        "expected_variance": expected,
        "lower_bound": chain.lower_bound,
        "relative_gap": (objective - chain.lower_bound) / objective,
        "worst_case_variance": checked.worst_case_variance,
        "status": str(chain.status),
    }
    in_units = chain.domain.in_units
    return ShapedDesign(
        table.with_provenance(replace(table.provenance, certificate=certificate)),
        table.epsilon,
        PieceFloor(in_units(floor.low), in_units(floor.high), floor.mass),
        floor.window_mass(chain.domain.ratio),
        expected,
        checked.worst_case_variance,
        objective,
        chain.objective(chain.ptt()),
        chain.lower_bound,
        checked.max_log_ratio,
        checked.max_abs_bias,
        chain.status,
        0.0,
    )


def closed_share(objective: float, ptt_objective: float, lower_bound: float) -> float:
    """Return (PTT - objective) / (PTT - bound), or 0 where that is rounding over rounding.

    Example
    -------
    >>> closed_share(3.25, 4.0, 3.0)
    0.75
    """
    gap = ptt_objective - lower_bound
    return (ptt_objective - objective) / gap if gap > DEFAULT_TOLERANCE * ptt_objective else 0.0
