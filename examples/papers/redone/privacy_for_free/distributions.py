"""Distributions over several services: ULE of "Privacy for Free", figures 4 to 8, parts on distributions.

The Jensen-Shannon distance with the root, as the paper defines it; 64 cells in and out unless said.  Algorithm 3 is
plain EM; EMS smooths after each step.  Both stop by the paper's rule, at a change of the log-likelihood below 0.001.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from optldp.estimators import InputGrid, ReportCounts, Service, estimate_distribution, likelihood_of
from optldp.estimators.distributions.metrics import jensen_shannon_distance
from optldp.estimators.distributions.smoothed_em import LOGLIK_CHANGE, ems
from optldp.mechanisms import TabulatedMechanism
from optldp.mechanisms.table.output_cells import with_output_cells
from optldp.solvers import MixtureFit, MixtureLikelihood, fit_mixture

from ..experiment.drawn_values import Draw, beta, beta_waves, services_sets
from ..experiment.repeated import Errors, Panels, Scores, repeat, show_panels
from ..experiment.script import Check, Run
from .means import EQUAL, FAMILIES, Config, groups

THREE = ("SR", "PM", "SW")
CELLS = 64
UNIT = "Jensen-Shannon distance"
UNEQUAL = {"C1": (0.1, 0.2, 0.3), "C2": (0.2, 0.3, 0.1), "C3": (0.3, 0.1, 0.2), "C4": (0.2, 0.1, 0.3)}
OURS = "smooth, ours"
"""ULE's reports, all services together, by the library's default."""
SHOWN = (*THREE, "ULE", OURS)
ALGORITHMS: dict[str, Callable[[MixtureLikelihood], MixtureFit]] = {
    "EMS": ems,
    "EM": partial(fit_mixture, method="em", loglik_change=LOGLIK_CHANGE),
}
"""Of the fit.  Generators depend on the case alone, so that both see the same reports."""
NEARLY_ALL = 0.7
"""Share of the cases in which ULE must lead: with three repetitions a lead of a percent is a matter of luck."""


def mechanism(family: str, epsilon: float, cells: int = CELLS) -> TabulatedMechanism:
    """Return a table on equal cells of [0, 1] whose reports are told by equal cells too."""
    made = FAMILIES[family](np.linspace(0.0, 1.0, cells + 1), epsilon)
    if made.is_discrete:
        return made
    return with_output_cells(made, np.linspace(made.low.min(), made.high.max(), cells + 1))


def users(run: Run) -> int:
    """Users of each repetition."""
    return 100_000 if not run.quick else 20_000


def scores(
    run: Run,
    draw: Draw,
    config: Config,
    case: Sequence[int],
    *,
    n: int | None = None,
    algorithm: str = "EMS",
    cells: int = CELLS,
    repetitions: tuple[int, int] = (10, 3),
) -> Scores:
    """Return the distances of each service's own estimate, "service j", the best of them and ULE's."""
    grid = InputGrid.equal_cells(0.0, 1.0, cells)
    services = [Service(f"{family} {j}", mechanism(family, e, cells)) for j, (family, e) in enumerate(config)]
    fit = ALGORITHMS[algorithm]
    size = users(run) if n is None else n
    alone = range(min(len(services), len(FAMILIES)))  # further services repeat the first ones

    def job(rng: np.random.Generator) -> Errors:
        values = draw(size, rng)
        truth = np.histogram(values, grid.edges)[0] / size
        outputs = np.stack([s.mechanism.output_index(s.mechanism.sample(values, rng)) for s in services], axis=1)
        counts = ReportCounts.from_outputs(services, outputs)
        parts = {f"service {j}": counts.only([j]) for j in alone} | {"ULE": counts}
        found = {
            label: jensen_shannon_distance(fit(likelihood_of(part, grid)).weights, truth)
            for label, part in parts.items()
        }
        if cells == CELLS:
            found[OURS] = jensen_shannon_distance(estimate_distribution(counts, grid=grid).value, truth)
        return found | {"best single": min(found[f"service {j}"] for j in alone)}

    return repeat(run, case, run.repetitions(*repetitions), job)


def named(found: Scores, names: Sequence[str]) -> Scores:
    """The same scores with each service under its mechanism's name, where these are all different."""
    for j, name in enumerate(names):
        found.values[name] = found.values[f"service {j}"]
    return found


