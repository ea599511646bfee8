"""Priors whose reports agree with a band: bounds on linear functions of the prior, such as shares of reports.

Its largest expectation is a linear program.  What HiGHS says of it is not taken for granted: whatever multipliers mu of
the bands it returns, max over q of q.V <= max_i (V - M' mu)_i + sum_j max(mu_j low_j, mu_j high_j) is computed here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from ...mechanisms.errors import InputError
from ..arrays import Array
from ..linear_program import LinearProgram, solve_linear_program
from .polytope import PriorPolytope
from .sets import PriorSet, rounded_up

THINNEST = 1e-9
"""A band that leaves less room than this share of its widths at its middle counts as empty: no step fits into it."""


@dataclass(frozen=True, eq=False)
class BandSet(PriorSet):
    """Priors q with low <= matrix q <= high.

    Parameters
    ----------
    matrix : (k, n) ndarray
    low, high : (k,) ndarray
        low < high.

    Raises
    ------
    InputError
        Shapes or bounds that do not fit, or a band without a prior inside.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.robust import BandSet
    >>> band = BandSet(np.array([[1.0, 0.0, 0.0]]), np.array([0.25]), np.array([0.5]))
    >>> round(band.largest(np.array([0.0, 1.0, 2.0]))[0], 9)
    1.5
    """

    matrix: Array
    low: Array
    high: Array

    def __post_init__(self) -> None:
        if self.matrix.ndim != 2 or not len(self.matrix) == len(self.low) == len(self.high):
            raise InputError("a band needs one lower and one upper bound for each of its rows")
        if not np.all(self.low < self.high):
            raise InputError("the bounds of a band must satisfy low < high in every row")
        if not self._inside[1] > THINNEST:
            raise InputError("a band must have a prior inside, got one that excludes all priors: widen it")

    @property
    def some_prior(self) -> Array:
        return self._inside[0]

    @cached_property
    def _inside(self) -> tuple[Array, float]:
        """The prior with the most room in all bands, relative to their widths, and that room."""
        k, n = self.matrix.shape
        width = (self.high - self.low)[:, None]
        rows = np.block(
            [
                [np.ones((1, n)), np.zeros((1, 1))],
                [self.matrix, width],
                [self.matrix, -width],
                [np.eye(n), np.full((n, 1), -1.0 / n)],
            ]
        )
        free = np.full(k, np.inf)
        program = LinearProgram(
            np.append(np.zeros(n), -1.0),
            sparse.csc_array(rows),
            np.concatenate([[1.0], -free, self.low, np.zeros(n)]),
            np.concatenate([[1.0], self.high, free, np.full(n, np.inf)]),
            np.append(np.zeros(n), -np.inf),
            np.full(n + 1, 1.0),
        )
        found = solve_linear_program(program).x
        prior = np.maximum(found[:n], 0)
        return prior / prior.sum(), float(found[n])

    def polytope(self) -> PriorPolytope:
        n = self.matrix.shape[1]
        return PriorPolytope(
            np.zeros(n),
            np.eye(n),
            np.concatenate([-np.eye(n), self.matrix, -self.matrix]),
            np.concatenate([np.zeros(n), self.high, -self.low]),
            self.some_prior,
        )

    def largest(self, values: Array) -> tuple[float, Array]:
        n = len(values)
        scale = float(np.abs(values).max())
        program = LinearProgram(
            -values / scale,
            sparse.csc_array(np.concatenate([np.ones((1, n)), self.matrix])),
            np.append(1.0, self.low),
            np.append(1.0, self.high),
            np.zeros(n),
            np.ones(n),
        )
        found = solve_linear_program(program)
        prior, mu = np.maximum(found.x, 0), -found.row_duals[1:] * scale
        bound = float((values - mu @ self.matrix).max() + np.maximum(mu * self.low, mu * self.high).sum())
        # The terms may be larger than their sum, and so their rounding.
        # Rounding of n products errs towards a looser bound.
        bound += (float(np.abs(mu) @ np.maximum(np.abs(self.low), np.abs(self.high)))) * 1e-15 * n
        return rounded_up(bound, n), prior / prior.sum()
