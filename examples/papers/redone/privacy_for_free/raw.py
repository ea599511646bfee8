"""UA and UWA of reports averaged as they are: "Privacy for Free", figures 4 (a) to (d).

The library decodes reports by output unless it is asked not to; the paper averages the reports themselves, SW's after
making them unbiased (theorem 4.1).  For Laplace that is worse by half.  UWA's weights use the variances of these raw
reports.  Columns are variances, as in means.py.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from optldp.estimators import MeanEstimate, count, estimate_combined_mean, estimate_mean
from optldp.estimators.methods import MeanMethod

from ..experiment.drawn_values import Draw, services_sets
from ..experiment.repeated import Errors, Scores, repeat, show_panels
from ..experiment.script import Check, Run
from .means import EQUAL, FAMILIES, FOUR, KNOTS, SCALE, UNIT, users

METHODS: dict[str, MeanMethod] = {"UA": "ua", "UWA": "uwa"}


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


def _scores(run: Run, draw: Draw, epsilon: float, case: Sequence[int]) -> Scores:
    tables = [FAMILIES[family](KNOTS, epsilon) for family in FOUR]

    def job(rng: np.random.Generator) -> Errors:
        values = draw(users(run), rng)
        reports = [table.sample(values, rng) for table in tables]
        alone = [estimate_mean(count(*each), raw=True) for each in zip(tables, reports, strict=True)]
        found = {family: _noise(one, values) for family, one in zip(FOUR, alone, strict=True)}
        counts = count(list(zip(tables, reports, strict=True)), raw=True)
        for name, method in METHODS.items():
            found[name] = _noise(estimate_combined_mean(counts, method=method, raw=True), values)
        return found | {"best single": min(found[family] for family in FOUR)}

    return repeat(run, case, run.repetitions(20, 4), job)


def _noise(estimate: MeanEstimate, values: np.ndarray) -> float:
    """Variance of the average of the users' numbers about the mean of their values."""
    return float(estimate.std_error**2 - values.var(ddof=1) / values.size)
