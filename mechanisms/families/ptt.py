"""Piecewise transformation technique (PTT) type I: a window of constant density, as wide as is best."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..errors import InputError
from ..table.table import TabulatedMechanism
from .bisection import bisect
from .unit_domain import UnitDomain
from .window_edges import window_masses


def ptt(
    knots: ArrayLike, epsilon: float, *, eta: float | None = None, second_moment: float = 1.0
) -> TabulatedMechanism:
    r"""Return PTT type I: density q E within a of k t and q elsewhere in [-B, B], B = k + a = eta a.

    Unbiasedness and normalisation leave eta free: k = (E - 1 + eta) / (E - 1), a = k / (eta - 1).

    Parameters
    ----------
    knots : (n,) array_like
        Input values in the user's units.
    epsilon : float
    eta : float, optional
        Above 1. By default the one of least expected variance for the second moment.
    second_moment : float
        Mean of t^2 over the data, t being the value scaled to [-1, 1]. The default, one, gives the least worst case
        over the domain.

    Returns
    -------
    table : TabulatedMechanism
        Unbiased, its outputs intervals; `provenance.parameters` has eta.

    Raises
    ------
    InputError
        Knots, epsilon, eta or second moment that are not usable.

    Source
    ------
    OPTT (Ma et al.), with k and a as corrected there by normalisation; the optimum over eta is exact.

    Example
    -------
    >>> from optldp.mechanisms import ptt
    >>> round(ptt([-1, 1], 2.0).provenance.parameters["eta"], 4)
    2.6906
    """
    domain = UnitDomain.of(knots, epsilon)
    best = optimal_eta(epsilon, second_moment) if eta is None else check_eta(eta)
    parameters = {"unbiased": True, "eta": best} | ({"second_moment": second_moment} if eta is None else {})
    return window_table(domain, best, "ptt", parameters)


def window_table(domain: UnitDomain, eta: float, method: str, parameters: dict) -> TabulatedMechanism:
    """Return the type I table of any eta; PM and PM-SUB are two of them."""
    stretch, half_width = window_shape(domain.excess, eta, kind=1)
    return domain.table(*window_masses(domain, stretch, half_width), method, parameters)


def window_shape(excess: float, eta: float, kind: int) -> tuple[float, float]:
    """Return k = 1 + kind eta / (E - 1), which makes the mean right, and a = k / (eta - 1)."""
    stretch = 1 + kind * eta / excess
    return stretch, stretch / (eta - 1)


KINDS = {"ptt": 1, "ptt2": 2}
"""Window and tent, by the method that a table names."""


def shape_told(method: str, epsilon: float, parameters: Mapping[str, Any]) -> dict[str, float]:
    """Return k and a of a PTT's table beside its eta, for a domain scaled to [-1, 1]; nothing for another method's.

    They follow from the budget and eta, so that tables made before they were told tell them too.

    Parameters
    ----------
    method : str
        Which the table's provenance names.
    epsilon : float
    parameters : mapping
        Of the provenance; a file may say anything.

    Example
    -------
    >>> from optldp.mechanisms.families.ptt import shape_told
    >>> {name: round(value, 4) for name, value in shape_told("ptt", 2.0, {"eta": 1.5}).items()}
    {'k': 1.2348, 'a': 2.4696}
    """
    eta = parameters.get("eta")
    if method not in KINDS or not (isinstance(eta, int | float) and 1 < eta < math.inf):
        return {}
    stretch, half_width = window_shape(math.expm1(epsilon), float(eta), KINDS[method])
    return {"k": stretch, "a": half_width}


def check_eta(eta: float) -> float:
    """Return eta as a float, or raise InputError unless it is above one and finite."""
    if not (isinstance(eta, int | float) and 1 < eta < math.inf):
        raise InputError(f"eta must be a finite number above 1, got {eta!r}")
    return float(eta)


def optimal_eta(epsilon: float, second_moment: float = 1.0, *, kind: int = 1) -> float:
    r"""Return the eta of least expected variance for data of this second moment.

    With e = E - 1 and j the kind, the variance is j eta m2 / e + N / (3 j e^2 (eta - 1)^2),
    N = (e + j eta) (j^2 eta^3 + e). Up to a positive factor its derivative is
    3 j^2 e m2 (eta - 1)^3 + N' (eta - 1) - 2 N: negative near 1, falling at first and then rising for good,
    so it has a single root.

    Parameters
    ----------
    epsilon : float
    second_moment : float
        In [0, 1]: mean of the squared value, scaled to [-1, 1]; 1 for the worst case.
    kind : {1, 2}
        Window (type I) or tent (type II).

    Raises
    ------
    InputError
        A budget, second moment or kind that is not usable.

    Example
    -------
    >>> [round(optimal_eta(epsilon), 4) for epsilon in (0.5, 1, 2, 4)]
    [2.1337, 2.2888, 2.6906, 4.0918]
    """
    excess = math.expm1(check_epsilon(epsilon))
    if not 0 <= second_moment <= 1:
        raise InputError(f"second_moment must be in [0, 1], as of values scaled to [-1, 1], got {second_moment!r}")
    if kind not in (1, 2):
        raise InputError(f"kind must be 1 (window) or 2 (tent), got {kind!r}")

    def slope(gap: float) -> float:
        eta = 1 + gap
        outer, inner = excess + kind * eta, kind**2 * eta**3 + excess
        change = kind * inner + 3 * kind**2 * eta**2 * outer
        return 3 * kind**2 * excess * second_moment * gap**3 + change * gap - 2 * outer * inner

    top = 1.0
    while slope(top) < 0:
        top *= 2
    return 1 + bisect(slope, 0.0, top)


def ptt_variance(x: ArrayLike, epsilon: float, eta: float) -> np.ndarray:
    """Return the variance (k - 1) x^2 + k (eta^3 / (E - 1) + 1) / (3 (eta - 1)^2) on [-1, 1].

    Example
    -------
    >>> ptt_variance(1.0, 1.0, optimal_eta(1.0)).round(4).item()
    5.0657
    """
    excess = math.expm1(check_epsilon(epsilon))
    stretch, _ = window_shape(excess, check_eta(eta), kind=1)
    constant = stretch * (eta**3 / excess + 1) / (3 * (eta - 1) ** 2)
    return eta / excess * np.asarray(x, dtype=float) ** 2 + constant
