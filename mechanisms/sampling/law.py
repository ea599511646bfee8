"""The law of a report inside its output: the interface, and the uniform law that most tables use."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from ..errors import TableError
from .own_reports import kept_inside

Words = Callable[[int], np.ndarray]
"""A source of randomness: asked for N, it returns (N,) independent uint64 words of 64 random bits."""

PLACES = 2.0**-53
"""A report in a cell lies at an odd multiple of this share of the cell's width: 2^52 places, their mean the middle."""


class Tails(NamedTuple):
    """The memoryless law of a report's distance from the finite end of its output, where the other end is infinite.

    Attributes
    ----------
    mean, second : ndarray
        Mean and mean square of the distance; like `rate` one number for each row and output, or for all alike.
    rate : ndarray
        The distance is c or more with probability exp(-rate c), c being a multiple of `step` where there is one.
    step : float
        Distance of a lattice's points; 0 for a density.
    farthest_chance : float
        Probability of the farthest distance, or of more, that reports are drawn at.
    """

    mean: np.ndarray
    second: np.ndarray
    rate: np.ndarray
    step: float
    farthest_chance: float


class WithinCell(ABC):
    """How a report is spread inside an output, given the output and the row.

    An output with ``low == high`` is a point and needs no law; every other output is a cell. Throughout,
    ``low`` and ``high`` are (m,) arrays, ``rows`` and ``columns`` say for N reports which row and output
    each has, and results are (n, m) or (N,) arrays in the units of the reports.
    """

    kind: ClassVar[str]
    """The name of the law in a table file."""

    @abstractmethod
    def check(self, low: np.ndarray, high: np.ndarray, n: int) -> None:
        """Raise TableError unless the law fits n rows and these outputs."""

    @abstractmethod
    def moments(self, low: np.ndarray, high: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the exact conditional mean and (centred) variance of the report in each output, per row."""

    @abstractmethod
    def log_end_densities(self, low: np.ndarray, high: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the logarithm (n, m) of each row's conditional density at both ends of every output.

        Up to a term common to the column; -inf where the density is zero, and nowhere else: logarithms do not
        underflow. Every law here makes the ratio of two rows monotone inside a cell, so the largest ratio over a
        cell is the largest at its two ends.
        """

    @abstractmethod
    def draw(
        self, low: np.ndarray, high: np.ndarray, rows: np.ndarray, columns: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Draw one report for each pair of row and output.

        The doubles that can come out must not depend on the row, or the low bits of a report would betray it.

        Source: Mironov, On significance of the least significant bits for differential privacy (2012).
        """

    def contains(self, low: np.ndarray, high: np.ndarray, columns: np.ndarray, reports: np.ndarray) -> np.ndarray:
        """Say which reports, known to lie between the ends of their outputs, the law can really produce.

        In a finite cell that is every double: clients and simulations place reports on different grids, and one that is
        on neither moves no estimate farther than its neighbours do. Tails are as long as the law draws them.
        """
        nearest, farthest = self.farthest(low, high)
        return (nearest[columns] <= reports) & (reports <= farthest[columns])

    def farthest(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the least and the largest report (m,) of each output; finite where the output itself is not."""
        return low, high

    def tails(self, low: np.ndarray, high: np.ndarray) -> "Tails":
        """Return how reports lie beyond the finite ends of infinite outputs; TableError for laws that have none."""
        raise TableError(f"a {self.kind} law has no tails")

    @abstractmethod
    def take(self, columns: np.ndarray) -> Self:
        """Return the law of the outputs at these positions, in this order."""

    @abstractmethod
    def take_rows(self, index: np.ndarray) -> Self:
        """Return the law of the rows at these positions, in this order, any of them several times."""

    @abstractmethod
    def scaled(self, scale: float) -> Self:
        """Return the law after reports are multiplied by a non-zero scale (outputs keep their order)."""

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Return what a table file stores beside the kind: numbers and arrays by name."""


class RowFreeLaw(WithinCell):
    """A law that is the same for all rows: a report then tells no more than its output.

    Drawing by such a law is post-processing, so neither its roundings nor its grid can spend privacy.
    """

    def log_end_densities(self, low: np.ndarray, high: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
        same = np.zeros((n, low.size))
        return same, same

    def take_rows(self, index: np.ndarray) -> Self:
        return self

    @abstractmethod
    def exact_means(self, low: np.ndarray, high: np.ndarray) -> list[Fraction]:
        """Return the mean of what `draw_exact` draws in each of the m outputs, as a fraction.

        The rounding of a report to a double is left out: at most half a unit in its last place.
        """

    @abstractmethod
    def draw_exact(self, low: np.ndarray, high: np.ndarray, columns: np.ndarray, words: Words) -> np.ndarray:
        """Draw one report for each of N outputs, by whole numbers; how many words it takes depends on them alone."""


@dataclass(frozen=True, eq=False)
class Uniform(RowFreeLaw):
    """Reports are spread evenly over a cell, whatever the row: the report tells no more than its output.

    Example
    -------
    >>> mean, variance = Uniform().moments(np.array([0.0]), np.array([6.0]), 1)
    >>> mean.item(), variance.item()
    (3.0, 3.0)
    """

    kind: ClassVar[str] = "uniform"

    def check(self, low: np.ndarray, high: np.ndarray, n: int) -> None:
        require_finite(low, high, "a uniform law")

    def moments(self, low: np.ndarray, high: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
        mean, variance = low + (high - low) / 2, (high - low) ** 2 / 12
        return np.broadcast_to(mean, (n, low.size)), np.broadcast_to(variance, (n, low.size))

    def draw(
        self, low: np.ndarray, high: np.ndarray, rows: np.ndarray, columns: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        if np.array_equal(low, high):
            return low[columns]
        return place(low, high, columns, rng.random(columns.size))

    def exact_means(self, low: np.ndarray, high: np.ndarray) -> list[Fraction]:
        ends = zip(low.tolist(), high.tolist(), strict=True)
        return [Fraction(a) if a == b else (Fraction(a) + Fraction(b)) / 2 for a, b in ends]

    def draw_exact(self, low: np.ndarray, high: np.ndarray, columns: np.ndarray, words: Words) -> np.ndarray:
        if np.array_equal(low, high):
            return low[columns]
        odd = (words(columns.size) >> np.uint64(12)) * np.uint64(2) + np.uint64(1)
        return place(low, high, columns, odd * PLACES)

    def take(self, columns: np.ndarray) -> Self:
        return self

    def scaled(self, scale: float) -> Self:
        return self

    def parameters(self) -> dict[str, Any]:
        return {}


def place(low: np.ndarray, high: np.ndarray, columns: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Turn relative positions in [0, 1] inside finite outputs into reports that are found in those outputs."""
    report = (high - low)[columns]
    report *= position
    report += low[columns]
    return kept_inside(low, high, columns, report)


def require_finite(low: np.ndarray, high: np.ndarray, law: str) -> None:
    """Raise TableError unless every output has finite ends."""
    wrong = np.flatnonzero(~(np.isfinite(low) & np.isfinite(high)))
    if wrong.size:
        j = wrong[0]
        raise TableError(
            f"{law} needs finite ends, got [{low[j]}, {high[j]}] at output {j}: "
            "an infinite output needs an exponential law or geometric tails"
        )


def read_only_matrix(name: str, values: object) -> np.ndarray:
    """Return a read-only float copy of a matrix of law parameters, or raise TableError."""
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise TableError(f"{name} must be a matrix of numbers") from None
    if array.ndim != 2:
        raise TableError(f"{name} must be a matrix, got shape {array.shape}")
    wrong = np.argwhere(~np.isfinite(array))
    if wrong.size:
        i, j = wrong[0]
        raise TableError(f"{name} must be finite, got {array[i, j]} at row {i}, output {j}")
    array.setflags(write=False)
    return array


def require_shape(name: str, array: np.ndarray, shape: tuple[int, int]) -> None:
    """Raise TableError unless the matrix has one row per knot and one column per output."""
    if array.shape != shape:
        raise TableError(f"{name} must have shape {shape} (rows, outputs), got {array.shape}")
