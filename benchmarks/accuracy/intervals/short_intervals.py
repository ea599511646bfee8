"""Which 95% intervals by pairs of linear estimates hold the truth, and how many times the shortest possible length they
are: 20,000 reports on 51 knots of [0, 1], of shares above the least value, the median and the 95% quantile of the
truth, and of the median.

Tables are made for the prior of an earlier year or half where a column has one, else for an even prior. Of "99%" all
but one of 100 users have one value, of "all" everybody; of "ends" one half has the least, the other the largest value.
Values stand at knots. With an assumption, more people than 1% are exempt where the truth is that far from the prior.
The length is relative to the proved bound at the truth (`solvers.modulus`); plus or minus 1.96 standard errors of a
normal estimate are 1.18 of it, 1.21 by the 95% of reports that do not choose. [Some cells drawn
again](assumed-lengths.md#cells-drawn-again) say what long ones owe to the choice. From the median's length a knot is
taken off, since its intervals end at knots: where they are few knots long that is more than they owe to it, and the
ratio falls below one, none of it by missing. Reports that choose estimates were drawn 8 times for each 50 collections
of the others, which is what a split of all reports is in law."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from markdown_table import table
from optldp.designer import Prior, design
from optldp.designer.objectives import Cdf
from optldp.estimators.affine_pairs.intervals import LIKELY
from optldp.estimators.affine_pairs.outcomes import Outcomes
from optldp.estimators.affine_pairs.pair import Pairs
from optldp.estimators.affine_pairs.quantile_length import shortest_quantile
from optldp.estimators.assumptions import Shape, exempt_needed
from optldp.estimators.assumptions.base import Assumed
from optldp.mechanisms.families.registry import FAMILIES
from optldp.solvers.modulus.estimates import Reference
from optldp.solvers.modulus.shortest import shortest_length
from years import pairs

from ..repetitions import Errors, Summary, found_before, repeat

TITLE = "How short honest intervals of shares are"
USERS, KNOTS = 20_000, np.linspace(0.0, 1.0, 51)
CHOICES, TOGETHER = 8, 50
MEASURED = ("SF total_pay", "SF overtime_pay", "ACS income", "Adult capital_gain")
DRAWN = ("99% low", "99% high", "99% inside", "all low", "ends")
EPSILONS = {
    "optimal": (4.0, 1.0, 0.5), "square-wave": (4.0, 1.0, 0.5), "cdf": (4.0, 1.0), "grr": (4.0, 1.0),
    "piecewise": (4.0, 1.0),
}  # fmt: skip
"""By the method that tables are made by."""
ROUGH = 0.2
"""Gap at which a table for the distribution function is good enough to be looked at."""
ASKED = ("above the least", "above the median", "above 95%", "median")
SHAPE = 1.1


class Column(NamedTuple):
    """What a table is made for, and the truth: two (K,) arrays."""

    prior: np.ndarray
    truth: np.ndarray


def cases_of(data: Path) -> list[tuple]:
    """All cells, in an order that was drawn once: what a short run has kept is a sample of them."""
    cases = [
        (data, column, epsilon, method, "nothing")
        for method, epsilons in EPSILONS.items()
        for epsilon in epsilons
        for column in (*MEASURED, *DRAWN)
    ]
    cases += [(data, column, epsilon, "optimal", "shape") for epsilon in (1.0, 4.0) for column in MEASURED]
    return [cases[at] for at in np.random.default_rng(32).permutation(len(cases))]


def run(data: Path, repetitions: int, workers: int, kept: Path | None = None, *, render: bool = False) -> str:
    """Return how often intervals hold, to which side they miss, and how long they are; 400 collections each.

    To render is to say what a folder has kept, of however many cells.
    """
    cases = cases_of(data)
    if not render:
        return page(list(zip(cases, repeat(_errors, cases, repetitions, workers, kept), strict=True)), len(cases))
    if kept is None:
        raise SystemExit("--render of short-intervals needs --kept FOLDER")
    return page(found_before(_errors, cases, kept), len(cases))


def page(found: list[tuple[tuple, Summary]], cells: int) -> str:
    """Return the tables of what was found, and of how many of the cells it is."""
    heads = ("cells", "pooled", "lowest cell", "most missed above", "most missed below", "length / bound", "longest")
    groups = {
        "measured columns": lambda case: case[1] in MEASURED and case[4] == "nothing",
        "99%": lambda case: case[1].startswith("99%"),
        "all, ends": lambda case: case[1].startswith(("all", "ends")),
        f"shape={SHAPE:g}, 1% exempt or more": lambda case: case[4] == "shape",
    }
    groups |= {f"epsilon {epsilon:g}": (lambda case, e=epsilon: case[2] == e) for epsilon in (0.5, 1.0, 4.0)}
    groups |= {method: (lambda case, m=method: case[3] == m) for method in EPSILONS}
    groups = {"all": lambda case: True} | groups
    chosen = {name: [cell for cell in found if of(cell[0])] for name, of in groups.items()}
    pooled = [_pooled(name, some) for name, some in chosen.items() if some]
    off = [
        row for case, one in found for row in _rows(case, one) if row[5] < 0.93 or row[8] > 1.6 or 0.0 < row[8] < 0.97
    ]
    shown = [(*row[:5], *(f"{share:.3f}" for share in row[5:8]), f"{row[8]:.3g}") for row in off]
    about = ("column", "epsilon", "table", "assumed", "asked", "held", "missed above", "missed below", "length / bound")
    often = [CHOICES * TOGETHER * one.values["long above 95%"].size for _, one in found]
    several = (
        f"{len(found)} of {cells} cells of {len(ASKED)} numbers at most were run, {min(often):,} to {max(often):,} "
        f"collections each, {sum(often):,} in all"
    )
    return (
        f"{several}:\n\n{table(('', *heads), pooled)}\n\n"
        f"Cells that held less than 93%, or are longer than 1.6 bounds or shorter than .97:\n\n{table(about, shown)}"
    )


def _rows(case: tuple, one: Summary) -> list[tuple]:
    """A row for each number: what it is, how often it held and missed above and below, its length in bounds."""
    rows = []
    for what in ASKED if case[4] == "nothing" else ASKED[:3]:
        shortest = one.mean(f"shortest {what}")
        length = one.mean(f"long {what}") - (KNOTS[1] if what == "median" else 0.0)
        above, below = one.mean(f"above {what}"), one.mean(f"below {what}")
        ratio = length / shortest if shortest > 0.0 else 0.0
        rows.append((case[1], f"{case[2]:g}", *case[3:], what, 1.0 - above - below, above, below, ratio))
    return rows


def _pooled(name: str, cells: list[tuple[tuple, Summary]]) -> tuple[str, ...]:
    rows = [row for case, one in cells for row in _rows(case, one)]
    held, above, below = (np.array([row[at] for row in rows]) for at in (5, 6, 7))
    ratio = np.array([row[8] for row in rows if row[4] != "median"])
    shares = (held.mean(), held.min(), above.max(), below.max())
    return (name, str(len(cells)), *(f"{share:.3f}" for share in shares), f"{ratio.mean():.3f}", f"{ratio.max():.3g}")


@cache
def _column(data: Path, name: str) -> Column:
    if name in MEASURED:
        pair = next(one for one in pairs(data) if one.name == name)
        low, high = max(pair.low, float(pair.older.min())), min(pair.high, float(np.quantile(pair.older, 0.999)))
        each = [
            Prior.from_data((np.clip(x, low, high) - low) / (high - low), knots=51, domain=(0, 1), source="public")
            for x in (pair.older, pair.newer)
        ]
        return Column(each[0].weights, each[1].weights)
    weights = np.zeros(KNOTS.size)
    weights[{"low": 0, "high": -1}.get(name.rpartition(" ")[2], 17)] = 1.0
    if name == "ends":
        weights[[0, 17, -1]] = 0.5, 0.0, 0.5
    if name.startswith("99%"):
        weights = np.where(weights > 0, 0.99, 0.01 / (KNOTS.size - 1))
    return Column(np.full(KNOTS.size, 1.0 / KNOTS.size), weights)


def truth_of(data: Path, name: str) -> np.ndarray:
    """Return the (K,) distribution that a column's later year has."""
    return _column(data, name).truth


