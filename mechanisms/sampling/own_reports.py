"""A report that is drawn from an output must be found in it: keeping reports off neighbouring cells and off points.

A report on the edge of two cells belongs to the upper one, and one equal to a point is that point, even inside a cell.
So of a cell's doubles those are its own that lie below its upper end and are no point; a report that doubles round to
another one moves to the nearest of them. That depends on the output alone, so it cannot tell rows apart.
"""

import numpy as np

from ..errors import TableError


def kept_inside(low: np.ndarray, high: np.ndarray, columns: np.ndarray, reports: np.ndarray) -> np.ndarray:
    """Return reports (N,), drawn from these outputs, moved to the nearest double that is their output's own.

    Example
    -------
    >>> low, high, columns = np.array([0.0, 0.5, 1.0]), np.array([1.0, 0.5, 2.0]), np.array([0, 0, 1, 2])
    >>> kept_inside(low, high, columns, np.array([1.0, 0.5, 0.5, 1.0])).tolist()
    [0.9999999999999999, 0.5000000000000001, 0.5, 1.0]
    """
    cell = low < high
    kept = np.minimum(reports, np.where(cell, np.nextafter(high, -np.inf), high)[columns])
    points, places = refuges(low, high)
    if points.size < low.size and points.size:
        at = np.minimum(np.searchsorted(points, kept), points.size - 1)
        kept = np.where(cell[columns] & (points[at] == kept), places[at], kept)
    return kept


def refuges(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the points (k,) among outputs, and where the reports go that a cell around each would make equal to it.

    That is the next larger double in the cell that is no point, else the next smaller one; NaN where all the cell's
    doubles are points. Points in no cell stay as they are.

    Example
    -------
    >>> refuges(np.array([0.0, 0.5, 2.0]), np.array([1.0, 0.5, 2.0]))
    (array([0.5, 2. ]), array([0.5, 2. ]))
    """
    points, cells = low[low == high], np.flatnonzero(low < high)
    if not (points.size and cells.size):
        return points, points
    above = np.nextafter(points, np.inf)
    breaks = np.flatnonzero(points[1:] != above[:-1])  # between two, runs of points without a double between them
    order = np.arange(points.size)
    lasts, firsts = np.append(breaks, points.size - 1), np.append(0, breaks + 1)
    above = above[lasts[np.searchsorted(lasts, order)]]
    below = np.nextafter(points[firsts[np.searchsorted(firsts, order, side="right") - 1]], -np.inf)
    position = np.searchsorted(low[cells], points, side="right") - 1
    around = cells[np.maximum(position, 0)]
    inside = (position >= 0) & (points < high[around])
    place = np.where(above < high[around], above, np.where(below >= low[around], below, np.nan))
    return points, np.where(inside, place, points)


def cells_of_points(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return which outputs (m,) are cells all of whose doubles are points, so that no report is theirs alone.

    Example
    -------
    >>> cells_of_points(np.array([1.0, 1.0, 3.0]), np.array([1.0, np.nextafter(1.0, 2.0), 4.0]))
    array([False,  True, False])
    """
    points, places = refuges(low, high)
    inside = points[np.isnan(places)]
    return np.searchsorted(inside, low) < np.searchsorted(inside, high)


def require_own_reports(low: np.ndarray, high: np.ndarray) -> None:
    """Raise TableError for a cell all of whose doubles are points: no report of it could be told from theirs."""
    full = np.flatnonzero(cells_of_points(low, high))
    if full.size:
        j = full[0]
        raise TableError(
            f"a cell must hold a double that is no point, got points only in [{low[j]}, {high[j]}] at output {j}: "
            "leave the cell out, or use larger units"
        )
