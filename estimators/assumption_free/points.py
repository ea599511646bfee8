"""Where a distribution's mass may lie that explains reports: points, between which values are seen as both, mixed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...mechanisms.sampling.domain import rounding_weights
from ...mechanisms.table.table import TabulatedMechanism
from ..input_grid import SAME_KNOT, InputGrid


class AtPoints(NamedTuple):
    """Weights at points, and whether values may lie between them.

    Parameters
    ----------
    points, weights : (P,) ndarray of float
    between : bool
    """

    points: np.ndarray
    weights: np.ndarray
    between: bool

    def rounded(self, points: np.ndarray) -> np.ndarray:
        """Return the weights (K,) of other points that the masses are rounded to.

        Example
        -------
        >>> AtPoints(np.array([0.0, 0.5]), np.array([0.4, 0.6]), True).rounded(np.array([0.0, 1.0]))
        array([0.7, 0.3])
        """
        index, right = rounding_weights(points, np.clip(self.points, points[0], points[-1]))
        found = np.bincount(index, self.weights * (1.0 - right), points.size)
        return found + np.bincount(index + 1, self.weights * right, points.size)


def at_points(grid: InputGrid, weights: np.ndarray, tables: Sequence[TabulatedMechanism]) -> AtPoints:
    """Return the weights (K,) of a grid's components as masses at its points, or at its cells' ends and knots in them.

    Example
    -------
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> at_points(InputGrid.cells([0.0, 0.5, 1.0]), np.array([0.4, 0.6]), [duchi([0.0, 1.0], 1.0)])
    AtPoints(points=array([0. , 0.5, 1. ]), weights=array([0.2, 0.5, 0.3]), between=True)
    """
    between = all(table.promise.holds_between_knots for table in tables)
    if not grid.flat:
        return AtPoints(grid.points, weights, between)
    edges = grid.edges
    knots = np.concatenate([table.knots for table in tables])
    inner = knots[(knots > edges[0]) & (knots < edges[-1])]
    near = np.abs(inner[:, None] - edges).min(axis=1, initial=np.inf) if inner.size else np.empty(0)
    points = np.union1d(edges, inner[near > SAME_KNOT * (edges[-1] - edges[0])])
    cell = np.clip(np.searchsorted(edges, (points[1:] + points[:-1]) / 2) - 1, 0, grid.size - 1)
    even = weights[cell] * np.diff(points) / np.diff(edges)[cell] / 2
    return AtPoints(points, np.append(even, 0.0) + np.append(0.0, even), between)
