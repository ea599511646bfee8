"""AAA, figure 2 and equation (15): what the optimal noise looks like, and what the program as printed yields."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from optldp.designer import Prior, design
from optldp.designer.methods.lattice import lattice_mechanism
from optldp.estimators.plots.style import empty_figure
from optldp.mechanisms import SolverError, TabulatedMechanism
from scipy import sparse, stats
from scipy.optimize import linprog

from ..experiment.script import Check, Run
from .variance import DISTRIBUTIONS

FIGURE_2 = {
    "Gaussian(0, 0.2²)": stats.truncnorm(-5, 5, 0, 0.2),
    "uniform": stats.uniform(-1, 2),
    "exponential(6)": DISTRIBUTIONS["exponential(6)"],
    "Beta(0.5, 0.5)": DISTRIBUTIONS["Beta(0.5, 0.5)"],
}
"""The caption names no parameters: these are figure 1's Gaussian, section 7.1's two, and the flat one."""

SYMMETRIC = ("Gaussian(0, 0.2²)", "uniform", "Beta(0.5, 0.5)")

INTERVALS, NOISE_EPSILON = 20, 2.0
"""Lattice of the pictures and of (15); figure 2's budget."""

SHOWN = 3.0
"""Noise is drawn from -3 to 3."""

FREE_NOISE, RATIO = 3.0, 0.5
"""Section 7.1: free noise spans [-3, 3] in units of the half-width, and the tails' ratio r is 1/2."""

NEAR = 0.05
"""So near to the threshold (in epsilon) it is left open whether a solution exists: tails reach a step farther."""

UNBIASED = 1e-6
"""Means of reports are right to this, which the solver's tolerance leaves of exact ones."""

AS_GOOD = 1e-3
"""By how much more than the least, as a share, a variance still counts as the least."""

BIASED = 0.1
"""Half-widths of the domain that a bias of reports must reach to be called one."""

ABSENT = 1e-9
"""Probabilities below this are the solver's rounding of zero."""


