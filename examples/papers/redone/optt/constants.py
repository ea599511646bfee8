"""OPTT's constants: equations 10, 15, 17, 21 and 22, algorithm 2, theorem 4, theorem 7 and conjecture 1."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from optldp.estimators.plots.style import METHOD_STYLES, empty_figure
from optldp.mechanisms import piecewise, ptt, ptt2, verify
from optldp.mechanisms.families.ptt import optimal_eta, ptt_variance
from optldp.mechanisms.families.ptt2 import ptt2_variance
from scipy.integrate import quad

from ..experiment.script import Check, Run

EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0)
VALUES = (-1.0, -0.3, 0.0, 0.7, 1.0)
ETAS = (1.5, 2.0, 3.0)

EXACT = 1e-9
"""Quadrature and closed forms agree to this, relative to the result."""

NOISY = 4.5
"""Standard errors that one of the simulation's forty numbers may be off by."""


def constants(run: Run) -> list[Check]:
    """Theorems 1 to 3 and 6: mass, mean and variance of both types by quadrature, and by reports drawn."""
    apart = max(_quadrature(kind, epsilon, eta) for kind in (1, 2) for epsilon in EPSILONS for eta in ETAS)
    rows = [_two_piece(epsilon) for epsilon in EPSILONS]
    header = ("epsilon", "mass with eq. (17)", "mass with half of both", "log-ratio of PM made for epsilon / 1000")
    run.table("optt-pm", "PM as a member of I-PTT", header, rows)
    far = _simulated(run)
    spent = max(
        verify(build(VALUES, epsilon, eta=eta)).max_log_ratio / epsilon
        for build in (ptt, ptt2)
        for epsilon in EPSILONS
        for eta in ETAS
    )
    shape = [_uniform_draw(epsilon) for epsilon in EPSILONS]
    header = ("epsilon", "variance at 0, tent", "variance at 0, algorithm 2's uniform draw", "its log-ratio")
    run.table("optt-algorithm-2", "II-PTT drawn as algorithm 2 says, eta = 2", header, shape)
    return [
        Check("theorem 1: both types keep epsilon", 0.999 < spent <= 1, f"log-ratio / epsilon at most {spent:.9f}"),
        Check(
            "mass 1, mean x and variance (15), (22), by quadrature", apart < EXACT, f"largest difference {apart:.1e}"
        ),
        Check("reports drawn have that mean and variance", far < NOISY, f"at most {far:.1f} standard errors off"),
        Check("eq. (17) is twice too large", all(abs(row[1] - 2) < EXACT for row in rows), f"mass {rows[0][1]:.3f}"),
        Check(
            "PM exists at every budget", all(0 < row[3] <= row[0] / 1000 for row in rows), f"{rows[0][3]:.6f} at 0.0001"
        ),
        Check("half of it is right", all(abs(row[2] - 1) < EXACT for row in rows), f"mass {rows[0][2]:.3f}"),
    ]


def theorem_4(run: Run) -> list[Check]:
    """Theorem 4 and the appendix' figure: the best eta for given epsilon and q, with the mass that goes with it."""
    rows = []
    for epsilon, q in ((0.5, 0.5), (0.5, 0.75), (1.0, 0.5), (1.0, 0.75)):
        e = math.exp(epsilon)
        eta = _printed_eta(epsilon)
        only = 1 + e * (1 / q - 1)
        best = optimal_eta(epsilon)
        own = float(ptt_variance(1, epsilon, eta))
        rows.append((epsilon, q, eta, _mass(q, e, eta), only, best, own / float(ptt_variance(1, epsilon, best)) - 1))
    header = (
        "epsilon",
        "q",
        "eta of (A.4)",
        "mass there",
        "the one eta of mass 1",
        "best eta, worst case",
        "loss by (A.4)",
    )
    run.table("optt-theorem-4", "Given epsilon and q there is one I-PTT", header, rows)
    if run.out is not None:
        _draw_masses(run)
    off = min(abs(row[3] - 1) for row in rows)
    example = rows[2][3]
    loss = max(row[-1] for row in rows)
    return [
        Check("theorem 4's optimum is not a density", off > 0.01, f"mass {example:.3f} at epsilon 1, q = 1/2"),
        Check("normalised, its eta is not the best one", loss > 0.01, f"{100 * loss:.0f}% more worst-case variance"),
    ]


