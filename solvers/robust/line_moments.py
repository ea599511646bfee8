"""Moments of 1/F and 1/F^2 over the pieces of F, each about its own middle, to nearly all digits.

Where weights move, y^2 joins 1 and y in the Newton system, whose least eigenvalues fall like mu^2: moments about zero
would leave none of their digits. With u = y - v, q = sqrt(f/A), tau = u/q, phi = arctan tau, rho = 1/(1 + tau^2),

    int u^2/F = ([u] - f int 1/F)/A,    int u^4/F^2 = [u]/A^2 - 2 q^2 int u^2/F^2 - q^4 int 1/F^2,

the others as in `barrier.column_value`; where F grows by no more than a factor over the piece, a Gauss rule about its
middle.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array, Indices
from ..barrier.column_value import LEAST, NARROWEST, ColumnValue

NODES, RULE = np.polynomial.legendre.leggauss(16)

GROWS = 5.0
"""Pieces over which F grows by this factor have closed forms: below, the rule is right to seven digits at the worst."""


class SharpValue(ColumnValue):
    """F whose least values are sums of all rows, of O(n) terms each.

    Running sums, of terms of order one, leave an error of some 1e-15 in what is of the order of mu^2 at the outputs,
    and their masses, mu int 1/F, have as large a share of error: an expected variance evens it out, a largest one does
    not. Multipliers are those of 1 and y: rows move along with their weights.
    """

    def __init__(self, p: Array, lam: Array, nu: Array, E: float, reach: float) -> None:
        super().__init__(np.zeros_like(p), p, lam, nu, E, reach)
        if not self.proper:
            return
        k = np.arange(self.pieces)[:, None]
        rows, inside = self.v[:, None] - self.left, self.v[:, None] - self.right
        rows *= inside
        rows *= p
        np.multiply(rows, (k >= self.start) & (k < self.end), out=inside)
        self.least += (f := rows.sum(1) + (E - 1) * inside.sum(1)) - self.f
        self.most += f - self.f
        self.f = f


class Moments(NamedTuple):
    """Per piece (K + 1,), of 1/F^2: mass, mean of y, and the integrals of second to fourth powers about that mean."""

    mass: Array
    centre: Array
    second: Array
    third: Array
    fourth: Array


def squared_moments(F: ColumnValue) -> Moments:
    """Return the moments of 1/F^2."""
    found = np.empty((5, F.pieces))
    curved = (F.f > 0) & (F.most > GROWS * F.least)
    for k, moments in ((np.flatnonzero(curved), _closed), (np.flatnonzero(~curved), _by_rule)):
        if len(k):
            found[:, k] = moments(F, k)
    found[2] = np.maximum(found[2], LEAST)
    return Moments(*found)


def _closed(F: ColumnValue, k: Indices) -> Array:
    A, f, low, high = F.A[k], F.f[k], F.low[k], F.high[k]
    q2 = f / A
    q = np.sqrt(q2)
    one, two = low / q, high / q
    rho_one, rho_two = 1 / (1 + one * one), 1 / (1 + two * two)
    phi, turn = np.arctan2(two - one, 1 + one * two), two * rho_two - one * rho_one
    mass = (phi + turn) / (2 * A * A * q * q2)
    first = (rho_one - rho_two) / (2 * A * A * q2)
    second = (phi - turn) / (2 * A * A * q)
    third = (rho_two - rho_one - np.log(rho_two / rho_one)) / (2 * A * A)
    fourth = (high - low) / A**2 - 2 * q2 * second - q2 * q2 * mass
    c = first / mass
    return np.array(
        [
            mass,
            F.v[k] + c,
            second - c * first,
            third - 3 * c * second + 2 * c * c * first,
            fourth - 4 * c * third + 6 * c * c * second - 3 * c**3 * first,
        ]
    )


def _by_rule(F: ColumnValue, k: Indices) -> Array:
    half = np.maximum(0.5 * (F.high[k] - F.low[k]), NARROWEST * F.reach)[:, None]
    middle = 0.5 * (F.high[k] + F.low[k])
    u = half * NODES
    weight = half * RULE / (F.A[k, None] * (middle[:, None] + u) ** 2 + F.f[k, None]) ** 2
    mass = weight.sum(1)
    c = (weight * u).sum(1) / mass
    u = u - c[:, None]
    second = weight * u * u
    third = second * u
    return np.array([mass, F.v[k] + middle + c, second.sum(1), third.sum(1), (third * u).sum(1)])


def second_moments(F: ColumnValue) -> Array:
    """Return int y^2/F per piece (K + 1,)."""
    zero, one = F.integrals.zero, F.integrals.one
    with np.errstate(all="ignore"):
        second = (F.high - F.low - F.f * zero) / F.A
    flat = np.flatnonzero(~((F.f > 0) & (F.most > GROWS * F.least)))
    half = np.maximum(0.5 * (F.high[flat] - F.low[flat]), NARROWEST * F.reach)[:, None]
    u = 0.5 * (F.high[flat] + F.low[flat])[:, None] + half * NODES
    second[flat] = (half * RULE * u * u / (F.A[flat, None] * u * u + F.f[flat, None])).sum(1)
    return second + 2 * F.v * one + F.v**2 * zero
