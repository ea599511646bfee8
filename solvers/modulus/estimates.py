"""Linear estimates from the moduli of several numbers, and the largest biases of any, by the class's own way."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..arrays import Array
from ..functional_bounds.bounds import Ball
from .largest import largest
from .polyhedron import Polyhedron

SHAVED = 1e-6
"""Share of the way back to the reference that undoes what a solver's tolerance leaves outside the class."""

MANY = 12
"""Numbers from which on paths are followed for all at once, where the class is all weights, faster than a program for
each."""


class Reference:
    """Weights g of a class and a matrix M in standard errors at g: what estimates are chosen at.

    Parameters
    ----------
    polyhedron : Polyhedron
    matrix : (r, K) ndarray
    weights : (K,) ndarray
        g.

    Example
    -------
    >>> even = Reference(Polyhedron.simplex(2), np.eye(2), np.array([0.5, 0.5]))
    >>> even.estimates(np.eye(2), 0.1).round(3)
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """

    def __init__(self, polyhedron: Polyhedron, matrix: Array, weights: Array) -> None:
        self.polyhedron, self.matrix, self.weights = polyhedron, matrix, weights

    @cached_property
    def _ball(self) -> Ball:
        return Ball(self.matrix, self.matrix @ self.weights)

    def estimates(self, functionals: Array, radius: float) -> Array:
        r"""Return for each a, (F, K), the h, (F, r), from the multipliers of max a . p with \|M (p - g)\| <= radius."""
        if self.polyhedron.is_simplex and len(functionals) > MANY:
            return self._ball.estimates(functionals, radius)[0]
        centre, found = self.matrix @ self.weights, np.zeros((len(functionals), len(self.matrix)))
        for at, a in enumerate(functionals):
            if np.ptp(a) > 0:
                found[at] = largest(a, self.polyhedron, self.matrix, centre, radius).estimate
        return found

    def farthest(self, functionals: Array, radius: float) -> Array:
        """Return for each a, (F, K), weights (F, K) where a . p is largest, up to tolerance, moved towards g until they
        are as near as the radius says."""
        centre = self.matrix @ self.weights
        if self.polyhedron.is_simplex:
            found = self._ball.farthest(functionals, radius)
        else:
            found = np.stack([largest(a, self.polyhedron, self.matrix, centre, radius).weights for a in functionals])
        away = found - self.weights
        away -= away.mean(axis=1, keepdims=True)
        length = np.sqrt(((away @ self.matrix.T) ** 2).sum(axis=1))
        share = np.minimum(1.0, radius / np.maximum(length, np.finfo(float).tiny))
        return self.weights + (1.0 - SHAVED) * share[:, None] * away


def largest_over(functionals: Array, polyhedron: Polyhedron) -> Array:
    """Return for each a, (F, K), what a . p is at most over a class, (F,), each proved.

    Example
    -------
    >>> largest_over(np.array([[0.0, 1.0], [0.5, 0.25]]), Polyhedron.simplex(2))
    array([1. , 0.5])
    """
    if polyhedron.is_simplex:
        return functionals.max(axis=1)
    return np.array([largest(a, polyhedron).bound for a in functionals])
