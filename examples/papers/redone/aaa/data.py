"""The data of AAA's section 7.2: its synthetic sets, and what stands in for its real ones; all on [-1, 1]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SEED = 2024
"""Data are drawn once: the repetitions are of the mechanisms' randomness, as in the paper."""

CALL_RANGE = (0.0, 4_918.0)
"""Seconds; the longest call. The range of the paper's Green Taxi trips, 202,989 s, is the longest trip too; that set is
not at hand, and calls on its range would be nothing but zeros."""

INCOME_RANGE = (-11_200.0, 1_423_000.0)
"""Dollars; of the paper's ACS 2018 incomes."""

RETIREMENT_RANGE = (-30_621.43, 121_952.52)
"""Dollars; of the paper's Retirement column."""

PEOPLE = 300_000
"""Drawn from the histogram of IPUMS incomes."""


@dataclass(frozen=True, eq=False)
class DataSet:
    """Values on [-1, 1] and the number of lattice intervals that the paper uses for them."""

    name: str
    values: np.ndarray
    intervals: int


def synthetic(sizes: tuple[int, ...]) -> list[DataSet]:
    """N(0, 1) clipped to [-5, 5], Exp(1) clipped to [0, 5], Bernoulli(0.5); of every size."""
    draws: dict[str, tuple[Callable[[np.random.Generator, int], np.ndarray], tuple[float, float]]] = {
        "Gaussian": (lambda rng, n: rng.normal(size=n).clip(-5, 5), (-5, 5)),
        "exponential": (lambda rng, n: rng.exponential(size=n).clip(0, 5), (0, 5)),
        "Bernoulli": (lambda rng, n: rng.integers(2, size=n).astype(float), (0, 1)),
    }
    return [
        DataSet(f"{name}, n = {n:,}", scaled(draw(np.random.default_rng([SEED, n]), n), domain), _intervals(name, n))
        for name, (draw, domain) in draws.items()
        for n in sizes
    ]


def real(folder: Path) -> list[DataSet]:
    """Return what is at hand for Taxi, Income and Retirement, on the papers' ranges."""
    benefits = _load(folder, "sf_salaries_2011_2014", "benefits")
    histogram = _load(folder, "dpbench_hist", "income")
    rng = np.random.default_rng(SEED)
    bins = rng.choice(histogram.size, PEOPLE, p=histogram / histogram.sum())
    return [
        DataSet("bank call durations", scaled(_load(folder, "bank_full", "duration"), CALL_RANGE), 16),
        DataSet("ACS 2019 income", scaled(_load(folder, "acs_pincp_2019_excerpt", "pincp"), INCOME_RANGE), 16),
        DataSet("IPUMS income", scaled(bins + 0.5, (0, histogram.size)), 16),
        DataSet("SF benefits", scaled(benefits[~np.isnan(benefits)], RETIREMENT_RANGE), 16),
    ]


def scaled(values: np.ndarray, domain: tuple[float, float]) -> np.ndarray:
    """Return the values moved from the domain to [-1, 1]."""
    low, high = domain
    return 2 * (values - low) / (high - low) - 1


def _intervals(name: str, n: int) -> int:
    """Section 7.2: bins of width 0.125, 0.25 for a thousand users, 1 for Bernoulli data."""
    return 2 if name == "Bernoulli" else 8 if n <= 1_000 else 16


def _load(folder: Path, name: str, column: str) -> np.ndarray:
    with np.load(folder / f"{name}.npz", allow_pickle=False) as arrays:
        return arrays[column].astype(np.float64)
