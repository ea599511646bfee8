"""The distributions that values are drawn from: the papers' synthetic ones, and real columns where their files are."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

Draw = Callable[[int, np.random.Generator], np.ndarray]

AGES = (17, 90)


def synthetic() -> dict[str, Draw]:
    """Beta(2, 5); the same with waves on it; S-MN of EM-MR, moved from [-1, 1]. All on [0, 1]."""
    return {"Beta(2,5)": _beta, "Beta+Sin": _waves, "S-MN": _mixture}


def real(folder: Path) -> dict[str, Draw]:
    """Columns of shared data, scaled to [0, 1]; drawn with replacement."""
    columns = {
        "SF benefits": _scaled(_load(folder, "sf_salaries_2011_2014", "benefits"), 0.0, 60_000.0),
        "SF total pay": _scaled(_load(folder, "sf_salaries_2011_2014", "total_pay"), 0.0, 300_000.0),
        "Adult age": _scaled(_load(folder, "adult", "age"), AGES[0] - 0.5, AGES[1] + 0.5),
        "IRS mean income": _scaled(_load(folder, "irs_zip_income_2013", "mean_income_usd"), 0.0, 300_000.0),
    }
    return {name: _resampled(values) for name, values in columns.items()}


@cache
def all_sets(folder: str) -> dict[str, Draw]:
    return synthetic() | real(Path(folder))


def _load(folder: Path, name: str, column: str) -> np.ndarray:
    return np.load(folder / f"{name}.npz", allow_pickle=False)[column].astype(np.float64)


def _scaled(values: np.ndarray, low: float, high: float) -> np.ndarray:
    inside = values[(values >= low) & (values <= high)]
    return (inside - low) / (high - low)


def _resampled(values: np.ndarray) -> Draw:
    return lambda n, rng: rng.choice(values, n)


def _beta(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.beta(2, 5, n)


def _waves(n: int, rng: np.random.Generator) -> np.ndarray:
    """Density of Beta(2, 5) times 1 + sin(10 pi x) / 2, by rejection."""
    kept: list[np.ndarray] = []
    while sum(map(len, kept)) < n:
        x = rng.beta(2, 5, n)
        kept.append(x[1.5 * rng.random(n) < 1.0 + 0.5 * np.sin(10 * np.pi * x)])
    return np.concatenate(kept)[:n]


def _mixture(n: int, rng: np.random.Generator) -> np.ndarray:
    first = rng.random(n) < 0.6
    values = np.where(first, rng.normal(0.7, 0.2, n), rng.normal(0.2, 0.1, n))
    return (values.clip(-1.0, 1.0) + 1.0) / 2.0
