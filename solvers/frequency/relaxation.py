"""A certificate for many categories: the best that `Certificate` can prove, without looking at the patterns.

With affine forms p_j, r_j of (s, 1) from `valid_factors` and factors x = (lambda, diagonal, weights), the quadratic
sum_j x_j p_j r_j is at most (lambda . s)(pi . s) on patterns.  The largest W with s^T W s below it for all real s is a
Schur complement, W(x) = A - b b^T / c, so the best bound is the concave programme

    maximise 2 tr W(x)^(1/2) - sum(lambda)    over x with W(x) >= 0, weights >= 0,

followed by Newton steps on a barrier.  Its dual is a relaxation of the table's second moments: those moments say which
group terms would help, and the programme is solved again with them.

A step costs O(K J^2) with J = 2 K + C factors; about 20 suffice, twice as many with group terms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ...mechanisms.errors import SolverError
from ..arrays import Array
from .frequency_program import Certificate, FrequencyProgram, valid_factors

MAX_STEPS = 120
"""Newton steps of one programme; three times what was seen where it converges."""

BARRIER_SHARE = 0.2
"""The barrier's parameter falls to this share once a step gains less than the parameter: near enough to the path, where
full steps are taken."""

TO_BOUNDARY = 0.95
"""Share of the way to zero that a weight or its slack may go in a step."""

MAX_DOUBLINGS = 40
"""Of the multiple of the prior to start from; with more, W is singular to rounding."""

HALVINGS = 40
"""Of a step that leaves the domain or gains nothing: 1e-12 of it is none."""

SUFFICIENT = 0.1
"""Share of the gain promised to first order that a step must keep."""

FIRST_WEIGHT = 1e-3
"""Of the least diagonal weight: a group term starts small enough not to leave the domain."""

QUADRATURE_STEP = 1.3
"""Of the trapezoidal rule below in log scale: with the rates left out it errs by 2 % at most. All of the Hessian uses
the rule, and so stays that of a concave function."""

LEAST_RATE, LARGEST_RATE = 0.1, 2.5
"""Rates of the rule, times the largest and the least root."""

JITTER = 1e-14
"""Times J, added to a Hessian scaled to a unit diagonal: its rounding."""

DEGENERATE = 1e-12
"""Ratio of W's least to its largest eigenvalue below which it counts as singular."""


@dataclass(frozen=True, eq=False)
class _State:
    """Factors x and what follows from them: W = V diag(values) V^T, the form n of the Schur complement, its pivot c."""

    x: Array
    values: Array
    vectors: Array
    form: Array
    pivot: float

    @property
    def root(self) -> Array:
        return (self.vectors * np.sqrt(self.values)) @ self.vectors.T


