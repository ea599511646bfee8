"""What is known of the values before they are perturbed, on the knots of a design."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.display.display import Shown
from ...mechanisms.display.summary import Profile, Told
from ...mechanisms.errors import InputError
from ...mechanisms.promise import Metric
from ...mechanisms.table.knot_prior import WEIGHT_SUM_TOLERANCE, KnotPrior, Source
from ...mechanisms.units import units_label
from .checks import as_increasing, as_knots, as_numbers, as_weights, check_within, own_knots, subset_index
from .held_values import HeldValues
from .rounding import coarsen, finite_support, round_bins, round_distribution

DEFAULT_KNOTS = 101
"""Equally spaced knots if none are named: rounding to them adds at most 1/40000 of the squared width."""

DEFAULT_UNIFORM_SHARE = 1e-3
"""Uniform share mixed in before a design. A program is indifferent to the variance at a knot of no mass; one part
in a thousand gives every knot a say. It costs the values themselves about as little while the variance is alike at all
knots; a concentrated prior at a large budget pays percents."""


@dataclass(frozen=True, eq=False, repr=False)
class Prior(Shown):
    """Knots, the weight of each, and the variance that rounding to them adds.

    A value between two knots is rounded at random to one of them, with probabilities linear in the value, so its mean
    is kept. `weights` are the knots' shares after rounding. A mechanism's expected variance over the values themselves
    follows exactly from `weights` and `rounding`.

    **A prior computed from sensitive data makes every table designed from it a function of that data**:
    publishing the table, or sending it to clients, discloses something that no epsilon accounts for. State the origin
    of a prior by `source`: "public" (other people's data, published statistics, a guess), "private-report" (estimated
    from reports that spent their own budget), or "sensitive" (the very data to be protected; fit for studies).

    Parameters
    ----------
    knots : (n,) array_like of float
        Strictly increasing, n >= 2, in the user's units; the first and the last are the domain.
    weights : (n,) array_like of float
        Non-negative, summing to one: mean over the values of the linear weights (AAA, eq. 7).
    rounding : (n-1,) array_like of float
        Non-negative, squared units: mean over the values x of 1{x in interval k} (x - x_k)(x_{k+1} - x); zero
        where the values sit on the knots.
    source : {"public", "private-report", "sensitive"}
    units : str
        Name of the unit, for display.
    count : int, optional
        Number of values that the prior was computed from.
    rounded : callable, optional
        Function that rounds the values themselves to other knots, for `on`. It keeps the values in this process alone:
        pickles and copies of a prior leave it out.
    period : float, optional
        Values on a circle repeat after it, such as hours after 24; distance is then the shorter way round. Larger than
        the width of the domain.

    Raises
    ------
    InputError
        A shape, a value or the source is not as described above.

    Source: Wei et al. (2024), "AAA: an Adaptive Mechanism for Locally Differentially Private Mean
    Estimation", eq. (6) and (7).

    Example
    -------
    >>> from optldp import Prior
    >>> prior = Prior.from_data([0, 1, 1, 4], knots=5, domain=(0, 4), source="public")
    >>> prior.weights
    array([0.25, 0.5 , 0.  , 0.  , 0.25])
    """

    knots: np.ndarray
    weights: np.ndarray
    rounding: np.ndarray
    source: Source
    units: str = ""
    count: int | None = None
    rounded: Callable[[int | ArrayLike], Prior] | None = field(default=None, repr=False, compare=False)
    period: float | None = None

    def _line(self) -> dict[str, Any]:
        low, high = self.domain
        return {
            "knots": self.knots.size,
            "domain": units_label(f"{low:.6g} to {high:.6g}", self.units),
            "mean": self.mean,
            "source": self.source,
            "n": self.count,
        } | ({} if self.period is None else {"period": self.period})

    def _told(self) -> Told:
        return Told(self._line(), picture=Profile(self.knots, self.weights, units_label("value", self.units), "weight"))

    def _columns(self) -> dict[str, Any]:
        return {"knot": self.knots, "weight": self.weights}

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"rounded": None}

    def __post_init__(self) -> None:
        knots = as_knots(self.knots, None)
        weights = as_weights(self.weights, knots.size, "a prior needs one weight per knot")
        if abs(weights.sum() - 1.0) > WEIGHT_SUM_TOLERANCE:
            raise InputError(f"weights of a prior must sum to 1, got {weights.sum()!r}: use Prior.on_knots")
        rounding = np.array(self.rounding, dtype=np.float64)
        if rounding.shape != (knots.size - 1,) or not (np.isfinite(rounding) & (rounding >= 0)).all():
            raise InputError(
                f"rounding must be {knots.size - 1} finite non-negative numbers, one per interval, got {rounding!r}"
            )
        if self.source not in get_args(Source):
            raise InputError(f"source must be one of {', '.join(get_args(Source))}, got {self.source!r}")
        if self.period is not None and (misfit := Metric(1.0, period=self.period).misfit(knots)):
            raise InputError(misfit)
        for name, array in (("knots", knots), ("weights", weights / weights.sum()), ("rounding", rounding)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @classmethod
    def from_data(
        cls,
        values: ArrayLike,
        *,
        knots: int | ArrayLike = DEFAULT_KNOTS,
        domain: tuple[float, float] | None = None,
        source: Source = "sensitive",
        units: str = "",
    ) -> Prior:
        """Prior of a data set: mean over its values of the rounding weights.

        Parameters
        ----------
        values : (N,) array_like of float
            The data, N >= 1, within the domain.
        knots : int or (n,) array_like
            Number of equally spaced knots over the domain, or the knots themselves.
        domain : (float, float), optional
            Lowest and highest value the mechanism must accept. Default: the knots' ends if knots were given,
            otherwise the data's own extremes, which are themselves a disclosure.

        Raises
        ------
        InputError
            Empty data; NaN or infinite values; values outside the domain (counted, with the extremes); all
            values equal and no domain given; fewer than two knots; a reversed domain.
        """
        points = as_numbers(values, "values")
        grid = as_knots(knots, domain, (points.min(), points.max()))
        check_within(points, grid)

        return cls._of_held(HeldValues(points), grid, source, units, points.size)

    @classmethod
    def from_pairs(
        cls,
        values: ArrayLike,
        weights: ArrayLike,
        *,
        knots: int | ArrayLike | None = None,
        domain: tuple[float, float] | None = None,
        source: Source = "sensitive",
        units: str = "",
    ) -> Prior:
        """Prior of weighted values, such as distinct values and their counts; otherwise as `from_data`.

        Parameters
        ----------
        weights : (N,) array_like of float
            Non-negative, with a positive sum; need not sum to one.
        knots : int or (n,) array_like, optional
            Default: the values themselves, with the ends of the domain, where they are at most 401; else 101 at equal
            steps.

        Example
        -------
        >>> from optldp import Prior
        >>> Prior.from_pairs([0, 1, 3], [2, 1, 1], source="public").knots
        array([0., 1., 3.])
        >>> Prior.from_pairs([0, 1, 3], [2, 1, 1], knots=[0, 2, 4], source="public").weights
        array([0.625, 0.25 , 0.125])
        """
        points = as_numbers(values, "values")
        mass = as_weights(weights, points.size, "every value needs one weight")
        if knots is None:
            own = own_knots(points, domain)
            knots = DEFAULT_KNOTS if own is None else own
        grid = as_knots(knots, domain, (points.min(), points.max()))
        check_within(points[mass > 0], grid)
        return cls._of_held(HeldValues(np.clip(points, grid[0], grid[-1]), mass), grid, source, units, None)

    @classmethod
    def _of_held(cls, held: HeldValues, grid: np.ndarray, source: Source, units: str, count: int | None) -> Prior:
        """On these knots, with the values at hand for others."""

        def rounded(knots: int | ArrayLike) -> Prior:
            return cls._of_held(held, as_knots(knots, _ends(grid)), source, units, count)

        return cls(grid, *held.rounded(grid), source, units, count, rounded)

    @classmethod
    def from_histogram(
        cls,
        edges: ArrayLike,
        counts: ArrayLike,
        *,
        knots: int | ArrayLike = DEFAULT_KNOTS,
        domain: tuple[float, float] | None = None,
        source: Source = "sensitive",
        units: str = "",
    ) -> Prior:
        """Prior of a histogram whose counts lie evenly within their bins (exact integrals, no sampling).

        Parameters
        ----------
        edges : (b+1,) array_like of float
            Strictly increasing bin edges.
        counts : (b,) array_like of float
            Non-negative, with a positive sum. Bins beyond the domain must be empty.

        Example
        -------
        >>> from optldp import Prior
        >>> Prior.from_histogram([0, 1, 2], [3, 1], knots=3, source="public").weights
        array([0.375, 0.5  , 0.125])
        """
        bins = as_increasing(edges, "edges")
        mass = as_weights(counts, bins.size - 1, "a histogram needs one count per bin")
        grid = as_knots(knots, domain, (bins[0], bins[-1]))
        filled = np.flatnonzero(mass)
        low, high = bins[filled[0]], bins[filled[-1] + 1]
        if low < grid[0] or high > grid[-1]:
            raise InputError(
                f"filled bins must lie in the range [{grid[0]:g}, {grid[-1]:g}], "
                f"got bins from {low:g} to {high:g}: widen the range"
            )

        def rounded(knots: int | ArrayLike) -> Prior:
            return cls.from_histogram(bins, mass, knots=knots, domain=_ends(grid), source=source, units=units)

        return cls(grid, *round_bins(bins, mass, grid), source, units, _count(mass), rounded)

    @classmethod
    def from_distribution(
        cls,
        distribution: Any,
        *,
        knots: int | ArrayLike = DEFAULT_KNOTS,
        domain: tuple[float, float] | None = None,
        source: Source = "public",
        units: str = "",
    ) -> Prior:
        """Prior of a frozen scipy distribution, conditioned on the domain.

        Parameters
        ----------
        distribution : scipy.stats frozen distribution
            Continuous (with `cdf`, `sf`) or discrete on the integers (with `pmf`).
        domain : (float, float), optional
            Default: the knots' ends, otherwise the distribution's support if that is finite.

        Raises
        ------
        InputError
            No finite domain, or more than 1 % of the distribution outside it.

        Example
        -------
        >>> from scipy.stats import uniform
        >>> from optldp import Prior
        >>> Prior.from_distribution(uniform(0, 4), knots=3).weights
        array([0.25, 0.5 , 0.25])
        """
        grid = as_knots(knots, domain, finite_support(distribution) if np.ndim(knots) == 0 else None)

        def rounded(knots: int | ArrayLike) -> Prior:
            return cls.from_distribution(distribution, knots=knots, domain=_ends(grid), source=source, units=units)

        return cls(grid, *round_distribution(distribution, grid), source, units, rounded=rounded)

    @classmethod
    def on_knots(cls, knots: ArrayLike, weights: ArrayLike, *, source: Source = "sensitive", units: str = "") -> Prior:
        """Prior of values that sit on the knots; the weights are divided by their sum.

        Example
        -------
        >>> from optldp import Prior
        >>> Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public").weights
        array([0.25, 0.5 , 0.25])
        """
        grid = as_knots(knots, None)
        mass = as_weights(weights, grid.size, "a prior needs one weight per knot")

        def rounded(knots: int | ArrayLike) -> Prior:
            return cls.from_pairs(grid, mass, knots=knots, domain=_ends(grid), source=source, units=units)

        return cls(grid, mass / mass.sum(), np.zeros(grid.size - 1), source, units, rounded=rounded)

    @classmethod
    def even(cls, knots: ArrayLike, *, units: str = "") -> Prior:
        """Equal weights, for what needs knots and no knowledge of the values, such as `WorstCase`; public.

        Example
        -------
        >>> from optldp import Prior
        >>> Prior.even([0, 1, 2, 4]).weights
        array([0.25, 0.25, 0.25, 0.25])
        """
        return cls.on_knots(knots, np.ones(np.size(knots)), source="public", units=units)

    @property
    def mean(self) -> float:
        """Mean of the values (rounding keeps it)."""
        return float(self.weights @ self.knots)

    @property
    def second_moment(self) -> float:
        """Mean of the squared values themselves, not of the rounded ones; squared units."""
        return float(self.weights @ self.knots**2 - self.rounding.sum())

    @property
    def rounding_variance(self) -> float:
        """Variance that rounding to the knots adds, mean over the values; squared units."""
        return float(self.rounding.sum())

    @property
    def domain(self) -> tuple[float, float]:
        """Lowest and highest knot."""
        return _ends(self.knots)

    @property
    def knot_prior(self) -> KnotPrior:
        """The part a table carries to recompute its expected variance."""
        return KnotPrior(self.weights, self.rounding, self.source)

    def mixed(self, share: float = DEFAULT_UNIFORM_SHARE) -> Prior:
        """(1 - share) of this prior and share spread evenly over the knots.

        Parameters
        ----------
        share : float
            In [0, 1]; 0 gives the prior back.

        Example
        -------
        >>> from optldp import Prior
        >>> Prior.on_knots([0, 1], [1, 0], source="public").mixed(0.1).weights
        array([0.95, 0.05])
        """
        if not 0.0 <= share <= 1.0:
            raise InputError(f"the uniform share must lie in [0, 1], got {share!r}")
        if share == 0.0:
            return self
        weights = (1.0 - share) * self.weights + share / self.knots.size
        # On other knots the uniform share is spread over those.
        rounded = None if self.rounded is None else lambda knots: self.on(knots).mixed(share)
        return replace(self, weights=weights, rounding=(1.0 - share) * self.rounding, rounded=rounded)

    def on(self, knots: int | ArrayLike) -> Prior:
        """The same values on other knots of the same domain, finer ones too; exact.

        Parameters
        ----------
        knots : int or (n,) array_like
            Number of equally spaced knots, or the knots themselves, both ends of the domain among them.

        Raises
        ------
        InputError
            Knots that are not usable, or a prior that does not know its values: one made of weights and rounding alone,
            loaded from a pickle, or sent to another process.

        Example
        -------
        >>> from optldp import Prior
        >>> prior = Prior.from_data([0, 1, 1, 4], knots=3, domain=(0, 4), source="public")
        >>> prior.weights, prior.on(5).weights
        (array([0.5 , 0.25, 0.25]), array([0.25, 0.5 , 0.  , 0.  , 0.25]))
        """
        if self.rounded is None:
            raise InputError(
                "a prior can only be put on other knots where its values are known, got one of weights and rounding "
                "alone: make it anew with Prior.from_data, or use coarsened for some of its knots"
            )
        if np.ndim(knots) and (given := _ends(as_knots(knots, None))) != self.domain:
            raise InputError(f"the knots must have the ends of the domain, {list(self.domain)}, got {list(given)}")
        found = self.rounded(knots)
        return found if self.period is None else found.with_period(self.period)

    def with_period(self, period: float | None) -> Prior:
        """The same values on a circle of that period, or on a line for None; InputError unless it exceeds their width.

        Example
        -------
        >>> from optldp import Prior
        >>> Prior.even([0, 6, 12, 18]).with_period(24).period
        24
        """
        return replace(self, period=period)

    def coarsened(self, knots: ArrayLike) -> Prior:
        """The same values rounded to some of the knots only, both ends included; exact.

        Parameters
        ----------
        knots : (m,) array_like of float
            Some of this prior's knots, m >= 2.

        Example
        -------
        >>> from optldp import Prior
        >>> Prior.on_knots([0, 1, 2], [0, 1, 0], source="public").coarsened([0, 2]).rounding
        array([1.])
        """
        index = subset_index(as_increasing(knots, "knots"), self.knots)
        weights, rounding = coarsen(self.knots, self.weights, self.rounding, index)
        return replace(self, knots=self.knots[index], weights=weights, rounding=rounding)


def _ends(grid: np.ndarray) -> tuple[float, float]:
    return float(grid[0]), float(grid[-1])


def _count(mass: np.ndarray) -> int | None:
    """Number of values behind whole-numbered counts; None for weights that are no counts."""
    return int(mass.sum()) if (mass == np.floor(mass)).all() else None