def types(run: Run) -> list[Check]:
    """Theorem 7 and conjecture 1: type I against type II, and against any other symmetric shape."""
    rows = []
    for epsilon in (*EPSILONS, 8.0):
        ratios = [
            float(ptt2_variance(x, epsilon, optimal_eta(epsilon, x, kind=2)))
            / float(ptt_variance(x, epsilon, optimal_eta(epsilon, x)))
            for x in (0.0, 1.0)
        ]
        rows.append((epsilon, *ratios, _best_shape(run, epsilon)))
    header = ("epsilon", "II / I, tuned to x = 0", "II / I, worst case", "best of other shapes / I, worst case")
    run.table("optt-types", "Variance of the best II-PTT over that of the best I-PTT", header, rows)
    least = min(min(row[1:3]) for row in rows)
    shapes = min(row[3] for row in rows)
    return [
        Check(
            "the best type I beats the best type II at every budget", least > 1, f"by a factor of {least:.3f} at least"
        ),
        Check("conjecture 1: no symmetric shape beats type I", shapes >= 1, f"smallest ratio {shapes:.4f}"),
    ]


def _shape(kind: int, epsilon: float, eta: float) -> tuple[float, float]:
    """k and a from normalisation and unbiasedness: k = 1 + kind eta / (E - 1)."""
    k = 1 + kind * eta / math.expm1(epsilon)
    return k, k / (eta - 1)


def _quadrature(kind: int, epsilon: float, eta: float) -> float:
    """Largest relative difference of mass, mean and variance from 1, x and the paper's (15) or (22)."""
    e, (k, a) = math.exp(epsilon), _shape(kind, epsilon, eta)
    p = kind / 2 * e / (a * k * (e - 1))  # eq. (10) and (21)
    formula = ptt_variance if kind == 1 else ptt2_variance
    worst = 0.0
    for x in VALUES:
        middle = k * x

        def density(y: float, middle: float = middle) -> float:
            distance = abs(y - middle)
            if distance > a:
                return p / e
            return p if kind == 1 else p - p / a * (e - 1) / e * distance

        ends = sorted({-k - a, middle - a, middle, middle + a, k + a})
        mass, mean, second = (
            sum(quad(lambda y, j=j: y**j * density(y), *piece)[0] for piece in pairwise(ends)) for j in range(3)
        )
        variance = float(formula(x, epsilon, eta))
        worst = max(worst, abs(mass - 1), abs(mean - x) / (k + a), abs(second - x * x - variance) / (k + a) ** 2)
    return worst


def _two_piece(epsilon: float) -> tuple[float, float, float, float]:
    """Mass of the piecewise mechanism with k and a of (17), with half of them, and the budget of a tiny table."""
    s, e = math.exp(epsilon / 2), math.exp(epsilon)
    p = (e - s) / (2 * (s + 1))  # eq. (18)
    masses = [2 * f / (s - 1) * p + 2 * f * s / (s - 1) * p / e for f in (2, 1)]
    tiny = verify(piecewise([-1, 0, 1], epsilon / 1000))
    return epsilon, masses[0], masses[1], tiny.max_log_ratio


def _simulated(run: Run) -> float:
    """Draw reports from both types' tables: the largest deviation of mean and variance, in standard errors."""
    n, rng, worst = run.repetitions(400_000, 40_000), np.random.default_rng(run.seed), 0.0
    for build, formula in ((ptt, ptt_variance), (ptt2, ptt2_variance)):
        for epsilon in (0.5, 2.0):
            table = build(np.array(VALUES), epsilon, eta=2.0)
            for x in VALUES:
                reports = table.sample(np.full(n, x), rng)
                squares = (reports - x) ** 2
                mean = abs(reports.mean() - x) / (reports.std() / math.sqrt(n))
                spread = abs(squares.mean() - float(formula(x, epsilon, 2.0))) / (squares.std() / math.sqrt(n))
                worst = max(worst, mean, spread)
    return worst


