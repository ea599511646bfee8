"""Patterns exchanged one by one, each with its best weight: for more patterns than can be weighed at once.

A table's patterns are taken out one after the other.  With G = M^-1 and W = G C G of what is left, a pattern s put in
with weight delta changes the Lagrangian tr(C M^-1) + lambda . (M pi - 1) by

    delta lambda . s - delta s^T W s / (pi . s + delta s^T G s),

least at delta = (sqrt(g / l) - 1) / h, where g = s^T W s / (pi . s), h = s^T G s / (pi . s), l = lambda . s: a loss of

    (sqrt(g) - sqrt(l))^2 / h = (sqrt(s^T W s) - sqrt((lambda . s) (pi . s)))^2 / s^T G s    if g > l.

So the pattern goes a few categories uphill in that number and back in.  A pattern's visit costs O(K) a category changed
after O(K^2), and no system of the size of the table is solved, as `weights` does.

The multipliers come from the relaxation's certificate: whatever is near its optimum has nearly theirs.  What rows miss
of their sum corrects them (the method of multipliers: Hestenes, 1969; Powell, 1969), so they need not be right.

Source: exchange algorithms for A-optimal designs: Fedorov (1972), "Theory of Optimal Experiments", chapter 3; one
coordinate at a time: Meyer and Nachtsheim (1995), "The coordinate-exchange algorithm".
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri  # pyright: ignore[reportAttributeAccessIssue] -- made at import

from ..arrays import Array, Indices
from .frequency_program import FrequencyProgram

BLOCK_SHARE = 1 / 4
"""Of the categories: patterns that are taken out at a time, each as if alone. All see the same shortcoming, so that a
block must be a small part of the table: with twice as many they overshoot where the table is nearly the best."""

LARGEST_BLOCK = 64
"""Of them: one in sixty of the columns that are usual."""

FLIPS = 2
"""Categories changed in a visit. With one, a table far from the best takes twice the sweeps; many overshoot."""

PENALTY = 1.0
"""Of what rows miss, in the error's units for each category's mass and an even share. Four times as much oscillates."""

STEEPEST = 10.0
"""Largest sqrt(g / l): a pattern never takes more than nine tenths of its direction."""

ALONE = 1e-6
"""Least share of its direction that others keep when a pattern is taken out."""

WORTH = 1e-9
"""An ascent ends when a change gains less than this share: rounding, not gain."""


class Exchange:
    """A table on its way: its patterns' marks (K, m) and weights (m,), the multipliers lambda (K,), and G, W (K, K).

    Parameters
    ----------
    program : FrequencyProgram
    multipliers : (K,) ndarray
    marks : (K, m) ndarray
        At least K of them, different enough for an information matrix of full rank.
    weights : (m,) ndarray
        Rows need not sum to one.

    Raises
    ------
    numpy.linalg.LinAlgError
        The information matrix is singular, here or after a sweep.

    Example
    -------
    >>> rng = np.random.default_rng(1)
    >>> program = FrequencyProgram(np.full(8, 1 / 8), 3.0)
    >>> marks = (rng.random((8, 160)) < 0.3).astype(float)
    >>> table = Exchange(program, np.full(8, 2.0), marks, np.full(160, 0.005))
    >>> for _ in range(10):
    ...     table.sweep(rng)
    >>> np.unique(table.marks.sum(0))   # a uniform prior's best: sets of two of the eight
    array([2.])
    """

    def __init__(self, program: FrequencyProgram, multipliers: Array, marks: Array, weights: Array) -> None:
        self.program, self.multipliers = program, multipliers.copy()
        self.marks, self.weights = marks.copy(), weights.copy()
        self._restart()

    def sweep(self, rng: np.random.Generator) -> None:
        """Visit every pattern once, in random order, and correct the multipliers."""
        block = int(np.clip(BLOCK_SHARE * self.program.size, 1, LARGEST_BLOCK))
        order = rng.permutation(self.weights.size)
        for start in range(0, order.size, block):
            self._visit(order[start : start + block])
        self._restart()
        self.multipliers = self.charges

    def add(self, marks: Array) -> None:
        """Give patterns (K, b) a place, without weight yet."""
        self.marks = np.hstack([self.marks, marks])
        self.weights = np.append(self.weights, np.zeros(marks.shape[1]))

    def _restart(self) -> None:
        """Form M from all patterns: changes of it add up roundings."""
        scaled = self._scaled(self.marks)
        self.information = (scaled * self.weights) @ scaled.T
        self._invert()

    def _invert(self) -> None:
        factor, failed = dpotrf(self.information, lower=1)
        if failed:
            raise np.linalg.LinAlgError("the information matrix is singular to rounding")
        lower = np.tril(dpotri(factor, lower=1)[0])
        self.inverse: Array = lower + np.tril(lower, -1).T
        weighed = self.inverse if self.program.importance is None else self.program.importance @ self.inverse
        self.squared = self.inverse @ weighed
        missing = 1 - self.information @ self.program.prior
        scale = PENALTY * float(np.trace(weighed)) * (self.program.prior + 1 / self.program.size)
        self.charges = self.multipliers - scale * missing

    def _scaled(self, marks: Array) -> Array:
        s = self.program.patterns(marks)
        return s / np.sqrt(self.program.prior @ s)

    def _visit(self, chosen: Indices) -> None:
        before, weights = self._scaled(self.marks[:, chosen]), self.weights[chosen]
        visit = _Visit(self, self.marks[:, chosen], before, weights)
        visit.climb()
        self.marks[:, chosen], self.weights[chosen] = visit.marks, visit.best_weights()
        after = self._scaled(visit.marks)
        self.information += (after * self.weights[chosen]) @ after.T - (before * weights) @ before.T
        self._invert()


class _Visit:
    """Patterns taken out, each by itself: their marks, and the six forms (6, b) that their gain is made of.

    With a = s / sqrt(pi . s), c the weight, u = G a, w = W a and k = c / (1 - c a^T G a), what is left without a has
    s^T G s + k (u . s)^2 and s^T W s + 2 k (u . s) (w . s) + k^2 (a^T W a) (u . s)^2: the forms are s^T W s, s^T G s,
    u . s, w . s, pi . s and lambda . s.
    """

    def __init__(self, table: Exchange, marks: Array, scaled: Array, weights: Array) -> None:
        self.table, self.marks = table, marks.copy()
        self.step = table.program.ratio - 1
        u, w = table.inverse @ scaled, table.squared @ scaled
        size = np.sqrt(table.program.prior @ table.program.patterns(marks))
        self.share = weights / np.maximum(1 - weights * (scaled * u).sum(0), ALONE)
        self.square = self.share**2 * (scaled * w).sum(0)
        prior, charges = (np.broadcast_to(row[:, None], marks.shape) for row in (table.program.prior, table.charges))
        self.slopes = np.stack([2 * w * size, 2 * u * size, u, w, prior, charges])
        self.forms = (self.slopes * scaled * size).sum(1)
        self.forms[:2] /= 2
        self.bends = np.stack([np.diag(table.squared), np.diag(table.inverse)])[:, :, None]

    def climb(self) -> None:
        """Change one category at a time while that gains, at most `FLIPS`."""
        moving = np.arange(self.marks.shape[1])
        gains = self._gains(self.forms, moving)
        for _ in range(FLIPS):
            change = self.step * (1 - 2 * self.marks[:, moving])
            after = self.forms[:, None, moving] + change * self.slopes[:, :, moving]
            after[:2] += change**2 * self.bends
            reached = self._gains(after, moving)
            which, index = reached.argmax(0), np.arange(moving.size)
            gaining = reached[which, index] > gains[moving] + WORTH * np.abs(gains[moving])
            which, index, moving = which[gaining], index[gaining], moving[gaining]
            if not moving.size:
                break
            gains[moving] = reached[which, index]
            self.forms[:, moving] = after[:, which, index]
            self.slopes[0][:, moving] += 2 * self.table.squared[:, which] * change[which, index]
            self.slopes[1][:, moving] += 2 * self.table.inverse[:, which] * change[which, index]
            self.marks[which, moving] = 1 - self.marks[which, moving]

    def best_weights(self) -> Array:
        """Return the weights (b,) of least Lagrangian, zero for patterns that are worth none."""
        spread, precision = self._rest(self.forms, np.arange(self.marks.shape[1]))
        mean, charge = self.forms[4], self.forms[5]
        ratios = np.sqrt(np.maximum(spread / np.maximum(mean * charge, spread / STEEPEST**2), 1))
        return (ratios - 1) * mean / precision

    def _rest(self, forms: Array, which: Array) -> tuple[Array, Array]:
        """Return s^T W s and s^T G s of what is left."""
        share, along = self.share[which], forms[2] ** 2
        spread = forms[0] + 2 * share * forms[2] * forms[3] + self.square[which] * along
        return np.maximum(spread, 0), forms[1] + share * along

    def _gains(self, forms: Array, which: Array) -> Array:
        """Return what the Lagrangian loses by each pattern; less than nothing where it is worth no weight."""
        spread, precision = self._rest(forms, which)
        roots = np.sqrt(spread) - np.sqrt(np.maximum(forms[4] * forms[5], 0))
        return roots * np.abs(roots) / precision