def equal_budgets(run: Run) -> list[Check]:
    """Figure 4, (e) to (h)."""
    budgets = EQUAL if not run.quick else (0.1, 0.6)
    panels = {}
    for number, (name, draw) in enumerate(services_sets(run).items()):
        for algorithm in ALGORITHMS:
            found = [
                scores(run, draw, [(f, e) for f in THREE], (40, number, i), algorithm=algorithm)
                for i, e in enumerate(budgets)
            ]
            panels[f"{name}, {algorithm}"] = [(e, named(s, THREE)) for e, s in zip(budgets, found, strict=True)]
    title = f"Equal budgets, {users(run):,} users"
    show_panels(run, "figure-4-distributions", title, panels, SHOWN, "epsilon", UNIT)
    every = _gains(run, "figure-4-distribution-gains", panels)
    worst = all(found.mean("SR") > max(found.mean("PM"), found.mean("SW")) for found in every)
    return [
        _best(every),
        Check("SR is the worst of the three", worst, f"in all {len(every)} cases" if worst else "not in every case"),
    ]


def unequal_budgets(run: Run) -> list[Check]:
    """Figure 5, (e) to (h)."""
    panels = {}
    for number, (name, draw) in enumerate(services_sets(run).items()):
        for algorithm in ALGORITHMS:
            points = []
            for i, (label, budgets) in enumerate(UNEQUAL.items()):
                config = list(zip(THREE, budgets, strict=True))
                points.append((label, named(scores(run, draw, config, (50, number, i), algorithm=algorithm), THREE)))
            panels[f"{name}, {algorithm}"] = points
    title = f"C1 to C4, {users(run):,} users"
    show_panels(run, "figure-5-distributions", title, panels, SHOWN, "budgets", UNIT)
    return [_best(_gains(run, "figure-5-distribution-gains", panels))]


def _gains(run: Run, name: str, panels: Panels) -> list[Scores]:
    """Print the gains by either algorithm; return the scores of EMS."""
    rows, every = [], {}
    for algorithm in ALGORITHMS:
        every[algorithm] = [f for panel, at in panels.items() if panel.endswith(f", {algorithm}") for _, f in at]
        for single in (*THREE, "best single", OURS):
            gains = [100 * found.gain("ULE", single) for found in every[algorithm]]
            better = f"{sum(gain > 0 for gain in gains)} of {len(gains)}"
            rows.append((algorithm, single, f"{min(gains):.1f}", f"{max(gains):.1f}", f"{np.mean(gains):.1f}", better))
    run.table(name, "Gain of ULE, in %", ("algorithm", "over", "least", "most", "mean", "cases with a gain"), rows)
    return every["EMS"]


def _best(every: Sequence[Scores]) -> Check:
    """Noise may hide a gain of a percent: nearly all cases must show it, and their mean."""
    gains = [found.gain("ULE", "best single") for found in every]
    better = sum(gain > 0 for gain in gains)
    span = f"{100 * min(gains):.1f}% to {100 * max(gains):.1f}% better than the best of the three"
    holds = better >= NEARLY_ALL * len(gains) and float(np.mean(gains)) > 0
    return Check("ULE has the smallest distance", holds, f"in {better} of {len(gains)} cases, {span}")


def same_mechanism(run: Run) -> list[Check]:
    """Figure 6 (b): three services with one mechanism, at 0.1 to 0.3."""
    budgets = {f"service {j}": f"at {e:g}" for j, e in enumerate(UNEQUAL["C1"])}
    panels = {}
    for algorithm in ALGORITHMS:
        found = [
            scores(run, beta_waves, [(family, e) for e in UNEQUAL["C1"]], (60, i), algorithm=algorithm)
            for i, family in enumerate(THREE)
        ]
        names = budgets | {"ULE": "ULE", OURS: OURS, "best single": "best single"}
        panels[f"Beta+Sin, {algorithm}"] = [(f, s.renamed(names)) for f, s in zip(THREE, found, strict=True)]
    shown = (*budgets.values(), "ULE", OURS)
    show_panels(run, "figure-6-distributions", "One mechanism", panels, shown, "mechanism", UNIT)
    return [_best([found for _, found in panels["Beta+Sin, EMS"]])]


