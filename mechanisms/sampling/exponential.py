"""A density that is an exponential inside each cell, tails included: the law of the Laplace mechanism."""

import math
from dataclasses import dataclass
from math import factorial
from typing import Any, ClassVar, Self

import numpy as np

from ..errors import TableError
from .drawing import fine_uniform
from .law import Tails, WithinCell, read_only_matrix, require_finite, require_shape
from .own_reports import kept_inside

BERNOULLI = (
    1 / 6,
    -1 / 30,
    1 / 42,
    -1 / 30,
    5 / 66,
    -691 / 2730,
    7 / 6,
    -3617 / 510,
    43867 / 798,
    -174611 / 330,
)
"""B_2, B_4, ..., B_20: ten terms reach 1e-17 for slopes up to SERIES_LIMIT."""

SERIES_LIMIT = 1.0
"""Below this slope the closed forms lose digits to cancellation; above it the series needs more terms."""

SERIES_TERMS = 9
"""Of sinh(h) / h - 1 = h^2 / 3! + h^4 / 5! + ...: the next is below 1e-17 of the first for h below SERIES_LIMIT."""

LONGEST_TAIL = 64.0
"""Mean lengths that a report lies beyond a tail's end at most. Farther ones have probability e^-64, below 2^-92, in
every row alike, and no generator of doubles makes them (numpy's ends at 45): a report from there is an intruder's."""

SLOWEST, STEEPEST = 1e-110, 1e110
"""Bounds of a rate, so that neither its inverse nor its square overflows; domains span 1e-100 to 1e100."""