def law_of(data: Path, column: str, epsilon: float, method: str) -> Outcomes:
    """Return the outcomes of a column's table, nothing reported yet."""
    return _made(data, column if column in MEASURED else DRAWN[0], epsilon, method)  # all drawn ones have one prior


@cache
def _made(data: Path, column: str, epsilon: float, method: str) -> Outcomes:
    prior = Prior.on_knots(KNOTS, _column(data, column).prior, source="public")
    if method in FAMILIES:
        made = FAMILIES[method](KNOTS, epsilon)
    elif method == "cdf":
        made = design(prior, epsilon, objective=Cdf(USERS), tolerance=ROUGH).mechanism
    else:
        made = design(prior, epsilon).mechanism
    law = made.statistic.law[:, made.statistic.law.any(axis=0)]
    return Outcomes(KNOTS, law, np.zeros(law.shape[1], dtype=np.int64), True)


@cache
def held_of(data: Path, column: str, assumed: str) -> Assumed:
    """Return what is assumed of a column."""
    prior, truth = _column(data, column)
    if assumed == "nothing":
        return Assumed.of([], KNOTS, prior)
    near = Prior.on_knots(KNOTS, 0.99 * prior + 0.01 / KNOTS.size, source="public")
    need = exempt_needed(Shape(near, SHAPE), KNOTS, truth)
    return Assumed.of(Shape(near, SHAPE, exempt=max(0.01, 1.001 * need)), KNOTS)


