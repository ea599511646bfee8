"""The largest error of a mean of n users over a set of priors, of any table, and what a biased one counts values as.

A table that is designed for the error of a mean (`Provenance.is_for_error`) says the number of users ``"n"``, the
factor ``"trust"`` and the ``"uniform_share"`` of its prior, and carries that prior. Nothing else is needed: bias and
noise are computed from its numbers, never read from a file.

**Between knots** a value x = (1 - w) x_k + w x_{k+1} is rounded at random. Its bias is the mixture of those at the
knots, so that of a mean is q.b for any data of knot prior q. Its squared error is

    (1 - w) v_k + w v_{k+1} + w (1 - w) h_k^2 (2 s_k - 1),      h_k = x_{k+1} - x_k,

s_k the slope of E[Y] there, as E[(Y - x)^2] at row i is v_i + 2 b_i (x_i - x) + (x_i - x)^2. As w (1 - w) is at most
1/4, v_i + max over the intervals beside i of h^2 max(1, 2 s - 1) / 4 is enough wherever values lie.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mechanisms.errors import InputError
from ...mechanisms.table.knot_prior import KnotPrior
from ...mechanisms.table.table import TabulatedMechanism
from ...mechanisms.table.unit_interval import UnitInterval
from ...solvers.biased.error_program import MeanError, check_users, error_of_moments
from ...solvers.biased.least_error import trusted
from ...solvers.biased.rows import Clip
from ...solvers.robust.sets import BoxSet, PriorSet

LIKE_A_CLIP = 1e-5
"""Share of the domain's half-width by which means may miss those of a clip and a shift and be called such, and clip
points a knot: a solver's tolerance and the rounding to whole numbers leave less behind."""


def rounding_excess(knots: np.ndarray) -> np.ndarray:
    """Return (n,) the most that rounding from between knots adds to the squared error if no mean rises by more than
    the value does: a quarter of the larger squared distance to a neighbour.

    Example
    -------
    >>> rounding_excess(np.array([0.0, 2.0, 6.0]))
    array([1., 4., 4.])
    """
    return _of_neighbours(np.diff(knots) ** 2 / 4)


def largest_error(table: TabulatedMechanism, priors: PriorSet, users: float, *, on_knots: bool = False) -> MeanError:
    """Return the largest root mean squared error of the mean of so many users, and its parts, rounded up.

    For n values drawn from any data whose knot prior is q, the reports' mean is off from the values' mean by, squared
    and on average, q.v / n + (1 - 1/n) (q.b)^2: at most max q.v / n + (max |q.b|)^2 over the set. See the top of the
    module for values between knots.

    Parameters
    ----------
    table : TabulatedMechanism
        Any, biased or not; its reports are averaged as they are.
    priors : PriorSet
        Of the knots' weights.
    users : int
        n >= 1.
    on_knots : bool
        Whether values lie on knots, so that none is rounded.

    Returns
    -------
    error : MeanError
        In the units of the knots.

    Raises
    ------
    InputError
        A number of users that is not whole, or out of range.

    Example
    -------
    >>> table = TabulatedMechanism.from_points([-1, 1], [0], [[1], [1]], 1.0)
    >>> found = largest_error(table, BoxSet(np.full(2, 0.4), np.full(2, 0.6)), 100, on_knots=True)
    >>> round(found.rmse, 6), round(found.noise, 6), round(found.bias_bound, 6)
    (0.223607, 0.1, 0.2)
    """
    check_users(users)
    bias = table.knot_bias
    squares = table.knot_variances + bias**2
    if not on_knots:
        gaps = np.diff(table.knots)
        steeper = 1 + 2 * np.maximum(np.diff(bias) / gaps, 0)
        squares = squares + _of_neighbours(steeper * gaps**2 / 4)
    size = float(np.abs(table.output_mean).max() + np.abs(table.knots).max())
    return error_of_moments(squares, bias, priors, users, table.low.size, size)


def _of_neighbours(intervals: np.ndarray) -> np.ndarray:
    """The larger of the numbers of the intervals beside each knot."""
    return np.maximum(np.append(intervals, 0.0), np.append(0.0, intervals))


@dataclass(frozen=True, eq=False)
class DesignedFor:
    """What a table that is designed for the error of a mean was told, read from its file and checked.

    Attributes
    ----------
    users : int
        n that it was designed for.
    priors : BoxSet
        Those within the factor.
    trust : float
        The factor.
    on_knots : bool
        Whether the prior's values lie on the knots.
    """

    users: int
    priors: BoxSet
    trust: float
    on_knots: bool


