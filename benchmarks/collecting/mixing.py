"""What mixing buys, and whether a table made for it buys more than one that is made for its local budget alone.

    python benchmarks collecting.mixing [--plot docs/mixing.png] [--only bounds]

Prints four Markdown tables for docs/mixing-reports.md. `bounds` has those on mixed reports of optimal tables, with the
seconds that they take. `variation` has the least variance at one central epsilon, if the largest total variation of two
rows is held below what the optimum at a larger local budget has: linear programs on some outputs, of 9 even knots, some
minutes. `rounds` has what several rounds promise together, by each of three rules. `published` has the sum of Wang et
al. (2023) in doubles beside the bound here. Nothing is drawn at random.
"""

from __future__ import annotations

import argparse
import io
import math
import time
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from markdown_table import table
from optldp.designer import Prior, design
from optldp.mechanisms import TabulatedMechanism
from optldp.mechanisms.categorical import categorical_grr
from optldp.mechanisms.shuffling import Clones, Shuffled
from PIL import Image  # comes with matplotlib
from scipy import sparse
from scipy.optimize import linprog
from scipy.stats import binom

LOCAL = (1.0, 2.0, 4.0)
USERS = (10**4, 10**5, 10**8)
DELTA = 1e-6
SMALLER = (0.5, 1.0, 2.0, 4.0)
MORE = (1.02, 1.05, 1.1, 1.2)
"""Local budgets, as shares of that of the optimum which keeps the central epsilon."""

PIXELS_PER_INCH, COLOURS = 110, 64
MIXED = 10**4
HALVINGS = 14
ROUNDS, ROUNDS_OF, PUBLISHED = (2, 12, 52, 365), 10**5, (1.0, 3.0, 5.0)
OUTPUTS, BEYOND = 41, 1.3
"""Even ones beside those of the optimum, up to so many times its largest."""


def even(knots: int) -> Prior:
    return Prior.on_knots(np.linspace(-1, 1, knots), np.ones(knots), source="public")


def bounds() -> str:
    """One row for each local budget and number of users, 17 even knots."""
    rows = []
    for epsilon in LOCAL:
        made = design(even(17), epsilon).mechanism
        assert isinstance(made, TabulatedMechanism)
        for n in USERS:
            mixed, start = Shuffled(made, n, DELTA), time.perf_counter()
            found = mixed.generic, mixed.central_epsilon, mixed.lower_bound
            assert found[2] is not None
            seconds = time.perf_counter() - start
            told = (rounded(found[0], ROUND_CEILING), rounded(found[1], ROUND_CEILING), rounded(found[2], ROUND_FLOOR))
            rows.append([f"{epsilon:g}", f"{n:,}", *told, f"{seconds:.1f}"])
    return table(["local", "users", "generic", "of the table", "lower bound", "seconds"], rows)


def rounded(value: float, way: str) -> str:
    """Four digits, rounded so that what is said still holds."""
    return str(Context(prec=4, rounding=way).create_decimal_from_float(value))


def with_less_variation() -> str:
    """Variance at one central epsilon, over that of the optimum of its own local budget."""
    prior, rows = even(9), []
    for epsilon in SMALLER:
        made = design(prior, epsilon).mechanism
        assert isinstance(made, TabulatedMechanism)
        variation = max(np.abs(one - other).sum() / 2 for one, other in combinations(made.probabilities, 2))
        target = central(epsilon, variation)
        largest = np.abs(made.low).max() * BEYOND
        outputs = np.unique(np.concatenate([np.linspace(-largest, largest, OUTPUTS), made.low]))
        usual = least_variance(prior, outputs, epsilon, None)
        cells = []
        for share in MORE:
            most = largest_variation(epsilon * share, target)
            ratio = least_variance(prior, outputs, epsilon * share, most) / usual
            cells.append("none" if math.isnan(ratio) else f"{ratio:.3f}")
        rows.append([f"{epsilon:g}", f"{target:.4f}", *cells])
    return table(["local", "central", *(f"local times {share:g}" for share in MORE)], rows)


