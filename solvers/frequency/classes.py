"""Categories of equal prior weight are exchangeable: patterns that mark as many of each class are all priced at once.

Averaging H and lambda over all orders of the categories within classes changes neither tr H nor sum(lambda), and keeps
s^T H^2 s <= (lambda . s)(pi . s) where it holds for all patterns: the left side is convex in H, the right side linear
in lambda.  Of an H and a lambda that are averages, both sides depend on how many of each class are marked, so that
prod (n_g + 1) vectors of counts stand for 2^K patterns: 513 for 512 categories alike.

For an H the best lambda is a linear program in one number for each class.
"""

from __future__ import annotations

import math

import numpy as np

from ..arrays import Array

MOST_COUNTS = 2**14
"""Vectors of counts up to which they are looked at, all at once; the linear program takes a second."""

ROUNDING = 2.0**-52
"""Spacing of doubles at one."""


class WeightClasses:
    """Categories by weight, and all that patterns can mark of each class.

    Parameters
    ----------
    prior : (K,) ndarray
    ratio : float

    Attributes
    ----------
    labels, sizes : (K,) ndarray, (G,) ndarray
        Class of each category, in the order of weights, and how many there are.
    few : bool
        Whether the vectors of counts are at most `MOST_COUNTS`; without that there is nothing but these.

    Example
    -------
    >>> classes = WeightClasses(np.array([0.4, 0.2, 0.2, 0.2]), 3.0)
    >>> classes.sizes, classes.sums.astype(int)[:3]   # none of three and one marked, the one, one of three
    (array([3, 1]), array([[3, 1],
           [3, 3],
           [5, 1]]))
    """

    def __init__(self, prior: Array, ratio: float) -> None:
        _, self.labels, self.sizes = np.unique(prior, return_inverse=True, return_counts=True)
        self.member = np.eye(self.sizes.size)[self.labels]
        self.few = math.prod((self.sizes + 1).tolist()) <= MOST_COUNTS
        if self.few:
            counts = np.indices((self.sizes + 1).tolist()).reshape(self.sizes.size, -1).T
            self.sums = self.sizes + (ratio - 1) * counts  # of a pattern within each class
            self.squares = self.sizes + (ratio**2 - 1) * counts
            self.means = self.sums @ (self.member.T @ prior / self.sizes)

    def averaged(self, matrix: Array) -> Array:
        """Return the average (K, K) over all orders of the categories within classes."""
        diagonal, blocks = self._values(matrix)
        result = blocks[self.labels[:, None], self.labels]
        result[np.diag_indices_from(result)] = diagonal[self.labels]
        return result

    def averaged_line(self, line: Array) -> Array:
        """Return the average (K,) over the same."""
        return (self.member.T @ line / self.sizes)[self.labels]

    def violation(self, root: Array, multipliers: Array) -> float:
        """Return max over s of (s^T H^2 s - (lambda . s)(pi . s)) / (pi . s)^2 of averages, rounding included."""
        charge = self.sums @ (self.member.T @ multipliers / self.sizes)
        size = np.abs(root)
        allowance = 8 * self.labels.size * ROUNDING
        allowance *= self._quadratic(size @ size) + np.abs(charge) * self.means
        return float(((self._quadratic(root @ root) - charge * self.means + allowance) / self.means**2).max())

    def multipliers(self, root: Array) -> Array:
        """Return the lambda (K,) of least sum for an average H."""
        from scipy.optimize import linprog  # a quarter of a second, where no other solver needs it

        least = self._quadratic(root @ root) / self.means
        found = linprog(self.sizes, A_ub=-self.sums, b_ub=-least, bounds=(None, None), method="highs")
        return found.x[self.labels] if found.success else np.zeros(self.labels.size)

    def _quadratic(self, matrix: Array) -> Array:
        """Return s^T W s for all vectors of counts (N,)."""
        diagonal, blocks = self._values(matrix)
        own = diagonal - np.diag(blocks)
        return self.squares @ own + np.einsum("ng,gh,nh->n", self.sums, blocks, self.sums, optimize=True)

    def _values(self, matrix: Array) -> tuple[Array, Array]:
        """Return averages of the diagonal (G,), and of all else (G, G) by pairs of classes."""
        totals, diagonal = self.member.T @ matrix @ self.member, self.member.T @ np.diag(matrix)
        pairs = np.outer(self.sizes, self.sizes) - np.diag(self.sizes)
        totals = totals - np.diag(diagonal)
        return diagonal / self.sizes, totals / np.maximum(pairs, 1) * (pairs > 0)
