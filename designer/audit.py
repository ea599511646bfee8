"""A black-box audit: what a sampler really does, against the epsilon that is claimed for it.

Nothing is believed but reports. A quarter of them is spent on a few pairs of inputs, to learn which pair and which
event tell two inputs apart best. All others are drawn at that pair, and the event's two frequencies are bounded. As
the event does not depend on the reports that it is tested on, one pair of bounds is all the testing there is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import beta

from ..mechanisms import InputError, TabulatedMechanism, check_epsilon
from ..mechanisms.outputs import locate_outputs

Draw = Callable[[np.ndarray], np.ndarray]
"""Values in (N,), one report for each out."""

PAIRS = 4
"""Pairs of inputs audited; each gets its share of the samples."""

MOST_INPUTS = 33
"""Knots that pairs are chosen among, ends included: a thousand ordered pairs."""

LEARNING_SHARE = 4
"""One report in so many is spent on choosing the event."""

CAUTION = 1e4
"""The event is chosen by bounds of a risk so many times smaller: there are that many events to choose among."""

QUANTILES = np.r_[0.001, 0.005, np.arange(1, 64) / 64, 0.995, 0.999]
"""Cells and tails are cut at these quantiles of the reports seen, so that an event can be a part of one."""

TINY = float(np.finfo(float).tiny)

FEWEST_SAMPLES = 1000
"""Fewer cannot bound any ratio."""

DEFAULT_CONFIDENCE = 0.999
"""A sampler that is exactly at its epsilon fails one audit in a thousand at most."""


@dataclass(frozen=True)
class Audit:
    """What an audit found.

    Attributes
    ----------
    ok : bool
        Whether the lower bound is at most the epsilon claimed.
    epsilon : float
        The claim.
    lower_bound : float
        At this confidence, the sampler's true epsilon is at least so large.
    confidence : float
    inputs : tuple of two floats
        The values whose reports differ most.
    outputs : tuple of int
        The event: reports in these outputs, or in parts of them; -1 stands for reports that are no outputs.
    counts : tuple of two ints
        Reports in the event, of the first and the second input, among `trials` each.
    trials : int
    foreign : int
        Reports among the trials that are no outputs of the table.
    """

    ok: bool
    epsilon: float
    lower_bound: float
    confidence: float
    inputs: tuple[float, float]
    outputs: tuple[int, ...]
    counts: tuple[int, int]
    trials: int
    foreign: int


def audit(
    table: TabulatedMechanism,
    draw: Draw | None = None,
    *,
    epsilon: float | None = None,
    samples: int = 1_000_000,
    confidence: float = DEFAULT_CONFIDENCE,
) -> Audit:
    """Draw from a sampler at worst-case pairs of inputs and bound its epsilon from below.

    lower bound = log(L / U), with Clopper and Pearson's lower bound L of the event's probability at one input and upper
    bound U at the other, each at half of 1 - confidence.

    Parameters
    ----------
    table : TabulatedMechanism
        Says which inputs to try and which outputs there are; nothing else is believed.
    draw : callable, optional
        The sampler; ``table.sample`` with the operating system's generator by default.
    epsilon : float, optional
        The claim; the table's own by default.
    samples : int
        Reports to draw in all, at least 1000.
    confidence : float
        In (0, 1).

    Raises
    ------
    InputError
        Samples, confidence or epsilon that are not usable; a table that cannot be drawn from.

    Source: Clopper and Pearson (1934); the audit by events: Ding, Wang, Wang, Zhang and Kifer (2018).

    Example
    -------
    >>> from optldp.mechanisms import piecewise
    >>> found = audit(piecewise([0.0, 0.5, 1.0], 2.0), samples=100_000)
    >>> found.ok, found.lower_bound > 1.5, audit(piecewise([0.0, 1.0], 2.0), epsilon=1.5, samples=100_000).ok
    (True, True, False)
    """
    claim = table.epsilon if epsilon is None else check_epsilon(epsilon)
    if not (isinstance(samples, int) and samples >= FEWEST_SAMPLES):
        raise InputError(f"samples must be a whole number of at least {FEWEST_SAMPLES}, got {samples!r}")
    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie strictly between 0 and 1, got {confidence!r}")
    sampler = draw or table.sample
    risk = (1 - confidence) / 2
    pairs = worst_pairs(table, samples)
    learning = samples // (2 * LEARNING_SHARE * len(pairs))
    plans = [_learnt(table, sampler, pair, learning, risk) for pair in pairs]
    plan = max(plans, key=lambda found: found.promise)
    trials = (samples - 2 * learning * len(pairs)) // 2
    places = [plan.places.of(sampler(np.full(trials, table.knots[i]))) for i in plan.pair]
    inside = np.array([np.count_nonzero(np.isin(found, plan.event)) for found in places])
    bound = float(log_ratio_bound(inside[:1], inside[1:], trials, risk)[0])
    return Audit(
        ok=bound <= claim,
        epsilon=claim,
        lower_bound=bound,
        confidence=confidence,
        inputs=(float(table.knots[plan.pair[0]]), float(table.knots[plan.pair[1]])),
        outputs=tuple(np.unique(plan.places.outputs(plan.event)).tolist()),
        counts=(int(inside[0]), int(inside[1])),
        trials=trials,
        foreign=sum(int(np.count_nonzero(plan.places.outputs(found) < 0)) for found in places),
    )


def log_ratio_bound(inside: np.ndarray, other: np.ndarray, trials: int, risk: float) -> np.ndarray:
    """Return log(L / U) for counts of an event among as many trials at either input; -inf where nothing was seen.

    Each of the two bounds fails with probability at most `risk`.

    Example
    -------
    >>> log_ratio_bound(np.array([0, 500]), np.array([5, 0]), 1000, 0.001).round(2).tolist()
    [-inf, 4.18]
    """
    lower = np.where(inside > 0, beta.ppf(risk, np.maximum(inside, 1), trials - inside + 1), 0.0)
    upper = np.where(other < trials, beta.ppf(1 - risk, other + 1, np.maximum(trials - other, 1)), 1.0)
    with np.errstate(divide="ignore"):
        return np.log(lower) - np.log(upper)


def worst_pairs(table: TabulatedMechanism, samples: int) -> list[tuple[int, int]]:
    """Return the pairs of knots, at most `PAIRS`, that should differ most at this many samples; the ends first.

    Example
    -------
    >>> from optldp.mechanisms import duchi
    >>> worst_pairs(duchi([0.0, 0.5, 1.0], 1.0), 1000)
    [(0, 2), (0, 1), (1, 2)]
    """
    last = table.knots.size - 1
    knots = np.unique(np.linspace(0, last, min(MOST_INPUTS, last + 1)).round().astype(int))
    rows, trials = table.probabilities[knots], samples * (1 - 1 / LEARNING_SHARE) / 2
    scores: dict[tuple[int, int], float] = {}
    for a, one in enumerate(rows):
        gains = _promise(one, rows, trials)
        for b, gain in enumerate(gains.tolist()):
            if a != b:
                pair = (int(knots[min(a, b)]), int(knots[max(a, b)]))
                scores[pair] = max(gain, scores.get(pair, -math.inf))
    ranked = sorted(scores, key=lambda pair: -scores[pair])
    return [(0, last), *(pair for pair in ranked if pair != (0, last))][:PAIRS]


def _promise(one: np.ndarray, others: np.ndarray, trials: float) -> np.ndarray:
    """The largest log-ratio less four standard errors, over events of the outputs of largest ratio, per other row."""
    ratio = np.divide(one, others, out=np.full(others.shape, np.inf), where=others > 0)
    order = np.argsort(-ratio, axis=1, kind="stable")
    p = np.cumsum(one[order], axis=1)
    q = np.cumsum(np.take_along_axis(others, order, axis=1), axis=1)
    p, q = np.clip(p, 1 / trials, 1), np.clip(q, 1 / trials, 1)
    return np.max(np.log(p / q) - 4 * np.sqrt(((1 - p) / p + (1 - q) / q) / trials), axis=1)


@dataclass(frozen=True, eq=False)
class _Places:
    """Where a report can be: which output, and between which cuts; numbered by one whole number."""

    table: TabulatedMechanism
    cuts: np.ndarray

    @classmethod
    def cut_at_quantiles(cls, table: TabulatedMechanism, reports: np.ndarray) -> _Places:
        """Cut cells and tails where these reports have their quantiles; points need no cuts."""
        outputs = locate_outputs(table.low, table.high, table.within, reports)
        spread = reports[(outputs >= 0) & (table.low[outputs] < table.high[outputs])]
        return cls(table, np.unique(np.quantile(spread, QUANTILES)) if spread.size else np.empty(0))

    def of(self, reports: np.ndarray) -> np.ndarray:
        """Return the place (N,) of each report; those of no output have negative numbers."""
        values = np.asarray(reports, dtype=float)
        outputs = locate_outputs(self.table.low, self.table.high, self.table.within, values)
        return outputs * (self.cuts.size + 1) + np.searchsorted(self.cuts, values)

    def outputs(self, places: np.ndarray) -> np.ndarray:
        """Return the output of each place, -1 for those of no output."""
        return places // (self.cuts.size + 1)


@dataclass(frozen=True, eq=False)
class _Plan:
    """What was learnt: two knots, in the order to test them, and the places of the event that tells them apart."""

    promise: float
    pair: tuple[int, int]
    event: np.ndarray
    places: _Places


def _learnt(table: TabulatedMechanism, draw: Draw, pair: tuple[int, int], trials: int, risk: float) -> _Plan:
    """Return the event of largest bound on this pair's reports.

    Tried are the places of largest ratio, as many as can be: by the frequencies seen, and by the table. The bounds
    are those of a far smaller risk, as the best of so many events looks better than it is.
    """
    reports = [np.asarray(draw(np.full(trials, table.knots[i])), dtype=float) for i in pair]
    places = _Places.cut_at_quantiles(table, np.concatenate(reports))
    seen, where = np.unique(np.concatenate([places.of(found) for found in reports]), return_inverse=True)
    counts = [np.bincount(half, minlength=seen.size) for half in np.split(where, 2)]
    outputs = places.outputs(seen)
    plans = []
    for first, second in ((0, 1), (1, 0)):
        one, other = counts[first], counts[second]
        stated = table.probabilities[pair[first]] / np.maximum(table.probabilities[pair[second]], TINY)
        for ratio in ((one + 0.5) / (other + 0.5), np.where(outputs < 0, np.inf, stated[outputs])):
            order = np.argsort(-ratio, kind="stable")
            bounds = log_ratio_bound(np.cumsum(one[order]), np.cumsum(other[order]), trials, risk / CAUTION)
            size = int(np.argmax(bounds)) + 1
            plans.append(_Plan(float(bounds[size - 1]), (pair[first], pair[second]), seen[order[:size]], places))
    return max(plans, key=lambda plan: plan.promise)
