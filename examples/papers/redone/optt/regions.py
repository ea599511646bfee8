"""OPTT's comparisons: with Laplace and Duchi (figures 1 and 2, theorems 8 to 10), with the optimum, and on data."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

import numpy as np
from optldp.designer import Prior, WorstCase, design
from optldp.designer.planning import ptt_worst_case_bound
from optldp.estimators.plots.style import SHADE, new_axes, whole_figure
from optldp.mechanisms.families.hybrid import hybrid_variance
from optldp.mechanisms.families.piecewise import piecewise_variance, pm_sub_variance
from optldp.mechanisms.families.ptt import optimal_eta, ptt_variance
from optldp.mechanisms.families.ptt2 import ptt2_variance
from optldp.mechanisms.families.three_outputs import three_outputs_variance
from scipy.optimize import brentq

from ..aaa.data import real, synthetic
from ..experiment.script import Check, Run

THETA = (9 / 4, 1 + ((1 + (s := math.cbrt(2 + math.sqrt(3)) + math.cbrt(2 - math.sqrt(3)))) ** 3 + 1) / (3 * s**2))
"""(41)."""

CLOSED_FORMS: tuple[Callable[[float, np.ndarray], np.ndarray], ...] = (
    lambda e, x: _duchi(e, x),
    lambda e, x: piecewise_variance(x, e),
    lambda e, x: pm_sub_variance(x, e),
    lambda e, x: hybrid_variance(x, e),
    lambda e, x: three_outputs_variance(x, e),
)

EXAMPLE = 1.9
"""The paper's example of an eta that beats Duchi's worst case at every budget."""

GRID = np.geomspace(1e-3, 10, 400)
"""Budgets at which claims for all budgets are tried."""


def figure_1(run: Run) -> list[Check]:
    """Figure 1: the budget at which Laplace overtakes Duchi, by value."""
    rows = [(x, _overtaken(x)) for x in (0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)]
    run.table("optt-figure-1", "Laplace has less variance than Duchi above this budget", ("value", "epsilon"), rows)
    if run.out is not None:
        axes = new_axes(6.0, 3.6)
        x = np.linspace(-0.999, 0.999, 401)
        axes.plot(x, [_overtaken(abs(v)) for v in x], color="#000000")
        axes.set(xlabel="value x", ylabel="privacy budget ε", ylim=(0, 10))
        axes.text(0, 1.0, "Duchi better", ha="center")
        axes.text(0, 6.0, "Laplace better", ha="center")
        run.figure("optt-figure-1", whole_figure(axes))
    small = GRID[GRID <= 1]
    ahead = max(float((_duchi(small, x) * small**2 / 8).max()) for x in (0.0, 0.5, 1.0))
    never = float((_duchi(GRID, 1.0) * GRID**2 / 8).max())
    return [
        Check("Duchi beats Laplace for every epsilon up to 1", ahead < 1, f"at most {ahead:.3f} of its variance"),
        Check("at x = 1 Laplace never overtakes: (6) has no solution", never < 1, f"at most {never:.3f} of it"),
    ]


def figure_2(run: Run) -> list[Check]:
    """Figure 2 and theorem 9: for which eta and budgets I-PTT beats Duchi's worst case."""
    low, high = _printed_interval()
    rows = [(eta, _eta_threshold(eta)) for eta in (1.6, low, 1.8, EXAMPLE, 2.0, 2.5, 3.0, 5.0, high)]
    header = ("eta", "beats Duchi's worst case above epsilon")
    run.table("optt-figure-2-eta", f"(29) holds for eta in [{low:.4f}, {high:.4f}]", header, rows)
    best, pm = _best_threshold(), _threshold(lambda e: float(piecewise_variance(1, e)))
    print(f"\nthe best eta of each budget: above epsilon {best:.4f}; PM: above {pm:.4f}")
    ranges = [(e, optimal_eta(e), *_winning(e), _gain(e)) for e in (0.5, 1.0, 1.2, 1.5, 2.0, 3.0, 4.0)]
    header = ("epsilon", "best eta", "wins from eta", "to eta", "worst case, best I-PTT / Duchi")
    run.table("optt-figure-2-epsilon", "I-PTT against Duchi, worst case", header, ranges)
    if run.out is not None:
        _draw_region(run, (low, high))
    fine = np.linspace(1.01, 20, 4000)
    printed, right = ([eta for eta in fine if _printed_30(eta, corrected=c)] for c in (False, True))
    print(
        f"\n(30) as printed holds for {len(printed)} of {fine.size} etas tried, with its f3 corrected for {len(right)}"
    )
    sample = [_worst(e, EXAMPLE) / float(_duchi(e, 0)) for e in (0.5, 1.0, 1.5)]
    ahead = min(_gain(e) for e in GRID[GRID < 1.15])
    return [
        Check("no I-PTT beats Duchi's worst case below epsilon 1.15", ahead > 1, f"smallest ratio {ahead:.4f}"),
        Check("the paper's eta = 1.9 does not at 0.5 and 1", min(sample[:2]) > 1, f"{sample[0]:.3f}, {sample[1]:.3f}"),
        Check("it does at 1.5", sample[2] < 1, f"{sample[2]:.3f}"),
        Check("(30) holds for no eta, once its f3 is corrected", not right, f"as printed from {printed[0]:.3f} on"),
        Check("the best eta wins where PM does not", best < pm, f"from {best:.3f} on, PM from {pm:.3f}"),
    ]


