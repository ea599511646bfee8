"""F as pieces: its breakpoints sorted, the parabola of each piece by exact running sums. O(n log n).

F(y) = sum_i min(g_i(y), E g_i(y)) is continuous and piecewise quadratic. Between neighbouring breakpoints, the real
roots of the g_i, it is

    A y^2 - N y - L,    A = sum p_i + (E - 1) (sum of p_i over the rows whose window holds the piece),    N and L alike,

with the coefficients of p_i y^2 - N_i y - L_i = p_i (y - r_i)(y - s_i), where a row's window lies between its roots
r_i < s_i. What a row adds at its first root it takes away at its second, so all sums are running sums of signed terms;
those of doubles would lose what is small beside the largest sum on the way, so they are taken over whole numbers
(`exact_running_sums`) and rounded once each.

**What rounding can do.** Roots r_i, s_i are rounded, so the parabolas are not quite the g_i: they differ by at most
alpha_i + beta_i |y|, which is computed. As min(a + b, E a + E b) >= min(a, E a) - E |b|, F lies above the pieces by at
least -E sum_i (alpha_i + beta_i |y|), wherever a rounded root sends y, and `lower` takes off that, and the roundings of
the sums and of the value. What the sums leave out of A only lowers it, which is safe as y^2 >= 0, and alpha and beta
are far more than what they leave out of N and L. Far out F is positive whatever the pieces say, see `reach`.

Source: derived here; companion of the exact pricing in `pricing`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Flags, Indices
from .unbiased_program import UnbiasedProgram

UNIT = float(np.finfo(np.float64).eps) / 2
"""Half an epsilon: what one rounding does at most, relatively."""

ROUNDINGS = 16
"""Roundings of a piece's sums, of its vertex and of its value there, in all."""

UNDERFLOW = 1e-200
"""More than what is lost of a row where a square is too small for a double."""