def promised_error(
    table: TabulatedMechanism,
    *,
    users: float | None = None,
    trust: float | None = None,
    prior: KnotPrior | None = None,
) -> MeanError:
    """Return what a table for the error of a mean promises, computed from its numbers, the prior and the factor.

    Parameters
    ----------
    table : TabulatedMechanism
        As `design` makes it with `Error` and a `FactorAmbiguity`; with all that follows given, any.
    users : int, optional
        n. Default: the number it was designed for.
    trust : float, optional
        Factor by which the prior's weights may be off, at least 1. Default: the number it was designed for.
    prior : KnotPrior, optional
        On the table's knots. Default: the table's own prior.

    Returns
    -------
    error : MeanError
        In the units of the knots; it covers values between knots if the prior has any.

    Raises
    ------
    InputError
        A table without the facts that are not given here, or numbers out of range.

    Example
    -------
    >>> from optldp import TabulatedMechanism
    >>> from optldp.estimators import promised_error
    >>> from optldp.mechanisms.table.knot_prior import KnotPrior
    >>> from optldp.mechanisms.table.provenance import Provenance
    >>> told = Provenance("error", {"unbiased": False, "n": 100, "trust": 1.2, "uniform_share": 0.0})
    >>> prior = KnotPrior([0.5, 0.5], [0.0], "public")
    >>> table = TabulatedMechanism.from_points([-1, 1], [0], [[1], [1]], 1.0, provenance=told, prior=prior)
    >>> round(promised_error(table).bias_bound, 6)
    0.166667
    """
    told = designed_for(table, users=users, trust=trust, prior=prior)
    return largest_error(table, told.priors, told.users, on_knots=told.on_knots)


def designed_for(
    table: TabulatedMechanism,
    *,
    users: float | None = None,
    trust: float | None = None,
    prior: KnotPrior | None = None,
) -> DesignedFor:
    """Return what `promised_error` goes by, the table's own where nothing is given; raises as it does.

    The uniform share that a table was designed with is mixed into its own prior and into a given one.
    """
    parameters = table.provenance.parameters
    users = parameters.get("n") if users is None else users
    trust = parameters.get("trust") if trust is None else trust
    prior = table.prior if prior is None else prior
    for what, found in (("number of users", users), ("trust", trust), ("prior", prior)):
        if found is None:
            raise InputError(f"the table must say the {what} that it was designed for, got none: give it")
    assert users is not None
    assert trust is not None
    assert prior is not None
    check_users(users)
    if prior.weights.size != table.knots.size:
        raise InputError(
            f"the prior must have one weight per knot, got {prior.weights.size} for {table.knots.size} knots"
        )
    priors = trusted(prior.weights / prior.weights.sum(), trust, share=share_of_design(table))
    return DesignedFor(int(users), priors, float(trust), not prior.rounding.any())


def share_of_design(table: TabulatedMechanism) -> float:
    """Return the uniform share that a table says it was designed with, 0 if it says none; InputError for no share.

    Example
    -------
    >>> from optldp.mechanisms import duchi
    >>> share_of_design(duchi([0.0, 1.0], 1.0))
    0.0
    """
    share = table.provenance.parameters.get("uniform_share", 0.0)
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise InputError(f"the table's uniform share must lie in [0, 1], got {share!r}: the file is damaged")
    return float(share)


@dataclass(frozen=True)
class CountedAs:
    """What values are counted as on average: clip(x, low, high) + shift, in the units of the knots.

    Attributes
    ----------
    low, high : float
        Between knots or on them; the ends of the domain where nothing is cut.
    shift : float
    is_clip : bool
        Whether values are counted as just that; if not, the three are the outermost means and the median bias.
    """

    low: float
    high: float
    shift: float
    is_clip: bool

    def outside(self, values: np.ndarray) -> np.ndarray:
        """Return which values are cut, (n,) bool."""
        return (values < self.low) | (values > self.high)


def counted_as(table: TabulatedMechanism, weights: np.ndarray) -> CountedAs:
    """Return what the values are counted as, from a table's means.

    Parameters
    ----------
    table : TabulatedMechanism
    weights : (n,) ndarray
        Of the knots, which decide what the shift is where it is not the same everywhere.

    Example
    -------
    >>> rows = [[0.75, 0.25], [0.25, 0.75], [0.25, 0.75]]
    >>> table = TabulatedMechanism.from_points([0, 2, 4], [-0.5, 3.5], rows, 1.1)
    >>> counted_as(table, np.full(3, 1 / 3))
    CountedAs(low=0.0, high=2.0, shift=0.5, is_clip=True)
    """
    unit = UnitInterval.of(table.knots)
    means = unit.knots + table.knot_bias / unit.half
    found = Clip.near(unit.knots, means, weights)
    alike = bool(np.abs(found.means(unit.knots) - means).max() <= LIKE_A_CLIP)

    def in_units(end: float) -> float:
        nearest = int(np.argmin(np.abs(unit.knots - end)))
        at_knot = abs(float(unit.knots[nearest]) - end) <= LIKE_A_CLIP
        return float(table.knots[nearest] if at_knot else unit.values(np.array(end)))

    return CountedAs(in_units(found.low), in_units(found.high), unit.half * found.shift, alike)
