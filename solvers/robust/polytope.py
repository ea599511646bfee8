"""The polytope that a prior is known to lie in, by inequalities, with its analytic centre.

A prior on n knots is q = base + spread x with coordinates x in R^K that satisfy rows x <= right and sum q = 1.  The
coordinates may be more than the n weights: absolute values, for example, are coordinates of their own.  Weights that
cannot change are in the base alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...mechanisms.errors import SolverError
from ..arrays import Array, Indices

CENTRING_STEPS = 200
"""Newton steps allowed towards the centre; a dozen to forty are typical."""

CENTRED = 1e-3
"""Newton decrement at which the centre is near enough to start from; exactness there has no use."""

BACK_OFF = 0.9
"""Share of the way to the boundary that a centring step may go."""


@dataclass(frozen=True, eq=False)
class PriorPolytope:
    """{base + spread x : rows x <= right, sum (base + spread x) = 1}, bounded and with a point inside all inequalities.

    Parameters
    ----------
    base : (n,) ndarray
    spread : (n, K) ndarray
        Ones where a coordinate is a weight: those come first.
    rows : (k, K) ndarray
        Of rank K, so that the polytope has a centre; first -x_i for the coordinates that are weights.
    right : (k,) ndarray
    inside : (K,) ndarray
        A point with rows x < right and sum q = 1.

    Example
    -------
    >>> simplex = PriorPolytope(np.zeros(2), np.eye(2), -np.eye(2), np.zeros(2), np.array([0.9, 0.1]))
    >>> simplex.prior(simplex.centre()).round(6)
    array([0.5, 0.5])
    """

    base: Array
    spread: Array
    rows: Array
    right: Array
    inside: Array

    def prior(self, x: Array) -> Array:
        """Return the weights q at coordinates x; what rounding puts below zero is zero."""
        return np.maximum(self.base + self.spread @ x, 0.0)

    def slack(self, x: Array) -> Array:
        """Return right - rows x, (k,)."""
        return self.right - self.rows @ x

    @cached_property
    def free(self) -> Indices:
        """The weights that can change: the first coordinates, and their lower bounds the first rows."""
        return np.nonzero(self.spread.T)[1]

    @property
    def border(self) -> Array:
        """How sum q changes with each coordinate, (K,)."""
        return self.spread.sum(0)

    def centre(self) -> Array:
        """Return the coordinates whose product of slacks is largest, by damped Newton steps from `inside`.

        Raises
        ------
        SolverError
            `inside` is not strictly inside.
        """
        x = self.inside
        if not self.slack(x).min() > 0:
            raise SolverError("the prior's polytope has no inside to start from")
        border, K = self.border, len(x)
        for _ in range(CENTRING_STEPS):
            scaled = self.rows / self.slack(x)[:, None]
            system = np.zeros((K + 1, K + 1))
            system[:K, :K] = scaled.T @ scaled
            system[:K, K] = system[K, :K] = border
            # Equilibrated, since slacks may differ by many orders of magnitude.
            size = np.sqrt(np.diag(system)[:K])
            size = np.append(size, np.abs(border / size).max())
            right = np.append(-scaled.sum(0), 0.0) / size
            dx = (np.linalg.solve(system / size[:, None] / size, right) / size)[:K]
            falls = scaled @ dx
            decrement = float(np.sqrt(falls @ falls))
            # Damped Newton (Nesterov, section 4.1): within the ellipsoid it cannot leave the polytope.
            x = x + dx * min(1.0, 1 / (1 + decrement) if decrement > 0.5 else 1.0, BACK_OFF / max(falls.max(), 1e-300))
            if decrement < CENTRED:
                break
        return x
