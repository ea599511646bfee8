"""What a report of the direction that agrees with a history costs, beside the trace of a root that all ways pay."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.stats import binom, norm

DIRECTIONS = 64
"""K, of which a user's device draws one; more gain two percent."""


@lru_cache(maxsize=16)
def directions_factor(epsilon: float, directions: int = DIRECTIONS) -> float:
    """Return F_K(epsilon): the variance of a report of directions is F_K (tr S^(1/2))^2 / T.

    Of K Gaussian directions the m that agree most with a scaled history are e^epsilon times as likely as the others.
    The mean agreement of the one that is sent is b = (e^epsilon - 1) m mu_m / (m e^epsilon + K - m), with mu_m the mean
    of the m largest of K normal numbers, and F_K = 1 / b^2 at the best m.

    Source: over-time finding, section 2.

    Example
    -------
    >>> [round(directions_factor(epsilon), 2) for epsilon in (1.0, 2.0, 4.0)]
    [6.5, 1.67, 0.46]
    """
    grid = np.linspace(-8.0, 8.0, 4001)
    density = norm.pdf(grid) * grid * (grid[1] - grid[0])
    many = np.arange(1, directions)
    # A number is among the m largest if at most m - 1 of the others lie above it.
    among = binom.cdf((many - 1)[:, None], directions - 1, norm.sf(grid))
    sums = directions * (among * density).sum(axis=1)
    agreement = math.expm1(epsilon) * sums / (many * math.exp(epsilon) + directions - many)
    return float(1 / agreement.max() ** 2)
