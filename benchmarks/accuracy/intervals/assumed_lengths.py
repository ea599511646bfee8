"""How much shorter intervals are that assume `shape=1.1`, and how long each takes: 20,000 reports through the optimal
table of an earlier year or half, 51 knots of [0, 1].

Of each collection both intervals are made, with the assumption and without, of the shares above the least value, the
median and the 95% quantile of the later year; the distribution function there is one less the share. The ratio is that
of mean lengths. The assumption exempts 1% of people, or as many as the later year asks for, which is said. "Bound" is
the ratio of the proved bounds at the later year: what the assumption is worth to the best of intervals. "Least" is the
bound with the assumption over the mean length without: no honest interval has a lower ratio to this default.

Where intervals of the page on [short intervals](short-intervals.md) were long or held least, 400 collections a
repetition were drawn anew, estimates being chosen 8 times. "Chosen at the truth" is the length of the pair of estimates
that knows the distribution: what is longer is owed to the twentieth of the reports that choose, 1,000 of them, which
may take a value for its neighbour. That pair itself is up to 1.7 bounds long where most people have one value, as the
bound is attained at one distribution alone. Seconds are of processor time, the least of three."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from markdown_table import table
from optldp.designer import Prior, design
from optldp.designer.objectives import Cdf, Share
from optldp.estimators import ReportCounts
from optldp.estimators.affine_pairs.outcomes import Outcomes
from optldp.estimators.affine_pairs.pair import MIXED, Pairs
from optldp.mechanisms import square_wave
from optldp.solvers.modulus.polyhedron import Polyhedron

from ..repetitions import Errors, Summary, repeat
from .short_intervals import (
    ASKED,
    CHOICES,
    KNOTS,
    MEASURED,
    SHAPE,
    TOGETHER,
    USERS,
    bound,
    cuts_of,
    held_of,
    law_of,
    truth_of,
)

TITLE = "What an assumption of shape shortens, and how long intervals take"
EPSILONS, ASSUMED, WANTED = (1.0, 4.0), ("nothing", "shape"), 0.65
AGAIN = (
    ("99% inside", 0.5, "square-wave", "above the median"), ("99% high", 1.0, "cdf", "above the median"),
    ("99% low", 1.0, "cdf", "above the least"), ("99% inside", 0.5, "optimal", "above the median"),
    ("all low", 1.0, "cdf", "above the least"), ("ends", 1.0, "grr", "above the least"),
)  # fmt: skip
"""Cells that held least, and that were longest, on the page of all cells."""
FINE = np.linspace(0.0, 1.0, 101)


def run(data: Path, repetitions: int, workers: int) -> str:
    """Return two tables; a repetition is a collection."""
    cases = [(data, name, epsilon) for epsilon in EPSILONS for name in MEASURED]
    found = repeat(lengths, cases, repetitions, workers)
    rows = [row for case, one in zip(cases, found, strict=True) for row in _rows(*case, one)]
    heads = ("column", "epsilon", "exempt", "share", "with / without", "bound", "least")
    few = [row for row in rows if float(row[2]) <= 0.011]
    within = [row for row in few if float(row[4]) <= WANTED]
    left = [row for row in few if float(row[4]) > WANTED]
    far, never = (sum(float(row[at]) > WANTED for row in left) for at in (5, 6))
    said = (
        f"{repetitions} collections a row. With at most 1% exempt, {len(within)} of {len(few)} ratios are at most "
        f"{WANTED:g}. Of the other {len(left)} the ratio of the bounds is above it in {far}, and the least ratio, "
        f"too, in {never}."
    )
    again = repeat(drawn_again, [(data, *case) for case in AGAIN], repetitions, workers)
    long = [_again(case, one) for case, one in zip(AGAIN, again, strict=True)]
    about = ("column", "epsilon", "table", "share", "held", "missed above", "missed below", "length / bound")
    times = table(
        ("what", "seconds", "asked for"), [(what, f"{_seconds(job):.2g}", asked) for what, asked, job in _jobs(data)]
    )
    parts = [f"## With `shape={SHAPE:g}`", said, table(heads, rows)]
    parts += ["## Cells drawn again", f"{CHOICES * TOGETHER * repetitions:,} collections a row."]
    return "\n\n".join([*parts, table((*about, "chosen at the truth"), long), "## Seconds", times])


def lengths(data: Path, name: str, epsilon: float, rng: np.random.Generator) -> Errors:
    """Lengths of one collection's intervals, with the assumption and without."""
    truth, law = truth_of(data, name), law_of(data, name, epsilon, "optimal")
    asked, sent = _asked(truth), truth @ law.law
    seen, found = law.seen_by(rng.multinomial(USERS, sent / sent.sum())), {}
    for assumed in ASSUMED:
        held = held_of(data, name, assumed)
        low, high = Pairs(seen, held.polyhedron, held.start).ends(asked, asked, 0.95)
        for what, length in zip(ASKED, np.minimum(high, 1.0) - np.maximum(low, 0.0), strict=False):
            found[f"{assumed} {what}"] = float(length)
    return found


