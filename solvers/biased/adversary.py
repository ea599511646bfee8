"""The adversary: three priors of a box, worst for variance, for bias upwards and for bias downwards; their equations.

With values f = (v, b, -b) and totals beta = (1, r, s), N R^2 of a mechanism over a box low <= q <= high is the least of

    minimise    theta_0 + high.a_0 - low.l_0 + N B^2
    subject to  theta_k + a_ki - l_ki = f_ki                        multiplier q_ki, k = 0, 1, 2
                theta_k + high.a_k - low.l_k + sigma_k = B          multiplier beta_k, k = 1, 2;     a, l, sigma >= 0,

and stationarity makes q_0 a prior in the box, q_k a prior in it times beta_k, and 2 N B = beta_1 + beta_2.  Products
a (beta high - q), l (q - beta low) and sigma beta tend to zero.  With kappa = a / (beta high - q), iota = l / (q - beta
low), D = kappa + iota and e = kappa high + iota low, a move that aims at given products has, for each k and i,

    D dq = df + lack - aim - d theta + e d beta,

diagonal: what is left of the adversary in the mechanism's own Newton equations is a diagonal for the variances, one for
the means (nu = q_2 - q_1, so the two D add up like resistors in parallel), and a border of five numbers, d theta and
d beta.

Source: linear programming duality; primal-dual steps as in `unbiased.correctors`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array
from ..robust.sets import BoxSet
from ..unbiased.correctors import Direction, Summed
from .box import analytic_centre, member
from .error_program import Multipliers

BORDER = 5
"""Numbers of the border: d theta of the three priors, d beta of the two that count for the bias."""

KEPT = 0.5
"""Share of a lower bound's multiplier that may go where refined outputs change the variances."""


@dataclass(frozen=True, eq=False)
class Adversary:
    """A strictly interior point of it.

    Attributes
    ----------
    low, high : (n,) ndarray
        Of the box.
    users : float
    priors : (3, n) ndarray
        q, the last two times their totals.
    totals : (3,) ndarray
        beta; the first is one.
    over, under : (3, n) ndarray
        a and l.
    levels : (3,) ndarray
        theta.
    room : (2,) ndarray
        sigma.
    bias : float
        B.
    """

    low: Array
    high: Array
    users: float
    priors: Array
    totals: Array
    over: Array
    under: Array
    levels: Array
    room: Array
    bias: float

    @property
    def nu(self) -> Array:
        return self.priors[2] - self.priors[1]

    @property
    def slacks(self) -> tuple[Array, Array]:
        """beta high - q and q - beta low, (3, n) each."""
        totals = self.totals[:, None]
        return totals * self.high - self.priors, self.priors - totals * self.low

    @property
    def pairs(self) -> list[tuple[Array, Array]]:
        """The values and slacks whose products tend to zero."""
        above, below = self.slacks
        return [(self.over, above), (self.under, below), (self.room, self.totals[1:])]

    @property
    def mismatch(self) -> float:
        """What 2 N B = beta_1 + beta_2 lacks, as a part of the gap."""
        return self.users * (self.bias - self.totals[1:].sum() / (2 * self.users)) ** 2

    @property
    def penalty(self) -> float:
        """What the multipliers of the means cost: (beta_1 + beta_2)^2 / 4N."""
        return float(self.totals[1:].sum() ** 2 / (4 * self.users))

    def multipliers(self, box: BoxSet, lam: Array) -> Multipliers:
        """Return what its priors, moved into the box, prove together with lambda."""
        worst, up, down = (member(box, q / total) for q, total in zip(self.priors, self.totals, strict=True))
        return Multipliers(worst, up, down, float(self.totals[1]), float(self.totals[2]), lam)

    @classmethod
    def start(cls, box: BoxSet, users: float, variances: Array, weight: float) -> Adversary:
        """Return one for an unbiased mechanism, all its priors at the analytic centre of the box.

        There m / (high - q) - m / (q - low) is the same for all, so that the equations of the bias are met by any m.

        Parameters
        ----------
        weight : float
            beta_1 = beta_2 > 0.
        """
        n, centre = len(variances), analytic_centre(box)
        above, below = 1 / (box.high - centre), 1 / (centre - box.low)
        m = weight * weight / users / (2 * n + 1)
        level = float(centre @ variances)
        under = np.maximum(m * below, m * above - (variances - level))
        tie = m / weight * float((above - below).mean())
        return cls(
            box.low,
            box.high,
            users,
            priors=np.stack([centre, weight * centre, weight * centre]),
            totals=np.array([1.0, weight, weight]),
            over=np.stack([variances - level + under, m / weight * above, m / weight * above]),
            under=np.stack([under, m / weight * below, m / weight * below]),
            levels=np.array([level, -tie, -tie]),
            room=np.full(2, m / weight),
            bias=weight / users,
        )

    def mended(self, variances: Array) -> Adversary:
        """Return it for variances that have changed: the lower bounds' multipliers take that up, down to a share."""
        lack = self.levels[0] + self.over[0] - self.under[0] - variances
        shift = max(0.0, float((-lack - KEPT * self.under[0]).max()))
        under, levels = self.under.copy(), self.levels.copy()
        under[0] += lack + shift
        levels[0] += shift
        return replace(self, under=under, levels=levels)

    def primal_step(self, move: AdversaryMove, length: float) -> Adversary:
        return replace(
            self,
            over=self.over + length * move.over,
            under=self.under + length * move.under,
            levels=self.levels + length * move.levels,
            room=self.room + length * move.room,
            bias=self.bias + length * move.bias,
        )

    def dual_step(self, move: AdversaryMove, length: float) -> Adversary:
        return replace(self, priors=self.priors + length * move.priors, totals=self.totals + length * move.totals)


