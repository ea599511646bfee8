"""Users of unequal numbers of services: root mean squared error of the mean, with each user counted the same and with
users taken for alike, who are weighed by one over the variance of what they report (cross-fitted); and how often the
95% intervals hold. Participation is drawn by chance, so that the assumption is true, but for the last row, where it is
not. Values are Beta(2,5), domain [0, 1], 4,000 users; the reports are piecewise's (PM), of one of the services Duchi's
(SR). Six times as many repetitions as the line above says."""

import math
from pathlib import Path

import numpy as np
from markdown_table import table
from optldp.estimators import ReportCounts, Service, estimate_combined_mean
from optldp.mechanisms import duchi, piecewise

from ..repetitions import Errors, repeat

TITLE = "Users of unequal numbers of services"
USERS, KNOTS = 4_000, np.linspace(0.0, 1.0, 17)
CASES = {
    "ragged: PM at 0.5, 1 and 2, each with a chance of a half": ((0.5, 1.0, 2.0), (0.5, 0.5, 0.5)),
    "ragged: SR at 0.3 for 90%, PM at 2 for 20%": ((-0.3, 2.0), (0.9, 0.2)),
    "disjoint: PM at 0.3 for half of the users, at 2 for the others": ((0.3, 2.0), None),
    "all report to all: PM at 0.5, 1 and 2": ((0.5, 1.0, 2.0), (1.0, 1.0, 1.0)),
    "not alike: PM at 0.5 for all, 1 for half, 2 twice as often above the median": ((0.5, 1.0, 2.0), (1.0, 0.5, -0.5)),
}


def run(data: Path, repetitions: int, workers: int) -> str:
    """Of drawn values, so that the data are not looked at; six times as many repetitions as others have."""
    del data
    found = repeat(_errors, [(name,) for name in CASES], 6 * repetitions, workers)
    rows = []
    for name, each in zip(CASES, found, strict=True):
        errors = [f"{math.sqrt(each.mean(f'squared {how}')):.4f}" for how in ("equal", "alike")]
        covers = [f"{each.show(f'covered {how}')}" for how in ("equal", "alike")]
        rows.append((name, errors[0], covers[0], errors[1], covers[1], each.show("gain"), each.show("doubted")))
    errors = ("root mean squared error, the same", "cover", "alike", "cover")
    return table(("services", *errors, "gain said", "share doubted at 0.05"), rows)


def _errors(name: str, rng: np.random.Generator) -> Errors:
    budgets, chances = CASES[name]
    tables = [piecewise(KNOTS, e) if e > 0 else duchi(KNOTS, -e) for e in budgets]
    values = rng.beta(2, 5, USERS)
    outputs = np.stack([made.output_index(made.sample(values, rng)) for made in tables], axis=1)
    if chances is None:
        outputs[np.arange(USERS), rng.integers(0, 2, USERS)] = -1
    else:
        above = values > np.median(values)
        chance = np.array([np.where(above, 2 / 3, 1 / 3) if c < 0 else np.full(USERS, c) for c in chances]).T
        outputs[rng.random(outputs.shape) > chance] = -1
    services = [Service(str(j), made) for j, made in enumerate(tables)]
    counts = ReportCounts.from_outputs(services, outputs[(outputs >= 0).any(axis=1)])
    found: Errors = {}
    for how in ("equal", "alike"):
        made = estimate_combined_mean(counts, alike=how == "alike", rng=rng)
        ends = made.interval()
        found[f"squared {how}"] = (made.value - 2 / 7) ** 2
        found[f"covered {how}"] = float(ends.low <= 2 / 7 <= ends.high)
        compared = made.participation
        found["gain"] = 1.0 if compared is None else compared.gain
        found["doubted"] = 0.0 if compared is None else float(compared.doubtful)
    return found
