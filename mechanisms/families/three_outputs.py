"""The three-outputs mechanism: Duchi's two reports and a zero, which small values would rather send."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..table.table import TabulatedMechanism
from .bisection import bisect
from .unit_domain import UnitDomain


@dataclass(frozen=True)
class ZeroShare:
    """How often the value zero is reported as zero (P0), as often not (kept apart, for its digits), and C."""

    zero: float
    rest: float
    bound: float

    @classmethod
    def best(cls, excess: float) -> ZeroShare:
        r"""Return the P0 of least worst-case variance, and C = (E + 1) / ((E - 1) (1 - P0 / E)).

        The variance C^2 (1 - P0) + C^2 P0 (1 - 1/E) |x| - x^2 peaks inside [0, 1]; the peak, as a function of
        P0, has the derivative -D^3 + 2 (1 - P0) D^2 / E + (E + 1)^2 P0 (1 + P0 / E) / (2 E^2), up to a
        positive factor, with D = 1 - P0 / E. Privacy allows P0 up to E / (E + 2): beyond it, C would be
        rarer from 0 than from -1.
        """
        ratio = 1 + excess
        top = ratio / (ratio + 2)

        def slope(zero: float) -> float:
            rest = 1 - zero / ratio
            curve = (ratio + 1) ** 2 / (2 * ratio**2) * zero * (1 + zero / ratio)
            return curve + 2 * (1 - zero) * rest**2 / ratio - rest**3

        if slope(0.0) >= 0:  # epsilon <= ln 2
            zero, rest = 0.0, 1.0
        elif slope(top) <= 0:  # epsilon >= ln((3 + sqrt 65) / 2)
            zero, rest = top, 2 / (ratio + 2)
        else:
            zero = bisect(slope, 0.0, top)
            rest = 1 - zero
        return cls(zero, rest, (ratio + 1) / (excess * (1 - zero / ratio)))


def three_outputs(knots: ArrayLike, epsilon: float) -> TabulatedMechanism:
    r"""Return the three-outputs mechanism: report -C, 0 or C.

    On the scaled domain Pr(0 | t) = P0 (1 - |t| + |t| / E), and Pr(C | t) is linear between its values at
    -1, 0 and 1, which are D / (E + 1), (1 - P0) / 2 and D E / (E + 1), with D = 1 - P0 / E.

    Parameters
    ----------
    knots : (n,) array_like
        Input values in the user's units.
    epsilon : float

    Returns
    -------
    table : TabulatedMechanism
        Three outputs, unbiased.

    Raises
    ------
    InputError
        Knots or epsilon that are not usable.

    Source
    ------
    Zhao et al. (2021), three-outputs mechanism; P0 from its stationary point.

    Example
    -------
    >>> from optldp.mechanisms import three_outputs
    >>> three_outputs([-1, 0, 1], 2.0).probabilities.round(4)
    array([[0.787 , 0.1065, 0.1065],
           [0.1065, 0.787 , 0.1065],
           [0.1065, 0.1065, 0.787 ]])
    """
    domain = UnitDomain.of(knots, epsilon)
    share = ZeroShare.best(domain.excess)
    t, ratio = domain.position, domain.ratio
    size, rest = np.abs(t), 1 - np.abs(t)
    far = (1 - share.zero / ratio) / (ratio + 1)
    likely, unlikely = (size * far * f + rest * share.rest / 2 for f in (ratio, 1.0))
    zero = share.zero * (rest + size / ratio)
    masses = np.stack([np.where(t < 0, likely, unlikely), zero, np.where(t < 0, unlikely, likely)], axis=1)
    points = np.array([-share.bound, 0.0, share.bound])
    kept = [0, 1, 2] if share.zero > 0 else [0, 2]
    parameters = {"unbiased": True, "zero_share": share.zero}
    return domain.table(points[kept], points[kept], masses[:, kept], "three-outputs", parameters)


def three_outputs_variance(x: ArrayLike, epsilon: float) -> np.ndarray:
    """Return C^2 (1 - P0) + C^2 P0 (1 - 1/E) |x| - x^2, the variance of a report on x in [-1, 1].

    Example
    -------
    >>> bool(three_outputs_variance(0.0, 2.0) < 1 / math.tanh(1.0) ** 2)
    True
    """
    excess = math.expm1(check_epsilon(epsilon))
    share, size = ZeroShare.best(excess), np.abs(np.asarray(x, dtype=float))
    return share.bound**2 * (share.rest + share.zero * excess / (1 + excess) * size) - size**2
