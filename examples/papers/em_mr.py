"""Ye, Wang, Zhang and Feng (2025), EM with mixture reduction: figures 2 to 10, table II and section IV.C, redone.

Frequencies are in categories.py and steps.py of redone/em_mr, key-value data in keys.py.
What was found: docs/papers/em-mr.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from optldp.designer import two_phase
from optldp.estimators import (
    InputGrid,
    ReportCounts,
    count,
    estimate_distribution,
    estimate_mean,
    likelihood_of,
    mixture_reduction,
)
from optldp.estimators.distributions.metrics import quantile_error, range_query_error, variance_error, wasserstein_1
from optldp.estimators.distributions.smoothed_em import ems
from optldp.mechanisms import duchi, laplace, piecewise, square_wave
from optldp.solvers import fit_mixture
from redone.em_mr import categories, keys, steps
from redone.em_mr.noise import noise
from redone.em_mr.orders import orders
from redone.em_mr.said import said
from redone.experiment.drawn_values import Draw, reduction_sets, two_normals
from redone.experiment.repeated import Errors, Scores, curves, repeat, show_panels
from redone.experiment.script import Check, Run, main

STOP = 1e-3
"""The papers' rule: stop EM when a step changes the log-likelihood by less."""
MEANS = ("SR", "PM", "PM-EM", "PM-MR", "SW-EMS", "two phases, ours")
BUDGETS = (0.1, 0.5, 1.0, 2.0, 3.0)
FAMILIES = {"Laplace": laplace, "SW": square_wave, "PM": piecewise}
MEASURES = ("W1", "variance", "quantile", "range")
FITS = ("EM", "MR", "smooth, ours")
OUR_KNOTS = 33
"""Of the library's two phases, as for AAA."""
OUR_CELLS = 128
"""Of the library's own distribution, spread evenly over the finer cells that errors are measured on."""
REPETITIONS = ((10_000, 20), (100_000, 6))
"""Repetitions up to so many users; half a dozen for middling numbers, and beyond those `LEAST`."""
LEAST = 4
BOXES = {"S-MN, 2,000": (0.5, 1.0, 1.5, 2.0, 3.0), "S-MN, 300,000": (1.5,), "SF total pay, 43,386": (0.5, 2.0)}
"""Budgets of figure 3: the paper's 1.5 for S-MN; those of SFC cannot be read off."""
RUNS = 100
"""Repetitions of figure 3, the paper's."""
CLEAR = 3.0
"""Standard errors of a paired difference that count as one."""


def cells(run: Run) -> int:
    """Cells of the grid: the paper's 1024, or fewer to be quick."""
    return 1024 if not run.quick else 128


def sets(run: Run) -> dict[str, tuple[Draw, int]]:
    """The sets of values; the small one alone to be quick."""
    found = reduction_sets(run)
    return found if not run.quick else {name: found[name] for name in list(found)[:1]}


def means(run: Run) -> list[Check]:
    """Figure 2: mean absolute error of the mean, domain [0, 1]."""
    panels = {}
    for number, (name, (draw, n)) in enumerate(sets(run).items()):
        panels[name] = [(e, _mean_scores(run, draw, n, e, (2, number, i))) for i, e in enumerate(BUDGETS)]
    show_panels(run, "figure-2", "Mean", panels, MEANS, "epsilon", "MAE of the mean x 1000", scale=1e3)
    every = [(name, e, found) for name, points in panels.items() for e, found in points]
    best, rows = 0, []
    for name, e, found in every:
        least = min(found.mean(m) for m in MEANS[:-1])  # of the paper's
        best += found.mean("PM-MR") <= least + found.error("PM-MR")
        gains = [f"{100 * found.gain('PM-MR', m):+.0f}%" for m in ("PM", "PM-EM")]
        leads = [f"{found.lead('PM-MR', m):+.1f}" for m in ("PM", "PM-EM")]
        biases = [found.show(f"error {m}", 1e3) for m in ("PM", "PM-EM", "PM-MR")]
        rows.append((name, f"{e:g}", *gains, *leads, *biases))
    header: tuple[str, ...] = ("data", "epsilon", "over PM", "over PM-EM", "the same in standard errors: PM", "PM-EM")
    header += ("bias x 1000: PM", "PM-EM", "PM-MR")
    run.table("figure-2-gains", "Gain of PM-MR, and biases", header, rows)
    small = [found.lead("PM-MR", "PM") for name, e, found in every if name.endswith(" 2,000") and e < 1]
    return [
        Check(
            "2,000 users and epsilon below 1: PM-MR has a smaller error than PM's sample mean",
            float(np.mean(small)) > 0,
            f"by {np.mean(small):.1f} standard errors; least of the paper's, or within one, in {best} of {len(every)}",
        )
    ]