def number_of_services(run: Run) -> list[Check]:
    """Figure 7 (b): 3 to 15 services at 0.1, the three mechanisms over and over."""
    sizes = (3, 6, 9, 12, 15) if not run.quick else (3, 9)
    n, panels = 20_000 if not run.quick else 5_000, {}
    for algorithm in ALGORITHMS:
        panels[f"Beta(2,5), {algorithm}"] = [
            (float(m), scores(run, beta, [(f, 0.1) for f in THREE] * (m // 3), (70, m), n=n, algorithm=algorithm))
            for m in sizes
        ]
    show_panels(
        run,
        "figure-7-distributions",
        f"More services, {n:,} users",
        panels,
        ("best single", "ULE", OURS),
        "services",
        UNIT,
    )
    falls = {name: 1.0 - points[-1][1].mean("ULE") / points[0][1].mean("ULE") for name, points in panels.items()}
    return [
        _best([found for _, found in panels["Beta(2,5), EMS"]]),
        Check(
            "by EMS ULE's distance falls as services are added",
            falls["Beta(2,5), EMS"] > 0,
            ", ".join(f"{name}: by {100 * fall:.0f}% from 3 to {sizes[-1]}" for name, fall in falls.items()),
        ),
    ]


def number_of_users(run: Run) -> list[Check]:
    """Figure 7 (d): more users, three services at 0.1; the paper has half a million to ten million."""
    sizes = (100_000, 500_000, 1_000_000, 5_000_000) if not run.quick else (20_000, 200_000)
    config, panels = [(f, 0.1) for f in THREE], {}
    for algorithm in ALGORITHMS:
        found = [  # three repetitions are enough for numbers so sure
            scores(run, beta_waves, config, (71, n), n=n, algorithm=algorithm, repetitions=(3, 3)) for n in sizes
        ]
        panels[f"Beta+Sin, {algorithm}"] = [(n / 1e6, named(s, THREE)) for n, s in zip(sizes, found, strict=True)]
    show_panels(run, "figure-7-users", "More users", panels, SHOWN, "million users", UNIT)
    fall = {
        algorithm: 1.0 - points[-1][1].mean("ULE") / points[0][1].mean("ULE")
        for algorithm, (_, points) in zip(ALGORITHMS, panels.items(), strict=True)
    }
    return [
        _best([found for _, found in panels["Beta+Sin, EMS"]]),
        Check(
            "plain EM's distance falls with more users, by more than that of EMS",
            fall["EM"] > max(0.15, fall["EMS"]),
            ", ".join(f"{algorithm} by {100 * gain:.0f}%" for algorithm, gain in fall.items()),
        ),
    ]


def user_groups(run: Run) -> list[Check]:
    """Figure 8 (d): groups that report to some of the services, without Laplace, which ULE leaves out."""
    n, panels = 10_000 if not run.quick else 5_000, {}
    chosen = [[tuple(FAMILIES)[j] for j in where] for where in groups() if 1 not in where]  # 1 is Laplace
    for algorithm in ALGORITHMS:
        panels[f"Beta(2,5), {algorithm}"] = [
            (" ".join(names), scores(run, beta, [(name, 0.1) for name in names], (80, i), n=n, algorithm=algorithm))
            for i, names in enumerate(chosen)
        ]
    shown = ("best single", "ULE", OURS)
    show_panels(run, "figure-8-distributions", f"Groups of {n:,}", panels, shown, "services", UNIT)
    points = panels["Beta(2,5), EMS"]
    better = sum(found.gain("ULE", "best single") > 0 for _, found in points)
    return [Check("ULE is better in most groups", better > len(points) / 2, f"in {better} of {len(points)}")]
