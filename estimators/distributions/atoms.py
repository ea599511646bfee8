"""Values that many users may share: where a distribution may have a mass of its own, and which reports ask for one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress

import numpy as np
from scipy.linalg import solve_triangular

from ...mechanisms.errors import SolverError
from ...mechanisms.promise import Promise
from ...solvers.likelihood.log_linear import LoglikAt
from ..input_grid import InputGrid
from .log_density import ATOM_SD, Components, LogDensity, fit_log_density

MOST_ROUND = 20
"""Round values looked at in a domain: multiples of the least 1, 2 or 5 times a power of ten that are so few."""

CHANCE, ROUND = 0.2, 0.5
"""Prior probability of a mass at zero and at each end, and how many are expected at round values."""

FEWEST_COMPONENTS = 16
"""Components from which on places are apart from what a smooth density may do between them."""

SMOOTH = ((1, 0.5), (2, 0.5), (3, 1.0))
"""Orders and lengths of densities that cannot take a mass's part."""

RARE = 3.0
"""By how much the odds of masses that are tried all at once are lower: most places have none."""

TOLD_APART = 0.75
"""Standard deviation of a mass, relative to it, below which it is tried; evidence then decides."""

NEAR = 1e-9
"""Places closer than this share of the domain are one."""

NARROW = 1e-6
"""Share of the domain up to which a component's cell is a value alone: a density puts nothing there. A table for a
share has two knots that close where it cuts, and the first cell is such where that is the least value."""


def places_of_atoms(grid: InputGrid, promises: Sequence[Promise] = ()) -> Components:
    """Return the grid with zero, the ends and the round values of its domain as places that may have a mass.

    A grid of few components has none but those whose cells are `NARROW`. Of tables that promise privacy by distance,
    which take their knots alone, only those that are the grid's points.

    Example
    -------
    >>> places_of_atoms(InputGrid.equal_cells(0.0, 50.0, 25)).places
    array([ 0.,  5., 10., 15., 20., 25., 30., 35., 40., 45., 50.])
    """
    low, high = float(grid.edges[0]), float(grid.edges[-1])
    special, rounded = np.empty(0), np.empty(0)
    if grid.size >= FEWEST_COMPONENTS:
        special, rounded = np.array([low, high, *([0.0] if low < 0.0 < high else [])]), _round_values(low, high)
    narrow = grid.points[np.diff(grid.edges) <= NARROW * (high - low)]
    special = np.concatenate([special, narrow[_apart(narrow, special) > NARROW * (high - low)]])
    rounded = rounded[_apart(rounded, special) > NEAR * (high - low)]
    places = np.concatenate([special, rounded])
    chances = np.concatenate(
        [np.full(special.size, CHANCE), np.full(rounded.size, min(CHANCE, ROUND / max(1, rounded.size)))]
    )
    kept = np.isin(places, grid.points) | all(promise.holds_between_knots for promise in promises)
    order = np.flatnonzero(kept)[np.argsort(places[kept])]
    return Components(grid, places[order], chances[order])


def _apart(places: np.ndarray, others: np.ndarray) -> np.ndarray:
    """How far each place is from the nearest of others; infinitely from none."""
    return np.abs(places[:, None] - others).min(axis=1, initial=np.inf)


def deposits(grid: InputGrid, places: np.ndarray) -> np.ndarray:
    """Return the (C, K) share of a mass at each place that each component holds.

    A place's cell has all of it; of points the two beside it, as values are rounded to them at random.

    Example
    -------
    >>> deposits(InputGrid.knots([0.0, 1.0, 2.0]), np.array([0.25]))
    array([[0.75, 0.25, 0.  ]])
    """
    out, row = np.zeros((places.size, grid.size)), np.arange(places.size)
    if grid.flat:
        out[row, np.clip(np.searchsorted(grid.edges, places, side="right") - 1, 0, grid.size - 1)] = 1.0
        return out
    right = np.clip(np.searchsorted(grid.points, places, side="right"), 1, grid.size - 1)
    left = grid.points[right - 1]
    share = np.clip((places - left) / (grid.points[right] - left), 0.0, 1.0)
    out[row, right], out[row, right - 1] = share, 1.0 - share
    return out


def _round_values(low: float, high: float) -> np.ndarray:
    step = 10.0 ** (math.floor(math.log10((high - low) / MOST_ROUND)))
    while (high - low) / step > MOST_ROUND + NEAR:
        # Steps of 1, 2 and 5 times powers of ten, one after another.
        step *= 2.0 if round(step / 10.0 ** math.floor(math.log10(step) + NEAR)) != 2 else 2.5
    first, last = math.ceil(low / step - NEAR), math.floor(high / step + NEAR)
    return np.clip(np.arange(first, last + 1) * step, low, high)


def ranked_atoms(loglik: LoglikAt, total: float, components: Components, mass: float) -> list[int]:
    """Return the places whose mass is told apart from none when all may have one, the surest first.

    Three smooth densities are fitted with all of them at once; of those whose mode is found the one of the best
    evidence decides.  A mass is told apart where its standard deviation is at most `TOLD_APART` of it; by the prior
    alone it is three times as large.
    """
    every, tried = range(components.places.size), list[LogDensity]()
    for order, length in SMOOTH:
        with suppress(SolverError):
            tried.append(fit_log_density(loglik, total, components, every, order, length, mass=mass - RARE))
    if not tried:
        return []
    fit = max(tried, key=lambda found: found.evidence).fit
    size = len(components.places)
    half = solve_triangular(fit.factor, np.eye(fit.z.size)[:, -size:], lower=True, check_finite=False)
    known = ATOM_SD * np.sqrt((half**2).sum(axis=0)) * (1.0 - fit.weights[-size:])
    order = np.argsort(known, kind="stable")
    return [int(k) for k in order if known[k] < TOLD_APART]
