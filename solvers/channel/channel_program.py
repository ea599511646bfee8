r"""The channel program: a table on given outputs, its columns in a cone, with the least expected or worst loss.

For prior weights p, losses l_iy, a share of the worst and, for unbiased reports, deviations d_iy = z_y - x_i, several
of them where reports are points:

    minimise    (1 - share) sum_i p_i v_i + share max_i v_i,    v_i = sum_y l_iy P_iy
    subject to  sum_y P_iy = 1                                  multiplier lam_i
                sum_y d_iy P_iy = 0, for each d                 multiplier nu_i
                every column P_.y in the cone.

The objective is the largest rho.v over the weights rho = (1 - share) p + share q, q a distribution. So with any such
rho, any lam and nu, and weights w > 0 of sum one, no table is worth less than

    sum_i lam_i + min_y cheapest(rho_i l_iy - lam_i - nu_i d_iy, w),

because w.P_.y add up to one over the outputs: one question to the cone's oracle for each output proves the bound.

Unbiased tables exist exactly when the two columns that report the outermost outputs alone are in the cone: any other
report can be moved to these two at random, unbiased, by who receives it. (z - x_i) <= e^D_ij (z - x_j) at the upper
end says how far out it must be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mechanisms.errors import InputError
from ..arrays import Array, Indices
from ..cone import Cone, cheapest, flow_prices
from .reach import reach

ROUNDING = 1e-13
"""Taken off a bound, as a share of what it is the difference of."""

EVEN = 0.5
"""Share of even weights in w: where a weight is tiny, so is what the bound can do with a little that is lacking."""


def even_weights(weights: Array) -> Array:
    """Return the weights w of a bound by a prior's: none of them tiny."""
    return (1 - EVEN) * weights + EVEN / len(weights)


@dataclass(frozen=True, eq=False)
class ChannelProgram:
    """Cone, prior, losses and further constraints of a table.

    Parameters
    ----------
    cone : Cone
        Of n values.
    weights : (n,) ndarray
        Prior weights, non-negative, summing to 1.
    losses : (n, m) ndarray
        Loss of each of m outputs for each value.
    share : float
        Weight of the worst value's loss in the objective; the rest is the expected loss's. From 0 to 1.
    deviations : (n, m) or (k, n, m) ndarray, optional
        Functions of the report whose means must vanish for every value.

    Raises
    ------
    InputError
        A shape does not fit, or a number is out of range.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.channel import ChannelProgram
    >>> from optldp.solvers.cone import pure
    >>> program = ChannelProgram(pure(2, np.log(3)), np.array([0.5, 0.5]), 1 - np.eye(2))
    >>> program.value(np.array([[0.75, 0.25], [0.25, 0.75]]))  # randomised response
    0.25
    >>> round(program.bound(lam=np.full(2, 0.125)), 12)  # and nothing is better
    0.25
    """

    cone: Cone
    weights: Array
    losses: Array
    share: float = 0.0
    deviations: Array | None = None

    def __post_init__(self) -> None:
        n = self.cone.values
        p, losses = np.array(self.weights, dtype=np.float64), np.array(self.losses, dtype=np.float64)
        # Weights that were read from text sum to 1 but for their last digits.
        if p.shape != (n,) or not (p >= 0).all() or abs(p.sum() - 1) > 1e-9:
            raise InputError(f"weights must be {n} non-negative numbers with sum 1, got {self.weights!r:.60}")
        if losses.ndim != 2 or len(losses) != n or not losses.shape[1] or not np.isfinite(losses).all():
            raise InputError(f"losses must be finite, a row for each of {n} values, got shape {losses.shape}")
        if not 0 <= self.share <= 1:
            raise InputError(f"share of the worst must lie between 0 and 1, got {self.share!r}")
        object.__setattr__(self, "weights", p)
        object.__setattr__(self, "losses", losses)
        if self.deviations is not None:
            d = np.array(self.deviations, dtype=np.float64)
            if d.shape[-2:] != losses.shape or d.ndim not in (2, 3) or not np.isfinite(d).all():
                raise InputError(f"deviations must be finite, of shape {losses.shape} each, got {d.shape}")
            object.__setattr__(self, "deviations", d)

    @classmethod
    def unbiased(cls, cone: Cone, weights: Array, knots: Array, outputs: Array, share: float = 0.0) -> ChannelProgram:
        """Return the program of least variance of unbiased reports.

        Raises
        ------
        InputError
            The outputs do not reach as far out as unbiased reports must.
        """
        x, z = np.asarray(knots, dtype=np.float64), np.asarray(outputs, dtype=np.float64)
        low, high = z.min(), z.max()
        if low > x.min() or high < x.max() or not cone.holds(np.stack([x - low, high - x], axis=1)):
            need = reach(cone, x)
            raise InputError(
                f"unbiased reports must reach beyond {need[0]:.6g} and {need[1]:.6g} to be private, got outputs from "
                f"{low:g} to {high:g}: add outputs farther out, or allow bias"
            )
        deviations = z - x[:, None]
        return cls(cone, weights, deviations**2, share, deviations)

    def value(self, table: Array) -> float:
        """Return what a table (n, m) is worth: its loss, expected and worst in their shares."""
        each = (self.losses * table).sum(1)
        return float((1 - self.share) * self.weights @ each + self.share * each.max())

    def bound(
        self,
        lam: Array,
        nu: Array | None = None,
        worst: Array | None = None,
        pairs: Array | None = None,
        flow: Array | None = None,
    ) -> float:
        """Return what no table is worth less than, from any multipliers; the cone's oracle answers for each output.

        Parameters
        ----------
        lam : (n,) ndarray
        nu : (n,) or (k, n) ndarray
        worst : (n,) ndarray, optional
            Weights of the values whose loss is the worst, of any size; negative ones count as zero.
        pairs, flow : (2, r), (r, m) ndarray, optional
            Multipliers on the limits of some pairs of values, which then answer in place of the oracle: few limits
            allow more than all, so that what they prove holds.
        """
        n = self.cone.values
        q = np.maximum(np.zeros(n) if worst is None else worst, 0.0)
        q = q / q.sum() if q.sum() > 0 else np.full(n, 1 / n)
        rho = (1 - self.share) * self.weights + self.share * q
        costs = rho[:, None] * self.losses - np.asarray(lam)[:, None]
        if self.deviations is not None and nu is not None:
            each = np.asarray(nu)[..., None] * self.deviations
            costs = costs - each.reshape(-1, *costs.shape).sum(0)
        weights = even_weights(self.weights)
        if pairs is None or flow is None:
            prices, _ = cheapest(self.cone, costs, weights)
        else:
            prices = flow_prices(_on_pairs(self.cone, *pairs.astype(np.intp)), costs, weights, flow)
        margin = ROUNDING * (np.abs(lam).sum() + abs(prices.min()))
        return float(np.sum(lam) + prices.min() - margin)


def _on_pairs(cone: Cone, below: Indices, above: Indices) -> Cone:
    """The cone by what it promises of some pairs of values alone, a node each."""
    n = cone.values
    return Cone(cone.closed, np.arange(n), n, below, above, cone.closed[below, above])
