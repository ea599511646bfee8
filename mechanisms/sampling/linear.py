"""A density that is a straight line inside each cell: the law of tent-shaped mechanisms (PTT type II)."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from ..errors import TableError
from .law import WithinCell, place, read_only_matrix, require_finite, require_shape


@dataclass(frozen=True, eq=False)
class LinearDensity(WithinCell):
    """At relative position v in [0, 1] of a cell the density is proportional to 1 + tilt (2v - 1).

    Parameters
    ----------
    tilt : (n, m) array_like
        Slope per row and output, between -1 (falls to zero) and 1 (rises from zero); ignored at points.

    Raises
    ------
    TableError
        Not a matrix of finite numbers between -1 and 1.

    Example
    -------
    >>> mean, _ = LinearDensity([[1.0]]).moments(np.array([0.0]), np.array([3.0]), 1)
    >>> mean.item()
    2.0
    """

    tilt: np.ndarray
    kind: ClassVar[str] = "linear"

    def __post_init__(self) -> None:
        tilt = read_only_matrix("tilt", self.tilt)
        wrong = np.argwhere(np.abs(tilt) > 1)
        if wrong.size:
            i, j = wrong[0]
            raise TableError(f"tilt must be between -1 and 1, got {tilt[i, j]} at row {i}, output {j}")
        object.__setattr__(self, "tilt", tilt)

    def check(self, low: np.ndarray, high: np.ndarray, n: int) -> None:
        require_finite(low, high, "a linear density")
        require_shape("tilt", self.tilt, (n, low.size))

    def moments(self, low: np.ndarray, high: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
        width = high - low
        return low + width * (0.5 + self.tilt / 6), width**2 * (1 / 12 - self.tilt**2 / 36)

    def log_end_densities(self, low: np.ndarray, high: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
        tilt = np.where(low == high, 0.0, self.tilt)
        with np.errstate(divide="ignore"):  # a tilt of one is a density of zero
            return np.log1p(-tilt), np.log1p(tilt)

    def draw(
        self, low: np.ndarray, high: np.ndarray, rows: np.ndarray, columns: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Mix the uniform law with the larger (or smaller) of two uniforms, whose density is 2v (or 2 - 2v).

        All three live on the same grid of doubles, where the mixture has the stated density exactly.
        """
        tilt = self.tilt[rows, columns]
        first, second = rng.random(columns.size), rng.random(columns.size)
        sloped = np.where(tilt > 0, np.maximum(first, second), np.minimum(first, second))
        return place(low, high, columns, np.where(rng.random(columns.size) < np.abs(tilt), sloped, first))

    def take(self, columns: np.ndarray) -> Self:
        return type(self)(self.tilt[:, columns])

    def take_rows(self, index: np.ndarray) -> Self:
        return type(self)(self.tilt[index])

    def scaled(self, scale: float) -> Self:
        return type(self)(self.tilt * np.sign(scale))

    def parameters(self) -> dict[str, Any]:
        return {"tilt": self.tilt}