def bounds(run: Run) -> list[Check]:
    """Theorems 8 and 10, (43), (45) and conjecture 2: what holds for all budgets."""
    worst = np.array([_worst(e, optimal_eta(e)) for e in GRID])
    t = 1 / np.expm1(GRID)
    bound = THETA[0] * t**2 + THETA[1] * t
    pointwise = float(min(worst / _duchi(GRID, 1.0)))
    laplace = float((worst * GRID**2 / 8).max())
    rows = []
    for e in (0.001, 0.01, 0.1, 0.5, 1.0, 2.0, 4.0):
        here, u = _worst(e, optimal_eta(e)), 1 / math.expm1(e)
        ratios = here / (THETA[0] * u**2 + THETA[1] * u), here / ptt_worst_case_bound(e)
        rows.append((e, e**2 * here, e**2 * float(_duchi(e, 0)), 8.0, *ratios))
    header = ("epsilon", "epsilon² x I-PTT", "epsilon² x Duchi", "epsilon² x Laplace", "I-PTT / bound (43)")
    run.table("optt-bounds", "Least worst-case variances", (*header, "I-PTT / bound corrected"), rows)
    tight = float((worst / bound).min())
    limit = rows[0][1]
    return [
        Check(
            "theorem 8: no I-PTT beats Duchi at every value", pointwise > 1, f"at x = 1 at least {pointwise:.3f} times"
        ),
        Check(
            "conjecture 2: the best I-PTT beats Laplace at every budget", laplace < 1, f"at most {laplace:.3f} of it"
        ),
        Check("(43) is a lower bound", tight > 1, f"smallest ratio {tight:.3f}"),
        Check("it is not tight", tight > 1.5, f"the variance is {tight:.2f} times it or more"),
        Check("epsilon² times the variance tends to 16/3, not 9/4", abs(limit - 16 / 3) < 0.01, f"{limit:.4f}"),
        Check(
            "(45) has Duchi and I-PTT the wrong way round",
            rows[0][2] < limit < 8,
            f"{rows[0][2]:.3f} < {limit:.3f} < 8",
        ),
    ]


def worst_cases(run: Run) -> list[Check]:
    """Largest variances of everything beside the certified minimax over all unbiased mechanisms."""
    rows = []
    for e in (1.0,) if run.quick else (0.5, 1.0, 1.5, 2.0, 3.0, 4.0):
        grid = np.linspace(0, 1, 2001)
        others = [float(np.max(variance(e, grid))) for variance in CLOSED_FORMS]
        second = float(ptt2_variance(1, e, optimal_eta(e, kind=2)))
        minimax = design(Prior.even(np.linspace(-1, 1, 17 if run.quick else 65)), e, objective=WorstCase())
        ours = minimax.mechanism.worst_case_variance()[0]
        rows.append((e, 8 / e**2, *others, second, _worst(e, optimal_eta(e)), ours, minimax.bound))
    header = ("epsilon", "Laplace", "Duchi", "PM", "PM-SUB", "hybrid", "three outputs", "II-PTT", "I-PTT")
    header += ("minimax, ours", "nothing unbiased below")
    run.table("optt-worst-case", "Largest variance on [-1, 1]", header, rows)
    best = min(row[8] / row[-1] for row in rows)
    sub = min(row[4] / row[8] for row in rows)
    return [
        Check("I-PTT's lower bound is not the bound of all mechanisms", best > 1.02, f"{best:.3f} times it or more"),
        Check("PM-SUB and PM are I-PTTs, so the best eta beats them", sub >= 1, f"PM-SUB / best at least {sub:.5f}"),
    ]


def on_data(run: Run) -> list[Check]:
    """Expected variance on data, eta tuned to their second moment."""
    sets = synthetic((10_000,)) + ([] if run.data is None else real(run.data))
    rows = []
    for data in sets:
        moment = float(np.mean(data.values**2))
        for e in (1.0,) if run.quick else (0.5, 1.0, 2.0, 4.0):
            eta = optimal_eta(e, moment)
            prior = Prior.from_data(data.values, knots=17 if run.quick else 65, domain=(-1, 1))
            best = design(prior, e, uniform_share=0.0, exact=False)
            means = [float(np.mean(of)) for of in (_duchi(e, data.values), piecewise_variance(data.values, e))]
            tuned = float(np.mean(ptt_variance(data.values, e, eta)))
            rows.append((data.name, e, moment, eta, *means, tuned, best.expected_variance, best.bound))
    header = ("data", "epsilon", "second moment", "eta", "Duchi", "PM", "I-PTT, tuned", "design, ours")
    header += ("nothing unbiased below",)
    run.table("optt-data", "Expected variance on [-1, 1]", header, rows)
    gain = max(row[6] / row[5] for row in rows)
    return [Check("tuned to the second moment, I-PTT is never worse than PM", gain <= 1, f"at most {gain:.4f} of it")]


