"""AAA, figure 3: the expected variance of one report against epsilon, beside the certified optimum."""

from __future__ import annotations

import math

import numpy as np
from optldp.designer import Prior, compare, design
from optldp.estimators.plots.style import SHADE, empty_figure, method_style
from optldp.solvers import solve_on_outputs
from scipy import stats

from ..experiment.script import Check, Run

METHODS = ("aaa", "laplace", "duchi", "piecewise", "hybrid", "square-wave", "three-outputs", "ptt")
PAPERS_METHODS = ("laplace", "duchi", "piecewise", "hybrid", "square-wave")
"""The competitors that the paper has; "three-outputs" and "ptt" are from elsewhere."""

EPSILONS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)

DISTRIBUTIONS = {
    "Gaussian(0, 0.1²)": stats.truncnorm(-10, 10, 0, 0.1),
    "exponential(6)": stats.truncexpon(12, loc=-1, scale=1 / 6),
    "Beta(0.5, 0.5)": stats.beta(0.5, 0.5, loc=-1, scale=2),
}
"""Section 7.1, truncated to [-1, 1]."""

TOLERANCE = 1e-6
"""The relative gap that certificates are asked for."""

REACH = 1.5
"""Outputs of the fine lattice reach so many times as far as Duchi's; farther gains nothing."""

Row = tuple[str, float, dict[str, float]]
"""Distribution, budget, and the expected variance of each method, "bound" and "optimal" among them."""


def variance(run: Run) -> list[Check]:
    """Figure 3: expected variance against epsilon for three distributions."""
    knots, epsilons = (21, (0.5, 1.0, 4.0)) if run.quick else (101, EPSILONS)
    rows = [_row(name, epsilon, knots) for name in DISTRIBUTIONS for epsilon in epsilons]
    columns = ("bound", "optimal", *METHODS)
    header = ("distribution", "epsilon", *columns, "AAA / best of the paper's competitors")
    cells = [(name, epsilon, *(found[c] for c in columns), _against(found)) for name, epsilon, found in rows]
    run.table("aaa-figure-3", f"Expected variance on [-1, 1], {knots} knots", header, cells)
    if run.out is not None:
        _draw(run, rows)
    lowest = min(min(found[m] for m in ("optimal", *METHODS)) / found["bound"] for _, _, found in rows)
    ratios = [_against(found) for _, _, found in rows]
    half = next(_against(found) for name, epsilon, found in rows if name.startswith("Gauss") and epsilon == 1.0)
    floor = next(found for name, epsilon, found in rows if name.startswith("Gauss") and epsilon == 1.0)
    possible = floor["bound"] / min(floor[m] for m in PAPERS_METHODS)
    return [
        Check("no method is below the certified bound", lowest > 1 - TOLERANCE, f"smallest ratio {lowest:.7f}"),
        Check("AAA has less expected variance than its competitors", max(ratios) < 1 + 1e-3, f"{max(ratios):.4f}"),
        Check(
            "half the best competitor's variance is impossible (Gaussian, epsilon 1)",
            possible > 0.5,
            f"AAA {half:.3f}, nothing unbiased below {possible:.3f}",
        ),
    ]


def _row(name: str, epsilon: float, knots: int) -> Row:
    prior = Prior.from_distribution(DISTRIBUTIONS[name], knots=knots, domain=(-1, 1))
    best = design(prior, epsilon, uniform_share=0.0, exact=False)
    others = compare(prior, [epsilon], methods=METHODS, uniform_share=0.0)
    found = {"bound": best.bound, "optimal": best.expected_variance}
    return name, epsilon, found | {row.method: float(row.expected_variance or "nan") for row in others}


def _against(found: dict[str, float]) -> float:
    return found["aaa"] / min(found[method] for method in PAPERS_METHODS)


def lattice(run: Run) -> list[Check]:
    """Section 7.1's lattice of N = 100: the optimum on it, by the structured interior point, and what it costs."""
    intervals, epsilons = (20, (1.0,)) if run.quick else (100, (0.5, 1.0, 2.0, 4.0))
    rows = []
    for name, distribution in DISTRIBUTIONS.items():
        prior = Prior.from_distribution(distribution, knots=intervals + 1, domain=(-1, 1))
        for epsilon in epsilons:
            steps = math.ceil(intervals / 2 * REACH / math.tanh(epsilon / 2))
            outputs = np.linspace(-steps, steps, 2 * steps + 1) * (2 / intervals)
            found = solve_on_outputs(prior.knots, prior.weights, outputs, math.exp(epsilon), tolerance=1e-7)
            on_lattice = found.value + prior.rounding_variance
            bound = design(prior, epsilon, uniform_share=0.0, exact=False).bound
            rows.append((name, epsilon, on_lattice, bound, 100 * (on_lattice / bound - 1)))
    header = ("distribution", "epsilon", "on the lattice", "certified bound, outputs free", "the lattice costs, %")
    run.table("aaa-lattice", f"Outputs on the lattice of N = {intervals}", header, rows)
    worst = max(row[-1] for row in rows)
    return [Check(f"a lattice of N = {intervals} costs at most 2%", -1e-4 < worst < 2, f"at most {worst:.2f}%")]


def _draw(run: Run, rows: list[Row]) -> None:
    """Variances as in the paper, and below them their ratios to the certified bound, where differences can be seen."""
    figure = empty_figure(10.2, 6.6)
    places = figure.subplots(2, len(DISTRIBUTIONS), sharex=True, sharey="row")
    for top, below, name in zip(*places, DISTRIBUTIONS, strict=True):
        points = [(epsilon, found) for place, epsilon, found in rows if place == name]
        epsilons = [epsilon for epsilon, _ in points]
        bound = np.array([found["bound"] for _, found in points])
        for method in ("optimal", *METHODS):
            values = np.array([found[method] for _, found in points])
            top.plot(epsilons, values, label=method, **method_style(method))
            below.plot(epsilons, values / bound, **method_style(method))
        top.fill_between(epsilons, 1e-3, bound, color=SHADE)
        below.fill_between(epsilons, 0.5, 1, color=SHADE)
        top.set(title=name, yscale="log", ylim=(0.03, 200))
        below.set(xlabel="privacy budget ε", yscale="log", ylim=(0.9, 5), yticks=(1, 1.5, 2, 3, 5))
        below.set_yticklabels(["1", "1.5", "2", "3", "5"])
        below.minorticks_off()
        for axes in (top, below):
            axes.grid(alpha=0.3)
    places[0, 0].set_ylabel("expected variance on [-1, 1]")
    places[1, 0].set_ylabel("over the certified bound")
    places[0, 0].text(0.05, 0.04, "no unbiased mechanism\ngets here", transform=places[0, 0].transAxes, fontsize=8.5)
    figure.legend(*places[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=8.5)
    run.figure("aaa-figure-3", figure)
