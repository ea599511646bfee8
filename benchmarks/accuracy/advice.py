"""What `advise` recommends against the best that brute force finds, on columns that it has not seen: the prior is that
of 2,000 rows drawn from the column, the truth is the whole of it, both on 33 knots. Brute force draws reports of
the truth for every mechanism and estimator; which is best, half of the draws say, and how much more the recommended
one errs, the other half, both ways round. "more" is that share, of the root mean squared error of the mean or of
the mean Wasserstein distance; "said / true" is what `advise` said of its choice over what the choice erred by in
all draws. Six mechanisms, four estimators of distributions, and for the mean two unbiased ones, whose errors are
exact. Root mean squares of six draws scatter by 30%, and exact errors are compared with them as they are: rows of
the mean are a rough look, those of distributions are known to about 10%. By default five of the 60 cases; `--full`
has all."""

import math
from pathlib import Path

import numpy as np
from markdown_table import table
from optldp.designer import METHODS, Prior, advise, design
from optldp.designer.planning.advice import DEFAULT_MECHANISMS
from optldp.designer.planning.advised import Of
from optldp.designer.planning.bootstrap import AdviceRow, Case, distribution_errors, linear_row
from optldp.estimators.methods import OF_ONE_SERVICE
from redone.experiment.drawn_values import all_sets

from .repetitions import Errors, repeat

TITLE = "What advise recommends"
SETS = ("S-MN", "SF benefits", "SF total pay", "Adult age", "IRS mean income")
BUDGETS, USERS = (0.5, 1.0, 2.0, 4.0), (1_000, 10_000, 100_000)
ROWS, DRAWN, KNOTS = 2_000, 200_000, 33
CRITERIA: tuple[Of, ...] = ("mean", "distribution")
DRAWS = 12
"""Of brute force, for each mechanism: halves of six know a ratio of errors to a fifth."""


def run(data: Path, repetitions: int, workers: int, *, full: bool = False) -> str:
    """Each set at one budget and size, all of which occur; or in all 60 cases."""
    some = [(name, BUDGETS[k % 4], USERS[k % 3]) for k, name in enumerate(SETS)]
    every = [(name, epsilon, users) for name in SETS for epsilon in BUDGETS for users in USERS]
    cases = [(data, *case) for case in (every if full else some)]
    found = repeat(_judged, cases, repetitions, workers)
    rows = []
    for of in CRITERIA:
        for (_, name, epsilon, users), scores in zip(cases, found, strict=True):
            more, said = scores.mean(f"more {of}"), scores.mean(f"said {of}")
            rows.append((of, name, f"{epsilon:g}", f"{users:,}", f"{more:+.1%}", f"{said:.2f}"))
        more = np.array([scores.mean(f"more {of}") for scores in found])
        said = np.log([scores.mean(f"said {of}") for scores in found])
        rows.append(
            (
                of,
                "all",
                "",
                "",
                f"{more.mean():+.1%} ± {_error(more):.1%}",
                f"{np.exp(said.mean()):.2f} ± {_error(said):.2g}",
            )
        )
    return table(("of", "column", "epsilon", "users", "more", "said / true"), rows)


def _error(values: np.ndarray) -> float:
    return float(values.std(ddof=1)) / math.sqrt(values.size)


def _judged(data: Path, name: str, epsilon: float, users: int, rng: np.random.Generator) -> Errors:
    values, knots = all_sets(data)[name](DRAWN, rng), np.linspace(0.0, 1.0, KNOTS)
    truth = Prior.from_data(values, knots=knots, source="public")
    prior = Prior.from_data(rng.choice(values, ROWS, replace=False), knots=knots, source="public")
    drawn, exact = _by_brute_force(prior, truth, epsilon, users, int(rng.integers(2**31)))
    found: Errors = {}
    for of in CRITERIA:
        told = advise(prior, users, epsilon, of=of, rng=rng)
        chosen = (told.best.mechanism, told.best.estimator)
        column = 0 if of == "mean" else 1
        known = exact if of == "mean" else {}

        def error(one: tuple[str, str], half: slice, column: int = column, known: dict = known) -> float:
            size = known[one] if one in known else float(drawn[one][half, column].mean())
            return math.sqrt(size) if column == 0 else size

        halves, every = (slice(0, None, 2), slice(1, None, 2)), [*drawn, *known]
        ratios = []
        for first, second in (halves, halves[::-1]):
            best = min(every, key=lambda one, first=first, error=error: error(one, first))
            ratios.append(math.log(error(chosen, second) / error(best, second)))
        found[f"more {of}"] = math.exp(float(np.mean(ratios))) - 1.0
        found[f"said {of}"] = told.error_of(told.best).value / error(chosen, slice(None))
    return found


def _by_brute_force(
    prior: Prior, truth: Prior, epsilon: float, users: int, seed: int
) -> tuple[dict[tuple[str, str], np.ndarray], dict[tuple[str, str], float]]:
    """(DRAWS, 2) squared errors of the mean and Wasserstein distances of each pair; and the exact squared errors."""
    drawn, exact = {}, {}
    for mechanism in DEFAULT_MECHANISMS:
        made = design(prior, epsilon, method=mechanism).mechanism
        case = Case(mechanism, made.with_prior(truth.knot_prior), truth, users)
        rows = made.pmf(truth.knots)
        some = [
            distribution_errors(case, rows, OF_ONE_SERVICE, k, (seed, METHODS.index(mechanism))) for k in range(DRAWS)
        ]
        for estimator in OF_ONE_SERVICE:
            drawn[mechanism, estimator] = np.array([(e[estimator].squared, e[estimator].wasserstein) for e in some])
        for estimator in ("ua", "decoder"):
            row = linear_row(case, estimator)
            if isinstance(row, AdviceRow):
                exact[mechanism, estimator] = row.mse.value
    return drawn, exact
