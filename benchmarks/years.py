"""Columns that were measured twice: an earlier year or half, which a prior is of, and a later one, the truth."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from statsmodels.datasets import anes96, fair, modechoice, randhie

SEED = 2024
"""Of the one shuffle: of a set whose rows are in no order of time, two random halves."""


@dataclass(frozen=True, eq=False)
class Pair:
    """A column's earlier and later values within a public range; what is outside is moved to its ends."""

    name: str
    how: str
    older: np.ndarray
    newer: np.ndarray
    low: float
    high: float

    def swapped(self) -> "Pair":
        return Pair(self.name, self.how, self.newer, self.older, self.low, self.high)


def pairs(folder: Path) -> Iterator[Pair]:
    """Every pair of the data folder and of statsmodels, the ranges round numbers that hold nearly all."""
    yield from _salaries(folder)
    bank, people, adult = (_columns(folder, name) for name in ("bank_full", "acs_pincp_2019_excerpt", "adult"))
    for column, low, high in (("balance", -10_000, 105_000), ("duration", 0, 5_000), ("campaign", 0, 64)):
        yield _pair(f"bank {column}", "first and second half of 2.5 years", *_halves(bank[column]), low, high)
    yield _pair("bank age", "first and second half of 2.5 years", *_halves(bank["age"]), 15, 100)
    yield _pair("ACS income", "random halves", *_shuffled(people["pincp"]), -10_000, 1_400_000)
    yield _pair("ACS income", "men and women", *_by(people["pincp"], people["sex"] == 1), -10_000, 1_400_000)
    for column, high in (("capital_gain", 100_000), ("hours_per_week", 100), ("fnlwgt", 1_500_000)):
        yield _pair(f"Adult {column}", "random halves", *_shuffled(adult[column]), 0, high)
    visits = np.asarray(cast("Any", randhie).load_pandas().data["mdvis"], float)
    yield _pair("RAND visits", "random halves", *_shuffled(visits), 0, 76)
    yield _pair("ZIP income", "tax returns of even and odd states", *_states(folder), 0, 1_000_000)
    affairs = np.asarray(cast("Any", fair).load_pandas().data["affairs"], float)
    yield _pair("Fair affairs", "random halves", *_shuffled(affairs), 0, 60)
    towns = np.asarray(cast("Any", anes96).load_pandas().data["popul"], float)
    yield _pair("ANES place of living", "random halves", *_shuffled(towns), 0, 7_500)
    waits = np.asarray(cast("Any", modechoice).load_pandas().data["invt"], float)
    yield _pair("Travel minutes", "random halves", *_shuffled(waits), 0, 1_440)


def _salaries(folder: Path) -> Iterator[Pair]:
    data = _columns(folder, "sf_salaries_2011_2014")
    highs = {"base_pay": 320_000, "overtime_pay": 250_000, "other_pay": 405_000, "total_pay": 570_000,
             "benefits": 100_000}  # fmt: skip
    for column, high in highs.items():
        for year in (2011, 2012, 2013):
            older, newer = (_known(data[column][data["year"] == each]) for each in (year, year + 1))
            if len(older):  # benefits were not published in the first year
                yield _pair(f"SF {column}", f"{year}, {year + 1}", older, newer, 0, high)
    for year, later in ((2011, 2012), (2012, 2013)):
        older, newer = (_known(data["total_pay_benefits"][data["year"] == each]) for each in (year, later))
        change = ", definition changed" if year == 2011 else ""
        yield _pair("SF total_pay_benefits", f"{year}, {later}{change}", older, newer, 0, 570_000)


def _states(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Tax returns of ZIP codes, an income class at its mean, of every other state; a hundredth of them."""
    data = _columns(folder, "irs_zip_income_2013")
    whole = (data["zipcode"] > 0) & (data["zipcode"] < 99_999) & (data["n_returns"] > 0)
    value, people, state = (data[name][whole] for name in ("mean_income_usd", "n_returns", "state_fips"))
    even = np.isin(state, np.unique(state)[::2])
    return tuple(np.repeat(value[side], people[side] // 100) for side in (even, ~even))  # pyright: ignore[reportReturnType]


def _columns(folder: Path, name: str) -> Any:
    return np.load(folder / f"{name}.npz", allow_pickle=False)


def _known(values: np.ndarray) -> np.ndarray:
    return values[~np.isnan(values)].astype(float)


def _halves(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return values[: len(values) // 2], values[len(values) // 2 :]


def _shuffled(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return _halves(np.random.default_rng(SEED).permutation(values))


def _by(values: np.ndarray, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return values[first], values[~first]


def _pair(name: str, how: str, older: np.ndarray, newer: np.ndarray, low: float, high: float) -> Pair:
    older, newer = (np.clip(np.asarray(each, float), low, high) for each in (older, newer))
    return Pair(name, how, older, newer, low, high)
