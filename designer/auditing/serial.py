"""Reports in their order: does the next report, or one at a distance, tell of a value that is not its own?

Reports that are drawn independently keep their claim together: of two of them, whose values differ in one place only,
the pair of reports is as private as the one report. So two reports at some distance are one report here, and two
values one input. The distance is 1 (a sampler that remembers its last value), a whole call of the sampler (a generator
that starts anew) or the one at which noise was seen to repeat.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...mechanisms import TabulatedMechanism
from .subjects.events import Columns
from .subjects.subject import Subject

ANCHORS = 3
"""Values of which pairs are made: two that should differ most, and one more."""

NEXT_CALL = 0
"""Stands for a distance of one call."""

FEW = 1000
"""Reports for which the pair that should differ most is asked for."""

PARTS = 16
"""Parts of the range of each of two reports in which they are looked at together."""

ODD_ORDER = 10
"""Added to the code of which report is larger where the pair begins at an odd place."""

CLEAR = 6.5
"""Standard errors of a correlation of noise that are taken for a repetition; the largest of a million is at 5."""


class Alone(Subject):
    """Reports of two inputs, each drawn in a call of its own, as by clients that start anew for every report.

    Parameters
    ----------
    subject : Subject
    """

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self._two = np.array(subject.likely_pairs(FEW)[0])
        self.weights, self.claims = np.ones(2), subject.claims[np.ix_(self._two, self._two)]

    def draw(self, inputs: np.ndarray) -> Columns:
        drawn = [self.subject.draw(one) for one in self._two[inputs][:, None]]
        return {name: np.concatenate([one[name] for one in drawn]) for name in drawn[0]}

    def words(self, number: int) -> object:
        return f"{self.subject.words(int(self._two[number]))}, in a call of its own"

    def likely_pairs(self, samples: int) -> list[tuple[int, int]]:
        return [(0, 1)]

    def tables(self) -> Mapping[str, TabulatedMechanism]:
        return self.subject.tables()


class InOrder(Subject):
    """Pairs of reports at a distance, each as one report of a pair of inputs.

    Parameters
    ----------
    subject : Subject
    distance : int
        Between the two in one call, or `NEXT_CALL`.
    seen : Columns
        Reports, at whose quantiles a report is cut into parts.
    """

    def __init__(self, subject: Subject, distance: int, seen: Columns) -> None:
        self.subject, self.distance = subject, distance
        self._cuts = {name: _cuts(values) for name, values in seen.items()}
        self._named = subject.likely_pairs(FEW)[0]
        others = [a for a in (len(subject.weights) // 2, 0, 1) if a not in self._named and a < len(subject.weights)]
        self._anchors = np.array([*self._named, *others][:ANCHORS])
        size = self._anchors.size
        before, after = np.divmod(np.arange(size * size), size)
        self._pairs = np.stack([self._anchors[before], self._anchors[after]], axis=1)
        self.weights = np.ones(size * size)
        claims = subject.claims[np.ix_(self._anchors, self._anchors)]
        one, other = before[:, None] == before, after[:, None] == after
        first, second = claims[before[:, None], before], claims[after[:, None], after]
        self.claims = np.where(one & ~other, second, np.where(other & ~one, first, np.nan))

    def draw(self, inputs: np.ndarray) -> Columns:
        pairs = self._pairs[inputs]
        if self.distance == NEXT_CALL:
            both = self.subject.draw(pairs[:, 0]), self.subject.draw(pairs[:, 1])
            return self._together(*both)
        if self.distance == 1:
            return self._neighbours(pairs)
        step = self.distance
        blocks = -(-inputs.size // step)
        padded = np.concatenate([pairs, np.broadcast_to(pairs[:1], (blocks * step - inputs.size, 2))])
        stream = padded.reshape(blocks, step, 2).transpose(0, 2, 1).ravel()  # a block of firsts, then one of seconds
        drawn = self.subject.draw(stream)
        first, second = (
            {name: column.reshape(blocks, 2, step)[:, place].ravel()[: inputs.size] for name, column in drawn.items()}
            for place in (0, 1)
        )
        return self._together(first, second)

    def _neighbours(self, pairs: np.ndarray) -> Columns:
        """Draw each second pair so that it begins at an odd place of the call, the others at even ones, told apart.

        A random word that is used again may be so at either. First come those at even places, then one report more, the
        others, and one report more: so even places are even for a sampler that counts on from call to call, too. The
        pairs are returned in their own order, since a search looks at the first half before it looks at the second.
        """
        odd = np.arange(len(pairs)) % 2
        order = np.argsort(odd, kind="stable")
        middle = 2 * np.count_nonzero(odd == 0)
        stream, more = pairs[order].ravel(), pairs[0, :1]
        drawn = self.subject.draw(np.concatenate([stream[:middle], more, stream[middle:], more]))
        place = 2 * np.argsort(order) + odd  # of each pair's first report
        first, second = ({name: column[place + later] for name, column in drawn.items()} for later in (0, 1))
        return self._together(first, second, odd)

    def _together(self, before: Columns, after: Columns, odd: np.ndarray | int = 0) -> Columns:
        """Return the later report, and both together: which is larger, the parts that they lie in, their last bits.

        A pair that begins at an odd place has codes of its own.
        """
        columns = {_later(name): column for name, column in after.items()}
        for name, one in before.items():
            other, cuts = after[name], self._cuts[name]
            with np.errstate(invalid="ignore"):
                larger = np.where(one.view(np.int64) == other.view(np.int64), 0, np.where(other > one, 1, -1))
            parts = np.searchsorted(cuts, one) * PARTS + np.searchsorted(cuts, other)
            columns[f"{name}, compared with what follows,"] = larger + ODD_ORDER * odd
            columns[f"{name} and what follows"] = parts + PARTS**2 * odd
            if np.issubdtype(one.dtype, np.floating):
                last = [values.view(np.int64) & 1 for values in (one, other)]
                columns[f"the last bits of {name} and what follows"] = 2 * last[0] + last[1] + 4 * odd
        return columns

    def words(self, number: int) -> object:
        before, after = (self.subject.words(int(a)) for a in self._pairs[number])
        where = "in the next call" if self.distance == NEXT_CALL else f"{self.distance} later"
        return f"{before}, and {after} {where}"

    def likely_pairs(self, samples: int) -> list[tuple[int, int]]:
        size = self._anchors.size
        return [(0, size), (0, 1)]  # the value before differs; the value after does

    def tables(self) -> Mapping[str, TabulatedMechanism]:
        return {_later(name): table for name, table in self.subject.tables().items()}


def _later(name: str) -> str:
    return f"{name} that follows"


def _cuts(values: np.ndarray) -> np.ndarray:
    finite = values[np.isfinite(values)]
    return np.unique(np.quantile(finite, np.arange(1, PARTS) / PARTS)) if finite.size else finite


def repeating_distance(inputs: np.ndarray, columns: Columns) -> int | None:
    """Return the distance at which the noise of reports repeats, if it does.

    The autocorrelation of ranks less the mean rank of each input, by one Fourier transform.

    Parameters
    ----------
    inputs : (N,) ndarray of int
    columns : Columns
        Of N reports, in the order in which they were drawn.

    Example
    -------
    >>> noise = np.tile(np.random.default_rng(1).random(100), 50)
    >>> repeating_distance(np.zeros(5000, dtype=int), {"report": noise})
    100
    >>> repeating_distance(np.zeros(5000, dtype=int), {"report": np.random.default_rng(2).random(5000)})
    """
    found = [_distance(inputs, values) for values in columns.values()]
    return next((distance for distance in found if distance), None)


def _distance(inputs: np.ndarray, values: np.ndarray) -> int | None:
    if inputs.size < 64:
        return None
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable").astype(float)
    many = np.maximum(np.bincount(inputs), 1)
    noise = ranks - (np.bincount(inputs, ranks) / many)[inputs]
    if not noise.any():
        return None
    spectrum = np.fft.rfft(noise / noise.std(), 2 * noise.size)
    correlation = np.fft.irfft(np.abs(spectrum) ** 2)[: noise.size // 2]
    score = correlation[2:] / np.sqrt(noise.size)
    best = int(np.argmax(np.abs(score)))
    return best + 2 if abs(score[best]) > CLEAR else None
