"""The columns that are walked: small ones that are made, of the characters that real ones have, or a folder's own."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROWS = 100_000
"""Rows of a real column: drawn anew where there are fewer, without replacement where there are more."""


@dataclass(frozen=True)
class Column:
    """A column in a file of its own, `NAME.csv`, beside the columns id, region (a to c) and weight (1 to 3).

    Attributes
    ----------
    name : str
    values : ndarray
        As they are: floats with NaN for those that are missing, or texts.
    """

    name: str
    values: np.ndarray

    @property
    def is_text(self) -> bool:
        """Whether it holds categories."""
        return self.values.dtype.kind in "UO"

    def write(self, folder: Path) -> None:
        """Write this year's file, and that of the next year: the same people, one in ten of whom has another value."""
        rng = np.random.default_rng(11)
        changed = np.where(rng.random(self.values.size) < 0.1, rng.permutation(self.values), self.values)
        for file, values in ((f"{self.name}.csv", self.values), (f"{self.name}_next.csv", changed)):
            with (folder / file).open("w", newline="", encoding="utf-8") as opened:
                rows = csv.writer(opened)
                rows.writerow(["id", "region", "weight", self.name])
                for place, value in enumerate(values):
                    cell = value if self.is_text else "" if np.isnan(value) else repr(round(float(value), 2))
                    rows.writerow([f"p{place}", "abc"[place % 3], 1 + place % 3, cell])


def made_numbers(rows: int = 1500) -> list[Column]:
    """Return small columns of the characters that numbers have."""
    rng = np.random.default_rng(5)
    income = np.where(rng.random(rows) < 0.15, 0.0, np.minimum(rng.lognormal(10, 1, rows), 9e5))
    income = np.where(rng.random(rows) < 0.4, np.round(income, -3), income)
    return [
        Column("income", np.where(rng.random(rows) < 0.03, np.nan, income)),
        Column("age", rng.integers(17, 91, rows).astype(float)),
        Column("balance", np.round(rng.normal(400, 900, rows) * rng.exponential(1, rows))),
        Column("visits", rng.poisson(2, rows).astype(float)),
    ]


def made_categories(rows: int = 1500) -> list[Column]:
    """Return a small column of categories, near duplicates and rare ones among them."""
    rng = np.random.default_rng(6)
    jobs = np.array(["Nurse", "nurse", "Cook", "Clerk", "Driver", "Poète", *(f"job {i}" for i in range(12))])
    return [Column("job", rng.choice(jobs, rows, p=np.r_[[0.3, 0.02, 0.2, 0.2, 0.1, 0.06], np.full(12, 0.01)]))]


def columns_of(folder: Path) -> Iterator[Column]:
    """Yield every column of the npz files of a folder, at 100,000 rows; histograms as the people that they count."""
    for path in sorted(folder.glob("*.npz")):
        held = np.load(path, allow_pickle=False)
        names = [name for name in held.files if not name.endswith("_vocab")]
        sizes = {held[name].size for name in names}
        rng = np.random.default_rng(1)
        counts = path.stem.endswith("_hist")
        (size,) = sizes
        chosen = rng.permutation(size)[:ROWS] if size >= ROWS else rng.integers(0, size, ROWS)
        for name in names:
            values = held[name]
            if counts:
                values = rng.choice(size, ROWS, p=values / values.sum()).astype(float)
            elif f"{name}_vocab" in held.files:
                values = held[f"{name}_vocab"][values[chosen]]
            else:
                values = values[chosen].astype(float)
            yield Column(f"{path.stem}__{name}", values)