def boxes(run: Run) -> list[Check]:
    """Figure 3: boxes of the errors of the mean, and MR's bias against EM's on the same reports."""
    rows, clear = [], []
    for number, (name, (draw, n)) in enumerate(sets(run).items()):
        for i, epsilon in enumerate(BOXES.get(name, ())[2 if run.quick else 0 :]):
            found = _mean_scores(run, draw, n, epsilon, (3, number, i), run.repetitions(RUNS, 30))
            off = {m: found.values[f"error {m}"] for m in MEANS}
            quartiles = [" / ".join(f"{1e3 * q:+.2g}" for q in np.quantile(e, (0.25, 0.5, 0.75))) for e in off.values()]
            shift = Scores.of({"d": off["PM-MR"] - off["PM-EM"]})
            biases = [found.show(f"error {m}", 1e3) for m in MEANS]
            biased, less = off["PM-EM"].mean(), shift.mean("d") / -off["PM-EM"].mean()
            if abs(biased) > CLEAR * found.error("error PM-EM"):
                clear.append((epsilon, less))
            rows.append((name, f"{epsilon:g}", *quartiles, *biases, shift.show("d", 1e3), f"{100 * less:.0f}%"))
    header = ("data", "epsilon", *(f"quartiles {m}" for m in MEANS), *(f"bias {m}" for m in MEANS))
    header += ("MR less EM, paired", "part of EM's bias that MR takes off")
    run.table("figure-3", "Errors of the mean x 1000", header, rows)
    seen = ", ".join(f"{100 * less:.0f}% at {epsilon:g}" for epsilon, less in clear)
    holds = bool(clear) and all(less > 0 for _, less in clear)
    return [Check("where EM's mean is clearly biased MR takes off part of that, not all", holds, seen)]


def _mean_scores(
    run: Run, draw: Draw, n: int, epsilon: float, case: Sequence[int], repetitions: int | None = None
) -> Scores:
    grid = InputGrid.equal_cells(0.0, 1.0, cells(run))
    tables = {
        "SR": duchi([0.0, 1.0], epsilon),
        "PM": piecewise(grid.edges, epsilon),
        "SW": square_wave(grid.edges, epsilon),
    }

    def job(rng: np.random.Generator) -> Errors:
        values = draw(n, rng)
        truth, found = float(values.mean()), {}
        reports = {label: table.sample(values, rng) for label, table in tables.items()}
        for label in ("SR", "PM"):
            found[label] = estimate_mean(count(tables[label], reports[label]), raw=True).value
        likelihood = likelihood_of(ReportCounts.from_reports(tables["PM"], reports["PM"]), grid)
        found["PM-EM"] = grid.points @ fit_mixture(likelihood, method="em", loglik_change=STOP).weights
        found["PM-MR"] = grid.points @ mixture_reduction(likelihood).fit.weights
        likelihood = likelihood_of(ReportCounts.from_reports(tables["SW"], reports["SW"]), grid)
        found["SW-EMS"] = grid.points @ ems(likelihood).weights
        found["two phases, ours"] = two_phase(values, epsilon, domain=(0.0, 1.0), rng=rng, knots=OUR_KNOTS).value
        off = {m: float(value) - truth for m, value in found.items()}
        return {m: abs(value) for m, value in off.items()} | {f"error {m}": value for m, value in off.items()}

    return repeat(run, case, repetitions or _repetitions(run, n), job)


