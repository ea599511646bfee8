"""Information designs beside closed forms: nats, traces, and distributions estimated from their reports.

    python benchmarks objectives.information --part nats | fisher | cumulative | any | reports | arrival
    python benchmarks objectives.information --part distributions [--data FOLDER] [--epsilon 1] [--set S-MN] [--any]

Distributions are of 100,000 reports, on 65 knots, by EM and EMS as the papers stop them, over seeded repetitions; all
mechanisms see the same values. "Informed" designs know 10,000 other values of the same distribution, the others a
uniform prior. The real columns need their files.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import accuracy  # noqa: F401 - where Python finds the papers' data
import numpy as np
from markdown_table import table
from optldp.designer import Information, Prior, design
from optldp.designer.objectives.information import Criterion, table_information, table_trace
from optldp.designer.objectives.smooth_error import smooth_trace
from optldp.estimators import InputGrid, ReportCounts, estimate_distribution, likelihood_of
from optldp.estimators.distributions.metrics import jensen_shannon_distance, wasserstein_1
from optldp.estimators.distributions.smoothed_em import ems
from optldp.estimators.methods import DistributionMethod
from optldp.mechanisms import FAMILIES, TabulatedMechanism, piecewise, square_wave
from optldp.solvers import fit_mixture
from optldp.solvers.information.information_program import most_information
from optldp.solvers.likelihood.dense import DenseLikelihood
from priors import EPSILONS, at_knots
from redone.experiment.drawn_values import Draw, all_sets
from scipy import stats
from threadpoolctl import threadpool_limits

KNOTS, PRIORS = 65, ("uniform", "gaussian", "exponential")
RIVALS = {"SW": "square-wave", "PM": "piecewise", "Duchi": "duchi", "k-RR": "grr"}
USERS, KNOWN, REPETITIONS, STOP = 100_000, 10_000, 10, 1e-3
FEW_KNOTS, MANY, MANY_REPETITIONS = 17, (10_000, 1_000_000, 100_000_000), 100
PARTS = ("nats", "fisher", "cumulative", "any", "reports", "arrival", "distributions")
ARRIVAL_KNOTS, ARRIVAL_USERS, ARRIVAL_REPETITIONS = 33, (20_000, 200_000, 2_000_000), 24
SETS = ("Beta(2,5)", "S-MN", "SF total pay", "Adult age")


def judged(criterion: Criterion) -> str:
    """The designs of one criterion beside the closed forms and the variance-optimal design, under the same prior."""
    rows = []
    for name in PRIORS:
        prior = at_knots(name, KNOTS).mixed()
        for epsilon in EPSILONS:
            made = design(prior, epsilon, objective=Information(criterion), uniform_share=0.0)
            tables = {short: FAMILIES[long](prior.knots, epsilon) for short, long in RIVALS.items()}
            tables["variance-optimal"] = design(prior, epsilon, uniform_share=0.0).mechanism
            worth = table_information if criterion == "mutual-information" else _trace_of(criterion)
            first = (f"{most_information(epsilon):.5g}",) if criterion == "mutual-information" else ()
            rank = np.linalg.matrix_rank(made.mechanism.probabilities)
            rows.append(
                (
                    name, epsilon, f"{made.value:.6g}", f"{made.evidence.interval_gap:.1e}", f"{made.bound:.6g}",
                    f"{made.gap:.1e}", *first, f"{made.mechanism.low.size} / {rank}",
                    *(f"{worth(rival.probabilities, prior):.4g}" for rival in tables.values()), f"{made.seconds:.1f}",
                )
            )  # fmt: skip
    first = ("any prior's bound",) if criterion == "mutual-information" else ()
    header = (
        "prior", "epsilon", "design", "gap to intervals' bound", "bound for all", "gap", *first, "outputs / rank",
        *RIVALS, "variance-optimal", "s",
    )  # fmt: skip
    return table(header, rows)


def _trace_of(criterion: Criterion) -> Callable[[np.ndarray, Prior], float]:
    return lambda probabilities, prior: table_trace(probabilities, prior, criterion)


def arrival() -> str:
    """Squared errors with the square wave's reports over those with the informed design's: how much of the trace's
    promise arrives at so many users, by the maximum, by `smooth`, and as `smooth_trace` expects it."""
    rows, rng, knots = [], np.random.default_rng(3), np.linspace(0, 1, ARRIVAL_KNOTS)
    ends = np.concatenate([[0.0], (knots[1:] + knots[:-1]) / 2, [1.0]])
    prior = Prior.on_knots(knots, np.diff(stats.beta(2, 5).cdf(ends)), source="public").mixed()
    for epsilon in (1.0, 2.0):
        made = design(prior, epsilon, objective=Information("cumulative"), tolerance=1e-2, uniform_share=0.0)
        tables = (square_wave(knots, epsilon), made.mechanism)
        theirs, mine = (table_trace(t.probabilities, prior, "cumulative") for t in tables)
        trace = theirs / mine
        for users in ARRIVAL_USERS:
            theirs, mine = (smooth_trace(t.probabilities, prior, users) for t in tables)
            ratios = [_arrived(prior, tables, users, method, rng) for method in ("ule", "smooth")]
            rows.append((f"{epsilon:g}", f"{users:,}", *ratios, f"{theirs / mine:.2f}", f"{trace:.2f}"))
    return table(("epsilon", "users", "maximum", "smooth", "smooth, expected", "trace"), rows)


def _arrived(
    prior: Prior,
    tables: tuple[TabulatedMechanism, TabulatedMechanism],
    users: int,
    method: DistributionMethod,
    rng: np.random.Generator,
) -> str:
    """The ratio of mean squared errors of the distribution function with the first table's reports and the second's."""
    errors = np.empty((2, ARRIVAL_REPETITIONS))
    for place in np.ndindex(errors.shape):
        made = tables[place[0]]
        seen = rng.multinomial(users, prior.weights @ made.probabilities)
        counts = ReportCounts.from_counts(made, {"output": np.arange(seen.size), "n": seen})
        missed = np.cumsum(estimate_distribution(counts, method=method).value - prior.weights)[:-1]
        errors[place] = missed**2 @ np.diff(prior.knots)
    return _ratio(*errors)


def _ratio(first: np.ndarray, second: np.ndarray) -> str:
    ratio = first.mean() / second.mean()
    error = ratio * np.hypot(*(one.std(ddof=1) / one.mean() / np.sqrt(one.size) for one in (first, second)))
    return f"{ratio:.2f} ± {error:.2f}"


def all_patterns() -> str:
    """Any patterns beside intervals: what order costs."""
    rows = []
    cases: tuple[tuple[Criterion, int], ...] = (
        ("mutual-information", KNOTS),
        ("fisher", 17),
        ("cumulative", 17),
        ("cumulative", 33),
    )
    for criterion, knots in cases:
        for epsilon in EPSILONS:
            prior = at_knots("gaussian", knots)
            some = design(prior, epsilon, objective=Information(criterion), tolerance=1e-4)
            every = design(prior, epsilon, objective=Information(criterion, "any"), tolerance=1e-4)
            rows.append(
                (
                    criterion, knots, epsilon, f"{some.value:.6g}", f"{every.value:.6g}", f"{every.bound:.6g}",
                    f"{every.gap:.1e}", every.mechanism.low.size, f"{every.seconds:.1f}",
                )
            )  # fmt: skip
    header = ("criterion", "knots", "epsilon", "intervals", "any patterns", "bound", "gap", "outputs", "s")
    return table(header, rows)


def asymptotics() -> str:
    """Integrated squared error of the distribution function, times the reports, by exact maximum likelihood."""
    knots = np.linspace(0, 1, FEW_KNOTS)
    prior = Prior.from_distribution(stats.beta(2, 5), knots=knots)
    importance = np.tri(FEW_KNOTS)[:-1] * np.sqrt(np.diff(knots))[:, None]
    rows = []
    for epsilon in (1.0, 2.0):
        tables = {short: FAMILIES[RIVALS[short]](knots, epsilon) for short in ("SW", "PM", "k-RR")}
        tables["variance-optimal"] = design(prior, epsilon).mechanism
        some = design(prior, epsilon, objective=Information("cumulative"), tolerance=1e-4)
        every = design(prior, epsilon, objective=Information("cumulative", "any"), tolerance=1e-4)
        tables |= {"cumulative, informed": some.mechanism, "the same, any patterns": every.mechanism}
        for short, mechanism in tables.items():
            P, rng, shown = mechanism.probabilities, np.random.default_rng(17), []
            for users in MANY:
                counts = rng.multinomial(users, prior.weights @ P / (prior.weights @ P).sum(), MANY_REPETITIONS)
                fits = [fit_mixture(DenseLikelihood([P], one)).weights for one in counts]
                error = users * np.sum(((np.array(fits) - prior.weights) @ importance.T) ** 2, axis=1)
                shown.append(f"{error.mean():.3g} ± {error.std(ddof=1) / np.sqrt(MANY_REPETITIONS):.1g}")
            rows.append((f"{epsilon:g}", short, *shown, f"{table_trace(P, prior, 'cumulative'):.4g}"))
    return table(("epsilon", "mechanism", *(f"{users:.0e} reports" for users in MANY), "trace"), rows)


def _mechanisms(known: Prior, epsilon: float, any_patterns: bool) -> dict[str, TabulatedMechanism]:
    if any_patterns:  # alone: the other rows do not depend on it, and it takes longer than all of them
        every = design(known, epsilon, objective=Information("cumulative", "any"), tolerance=1e-2)
        return {"cumulative, informed, any patterns": every.mechanism}
    blind = Prior.on_knots(known.knots, np.ones(KNOTS), source="public")

    def made(prior: Prior, criterion: Criterion) -> TabulatedMechanism:
        return design(prior, epsilon, objective=Information(criterion), tolerance=1e-4).mechanism

    return {
        "SW": square_wave(known.knots, epsilon),
        "PM": piecewise(known.knots, epsilon),
        "variance-optimal, informed": design(known, epsilon).mechanism,
        "information, informed": made(known, "mutual-information"),
        "fisher, informed": made(known, "fisher"),
        "cumulative": made(blind, "cumulative"),
        "cumulative, informed": made(known, "cumulative"),
    }


def distributions(data: Path | None, epsilons: list[float], names: list[str], any_patterns: bool) -> str:
    draws = all_sets(data)
    rows = []
    for epsilon in epsilons:
        for number, name in enumerate(SETS):
            if name in draws and name in names:
                rows += _estimated(name, draws[name], number, epsilon, any_patterns)
    return table(("data", "epsilon", "mechanism", "JS, EM", "JS, EMS", "1000 W1, EM", "1000 W1, EMS"), rows)


def _estimated(name: str, draw: Draw, number: int, epsilon: float, any_patterns: bool) -> list[tuple[str, ...]]:
    knots = np.linspace(0, 1, KNOTS)
    known = Prior.from_data(draw(KNOWN, np.random.default_rng([number, 999])), knots=knots, source="public")
    mechanisms = _mechanisms(known, epsilon, any_patterns)
    errors = {short: [] for short in mechanisms}
    for repetition in range(REPETITIONS):
        values = draw(USERS, np.random.default_rng([number, repetition]))
        truth = Prior.from_data(values, knots=knots).weights
        for short, mechanism in mechanisms.items():
            errors[short].append(_errors(mechanism, values, truth, np.random.default_rng([number, repetition, 1])))
    rows = []
    for short, found in errors.items():
        mean, spread = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) / np.sqrt(REPETITIONS)
        rows.append((name, f"{epsilon:g}", short, *(f"{m:.3g} ± {s:.1g}" for m, s in zip(mean, spread, strict=True))))
    return rows


def _errors(
    mechanism: TabulatedMechanism, values: np.ndarray, truth: np.ndarray, rng: np.random.Generator
) -> list[float]:
    """Jensen-Shannon distances and 1000 x Wasserstein-1 of EM and EMS to the rounded values' distribution."""
    grid = InputGrid.knots(mechanism.knots)
    likelihood = likelihood_of(ReportCounts.from_reports(mechanism, mechanism.sample(values, rng)), grid)
    fits = (fit_mixture(likelihood, method="em", loglik_change=STOP).weights, ems(likelihood).weights)
    distances = [jensen_shannon_distance(weights, truth) for weights in fits]
    return distances + [1000 * wasserstein_1(grid.points, weights, truth) for weights in fits]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS, default="nats")
    parser.add_argument("--data", type=Path, help="folder with the real data sets, npz files")
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.5, 1.0, 2.0])
    parser.add_argument("--any", action="store_true", help="only the cumulative design of any patterns")
    parser.add_argument("--set", choices=SETS, nargs="+", default=list(SETS))
    options = parser.parse_args()
    started = time.perf_counter()
    with threadpool_limits(1):
        if options.part == "distributions":
            print(distributions(options.data, options.epsilon, options.set, options.any))
        elif options.part == "reports":
            print(asymptotics())
        elif options.part == "arrival":
            print(arrival())
        elif options.part == "any":
            print(all_patterns())
        else:
            print(judged("mutual-information" if options.part == "nats" else options.part))
    print(f"\n{time.perf_counter() - started:.0f} s in all")


if __name__ == "__main__":
    main()
