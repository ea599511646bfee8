r"""How far linear numbers can move from a distribution while the reports of n users hardly tell: all numbers at once.

With the information I = sum_y q_y q_y^T / (g . q_y) of one report at g, the modulus of a number s . p is

    omega = max s . d    over d with g + d a distribution and n d^T I d <= delta^2.

All numbers follow their central paths together: Newton's steps for the barrier

    s . d + tau (sum_i log(g_i + d_i) + K log(1 - n d^T I d / delta^2))

are one stack of K x K systems. What is found is a departure d with a multiplier of the ball,
c = 2 tau K n / (delta^2 - n d^T I d), and, by any d' and c >= 0, a bound: as d^T I d >= 2 d'^T I d - d'^T I d',

    omega  <=  max_i v_i - v . g + c (d'^T I d' + delta^2 / n) / 2,    v = s - c I d'.

Source: the modulus: Donoho (1994), "Statistical estimation and optimal recovery"; the rest is derived here.
"""

from __future__ import annotations

import numpy as np

from ...mechanisms.errors import SolverError
from ..arrays import Array

MOST_STEPS = 150
"""Newton steps until departures must have settled; 20 to 60 are usual from a cold start."""

FALL = 0.2
"""Of the barrier, once a number's path is followed closely."""

CLOSE, SETTLED = 0.3, 1e-3
"""Squared Newton decrement that is close, and that of the end: two steps more, without which bounds are loose."""

TO_BOUNDARY = 0.9
"""Share of the way to the nearest boundary that a step may go."""

EVEN = 0.1
"""Share of the even distribution, at most, in where paths begin."""

INSIDE = 0.9
"""Of the radius, at most, that they have there."""

MOST_CHANGE = 2.0
"""Factor by which a multiplier that follows may change in a step."""

TINY = 1e-12
"""Least range of a number's modulus."""


