r"""The shortest length of honest intervals of a quantile: no linear number, but each value of it is an inequality.

An interval that is honest over a class holds the quantile of every distribution p of it: of those at a distance d from
g, in standard errors, it cannot leave the quantile out with more than the power of a test of p against g. So at g it
holds each knot with probability at least Phi(z - d), d the distance to where that knot is the quantile, and its
expected length is at least the sum over knots of their cells times these, less one cell.

Source: Pratt (1961), "Length of confidence intervals"; Armstrong and Kolesar (2018) for tests of convex classes.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from ...solvers.modulus.at_least import distance_to
from ...solvers.modulus.estimates import Reference

FAR = 4.5
"""Standard errors beyond which a knot adds next to nothing."""

STEPS = (1, 2, 4, 7, 12, 20, 36, 64, 100)
"""Knots from the quantile at which distances are computed; those between count as the next, which is farther."""


def shortest_quantile(points: np.ndarray, share: float, reference: Reference, confidence: float) -> float:
    """Return a length that no honest interval of a quantile on knots falls short of, on average at the reference.

    Example
    -------
    >>> from optldp.solvers.modulus.polyhedron import Polyhedron
    >>> even = Reference(Polyhedron.simplex(5), 50.0 * np.eye(5), np.full(5, 0.2))
    >>> shortest_quantile(np.arange(5.0), 0.5, even, 0.95) < 0.1  # so sure is it: the middle
    True
    """
    below = np.cumsum(reference.weights)
    at = min(int(np.searchsorted(below, share)), points.size - 1)
    edges = np.concatenate([points[:1], (points[1:] + points[:-1]) / 2, points[-1:]])
    cells, normal = np.diff(edges), NormalDist()
    z, found = normal.inv_cdf(confidence), confidence * float(cells[at])
    for side in (1, -1):
        before = 0
        for step in STEPS:
            if (knot := at + side * step) < 0 or knot >= points.size:
                break
            distance = _distance(knot, share, side, reference)
            if distance > FAR:
                break
            nearer = cells[at + side * np.arange(before + 1, step + 1)]
            found += normal.cdf(z - distance) * float(nearer.sum())
            before = step
    return max(0.0, found - float(cells.max()))


def _distance(knot: int, share: float, side: int, reference: Reference) -> float:
    """From above, to distributions whose quantile is at a knot or beyond it: the nearest are there."""
    upto = np.zeros(reference.weights.size)
    if side > 0:  # less than the share lies below the knot
        upto[:knot] = -1.0
        least = -share
    else:  # the share lies at or below it
        upto[: knot + 1] = 1.0
        least = share
    return distance_to(upto, least, reference.polyhedron, reference.matrix, reference.weights)
