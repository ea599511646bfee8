r"""The levels program: unbiased tables for several budgets on the same outputs, bounded against each other, as data.

For knots x_1 < ... < x_n with weights p, outputs y, levels l = 1, ..., t with ratios E_l = e^epsilon_l and shares s_l
of the users, and a ratio F = e^L of any two levels at the same knot:

    minimise    sum_l s_l sum_i p_i sum_y (y - x_i)^2 P_l(y | x_i)
    subject to  sum_y P_l(y | x_i) = 1                      multiplier lambda_li
                sum_y (y - x_i) P_l(y | x_i) = 0            multiplier nu_li
                a_l(y) <= P_l(y | x_i) <= E_l a_l(y)        multipliers z_1, z_2 >= 0
                u_i(y) <= P_l(y | x_i) <= F u_i(y)          multipliers z_3, z_4 >= 0.

The floors a and u stand for all pairs of knots and all pairs of levels, without relaxing any; F = inf leaves the last
line out, and the levels then have nothing to do with each other.

**The bound.**  For any lambda and nu and any z >= 0 the Lagrangian has the coefficients

    r_li(y) = s_l p_i (y - x_i)^2 - lambda_li - nu_li (y - x_i) - z_1 + z_2 - z_3 + z_4     of P_l(y | x_i),
    sum_i (z_1 - E_l z_2)  of a_l(y),      sum_l (z_3 - F z_4)  of u_i(y).

Over the outputs P_l( | x_i) sums to one, a_l and u_i, which lie below it, to at most one.  So the cost is at least

    sum lambda + sum_li min(0, min_y r_li(y)) + the same of the two others:

a bound on every such family of tables on these outputs, whoever found the multipliers.  Source: linear programming
duality.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...mechanisms.errors import InputError
from ..arrays import Array
from ..unbiased.unbiased_program import UnbiasedProgram

TERM_ROUNDINGS = 16
"""Roundings of one coefficient of the Lagrangian, each by half an epsilon; sums of k terms make k more."""

LEAST_ROOM = 1e-3
"""Share of the least reach by which the outputs must exceed it: at the very limit there is one table alone."""


MOST_ROWS, MOST_NUMBERS = 4096, 2**26
"""Levels times knots, and their product with levels and outputs: a step's two matrices then take 0.5 and 1 GiB."""