def drawn_again(data: Path, name: str, epsilon: float, method: str, what: str, rng: np.random.Generator) -> Errors:
    """How often intervals of a share hold and how long they are, and those of the pair that knows the truth."""
    truth, law, held = truth_of(data, name), law_of(data, name, epsilon, method), held_of(data, name, "nothing")
    above = (KNOTS[cuts_of(truth)[ASKED.index(what)]] < KNOTS).astype(float)
    both, sent, true = np.stack([above, -above]), truth @ law.law, float(above @ truth)
    sent, found = sent / sent.sum(), dict.fromkeys(("high", "low", "length", "known"), 0.0)
    start, at = held.start, (1.0 - MIXED) * truth + MIXED * held.start
    for _ in range(CHOICES):
        seen = law.seen_by(rng.multinomial(USERS, sent))
        pair, known = Pairs(seen, held.polyhedron, start), Pairs(seen, held.polyhedron, start, chosen_at=at)
        chosen, best = pair.estimates(both, 0.95), known.estimates(both, 0.95)
        for _ in range(TOGETHER):
            other = law.seen_by(rng.multinomial(pair.makes.n, sent))
            (high, low), ends = chosen.upper(other, 0.95) * [1, -1], best.upper(other, 0.95)
            found["high"] += float(low > true + 1e-12) / CHOICES / TOGETHER
            found["low"] += float(high < true - 1e-12) / CHOICES / TOGETHER
            found["length"] += float(high - low) / CHOICES / TOGETHER
            found["known"] += float(ends.sum()) / CHOICES / TOGETHER
    return found | {"bound": bound(data, name, epsilon, method, "nothing", what)}


def _again(case: tuple[str, float, str, str], one: Summary) -> tuple[str, ...]:
    name, epsilon, method, what = case
    high, low, length, known, shortest = (one.mean(fact) for fact in ("high", "low", "length", "known", "bound"))
    ratios = (f"{length / shortest:.2f}", f"{known / shortest:.2f}")
    return name, f"{epsilon:g}", method, what, f"{1 - high - low:.3f}", f"{high:.3f}", f"{low:.3f}", *ratios


def _asked(truth: np.ndarray) -> np.ndarray:
    return (KNOTS[cuts_of(truth)][:, None] < KNOTS).astype(float)


def _rows(data: Path, name: str, epsilon: float, one: Summary) -> list[tuple[str, ...]]:
    exempt, rows = held_of(data, name, "shape").label.rpartition("exempt=")[2], []
    for what in ASKED[:3]:
        near, free = (bound(data, name, epsilon, "optimal", assumed, what) for assumed in ("shape", "nothing"))
        with_it, without = one.mean(f"shape {what}"), one.mean(f"nothing {what}")
        ratios = (with_it / without, near / free, near / without)
        rows.append((name, f"{epsilon:g}", f"{float(exempt):.3g}", what, *(f"{ratio:.2f}" for ratio in ratios)))
    return rows


def _jobs(data: Path) -> list[tuple[str, str, Callable[[], object]]]:
    """What is timed, the seconds that are asked of it, and a call."""
    name = MEASURED[0]
    law, truth = law_of(data, name, 1.0, "optimal"), truth_of(data, name)
    sent = truth @ law.law
    seen = law.seen_by(np.random.default_rng(1).multinomial(USERS, sent / sent.sum()))
    prior, rng = Prior.on_knots(FINE, np.exp(-FINE / 0.2), source="public"), np.random.default_rng(2)
    made, above, band = square_wave(FINE, 1.0), (KNOTS > 0.3).astype(float)[None], np.tri(FINE.size)
    wide = Outcomes.of(ReportCounts.from_reports(made, made.sample(rng.choice(FINE, USERS, p=prior.weights), rng)))
    held = held_of(data, name, "shape")
    cuts = np.tri(KNOTS.size)
    return [
        ("a share", ".2", lambda: Pairs(seen, Polyhedron.simplex(KNOTS.size), held.start).ends(above, above, 0.95)),
        ("a share, exempt people", "1", lambda: Pairs(seen, held.polyhedron, held.start).ends(above, above, 0.95)),
        (
            "a band of 101 points",
            "10",
            lambda: Pairs(wide, Polyhedron.simplex(101), prior.weights).ends(band, band, 0.95),
        ),
        (
            "a band of 51 points, exempt people",
            "60",
            lambda: Pairs(seen, held.polyhedron, held.start).ends(cuts, cuts, 0.95),
        ),
        ("a table for a share, 101 knots", "60", partial(design, prior, 1.0, objective=Share(USERS, above=0.3))),
        (
            "a table for 41 cuts, 101 knots, gap .2",
            "60",
            partial(design, prior, 1.0, objective=Cdf(USERS), tolerance=0.2),
        ),
    ]


def _seconds(job: Callable[[], object]) -> float:
    """The least of three, or of one that takes over 5 seconds."""
    taken = []
    while len(taken) < 3 and sum(taken) < 5.0:
        started = time.process_time()
        job()
        taken.append(time.process_time() - started)
    return min(taken)
