"""Distributions with one peak, or that fall beyond a point: as densities, so that uneven knots count by their width."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mechanisms.errors import InputError
from .base import Assumption, check_exempt


@dataclass(frozen=True)
class Unimodal(Assumption):
    """The density rises up to a value and falls beyond it.

    The value is declared, not found: distributions with a peak anywhere are no convex class.

    Parameters
    ----------
    mode : float
        Where the peak is, in units of the values: the nearest knot.
    exempt : float
        Share of people whom it need not cover.

    Raises
    ------
    InputError
        A mode that is no number, here, or outside the knots where they are known.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.assumptions.shapes import Unimodal
    >>> Unimodal(1.0).rows(np.array([0.0, 1.0, 2.0]))
    array([[-2.,  1.,  0.],
           [ 0.,  1., -2.]])
    """

    mode: float
    exempt: float = 0.0

    def __post_init__(self) -> None:
        _check_place("mode", self.mode)
        check_exempt(self.exempt)

    @property
    def name(self) -> str:
        return f"unimodal={self.mode:g}"

    def rows(self, knots: np.ndarray) -> np.ndarray:
        rising = _rises(knots)
        rising[_nearest(knots, self.mode, self.name) :] *= -1.0
        return rising + 0.0


@dataclass(frozen=True)
class Monotone(Assumption):
    """The density falls beyond a value; below it nothing is assumed.

    Parameters
    ----------
    beyond : float
        In units of the values: the nearest knot.
    exempt : float
        Share of people whom it need not cover.

    Raises
    ------
    InputError
        A value that is no number, here, or outside the knots where they are known.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.assumptions.shapes import Monotone
    >>> Monotone(1.0).rows(np.array([0.0, 1.0, 2.0, 3.0]))
    array([[ 0.,  1., -1.,  0.],
           [ 0.,  0.,  1., -2.]])
    """

    beyond: float
    exempt: float = 0.0

    def __post_init__(self) -> None:
        _check_place("beyond", self.beyond)
        check_exempt(self.exempt)

    @property
    def name(self) -> str:
        return f"monotone={self.beyond:g}"

    def rows(self, knots: np.ndarray) -> np.ndarray:
        return 0.0 - _rises(knots)[_nearest(knots, self.beyond, self.name) :]


def _rises(knots: np.ndarray) -> np.ndarray:
    """(K - 1, K) by how much the density rises from each knot to the next, times the mean width of a cell."""
    edges = np.concatenate([knots[:1], (knots[1:] + knots[:-1]) / 2, knots[-1:]])
    width = np.diff(edges) * (knots.size - 1) / np.ptp(knots)
    one = np.eye(knots.size) / width[:, None]
    return one[1:] - one[:-1]


def _nearest(knots: np.ndarray, value: float, name: str) -> int:
    if not knots[0] <= value <= knots[-1]:
        raise InputError(f"the assumption {name} must name a value within {knots[0]:g} to {knots[-1]:g}")
    return int(np.abs(knots - value).argmin())


def _check_place(name: str, given: float) -> None:
    if not np.isfinite(given):
        raise InputError(f"{name} must be a finite number, got {given!r}")
