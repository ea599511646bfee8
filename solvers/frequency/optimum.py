"""The private table of least expected squared frequency error under a prior, with a certificate.

Columns are generated: the weights of the present patterns are solved for (`weights`), patterns that would
lower the error are added (`patterns`), and on.  Up to 18 categories all patterns are looked at, and the
multipliers certify the optimum themselves; beyond, new patterns come from ascents, and the certificate from a
relaxation (`relaxation`), with group terms (`terms`) where it is loose.  Both numbers are
recomputed from what is returned, and what is left between them is reported.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from ..arrays import Array
from ..certificate import Progress, Status, check_tolerance, relative_gap
from .patterns import climb_from, distinct, enumerate_best, slack_marks, starting_marks
from .program import MOST_ENUMERATED, Certificate, FrequencyProgram
from .tightening import bound_of, relaxed_certificate, tightened_certificate, without_terms
from .weights import PatternWeights, polished, weigh_patterns

MAX_ROUNDS = 60
"""Rounds of column generation; what was measured ended by itself after 1 to 55."""

BATCH = 3
"""Patterns added in a round, for each category."""

BATCH_SHARE = 1 / 4
"""Of the columns allowed, added in a round at most: more would push out good ones."""

STALLED = 0.05
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


@dataclass(frozen=True, eq=False)
class FrequencyOptimum:
    """A table and its certificate.

    Attributes
    ----------
    probabilities : (K, m) ndarray
        Rows sum to one to rounding; each column takes two values, in the ratio E, or one.
    error : float
        tr M^-1 - |pi|^2 of these probabilities: expected squared error, summed over categories, times the number of
        reports, for values drawn from the prior.
    lower_bound : float
        No table has less; `certified_frequency_bound` of the certificate.
    certificate : Certificate
    status : Status
        OPTIMAL when the relative gap is within the tolerance asked for.
    rounds : int
    seconds : float
    """

    probabilities: Array
    error: float
    lower_bound: float
    certificate: Certificate
    status: Status
    rounds: int
    seconds: float

    @property
    def relative_gap(self) -> float:
        """Of error and lower bound."""
        return relative_gap(self.error, self.lower_bound)


def solve_frequency(
    prior: ArrayLike,
    ratio: float,
    *,
    importance: ArrayLike | None = None,
    tolerance: float = 1e-3,
    max_columns: int = 4000,
    progress: Callable[[Progress], None] | None = None,
) -> FrequencyOptimum:
    """Derive the table of least expected squared frequency error, with its certificate.

    Parameters
    ----------
    prior : (K,) array_like
        Non-negative, summing to 1; zeros are welcome.
    ratio : float
        E = e^epsilon.
    importance : (K, K) array_like, optional
        C, positive definite: the error is then tr(C M^-1) - pi^T C pi.
    tolerance : float
        Relative gap to reach.
    max_columns : int
        Columns of the table at most, at least 5 K + 1; a round costs O(max_columns^3).
    progress : callable, optional
        Called after each round; up to 18 categories the bound is only known at the end.

    Raises
    ------
    InputError
        Not a prior, a ratio, a tolerance or a number of columns.
    SolverError
        Rounding defeats the interior point.

    Source: extreme columns: Kairouz, Oh and Viswanath (2016), "Extremal mechanisms for local differential privacy",
    theorem 2; for uniform priors Ye and Barg (2018), "Optimal schemes for discrete distribution estimation under
    locally differential privacy".

    Example
    -------
    >>> found = solve_frequency([0.7, 0.3], 3.0)
    >>> found.probabilities.round(4), round(found.error, 4), found.status.value   # Warner's, whatever the prior
    (array([[0.25, 0.75],
           [0.75, 0.25]]), 1.92, 'optimal')
    """
    started = time.perf_counter()
    weighing = None if importance is None else np.asarray(importance, dtype=np.float64)
    program = FrequencyProgram(np.asarray(prior, dtype=np.float64), ratio, weighing)
    check_tolerance(tolerance)
    if max_columns < 5 * program.size + 1:
        raise InputError(
            f"max_columns must be at least {5 * program.size + 1} for {program.size} categories, got {max_columns}"
        )
    search = _Search(program, tolerance, max_columns, progress, started)
    exact = program.size <= MOST_ENUMERATED
    certificate = None if exact else relaxed_certificate(program, tolerance)
    floor = 0.0 if certificate is None else bound_of(program, certificate)
    found = search.run(exact, floor)
    table = _table(program, search.marks, found.weights, LIGHT * tolerance)
    error = program.error(table)
    if certificate is None:
        certificate = without_terms(found.root, found.multipliers)  # all patterns are looked at
    elif relative_gap(error, floor) > tolerance:
        certificate = tightened_certificate(program, certificate, error, tolerance)
    bound = bound_of(program, certificate)
    status = Status.of(relative_gap(error, bound), tolerance)
    return FrequencyOptimum(table, error, bound, certificate, status, search.rounds, time.perf_counter() - started)


class _Search:
    """Column generation: the present patterns' marks, and the rounds so far."""

    def __init__(
        self,
        program: FrequencyProgram,
        tolerance: float,
        max_columns: int,
        progress: Callable[[Progress], None] | None,
        started: float,
    ) -> None:
        self.program, self.tolerance, self.max_columns = program, tolerance, max_columns
        self.progress, self.started, self.rounds = progress, started, 0
        self.rng = np.random.default_rng(SEED)
        self.marks = starting_marks(program, self.rng)

    def run(self, exact: bool, floor: float) -> PatternWeights:
        """Return the weights of `marks` when no pattern gains (exact), or when rounds gain too little.

        A round that loses, because columns had to make room, is not what is returned.
        """
        last, best = np.inf, None
        while True:
            found = weigh_patterns(
                self.program, self.program.patterns(self.marks), tolerance=self.tolerance * WEIGHTS_SHARE
            )
            error = self._error(found)
            self._report(error, floor)
            gained = last - error
            if exact or best is None or gained > 0:  # exact pricing's last multipliers are the certificate
                best, last = (self.marks, found), error
            stalled = not exact and gained < STALLED * self.tolerance * error
            closed = relative_gap(error, floor) <= ENOUGH * self.tolerance or stalled
            new = self._improving(found, exact)
            if closed or not new.size or self.rounds == MAX_ROUNDS:
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

    def _report(self, error: float, bound: float) -> None:
        self.rounds += 1
        if self.progress is not None:
            elapsed = time.perf_counter() - self.started
            self.progress(Progress(self.rounds, error, bound, self.marks.shape[1], elapsed))


def _table(program: FrequencyProgram, marks: Array, weights: Array, least: float) -> Array:
    """Return the columns of weight, rows summing to one to rounding."""
    kept = weights > least * weights.max()
    patterns = program.patterns(marks[:, kept])
    return patterns * polished(patterns, weights[kept])
