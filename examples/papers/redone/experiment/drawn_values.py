"""The distributions that users' values are drawn from: the papers' synthetic ones, and real columns from --data."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from .script import Run

Draw = Callable[[int, np.random.Generator], np.ndarray]
"""From a number of users and a generator to their values on [0, 1]."""

People = Callable[[int, int, np.random.Generator], np.ndarray]
"""From a number of users, a number d of attributes and a generator to their values (n, d) on [0, 1]."""

COLUMNS = {
    "SF benefits": ("sf_salaries_2011_2014", "benefits", 0.0, 60_000.0),
    "SF total pay": ("sf_salaries_2011_2014", "total_pay", 0.0, 300_000.0),
    "Adult age": ("adult", "age", 16.5, 90.5),
    "IRS mean income": ("irs_zip_income_2013", "mean_income_usd", 0.0, 300_000.0),
}
"""Real data: archive, column, and the range whose values are taken."""

TEN_COLUMNS = ("age", "education_num", "capital_gain", "capital_loss", "hours_per_week", "fnlwgt", "workclass",
               "occupation", "relationship", "native_country")  # fmt: skip
"""Of Adult: numbers, and codes of categories, which are taken for numbers as the paper takes Taobao's."""


def beta(n: int, rng: np.random.Generator) -> np.ndarray:
    """Beta(2, 5)."""
    return rng.beta(2, 5, n)


def beta_waves(n: int, rng: np.random.Generator) -> np.ndarray:
    """The density of Beta(2, 5) times 1 + sin(10 pi x) / 2, by rejection; the paper does not give its waves."""
    kept: list[np.ndarray] = []
    while sum(map(len, kept)) < n:
        x = rng.beta(2, 5, n)
        kept.append(x[1.5 * rng.random(n) < 1.0 + 0.5 * np.sin(10 * np.pi * x)])
    return np.concatenate(kept)[:n]


def two_normals(n: int, rng: np.random.Generator) -> np.ndarray:
    """S-MN of EM-MR: N(0.7, 0.2^2) and N(0.2, 0.1^2), weights 0.6 and 0.4, on [-1, 1], moved to [0, 1]."""
    first = rng.random(n) < 0.6
    values = np.where(first, rng.normal(0.7, 0.2, n), rng.normal(0.2, 0.1, n))
    return (values.clip(-1.0, 1.0) + 1.0) / 2.0


@cache
def all_sets(folder: Path | None) -> dict[str, Draw]:
    """All synthetic sets and, where a folder has them, all real columns."""
    sets = {"Beta(2,5)": beta, "Beta+Sin": beta_waves, "S-MN": two_normals}
    return sets if folder is None else sets | {name: column(folder, name) for name in COLUMNS}


def services_sets(run: Run) -> dict[str, Draw]:
    """The sets for "Privacy for Free"; Taxi and Retirement were not at hand, SF benefits and Adult age stand in."""
    sets: dict[str, Draw] = {"Beta(2,5)": beta, "Beta+Sin": beta_waves}
    if run.data is not None:
        sets |= {name: column(run.data, name) for name in ("SF benefits", "Adult age")}
    return sets


def reduction_sets(run: Run) -> dict[str, tuple[Draw, int]]:
    """The sets for EM-MR, with their numbers of users; SF's total pay stands in for SFC."""
    sets: dict[str, tuple[Draw, int]] = {"S-MN, 2,000": (two_normals, 2_000), "S-MN, 300,000": (two_normals, 300_000)}
    if run.data is not None:
        users = {"SF total pay": 43_386, "IRS mean income": 300_000}
        sets |= {f"{name}, {n:,}": (column(run.data, name), n) for name, n in users.items()}
    return sets


def wave_people(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Attributes of one distribution, `beta_waves`, independent of each other."""
    return beta_waves(n * d, rng).reshape(n, d)


def adult_people(folder: Path) -> People:
    """Rows of Adult, drawn with replacement; ten columns, each scaled from its ends."""
    with np.load(folder / "adult.npz", allow_pickle=False) as arrays:
        rows = np.stack([arrays[name].astype(np.float64) for name in TEN_COLUMNS], axis=1)
    rows = (rows - rows.min(axis=0)) / np.ptp(rows, axis=0)
    return lambda n, d, rng: rows[rng.integers(len(rows), size=n), :d]


def column(folder: Path, name: str) -> Draw:
    """Values of one of `COLUMNS` within its range, scaled to [0, 1], drawn with replacement."""
    archive, stored, low, high = COLUMNS[name]
    with np.load(folder / f"{archive}.npz", allow_pickle=False) as arrays:
        values = arrays[stored].astype(np.float64)
    inside = (values[(values >= low) & (values <= high)] - low) / (high - low)
    return lambda n, rng: rng.choice(inside, n)