def central(epsilon: float, variation: float) -> float:
    return Clones(MIXED, Fraction(math.exp(epsilon)), Fraction(variation), Fraction(1), DELTA).epsilon(DELTA)


def largest_variation(epsilon: float, target: float) -> float:
    """The most that two rows of a local budget may have if their mixed reports are to keep a central epsilon."""
    low, high = 0.0, math.tanh(epsilon / 2)
    if central(epsilon, high) <= target:
        return high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if central(epsilon, middle) <= target else (low, middle)
    return low


def least_variance(prior: Prior, outputs: np.ndarray, epsilon: float, variation: float | None) -> float:
    """The least expected variance of an unbiased table on these outputs; NaN where there is none.

    Its columns are rows of probabilities, floors, and what each pair of rows has apart at each output.
    """
    n, m = prior.knots.size, outputs.size
    pairs = [] if variation is None else list(combinations(range(n), 2))
    one, eye, ratio = np.ones((1, m)), sparse.identity(m), math.exp(epsilon)
    apart = sparse.vstack([_row({i: 1, k: -1}, n) for i, k in pairs]) if pairs else sparse.csr_matrix((0, n))
    above = sparse.kron(sparse.identity(n), eye)
    floors = sparse.kron(np.ones((n, 1)), eye)
    nothing = sparse.csr_matrix((n * m, len(pairs) * m))
    blocks = [
        [-above, floors, nothing],
        [above, -ratio * floors, nothing],
    ]
    limits = [np.zeros(2 * n * m)]
    if pairs:
        blocks.append(
            [sparse.kron(apart, eye), sparse.csr_matrix((len(pairs) * m, m)), -sparse.identity(len(pairs) * m)]
        )
        nowhere = sparse.csr_matrix((len(pairs), n * m + m))
        sums = sparse.hstack([nowhere, sparse.kron(sparse.identity(len(pairs)), one)])
        limits += [np.zeros(len(pairs) * m), np.full(len(pairs), variation)]
        matrix = sparse.vstack([sparse.bmat(blocks), sums])
    else:
        matrix = sparse.bmat(blocks)
    width = (n + 1 + len(pairs)) * m
    rows = sparse.vstack([sparse.kron(sparse.identity(n), one), sparse.kron(sparse.identity(n), outputs[None])])
    equal = sparse.hstack([rows, sparse.csr_matrix((2 * n, width - n * m))])
    costs = np.concatenate([np.kron(prior.weights, outputs**2), np.zeros(width - n * m)])
    found = linprog(
        costs, matrix, np.concatenate(limits), equal, np.concatenate([np.ones(n), prior.knots]), method="highs-ipm"
    )
    return float(found.fun - prior.weights @ prior.knots**2) if found.status == 0 else math.nan


def rounds() -> str:
    """The central epsilon of several rounds, of 17 even knots, over that of one round: by sums and by log-ratios."""
    rows = []
    for epsilon in LOCAL:
        mixed = Shuffled(design(even(17), epsilon).mechanism, ROUNDS_OF, DELTA)
        for many in ROUNDS:
            each = mixed.epsilon_at(DELTA / (2 * many))
            drift = many * each * math.tanh(each / 2)
            added, advanced = many * mixed.epsilon_at(DELTA / many), each * math.sqrt(2 * many * math.log(2 / DELTA))
            start = time.process_time()
            found = [added, drift + advanced, mixed.over_rounds(many)]
            seconds = f"{time.process_time() - start:.1f}"
            rows.append([f"{epsilon:g}", str(many), *(rounded(each, ROUND_CEILING) for each in found), seconds])
    return table(["local", "rounds", "sum", "advanced composition", "log-ratios", "seconds"], rows)


def published() -> str:
    """Central epsilons of 10,000 users: the published sum, in doubles, and ours."""
    rows = []
    for epsilon in PUBLISHED:
        p = math.exp(epsilon)
        grr = Shuffled(categorical_grr(range(100), epsilon), MIXED, DELTA)
        cases = (
            ("every mechanism", (p - 1) / (p + 1), grr.generic),
            ("randomised response of 100", (p - 1) / (p + 99), grr.central_epsilon),
        )
        for name, beta, ours in cases:
            theirs = published_epsilon(p, beta, MIXED)
            rows.append([f"{epsilon:g}", name, f"{theirs:.5f}", f"{ours:.5f}"])
    theirs, exactly = published_delta(3.0, 0.25, 5, 1.5), five_users()
    return table(["local", "mechanism", "published sum", "here"], rows) + (
        f"\n\nfive users: published sum {theirs:.4f}, enumerated {exactly:.4f}"
    )


