"""Du, Ye, Fu and Hu (2025), "Privacy for Free": figures 3 to 8, table 1, and the bias of UWA, redone.

Means are in redone/privacy_for_free/means.py and, of reports that are not decoded, raw.py; distributions in
distributions.py and, at several numbers of cells, cells.py; both of many attributes in dimensions.py.
What was found: docs/papers/privacy-for-free.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from optldp.estimators import InputGrid, ReportCounts, Service, estimate_combined_mean, likelihood_of, plain_decoder
from optldp.estimators.counting.group import ReportGroup
from optldp.estimators.distributions.smoothed_em import ems
from optldp.estimators.means.decoding import decoded_variances
from optldp.estimators.means.user_weights import user_weights, weighted_values
from optldp.mechanisms import duchi, piecewise
from optldp.mechanisms.families.duchi import duchi_variance
from optldp.mechanisms.families.laplace import laplace_variance
from optldp.mechanisms.families.piecewise import piecewise_variance
from optldp.mechanisms.families.square_wave import square_wave_half_width, square_wave_variance
from redone.experiment.drawn_values import beta_waves
from redone.experiment.repeated import COLOURS, LINES
from redone.experiment.script import Check, Run, main
from redone.privacy_for_free import cells, convergence, dimensions, distributions, means, raw
from redone.privacy_for_free.said import said

PAPER_ULE = {"m = 3, n = 0.5M": 69.79, "m = 3, n = 1M": 124.05, "m = 3, n = 5M": 9461.53, "m = 3, n = 10M": 12620.94}
PAPER_ULE |= {"m = 6, n = 1M": 131.85, "m = 9, n = 1M": 135.72, "m = 12, n = 1M": 138.91, "m = 15, n = 1M": 141.16}
PAPER_UWA = {"m = 4, n = 0.5M": 2.43, "m = 4, n = 1M": 3.45, "m = 4, n = 5M": 11.75, "m = 4, n = 10M": 349.37}
PAPER_UWA |= {"m = 8, n = 1M": 6.73, "m = 12, n = 1M": 9.87, "m = 16, n = 1M": 13.16}
SPARSE_SHARE = 10
"""ULE of six and more services is timed at a tenth of the paper's users: all users' reports differ by then, so that a
step takes time in proportion to them."""
BIAS_KNOTS = np.linspace(-1.0, 1.0, 201)


def unbiased_square_wave_variance(x: np.ndarray, epsilon: float) -> np.ndarray:
    """Return the variance of the square wave's report divided by the slope of its mean, on [-1, 1]."""
    b = square_wave_half_width(epsilon)
    slope = 2 * b * np.expm1(epsilon) / (2 * b * np.exp(epsilon) + 1)
    return square_wave_variance(x, epsilon) / slope**2


CLOSED_FORMS: dict[str, Callable[..., np.ndarray]] = {
    "SR": duchi_variance,
    "Laplace": laplace_variance,
    "PM": piecewise_variance,
    "SW": unbiased_square_wave_variance,
}


def variances(run: Run) -> list[Check]:
    """Figure 3: variances of the unbiased mechanisms, domain [-1, 1]."""
    places, budgets = np.linspace(0.0, 1.0, 5), np.array([0.1, 0.5, 1.0, 1.5, 2.0, 3.0])
    header = ("mechanism", *(f"v = {v:g}" for v in places), *(f"epsilon = {e:g}" for e in budgets))
    rows, orders = [], set()
    for name, form in CLOSED_FORMS.items():
        at_one, at_end = form(places, 1.0), [float(form(np.array(1.0), e)) for e in budgets]
        rows.append((name, *map(float, np.broadcast_to(at_one, places.shape)), *at_end))
    run.table("figure-3", "Variance at epsilon 1, then at v = 1", header, rows)
    for column in range(1, len(header)):
        orders.add(tuple(row[0] for row in sorted(rows, key=lambda row: row[column])))
    if run.out is not None:
        _draw_variances(run)
    return [
        Check(
            "the ranking of the mechanisms shifts with v and epsilon",
            len(orders) > 1,
            f"{len(orders)} different rankings",
        )
    ]


