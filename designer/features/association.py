"""Correlation and covariance of two columns: their influence function by a pilot, a list of moments without one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...estimators.features.moments import correlation_gradient, covariance_gradient
from ...mechanisms.errors import InputError
from ...mechanisms.features import Feature, Features, Quadratic, Ranks
from ...mechanisms.table.table import TabulatedMechanism
from ...solvers.over_time import best_rows
from ..priors.prior import Prior, Source
from .design import Box, FeaturesDesign, designed_table, feature_prior, whole_shares
from .pilot import Pilot

TARGETS = ("correlation", "covariance")

HOPELESS = 0.5
"""Standard error of a correlation beyond which reports say nothing; of a covariance by the product of both standard
deviations."""

UNIFORM_SHARE = 0.01
"""Mixed into the prior of a feature: a survey is not the population, and an exact prior costs twice where it is off."""

CLIP = 2.0
"""Standard deviations of a column that are kept to both sides of its mean: the largest lever, and it changes the
target."""

CLIPS = (1.0, 1.5, 2.0, 3.0, 4.0)
"""Those that are tried where the number of people says which errs least, in squared error: its variance and the square
of the larger of what clipping takes off above and adds below, which may cancel on a pilot and not on others."""

RANK_POINTS = 101

GRID = 17
"""Values of a column for the prior of a moment, where there is no pilot."""

MOMENTS = {"x": (1, 0), "y": (0, 1), "xx": (2, 0), "yy": (0, 2), "xy": (1, 1)}
"""Powers of both columns, scaled to [-1, 1], of each feature of the list."""


def design_association(
    target: str,
    box: Box,
    epsilon: float,
    pilot: Pilot | None = None,
    *,
    clip: float = CLIP,
    users: int | None = None,
    rank: bool = False,
    uniform_share: float | None = None,
    source: Source = "public",
) -> FeaturesDesign:
    """Return the mechanism for the correlation or the covariance of two columns.

    With a pilot each user reports the influence function of the target,

        z_x z_y - rho0/2 (z_x^2 + z_y^2) of a correlation, z_x z_y of a covariance,

    where z are the columns by the pilot's means and standard deviations, and rho0 is its correlation; without one a
    user reports one of the moments x, y, x^2, y^2, xy of the columns scaled to [-1, 1], with the shares of an optimal
    design over a handful of laws.

    Parameters
    ----------
    target : {"correlation", "covariance"}
    box : mapping of str to (low, high)
        Two columns.
    epsilon : float
    pilot : Pilot, optional
    clip : float
        Standard deviations of each column that are kept to both sides; `math.inf` for the whole box, as of ranks.
    users : int, optional
        Choose the clip, of columns or of the feature itself, with the least error for so many people, by the pilot.
    rank : bool
        Of ranks by the pilot's distribution functions: Spearman's, of 12 times their covariance.
    uniform_share : float, optional
        Default: 0.01 with a pilot.
    source : {"public", "private-report", "sensitive"}
        Of the pilot.

    Returns
    -------
    made : FeaturesDesign

    Raises
    ------
    InputError
        Other than two columns, a pilot on other columns or outside the box, ranks without a pilot, or a clip that is
        not positive.

    Source: Hampel (1974) for influence functions.

    Example
    -------
    >>> import math
    >>> from optldp.designer.features import Pilot, design_association
    >>> signs = Pilot(("x", "y"), [[a, b] for a in (-1, 1) for b in (-1, 1)])
    >>> made = design_association("correlation", {"x": (-1, 1), "y": (-1, 1)}, 2.0, signs, clip=math.inf)
    >>> made.variances.round(3)
    array([1.724])
    """
    if target not in TARGETS:
        raise InputError(f"target must be one of {', '.join(TARGETS)}, got {target!r}")
    if len(box) != 2:
        raise InputError(f"a {target} is of two columns, got {len(box)}: name two, as --column x=0:20 --column y=0:80")
    if not clip > 0:
        raise InputError(f"the clip must be positive, in standard deviations, got {clip!r}")
    if pilot is None:
        if rank:
            raise InputError("ranks are by public distribution functions, got no survey to take them from: name one")
        return _of_moments(target, box, epsilon)
    share = UNIFORM_SHARE if uniform_share is None else uniform_share
    return _of_influence(target, box, epsilon, checked_pilot(pilot, box), clip, users, rank, share, source)


def checked_pilot(pilot: Pilot, box: Box) -> Pilot:
    """Return a pilot whose records are within a box; InputError for another.

    Example
    -------
    >>> checked_pilot(Pilot(("x",), [[0.0], [9.0]]), {"x": (0.0, 5.0)})
    Traceback (most recent call last):
        ...
    optldp.mechanisms.errors.InputError: column 'x' must lie within 0 to 5, got 9: widen its range, or clip
    """
    if pilot.names != tuple(box):
        raise InputError(f"a pilot must be of {', '.join(box)}, got {', '.join(pilot.names)}: name the same columns")
    for (name, (low, high)), column in zip(box.items(), pilot.records.T, strict=True):
        outside = column[(column < low) | (column > high)]
        if outside.size:
            raise InputError(
                f"column {name!r} must lie within {low:g} to {high:g}, got {outside[0]:g}: widen its range, or clip"
            )
    return pilot


def _of_influence(
    target: str, box: Box, epsilon: float, pilot: Pilot, clip: float, users: int | None, rank: bool, share: float,
    source: Source,
) -> FeaturesDesign:  # fmt: skip
    ranks: dict[str, Ranks] = {}
    records, (low, high) = pilot.records, np.array(list(box.values())).T
    if rank:
        ranks = {name: _ranks(pilot, place, box[name]) for place, name in enumerate(box)}
        records = np.column_stack([ranks[name].of(records[:, place]) for place, name in enumerate(box)])
        low, high = np.zeros(2), np.ones(2)
        # The public distribution function says what ranks are: even, whatever the pilot.
        means, scales, reference = np.full(2, 0.5), np.full(2, 12**-0.5), 0.0
    else:
        means, scales = pilot.means, np.sqrt(np.diag(pilot.covariance))
        correlated = float(pilot.covariance[0, 1] / (scales[0] * scales[1]))
        reference = correlated if target == "correlation" else 0.0
    psi = Quadratic(means, scales, 0.0, [0, 0], [[-reference / 2, 0.5], [0.5, -reference / 2]])
    shaped = _Influence(psi, records, pilot.weights, (low, high), epsilon, share, source)
    if users is None:
        chosen = shaped.columns_kept(math.inf if rank else clip)
    else:
        tried = [kept(each) for each in CLIPS for kept in (shaped.columns_kept, shaped.feature_kept)]
        chosen = min(tried, key=lambda each: each.variance / users + max(each.above, each.below) ** 2)
    scale = float(scales[0] * scales[1]) if target == "covariance" and not rank else 1.0
    values = psi.of(records)
    open_variance = float(pilot.weights @ (values - pilot.weights @ values) ** 2) * scale**2
    off_low, off_high = -chosen.above * scale, chosen.below * scale
    told = {"way": "influence", "reference": reference, "scale": scale, "bias_low": off_low, "bias_high": off_high}
    told |= {"open_variance": open_variance, "rank": rank, "pilot_records": len(values)}
    made = Features(
        box,
        [Feature("psi", psi, chosen.table)],
        epsilon,
        target,
        told,
        ranks,
        dict(zip(box, zip(*(each.tolist() for each in chosen.kept), strict=True), strict=True))
        if chosen.kept is not None
        else None,
    )
    return FeaturesDesign(
        made, (target,), np.array([chosen.variance * scale**2]), np.array([open_variance]), np.array([off_low]),
        np.array([off_high]), target, HOPELESS * scale,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Clipped:
    """A table of a clipped feature: its variance, what clipping takes off above and adds below, and columns kept."""

    table: TabulatedMechanism
    variance: float
    above: float
    below: float
    kept: tuple[np.ndarray, np.ndarray] | None


@dataclass(frozen=True, eq=False)
class _Influence:
    """An influence function with its pilot, to be clipped in one of two ways."""

    formula: Quadratic
    records: np.ndarray
    weights: np.ndarray
    box: tuple[np.ndarray, np.ndarray]
    epsilon: float
    share: float
    source: Source

    def columns_kept(self, clip: float) -> _Clipped:
        """Move each column to within so many standard deviations of its mean, before the formula."""
        if math.isinf(clip):
            return self._made(self.formula.of(self.records), self.formula.extremes(*self.box), None)
        reach = clip * self.formula.scales
        kept = (
            np.maximum(self.box[0], self.formula.centres - reach),
            np.minimum(self.box[1], self.formula.centres + reach),
        )
        return self._made(self.formula.of(np.clip(self.records, *kept)), self.formula.extremes(*kept), kept)

    def feature_kept(self, clip: float) -> _Clipped:
        """Move the feature itself to within so many of its standard deviations of its mean."""
        values, whole = self.formula.of(self.records), self.formula.extremes(*self.box)
        mean = float(self.weights @ values)
        reach = clip * math.sqrt(self.weights @ (values - mean) ** 2)
        return self._made(values, (max(whole[0], mean - reach), min(whole[1], mean + reach)), None)

    def _made(
        self, values: np.ndarray, domain: tuple[float, float], kept: tuple[np.ndarray, np.ndarray] | None
    ) -> _Clipped:
        prior = feature_prior(values, self.weights, domain, self.source)
        table, variance = designed_table(prior, self.epsilon, self.share)
        lost = self.formula.of(self.records) - np.clip(values, *domain)
        above, below = (float(self.weights @ np.maximum(sign * lost, 0)) for sign in (1, -1))
        return _Clipped(table, variance, above, below, kept)


def _ranks(pilot: Pilot, place: int, box: tuple[float, float]) -> Ranks:
    """The pilot's distribution function of a column: mid-ranks, at its own values or at even shares of them."""
    values, where = np.unique(pilot.records[:, place], return_inverse=True)
    mass = np.bincount(where, pilot.weights)
    shares = np.cumsum(mass) - mass / 2
    if values.size > RANK_POINTS:
        kept = np.unique(np.linspace(0, values.size - 1, RANK_POINTS).round().astype(int))
        values, shares = values[kept], shares[kept]
    return Ranks(values, np.clip(shares, 0, 1))