def cuts_of(truth: np.ndarray) -> list[int]:
    """Return the knots that the asked shares are above: not the last, above which there is nothing."""
    below = np.cumsum(truth)
    return [0, *(min(int(np.searchsorted(below, share - 1e-9)), KNOTS.size - 2) for share in (0.5, 0.95))]


def bound(data: Path, column: str, epsilon: float, method: str, assumed: str, what: str) -> float:
    """Return the proved bound of what is asked, at the truth."""
    truth, law, held = truth_of(data, column), law_of(data, column, epsilon, method), held_of(data, column, assumed)
    weights = (1.0 - LIKELY) * truth + LIKELY * held.start
    at = Reference(held.polyhedron, law.in_errors(weights, USERS)[0], weights)
    if what == "median":
        return shortest_quantile(KNOTS, 0.5, at, 0.95)
    return shortest_length((KNOTS[cuts_of(truth)[ASKED.index(what)]] < KNOTS).astype(float), at, 0.95).length


def _errors(data: Path, column: str, epsilon: float, method: str, assumed: str, rng: np.random.Generator) -> Errors:
    """What collections by several choices of estimates tell."""
    truth, law, held = truth_of(data, column), law_of(data, column, epsilon, method), held_of(data, column, assumed)
    sent = truth @ law.law
    sent, cuts = sent / sent.sum(), cuts_of(truth)
    above = (np.arange(KNOTS.size) > np.arange(KNOTS.size - 1)[:, None]).astype(float)
    asked = above if assumed == "nothing" else above[cuts]
    is_median, found = int(np.searchsorted(np.cumsum(truth), 0.5 - 1e-9)), dict.fromkeys(_names(assumed), 0.0)
    for _ in range(CHOICES):
        pair = Pairs(law.seen_by(rng.multinomial(USERS, sent)), held.polyhedron, held.start)
        estimates, users = pair.estimates(np.vstack([asked, -asked]), 0.95), pair.makes.n
        for _ in range(TOGETHER):
            ends = estimates.upper(law.seen_by(rng.multinomial(users, sent)), 0.95)
            high, low = ends[: len(asked)], -ends[len(asked) :]
            for what, at in zip(ASKED, cuts, strict=False):
                row = at if assumed == "nothing" else cuts.index(at)
                _note(found, what, low[row], high[row], float(above[at] @ truth), 1e-12)
            if assumed == "nothing":
                first, last = _first(1.0 - low), _first(1.0 - high)
                _note(found, "median", KNOTS[first], KNOTS[last], KNOTS[is_median], 1e-12)
    means = {name: total / CHOICES / TOGETHER for name, total in found.items()}
    asked_of = ASKED if assumed == "nothing" else ASKED[:3]
    return means | {f"shortest {what}": bound(data, column, epsilon, method, assumed, what) for what in asked_of}


def _names(assumed: str) -> list[str]:
    return [
        f"{fact} {what}" for what in ASKED[: 4 if assumed == "nothing" else 3] for fact in ("above", "below", "long")
    ]


def _note(found: dict[str, float], what: str, low: float, high: float, truth: float, slack: float) -> None:
    found[f"above {what}"] += float(low > truth + slack)
    found[f"below {what}"] += float(high < truth - slack)
    found[f"long {what}"] += float(high - low)


def _first(below: np.ndarray) -> int:
    """The knot at which the share below reaches a half; the last where none does."""
    reached = np.flatnonzero(below >= 0.5)
    return int(reached[0]) if reached.size else KNOTS.size - 1