def _draw_variances(run: Run) -> None:
    from matplotlib.figure import Figure

    figure = Figure((7.4, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    places, budgets = np.linspace(-1.0, 1.0, 101), np.linspace(0.3, 4.0, 75)
    for number, (name, form) in enumerate(CLOSED_FORMS.items()):
        style = {"color": COLOURS[number], "linestyle": LINES[number], "label": name}
        left.plot(places, np.broadcast_to(form(places, 1.0), places.shape), **style)
        right.plot(budgets, [float(form(np.array(1.0), e)) for e in budgets], **style)
    left.set(title="epsilon = 1", xlabel="v", ylabel="variance of one report")
    right.set(title="v = 1", xlabel="epsilon", ylabel="variance of one report", yscale="log")
    right.legend(frameon=False)
    run.figure("figure-3", figure)


def bias(run: Run) -> list[Check]:
    """Theorem 4.2 takes the weights as fixed; the exact bias of UWA, summed over all pairs of reports."""
    budgets, rows = (0.1, 0.5, 1.0, 2.0, 3.0), []
    found = {}
    for epsilon in budgets:
        off = _exact_bias(epsilon)
        found[epsilon] = float(off[np.argmin(np.abs(BIAS_KNOTS - 0.9))])
        each = [float(form(np.array(0.9), epsilon)) for form in (duchi_variance, piecewise_variance)]
        spread = 1.0 / np.sqrt(sum(1.0 / variance for variance in each))
        need = (spread / found[epsilon]) ** 2
        rows.append((f"{epsilon:g}", f"{found[epsilon]:+.2g}", f"{np.abs(off).max():.2g}", f"{need:.2g}"))
    header = ("epsilon", "bias at v = 0.9", "largest bias", "users at which bias = standard error")
    run.table("bias", "UWA, one SR and one PM report, domain [-1, 1]", header, rows)
    sure = found[3.0] < -0.015 and abs(found[0.1]) < 1e-4
    seen = f"{found[3.0]:+.4f} at epsilon 3, v = 0.9"
    return [Check("UWA is biased: theorem 4.2 takes its weights as fixed", sure, seen)]


def _exact_bias(epsilon: float) -> np.ndarray:
    """Bias at each knot, from the law of both reports."""
    services = [Service("SR", duchi(BIAS_KNOTS, epsilon)), Service("PM", piecewise(BIAS_KNOTS, epsilon))]
    first, second = (service.mechanism.probabilities for service in services)
    pairs = np.stack(np.meshgrid(range(first.shape[1]), range(second.shape[1]), indexing="ij"), axis=-1).reshape(-1, 2)
    grid = InputGrid.knots(BIAS_KNOTS)
    decoders = [plain_decoder(service.mechanism) for service in services]
    spread = np.stack([decoded_variances(s.mechanism, d, grid) for s, d in zip(services, decoders, strict=True)])
    group = ReportGroup((0, 1), pairs.astype(np.int32), np.ones(len(pairs), dtype=np.int64))
    even = np.full(grid.size, 1.0 / grid.size)
    values = weighted_values(group, user_weights(group, services, spread, grid, even), decoders)
    return (first[:, pairs[:, 0]] * second[:, pairs[:, 1]]) @ values - BIAS_KNOTS


def times(run: Run) -> list[Check]:
    """Table 1: processor seconds of UWA and ULE at epsilon 0.1, Beta+Sin, 64 cells, without drawing the reports."""
    rows = []
    for label, paper in PAPER_UWA.items():
        rows += _timed_row(run, "UWA", label, paper, means.FOUR, _uwa)
    for label, paper in PAPER_ULE.items():
        rows += _timed_row(run, "ULE", label, paper, distributions.THREE, _ule)
    header = ("estimate", "case", "users here", "paper, s", "counting, s", "estimating, s", "steps")
    run.table("table-1", "Execution times", header, rows, timed=True)
    slowest = max(float(row[4]) + float(row[5]) for row in rows if row[1].startswith("m = 3,"))
    return [Check("ULE of three services needs no hours", slowest < 1000, f"at most {slowest:.1f} s")]


def _timed_row(
    run: Run, name: str, label: str, paper: float, families: Sequence[str], fit: Callable[[ReportCounts], str]
) -> list[tuple[str, ...]]:
    m, n = (part.split(" = ")[1] for part in label.split(", "))
    users = int(1e6 * float(n[:-1]))
    many = name == "ULE" and int(m) > len(families)
    users //= (200 if run.quick else 1) * (SPARSE_SHARE if many else 1)
    rng = np.random.default_rng([run.seed, 1])
    values = beta_waves(users, rng)
    chosen = tuple(families) * (int(m) // len(families))
    if name == "UWA":
        tables = [means.FAMILIES[family](means.KNOTS, 0.1) for family in chosen]
    else:
        tables = [distributions.mechanism(family, 0.1) for family in chosen]
    services = [Service(str(j), table) for j, table in enumerate(tables)]
    outputs = np.empty((users, len(services)), dtype=np.int32)
    for j, table in enumerate(tables):
        outputs[:, j] = table.output_index(table.sample(values, rng))
    started = time.process_time()
    counts = ReportCounts.from_outputs(services, outputs)
    counted = time.process_time()
    steps = fit(counts)
    done = time.process_time()
    seconds = (f"{paper:g}", f"{counted - started:.2f}", f"{done - counted:.2f}")
    return [(name, label, f"{users:,}", *seconds, steps)]


def _uwa(counts: ReportCounts) -> str:
    estimate_combined_mean(counts, method="uwa")
    return ""


def _ule(counts: ReportCounts) -> str:
    grid = InputGrid.equal_cells(0.0, 1.0, distributions.CELLS)
    return str(ems(likelihood_of(counts, grid)).iterations)


FIGURES = {
    "figure-3": variances,
    "figure-4-means": means.equal_budgets,
    "figure-4-raw": raw.equal_budgets,
    "figure-4-distributions": distributions.equal_budgets,
    "figure-4-cells": cells.equal_budgets,
    "figure-5-means": means.unequal_budgets,
    "figure-5-distributions": distributions.unequal_budgets,
    "figure-5-cells": cells.unequal_budgets,
    "figure-4-ours": means.joint_decoder,
    "figure-6-means": means.same_mechanism,
    "figure-6-distributions": distributions.same_mechanism,
    "figure-6-dimensions": dimensions.means,
    "figure-6-dimension-distributions": dimensions.distributions,
    "figure-7-means": means.number_of_services,
    "figure-7-distributions": distributions.number_of_services,
    "figure-7-users": distributions.number_of_users,
    "figure-8-means": means.direct_collection,
    "figure-8-groups": means.user_groups,
    "figure-8-distributions": distributions.user_groups,
    "bias": bias,
    "theorem-5-1": convergence.convergence,
    "table-1": times,
}

if __name__ == "__main__":
    main("privacy-for-free", __doc__ or "", FIGURES, said)