class Relaxation:
    """The concave programme for a program and some group terms.

    Parameters
    ----------
    program : FrequencyProgram
    groups, levels : (C, K) ndarray, (C,) ndarray
        As in `Certificate`.
    """

    def __init__(self, program: FrequencyProgram, groups: Array, levels: Array) -> None:
        self.program, self.groups, self.levels = program, groups, levels
        self.first, self.second = valid_factors(program, groups, levels)
        # The forms of R u, u = R^-1 s: W is then that of the columns as seen through the importance.
        self.first[:-1], self.second[:-1] = program.roots[0] @ self.first[:-1], program.roots[0] @ self.second[:-1]
        # Terms of large groups are as large as the others only after scaling.
        self.scale = np.append(np.ones(2 * program.size), 1 / np.maximum(1, groups.sum(1)) ** 2)

    def solve(self, tolerance: float) -> _State:
        """Return the best state to about a relative tolerance, or the last one that steps and rounding allow."""
        size = self.program.size
        state = self._start()
        count = len(state.values) + len(self.levels) + 1
        ratio = self.program.ratio
        magnitude = 4 * float(np.sum(self.program.roots[0] ** 2)) * ratio / (ratio - 1) ** 2  # of the error
        barrier = max(self.bound(state), magnitude) / count
        slack = barrier / state.x[2 * size :]
        for _ in range(MAX_STEPS):
            try:
                state, slack, gain = self._step(state, slack, barrier)
            except LinAlgError:
                break
            if gain < barrier:
                if barrier * count < tolerance * abs(self.bound(state)):
                    break
                barrier *= BARRIER_SHARE
        return state

    def bound(self, state: _State) -> float:
        """Return 2 tr W^(1/2) - sum(lambda)."""
        return float(2 * np.sqrt(state.values).sum() - state.x[: self.program.size].sum())

    def certificate(self, state: _State) -> Certificate:
        """Return the state as a certificate."""
        size, x = self.program.size, state.x * self.scale
        return Certificate(state.root, x[:size], x[size : 2 * size], self.groups, self.levels, x[2 * size :])

    def moments(self, state: _State) -> tuple[Array, Array]:
        """Return the marks' mean (K,) and second moment (K, K) in the relaxed table, per unit of weight."""
        inverse = (state.vectors / np.sqrt(state.values)) @ state.vectors.T
        mean, root = inverse @ state.form, self.program.roots[0]
        total = state.form @ mean
        mean, second, step = root @ mean / total, root @ inverse @ root / total, self.program.ratio - 1
        return (mean - 1) / step, (second - mean - mean[:, None] + 1) / step**2

    def _start(self) -> _State:
        """A state in the domain: diagonal weights like a floored prior's, lambda a multiple of the prior."""
        prior, ratio, size = self.program.prior, self.program.ratio, self.program.size
        floor = 2 * ratio / (1 + ratio) ** 2  # with more or less of it, W stays indefinite at some ratio
        diagonal = (1 - floor) * prior + floor / size
        weights = np.full(len(self.levels), FIRST_WEIGHT * diagonal.min())
        multiple = 1.0
        for _ in range(MAX_DOUBLINGS):
            multiple *= 2
            state = self._state(np.concatenate([multiple * prior, diagonal, weights]))
            if state is not None:
                return self._best_multiple(state)
            weights = weights / 2
        raise SolverError(f"the relaxation of {size} categories at ratio {ratio:g} has no starting point to rounding")

    def _best_multiple(self, state: _State) -> _State:
        best = (np.sqrt(state.values).sum() / state.x[: self.program.size].sum()) ** 2
        return _State(best * state.x, best * state.values, state.vectors, state.form, best * state.pivot)

    def _state(self, x: Array) -> _State | None:
        """Return what follows from x, or None outside the domain."""
        quadratic = (self.first * (x * self.scale)) @ self.second.T
        quadratic = (quadratic + quadratic.T) / 2
        pivot = float(quadratic[-1, -1])
        if pivot <= 0:
            return None
        form = -quadratic[:-1, -1] / pivot
        values, vectors = np.linalg.eigh(quadratic[:-1, :-1] - pivot * np.outer(form, form))
        if not values[0] > DEGENERATE * values[-1]:
            return None
        return _State(x, values, vectors, form, pivot)

    def _merit(self, state: _State, barrier: float) -> float:
        logs = np.log(state.values).sum() + np.log(state.x[2 * self.program.size :]).sum() + np.log(state.pivot)
        return self.bound(state) + barrier * float(logs)

    def _step(self, state: _State, slack: Array, barrier: float) -> tuple[_State, Array, float]:
        """One Newton step on bound + barrier (log det W + log c + sum log weights), primal-dual in the weights."""
        size = self.program.size
        weights = state.x[2 * size :]
        gradient, hessian = self._derivatives(state, barrier)
        gradient[2 * size :] += barrier / weights
        hessian[np.diag_indices_from(hessian)] += np.append(np.zeros(2 * size), slack / weights)
        scale = 1 / np.sqrt(np.diag(hessian))
        hessian *= scale * scale[:, None]
        hessian[np.diag_indices_from(hessian)] += JITTER * scale.size
        change = scale * cho_solve(cho_factor(hessian, check_finite=False), scale * gradient, check_finite=False)
        slack_change = barrier / weights - slack - slack / weights * change[2 * size :]
        gain, length = float(gradient @ change), _length(weights, change[2 * size :])
        merit = self._merit(state, barrier)
        for _ in range(HALVINGS):
            after = self._state(state.x + length * change)
            if after is not None and self._merit(
                after, barrier
            ) >= merit + SUFFICIENT * length * gain - DEGENERATE * abs(merit):
                return after, slack + _length(slack, slack_change) * slack_change, gain
            length /= 2
        raise LinAlgError("no step gains")

    def _derivatives(self, state: _State, barrier: float) -> tuple[Array, Array]:
        """Return gradient and negated Hessian in x, without the weights' own barrier."""
        roots = np.sqrt(state.values)
        slope = 1 / roots + barrier / state.values
        constants = self.first[-1] * self.second[-1] * self.scale
        first = state.vectors.T @ (self.first[:-1] + state.form[:, None] * self.first[-1]) * self.scale
        second = state.vectors.T @ (self.second[:-1] + state.form[:, None] * self.second[-1])
        gradient = slope @ (first * second) + barrier * constants / state.pivot
        gradient[: self.program.size] -= 1
        border = (self.first[:-1] * self.second[-1] + self.first[-1] * self.second[:-1]) / 2 * self.scale
        border = (state.vectors.T @ (border + state.form[:, None] * constants)) * np.sqrt(slope)[:, None]
        hessian = 2 / state.pivot * (border.T @ border) + barrier * np.outer(constants, constants) / state.pivot**2
        return gradient, hessian + self._curvature(state, barrier)

    def _curvature(self, state: _State, barrier: float) -> Array:
        """Return sum_ab D_ab X_ab Y_ab, X and Y the derivatives of W in two of x, seen in W's eigenvectors.

        With a, b roots of eigenvalues D is 1 / (a b (a + b)) + barrier / (a b)^2: minus the divided differences of
        2 sqrt + barrier log; `_differences` has it as a sum of squares. A multiplier's derivative is
        (v p^T + p v^T) / 2, p the prior; any other's is, up to a factor, t t^T + (y n^T + n y^T) / 2, n the form. What
        a matrix of rank two is multiplied with is the other's product with a line, v^T (Y * D) p, a few products of
        K x J matrices for all; t t^T with t t^T takes one product for each square.
        """
        size, turn = self.program.size, state.vectors.T
        lines = _differences(np.sqrt(state.values), barrier)
        D = lines @ lines.T
        p, n = (turn @ self.second[:-1, 0])[:, None], (turn @ state.form)[:, None]
        v, t = turn @ self.first[:-1, :size], turn @ self.second[:-1, size:]
        sign = np.append(np.ones(size), -np.ones(len(self.levels)))
        alpha, beta = sign * self.first[-1, size:], self.second[-1, size:]
        y = (alpha + beta) * t + alpha * beta * n

        def through(line: Array) -> Array:
            return t * (D @ (t * line)) + (y * (D @ (n * line)) + n * (D @ (y * line))) / 2

        curvature = np.empty((len(self.scale), len(self.scale)))
        curvature[:size, :size] = v.T @ (v * (D @ p**2) + p * (D @ (v * p))) / 2
        curvature[:size, size:] = v.T @ through(p)
        curvature[size:, size:] = y.T @ through(n) + (t * (D @ (t * n))).T @ y
        for line in lines.T:
            curvature[size:, size:] += (t.T @ (t * line[:, None])) ** 2
        curvature[size:, :size] = curvature[:size, size:].T
        scale = np.append(np.ones(size), sign) * self.scale
        return scale[:, None] * (curvature + curvature.T) / 2 * scale


def _differences(roots: Array, barrier: float) -> Array:
    """Return L (K, nodes) with L L^T about 1 / (a b (a + b)) + barrier / (a b)^2 for all pairs of roots.

    1 / (a + b) is the integral of exp(t - (a + b) e^t): a trapezoidal rule, whose least rate stands for all below it.
    """
    rates = np.exp(np.arange(np.log(LEAST_RATE / roots.max()), np.log(LARGEST_RATE / roots.min()), QUADRATURE_STEP))
    weights = QUADRATURE_STEP * rates
    weights[0] /= -np.expm1(-QUADRATURE_STEP)
    damped = np.exp(-np.outer(roots, rates)) * np.sqrt(weights) / roots[:, None]
    return np.column_stack([damped, np.sqrt(barrier) / roots**2])


def _length(values: Array, change: Array) -> float:
    falling = change < 0
    return min(1.0, TO_BOUNDARY * float((-values[falling] / change[falling]).min(initial=np.inf)))
