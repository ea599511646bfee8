"""The inputs that a distribution is estimated on: points, or cells within which it is taken as flat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from ..mechanisms.cost import fit_cost, require_affordable
from ..mechanisms.errors import InputError
from ..mechanisms.sampling.domain import rounding_weights
from ..mechanisms.table.table import TabulatedMechanism

SAME_KNOT = 1e-9
"""Knots closer than this share of the domain's width are the same knot, written with other last digits."""


@dataclass(frozen=True, eq=False)
class InputGrid:
    """K components of the distribution of the inputs.

    Either *points*: the distribution is a mixture of point masses.  On a table's own knots that is exact for any
    distribution of the inputs, since a value between knots is rounded to one of them before anything else
    happens; the estimate then is of the rounded values, whose mean is that of the values.  Or *cells*: values
    are uniform within a cell.

    Parameters
    ----------
    points : (K,) ndarray of float
        The points, or the middles of the cells; increasing.
    edges : (K + 1,) ndarray of float
        Ends of the cells; for points, the middles between them and the ends of the domain.
    flat : bool
        Whether the components are cells.

    Example
    -------
    >>> from optldp.estimators import InputGrid
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> grid = InputGrid.cells([-1.0, 0.0, 1.0])
    >>> grid.points, grid.rows(duchi([-1.0, 1.0], 1.0)).round(4)
    (array([-0.5,  0.5]), array([[0.6155, 0.3845],
           [0.3845, 0.6155]]))
    """

    points: np.ndarray
    edges: np.ndarray
    flat: bool

    @classmethod
    def knots(cls, points: ArrayLike) -> Self:
        """Return the grid of these points."""
        array = _increasing("points", points, 1)
        middles = (array[1:] + array[:-1]) / 2
        return cls(array, np.concatenate([array[:1], middles, array[-1:]]), False)

    @classmethod
    def cells(cls, edges: ArrayLike) -> Self:
        """Return the grid of the cells between these edges."""
        array = _increasing("edges", edges, 2)
        return cls((array[1:] + array[:-1]) / 2, array, True)

    @classmethod
    def equal_cells(cls, low: float, high: float, n_cells: int) -> Self:
        """Return the grid of so many equal cells."""
        if not n_cells >= 1:
            raise InputError(f"cells must be at least 1, got {n_cells!r}")
        return cls.cells(np.linspace(low, high, n_cells + 1))

    @classmethod
    def common(cls, mechanisms: Sequence[TabulatedMechanism]) -> Self:
        """Return the knots that all tables can be read at without interpolating: those of the finest.

        Raises
        ------
        InputError
            A table with a knot that the finest table does not have: its cells disagree with the others'.
        """
        finest = max((mechanism.knots for mechanism in mechanisms), key=len)
        width = finest[-1] - finest[0]
        for mechanism in mechanisms:
            above = np.clip(np.searchsorted(finest, mechanism.knots), 1, finest.size - 1)
            nearest = np.minimum(np.abs(finest[above] - mechanism.knots), np.abs(mechanism.knots - finest[above - 1]))
            if (far := nearest > SAME_KNOT * width).any():
                raise InputError(
                    f"the tables' cell grids must agree, but one of {mechanism.knots.size} knots has "
                    f"{mechanism.knots[far][0]:g}, which the finest, of {finest.size}, lacks: "
                    "say how many cells to use for all (--cells, grid)"
                )
        return cls.knots(finest)

    @property
    def size(self) -> int:
        """Number of components K."""
        return self.points.size

    def require_modest(self, mechanisms: Sequence[TabulatedMechanism]) -> None:
        """Raise InputError where a fit to the reports of these tables would cost too much, see `allow_large`."""
        outputs = sum(mechanism.low.size for mechanism in mechanisms)
        what, cure = f"a fit of {self.size} cells to {outputs} outputs", "use fewer --cells (an InputGrid in Python)"
        require_affordable(what, fit_cost(self.size, outputs), cure)

    def rows(self, mechanism: TabulatedMechanism) -> np.ndarray:
        """Return the (K, m) probability of each output for an input of each component.

        For a cell it is the exact average: the table is linear in the input between its knots.
        """
        shares = self.knot_shares(mechanism)
        if self.flat:  # a cell touches few knots
            from scipy import sparse  # a tenth of a second, which a mean need not wait for

            return sparse.csr_array(shares) @ mechanism.probabilities
        return mechanism.pmf(np.clip(self.points, *mechanism.domain))

    def knot_shares(self, mechanism: TabulatedMechanism) -> np.ndarray:
        """Return the (K, n) share of each of the table's knots in what an input of each component is rounded to.

        Raises InputError for components outside the domain, or of a table that takes its knots alone.
        """
        low, high = mechanism.domain
        slack = SAME_KNOT * (high - low)
        if self.edges[0] < low - slack or self.edges[-1] > high + slack:
            raise InputError(
                f"the cells must lie in the table's domain [{low:g}, {high:g}], "
                f"got [{self.edges[0]:g}, {self.edges[-1]:g}]"
            )
        on_knots = not self.flat and np.isin(self.points, mechanism.knots).all()
        if not (mechanism.promise.holds_between_knots or on_knots):
            raise InputError(f"a table that promises {mechanism.promise} takes its knots alone: leave the cells out")
        if self.flat:
            rising = _integrated_hats(mechanism.knots, np.clip(self.edges, low, high))
            return np.diff(rising, axis=0) / np.diff(self.edges)[:, None]
        index, right = rounding_weights(mechanism.knots, np.clip(self.points, low, high))
        shares, row = np.zeros((self.size, mechanism.knots.size)), np.arange(self.size)
        shares[row, index] = 1.0 - right
        shares[row, index + 1] = right
        return shares


def _integrated_hats(knots: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """(E, n) integral from the first knot to each end of the weight that random rounding gives each knot."""
    index, right = rounding_weights(knots, ends)
    gaps = np.diff(knots)
    whole = np.concatenate([gaps, [0.0]]) / 2 + np.concatenate([[0.0], gaps]) / 2
    column = np.arange(knots.size)
    rising = np.where(column < index[:, None], whole, 0.0)
    row = np.arange(ends.size)
    before = np.concatenate([[0.0], gaps])[index] / 2
    rising[row, index] = before + gaps[index] * (right - right**2 / 2)
    rising[row, index + 1] = gaps[index] * right**2 / 2
    return rising


def _increasing(name: str, values: ArrayLike, least: int) -> np.ndarray:
    array = np.array(values, dtype=np.float64)
    if array.ndim != 1 or array.size < least or not np.isfinite(array).all() or not (np.diff(array) > 0).all():
        raise InputError(f"{name} must be at least {least} finite, strictly increasing numbers, got {values!r}")
    array.setflags(write=False)
    return array
