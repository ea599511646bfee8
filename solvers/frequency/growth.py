"""A table for many categories: exchanges until they gain little, then more patterns, until it is near enough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..certificate import relative_gap
from .exchange import Exchange
from .frequency_program import FrequencyProgram
from .generation import ENOUGH, SEED, Rounds
from .patterns import climb_from, coloured_family, cyclic_family
from .tightening import Tightening
from .weights import polished

FIRST = 20
"""Patterns for each category to begin with: enough for a gap of 1e-3 where the relaxation is tight."""

MAX_SWEEPS = 60
"""Of one number of patterns; three times what was seen."""

PATIENCE, SETTLED = 3, 0.1
"""Sweeps that together gain no more than this share of the tolerance, and the number of patterns has given what it has.
One alone tells little: the first ones after multipliers change may lose."""

GROWTH_SHARE = 0.1
"""Share of the tolerance that twice the patterns must gain, or there will be no more."""


@dataclass(frozen=True, eq=False)
class GrownTable:
    """Patterns' marks (K, m) and weights (m,), rows summing to one to rounding, and the table's error."""

    marks: Array
    weights: Array
    error: float


class Growth:
    """Exchanges of more and more patterns.

    Parameters
    ----------
    program : FrequencyProgram
    multipliers : (K,) ndarray
        About the optimum's.
    tolerance : float
        Relative gap wanted.
    max_columns : int
        Patterns at most.
    rounds : Rounds
        Is told after each sweep.
    """

    def __init__(
        self, program: FrequencyProgram, multipliers: Array, tolerance: float, max_columns: int, rounds: Rounds
    ) -> None:
        self.program, self.tolerance, self.max_columns, self.rounds = program, tolerance, max_columns, rounds
        self.rng = np.random.default_rng(SEED)
        size = program.size
        blocks = max(1, min(FIRST, max_columns // size))
        marks = _first_marks(program, blocks, self.rng)
        even = np.full(marks.shape[1], 1 / program.patterns(marks).sum(1).mean())
        self.table = Exchange(program, multipliers, marks, even)
        self.best = GrownTable(marks, even, np.inf)

    def run(self, proof: Tightening) -> GrownTable:
        """Return the best table found when it is near enough to the bound, or when more patterns gain too little.

        What it says of classes of equal weights is offered to the proof after each number of patterns.
        """
        while True:
            before = self.best.error
            self._settle(proof.bound)
            if np.isfinite(self.best.error):
                proof.offer(self.program.patterns(self.best.marks) * self.best.weights)
            room = self.max_columns - self.table.weights.size
            gained = before - self.best.error
            if self._near(proof.bound) or room <= 0 or gained < GROWTH_SHARE * self.tolerance * self.best.error:
                return self.best
            self.table.add(self._more(min(room, self.table.weights.size)))

    def _settle(self, floor: float) -> None:
        """Sweep until that gains little."""
        errors = []
        for _ in range(MAX_SWEEPS):
            try:
                self.table.sweep(self.rng)
                self._judge()
            except np.linalg.LinAlgError:  # no information left of some difference: what was found before stands
                return
            self.rounds.tell(self.best.error, floor, self.best.weights.size)
            errors.append(self.best.error)
            past = errors[-1 - PATIENCE] if len(errors) > PATIENCE else np.inf
            if self._near(floor) or past - errors[-1] <= SETTLED * self.tolerance * errors[-1]:
                return

    def _judge(self) -> None:
        """Keep the present table if it is the best so far."""
        marks, which = np.unique(self.table.marks, axis=1, return_inverse=True)
        weights: Array = np.bincount(which.ravel(), self.table.weights).astype(np.float64)
        marks, weights = marks[:, weights > 0], weights[weights > 0]
        patterns = self.program.patterns(marks)
        weights = polished(patterns, weights)
        if weights.min() > 0:
            error = self.program.error(patterns * weights)
            if error < self.best.error:
                self.best = GrownTable(marks, weights, error)

    def _near(self, floor: float) -> bool:
        return relative_gap(self.best.error, floor) <= ENOUGH * self.tolerance

    def _more(self, wanted: int) -> Array:
        table = self.table
        present = table.marks, table.weights
        marks, gains = climb_from(self.program, table.squared, table.charges, present, wanted, self.rng)
        return marks[:, gains > 0]


def _first_marks(program: FrequencyProgram, blocks: int, rng: np.random.Generator) -> Array:
    """Return the marks to begin with, of the size that suits a uniform prior: flat where all errors count alike."""
    marked = max(1, round(program.size / (1 + program.ratio)))
    if program.importance is None:
        return cyclic_family(program.size, marked, blocks, rng)
    return coloured_family(program.roots[0], marked, blocks, rng)
