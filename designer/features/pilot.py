"""Records that are known beforehand, with their weights: what a feature's table is designed for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError


@dataclass(frozen=True, eq=False)
class Pilot:
    """Records of a survey, or of an exact law.

    Parameters
    ----------
    names : tuple of str
        Of the columns.
    records : (K, d) array_like of float
    weights : (K,) array_like of float, optional
        Positive; they are divided by their sum. Default: alike.

    Raises
    ------
    InputError
        Fewer than two records, or columns that are constant or of another shape.

    Example
    -------
    >>> from optldp.designer.features import Pilot
    >>> pilot = Pilot(("x", "y"), [[0, 0], [2, 0], [0, 4], [2, 4]])
    >>> pilot.means.tolist(), pilot.covariance.tolist()
    ([1.0, 2.0], [[1.0, 0.0], [0.0, 4.0]])
    """

    names: tuple[str, ...]
    records: np.ndarray
    weights: np.ndarray

    def __init__(self, names: tuple[str, ...], records: ArrayLike, weights: ArrayLike | None = None) -> None:
        held = np.array(records, dtype=float)
        if held.ndim != 2 or held.shape[1] != len(names) or len(held) < 2 or not np.isfinite(held).all():
            raise InputError(f"a pilot must be at least two records of {len(names)} numbers, got shape {held.shape}")
        for name, column in zip(names, held.T, strict=True):
            if column.min() == column.max():
                raise InputError(f"column {name!r} must vary, got {column[0]:g} alone: a constant goes with nothing")
        given = np.ones(len(held)) if weights is None else np.array(weights, dtype=float)
        if given.shape != (len(held),) or (given < 0).any() or not 0 < given.sum() < np.inf:
            raise InputError(f"weights must be {len(held)} numbers that are not negative, got others")
        object.__setattr__(self, "names", tuple(names))
        object.__setattr__(self, "records", held)
        object.__setattr__(self, "weights", given / given.sum())

    @property
    def means(self) -> np.ndarray:
        """(d,) of the columns."""
        return self.weights @ self.records

    @property
    def covariance(self) -> np.ndarray:
        """(d, d) of the columns."""
        apart = self.records - self.means
        return (apart * self.weights[:, None]).T @ apart