FARTHEST = 1e140
"""Breakpoints beyond are none: their squares would overflow; where F could be negative there, nothing is certified."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """The K + 1 pieces of F between its K breakpoints.

    Attributes
    ----------
    edges : (K + 2,) ndarray
        Non-decreasing, from -inf to inf.
    quadratic, linear, constant : (K + 1,) ndarray
        A, N and L of A y^2 - N y - L.
    sums : (K + 1,) ndarray
        sum_i c_i of the pattern.
    linear_size, constant_size : (K + 1,) ndarray
        Sizes of what N and L were added up from.
    alpha, beta : float
        F lies above its piece less E (alpha + beta |y|), but for what the sums' own rounding does.
    ratio, reach : float
        E; F is positive beyond +-reach.
    """

    edges: Array
    quadratic: Array
    linear: Array
    constant: Array
    sums: Array
    linear_size: Array
    constant_size: Array
    alpha: float
    beta: float
    ratio: float
    reach: float

    @property
    def vertices(self) -> Array:
        """Where each parabola is least (K + 1,), in its piece or not."""
        return 0.5 * self.linear / self.quadratic

    def values(self, outputs: Array) -> Array:
        """The parabola of each piece at an output of its own (K + 1,)."""
        return (self.quadratic * outputs - self.linear) * outputs - self.constant

    def lower(self) -> Array:
        """What F cannot fall below on each piece (K + 1,); -inf where nothing is certain.

        On a piece Q(y) - V |y| >= Q(z) - V |z| - V^2 / 4A for the place z where Q is least there, so that the
        allowance need only be known at z, and V^2 / 4A be taken off.
        """
        if not self.reach < FARTHEST:
            return np.full(len(self.sums), -np.inf)
        z = np.clip(self.vertices, self.edges[:-1], self.edges[1:])
        tilt = self.ratio * self.beta + ROUNDINGS * UNIT * self.linear_size
        with np.errstate(over="ignore", invalid="ignore"):
            size = self.quadratic * z * z + self.linear_size * np.abs(z) + self.constant_size
            allowance = self.ratio * (self.alpha + self.beta * np.abs(z)) + tilt * tilt / (4 * self.quadratic)
            lower = self.values(z) - allowance - ROUNDINGS * UNIT * size
        return np.where(np.isnan(lower), -np.inf, lower)


def pieces(program: UnbiasedProgram, lam: Array, nu: Array) -> Pieces:
    """Cut F at its breakpoints.

    Parameters
    ----------
    program : UnbiasedProgram
    lam, nu : (n,) ndarray
        Multipliers of normalisation and unbiasedness, finite.

    Example
    -------
    >>> import numpy as np
    >>> program = UnbiasedProgram(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), 3.0)
    >>> found = pieces(program, np.array([2.0, 2.0]), np.zeros(2))  # g = (y - x)^2 / 2 - 2, negative within 2 of x
    >>> found.edges, found.values(found.vertices)
    (array([-inf,  -3.,  -1.,   1.,   3.,  inf]), array([-3. , -6.5, -9. , -6.5, -3. ]))
    """
    E, p = program.ratio, program.weights
    with np.errstate(over="ignore", invalid="ignore"):
        growth = E * float(np.abs(nu).sum())
        reach = 2 * (1 + growth + math.sqrt(E * float(np.abs(lam).sum()) + 2 * growth))
    if not reach < FARTHEST:
        one, none = np.ones(1), np.zeros(1)
        return Pieces(np.array([-np.inf, np.inf]), one, none, none, one, none, none, 0.0, 0.0, E, np.inf)
    left, right, linear, constant = _rows(program, lam, nu)
    alpha, beta = _differences(program, lam, nu, (left, right), (linear, constant))
    rows = np.arange(len(p))
    starts, ends = _within(left), _within(right)
    at = np.concatenate([left[starts], right[ends]])
    order = np.argsort(at, kind="stable")
    who = np.concatenate([rows[starts], rows[ends]])[order]
    sign = np.repeat([1, -1], [np.count_nonzero(starts), np.count_nonzero(ends)])[order]
    first = (left <= -FARTHEST) & (right > -FARTHEST)

    def total(values: Array) -> tuple[Array, Array]:
        inside = (E - 1) * exact_running_sums(values, first, who, sign)
        every = math.fsum(values) if np.isfinite(values).all() else math.nan
        return every + inside, abs(every) + np.abs(inside)

    (A, _), (N, N_size), (L, L_size) = total(p), total(linear), total(constant)
    count = np.count_nonzero(first) + np.append(0, np.cumsum(sign))
    edges = np.concatenate([[-np.inf], at[order], [np.inf]])
    return Pieces(
        edges, A, N, L, np.asarray(len(p) + (E - 1) * count, dtype=np.float64), N_size, L_size, alpha, beta, E, reach
    )


def _within(places: Array) -> Flags:
    return np.abs(places) < FARTHEST


def _rows(program: UnbiasedProgram, lam: Array, nu: Array) -> tuple[Array, Array, Array, Array]:
    """Return each row's window (left, right), and N and L of its parabola or line with roots there.

    A row that is nowhere negative has an empty window, from infinity to infinity.
    """
    x, p = program.knots, program.weights
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        square = nu * nu + 4 * p * lam
        far = 0.5 * (nu + np.copysign(np.sqrt(square), nu))
        one, other = x + far / p, x - lam / far
        root = x - lam / nu
    parabola = (p > 0) & ~(square <= 0)
    line = (p == 0) & np.isfinite(root)
    left, right = np.full(len(p), np.inf), np.full(len(p), np.inf)
    linear, constant = nu + 2 * p * x, (lam - nu * x) - p * x * x
    k = np.flatnonzero(parabola)
    left[k], right[k] = np.fmin(one, other)[k], np.fmax(one, other)[k]
    linear[k], constant[k] = p[k] * left[k] + p[k] * right[k], -(p[k] * left[k]) * right[k]
    k = np.flatnonzero(line)
    linear[k], constant[k] = nu[k], -nu[k] * root[k]
    left[k], right[k] = np.where(nu[k] > 0, root[k], -np.inf), np.where(nu[k] > 0, np.inf, root[k])
    left[(p == 0) & ~line & (lam > 0)] = -np.inf
    return left, right, linear, constant


def _differences(
    program: UnbiasedProgram, lam: Array, nu: Array, window: tuple[Array, Array], parabola: tuple[Array, Array]
) -> tuple[float, float]:
    """Return alpha and beta: sums over the rows of by how much N and L, and the roots that they have, may be off.

    Where a root is no number neither is the sum, and nothing is certified.
    """
    x, p, (linear, constant) = program.knots, program.weights, parabola
    turn, shift = nu * x, p * x * x
    roots = sum(p * np.where(np.isinf(end), 0.0, np.abs(end)) for end in window)
    linear_off = np.abs(nu + 2 * p * x - linear)
    linear_off += ROUNDINGS * UNIT * (np.abs(nu) + 2 * p * np.abs(x) + np.abs(linear) + roots)
    constant_off = np.abs((lam - turn) - shift - constant) + UNDERFLOW
    constant_off += ROUNDINGS * UNIT * (np.abs(lam) + np.abs(turn) + shift + np.abs(constant))
    return float(constant_off.sum()), float(linear_off.sum())


def exact_running_sums(values: Array, first: Flags, who: Indices, sign: Indices) -> Array:
    """Return the sum of the values in `first`, and after each event sign_k values[who_k], each sum rounded once.

    Every value is the sum of two whole multiples of powers of two, of at most 62 bits with those of all sums, and what
    is less than that is left out: per value at most 2^(-2b) of the largest, b = 61 bits but for those of 2n, 44 at
    32,768. So no sum is too large but for its last rounding.

    Parameters
    ----------
    values : (n,) ndarray
    first : (n,) ndarray of bool
    who, sign : (K,) ndarray of int
        Which value joins (1) or leaves (-1).

    Returns
    -------
    sums : (K + 1,) ndarray

    Example
    -------
    >>> import numpy as np
    >>> exact_running_sums(np.array([1e-20, 1.0]), np.array([True, False]), np.array([1, 1]), np.array([1, -1]))
    array([1.e-20, 1.e+00, 1.e-20])
    """
    largest = float(np.abs(values).max())
    if not 0 < largest < np.inf:
        return np.full(len(who) + 1, 0.0 * largest)
    bits = 61 - (2 * len(values)).bit_length()
    exponent = math.frexp(largest)[1]
    coarse = np.rint(np.ldexp(values, bits - exponent))
    rest = np.ldexp(values, bits - exponent) - coarse
    fine = np.floor(np.ldexp(rest, bits))
    sums = np.zeros(len(who) + 1)
    for part, scale in ((coarse, exponent - bits), (fine, exponent - 2 * bits)):
        whole = part.astype(np.int64)
        running = np.cumsum(np.append(whole[first].sum(), sign * whole[who]))
        sums += np.ldexp(running.astype(np.float64), scale)
    return sums