def five_users() -> float:
    """The divergence at 3 / 2 of five users' reports whose other rows differ on what two rows have alike: all cases."""
    one, other, rest = (np.array(each) / 24 for each in ([9, 3, 6, 6], [3, 9, 6, 6], [3, 3, 2, 16]))
    found = 0.0
    for seen in product(range(6), repeat=4):
        if sum(seen) == 5:
            ways = math.factorial(5) / math.prod(map(math.factorial, seen)) * math.prod(rest**seen)
            found += max(0.0, ways * float((np.array(seen) / rest / 5) @ (one - 1.5 * other)))
    return found


def published_epsilon(p: float, beta: float, n: int) -> float:
    low, high = 0.0, math.log(p)
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if published_delta(p, beta, n, math.exp(middle)) <= DELTA else (middle, high)
    return high


def published_delta(p: float, beta: float, n: int, ratio: float) -> float:
    """The sum of Wang et al. (2023), in doubles: others draw from U, U' or V alone; see `Clones`."""
    alpha = beta / (p - 1)
    up, down, alike = p - ratio, 1 - p * ratio, (1 - ratio) * (1 - alpha * (p + 1)) / (1 - 2 * alpha)
    clones = np.arange(n + 1)
    clones = clones[binom.pmf(clones, n, 2 * alpha) > 1e-20]
    threshold = -(clones * down + (n - clones) * alike) / (up - down)
    above = np.floor(threshold)
    hinge = clones / 2 * binom.sf(above - 1, np.maximum(clones - 1, 0), 0.5) - threshold * binom.sf(above, clones, 0.5)
    return float(binom.pmf(clones, n, 2 * alpha) @ ((up - down) * hinge)) / n


def _row(entries: dict[int, float], size: int) -> Any:
    made = sparse.lil_matrix((1, size))
    for at, value in entries.items():
        made[0, at] = value
    return made.tocsr()


def plot(path: Path) -> None:
    """Central epsilon against the number of users, for each local budget: generic, of the table, lower bound."""
    figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
    users = np.unique(np.logspace(2, 8, 19).round().astype(int))
    for epsilon, colour in zip(LOCAL, ("#0072B2", "#D55E00", "#009E73"), strict=True):
        made = design(even(17), epsilon).mechanism
        mixed = [Shuffled(made, int(n), DELTA) for n in users]
        lines = (("generic", ":"), ("central_epsilon", "-"), ("lower_bound", "--"))
        for name, dashes in lines:
            axes.loglog(users, [getattr(each, name) for each in mixed], dashes, color=colour, linewidth=1.6)
        axes.annotate(f"local {epsilon:g}", (users[-1] * 1.4, mixed[-1].central_epsilon), color=colour, va="center")
    for name, dashes in (("every mechanism", ":"), ("this table", "-"), ("not kept: an attack", "--")):
        axes.plot([], [], dashes, color="#6E6E6E", label=name)
    axes.set_xlim(users[0] / 1.4, users[-1] * 14)  # room for the lines' names
    axes.set_xlabel("users whose reports are mixed")
    axes.set_ylabel(f"central epsilon at delta {DELTA:g}")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=PIXELS_PER_INCH, metadata={"Software": None})
    Image.open(buffer).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    tables = {"bounds": bounds, "variation": with_less_variation, "rounds": rounds, "published": published}
    parser.add_argument("--plot", type=Path, help="draw the picture of the page there, and measure nothing")
    parser.add_argument("--only", choices=tables, help="print this table alone")
    asked = parser.parse_args()
    if asked.plot is not None:
        plot(asked.plot)
        return
    for name, made in tables.items():
        if asked.only in (None, name):
            print(f"{made()}\n")


if __name__ == "__main__":
    main()
