"""The private table of least expected squared frequency error under a prior, with a certificate.

Up to 18 categories columns are generated (`generation`): the weights of the present patterns are solved for
(`weights`), patterns that would lower the error are added (`patterns`), and on. All patterns are looked at, and the
multipliers certify the optimum themselves.  Beyond, patterns are exchanged one by one (`exchange`), more of them until
that gains little (`growth`); the certificate comes from a relaxation (`relaxation`), with group terms (`terms`) where
it is loose (`tightening`).  Both numbers are recomputed from what is returned, and what is left between them is
reported.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError, SolverError
from ..arrays import Array
from ..certificate import Optimum, Progress, check_tolerance, relative_gap
from .frequency_program import MOST_ENUMERATED, Certificate, FrequencyProgram
from .generation import LIGHT, SEED, Generation, Rounds
from .growth import FIRST, Growth
from .pattern_search import MOST_SEARCHED
from .patterns import distinct, slack_marks, starting_marks
from .tightening import Tightening, bound_of, without_terms
from .weights import polished

FEW = 40
"""Categories up to which column generation, rather than more patterns, follows where exchanges leave a gap."""

MOST_WEIGHED = 64
"""Categories up to which it follows more patterns, too: its systems are as large as the table, and beyond exchanges
alone find as much in less time."""


def solve_frequency(
    prior: ArrayLike,
    ratio: float,
    *,
    importance: ArrayLike | None = None,
    tolerance: float = 1e-3,
    max_columns: int = 4000,
    progress: Callable[[Progress], None] | None = None,
) -> Optimum[Array]:
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
        Columns of the table at most, at least 5 K + 1. Up to 18 categories a round costs O(columns^3); beyond, a sweep
        of exchanges O(columns K^2).
    progress : callable, optional
        Called after each round; up to 18 categories the bound is only known at the end.

    Returns
    -------
    found : Optimum of (K, m) ndarray
        Probabilities: rows sum to one to rounding, each column takes two values, in the ratio E, or one. Its value is
        their tr M^-1 - |pi|^2: expected squared error, summed over categories, times the number of reports, for values
        drawn from the prior. Its bound is the `certified_frequency_bound` of its multipliers, one `Certificate`.

    Raises
    ------
    InputError
        The prior, ratio, tolerance or number of columns is not usable.
    SolverError
        Rounding stops the interior point.

    Source: extreme columns: Kairouz, Oh and Viswanath (2016), "Extremal mechanisms for local differential privacy",
    theorem 2; for uniform priors Ye and Barg (2018), "Optimal schemes for discrete distribution estimation under
    locally differential privacy".

    Example
    -------
    >>> from optldp.solvers import solve_frequency
    >>> found = solve_frequency([0.7, 0.3], 3.0)
    >>> found.solution.round(4), round(found.value, 4), found.status.value   # Warner's, whatever the prior
    (array([[0.25, 0.75],
           [0.75, 0.25]]), 1.92, 'optimal')
    """
    rounds = Rounds(progress)
    weighing = None if importance is None else np.asarray(importance, dtype=np.float64)
    program = FrequencyProgram(np.asarray(prior, dtype=np.float64), ratio, weighing)
    check_tolerance(tolerance)
    if max_columns < 5 * program.size + 1:
        raise InputError(
            f"max_columns must be at least {5 * program.size + 1} for {program.size} categories, got {max_columns}"
        )
    find = _by_enumeration if program.size <= MOST_ENUMERATED else _by_exchanges
    table, certificate = find(program, tolerance, max_columns, rounds)
    error, bound = program.error(table), bound_of(program, certificate)
    return Optimum(table, error, bound, {"certificate": certificate}, tolerance, rounds.count, rounds.seconds, "sets")


def _by_enumeration(
    program: FrequencyProgram, tolerance: float, max_columns: int, rounds: Rounds
) -> tuple[Array, Certificate]:
    search = Generation(program, starting_marks(program, np.random.default_rng(SEED)), tolerance, max_columns, rounds)
    found = search.run(True, 0.0)
    table = _table(program, search.marks, found.weights, tolerance)
    return table, without_terms(found.root, found.multipliers)  # all patterns were looked at


def _by_exchanges(
    program: FrequencyProgram, tolerance: float, max_columns: int, rounds: Rounds
) -> tuple[Array, Certificate]:
    proof = Tightening(program, tolerance)
    # Where errors count alike the relaxation with its terms is nearly tight; elsewhere a search proves more, sooner.
    searched = program.importance is not None and program.size <= MOST_SEARCHED
    table, error, marks = None, np.inf, starting_marks(program, np.random.default_rng(SEED))
    if proof.certificate.multipliers.any():
        most = max_columns if program.size > FEW else min(max_columns, FIRST * program.size)
        grown = Growth(program, proof.certificate.multipliers, tolerance, most, rounds).run(proof)
        marks, error = grown.marks[:, np.argsort(-grown.weights, kind="stable")], grown.error
        if np.isfinite(error):
            table = _table(program, grown.marks, grown.weights, tolerance)
        if not searched:
            proof.close(error)
    if table is None or (program.size <= MOST_WEIGHED and relative_gap(error, proof.bound) > tolerance):
        present = distinct([slack_marks(program.size), marks[:, : FIRST * program.size]])
        search = Generation(program, present, tolerance, max_columns, rounds)
        found = search.run(False, proof.bound)
        generated = _table(program, search.marks, found.weights, tolerance)
        if table is None or program.error(generated) < program.error(table):
            table = generated
        proof.offer(table)
        proof.take(found.root, found.multipliers)
    if searched:
        proof.close(program.error(table))
    return table, proof.certificate


def _table(program: FrequencyProgram, marks: Array, weights: Array, tolerance: float) -> Array:
    """Return the columns of weight, rows summing to one to rounding."""
    for least in (LIGHT * tolerance, 0.0):  # at a coarse tolerance the others alone may not sum to one
        kept = weights > least * weights.max()
        patterns = program.patterns(marks[:, kept])
        with suppress(np.linalg.LinAlgError):
            made = polished(patterns, weights[kept])
            if made.min() > 0:
                return patterns * made
    raise SolverError(f"the weights of {marks.shape[1]} patterns lost their signs in rounding")