def noise(run: Run) -> list[Check]:
    """Figure 2: the optimal noise given the value, for four distributions at epsilon 2."""
    rows, tables = [], {}
    for name, distribution in FIGURE_2.items():
        prior = Prior.from_distribution(distribution, knots=INTERVALS + 1, domain=(-1, 1))
        table = tables[name] = lattice_mechanism(prior, NOISE_EPSILON)
        values, law = _noise(table)
        lean = np.sum(law * values**3, axis=1) * np.sign(table.knots)
        outside = float(prior.weights @ law[:, ~_inside(table)].sum(axis=1))
        largest = float(lean[table.knots != 0].max())
        rows.append((name, _asymmetry(table), largest, outside, _peaks(law[INTERVALS // 2])))
    header = ("distribution", "largest asymmetry", "largest E[a³ given x] sign(x)", "reports outside [-1, 1]")
    title = f"Optimal lattice noise at epsilon {NOISE_EPSILON:g}, N = {INTERVALS}"
    run.table("aaa-figure-2", title, (*header, "peaks at x = 0"), rows)
    if run.out is not None:
        _draw(run, tables)
    even = [row for row in rows if row[0] in SYMMETRIC]
    uneven, leaning, peaks = max(row[1] for row in even), max(row[2] for row in even), min(row[4] for row in rows)
    return [
        Check("symmetric data: noise leans to the middle", leaning < 0, f"largest third moment {leaning:.3g}"),
        Check("symmetric data: symmetric noise", uneven < 1e-3, f"largest difference {uneven:.1e}"),
        Check("noise has several peaks", peaks > 1, f"at least {peaks}"),
    ]


def printed(run: Run) -> list[Check]:
    """Equation (15) as it is printed, which asks for privacy between the free probabilities only."""
    window = round(FREE_NOISE * INTERVALS / 2)
    prior = Prior.from_distribution(DISTRIBUTIONS["Gaussian(0, 0.1²)"], knots=INTERVALS + 1, domain=(-1, 1))
    rows = []
    for epsilon in (0.5, 1.0, 2.0) if run.quick else (0.5, 1.0, 1.2, 1.5, 2.0, 4.0):
        objective, log_ratio, _ = _as_printed(prior, epsilon, window)
        *_, bias = _as_printed(prior, epsilon, window, unbiased=False)
        bound = design(prior, epsilon, uniform_share=0.0, exact=False).bound
        private = _private_lattice(prior, epsilon, window)
        ours = _largest_bias(lattice_mechanism(prior, epsilon))
        rows.append((epsilon, objective + prior.rounding_variance, log_ratio, bound, private, bias, ours))
    header = ("epsilon", "as printed", "its largest log-ratio", "certified bound", "private on every output, r = 1/2")
    header += ("least largest bias, without (9)", "largest bias of the lattice mechanism")
    run.table("aaa-printed", "Gaussian(0, 0.1²), N = 20, noise free in [-3, 3]", header, rows)
    share = max(row[1] / row[3] for row in rows)
    leak = min(row[2] / row[0] for row in rows)
    # Free outputs of value -1 end at -1 + 3 = 2; unbiased reports must reach coth(epsilon / 2).
    least = 2 * math.atanh(1 / (FREE_NOISE - 1))
    decided = [row for row in rows if abs(row[0] - least) > NEAR]
    agree = all((row[4] == "none") == (row[0] < least) for row in decided)
    return [
        Check("as printed, the program is not private", leak > 1, f"least of the log-ratios / epsilon: {leak:.3g}"),
        Check("its variance is below what is possible", share < 1, f"at most {share:.2f} of the bound"),
        Check(f"with tails of ratio 1/2 none is private below epsilon {least:.2f}", agree, "fifth column"),
        Check(
            "claim 2: with (9) the mechanism is unbiased, at knots and between them",
            max(row[6] for row in rows) < UNBIASED,
            f"largest bias {max(row[6] for row in rows):.1e}",
        ),
        Check(
            "claim 2: equation (15) as printed does not ask for it",
            min(row[5] for row in rows) > BIASED,
            f"largest bias of the least biased solution {min(row[5] for row in rows):.2g} to "
            f"{max(row[5] for row in rows):.2g}",
        ),
    ]


def thin_tails(run: Run) -> list[Check]:
    """Section 7.2's lattice (N = 16) with r = 1/2: the least budget that has a private solution, by noise range q."""
    prior = Prior.from_distribution(FIGURE_2["Gaussian(0, 0.2²)"], knots=17, domain=(-1, 1))
    rows = []
    for q in (2, 4) if run.quick else (2, 4, 8, 16):
        low, high = 0.05, 6.0
        while high / low > (1.1 if run.quick else 1.01):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if _private_lattice(prior, middle, 8 * q) == "none" else (low, middle)
        rows.append((q, low, high, 2 * math.atanh(1 / (q - 1)) if q > 2 else math.inf))
    header = ("q", "no solution at epsilon", "solution at", "2 artanh(1 / (q - 1))")
    run.table("aaa-thin-tails", "N = 16, r = 1/2, window q N / 2", header, rows)
    near = all(row[1] - NEAR < row[3] < row[2] + NEAR for row in rows if row[0] > 2)
    return [
        Check("least budgets are those of reports that end at q - 1", near, "last column, q = 4 and more"),
        Check("the paper's q = 4 and r = 1/2 have no solution at epsilon 0.5", rows[1][1] > 0.5, f"{rows[1][1]:.2f}"),
    ]


def _private_lattice(prior: Prior, epsilon: float, window: int) -> float | str:
    try:
        return lattice_mechanism(prior, epsilon, window=window, ratio=RATIO).expected_variance(prior.knot_prior)
    except SolverError:
        return "none"


def _largest_bias(table: TabulatedMechanism) -> float:
    """Largest distance of a mean report from its value, at the knots and in the middle between them."""
    values = np.linspace(-1, 1, 2 * table.knots.size - 1)
    return float(np.abs(table.mean(values) - values).max())


def _as_printed(prior: Prior, epsilon: float, window: int, *, unbiased: bool = True) -> tuple[float, float, float]:
    """Solve (15), with unbiasedness added or not; return variance, largest log-ratio, tails included, and bias.

    It has many solutions: the bias is that of the least biased one, to what `AS_GOOD` leaves.
    """
    n, steps = prior.knots.size, np.arange(-window, window + 1)
    size, step = steps.size, 2 / (prior.knots.size - 1)
    row, place = np.indices((n, size))
    columns = n - 1 + size  # output x_i + a_j is number i + j + M
    entries = sparse.eye_array(n * size)
    least = sparse.coo_array((np.ones(n * size), (np.arange(n * size), (row + place).ravel())), (n * size, columns))
    private = sparse.vstack([sparse.hstack([entries, -math.exp(epsilon) * least]), sparse.hstack([-entries, least])])
    mass, mean, square = _edge_moments(steps, window, step)
    asked = np.stack([mass, mean] if unbiased else [mass])
    equal = sparse.block_diag([asked] * n)
    equal, ends = sparse.hstack([equal, sparse.coo_array((len(asked) * n, columns))]), np.tile([1.0, 0.0], n)
    ends = ends if unbiased else np.ones(n)
    cost = np.r_[np.outer(prior.weights, square).ravel(), np.zeros(columns)]
    found = _solved(cost, private, np.zeros(2 * n * size), equal, ends)
    law = found.x[: n * size].reshape(n, size)
    bias = sparse.hstack([sparse.block_diag([mean[None]] * n), sparse.coo_array((n, columns))])
    largest = sparse.coo_array(np.full((2 * n, 1), -1.0))
    rows = sparse.vstack([private, cost[None], bias, -bias])
    last = sparse.vstack([sparse.coo_array((2 * n * size + 1, 1)), largest])
    limits = np.r_[np.zeros(2 * n * size), found.fun * (1 + AS_GOOD), np.zeros(2 * n)]
    least = _solved(
        np.r_[np.zeros(cost.size), 1.0],
        sparse.hstack([rows, last]),
        limits,
        sparse.hstack([equal, sparse.coo_array((ends.size, 1))]),
        ends,
    )
    return float(found.fun), _log_ratio(law, window), float(least.fun) * window * step


def _solved(cost: np.ndarray, at_most: Any, limits: np.ndarray, equal: Any, ends: np.ndarray) -> Any:
    found = linprog(cost, at_most, limits, equal, ends, method="highs-ipm")
    if found.status != 0:
        raise SolverError(f"equation (15) must have a solution, got {found.message!r}: widen the window")
    return found


def _edge_moments(steps: np.ndarray, window: int, step: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mass, mean (in windows) and second moment per unit of each free probability; the edges carry their tails."""
    thin = 1 / (1 - RATIO)
    mass, mean, square = np.ones(steps.size), steps / window, (steps * step) ** 2
    mass[[0, -1]] = thin
    mean[[0, -1]] = np.array([-1, 1]) * (thin + RATIO * thin**2 / window)
    square[[0, -1]] = step**2 * (window**2 * thin + (2 * window - 1) * RATIO * thin**2 + 2 * RATIO * thin**3)
    return mass, mean, square


def _log_ratio(free: np.ndarray, window: int) -> float:
    """Return the largest log-ratio over the outputs that are free for some value, with the tails of the others.

    Infinite where an output is possible for one value and not for another.
    """
    n = free.shape[0]
    jump = np.arange(-window, n + window) - np.arange(n)[:, None]
    held = np.take_along_axis(free, np.clip(jump + window, 0, free.shape[1] - 1), axis=1)
    law = held * RATIO ** np.maximum(np.abs(jump) - window, 0)
    most, least = law.max(axis=0), law.min(axis=0)
    most, least = most[most > ABSENT], least[most > ABSENT]
    return math.inf if least.min() < ABSENT**2 else float(np.log(most / least).max())


def _noise(table: TabulatedMechanism) -> tuple[np.ndarray, np.ndarray]:
    """Noise y - x of every point output and its probability, (n, m) each; the two tails are left out."""
    return table.low[1:-1] - table.knots[:, None], table.probabilities[:, 1:-1]


def _inside(table: TabulatedMechanism) -> np.ndarray:
    return np.abs(table.low[1:-1]) <= 1


def _asymmetry(table: TabulatedMechanism) -> float:
    """Largest difference between the table and itself turned around zero, over all outputs."""
    law = {round(float(y), 6): column for y, column in zip(table.low[1:-1], table.probabilities.T[1:-1], strict=True)}
    nothing = np.zeros(table.knots.size)
    return max(float(np.abs(column - law.get(-y, nothing)[::-1]).max()) for y, column in law.items())


def _peaks(row: np.ndarray) -> int:
    """Outputs (or runs of equally probable ones) that are more probable than both neighbours."""
    steps = np.sign(np.round(np.diff(np.r_[0, row, 0]), 6))
    steps = steps[steps != 0]
    return int(np.sum((steps[:-1] > 0) & (steps[1:] < 0)))


def _draw(run: Run, tables: dict[str, TabulatedMechanism]) -> None:
    from matplotlib.colors import LogNorm

    figure = empty_figure(10.2, 4.6)
    places = figure.subplots(2, len(tables), sharex=True, height_ratios=(1, 3))
    step = 2 / INTERVALS
    levels = np.arange(-SHOWN, SHOWN + step / 2, step)
    image = None
    for (name, table), top, below in zip(tables.items(), *places, strict=True):
        prior = Prior.from_distribution(FIGURE_2[name], knots=INTERVALS + 1, domain=(-1, 1))
        top.bar(prior.knots, prior.weights, 0.8 * step, color="#0072B2")
        top.set(title=name, ylim=(0, None))
        values, law = _noise(table)
        picture = np.zeros((levels.size, table.knots.size))
        spots = np.rint((values + SHOWN) / step).astype(int)
        kept = (spots >= 0) & (spots < levels.size)
        np.add.at(picture, (spots[kept], np.nonzero(kept)[0]), law[kept])
        image = below.pcolormesh(table.knots, levels, np.maximum(picture, 1e-4), norm=LogNorm(1e-3, 1), cmap="cividis")
        below.set(xlabel="value x")
    places[0, 0].set_ylabel("share of data")
    places[1, 0].set_ylabel("noise a")
    if image is not None:
        figure.colorbar(image, ax=places[1, -1], label="probability of the noise")
    run.figure("aaa-figure-2", figure)