class Departures:
    """Departures (k, K) of k numbers from a distribution, for one information after another.

    Parameters
    ----------
    centre : (K,) ndarray
        g, a distribution; zeros are welcome.
    numbers : (k, K) ndarray
        s, each of range 1 at most.
    users : float
    radius : float
        delta.
    share : float
        Of a modulus that the barrier may leave.

    Example
    -------
    >>> centre, cut = np.full(4, 0.25), np.array([[1.0, 1.0, 0.0, 0.0]])
    >>> law = np.where(cut == 1, np.array([[0.75], [0.25]]), np.array([[0.25], [0.75]]))  # randomised response on it
    >>> found = Departures(centre, cut, 10_000, 1.96, 1e-4)
    >>> found.settle((law / (law @ centre)[:, None]).T @ law)
    >>> found.bounds().round(4)   # 1.96 (1 / 4 / n / (1 / 2)^2)^(1/2)
    array([0.0196])
    """

    def __init__(self, centre: Array, numbers: Array, users: float, radius: float, share: float) -> None:
        self.centre, self.numbers, self.share = centre, numbers, share
        self.ball = radius**2 / users
        self.weights = np.zeros(numbers.shape)

    @property
    def values(self) -> Array:
        """d (k, K), each of sum zero."""
        return self.weights - self.centre

    @property
    def moduli(self) -> Array:
        """How far each number moved (k,)."""
        return np.einsum("ki,ki->k", self.numbers, self.values)

    @property
    def left(self) -> Array:
        """How much of a modulus the barriers may leave, relatively (k,)."""
        return 2 * self.centre.size * self.level / np.maximum(self.moduli, TINY)

    def _enter(self, information: Array) -> None:
        """Begin at the even distribution, drawn back into the ball, with barriers of about a modulus."""
        self.information, (count, size) = information, self.numbers.shape
        self.weights = np.tile((1 - EVEN) * self.centre + EVEN / size, (count, 1))
        self.level = np.full(count, np.sqrt(self.ball) / size)
        squared = np.einsum("ki,ij,kj->k", self.values, information, self.values) / self.ball
        back = np.minimum(1.0, INSIDE / np.sqrt(np.maximum(squared, TINY)))
        self.weights = self.centre + back[:, None] * self.values
        self._measure()

    def _measure(self) -> None:
        self.pulled = self.values @ self.information
        self.squared = np.einsum("ki,ki->k", self.pulled, self.values)
        self.multipliers = 2 * self.level * self.centre.size / (self.ball - self.squared)

    def curvature(self) -> Array:
        """Minus the second derivatives (k, K, K) of what is largest, at fixed multipliers of the ball."""
        found = self.multipliers[:, None, None] * self.information
        knots = np.arange(self.centre.size)
        found[:, knots, knots] += self.level[:, None] / self.weights**2
        return found

    def step(self) -> None:
        """One step of Newton's method for all numbers; the barriers of those that are close fall."""
        pull = self.multipliers[:, None] * self.pulled
        slope = self.numbers - pull + self.level[:, None] / self.weights
        solved = np.linalg.solve(self.curvature(), np.stack([slope, pull, np.ones_like(slope)], 2))
        solved = solved[:, :, :2] - solved[:, :, 2:] * (solved[:, :, :2].sum(1) / solved[:, :, 2:].sum(1))[:, None]
        along, bent = solved[:, :, 0], solved[:, :, 1]  # the ball's barrier bends in one more direction (Sherman)
        part = np.einsum("ki,ki->k", pull, along) / (self.level * self.centre.size + np.einsum("ki,ki->k", pull, bent))
        move = along - part[:, None] * bent
        self.decrement = np.einsum("ki,ki->k", slope, move) / self.level
        # The least share of a step that reaches a boundary: a weight of zero, or the ball.
        far = np.maximum((-move / self.weights).max(1), TINY)
        a, b = np.einsum("ki,ij,kj->k", move, self.information, move), np.einsum("ki,ki->k", self.pulled, move)
        room = self.ball - self.squared
        out = room / (b + np.sqrt(b**2 + np.maximum(a, TINY**2) * room))
        size = np.minimum(1.0, TO_BOUNDARY * np.minimum(1 / far, out))
        self.weights = self.weights + size[:, None] * move
        close = (self.decrement < CLOSE) & (self.left > self.share)
        needed = self.share * np.maximum(self.moduli, TINY) / (2 * self.centre.size)
        self.level = np.where(close, np.maximum(FALL * self.level, 0.999 * needed), self.level)
        self._measure()

    def follow(self, information: Array) -> None:
        """One step of Newton's method after a small change of the information, at multipliers that follow in turn.

        Departures are nearly proportional to their multipliers' inverse; they may leave the ball a little.
        """
        self.information = information
        pulled = self.values @ information
        slope = self.numbers - self.multipliers[:, None] * pulled + self.level[:, None] / self.weights
        solved = np.linalg.solve(self.curvature(), np.stack([slope, np.ones_like(slope)], 2))
        move = solved[:, :, 0] - (solved[:, :, 0].sum(1) / solved[:, :, 1].sum(1))[:, None] * solved[:, :, 1]
        decrement = np.einsum("ki,ki->k", slope, move) / np.maximum(self.moduli, TINY)
        far = np.maximum((-move / self.weights).max(1), TINY)
        self.weights = self.weights + np.minimum(1.0, TO_BOUNDARY / far)[:, None] * move
        squared = np.einsum("ki,ij,kj->k", self.values, information, self.values)
        change = np.where(decrement < CLOSE, np.sqrt(squared / self.ball), 1.0)
        self.multipliers = self.multipliers * np.clip(change, 1 / MOST_CHANGE, MOST_CHANGE)

    def settle(self, information: Array) -> None:
        """Find the departures of an information to the share asked for.

        Raises
        ------
        SolverError
            Precision was lost.
        """
        self._enter(information)
        for _ in range(MOST_STEPS):
            self.step()
            if (self.decrement < SETTLED).all() and (self.left <= self.share).all():
                break
        if not np.isfinite(self.weights).all():
            raise SolverError("intervals could not be found: numbers were lost; use fewer knots or a larger epsilon")

    def bounds(self) -> Array:
        """Upper bounds (k,) on the moduli, proved by departures and multipliers, whatever these are."""
        v = self.numbers - self.multipliers[:, None] * self.pulled
        whole = self.numbers.max(1) - self.numbers @ self.centre
        return np.minimum(whole, v.max(1) - v @ self.centre + self.multipliers * (self.squared + self.ball) / 2)
