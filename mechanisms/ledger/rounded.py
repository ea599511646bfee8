"""Budgets that are sums of fractions, as doubles that do not say less."""

import math
from fractions import Fraction


def at_least(exact: Fraction) -> float:
    """Return the smallest double that is not below.

    Example
    -------
    >>> at_least(Fraction(1, 10)) == 0.1, at_least(Fraction(0.1) + Fraction(0.2))
    (True, 0.30000000000000004)
    """
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)