def _repetitions(run: Run, n: int) -> int:
    full = next((repetitions for users, repetitions in REPETITIONS if n <= users), LEAST)
    return run.repetitions(full, 8)


def many_users(run: Run) -> list[Check]:
    """Section V.B: above 300,000 users and epsilon 2 the sample mean is said to be better than EM's."""
    rows, better = [], []
    sizes = (100_000, 300_000, 1_000_000) if not run.quick else (100_000,)
    for number, n in enumerate(sizes):
        for i, epsilon in enumerate((2.0, 3.0, 4.0)):
            found = _mean_scores(run, two_normals, n, epsilon, (12, number, i), run.repetitions(12, 4))
            leads = [found.lead("PM", m) for m in ("PM-EM", "PM-MR")]
            rows.append((f"{n:,}", epsilon, *(found.show(m, 1e3) for m in MEANS), *(f"{lead:+.1f}" for lead in leads)))
            better.append((n, found.gain("PM", "PM-EM"), leads[0]))
    header = ("users", "epsilon", *MEANS, "lead of PM over PM-EM, standard errors", "over PM-MR")
    run.table("many-users", "Many users, S-MN: MAE of the mean x 1000", header, rows)
    gains = [gain for n, gain, _ in better if n >= sizes[-1]]
    surely = sum(lead > CLEAR for n, _, lead in better if n >= sizes[-1])
    seen = f"surely in {surely} of {len(gains)} cases at {sizes[-1]:,} users, by {100 * min(gains):+.0f}% to "
    seen += f"{100 * max(gains):+.0f}%"
    return [Check("PM's sample mean is not surely better than EM's throughout", surely < len(gains), seen)]


def distributions(run: Run) -> list[Check]:
    """Figure 5: Laplace, SW and PM under EM and under MR."""
    budgets = (0.5, 1.0, 2.0) if not run.quick else (1.0,)
    chosen = {"S-MN, 20,000": (two_normals, 20_000)} if not run.quick else {"S-MN, 5,000": (two_normals, 5_000)}
    chosen |= {name: where for name, where in sets(run).items() if name.startswith("SF")}
    every = []
    for number, (name, (draw, n)) in enumerate(chosen.items()):
        for i, epsilon in enumerate(budgets):
            for j, family in enumerate(FAMILIES):
                found = _distribution_scores(run, draw, n, family, epsilon, (5, number, i, j))
                every.append(((name, f"{epsilon:g}", family), found))
    return _shown(run, "figure-5", "Distributions x 1000", ("data", "epsilon", "mechanism"), every)


def data_sizes(run: Run) -> list[Check]:
    """Figure 9: more users, S-MN, epsilon 1."""
    sizes = (1_000, 10_000, 50_000, 300_000) if not run.quick else (1_000, 10_000)
    every = []
    for i, n in enumerate(sizes):
        for j, family in enumerate(("PM", "SW")):
            found = _distribution_scores(run, two_normals, n, family, 1.0, (9, i, j))
            every.append(((f"{n:,}", family), found))
    return _shown(run, "figure-9", "More users, S-MN, epsilon 1, x 1000", ("users", "mechanism"), every)


