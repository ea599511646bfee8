"""From cells whose law differs between rows to points: every report is rounded at random to an end of its part.

An exact table needs reports that tell no more than their output. So cells are cut into equal parts and a report y
in [a, b] becomes b with probability (y - a) / (b - a), else a. That is post-processing: privacy is kept. The mean of
every row is kept exactly, and the variance grows by (y - a)(b - y), a sixth of the squared width on average.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..errors import TableError
from ..sampling.exponential import ExponentialDensity
from ..sampling.geometric import GeometricTails
from ..sampling.linear import LinearDensity
from ..sampling.within_cell import Uniform
from ..table.table import TabulatedMechanism

ADDED_VARIANCE = 9e-7
"""Share of the least variance of a row that rounding to points may add, where MOST_POINTS allows it."""

MOST_POINTS = 4000
"""Parts that cells are cut into at most, beside one for each: a table of 101 knots then stays below 8 MB."""


def to_points(table: TabulatedMechanism, *, spacing: float | None = None) -> TabulatedMechanism:
    """Return the table whose reports are this one's, rounded at random to points so that means stay as they are.

    Parameters
    ----------
    table : TabulatedMechanism
        Private, with the linear or the exponential law within its outputs.
    spacing : float, optional
        Largest distance of neighbouring points, in the units of the reports; by default so small that the variance
        of no row grows by more than a millionth, but at most 4000 points in all.

    Returns
    -------
    TabulatedMechanism
        Points only; infinite tails become geometric ones.

    Raises
    ------
    TableError
        Another law within, or tails that do not fall equally fast.

    Example
    -------
    >>> from ..families.laplace import laplace
    >>> made = to_points(laplace([0.0, 1.0], 1.0), spacing=0.5)
    >>> made.low.tolist(), made.mean([0.0, 1.0]).round(9).tolist()
    ([-inf, 0.0, 0.5, 1.0, 1.5], [0.0, 1.0])
    """
    law = table.within
    if not isinstance(law, LinearDensity | ExponentialDensity):
        raise TableError(f"only linear and exponential laws within outputs become points, got {law.kind}")
    finite = np.isfinite(table.low) & np.isfinite(table.high)
    width = np.where(finite, table.high - table.low, 0.0)
    if spacing is None:
        wanted = np.sqrt(6 * ADDED_VARIANCE * table.knot_variances.min())
        spacing = max(float(wanted), float(width.sum()) / MOST_POINTS)
    parts = np.maximum(np.ceil(width / spacing), 1).astype(int)
    inner = np.flatnonzero(finite)
    left, right, masses, share = _cut(table, inner, parts[inner])
    point = left == right
    tails = _Tails.of(table, spacing)
    places = np.unique(np.concatenate([left, right, tails.ends]))
    matrix = np.zeros((table.knots.size, places.size))
    for some in (point, ~point):  # in each no place comes twice
        matrix[:, np.searchsorted(places, left[some])] += (masses * (1 - share))[:, some]
        matrix[:, np.searchsorted(places, right[some])] += (masses * share)[:, some]
    matrix[:, np.searchsorted(places, tails.ends)] += tails.masses * (1 - tails.beyond)
    lower, upper = tails.sides < 0, tails.sides > 0
    parameters = {**table.provenance.parameters, "rounded_to_points": spacing}
    matrix = np.hstack([tails.masses[:, lower] * tails.beyond, matrix, tails.masses[:, upper] * tails.beyond])
    return replace(
        table,
        low=np.concatenate([np.full(lower.sum(), -np.inf), places, tails.ends[upper] + spacing]),
        high=np.concatenate([tails.ends[lower] - spacing, places, np.full(upper.sum(), np.inf)]),
        probabilities=matrix,
        within=GeometricTails(spacing, tails.ratio) if tails.ends.size else Uniform(),
        provenance=replace(table.provenance, parameters=parameters),
    )


def _cut(
    table: TabulatedMechanism, cells: np.ndarray, parts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the ends (M,) of all parts of the finite outputs, their masses and relative mean reports (n, M)."""
    cell, s = np.repeat(cells, parts), np.repeat(parts, parts)
    a = np.arange(cell.size) - np.repeat(np.cumsum(parts) - parts, parts)
    low, high = table.low[cell], table.high[cell]
    width = high - low
    left, right = low + width * (a / s), np.where(a + 1 == s, high, low + width * ((a + 1) / s))
    if isinstance(table.within, LinearDensity):
        tilt = np.where(width > 0, table.within.tilt[:, cell], 0.0)
        level = 1 + tilt * ((2 * a + 1) / s - 1)
        shares, law = level / s, LinearDensity(np.clip(tilt / (s * level), -1, 1))
    else:
        assert isinstance(table.within, ExponentialDensity)  # as to_points has checked
        rate = table.within.rate[:, cell]
        shares, law = _exponential_shares(rate * width, a, s), ExponentialDensity(rate)
    # Relative to each part: at a domain far from zero the places have too few digits for a ratio.
    size = np.where(right > left, right - left, 0.0)
    means, _ = law.moments(np.zeros_like(size), size, table.knots.size)
    position = np.divide(means, size, out=np.zeros_like(means), where=size > 0)
    return left, right, table.probabilities[:, cell] * shares, position


def _exponential_shares(slope: np.ndarray, a: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Share of part a of s in a cell whose density is proportional to exp(slope v), counted from its steep end."""
    steep = np.abs(slope)
    distance = np.where(slope > 0, s - 1 - a, a)
    flat = steep == 0
    whole = np.where(flat, 1.0, -np.expm1(-steep))
    return np.where(flat, 1 / s, np.exp(-steep * distance / s) * -np.expm1(-steep / s) / whole)


@dataclass(frozen=True, eq=False)
class _Tails:
    """The infinite outputs (T of them, at most two): sides (T,), finite ends (T,), masses (n, T).

    A report beyond the end is rounded to end + k spacing; it leaves the end itself with probability `beyond`,
    and is then geometric of this ratio.
    """

    sides: np.ndarray
    ends: np.ndarray
    masses: np.ndarray
    beyond: float
    ratio: float

    @classmethod
    def of(cls, table: TabulatedMechanism, spacing: float) -> "_Tails":
        tails = np.flatnonzero(~(np.isfinite(table.low) & np.isfinite(table.high)))
        sides = np.where(np.isposinf(table.high[tails]), 1, -1)
        ends = np.where(sides > 0, table.low[tails], table.high[tails])
        rates = np.abs(table.within.parameters()["rate"][:, tails]) if tails.size else np.ones((1, 1))
        if rates.min() < rates.max():
            raise TableError(f"tails must fall equally fast to become points, got rates {rates.min()} to {rates.max()}")
        steepness = float(rates[0, 0]) * spacing
        beyond = float(-np.expm1(-steepness) / steepness)
        return cls(sides, ends, table.probabilities[:, tails], beyond, float(np.exp(-steepness)))
