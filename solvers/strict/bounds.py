"""How large linear functionals of weights can be that explain the data, each with a proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Array, Flags

TO_THE_WALL = 0.95
"""Share of the way to the nearest wall that a step goes at most."""

LEAST_CENTRING = 0.1
"""Factor by which the products of primal and dual variables are lowered at most by one step, however well it went."""

RELATIVE = 1e-3
"""Distance between a bound and what is reached, relative to the functional's range, at which it is good enough: the
bound is what is returned, and is on the safe side."""

MOST_STEPS = 60
"""Some twenty are needed; what has not arrived then has a bound that is larger than need be."""

FREE = 1e3
"""Strength of the row that frees a constant: it costs a thousandth of the functional's range at most."""

BLOCK_ENTRIES = 2**22
"""Numbers of one block of systems at once: 32 megabytes."""


class Inside(NamedTuple):
    r"""Weights inside the ball, from which bounds are sought.

    Parameters
    ----------
    weights : (K,) ndarray
        w, positive, of sum one.
    multiplier : float
        t, with t + B^T (B w - c) > 0.
    least : float
        What \|B w - c\|^2 is at least on the simplex.
    """

    weights: Array
    multiplier: float
    least: float


@dataclass(frozen=True, eq=False)
class Ball:
    r"""The weights w on the simplex with \|B w - c\|^2 <= least + reach^2, least being the smallest there is.

    Parameters
    ----------
    matrix : (r, K) ndarray
        B.
    centre : (r,) ndarray
        c.
    """

    matrix: Array
    centre: Array

    def inside(self, spare: float) -> Inside:
        r"""Return central weights whose \|B w - c\|^2 is at most so much above the least, proved by duality.

        For w' on the simplex and u = B w - c, \|B w' - c\|^2 >= \|u\|^2 - 2 (u . B w - min_k (B^T u)_k).

        Example
        -------
        >>> found = Ball(np.eye(2), np.array([0.5, 0.5])).inside(1e-6)
        >>> found.weights.round(3), round(found.least, 6)
        (array([0.5, 0.5]), 0.0)
        """
        B, c = self.matrix, self.centre
        r, size = B.shape
        w = np.full(size, 1.0 / size)
        pull = B.T @ (B @ w - c)
        t = 1.0 - float(pull.min())
        z = t + pull
        for _ in range(4 * MOST_STEPS):
            u = B @ w - c
            pull = B.T @ u
            short = float(pull @ w - pull.min())
            if 2.0 * short <= spare and (t + pull).min() > 0.0:
                break
            mu, D = 0.15 * float(w @ z) / size, w / z
            q = mu / z - w + D * (z - t - pull)
            system = np.empty((r + 1, r + 1))
            system[:r, :r] = np.eye(r) + (B * D) @ B.T
            system[:r, r] = system[r, :r] = B @ D
            system[r, r] = D.sum()
            step = np.linalg.solve(system, np.append(B @ q, q.sum() + w.sum() - 1.0))
            dw = q - D * (B.T @ step[:r] + step[r])
            dz = (mu - w * z - z * dw) / w
            s = min(1.0, TO_THE_WALL * float(min(_wall(w[None], dw[None])[0], _wall(z[None], dz[None])[0])))
            w, z, t = w + s * dw, z + s * dz, t + s * float(step[r])
        u = B @ w - c
        pull = B.T @ u
        least = float(u @ u - 2.0 * (pull @ w - pull.min()))
        return Inside(w, max(t, 1e-9 - float(pull.min())), max(0.0, least))

    def largest(self, functionals: Array, reach: float, start: Inside) -> Array:
        r"""Return for each a the largest a . w over the ball, from above.

        For every h, and every such w, with rho the ball's radius,

            a . w = h . c + h . (B w - c) + (a - B^T h) . w <= h . c + rho \|h\| + max_k (a - B^T h)_k,

        so that each h proves a bound whatever else is said of it: the value of a linear estimate, its noise, and its
        largest bias. The least over h is the maximum sought. A primal-dual interior point finds h, for all functionals
        at once, since their systems differ in K weights alone; the bound is computed from h.

        Parameters
        ----------
        functionals : (F, K) ndarray
            One a each row.
        reach : float
            Positive.
        start : Inside
            With less than reach^2 to spare.

        Returns
        -------
        bounds : (F,) ndarray

        Source: Stark (1992), "Inference in infinite-dimensional inverse problems: discretization and duality";
        Stanley, Patil and Kuusela (2022), "Uncertainty quantification for wide-bin unfolding: one-at-a-time strict
        bounds and prior-optimized confidence intervals".

        Example
        -------
        >>> ball = Ball(np.eye(2), np.array([0.5, 0.5]))
        >>> ball.largest(np.eye(2), 0.1, ball.inside(1e-3)).round(3)
        array([0.571, 0.571])
        """
        low, size = functionals.min(axis=1), np.ptp(functionals, axis=1)
        bounds = functionals.max(axis=1)  # what h = 0 proves
        matter = np.flatnonzero(size > 0)
        r, K = self.matrix.shape
        if not r:
            return bounds
        products = (self.matrix[:, None, :] * self.matrix[None, :, :]).reshape(-1, K).T.copy()
        rho = float(np.sqrt(start.least + reach**2))
        block = max(1, BLOCK_ENTRIES // (K + r**2))
        for at in range(0, matter.size, block):
            some = matter[at : at + block]
            scaled = (functionals[some] - low[some, None]) / size[some, None]
            bounds[some] = low[some] + size[some] * _Block(self, products, rho, scaled, start).proved()
        return bounds

    def foreseen(self, functionals: Array, reach: float) -> tuple[Array, Flags]:
        r"""Return bounds by estimates that were chosen without c, and whether their bias is no more than their noise.

        For an h that does not depend on c, whose noise is standard normal, the bound above with `reach` in the place
        of rho holds with the normal's probability, whatever w is; `largest` chooses h by c, and so holds less often
        where an a . w is near the least or most that it can be.  This h makes the interval of both signs of a shortest,

            2 reach \|h\| + max_k (a - B^T h)_k - min_k (a - B^T h)_k,

        which is long where weights that reports cannot tell apart differ in a . w.

        Returns
        -------
        bounds : (F,) ndarray
        told : (F,) ndarray of bool

        Source: Donoho (1994), "Statistical estimation and optimal recovery", for affine intervals of fixed length.

        Example
        -------
        >>> bounds, told = Ball(np.diag([50.0, 50.0]), np.array([25.0, 25.0])).foreseen(np.eye(2), 1.96)
        >>> bounds.round(3), told
        (array([0.528, 0.528]), array([ True,  True]))
        """
        low, size = functionals.min(axis=1), np.ptp(functionals, axis=1)
        r, K = self.matrix.shape
        if not r:
            return functionals.max(axis=1), size == 0
        # What is largest without its sign is half of a range once a constant is free.
        doubled = np.vstack([np.hstack([self.matrix, -self.matrix]), FREE * np.repeat([1.0, -1.0], K)])
        products = (doubled[:, None, :] * doubled[None, :, :]).reshape(-1, 2 * K).T.copy()
        scaled = (functionals - low[:, None]) / np.where(size > 0, size, 1.0)[:, None] - 0.5
        start = Inside(np.full(2 * K, 0.5 / K), 1.0, 0.0)
        block = _Block(Ball(doubled, np.zeros(r + 1)), products, reach, np.hstack([scaled, -scaled]), start)
        block.proved()
        h = block.by[:, :r]
        rest, noise = scaled - h @ self.matrix, reach * np.sqrt((h**2).sum(axis=1))
        bounds = low + size * (0.5 + h @ self.centre + noise + rest.max(axis=1))
        return np.minimum(bounds, functionals.max(axis=1)), np.ptp(rest, axis=1) / 2 <= noise


class _Step(NamedTuple):
    """Changes of weights, slacks, B w, the ball's multiplier, and t."""

    w: Array
    z: Array
    v: Array
    scale: Array
    t: Array


class _Block:
    r"""An interior point for F functionals with values from 0 to 1.

    With u = B w - c and h = lambda u the conditions are z = t - a + B^T h >= 0, w z = mu, and
    lambda (rho^2 - \|u\|^2) / 2 = mu.
    """

    def __init__(self, ball: Ball, products: Array, rho: float, a: Array, start: Inside) -> None:
        self.B, self.c, self.products, self.rho, self.a = ball.matrix, ball.centre, products, rho, a
        self.best, self.by = np.ones(len(a)), np.zeros((len(a), len(ball.matrix)))
        self.open = np.arange(len(a))
        self.w = np.tile(start.weights, (len(a), 1))
        self.scale = np.ones(len(a))
        self.t = self.scale * start.multiplier + 1.0
        self._moved()
        self.z = self.t[:, None] - a + (self.scale[:, None] * self.u) @ self.B

    def proved(self) -> Array:
        """Return the least bound that was found for each."""
        for _ in range(MOST_STEPS):
            lifted = self._prove()
            if not self.open.size:
                break
            try:
                self._advance(lifted)
            except np.linalg.LinAlgError:
                break  # what is proved so far is proved
        return self.best

    def _moved(self) -> None:
        self.u = self.w @ self.B.T - self.c
        self.gap = 0.5 * (self.rho**2 - (self.u**2).sum(axis=1))

    def _prove(self) -> Array:
        """Take bounds from h, leave out what has arrived, and return B^T h of the others."""
        h = self.scale[:, None] * self.u
        lifted = h @ self.B
        proved = h @ self.c + self.rho * np.sqrt((h**2).sum(axis=1)) + (self.a - lifted).max(axis=1)
        better = proved < self.best[self.open]
        self.best[self.open[better]], self.by[self.open[better]] = proved[better], h[better]
        reached = (self.a * self.w).sum(axis=1)
        going: Flags = self.best[self.open] - reached > RELATIVE
        if not going.all():
            for name in ("w", "z", "u", "scale", "t", "gap", "a", "open"):
                setattr(self, name, getattr(self, name)[going])
        return lifted[going]

    def _advance(self, lifted: Array) -> None:
        """Take one step of Mehrotra's predictor and corrector."""
        (F, K), r = self.w.shape, len(self.B)
        D, norm = self.w / self.z, self.gap + (self.u**2).sum(axis=1)
        system = np.empty((F, r + 1, r + 1))
        system[:, :r, :r] = (D @ self.products).reshape(F, r, r)
        system[:, :r, :r] -= (self.u / (self.scale * norm)[:, None])[:, :, None] * self.u[:, None, :]
        system[:, np.arange(r), np.arange(r)] += (1.0 / self.scale)[:, None]
        system[:, :r, r] = system[:, r, :r] = D @ self.B.T
        system[:, r, r] = D.sum(axis=1)
        inverse = np.linalg.inv(system)
        wrong = D * (self.z - (self.t[:, None] - self.a + lifted))
        excess = self.w.sum(axis=1) - 1.0

        def solved(wz: Array, sg: Array) -> _Step:
            q = wz / self.z + wrong
            right = np.empty((F, r + 1))
            right[:, :r] = q @ self.B.T + self.u * (sg / (self.scale * norm))[:, None]
            right[:, r] = q.sum(axis=1) + excess
            step = (inverse @ right[:, :, None])[:, :, 0]
            dw = q - D * (step[:, r, None] + step[:, :r] @ self.B)
            scale = (sg + (self.u * step[:, :r]).sum(axis=1)) / norm
            return _Step(dw, (wz - self.z * dw) / self.w, dw @ self.B.T, scale, step[:, r])

        wz, sg = self.w * self.z, self.scale * self.gap
        mu = (wz.sum(axis=1) + sg) / (K + 1)
        ahead = solved(-wz, -sg)
        far = np.minimum(1.0, self._room(ahead))
        target = (1.0 - far) ** 2 * np.maximum(1.0 - far, LEAST_CENTRING) * mu
        bent = ahead.scale * (self.u * ahead.v).sum(axis=1) + 0.5 * self.scale * (ahead.v**2).sum(axis=1)
        step = solved(target[:, None] - wz - (far**2)[:, None] * ahead.w * ahead.z, target - sg + far**2 * bent)
        s = np.minimum(1.0, TO_THE_WALL * self._room(step))
        self.w, self.z = self.w + s[:, None] * step.w, self.z + s[:, None] * step.z
        self.scale, self.t = self.scale + s * step.scale, self.t + s * step.t
        self._moved()

    def _room(self, step: _Step) -> Array:
        """How far each can go before it leaves the ball or one of its numbers is zero."""
        square, along = (step.v**2).sum(axis=1), (self.u * step.v).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            root = (np.sqrt(along**2 + 2.0 * square * self.gap) - along) / square
        ball = np.where(square > 0, root, np.inf)
        walls = [_wall(self.w, step.w), _wall(self.z, step.z), _wall(self.scale[:, None], step.scale[:, None]), ball]
        return np.min(walls, axis=0)


def _wall(value: Array, step: Array) -> Array:
    """How far each row can go before one of its numbers is zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(step < 0, -value / step, np.inf).min(axis=1)
