"""UA and UWA of reports averaged as they are: "Privacy for Free", figures 4 (a) to (d).

`count` keeps outputs alone, which every estimator of the library decodes; the paper averages the reports themselves,
SW's after making them unbiased (theorem 4.1).  For Laplace that is worse by half.  UWA's weights use the variances of
these raw reports.  Columns are variances, as in means.py.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from optldp.estimators import InputGrid, Service
from optldp.estimators.counting.group import ReportGroup
from optldp.estimators.means import user_weights as library
from optldp.mechanisms import TabulatedMechanism

from ..experiment.drawn_values import Draw, services_sets
from ..experiment.repeated import Errors, Scores, repeat, show_panels
from ..experiment.script import Check, Run
from .means import EQUAL, FAMILIES, FOUR, KNOTS, SCALE, UNIT, users

METHODS = ("UA", "UWA")


def equal_budgets(run: Run) -> list[Check]:
    """Figure 4, (a) to (d), on reports that are not decoded."""
    budgets = EQUAL if not run.quick else (0.1, 0.6)
    panels = {
        name: [(e, _scores(run, draw, e, (42, number, i))) for i, e in enumerate(budgets)]
        for number, (name, draw) in enumerate(services_sets(run).items())
    }
    title = f"Equal budgets, raw reports, {users(run):,} users"
    show_panels(run, "figure-4-raw", title, panels, (*FOUR, *METHODS), "epsilon", UNIT, scale=SCALE)
    every = [found for points in panels.values() for _, found in points]
    pairs = {"UA": "best single", "UWA": "best single", "UWA over UA": "UA"}
    gains = {label: [100 * f.gain(label.split(" over")[0], other) for f in every] for label, other in pairs.items()}
    rows = [
        (label if " over" in label else f"{label} over the best single", f"{min(g):.1f}", f"{max(g):.1f}")
        for label, g in gains.items()
    ]
    run.table("figure-4-raw-gains", "Gains on raw reports, in % of the variance", ("gain", "least", "most"), rows)
    least, most = min(gains["UWA over UA"]), max(gains["UWA over UA"])
    claim = "UWA is 1% to 15% better than UA where Laplace's reports are averaged raw"
    return [Check(claim, 1.0 < least < most < 15.0, f"{least:.1f}% to {most:.1f}%")]


def unbiased_reports(table: TabulatedMechanism, reports: np.ndarray) -> np.ndarray:
    """Return raw reports after the affine map that makes them unbiased on [0, 1] (theorem 4.1)."""
    at_zero, at_one = table.mean([0.0, 1.0])
    return (reports - at_zero) / (at_one - at_zero)


def user_weights(services: Sequence[Service], outputs: np.ndarray, variances: np.ndarray) -> np.ndarray:
    """Return UWA's weights (n, m) of each user's reports, from their outputs (n, m) and variances (m, knots)."""
    grid, m = InputGrid.knots(KNOTS), len(services)
    rows, whose, counts = np.unique(outputs.astype(np.int32), axis=0, return_inverse=True, return_counts=True)
    group = ReportGroup(tuple(range(m)), rows, counts)
    even = np.full(grid.size, 1.0 / grid.size)
    return library.user_weights(group, services, variances, grid, even)[whose.ravel()]


def _scores(run: Run, draw: Draw, epsilon: float, case: Sequence[int]) -> Scores:
    tables = [FAMILIES[family](KNOTS, epsilon) for family in FOUR]
    services = [Service(family, table) for family, table in zip(FOUR, tables, strict=True)]
    slopes = [float(np.ptp(table.mean([0.0, 1.0]))) for table in tables]
    variances = np.stack([table.knot_variances / slope**2 for table, slope in zip(tables, slopes, strict=True)])
    n = users(run)

    def job(rng: np.random.Generator) -> Errors:
        values = draw(n, rng)
        reports = [table.sample(values, rng) for table in tables]
        outputs = np.stack([table.output_index(r) for table, r in zip(tables, reports, strict=True)], axis=1)
        raw = np.stack([unbiased_reports(t, r) for t, r in zip(tables, reports, strict=True)], axis=1)
        weighted = (user_weights(services, outputs, variances) * raw).sum(axis=1)
        found = {family: _noise(raw[:, j], values) for j, family in enumerate(FOUR)}
        found |= {"UA": _noise(raw.mean(axis=1), values), "UWA": _noise(weighted, values)}
        return found | {"best single": min(found[family] for family in FOUR)}

    return repeat(run, case, run.repetitions(20, 4), job)


def _noise(numbers: np.ndarray, values: np.ndarray) -> float:
    """Variance of the average of the users' numbers about the mean of their values."""
    return float((numbers.var() - values.var()) / values.size)