@dataclass(frozen=True, eq=False)
class AdversaryMove(Summed):
    """A direction, part by part as in `Adversary`."""

    priors: Array
    totals: Array
    over: Array
    under: Array
    levels: Array
    room: Array
    bias: float

    def changes(self, adversary: Adversary) -> tuple[list[Array], list[Array]]:
        """Return the changes of values and slacks in the order of `pairs`."""
        totals = self.totals[:, None]
        above, below = totals * adversary.high - self.priors, self.priors - totals * adversary.low
        return [self.over, self.under, self.room], [above, below, self.totals[1:]]


class AdversarySystem:
    """What the adversary adds to a mechanism's Newton equations, at one point.

    With dw and dnu the changes of the worst prior and of nu, and y those of the border, the variances must change by
    known.v + of_worst dw + y_0 and the biases by known.b - of_nu dnu + border_b y.

    Attributes
    ----------
    of_worst, of_nu : (n,) ndarray
        Positive.
    border_b : (n, 5) ndarray
    """

    def __init__(self, adversary: Adversary, variances: Array, biases: Array) -> None:
        self.it = it = adversary
        above, below = it.slacks
        self.kappa, self.iota = it.over / above, it.under / below
        self.D = self.kappa + self.iota
        self.e = self.kappa * it.high + self.iota * it.low
        values = np.stack([variances, biases, -biases])
        self.lack = values - it.levels[:, None] - it.over + it.under
        self.lack_total = it.totals - it.priors.sum(1)
        self.lack_room = it.bias - (it.levels + it.over @ it.high - it.under @ it.low)[1:] - it.room
        self.lack_bias = float(it.totals[1:].sum()) - 2 * it.users * it.bias
        self.both = self.D[1] + self.D[2]
        self.share = np.stack([self.D[2], self.D[1]]) / self.both
        self.of_worst, self.of_nu = self.D[0], self.D[1] * self.share[0]
        up, down = self.share
        self.border_b = np.stack([np.zeros_like(up), up, -down, -up * self.e[1], down * self.e[2]], axis=1)

    def known(self, targets: list[Array], *, newton: bool) -> Known:
        """Return the right sides for products' targets in the order of `pairs`; `newton` removes residuals, too."""
        it, removed = self.it, float(newton)
        above, below = it.slacks
        over, under, room = targets[0] / above, targets[1] / below, targets[2] / it.totals[1:]
        bias = removed * self.lack_bias
        return Known(
            over=over,
            under=under,
            room=room,
            aim=removed * self.lack - over + under,
            room_aim=removed * self.lack_room + bias / (2 * it.users) - room,
            total=removed * self.lack_total,
            bias=bias,
            share=self.share,
        )

    def border_rows(self, known: Known) -> tuple[Array, Array, Array, Array]:
        """Return C_w, C_nu (5, n), Y (5, 5) and f (5,) of the border's equations, C_w dw + C_nu dnu + Y y = f."""
        it, n = self.it, len(self.both)
        C_w, C_nu, Y, f = np.zeros((BORDER, n)), np.zeros((BORDER, n)), np.zeros((BORDER, BORDER)), np.zeros(BORDER)
        C_w[0], f[0] = 1.0, known.total[0]
        # dq_k = (of_y y + of_nu dnu + sum of both aims) / (D_1 + D_2), k = 1, 2
        of_y = np.stack([np.zeros(n), -np.ones(n), -np.ones(n), self.e[1], self.e[2]]) / self.both
        aim = known.aim[1:].sum(0) / self.both
        square = (self.kappa * it.high**2 + self.iota * it.low**2)[1:].sum(1)
        constant = -known.over[1:] @ it.high + known.under[1:] @ it.low
        for k, of_nu in ((1, -self.share[0]), (2, self.share[1])):
            C_nu[k], Y[k], f[k] = of_nu, of_y.sum(1), known.total[k] - aim.sum()
            Y[k, 2 + k] -= 1
            e = self.e[k]
            row = 2 + k
            C_nu[row], Y[row] = e * of_nu, of_y @ e
            Y[row, k] += 1
            Y[row, row] -= square[k - 1] + it.room[k - 1] / it.totals[k]
            Y[row, 3:] -= 1 / (2 * it.users)
            f[row] = constant[k - 1] + known.room_aim[k - 1] - e @ aim
        return C_w, C_nu, Y, f

    def move(self, known: Known, dw: Array, dnu: Array, y: Array) -> AdversaryMove:
        """Return the adversary's part of the direction in which the worst prior, nu and the border change like this."""
        it = self.it
        levels, totals = y[:3], np.array([0.0, y[3], y[4]])
        aims = (known.aim - levels[:, None] + self.e * totals[:, None])[1:].sum(0) / self.both
        priors = np.stack([dw, aims - self.share[0] * dnu, aims + self.share[1] * dnu])
        over = known.over - self.kappa * (totals[:, None] * it.high - priors)
        under = known.under - self.iota * (priors - totals[:, None] * it.low)
        room = known.room - it.room / it.totals[1:] * totals[1:]
        return AdversaryMove(
            priors, totals, over, under, levels, room, (float(y[3:].sum()) + known.bias) / (2 * it.users)
        )


@dataclass(frozen=True, eq=False)
class Known:
    """Right sides of the adversary's equations: targets over slacks, aims of D dq, totals, and shares of the two D."""

    over: Array
    under: Array
    room: Array
    aim: Array
    room_aim: Array
    total: Array
    bias: float
    share: Array

    @property
    def v(self) -> Array:
        """The change of the variances that goes with dw = 0 and no border."""
        return -self.aim[0]

    @property
    def b(self) -> Array:
        """That of the biases with dnu = 0 and no border."""
        return self.share[1] * self.aim[2] - self.share[0] * self.aim[1]


@dataclass(frozen=True, eq=False)
class Move(Direction):
    """A direction: what else moves, the adversary's part, changes of values and slacks in the order of `pairs`."""

    parts: tuple[Array, ...]
    adversary: AdversaryMove
