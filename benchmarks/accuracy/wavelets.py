"""Distributions by a wavelet expansion whose coefficients are collected level by level, beside "smooth" through the
square wave: four shapes, 20,000 users, budgets 0.5 and 2, 64 cells. Wasserstein-1 and Kolmogorov's distance times 1000,
and Jensen-Shannon distance (with the root).

The rival is a simplified implementation of our own of the idea of Zhao, Zhang, Sun, Li, Zhang, Wang and Liu (2025),
arXiv 2509.19661, and not their algorithm: users are divided among the levels of Haar wavelets, 2^(-l/3) of them at
level l, which minimises Wasserstein's error for equal noise of all coefficients; each reports in which half cell of the
level the value is, by subset selection of 2^(l+1) cells; the levels' unbiased differences of half cells make a
distribution, moved to the nearest one without negative parts. How many levels there are is chosen by the truth,
for each measure by itself, which nobody can do who collects."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from markdown_table import table
from optldp.estimators import CategoryCounts, InputGrid, ReportCounts, estimate_distribution, estimate_frequencies
from optldp.estimators.distributions.metrics import jensen_shannon_distance, wasserstein_1
from optldp.estimators.frequencies import norm_sub
from optldp.mechanisms import CategoricalMechanism, square_wave
from optldp.mechanisms.categorical import categorical_grr
from optldp.mechanisms.categorical.subset_selection import subset_selection

from .repetitions import Errors, repeat
from .shapes import population

TITLE = "Wavelets: four shapes"
SETS = ("one mode", "two modes", "spikes", "zeros")
USERS, CELLS, BUDGETS, LEVELS = 20_000, 64, (0.5, 2.0), (2, 3, 4, 5, 6)
MEASURES = {"W1": "1000 x Wasserstein-1", "KS": "1000 x Kolmogorov's distance", "JS": "Jensen-Shannon distance"}


def run(data: Path, repetitions: int, workers: int) -> str:
    cases = [(data, name, epsilon) for name in SETS for epsilon in BUDGETS]
    found = repeat(_errors, cases, repetitions, workers)
    parts = []
    for measure, title in MEASURES.items():
        rows = []
        for (_, name, epsilon), one in zip(cases, found, strict=True):
            best = min(LEVELS, key=lambda levels, one=one, m=measure: one.mean(f"{m} {levels}"))
            rows.append((name, f"{epsilon:g}", one.show(f"{measure} smooth"), one.show(f"{measure} {best}"), best))
        parts += [f"{title}:", table(("data", "epsilon", "smooth", "wavelets", "levels"), rows)]
    return "\n\n".join(parts)


def _errors(data: Path, name: str, epsilon: float, rng: np.random.Generator) -> Errors:
    values, low, high = population(data, name)
    grid = InputGrid.equal_cells(low, high, CELLS)
    truth = np.histogram(values, grid.edges)[0] / values.size
    users = rng.choice(values, USERS)
    mechanism = square_wave(grid.edges, epsilon)
    counts = ReportCounts.from_reports(mechanism, mechanism.sample(users, rng))
    fits = {"smooth": estimate_distribution(counts, grid=grid).value}
    places = np.minimum((users - low) / (high - low), np.nextafter(1.0, 0.0))
    fits |= {str(levels): wavelet_weights(places, epsilon, levels, rng) for levels in LEVELS}
    found: Errors = {}
    for shown, weights in fits.items():
        found[f"W1 {shown}"] = 1000 * wasserstein_1(grid.points, weights, truth) / (high - low)
        found[f"KS {shown}"] = 1000 * float(np.abs(np.cumsum(weights - truth)).max())
        found[f"JS {shown}"] = jensen_shannon_distance(weights, truth)
    return found


def wavelet_weights(places: np.ndarray, epsilon: float, levels: int, rng: np.random.Generator) -> np.ndarray:
    """Return the weights (CELLS,) of equal cells of [0, 1), from users at `places` who are divided among levels."""
    shares = 2.0 ** (-np.arange(levels) / 3)
    level = rng.choice(levels, places.size, p=shares / shares.sum())
    weights = np.ones(1)
    for number in range(levels):
        halves = 2 ** (number + 1)
        mechanism: CategoricalMechanism = (
            categorical_grr(range(2), epsilon) if halves == 2 else subset_selection(range(halves), epsilon)
        )
        codes = (places[level == number] * halves).astype(int)
        counted = CategoryCounts.from_reports(mechanism, mechanism.sample_codes(codes, rng))
        seen = estimate_frequencies(counted, method="unbiased").value.reshape(-1, 2)
        apart = (seen[:, 0] - seen[:, 1]) / 2
        weights = np.stack([weights / 2 + apart, weights / 2 - apart], axis=1).reshape(-1)
    return np.repeat(norm_sub(weights) * weights.size / CELLS, CELLS // weights.size)
