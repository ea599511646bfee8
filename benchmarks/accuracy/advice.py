"""Is what `advise` recommends within 5% of the best that brute force finds, on columns that it has not seen? Its
prior is that of 2,000 rows drawn from the column, the truth is the whole of it, both on 17 knots; five columns,
four budgets, three numbers of users, and in each case the mean (root mean squared error) and the distribution
(mean Wasserstein distance). Brute force draws reports of the truth for all pairs of six mechanisms and four
estimators; for the mean two unbiased ones stand beside them, whose errors under the truth are closed forms. All
see the same users in a draw, estimators of one mechanism the same reports, and what a draw's luck is, control
variates with known averages say. A mechanism from which a linear estimate errs three times as much as from the
best is not drawn, and pairs stop that are behind the best by four standard errors. The best after 12 draws and
what `advise` chose then have 30 to 300 further ones, which chose nothing, the more the less time they take. From
them "more" is: by how much the choice errs more than that best, beside its standard error; 0 where it is the best.
"said / true" is what `advise` said of its choice over what the choice errs by under the truth."""

import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from markdown_table import table
from optldp.designer import Prior, advise, design
from optldp.designer.planning.advice import CRITERIA, DEFAULT_MECHANISMS
from optldp.designer.planning.advised import Of
from redone.experiment.drawn_values import all_sets
from threadpoolctl import threadpool_limits

from .brute_force import BruteForce

TITLE = "What advise recommends"
SETS = ("S-MN", "SF benefits", "SF total pay", "Adult age", "IRS mean income")
BUDGETS, USERS = (0.5, 1.0, 2.0, 4.0), (1_000, 20_000, 200_000)
ROWS, DRAWN, KNOTS = 2_000, 200_000, 17
WITHIN = 0.05
KINDS: tuple[Of, ...] = ("mean", "distribution")
POWER = {"mean": 0.5, "distribution": 1.0}
"""From the squared error of the mean to its root."""

EVERY = [(name, epsilon, users) for name in SETS for epsilon in BUDGETS for users in USERS]
CASES = [EVERY[17 * k % len(EVERY)] for k in range(len(EVERY))]
"""All sixty, so ordered that the first few have each column, budget and number of users."""

Found = dict[str, Any]


def run(data: Path, kept: Path | None, most: int | None) -> tuple[str, str]:
    """Judge cases one after another, but those that the folder `kept` has; show them, and say what they took."""
    numbers = range(len(CASES))[:most]
    with threadpool_limits(1):
        found = [one for number in numbers for one in judged(data, number, kept)]
    took = sum(one["took"] for one in found) / 60
    return shown(found), f"{len(numbers)} of {len(CASES)} cases, {took:.0f} minutes of processor time"


def judged(data: Path, number: int, kept: Path | None) -> list[Found]:
    """Return what is found in a case, of the mean and of the distribution."""
    name, epsilon, users = CASES[number]
    label = f"{name}-{epsilon:g}-{users}".replace(" ", "-")
    done = None if kept is None else kept / f"{label}.json"
    if done is not None and done.exists():
        return json.loads(done.read_text())
    started = time.process_time()
    rng, knots = np.random.default_rng(number), np.linspace(0.0, 1.0, KNOTS)
    values = all_sets(data)[name](DRAWN, rng)
    truth = Prior.from_data(values, knots=knots, source="public")
    prior = Prior.from_data(rng.choice(values, ROWS, replace=False), knots=knots, source="public")
    tables = {one: design(prior, epsilon, method=one).mechanism for one in DEFAULT_MECHANISMS}
    brute = BruteForce(tables, truth, users, number, None if kept is None else kept / f"{label}-draws.json")
    found = [_judged(of, prior, brute, number) | {"column": name, "epsilon": epsilon, "users": users} for of in KINDS]
    for one in found:
        one["took"] = (time.process_time() - started) / len(found)
    if done is not None:
        done.write_text(json.dumps(found))
    return found


def _judged(of: Of, prior: Prior, brute: BruteForce, number: int) -> Found:
    _, epsilon, users = CASES[number]
    criterion = CRITERIA[of]
    started = time.process_time()
    advice = advise(prior, users, epsilon, of=of, rng=np.random.default_rng(number))
    seconds = time.process_time() - started
    choice = (advice.best.mechanism, advice.best.estimator)
    best, slopes = brute.best(criterion)
    first, second = brute.compared(best, choice, criterion, slopes)
    power = POWER[of]
    brute.save()
    behind, error = second - first if choice != best else (0.0, 0.0)
    more = math.exp(power * behind)
    return {
        "of": of,
        "choice": ", ".join(choice),
        "best": ", ".join(best),
        "more": more - 1.0,
        "error": more * power * error,
        "said": advice.error_of(advice.best).value / math.exp(power * second.value),
        "seconds": seconds,
    }


def shown(found: Sequence[Found]) -> str:
    """Return what was found in words, and a table of all cases."""
    said = list[str]()
    for of in KINDS:
        some = [one for one in found if one["of"] == of]
        more, ratio = np.array([one["more"] for one in some]), np.log([one["said"] for one in some])
        scatter = float(ratio.std(ddof=1)) / math.sqrt(ratio.size)
        sure = [one for one in some if abs(one["more"] - WITHIN) >= 2 * one["error"]]
        worst = max(some, key=lambda one: one["more"])
        said.append(
            f"Of the {of}: **within {WITHIN:.0%} of the best by brute force in {np.sum(more <= WITHIN)} of "
            f"{more.size}**; by two standard errors within in {sum(one['more'] <= WITHIN for one in sure)}, beyond in "
            f"{sum(one['more'] > WITHIN for one in sure)}, undecided in {more.size - len(sure)}. The very best in "
            f"{sum(one['choice'] == one['best'] for one in some)}, {more.mean():+.1%} on average, "
            f"{worst['more']:+.1%} ± {worst['error']:.1%} at worst; said / true {math.exp(ratio.mean()):.2f} ± "
            f"{scatter:.2g}; {np.mean([one['seconds'] for one in some]):.0f} s of processor time each, "
            f"{max(one['seconds'] for one in some):.0f} s at most."
        )
    cases = {(one["column"], one["epsilon"], one["users"]): dict[str, Found]() for one in found}
    for one in found:
        cases[one["column"], one["epsilon"], one["users"]][one["of"]] = one
    rows = [
        (column, f"{epsilon:g}", f"{users:,}", *(cell for of in KINDS for cell in _cells(case[of])))
        for (column, epsilon, users), case in sorted(cases.items())
    ]
    heads = ("column", "epsilon", "users", *(head for of in KINDS for head in (f"{of}: choice (best)", "more")))
    return "\n\n".join([*said, table(heads, rows)])


def _cells(one: Found) -> tuple[str, str]:
    """The choice with the best in brackets if that is another, and by how much it errs more."""
    if one["choice"] == one["best"]:
        return one["choice"], "0"
    return f"{one['choice']} ({one['best']})", f"{one['more']:+.0%} ± {one['error']:.0%}"
