"""F over a stretch of the output line, cut at the roots of its terms, with the integrals that the barrier needs.

A row's reduced cost is g_i(y) = p_i (y - x_i)^2 - lam_i - nu_i (y - x_i) with roots r_i < s_i, and the value of a
column at y is F(y) = sum_i min(g_i(y), E g_i(y)): every row counts once, and E times in its window, where r_i < y <
s_i. Between neighbouring roots (a *piece*) F is one parabola A (y - v)^2 + f. With u = y - v from u1 to u2, q =
sqrt(f/A), tau = u/q, phi = arctan tau, rho = 1/(1 + tau^2), and [.] the difference between the ends,

    int log F = q [tau log f - tau log rho - 2 tau + 2 phi]
    int 1/F = [phi]/(A q)                          int u/F = -[log rho]/(2A)
    int 1/F^2 = [phi + tau rho]/(2 A^2 q^3)        int u/F^2 = -[rho]/(2 A^2 q^2)
    int u^2/F^2 = [phi - tau rho]/(2 A^2 q)        int u^3/F^2 = [rho - log rho]/(2 A^2).

They lose their digits where F hardly changes over the piece, and do not hold where f <= 0; there Gauss's rule of six
points is right to eight digits.

F is what is left of positive and negative terms, and may be 1e-12 of them near the end of a path. So multipliers are
those around the knots, which are small where windows are narrow, and the sums are taken in the machine's long doubles;
where these are no longer than doubles, budgets beyond 8 may be lost.

Cost: O(n log n) for the sorted roots, O(n) for everything else, by running sums over the at most 2n + 1 pieces.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, Flags, Indices

Real = TypeVar("Real", bound=np.floating[Any])

NODES, RULE = np.polynomial.legendre.leggauss(6)

CURVED = 1.3
"""Pieces over which F grows by this factor have their integrals in closed form, the others by quadrature."""

NARROWEST = 1e-12
"""Half-width, in units of the stretch, that a piece between two equal roots is given."""

LEAST = 1e-300
"""What must be positive is at least this."""

FAR = 30.0
"""Roots farther out than so many half-stretches count as there in the Hessian, which would be singular without them."""


class Integrals(NamedTuple):
    """Per piece (K + 1,): of 1/F, u/F, 1/F^2, u/F^2, and (u - mean)^2/F^2 about its mean; over all pieces of log F."""

    zero: Array
    one: Array
    zero_squared: Array
    one_squared: Array
    spread: Array
    log: float


class ColumnValue:
    """F over [-reach, reach] for given weights and multipliers.

    Parameters
    ----------
    x, p, lam, nu : (n,) ndarray
        Knots, positive weights, multipliers of 1 and y - x.
    E, reach : float

    Attributes
    ----------
    proper : bool
        Whether every row has two real roots; nothing else is there if not.
    slope : (n,) ndarray
        |g_i'| at the roots, p_i (s_i - r_i).
    left, right : (n,) ndarray
        The roots.
    edges : (K + 2,) ndarray
        -reach, the K roots within, reach.
    who, growth : (K,) ndarray
        Whose root an inner edge is, and what the row's factor there grows by: E - 1 or 1 - E.
    start, end : (n,) ndarray of int
        The pieces [start, end) of each row's window.
    base : (n,) ndarray
        Each row's factor on the first piece.
    A, v, f, least, most : (K + 1,) ndarray
        The parabolas, the least F on each piece, and the larger of the values at its ends.
    """

    def __init__(self, x: Array, p: Array, lam: Array, nu: Array, E: float, reach: float) -> None:
        self.x, self.p, self.lam, self.nu, self.E, self.reach = x, p, lam, nu, E, reach
        with np.errstate(all="ignore"):  # what is no number is not proper
            square = nu * nu + 4 * p * lam
            self.slope = np.sqrt(square)
            far = 0.5 * (nu + np.copysign(self.slope, nu))
            one, other = x + far / p, x - lam / far
            self.proper = bool((square > 0).all() and np.isfinite(one + other).all())
        if not self.proper:
            return
        self.left, self.right = np.minimum(one, other), np.maximum(one, other)
        self._cut()
        self._sum_up()
        self.low, self.high = self.edges[:-1] - self.v, self.edges[1:] - self.v
        nearest = np.where((self.low < 0) & (self.high > 0), 0.0, np.minimum(np.abs(self.low), np.abs(self.high)))
        self.least = self.A * nearest**2 + self.f
        self.most = self.A * np.maximum(self.low**2, self.high**2) + self.f

    def _sum_up(self) -> None:
        """Each piece's parabola, in long doubles of A y^2 - N y - L."""
        p, x = self.p.astype(np.longdouble), self.x
        px = p * x
        A, N, L = self.sums(np.stack([p, self.nu + 2 * px, self.lam - (self.nu + px) * x]))
        v = 0.5 * N / A
        self.A, self.v, self.f = (one.astype(np.float64) for one in (A, v, -L - 0.5 * N * v))

    def _cut(self) -> None:
        """Sort the roots within reach."""
        left, right, reach = self.left, self.right, self.reach
        starts, ends = np.flatnonzero(np.abs(left) < reach), np.flatnonzero(np.abs(right) < reach)
        at = np.concatenate([left[starts], right[ends]])
        order = np.argsort(at, kind="stable")
        inner = len(order)
        self.who = np.concatenate([starts, ends])[order]
        self.growth = np.repeat([self.E - 1, 1 - self.E], [len(starts), len(ends)])[order]
        self.edges = np.concatenate([[-reach], at[order], [reach]])
        piece = np.empty(inner, dtype=np.intp)
        piece[order] = np.arange(1, inner + 1)
        self.start, self.end = np.where(left <= -reach, 0, inner + 1), np.where(right <= -reach, 0, inner + 1)
        self.start[starts], self.end[ends] = piece[: len(starts)], piece[len(starts) :]
        self.base = np.where((left <= -reach) & (right > -reach), self.E, 1.0)

    def sums(self, values: NDArray[Real]) -> NDArray[Real]:
        """sum_i c_ik values_i of each piece k (..., K + 1), c_ik in {1, E}, for values (..., n)."""
        steps = np.empty((*values.shape[:-1], len(self.who) + 1), values.dtype)
        steps[..., 0] = values @ self.base
        np.multiply(values[..., self.who], self.growth, out=steps[..., 1:])
        return np.add.accumulate(steps, axis=-1)

    def rows(self, values: Array) -> Array:
        """sum_k c_ik values_k of each row i (n,): the transpose of `sums`."""
        return values.sum() + (self.E - 1) * self.within(values)

    def within(self, values: Array) -> Array:
        """The sum of values (K + 1,) over the pieces of each row's window (n,)."""
        running = np.zeros(len(values) + 1)
        np.add.accumulate(values, out=running[1:])
        return running[self.end] - running[self.start]

    @property
    def pieces(self) -> int:
        return len(self.A)

    @property
    def lowest(self) -> float:
        """The least F within reach; minus infinity where it is not proper."""
        return float(self.least.min()) if self.proper else -np.inf

    def at_roots(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """The roots (n,), cut off far out, and F there, continued beyond reach by its outermost pieces."""
        found = []
        for root, piece in ((self.left, self.start), (self.right, self.end)):
            y = np.clip(root, -FAR * self.reach, FAR * self.reach)
            k = np.minimum(piece, self.pieces - 1)
            found.append((y, np.maximum(self.A[k] * (y - self.v[k]) ** 2 + self.f[k], LEAST)))
        return found[0], found[1]

    @cached_property
    def _curved(self) -> Flags:
        return (self.f > 0) & (self.most > CURVED * self.least)

    @cached_property
    def integrals(self) -> Integrals:
        """In closed form or by quadrature; F must be positive."""
        found, log = np.empty((5, self.pieces)), 0.0
        if len(k := np.flatnonzero(self._curved)):
            found[:, k], part = self._closed(k)
            log += part
        if len(k := np.flatnonzero(~self._curved)):
            found[:, k], part = self._quadrature(k)
            log += part
        zero, one, zero_squared, one_squared, spread = found
        return Integrals(zero, one, zero_squared, one_squared, spread, log)

    def _closed(self, k: Indices) -> tuple[Array, float]:
        A, f = self.A[k], self.f[k]
        q = np.sqrt(f / A)
        one, two = self.low[k] / q, self.high[k] / q
        rho_one, rho_two = 1 / (1 + one * one), 1 / (1 + two * two)
        phi = np.arctan2(two - one, 1 + one * two)
        turn = two * rho_two - one * rho_one
        twice = 2 * A * A * q
        zero, first = (phi + turn) / (twice * q * q), (rho_one - rho_two) / (twice * q)
        log = (two - one) * np.log(f) - two * np.log(rho_two) + one * np.log(rho_one) - 2 * (two - one) + 2 * phi
        parts = [
            phi / (A * q),
            -np.log(rho_two / rho_one) / (2 * A),
            zero,
            first,
            np.maximum((phi - turn) / twice - first * first / zero, LEAST),
        ]
        return np.array(parts), float(q @ log)

    def _nodes(self, k: Indices) -> tuple[Array, Array, Array]:
        half = np.maximum(0.5 * (self.high[k] - self.low[k]), NARROWEST * self.reach)[:, None]
        u = 0.5 * (self.high[k] + self.low[k])[:, None] + half * NODES
        return u, half * RULE, self.A[k, None] * u * u + self.f[k, None]

    def _quadrature(self, k: Indices) -> tuple[Array, float]:
        u, rule, F = self._nodes(k)
        once = rule / F
        twice = once / F
        zero, first = twice.sum(1), (twice * u).sum(1)
        spread = (twice * (u - (first / zero)[:, None]) ** 2).sum(1)
        parts = [once.sum(1), (once * u).sum(1), zero, first, np.maximum(spread, LEAST)]
        return np.array(parts), float((rule * np.log(F)).sum())

    @cached_property
    def first(self) -> Array:
        """int y/F per piece (K + 1,)."""
        return self.v * self.integrals.zero + self.integrals.one

    @cached_property
    def centre(self) -> Array:
        """The mean of y under 1/F^2 on each piece (K + 1,)."""
        return self.v + self.integrals.one_squared / self.integrals.zero_squared

    @cached_property
    def second_squared(self) -> Array:
        """int y^2/F^2 per piece (K + 1,)."""
        return self.integrals.spread + self.integrals.zero_squared * self.centre**2

    @cached_property
    def third_squared(self) -> Array:
        """int y^3/F^2 per piece (K + 1,)."""
        cube = np.empty(self.pieces)
        if len(k := np.flatnonzero(self._curved)):
            q2 = self.f[k] / self.A[k]
            one, two = 1 / (1 + self.low[k] ** 2 / q2), 1 / (1 + self.high[k] ** 2 / q2)
            cube[k] = (two - one - np.log(two / one)) / (2 * self.A[k] ** 2)
        if len(k := np.flatnonzero(~self._curved)):
            u, rule, F = self._nodes(k)
            cube[k] = (rule * u**3 / F**2).sum(1)
        v, found = self.v, self.integrals
        two = found.spread + found.one_squared**2 / found.zero_squared
        return v**3 * found.zero_squared + 3 * v * v * found.one_squared + 3 * v * two + cube