def _duchi(epsilon: np.ndarray | float, x: np.ndarray | float) -> np.ndarray:
    return 1 / np.tanh(np.asarray(epsilon) / 2) ** 2 - np.asarray(x) ** 2


def _worst(epsilon: float, eta: float) -> float:
    return float(ptt_variance(1, epsilon, eta))


def _gain(epsilon: float) -> float:
    return _worst(epsilon, optimal_eta(epsilon)) / float(_duchi(epsilon, 0))


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    return cast("float", brentq(function, low, high))


def _overtaken(x: float) -> float:
    """Budget at which 8 / epsilon^2 falls below Duchi's variance at x, |x| < 1."""
    return _root(lambda e: float(_duchi(e, x)) - 8 / e**2, 0.5, 200)


def _threshold(worst_case: Callable[[float], float]) -> float:
    """Budget at which a worst case falls to Duchi's."""
    return _root(lambda e: worst_case(e) - float(_duchi(e, 0)), 0.3, 10)


def _best_threshold() -> float:
    return _threshold(lambda e: _worst(e, optimal_eta(e)))


def _eta_threshold(eta: float) -> float:
    return _threshold(lambda e: _worst(e, eta))


def _winning(epsilon: float) -> tuple[float, float]:
    """Interval of eta that beats Duchi's worst case, or nan."""
    best, goal = optimal_eta(epsilon), float(_duchi(epsilon, 0))
    if _worst(epsilon, best) >= goal:
        return math.nan, math.nan
    low = _root(lambda eta: _worst(epsilon, eta) - goal, 1 + 1e-6, best)
    return low, _root(lambda eta: _worst(epsilon, eta) - goal, best, 1e4)


def _printed_interval() -> tuple[float, float]:
    """The etas for which (29) holds: a non-positive discriminant f1; f2 < 0 holds there too."""

    def f1(eta: float) -> float:
        u, v = eta**3 / (3 * (eta - 1) ** 2), 1 / (3 * (eta - 1) ** 2)
        return (u + v - 3) ** 2 - 4 * (u - 4) * (v - 1)

    return _root(f1, 1.6, 2.0), _root(f1, 8.0, 9.5)


def _printed_30(eta: float, *, corrected: bool) -> bool:
    """Whether (30) holds at eta; its f3 should be the linear coefficient of (27), eta^3 - 9 (eta - 1)^2 + 1."""
    u, v = eta**3 / (3 * (eta - 1) ** 2), 1 / (3 * (eta - 1) ** 2)
    f1 = (u + v - 3) ** 2 - 4 * (u - 4) * (v - 1)
    f3 = eta**3 - 9 * (eta - 1) ** 2 + 1 if corrected else eta**3 + 3 * (eta - 1) ** 2 - 12 * eta + 13
    return f1 > 0 and u < 4 and f3 <= 0 and v <= 1


def _draw_region(run: Run, printed: tuple[float, float]) -> None:
    axes = new_axes(7.2, 4.6)
    eta = np.linspace(1.6, 10, 400)
    edge = np.array([_eta_threshold(v) for v in eta])
    axes.fill_between(eta, edge, 4, color=SHADE)
    axes.plot(eta, edge, color="#000000", label="I-PTT and Duchi alike")
    budgets = np.linspace(0.02, 4, 200)
    axes.plot([optimal_eta(e) for e in budgets], budgets, color="#0072B2", linestyle="--", label="best eta")
    axes.plot(1 + np.exp(budgets / 2), budgets, color="#E69F00", linestyle="-.", label="PM")
    for end in printed:
        label = "ends of the paper's interval (29)" if end == printed[0] else None
        axes.axvline(end, color="#D55E00", linestyle=":", label=label)
    axes.plot([EXAMPLE] * 2, [0.5, 1.0], "x", color="#D55E00", label="eta = 1.9 at ε = 0.5 and 1")
    axes.text(7.9, 3.0, "I-PTT better\nin the worst case", ha="center")
    axes.text(6.0, 0.8, "Duchi better", ha="center")
    axes.set(xlabel="eta", ylabel="privacy budget ε", xlim=(1.4, 10), ylim=(0, 4))
    whole_figure(axes).legend(fontsize=8.5, loc="outside lower center", ncols=3)
    run.figure("optt-figure-2", whole_figure(axes))
