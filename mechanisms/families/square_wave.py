"""The square wave: a window of fixed width around the value, made to estimate whole distributions."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..table.table import TabulatedMechanism
from .unit_domain import UnitDomain
from .window_edges import window_masses

SERIES_BELOW = 1.0
"""Below this budget the closed form of the half-width loses digits to cancellation."""

SERIES_TERMS = 20
"""1 / 20! is 4e-19: enough up to a budget of one."""


def square_wave(knots: ArrayLike, epsilon: float) -> TabulatedMechanism:
    r"""Return the square wave: density q E within b of the value, q elsewhere in [-b, 1 + b].

    The value is scaled to [0, 1] and q = 1 / (2 b E + 1). Reports are scaled back to the user's units and not
    decoded: their mean q / 2 + q b + 2 b q (E - 1) x is affine in the value but not the value itself.

    Parameters
    ----------
    knots : (n,) array_like
        Input values in the user's units.
    epsilon : float

    Returns
    -------
    table : TabulatedMechanism
        Its outputs are intervals; reports are not decoded, so that their mean is not the value.

    Raises
    ------
    InputError
        Knots or epsilon that are not usable.

    Source
    ------
    Li et al. (2020), square wave mechanism.

    Example
    -------
    >>> from optldp.mechanisms import square_wave
    >>> square_wave([0, 1], 1.0).mean([0.0, 1.0]).round(4)
    array([0.3161, 0.6839])
    """
    domain = UnitDomain.of(knots, epsilon)
    half_width = square_wave_half_width(epsilon)
    # [-1, 1] is twice as wide as [0, 1]
    return domain.table(*window_masses(domain, 1.0, 2 * half_width), "square-wave", {"half_width": half_width})


def square_wave_half_width(epsilon: float) -> float:
    r"""Return b = (epsilon E - E + 1) / (2 E (E - 1 - epsilon)), which maximises a bound on information.

    Example
    -------
    >>> round(square_wave_half_width(1.0), 4), round(square_wave_half_width(1e-6), 4)
    (0.2561, 0.5)
    """
    epsilon = check_epsilon(epsilon)
    if epsilon < SERIES_BELOW:
        terms = [epsilon ** (k - 2) / math.factorial(k) for k in range(2, SERIES_TERMS)]
        return sum((k + 1) * term for k, term in enumerate(terms)) / (2 * math.exp(epsilon) * sum(terms))
    ratio = math.exp(epsilon)
    return (epsilon * ratio - ratio + 1) / (2 * ratio * (ratio - 1 - epsilon))


def square_wave_variance(x: ArrayLike, epsilon: float) -> np.ndarray:
    """Return the variance of a report on x in [-1, 1], about its own mean, in the units of x.

    On [0, 1]: q ((1 + b)^3 + b^3) / 3 + (p - q) (2 b x^2 + 2 b^3 / 3) - mean^2, with p = q E.

    Example
    -------
    >>> square_wave_variance(0.0, 1.0).round(4).item()
    0.514
    """
    b, place = square_wave_half_width(epsilon), (np.asarray(x, dtype=float) + 1) / 2
    low = 1 / (2 * b * math.exp(epsilon) + 1)
    more = low * math.expm1(epsilon)
    mean = low / 2 + low * b + 2 * b * more * place
    second = low * ((1 + b) ** 3 + b**3) / 3 + more * (2 * b * place**2 + 2 * b**3 / 3)
    return 4 * (second - mean**2)
