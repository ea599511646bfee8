"""Distributions near a prior: weights within a factor of its own, or of nearly its shape."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...mechanisms.errors import InputError
from .base import Assumption, Weighed, check_exempt, weights_at

HUNDREDTHS = 100.0
"""Rates are per hundredth of the range."""


@dataclass(frozen=True, eq=False)
class Factor(Assumption):
    """Each weight is within a factor of the prior's: p_k / trust <= q_k <= trust p_k.

    Parameters
    ----------
    prior : optldp.Prior
        On the table's knots, with weight at all of them.
    trust : float
        At least 1.
    exempt : float
        Share of people whom it need not cover.

    Raises
    ------
    InputError
        Another number.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import Prior
    >>> from optldp.estimators.assumptions.near_prior import Factor
    >>> Factor(Prior.on_knots([0, 1], [1, 3], source="public"), 2.0).rows(np.array([0.0, 1.0])).round(3)
    array([[ 0.875, -0.125],
           [-0.375,  0.625],
           [-0.5  ,  0.5  ],
           [ 1.5  ,  0.5  ]])
    """

    prior: Weighed
    trust: float
    exempt: float = 0.0

    def __post_init__(self) -> None:
        _check_ratio("trust", self.trust)
        check_exempt(self.exempt)

    @property
    def name(self) -> str:
        return f"trust={self.trust:g}"

    def start(self, knots: np.ndarray) -> np.ndarray:
        return weights_at(self.prior, knots, self.name)

    def rows(self, knots: np.ndarray) -> np.ndarray:
        weights, one, every = self.start(knots)[:, None], np.eye(knots.size), np.ones((1, knots.size))
        return np.vstack([one - weights / self.trust * every, self.trust * weights * every - one])


@dataclass(frozen=True, eq=False)
class Shape(Assumption):
    """The ratio to the prior changes by at most a rate per hundredth of the range.

    Between knots d hundredths of the range apart, the ratio q / p changes by a factor of at most rate^d.

    Parameters
    ----------
    prior : optldp.Prior
        On the table's knots, with weight at all of them.
    rate : float
        At least 1; 1.1 lets the ratio change by a tenth per hundredth.
    exempt : float
        Share of people whom it need not cover.

    Raises
    ------
    InputError
        Another number.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import Prior
    >>> from optldp.estimators.assumptions.near_prior import Shape
    >>> prior = Prior.on_knots(np.linspace(0, 1, 101), np.ones(101), source="public")
    >>> Shape(prior, 1.1).rows(prior.knots).shape
    (200, 101)
    """

    prior: Weighed
    rate: float
    exempt: float = 0.0

    def __post_init__(self) -> None:
        _check_ratio("rate", self.rate)
        check_exempt(self.exempt)

    @property
    def name(self) -> str:
        return f"shape={self.rate:g}"

    def start(self, knots: np.ndarray) -> np.ndarray:
        return weights_at(self.prior, knots, self.name)

    def rows(self, knots: np.ndarray) -> np.ndarray:
        weights = self.start(knots)
        change = (self.rate ** (HUNDREDTHS * np.diff(knots) / np.ptp(knots)))[:, None]
        # Scaled to entries of size one: a solver's tolerance is absolute.
        size = np.maximum(weights[1:], weights[:-1])[:, None]
        left = np.eye(knots.size)[:-1] * weights[1:, None] / size
        right = np.eye(knots.size)[1:] * weights[:-1, None] / size
        return np.vstack([change * left - right, change * right - left])


def _check_ratio(name: str, given: float) -> None:
    if not (math.isfinite(given) and given >= 1.0):
        raise InputError(f"{name} must be a finite number of at least 1, got {given!r}: 1 is the prior itself")
