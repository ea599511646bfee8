"""The piecewise mechanism (PM): a window around the value, on a bounded output range."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..table.table import TabulatedMechanism
from .ptt import ptt_variance, window_table
from .unit_domain import UnitDomain


def piecewise(knots: ArrayLike, epsilon: float) -> TabulatedMechanism:
    r"""Return the piecewise mechanism: the type I window with eta = 1 + e^(epsilon / 2).

    With s = e^(epsilon / 2) the centre is s t / (s - 1), the half-width 1 / (s - 1), the range
    +-(s + 1) / (s - 1).

    Parameters
    ----------
    knots : (n,) array_like
        Input values in the user's units.
    epsilon : float

    Returns
    -------
    table : TabulatedMechanism
        Unbiased, its outputs intervals.

    Raises
    ------
    InputError
        Knots or epsilon that are not usable.

    Source
    ------
    Wang et al. (2019), algorithm 2.

    Example
    -------
    >>> from optldp.mechanisms import piecewise
    >>> piecewise([-1, 0, 1], 1.0).var([1.0]).round(4)
    array([5.2236])
    """
    domain = UnitDomain.of(knots, epsilon)
    return window_table(domain, piecewise_eta(domain.inner), "piecewise", {"unbiased": True})


def piecewise_eta(epsilon: float) -> float:
    """Return 1 + e^(epsilon / 2)."""
    return 1 + math.exp(epsilon / 2)


def piecewise_variance(x: ArrayLike, epsilon: float) -> np.ndarray:
    """Return x^2 / (s - 1) + (s + 3) / (3 (s - 1)^2), the variance of a report on x in [-1, 1].

    Example
    -------
    >>> piecewise_variance(1.0, 2.0).round(4).item()
    1.2276
    """
    return ptt_variance(x, epsilon, piecewise_eta(check_epsilon(epsilon)))


def pm_sub(knots: ArrayLike, epsilon: float) -> TabulatedMechanism:
    r"""Return PM-SUB: the type I window with eta = 1 + e^(epsilon / 3).

    Parameters
    ----------
    knots : (n,) array_like
        Input values in the user's units.
    epsilon : float

    Returns
    -------
    table : TabulatedMechanism
        Unbiased, its outputs intervals.

    Raises
    ------
    InputError
        Knots or epsilon that are not usable.

    Source
    ------
    Zhao et al. (2021), PM-SUB.

    Example
    -------
    >>> from optldp.mechanisms import pm_sub
    >>> pm_sub([-1, 0, 1], 4.0).var([-1.0, 0.0, 1.0]).round(4)
    array([0.1665, 0.0771, 0.1665])
    """
    domain = UnitDomain.of(knots, epsilon)
    return window_table(domain, pm_sub_eta(domain.inner), "pm-sub", {"unbiased": True})


def pm_sub_eta(epsilon: float) -> float:
    """Return 1 + e^(epsilon / 3)."""
    return 1 + math.exp(epsilon / 3)


def pm_sub_variance(x: ArrayLike, epsilon: float) -> np.ndarray:
    """Return the variance of a report on x in [-1, 1]; see `ptt_variance`.

    Example
    -------
    >>> bool(pm_sub_variance(1.0, 4.0) > ptt_variance(1.0, 4.0, 4.0918))
    True
    """
    return ptt_variance(x, epsilon, pm_sub_eta(check_epsilon(epsilon)))