def _uniform_draw(epsilon: float) -> tuple[float, float, float, float]:
    """II-PTT's variance at 0, the variance if the window is drawn from evenly, and the ratio of that density."""
    e, (k, a) = math.exp(epsilon), _shape(2, epsilon, 2.0)
    q = (e + 1) / (k * (e - 1))
    even = q * a**2 / 3 + (1 - q) * ((k + a) ** 3 - a**3) / (3 * k)
    inside, outside = q / (2 * a), (1 - q) / (2 * k)
    return epsilon, float(ptt2_variance(0, epsilon, 2.0)), even, math.log(inside / outside)


def _printed_eta(epsilon: float) -> float:
    """(A.4): the non-negative root of eta^3 - 3 eta^2 - 2 (E - 1)."""
    e, root = math.exp(epsilon), math.sqrt(math.expm1(2 * epsilon))
    return 1 + math.cbrt(e + root) + math.cbrt(e - root)


def _mass(q: float, e: float, eta: float) -> float:
    """Total mass of the density of (10) with q held and eta free: q (1 + (eta - 1) / E)."""
    return q * (1 + (eta - 1) / e)


def _best_shape(run: Run, epsilon: float) -> float:
    r"""Least worst-case variance over random symmetric shapes and many eta, over type I's.

    An even shape s(u / a) in [0, 1] lifts the density from d to d (1 + (E - 1) s) in the window. With S_j its j-th
    moment over [-1, 1], normalisation and unbiasedness give k = 1 + 2 eta / ((E - 1) S_0), and the variance at x is
    (k - 1) x^2 + (1 - 1/k) B^2 / 3 + (E - 1) d a^3 S_2, d = (1 - 1/k) / (2 B).
    """
    excess, rng = math.expm1(epsilon), np.random.default_rng(run.seed)
    cells, count = 12, 2000
    heights = rng.random((count, cells)) ** rng.choice([0.1, 0.5, 1, 3], (count, 1))
    edges = np.linspace(0, 1, cells + 1)
    zeroth = 2 * heights @ np.diff(edges)
    second = 2 * heights @ np.diff(edges**3) / 3
    eta = 1 + np.geomspace(0.2, 20, 400)
    k = 1 + 2 * eta / (excess * zeroth[:, None])
    reach, half = k * eta / (eta - 1), k / (eta - 1)
    floor = (1 - 1 / k) / (2 * reach)
    variance = k - 1 + (1 - 1 / k) * reach**2 / 3 + excess * floor * half**3 * second[:, None]
    return float(variance.min() / ptt_variance(1, epsilon, optimal_eta(epsilon)))


def _draw_masses(run: Run) -> None:
    figure = empty_figure(9.4, 3.6)
    eta = np.linspace(1.2, 6, 300)
    for axes, epsilon in zip(figure.subplots(1, 2), (0.5, 1.0), strict=True):
        e = math.exp(epsilon)
        for q, style in ((0.5, "optimal"), (0.75, "duchi")):
            line = {key: METHOD_STYLES[style][key] for key in ("color", "linestyle", "linewidth")}
            axes.plot(eta, [_mass(q, e, value) for value in eta], label=f"q = {q:g}", **line)
        axes.axhline(1, color="#6E6E6E", linewidth=0.8)
        axes.axvline(_printed_eta(epsilon), color="#D55E00", linestyle=":", label="theorem 4's eta")
        axes.set(title=f"ε = {epsilon:g}", xlabel="eta", ylabel="total mass of the density")
        axes.legend(fontsize=8.5)
    run.figure("optt-theorem-4", figure)
