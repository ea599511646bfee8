"""What must be so for arrays to be a table; each fault is named with its row or output."""

import numpy as np

from ..budget import check_epsilon
from ..errors import InputError, TableError
from ..promise import Promise, Pure
from ..sampling.law import RowFreeLaw, WithinCell
from ..sampling.own_reports import require_own_reports
from .knots import check_knots

ROW_SUM_TOLERANCE = 1e-9
"""Slack of a table being built; `verify` asks for 1e-12, and a probability law that far off is a mistake."""

LARGEST_REPORT = 1e120
"""Farther out a variance may overflow; families on the widest domain reach 1e106 at the smallest epsilon."""


def checked_fields(
    knots: object, low: object, high: object, probabilities: object, epsilon: float, within: WithinCell
) -> dict[str, np.ndarray | float]:
    """Return read-only copies of a table's numbers by field name, or raise TableError.

    Raises
    ------
    TableError
        Anything but epsilon is not usable.
    InputError
        Epsilon is not.
    """
    try:
        values = check_knots(knots)  # pyright: ignore[reportArgumentType] -- what it is to find out
    except InputError as error:
        raise TableError(str(error)) from None
    values.setflags(write=False)
    ends = read_only("low", low, 1), read_only("high", high, 1)
    check_outputs(*ends)
    if not isinstance(within, WithinCell):
        raise TableError(f"within must be a WithinCell, got {within!r}")
    within.check(*ends, values.size)
    matrix = check_probabilities(probabilities, (values.size, ends[0].size))
    return {
        "knots": values,
        "low": ends[0],
        "high": ends[1],
        "probabilities": matrix,
        "epsilon": check_epsilon(epsilon),
    }


def read_only(name: str, values: object, dimensions: int) -> np.ndarray:
    """Return a read-only float copy of numbers in a list or a matrix, or raise TableError."""
    try:
        # one memory order, one rounding of sums; zero has no sign, which a report would show
        array = np.array(values, dtype=float, order="C") + 0.0
    except (TypeError, ValueError):
        raise TableError(f"{name} must be numbers, in rows of equal length") from None
    if array.ndim != dimensions:
        raise TableError(f"{name} must have {dimensions} dimension(s), got shape {array.shape}")
    array.setflags(write=False)
    return array


def check_outputs(low: np.ndarray, high: np.ndarray) -> None:
    """Raise TableError unless outputs are ordered, and each has reports that are found in it and in no other."""
    if low.size == 0 or low.size != high.size:
        raise TableError(f"outputs need as many low as high ends, at least 1, got {low.size} and {high.size}")
    point = low == high
    bad = ~(low <= high) | (point & np.isinf(low))
    _refuse("every output must have low <= high, finite where equal", bad, low, high)
    far = [np.isfinite(end) & (np.abs(end) > LARGEST_REPORT) for end in (low, high)]
    _refuse(f"finite ends must be within {LARGEST_REPORT:g}", far[0] | far[1], low, high)
    later, earlier = (low[1:], high[1:]), (low[:-1], high[:-1])
    ordered = (later[0] > earlier[0]) | ((later[0] == earlier[0]) & (later[1] > earlier[1]))
    _refuse(
        "outputs must be sorted by low end, then by high end, without repeats",
        np.r_[False, ~ordered],
        low,
        high,
    )
    cells = np.flatnonzero(~point)
    overlap = np.zeros(low.size, dtype=bool)
    overlap[cells[1:]] = low[cells[1:]] < high[cells[:-1]]
    _refuse("cells must not overlap the cell before them", overlap, low, high)
    require_own_reports(low, high)


def check_probabilities(values: object, shape: tuple[int, int]) -> np.ndarray:
    """Return a read-only copy of the matrix, or raise TableError unless its rows are probability laws."""
    matrix = read_only("probabilities", values, 2)
    if matrix.shape != shape:
        raise TableError(f"probabilities must have shape {shape} (knots, outputs), got {matrix.shape}")
    check_rows(matrix)
    return matrix


def check_rows(matrix: np.ndarray, first: int = 0) -> None:
    """Raise TableError unless rows, of which the first has this number in its table, are probability laws.

    Example
    -------
    >>> check_rows(np.array([[0.25, 0.75]]))
    """
    wrong = np.argwhere(~(np.isfinite(matrix) & (matrix >= 0)))
    if wrong.size:
        i, j = wrong[0]
        found = f"{matrix[i, j]} at row {first + i}, output {j}"
        raise TableError(f"probabilities must be finite and non-negative, got {found}")
    with np.errstate(over="ignore"):  # an infinite sum is refused
        sums = matrix.sum(axis=1)
    wrong = np.flatnonzero(~(np.abs(sums - 1) <= ROW_SUM_TOLERANCE))
    if wrong.size:
        raise TableError(f"every row must sum to 1, got {sums[wrong[0]]} in row {first + wrong[0]}")


def check_exact(exact: object, within: WithinCell) -> None:
    """Raise TableError for a table that is said to be exact and whose law within outputs cannot be."""
    if not isinstance(exact, bool):
        raise TableError(f"exact must be true or false, got {exact!r}")
    if exact and not isinstance(within, RowFreeLaw):
        raise TableError(f"an exact table's law within outputs must be the same for all rows, got {within.kind}")


def checked_promise(promise: object, epsilon: float, within: WithinCell, knots: np.ndarray) -> Promise:
    """Return what a table of this epsilon promises, None being pure; TableError for a promise that it cannot make.

    Example
    -------
    >>> from ..sampling.within_cell import Uniform
    >>> checked_promise(None, 1.0, Uniform(), np.array([0.0, 1.0]))
    Pure(epsilon=1.0)
    """
    if promise is None or type(promise) is Pure:
        return Pure(epsilon)
    if not isinstance(promise, Promise) or promise.epsilon != epsilon:
        raise TableError(f"promise must be one of epsilon {epsilon:g}, got {promise!r:.60}")
    if not isinstance(within, RowFreeLaw):
        raise TableError(f"a table that promises {promise} needs a law within outputs that is the same for all rows")
    if misfit := promise.misfit(knots):
        raise TableError(misfit)
    return promise


def _refuse(requirement: str, bad: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    if bad.any():
        j = np.flatnonzero(bad)[0]
        raise TableError(f"{requirement}, got [{low[j]}, {high[j]}] at output {j}")
