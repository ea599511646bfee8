"""Does two-phase collection by its defaults lose to one phase? The variance of the mean of users drawn from a real
column as a share of its variance by the optimal table for a uniform prior, at the budgets and with the numbers of
users at which an early default lost on every column. The first phase goes through that very table, for 9 over the
root of the users; beside it the same share through the square wave, and the early default, a tenth of the users
through it. As in [two phases or one](phases.md), variances are exact given the design that a repetition's first
reports lead to. 33 knots."""

from pathlib import Path

import numpy as np
from markdown_table import table

from .phases import SETS, Plan, ratios
from .repetitions import repeat

TITLE = "Two phases by default"
COLUMNS, BUDGETS, USERS = SETS[1:], (0.5, 1.0, 2.0), (20_000, 100_000)
PLANS: dict[str, Plan] = {
    "the default": ("designed", None),
    "square wave, as many": ("square-wave", None),
    "square wave, 10%": ("square-wave", 0.1),
}


def run(data: Path, repetitions: int, workers: int) -> str:
    cases = [(data, name, epsilon, users, PLANS) for name in COLUMNS for epsilon in BUDGETS for users in USERS]
    found = repeat(ratios, cases, repetitions, workers)
    rows = [
        (name, f"{epsilon:g}", f"{users:,}", *(scores.show(plan) for plan in PLANS))
        for (_, name, epsilon, users, _), scores in zip(cases, found, strict=True)
    ]
    whole = [np.exp(np.mean([np.log(s.mean(plan)) for s in found])) for plan in PLANS]
    rows.append(("geometric mean", "", "", *(f"{mean:.3f}" for mean in whole)))
    lost = [sum(s.mean(plan) > 1 for s in found) for plan in PLANS]
    rows.append((f"worse than one phase, of {len(found)}", "", "", *map(str, lost)))
    return table(("column", "epsilon", "users", *PLANS), rows)