@dataclass(frozen=True, eq=False)
class ExponentialDensity(WithinCell):
    """In a cell the density at y is proportional to exp(rate y).

    Parameters
    ----------
    rate : (n, m) array_like
        Per row and output, in 1 / units; ignored at points. A left tail (low = -inf) needs rates above zero,
        a right tail (high = inf) rates below zero, and one rate for all rows if the table is to be private.

    Raises
    ------
    TableError
        Not a matrix of finite numbers; a tail with a rate of the wrong sign, or infinite at both ends.

    Example
    -------
    >>> mean, variance = ExponentialDensity([[-0.5]]).moments(np.array([1.0]), np.array([np.inf]), 1)
    >>> mean.item(), variance.item()
    (3.0, 4.0)
    """

    rate: np.ndarray
    kind: ClassVar[str] = "exponential"

    def __post_init__(self) -> None:
        rate = read_only_matrix("rate", self.rate)
        if np.any(np.abs(rate) > STEEPEST):
            raise TableError(f"rate must be at most {STEEPEST:g}, got {np.abs(rate).max()}: change the units")
        object.__setattr__(self, "rate", rate)

    def check(self, low: np.ndarray, high: np.ndarray, n: int) -> None:
        require_shape("rate", self.rate, (n, low.size))
        left, right = np.isneginf(low), np.isposinf(high)
        require_finite(np.where(left & ~right, 0.0, low), np.where(right & ~left, 0.0, high), "a density")
        wrong = np.argwhere((left & ~(self.rate > SLOWEST)) | (right & ~(self.rate < -SLOWEST)))
        if wrong.size:
            i, j = wrong[0]
            raise TableError(f"a tail must fall towards infinity, got rate {self.rate[i, j]} at row {i}, output {j}")

    def moments(self, low: np.ndarray, high: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
        tail, width = _tails_and_widths(low, high)
        position, spread = truncated_exponential(self.rate * width)
        end = np.where(np.isneginf(low), high, low)
        inverse = np.divide(1.0, self.rate, out=np.zeros_like(self.rate), where=tail)
        return end + np.where(tail, -inverse, position * width), np.where(tail, inverse**2, spread * width**2)

    def log_end_densities(self, low: np.ndarray, high: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Relative to a cell's own width; at infinity only the rows that fall slowest are left."""
        tail, width = _tails_and_widths(low, high)
        slope, steepness = self.rate * width, np.abs(self.rate)
        least = steepness.min(axis=0)
        near = np.log(np.divide(steepness, least, out=np.ones_like(steepness), where=tail))
        far = np.where(steepness == least, near, -np.inf)
        return np.where(tail, near, log_start_density(slope)), np.where(tail, far, log_start_density(-slope))

    def draw(
        self, low: np.ndarray, high: np.ndarray, rows: np.ndarray, columns: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        tail, width = _tails_and_widths(low, high)
        parts = np.exp2(np.ceil(np.log2(np.maximum(np.abs(self.rate * width).max(axis=0), 1.0))))[columns]
        slope = self.rate[rows, columns] * width[columns]
        part = _draw_part(slope, parts, rng)
        position = (part + _draw_gentle(slope / parts, rng)) / parts
        report = np.where(tail, 0.0, low)[columns] + width[columns] * position
        far = np.flatnonzero(tail[columns])
        if far.size:
            rate, column = self.rate[rows[far], columns[far]], columns[far]
            end = np.where(np.isneginf(low), high, low)[column]
            report[far] = end - np.minimum(rng.standard_exponential(far.size), LONGEST_TAIL) / rate
        return kept_inside(low, high, columns, report)

    def farthest(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        tail, _ = _tails_and_widths(low, high)
        reach = LONGEST_TAIL / np.where(tail, np.abs(self.rate).min(axis=0), 1.0)
        return np.where(np.isneginf(low), high - reach, low), np.where(np.isposinf(high), low + reach, high)

    def tails(self, low: np.ndarray, high: np.ndarray) -> Tails:
        rate = np.abs(self.rate)
        mean = np.divide(1.0, rate, out=np.zeros_like(rate), where=~(np.isfinite(low) & np.isfinite(high)))
        return Tails(mean, 2 * mean**2, rate, 0.0, math.exp(-LONGEST_TAIL))

    def take(self, columns: np.ndarray) -> Self:
        return type(self)(self.rate[:, columns])

    def take_rows(self, index: np.ndarray) -> Self:
        return type(self)(self.rate[index])

    def scaled(self, scale: float) -> Self:
        return type(self)(self.rate / scale)

    def parameters(self) -> dict[str, Any]:
        return {"rate": self.rate}


def truncated_exponential(slope: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""Return mean and variance of v in [0, 1] with density proportional to exp(slope v).

    The mean is 1/2 + sum_k B_2k z^(2k-1) / (2k)! and the variance is its derivative in the slope z.

    Example
    -------
    >>> mean, variance = truncated_exponential(np.zeros(1))
    >>> mean.item(), round(12 * variance.item(), 15)
    (0.5, 1.0)
    """
    size = np.abs(slope)
    series = size < SERIES_LIMIT
    z = np.where(series, slope, 0.0)
    mean, variance = np.full(z.shape, 0.5), np.zeros(z.shape)
    for k, bernoulli in enumerate(BERNOULLI, start=1):
        term = bernoulli / factorial(2 * k) * z ** (2 * k - 2)
        mean, variance = mean + term * z, variance + (2 * k - 1) * term
    z = np.where(series, 1.0, size)
    survival = -np.expm1(-z)
    closed_mean = 1 / survival - 1 / z
    closed_variance = (1 / z) ** 2 - np.exp(-z) / survival**2
    closed_mean = np.where(slope < 0, 1 - closed_mean, closed_mean)
    return np.where(series, mean, closed_mean), np.where(series, variance, closed_variance)


def _tails_and_widths(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    tail = ~(np.isfinite(low) & np.isfinite(high))
    return tail, np.subtract(high, low, out=np.zeros_like(low), where=~tail)


def log_start_density(slope: np.ndarray) -> np.ndarray:
    r"""Return the logarithm of the density at v = 0 of the law proportional to exp(slope v) on [0, 1].

    With z the slope the density is z / (e^z - 1). Its logarithm is -z / 2 - log(sinh(z / 2) / (z / 2)) for gentle
    slopes, where nothing cancels, and log|z| - max(z, 0) - log(1 - e^-|z|) for steep ones, where nothing underflows.

    Example
    -------
    >>> log_start_density(np.array([-1e4, 0.0, 1e-9, 1e4])).round(12).tolist()
    [9.210340371976, -0.0, -5e-10, -9990.789659628024]
    """
    gentle = np.abs(slope) < 2 * SERIES_LIMIT
    z = np.where(gentle, slope, 0.0)
    x = (z / 2) ** 2
    excess = x * sum(x ** (k - 1) / factorial(2 * k + 1) for k in range(SERIES_TERMS, 0, -1))
    steep = np.where(gentle, 1.0, np.abs(slope))
    far = np.log(steep) - np.maximum(slope, 0.0) - np.log(-np.expm1(-steep))
    return np.where(gentle, -z / 2 - np.log1p(excess), far)


def _draw_part(slope: np.ndarray, parts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw which of `parts` equal parts of the cell holds the report, by inverting the survival function.

    Steep cells are cut in parts so that `_draw_gentle` rejects little; as many for every row of an output.
    """
    part = np.zeros(slope.shape)
    cut = np.flatnonzero(parts > 1)
    if cut.size:
        steep, count = np.abs(slope[cut]), parts[cut]
        flat = steep < 1e-9  # its distance from uniform is below the grid of the uniforms
        u = fine_uniform(cut.size, rng)
        survival = np.exp(-steep) - np.expm1(-steep) * u
        distance = np.where(flat, u, -np.log(survival) / np.where(flat, 1.0, steep))
        from_steep_end = np.minimum(np.floor(distance * count), count - 1)
        part[cut] = np.where(slope[cut] > 0, count - 1 - from_steep_end, from_steep_end)
    return part


def _draw_gentle(slope: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw v in [0, 1) with density proportional to exp(slope v), |slope| <= 1, by rejection from uniforms.

    Rejection keeps the uniforms' grid, the same for every row; at least 63% of the draws are accepted.
    """
    position = np.empty(slope.shape)
    left = np.arange(slope.size)
    while left.size:
        v, z = rng.random(left.size), slope[left]
        accepted = rng.random(left.size) < np.exp(z * v - np.maximum(z, 0.0))
        position[left[accepted]] = v[accepted]
        left = left[~accepted]
    return position
