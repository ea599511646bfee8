"""How often 95% intervals by pairs of linear estimates hold the truth for users of two services, and for queries: 5,000
people on 33 knots of [0, 1], of whom 99% have the least value, 99% one within, or all lie about one.

Services are square wave and piecewise mechanisms, each at the epsilon that is said; asked are the shares above the
least value and above the median. Queries are all shares up to a knot, of people who report once by a square wave. A
normal length is 3.92 standard errors of the least-squares answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from markdown_table import table
from optldp.estimators import ReportCounts, Service, estimate_distribution
from optldp.estimators.distributions import estimate_queries
from optldp.mechanisms import piecewise, square_wave

from ..repetitions import Errors, Summary, repeat

TITLE = "Intervals of several services and of queries"
EPSILONS, PEOPLE, TOGETHER = (1.0, 4.0), 5_000, 25
KNOTS = np.linspace(0.0, 1.0, 33)
SHAPES = ("99% low", "99% inside", "spread")
SHARES = ("above the least", "above the median")


def run(_data: Path, repetitions: int, workers: int) -> str:
    """Return two tables, of 25 collections a repetition."""
    cases = [(shape, epsilon) for shape in SHAPES for epsilon in EPSILONS]
    services = repeat(of_services, cases, repetitions, workers)
    queries = repeat(of_queries, cases, repetitions, workers)
    often = f"{repetitions * TOGETHER} collections a row."
    heads = ("values", "epsilon of each", "share", "held", "missed above", "missed below", "length")
    rows = [_row(case, what, one) for case, one in zip(cases, services, strict=True) for what in SHARES]
    parts = ["## Users of two services", often, table(heads, rows)]
    heads = ("values", "epsilon", "held", "the query held least", "length / bound", "length / normal")
    rows = [(case[0], f"{case[1]:g}", *_shown(one)) for case, one in zip(cases, queries, strict=True)]
    return "\n\n".join([*parts, "## Queries", often, table(heads, rows)])


def of_services(shape: str, epsilon: float, rng: np.random.Generator) -> Errors:
    """Intervals of users who report to both services, by the joint fit's pairs."""
    truth = _weights(shape)
    services = [Service(make.__name__, make(KNOTS, epsilon)) for make in (square_wave, piecewise)]
    median = float(KNOTS[int(np.searchsorted(np.cumsum(truth), 0.5 - 1e-9))])
    found = {f"{fact} {what}": 0.0 for fact in ("high", "low", "length") for what in SHARES}
    for _ in range(TOGETHER):
        values = rng.choice(KNOTS, PEOPLE, p=truth)
        sent = [one.mechanism.output_index(one.mechanism.sample(values, rng)) for one in services]
        fit = estimate_distribution(ReportCounts.from_outputs(services, np.stack(sent, axis=1)), method="em")
        for what, cut in zip(SHARES, (0.0, median), strict=True):
            share, true = fit.probability_above(cut).to_dict(), float(truth[cut < KNOTS].sum())
            found[f"high {what}"] += (share["low"] > true + 1e-12) / TOGETHER
            found[f"low {what}"] += (share["high"] < true - 1e-12) / TOGETHER
            found[f"length {what}"] += (share["high"] - share["low"]) / TOGETHER
    return found


def of_queries(shape: str, epsilon: float, rng: np.random.Generator) -> Errors:
    """Intervals of all shares up to a knot but the last."""
    truth, made, asked = _weights(shape), square_wave(KNOTS, epsilon), np.tri(KNOTS.size)[:-1]
    found = {f"held {k}": 0.0 for k in range(len(asked))} | dict.fromkeys(("length", "normal", "bound"), 0.0)
    for _ in range(TOGETHER):
        counts = ReportCounts.from_reports(made, made.sample(rng.choice(KNOTS, PEOPLE, p=truth), rng))
        answers = estimate_queries(counts, asked)
        ends, shortest = answers.interval(), answers.shortest_possible()
        assert shortest is not None
        held = (ends.low <= asked @ truth + 1e-12) & (asked @ truth - 1e-12 <= ends.high)
        for k, one in enumerate(held):
            found[f"held {k}"] += float(one) / TOGETHER
        found["length"] += float((ends.high - ends.low).mean()) / TOGETHER
        found["normal"] += 3.92 * float(answers.std_error.mean()) / TOGETHER
        found["bound"] += float(shortest.mean()) / TOGETHER
    return found


def _weights(shape: str) -> np.ndarray:
    if shape == "spread":
        found = np.exp(-(((KNOTS - 0.3) / 0.2) ** 2))
        return found / found.sum()
    found = np.full(KNOTS.size, 0.01 / (KNOTS.size - 1))
    found[{"99% low": 0, "99% inside": 11}[shape]] = 0.99
    return found


def _row(case: tuple[str, float], what: str, one: Summary) -> tuple[str, ...]:
    above, below = one.mean(f"high {what}"), one.mean(f"low {what}")
    shown = (f"{part:.3f}" for part in (1 - above - below, above, below, one.mean(f"length {what}")))
    return case[0], f"{case[1]:g}", what, *shown


def _shown(one: Summary) -> tuple[str, ...]:
    held = [one.mean(f"held {k}") for k in range(KNOTS.size - 1)]
    length = one.mean("length")
    ratios = (length / one.mean("bound"), length / one.mean("normal"))
    return f"{np.mean(held):.3f}", f"{min(held):.3f}", *(f"{ratio:.2f}" for ratio in ratios)
