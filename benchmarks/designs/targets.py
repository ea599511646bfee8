"""Problems of every kind, at sizes as people have them: how long they take, and what is proved of the answer.

Each row is one call of `design`, table in whole numbers and certificate included. What a row aimed at stands in its
last two columns, whether it was met or not.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import cvxpy as cp
import numpy as np
from measured import Cell, Table, timed
from optldp.designer import CategoricalPrior, Custom, Design, Prior, Variance, WorstCase, design
from optldp.designer.objectives import AtMost, Loss, Workload
from optldp.mechanisms import Metric
from optldp.mechanisms.promise import Blocks, ByValue, Promise, Pure, Sensitive
from optldp.mechanisms.spaces.places import Places
from optldp.solvers.channel import ChannelProgram, solve_channel
from optldp.solvers.cone import Cone, blocks, circle, line, pure, ratios, sensitive, value_budgets

from designs.derived_rivals import all_pairs

TITLE = "Every kind of problem, and what was aimed at"
ABOUT = (
    "Priors are even unless a row has a seed: then its weights, or its queries, are random with that seed "
    '(`numpy.random.default_rng`). Epsilon is 1, pure, unless a row says otherwise. "Above" is how far the value is '
    "above the bound; of few outputs, that is the bound of any number of them. Seconds are of the processor."
)
SEEDS = range(5)


class Aimed(NamedTuple):
    """A problem, and the gap and seconds that it is to take at most; None where nothing was aimed at."""

    what: str
    solve: Callable[[], Design]
    gap: float | None = None
    seconds: float | None = None


def run() -> list[Table]:
    columns = {"problem": "", "value": ".6g", "bound": ".6g", "above": ".1e", "s": ".2f", "solver": ""}
    aims = {"above, at most": ".1e", "s, at most": "g"}
    privacies = {"privacy": "", "all pairs, HiGHS": ".7f", "s": ".2f", "ours": ".7f", "bound": ".7f", "s, ours": ".2f"}
    return [
        Table(columns | aims, [_row(*one) for one in _losses()], ABOUT),
        Table(columns | aims, [_row(*one) for one in _workloads()], "Linear queries, with their errors summed:"),
        Table(columns | aims, [_row(*one) for one in _promises()], "Prefix sums under promises of pairs:"),
        Table(columns | aims, [_row(*one) for one in _few_outputs()], "Few outputs, placed by optldp:"),
        Table(privacies, [_equal(name, cone) for name, cone in _cones().items()], PRIVACIES),
    ]


def _row(what: str, solve: Callable[[], Design], gap: float | None, seconds: float | None) -> tuple[Cell, ...]:
    made, took = timed(solve)
    return what, made.value, made.bound, made.gap, took, made.solver, gap, seconds


def even(n: int) -> Prior:
    return Prior.on_knots(np.linspace(-1, 1, n), np.ones(n), source="public")


def _losses() -> Iterator[Aimed]:
    def given(n: int, promise: Promise, loss: Loss, outputs: np.ndarray | None = None) -> Callable[[], Design]:
        prior = even(n)
        reports = prior.knots if outputs is None else outputs
        return lambda: design(prior, promise, objective=loss, outputs=reports, uniform_share=0.0)

    expected, worst = Loss("absolute"), Loss("absolute", worst=1.0)
    yield Aimed("biased, 101 x 101, expected", given(101, Pure(1.0), expected), 1e-6, 1)
    yield Aimed("biased, 101 x 101, worst", given(101, Pure(1.0), worst), 1e-6, 1)
    yield Aimed("biased, 301 x 301, expected", given(301, Pure(1.0), expected), 1e-6, 3)
    yield Aimed("10 per unit, 101 x 101, expected", given(101, Metric(10.0), expected), 1e-6, 2)
    yield Aimed("10 per unit, 301 x 301, expected", given(301, Metric(10.0), expected), 1e-6, 15)
    yield Aimed("2 per unit, unbiased, 101 knots, outputs free", _free_by_distance, 1e-5, 30)
    yield Aimed("10 x 10 places, .5 a step, distance", lambda: _places(10, 1e-5))
    yield Aimed("20 x 20 places, .5 a step, distance", lambda: _places(20, 1e-2), 1.2e-2, 180)
    yield Aimed("biased, 21 x 41, own convex objective", _own, 1e-6, 0.5)


def _workloads() -> Iterator[Aimed]:
    for n, gap, seconds in ((32, 1e-2, 10), (128, 1e-2, 10), (256, 2e-2, 30)):
        yield Aimed(f"prefix sums of {n}", _queries(even(n), "prefix", gap), gap, seconds)
    for seed in SEEDS:
        weights = np.random.default_rng(seed).dirichlet(np.ones(128))
        prior = Prior.on_knots(np.arange(128.0), weights, source="public")
        yield Aimed(f"prefix sums of 128, seed {seed}", _queries(prior, "prefix", 1e-2), 1e-2, 10)
    yield Aimed("ranges of 128", _queries(even(128), "ranges", 1e-2), 1e-2, 10)
    for n in (40, 48):
        random = np.random.default_rng(0).normal(size=(n // 2, n))
        yield Aimed(f"{n // 2} random queries of {n}, seed 0", _queries(even(n), random, 1e-2), 1e-2, 15)
    yield Aimed("one-way marginals of 8 x 8", _marginals, 1e-2, 15)


def _promises() -> Iterator[Aimed]:
    for n in (12, 24):
        hours, budgets = np.arange(float(n)), tuple(np.linspace(0.5, 2.0, n))
        prior = Prior.on_knots(hours, np.ones(n), source="public")
        promises: dict[str, Promise] = {
            "1 per unit": Metric(1.0),
            "round a circle, 1 per unit": Metric(1.0, period=float(n)),
            "budgets .5 to 2, average": ByValue(budgets),
            "budgets .5 to 2, the smaller": ByValue(budgets, "min"),
            "2 blocks, 1 and 3": Blocks(list(np.arange(n) * 2 // n), 1.0, 3.0),
            "each second value sensitive": Sensitive(1.0, list(np.arange(n) % 2 == 0)),
        }
        for name, promise in promises.items():
            yield Aimed(f"{n} values, {name}", partial(_of_pairs, prior, promise))


def _of_pairs(prior: Prior, promise: Promise) -> Design:
    return design(prior, promise, objective=Workload("prefix"), uniform_share=0.0)


def _few_outputs() -> Iterator[Aimed]:
    for m, gap in ((4, None), (8, 5e-3), (16, 2e-3)):
        yield Aimed(f"unbiased, 32 values, at most {m} outputs", partial(_few, m), gap, gap and 5)
    yield Aimed("worst case, 33 knots, at most 4 outputs", _few_worst)


def _queries(prior: Prior, queries: str | np.ndarray, gap: float) -> Callable[[], Design]:
    return lambda: design(prior, 1.0, objective=Workload(queries), uniform_share=0.0, tolerance=gap)


def _marginals() -> Design:
    grid = np.stack(np.meshgrid(np.arange(8.0), np.arange(8.0)), -1).reshape(-1, 2)
    prior = CategoricalPrior(Places(grid), np.ones(64))
    return design(prior, 1.0, objective=Workload("marginals"), uniform_share=0.0)


def _free_by_distance() -> Design:
    asked = Loss("squared", unbiased=True)
    return design(even(101), Metric(2.0), objective=asked, uniform_share=0.0, tolerance=1e-5)


def _places(side: int, gap: float) -> Design:
    grid = np.stack(np.meshgrid(np.arange(float(side)), np.arange(float(side))), -1).reshape(-1, 2)
    asked = Loss("absolute")
    prior = CategoricalPrior(Places(grid), np.ones(side**2))
    return design(prior, Metric(0.5), objective=asked, uniform_share=0.0, tolerance=gap)


def _own() -> Design:
    prior, outputs = even(21), np.linspace(-1, 1, 41)
    losses = abs(outputs - prior.knots[:, None])
    asked = Custom(lambda table, reports: cp.norm(cp.sum(cp.multiply(losses, table), axis=1)))
    return design(prior, 1.0, objective=asked, outputs=outputs, uniform_share=0.0)


def _few(m: int) -> Design:
    return design(even(32), 1.0, objective=Variance(), outputs=AtMost(m), uniform_share=0.0)


def _few_worst() -> Design:
    return design(even(33), 1.0, objective=WorstCase(), outputs=AtMost(4), uniform_share=0.0)


PRIVACIES = (
    "The least expected absolute error of biased reports, for every privacy: 21 values, 41 outputs, even prior. "
    "Ours uses the few limits that imply all; the rival is the linear program with a row for each pair of values and "
    "output, of the same log-ratios (libqif and GeoPrivacy state it so)."
)


def _cones() -> dict[str, Cone]:
    x, rng = np.linspace(-1, 1, 21), np.random.default_rng(0)
    budgets = np.linspace(0.5, 3.0, 21)
    points = rng.random((21, 2))
    apart = np.hypot(*(points[:, None] - points).T)
    hide = np.arange(21) < 8
    return {
        "pure": pure(21, 1.0),
        "by distance, 4 per unit": line(x, 4.0),
        "on a circle, 4 per unit": circle(x, 2.1, 4.0),
        "by value, average": value_budgets(list(budgets), "average"),
        "by value, the smaller": value_budgets(list(budgets), "min"),
        "blocks of 7, 1 and 3": blocks(list(np.arange(21) // 7), 1.0, 3.0),
        "8 sensitive": sensitive(list(hide), 1.0),
        "random points, 4 per unit, seed 0": ratios(4 * apart),
    }


def _equal(name: str, cone: Cone) -> tuple[Cell, ...]:
    x, y = np.linspace(-1, 1, 21), np.linspace(-1, 1, 41)
    even_, losses = np.full(21, 1 / 21), abs(y - x[:, None])
    found, ours = timed(lambda: solve_channel(ChannelProgram(cone, even_, losses), tolerance=1e-6))
    value, theirs = timed(lambda: all_pairs(losses, cone.closed, even_))
    return name, value, theirs, found.value, found.bound, ours
