"""Column generation: the weights of the present patterns are solved for, patterns that gain are added, and on.

Up to 18 categories all patterns are looked at, and the last multipliers certify the optimum themselves.  Beyond, new
patterns come from ascents, and this is the last word on tables whose patterns are few enough to be weighed.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from ..arrays import Array
from ..certificate import Progress, relative_gap
from .frequency_program import FrequencyProgram
from .patterns import climb_from, distinct, enumerate_best, slack_marks
from .weights import PatternWeights, weigh_patterns

MAX_ROUNDS = 60
"""Rounds of column generation; what was measured ended by itself after 1 to 55."""

BATCH = 3
"""Patterns added in a round, for each category."""

BATCH_SHARE = 1 / 4
"""Of the columns allowed, added in a round at most: more would push out good ones."""

STALLED = 0.02
"""Beyond exact pricing a round must lower the error by this share of the tolerance."""

ENOUGH = 0.8
"""Share of the tolerance to reach; the rest is room for what is left out of the table."""

LIGHT = 0.1
"""Patterns with less than this share of the tolerance, relative to the heaviest, are left out: an interior point leaves
all patterns some weight. What that costs is in the error, which is recomputed."""

WEIGHTS_SHARE = 1 / 30
"""Share of the tolerance that the weights are solved to."""

GAIN_SHARE = 1 / 3
"""Share of the tolerance that a pattern must promise to gain: the weights of a table sum to at most 1."""

SEED = 20170705
"""Ascents start at random; the same prior gives the same table."""


class Rounds:
    """How many rounds there were, each of them told."""

    def __init__(self, progress: Callable[[Progress], None] | None) -> None:
        self.progress, self.started, self.count = progress, time.perf_counter(), 0

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.perf_counter() - self.started

    def tell(self, error: float, bound: float, columns: int) -> None:
        """Count a round, and call `progress`."""
        self.count += 1
        if self.progress is not None:
            self.progress(Progress(self.count, error, bound, columns, self.seconds))


class Generation:
    """The present patterns' marks (K, m), the all-1 pattern and those with one E among them, on their way."""

    def __init__(
        self, program: FrequencyProgram, marks: Array, tolerance: float, max_columns: int, rounds: Rounds
    ) -> None:
        self.program, self.tolerance, self.max_columns = program, tolerance, max_columns
        self.rounds, self.marks, self.rng = rounds, marks, np.random.default_rng(SEED)

    def run(self, exact: bool, floor: float) -> PatternWeights:
        """Return the weights of `marks` when no pattern gains (exact), or when rounds gain too little.

        A round that loses, because columns had to make room, is not what is returned.
        """
        last, best, first = np.inf, None, self.rounds.count
        while True:
            found = weigh_patterns(
                self.program, self.program.patterns(self.marks), tolerance=self.tolerance * WEIGHTS_SHARE
            )
            error = self._error(found)
            self.rounds.tell(error, floor, self.marks.shape[1])
            gained = last - error
            if exact or best is None or gained > 0:  # exact pricing's last multipliers are the certificate
                best, last = (self.marks, found), error
            stalled = not exact and gained < STALLED * self.tolerance * error
            closed = relative_gap(error, floor) <= ENOUGH * self.tolerance or stalled
            new = self._improving(found, exact)
            if closed or not new.size or self.rounds.count == first + MAX_ROUNDS:
                self.marks, found = best
                return found
            self.marks = self._merged(found.weights, new)

    def _improving(self, found: PatternWeights, exact: bool) -> Array:
        """Return marks (K, b) of patterns whose gain, over all weight there is, may matter."""
        squared = self.program.squared(found.root)
        wanted = min(BATCH * self.program.size, int(BATCH_SHARE * self.max_columns))
        if exact:
            marks, gains = enumerate_best(self.program, squared, found.multipliers, wanted)
        else:
            present = self.marks, np.maximum(found.weights, 0)
            marks, gains = climb_from(self.program, squared, found.multipliers, present, wanted, self.rng)
        return marks[:, gains > GAIN_SHARE * self.tolerance * self._error(found)]

    def _error(self, found: PatternWeights) -> float:
        return float(np.trace(found.root)) - self.program.square

    def _merged(self, weights: Array, new: Array) -> Array:
        """Return the marks for the next round: slack, the heaviest of the present ones, the new ones."""
        room = self.max_columns - new.shape[1] - self.program.size - 1
        heavy = np.argsort(-weights, kind="stable")[: max(room, 0)]
        heavy = heavy[weights[heavy] > LIGHT * self.tolerance * weights.max()]
        return distinct([slack_marks(self.program.size), self.marks[:, heavy], new])