@dataclass(frozen=True, eq=False)
class LevelsProgram:
    """Knots, weights, levels and outputs.

    Parameters
    ----------
    knots : (n,) ndarray
        Increasing inputs, n >= 2, scaled to [-1, 1].
    weights : (n,) ndarray
        Prior weights, non-negative, summing to 1.
    ratios : (t,) ndarray
        E_l = e^epsilon_l > 1, increasing.
    shares : (t,) ndarray
        s_l > 0, summing to 1.
    between : float
        F = e^L >= 1, the largest ratio of two levels at one knot and output; infinite for none.
    outputs : (m,) ndarray
        Increasing, reaching beyond `least_reach` of the smallest ratio on both sides.

    Raises
    ------
    InputError
        A shape does not fit, a number is out of range, there are too many levels and knots for a step's memory, or the
        outputs do not reach far enough.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.levels import LevelsProgram
    >>> even = np.array([0.5, 0.5])
    >>> program = LevelsProgram(np.array([-1.0, 1.0]), even, np.exp([0.5, 1.0]), even, np.e, np.linspace(-7, 7, 29))
    >>> program.outputs.size
    29
    """

    knots: Array
    weights: Array
    ratios: Array
    shares: Array
    between: float
    outputs: Array

    def __post_init__(self) -> None:
        for name in ("ratios", "shares", "outputs"):
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=np.float64))
        if self.ratios.ndim != 1 or not self.ratios.size or not (np.diff(self.ratios) > 0).all():
            raise InputError(f"ratios of levels must increase, got {self.ratios!r}")
        checked, _ = (UnbiasedProgram(self.knots, self.weights, ratio) for ratio in self.ratios[[0, -1]].tolist())
        for name in ("knots", "weights"):
            object.__setattr__(self, name, getattr(checked, name))
        # Shares that were read from text sum to 1 but for their last digit.
        if self.shares.shape != self.ratios.shape or not (self.shares > 0).all() or abs(self.shares.sum() - 1) > 1e-9:
            raise InputError(f"shares must be positive, one for each level, and sum to 1, got {self.shares!r}")
        if not self.between >= 1:
            raise InputError(f"the ratio between levels must be at least 1, got {self.between!r}")
        if self.outputs.ndim != 1 or not (np.diff(self.outputs) > 0).all() or not np.isfinite(self.outputs).all():
            raise InputError("outputs must be finite and increase: sort them")
        rows = self.ratios.size * self.knots.size
        if rows > MOST_ROWS or rows * self.ratios.size * self.outputs.size > MOST_NUMBERS:
            raise InputError(
                f"levels, knots and outputs must be fewer, got {self.ratios.size}, {self.knots.size} and "
                f"{self.outputs.size}: levels times knots may be {MOST_ROWS}, times levels and outputs {MOST_NUMBERS}"
            )
        low, high = least_reach(float(self.ratios[0]))
        if not (self.outputs.size and self.outputs[0] <= low and self.outputs[-1] >= high):
            raise InputError(
                f"outputs must reach from {low:.6g} to {high:.6g} on the scale of the knots, got "
                f"{self.outputs.min(initial=math.inf):.6g} to {self.outputs.max(initial=-math.inf):.6g}: widen them"
            )

    @cached_property
    def offsets(self) -> Array:
        """y - x_i, (n, m)."""
        return self.outputs - self.knots[:, None]

    @cached_property
    def costs(self) -> Array:
        """s_l p_i (y - x_i)^2, (t, n, m)."""
        return self.shares[:, None, None] * (self.weights[:, None] * self.offsets**2)

    @property
    def bounded(self) -> bool:
        """Whether the levels are tied to each other."""
        return math.isfinite(self.between)

    def variances(self, probabilities: Array) -> Array:
        """Return the variances (t, n) at the knots of unbiased tables (t, n, m)."""
        return (self.offsets**2 * probabilities).sum(2)

    def objective(self, probabilities: Array) -> float:
        """Return the mean over levels and knots of the variances."""
        return float(self.shares @ self.variances(probabilities) @ self.weights)

    def bound(self, lam: Array, nu: Array, of_ratios: Array) -> float:
        """Return a lower bound on the objective, certified for any multipliers: see the module's text.

        Parameters
        ----------
        lam, nu : (t, n) ndarray
            Of normalisation and unbiasedness.
        of_ratios : (4, t, n, m) ndarray
            z_1 to z_4; negative ones count as zero, and the last two where levels are not tied.

        Example
        -------
        >>> import math
        >>> import numpy as np
        >>> from optldp.solvers.levels import LevelsProgram
        >>> ends, even = np.array([-1.0, 1.0]), np.array([0.5, 0.5])
        >>> program = LevelsProgram(ends, even, np.array([3.0]), np.ones(1), math.inf, np.array([-2.5, 2.5]))
        >>> none = np.zeros((1, 2))
        >>> program.bound(none, none, np.zeros((4, 1, 2, 2)))
        0.0
        """
        half = np.finfo(np.float64).eps / 2
        z1, z2, z3, z4 = np.maximum(of_ratios, 0) if self.bounded else _untied(np.maximum(of_ratios, 0))
        terms = lam[:, :, None], nu[:, :, None] * self.offsets
        size = self.costs + abs(terms[0]) + abs(terms[1]) + z1 + z2 + z3 + z4
        reduced = self.costs - terms[0] - terms[1] - z1 + z2 - z3 + z4 - TERM_ROUNDINGS * half * size
        found = [reduced, _floors(z1, self.ratios[:, None, None] * z2, 1)]
        if self.bounded:
            found.append(_floors(z3, self.between * z4, 0))
        lost = sum(float(np.minimum(each.min(axis=-1), 0).sum()) for each in found)
        total = float(lam.sum()) + lost
        return float(total - (TERM_ROUNDINGS + 2 * lam.size) * half * (float(abs(lam).sum()) - lost))


def least_reach(ratio: float, low: float = -1.0, high: float = 1.0) -> tuple[float, float]:
    """Return how far outputs must reach, at least, for an unbiased mechanism of this ratio, with a little room.

    The mean distance of a report from the lowest output y_1 is at most E times as large at the highest knot as at the
    lowest: high - y_1 <= E (low - y_1), and likewise from the highest output.  Two outputs there suffice.  Of several
    levels the smallest ratio decides: its table would do for all of them.

    Example
    -------
    >>> [round(end, 3) for end in least_reach(3.0)]
    [-2.001, 2.001]
    """
    beyond = (high - low) / (ratio - 1) * (1 + LEAST_ROOM)
    return low - beyond, high + beyond


def _untied(multipliers: Array) -> Array:
    """Those of levels that have nothing to do with each other."""
    return np.concatenate([multipliers[:2], np.zeros_like(multipliers[:2])])


def _floors(lower: Array, upper: Array, axis: int) -> Array:
    """Return the coefficients of floors, less what rounding may have added to them."""
    many = lower.shape[axis]
    rounding = (TERM_ROUNDINGS + 2 * many) * np.finfo(np.float64).eps / 2
    return (lower - upper).sum(axis) - rounding * (lower + upper).sum(axis)