def _distribution_scores(run: Run, draw: Draw, n: int, family: str, epsilon: float, case: Sequence[int]) -> Scores:
    grid = InputGrid.equal_cells(0.0, 1.0, cells(run))
    table = FAMILIES[family](grid.edges, epsilon)

    def job(rng: np.random.Generator) -> Errors:
        values = draw(n, rng)
        truth = np.histogram(values, grid.edges)[0] / n
        counts = ReportCounts.from_reports(table, table.sample(values, rng))
        likelihood = likelihood_of(counts, grid)
        ours = estimate_distribution(counts, grid=InputGrid.equal_cells(0.0, 1.0, OUR_CELLS)).value
        fits = {
            "EM": fit_mixture(likelihood, method="em", loglik_change=STOP).weights,
            "MR": mixture_reduction(likelihood).fit.weights,
            "smooth, ours": np.repeat(ours, cells(run) // OUR_CELLS) * OUR_CELLS / cells(run),
        }
        found = {}
        for method, weights in fits.items():
            found[f"W1 {method}"] = wasserstein_1(grid.points, weights, truth)
            found[f"variance {method}"] = variance_error(grid.points, weights, truth)
            found[f"quantile {method}"] = quantile_error(grid.points, weights, truth)
            found[f"range {method}"] = range_query_error(weights, truth)
        return found

    return repeat(run, case, _repetitions(run, n), job)


def _shown(
    run: Run, name: str, title: str, first: tuple[str, ...], every: Sequence[tuple[tuple[str, ...], Scores]]
) -> list[Check]:
    rows = []
    for place, found in every:
        shown = []
        for measure in MEASURES:
            means = ", ".join(f"{1e3 * found.mean(f'{measure} {m}'):.3g}" for m in FITS)
            lead = found.lead(f"{measure} MR", f"{measure} EM")
            shown.append(f"{means} ({lead:+.1f})")
        rows.append((*place, *shown))
    header = (
        *first,
        *(f"{measure}: {', '.join(FITS)} (lead of MR over EM in standard errors)" for measure in MEASURES),
    )
    run.table(name, title, header, rows)
    _draw(run, name, ", ".join(first[:-1]), every)
    gains = {m: [100 * found.gain(f"{m} MR", f"{m} EM") for _, found in every] for m in MEASURES}
    ours = {m: [100 * found.gain(f"{m} {FITS[-1]}", f"{m} EM") for _, found in every] for m in MEASURES}
    summary = [
        (of, m, f"{min(g):+.0f}%", f"{max(g):+.0f}%", f"{np.mean(g):+.1f}%")
        for of, found in (("MR", gains), (FITS[-1], ours))
        for m, g in found.items()
    ]
    run.table(f"{name}-gains", "Gain over EM", ("of", "measure", "least", "most", "mean"), summary)
    worse = max(-found.lead("W1 MR", "W1 EM") * (found.gain("W1 MR", "W1 EM") < -0.1) for _, found in every)
    seen = f"{min(gains['W1']):+.0f}% to {max(gains['W1']):+.0f}% better"
    return [Check("MR's Wasserstein distance is not clearly worse than EM's by 10% anywhere", worse < CLEAR, seen)]


def _draw(run: Run, name: str, x: str, every: Sequence[tuple[tuple[str, ...], Scores]]) -> None:
    """A panel for each measure; a place for each data set and budget, or number of users."""
    if run.out is None:
        return
    panels = {}
    for measure in MEASURES:
        merged: dict[str, dict[str, np.ndarray]] = {}
        for (*where, family), found in every:
            both = {f"{family} {m}": found.values[f"{measure} {m}"] for m in FITS}
            merged.setdefault("\n".join(where), {}).update(both)
        panels[measure] = [(place, Scores.of(values)) for place, values in merged.items()]
    methods = tuple(next(iter(panels.values()))[0][1].values)
    run.figure(name, curves(panels, methods, x, "error x 1000", 1e3))


FIGURES = {
    "figure-2": means,
    "figure-3": boxes,
    "figure-4": categories.frequencies,
    "figure-5": distributions,
    "figure-6": steps.convergence,
    "figure-7": categories.uniform,
    "figure-8": steps.average_estimates,
    "figure-9": data_sizes,
    "figure-10": keys.conditional_means,
    "table-2": categories.times,
    "section-4-c": noise,
    "orders": orders,
    "many-users": many_users,
}

if __name__ == "__main__":
    main("em-mr", __doc__ or "", FIGURES, said)
