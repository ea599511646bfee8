"""Is what `advise` recommends within 5% of the best that brute force finds, on columns that it has not seen? Its
prior is that of 2,000 rows drawn from the column, the truth is the whole of it, both on 17 knots; five columns,
four budgets, three numbers of users, and in each case the mean (root mean squared error) and the distribution
(mean Wasserstein distance). Brute force draws reports of the truth for all pairs of six mechanisms and four
estimators; for the mean two unbiased ones stand beside them, whose errors under the truth are closed forms. All
see the same users in a draw, estimators of one mechanism the same reports, and what a draw's luck is, control
variates with known averages say. A mechanism from which a linear estimate errs three times as much as from the
best is not drawn, and pairs stop that are behind the best by four standard errors. The best after ten draws and
what `advise` chose then have ten further ones, which chose nothing, and from which "more" is: by how much the
choice errs more than that best, beside its standard error; 0 where it is the best. "said / true" is what `advise`
said of its choice over what the choice errs by under the truth."""

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
    if kept is not None:
        kept.mkdir(exist_ok=True)
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
    first, second = brute.place(best, criterion, slopes), brute.place(choice, criterion, slopes)
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
    said, rows = list[str](), list[tuple[str, ...]]()
    for of in KINDS:
        some = sorted(
            (one for one in found if one["of"] == of),
            key=lambda one: (SETS.index(one["column"]), one["epsilon"], one["users"]),
        )
        more, ratio = np.array([one["more"] for one in some]), np.log([one["said"] for one in some])
        scatter = float(ratio.std(ddof=1)) / math.sqrt(ratio.size)
        said.append(
            f"Of the {of}: {np.sum(more <= WITHIN)} of {more.size} within {WITHIN:.0%}, the very best in "
            f"{sum(one['choice'] == one['best'] for one in some)}, {more.mean():+.1%} on average, {more.max():+.1%} at "
            f"worst; said / true {math.exp(ratio.mean()):.2f} ± {scatter:.2g}; "
            f"{np.mean([one['seconds'] for one in some]):.0f} s of processor time each, "
            f"{max(one['seconds'] for one in some):.0f} s at most."
        )
        for one in some:
            same = one["choice"] == one["best"]
            rows.append(
                (
                    of,
                    one["column"],
                    f"{one['epsilon']:g}",
                    f"{one['users']:,}",
                    one["choice"],
                    "" if same else one["best"],
                    "0" if same else f"{one['more']:+.1%} ± {one['error']:.1%}",
                    f"{one['said']:.2f}",
                )
            )
    heads = ("of", "column", "epsilon", "users", "choice", "best, if another", "more", "said / true")
    return "\n\n".join([*said, table(heads, rows)])
