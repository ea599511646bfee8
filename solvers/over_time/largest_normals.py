"""Sums of the largest of some normal numbers, which say how well the best of random directions agree."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import betainc, ndtr


@lru_cache(maxsize=16)
def largest_sums(many: int) -> np.ndarray:
    """Return the expected sum (K - 1,) of the m largest of K normal numbers, for m from 1 to K - 1.

    A number is among the m largest if at most m - 1 of the others lie above it, a binomial event given the number.

    Example
    -------
    >>> largest_sums(2).round(4), largest_sums(64).round(3)[[0, 31]]
    (array([0.5642]), array([ 2.344, 25.222]))
    """
    # A normal number lies beyond with probability 1e-15, which no double sum would show.
    grid = np.linspace(-8.0, 8.0, 4001)
    density = np.exp(-(grid**2) / 2) / math.sqrt(2 * math.pi) * grid * (grid[1] - grid[0])
    # The binomial of scipy.stats is the same function, at the price of a second for its import.
    above = np.arange(many - 1)[:, None]
    among = betainc(many - 1 - above, above + 1, ndtr(grid))
    found = many * (among * density).sum(axis=1)
    found.setflags(write=False)
    return found
