"""Distributions by tables for the mean, for the distribution function and the square wave, beside histograms of cells
that are collected level by level: 100,000 users, values at 64 knots of [0, 1]; Wasserstein-1, the mean error of the
nine deciles and of the shares of all dyadic ranges, all times 1000.

Tables are made for the earlier half or year of a column and judged at the later one; what is fitted is "smooth".
Rivals are written anew here: users are divided among levels evenly, each reports his cell of the level by subset
selection, and all levels are made consistent by least squares, negative parts moved away. "hierarchy": cells of 4, 16
and 64, after Cormode, Kulkarni and Srivastava (2019). "Haar": 2, 4, ... 64 cells, of whose halves the differences are
taken, after the same and the note in `wavelets`. "adaptive": as the hierarchy, but what fewer than a threshold have is
not divided further, after Du, Hu, Zhu, Zhang, Chen, Li, Fang and Wang (2021), "AHEAD", with its threshold and with no
users spent on finding parameters."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from markdown_table import table
from optldp.designer import Prior, design
from optldp.designer.objectives import Cdf
from optldp.estimators import CategoryCounts, ReportCounts, estimate_distribution, estimate_frequencies
from optldp.estimators.distributions.metrics import quantile_error, range_query_error, wasserstein_1
from optldp.estimators.frequencies import norm_sub
from optldp.mechanisms import TabulatedMechanism, square_wave
from optldp.mechanisms.categorical.subset_selection import subset_selection
from years import pairs

from .repetitions import Errors, repeat
from .wavelets import wavelet_weights

TITLE = "Tables for distributions beside hierarchical histograms"
USERS, CELLS, FANOUT, LEVELS = 100_000, 64, 4, 3
KNOTS = np.linspace(0.0, 1.0, CELLS)
COLUMNS, EPSILONS = ("SF total_pay", "ACS income"), (1.0, 4.0)
OURS, RIVALS = ("mean", "cdf", "square wave"), ("hierarchy", "Haar", "adaptive")
MEASURES = {"W1": "1000 x Wasserstein-1", "quantile": "1000 x error of deciles", "range": "1000 x error of ranges"}
ROUGH = 0.2
"""Gap at which a table for the distribution function is good enough to be looked at."""


def run(data: Path, repetitions: int, workers: int) -> str:
    cases = [(data, name, epsilon) for name in COLUMNS for epsilon in EPSILONS]
    found = repeat(_errors, cases, repetitions, workers)
    parts = []
    for measure, title in MEASURES.items():
        rows = [
            (name, f"{epsilon:g}", *(one.show(f"{measure} {method}") for method in (*OURS, *RIVALS)))
            for (_, name, epsilon), one in zip(cases, found, strict=True)
        ]
        parts += [f"{title}:", table(("data", "epsilon", *OURS, *RIVALS), rows)]
    return "\n\n".join(parts)


@cache
def _halves(data: Path, name: str) -> tuple[Prior, np.ndarray]:
    """The earlier prior, and the later weights."""
    pair = next(one for one in pairs(data) if one.name == name)
    low, high = max(pair.low, float(pair.older.min())), min(pair.high, float(np.quantile(pair.older, 0.999)))
    older, newer = (
        Prior.from_data((np.clip(x, low, high) - low) / (high - low), knots=CELLS, domain=(0, 1), source="public")
        for x in (pair.older, pair.newer)
    )
    return older, newer.weights


@cache
def _table(data: Path, name: str, epsilon: float, method: str) -> TabulatedMechanism:
    prior, _ = _halves(data, name)
    if method == "square wave":
        return square_wave(KNOTS, epsilon)
    if method == "cdf":
        return design(prior, epsilon, objective=Cdf(USERS), tolerance=ROUGH).mechanism
    return design(prior, epsilon).mechanism


def _errors(data: Path, name: str, epsilon: float, rng: np.random.Generator) -> Errors:
    _, truth = _halves(data, name)
    cells = rng.choice(CELLS, USERS, p=truth)
    fits = {}
    for method in OURS:
        made = _table(data, name, epsilon, method)
        fits[method] = estimate_distribution(ReportCounts.from_reports(made, made.sample(KNOTS[cells], rng))).value
    fits["hierarchy"] = tree_weights(cells, epsilon, rng, adaptive=False)
    fits["adaptive"] = tree_weights(cells, epsilon, rng, adaptive=True)
    fits["Haar"] = wavelet_weights((cells + 0.5) / CELLS, epsilon, 6, rng)
    found: Errors = {}
    for method, weights in fits.items():
        found[f"W1 {method}"] = 1000 * wasserstein_1(KNOTS, weights, truth)
        found[f"quantile {method}"] = 1000 * quantile_error(KNOTS, weights, truth)
        found[f"range {method}"] = 1000 * range_query_error(weights, truth)
    return found


def tree_weights(cells: np.ndarray, epsilon: float, rng: np.random.Generator, *, adaptive: bool) -> np.ndarray:
    """Return the weights (CELLS,) of users in cells, who are divided among the levels of a tree."""
    level, parts, rows, seen = rng.integers(LEVELS, size=cells.size), np.zeros(CELLS, dtype=int), [], []
    divided = np.ones(1, dtype=bool)
    for number in range(LEVELS):
        below = np.arange(CELLS) // FANOUT ** (LEVELS - 1 - number)
        # A part that is not divided stays what it was.
        parts = np.unique(np.where(divided[parts], CELLS + below, parts), return_inverse=True)[1]
        asked = cells[level == number]
        mechanism = subset_selection(range(int(parts.max()) + 1), epsilon)
        counted = CategoryCounts.from_reports(mechanism, mechanism.sample_codes(parts[asked], rng))
        shares = estimate_frequencies(counted, method="unbiased").value
        rows.append((parts == np.arange(shares.size)[:, None]) * np.sqrt(asked.size))
        seen.append(shares * np.sqrt(asked.size))
        variance = 4.0 * np.exp(epsilon) / (asked.size * np.expm1(epsilon) ** 2)
        least = np.sqrt((FANOUT + 1) * variance) if adaptive else -np.inf
        divided = shares > least
    whole = np.full((1, CELLS), USERS)  # all shares together are one
    weights = np.linalg.lstsq(np.vstack([*rows, whole]), np.r_[np.concatenate(seen), USERS], rcond=None)[0]
    return norm_sub(weights)