def _of_moments(target: str, box: Box, epsilon: float) -> FeaturesDesign:
    """The list of centred moments with the shares of an optimal design."""
    names = list(MOMENTS) if target == "correlation" else ["x", "y", "xy"]
    low, high = np.array(list(box.values())).T
    centres, scales = (low + high) / 2, (high - low) / 2
    even = np.linspace(-1, 1, GRID)
    grid = np.array(list(itertools.product(even, even)))
    laws = [_law(x, y, rho) for x in (-0.25, 0.25) for y in (-0.25, 0.25) for rho in (-0.5, 0.0, 0.5)]
    gradient: Callable[[np.ndarray], np.ndarray] = (
        correlation_gradient if target == "correlation" else covariance_gradient
    )
    gradients = np.array([gradient(law) for law in laws])
    tables, noise, formulas = [], [], []
    for name in names:
        formula = _moment(name, centres, scales)
        values = formula.of(grid * scales + centres)
        prior: Prior = feature_prior(values, np.full(len(values), 1.0), formula.extremes(low, high))
        table, variance = designed_table(prior, epsilon, 0.0)
        tables.append(table)
        noise.append(variance)
        formulas.append(formula)
    found = best_rows(
        np.eye(len(names)), np.array(noise), np.zeros((len(names),) * 2), gradients.T @ gradients / len(laws), 1
    )
    shares = found.shares  # of every moment: none of them is free of weight
    features = [
        Feature(name, formula, table, share)
        for name, formula, table, share in zip(names, formulas, tables, whole_shares(shares), strict=True)
    ]
    scale = float(scales[0] * scales[1]) if target == "covariance" else 1.0
    made = Features(box, features, epsilon, target, {"way": "moments", "scale": scale})
    rho = np.array([each[1] for each in itertools.product(range(4), (-0.5, 0.0, 0.5))])
    spread = LAW_SPREAD**4 * (1 + rho**2)
    opened = (1 - rho**2) ** 2 if target == "correlation" else spread * scale**2
    none = np.zeros(1)
    return FeaturesDesign(
        made, (target,), np.array([found.value * scale**2]), np.array([float(opened.mean())]), none, none, target,
        HOPELESS * (scale * LAW_SPREAD**2 if target == "covariance" else 1.0),
    )  # fmt: skip


LAW_SPREAD = 0.4
"""Standard deviation of columns scaled to [-1, 1], in the laws that shares of moments are best for."""


def _law(x: float, y: float, rho: float) -> np.ndarray:
    """Moments x, y, x^2, y^2, xy of columns of one of the laws."""
    square = LAW_SPREAD**2
    return np.array([x, y, x * x + square, y * y + square, x * y + rho * square])


def _moment(name: str, centres: np.ndarray, scales: np.ndarray) -> Quadratic:
    """The formula of one of the moments of both columns scaled."""
    first, second = MOMENTS[name]
    if first + second == 1:
        return Quadratic(centres, scales, 0.0, [first, second], np.zeros((2, 2)))
    square = np.diag([first / 2, second / 2]) if 2 in (first, second) else [[0.0, 0.5], [0.5, 0.0]]
    return Quadratic(centres, scales, 0.0, [0, 0], square)
