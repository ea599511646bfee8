"""Which inputs an audit tries: all knots, values between them, values a rounding error away, and far outside."""

from __future__ import annotations

import numpy as np

from ....mechanisms import TabulatedMechanism

MOST_KNOTS = 257
"""Knots that are tried, ends included; more would leave too few reports for each."""

MOST_BETWEEN = 128
"""Intervals in which values are tried."""

END_WEIGHT = 8.0
"""The ends are tried so many times as often as another value: clients treat them apart, and so do faults."""

MOST_LABELS = 257
"""Categories that are tried."""

PAIRS = 3
"""Pairs of inputs that the mechanism itself names as likely."""

MOST_SCORED = 65
"""Inputs whose pairs are scored by the mechanism's own probabilities."""

CAUTION = 4.0
"""Standard errors that a pair's score is lowered by."""

TINY = float(np.finfo(float).tiny)


def values_to_try(table: TabulatedMechanism, rng: np.random.Generator, *, outside: bool = False) -> np.ndarray:
    """Return values (I,) of a table's domain, rising, the ends and the knots among them.

    Between knots: the middle of every interval and a random place in it, the neighbours in floating point of
    three knots and of the ends, and zero of either sign if it lies in the domain. A table that promises privacy per
    unit takes none but knots.

    Parameters
    ----------
    table : TabulatedMechanism
    rng : numpy.random.Generator
    outside : bool
        Try values outside the domain too, for clients that move them in.

    Example
    -------
    >>> from ....mechanisms import duchi
    >>> tried = values_to_try(duchi([0.0, 4.0], 1.0), np.random.default_rng(1))
    >>> tried[[0, -1]].tolist(), 2.0 in tried, np.signbit(tried[tried == 0]).tolist()
    ([0.0, 4.0], True, [False, True])
    """
    knots = table.knots
    chosen = knots[_spread(knots.size, MOST_KNOTS)]
    left = _spread(knots.size - 1, MOST_BETWEEN)
    width = knots[left + 1] - knots[left]
    inner = [knots[left] + width / 2, knots[left] + width * rng.random(left.size)]
    near = knots[_spread(knots.size, 5)]
    beside = [np.nextafter(near, np.inf), np.nextafter(near, -np.inf)]
    between = [*inner, *beside] if table.promise.holds_between_knots else []
    values = np.unique(np.concatenate([chosen, *between]))
    values = values[(values >= knots[0]) & (values <= knots[-1])]
    if knots[0] <= 0 <= knots[-1]:
        values = np.concatenate([values[values != 0], [0.0, -0.0]])
    if outside:
        span = knots[-1] - knots[0]
        beyond = [np.nextafter(knots[0], -np.inf), np.nextafter(knots[-1], np.inf)]
        values = np.concatenate([values, beyond, [knots[0] - span, knots[-1] + span]])
    return values[np.argsort(values, kind="stable")]


def weights_of(values: np.ndarray, table: TabulatedMechanism) -> np.ndarray:
    """Return how often to try each value: the ends, and what lies beyond them, more often."""
    return np.where((values <= table.knots[0]) | (values >= table.knots[-1]), END_WEIGHT, 1.0)


def positions_to_try(many: int) -> np.ndarray:
    """Return the positions of categories to try: all, or some spread evenly.

    Example
    -------
    >>> positions_to_try(3).tolist(), positions_to_try(10**6).size
    ([0, 1, 2], 257)
    """
    return _spread(many, MOST_LABELS)


def _spread(many: int, most: int) -> np.ndarray:
    return np.unique(np.linspace(0, many - 1, min(most, many)).round().astype(int))


def worst_pairs(laws: np.ndarray, claims: np.ndarray, trials: float) -> list[tuple[int, int]]:
    """Return the pairs of inputs, at most `PAIRS`, whose laws should show most; the outermost two first.

    Parameters
    ----------
    laws : (I, m) ndarray
        Probability of each output for each input.
    claims : (I, I) ndarray
        NaN where nothing is claimed of two inputs.
    trials : float
        Reports that there will be of each.

    Example
    -------
    >>> from ....mechanisms import duchi
    >>> worst_pairs(duchi([0.0, 0.5, 1.0], 1.0).probabilities, np.zeros((3, 3)), 1000)
    [(0, 2), (0, 1), (1, 2)]
    """
    some = _spread(len(laws), MOST_SCORED)
    scores: dict[tuple[int, int], float] = {}
    for a in some.tolist():
        for b, gain in zip(some.tolist(), _promise(laws[a], laws[some], trials).tolist(), strict=True):
            if a != b and not np.isnan(claims[a, b]):
                pair = (min(a, b), max(a, b))
                scores[pair] = max(gain - float(claims[a, b]), scores.get(pair, -np.inf))
    ranked = sorted(scores, key=lambda pair: -scores[pair])
    ends = (0, len(laws) - 1)
    if ends in scores:
        ranked = [ends, *(pair for pair in ranked if pair != ends)]
    return ranked[:PAIRS]


def _promise(one: np.ndarray, others: np.ndarray, trials: float) -> np.ndarray:
    """The largest log-ratio less four standard errors, over events of the outputs of largest ratio, per other row."""
    ratio = np.divide(one, others, out=np.full(others.shape, np.inf), where=others > 0)
    order = np.argsort(-ratio, axis=1, kind="stable")
    p = np.cumsum(one[order], axis=1)
    q = np.cumsum(np.take_along_axis(others, order, axis=1), axis=1)
    p, q = np.clip(p, 1 / trials, 1), np.clip(q, 1 / trials, 1)
    return np.max(np.log(p / q) - CAUTION * np.sqrt(((1 - p) / p + (1 - q) / q) / trials), axis=1)


def stated_codes(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return whole numbers in the order of the log-ratio of two probabilities of N reports, in steps of a thousandth.

    Example
    -------
    >>> stated_codes(np.array([0.5, 0.1, 0.0]), np.array([0.5, 0.2, 0.0])).tolist()
    [0, -693, 0]
    """
    return np.rint(1000 * (np.log(np.maximum(one, TINY)) - np.log(np.maximum(other, TINY)))).astype(np.int64)
