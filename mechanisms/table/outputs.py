"""The outputs of a table, points and cells: finding the one that a report is, and giving them new places."""

import math

import numpy as np

from ..errors import InputError
from ..sampling.guide import places_among
from ..sampling.law import WithinCell

NEAR = 2**16
"""Reports located at a time: few enough for what is computed of them to stay in the processor's cache."""


def find_outputs(
    low: np.ndarray, high: np.ndarray, within: WithinCell, reports: np.ndarray, possible: np.ndarray | None = None
) -> np.ndarray:
    """Return the output of each report, or raise InputError for reports that no output can be.

    A report equal to a point is that point, even inside a cell; a report on the edge of two cells belongs to
    the upper one. Outputs that are not `possible` (m,), because no knot gives them any probability, are none.

    Example
    -------
    >>> from ..sampling.law import Uniform
    >>> low, high = np.array([0.0, 1.0, 1.5]), np.array([1.0, 2.0, 1.5])
    >>> find_outputs(low, high, Uniform(), np.array([0.2, 1.0, 1.5, 2.0])).tolist()
    [0, 1, 2, 1]
    """
    index = locate_outputs(low, high, within, reports, possible)
    foreign = np.flatnonzero(index < 0)
    if foreign.size:
        row = foreign[0]
        raise InputError(
            f"reports must be outputs of this table, got {foreign.size} of {reports.size} that cannot be, "
            f"the first {reports[row]} in row {row + 1}: they come from another table or lost digits"
        )
    return index


def locate_outputs(
    low: np.ndarray, high: np.ndarray, within: WithinCell, reports: np.ndarray, possible: np.ndarray | None = None
) -> np.ndarray:
    """Return the output of each report as `find_outputs` does, and -1 for reports that no output can be.

    Example
    -------
    >>> from ..sampling.law import Uniform
    >>> locate_outputs(np.array([0.0]), np.array([1.0]), Uniform(), np.array([0.5, 1.5])).tolist()
    [0, -1]
    """
    index = np.full(reports.size, -1, dtype=np.intp)
    for start in range(0, reports.size, NEAR):
        block = slice(start, start + NEAR)
        _locate(low, high, within, reports[block], possible, index[block])
    return index


def _locate(
    low: np.ndarray,
    high: np.ndarray,
    within: WithinCell,
    reports: np.ndarray,
    possible: np.ndarray | None,
    index: np.ndarray,
) -> None:
    """Set the outputs of the reports that have one."""
    kept = np.ones(low.size, dtype=bool) if possible is None else possible
    cells, points = np.flatnonzero((low < high) & kept), np.flatnonzero((low == high) & kept)
    if cells.size:
        position = places_among(low[cells], reports) - 1
        candidate = cells[np.maximum(position, 0)]
        inside = (position >= 0) & (reports <= high[candidate]) & np.isfinite(reports)
        inside[inside] = within.contains(low, high, candidate[inside], reports[inside])
        index[inside] = candidate[inside]
    if points.size:
        position = np.maximum(places_among(low[points], reports) - 1, 0)
        candidate = points[position]
        same = low[candidate] == reports
        index[same] = candidate[same]


def relabel_outputs(
    low: np.ndarray, high: np.ndarray, scale: float, shift: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the outputs' new order and their ends after every report y became scale y + shift.

    Raises InputError for a scale that is zero, and for numbers that are not finite.

    Example
    -------
    >>> columns, low, high = relabel_outputs(np.array([0.0, 1.0]), np.array([1.0, 3.0]), -1.0, 0.0)
    >>> columns.tolist(), low.tolist(), high.tolist()
    ([1, 0], [-3.0, -1.0], [-1.0, 0.0])
    """
    if not (scale != 0 and math.isfinite(scale) and math.isfinite(shift)):
        raise InputError(f"scale and shift must be finite and scale not 0, got {scale!r} and {shift!r}")
    ends = scale * low + shift, scale * high + shift
    low, high = np.minimum(*ends), np.maximum(*ends)
    columns = np.lexsort((high, low))
    return columns, low[columns], high[columns]
