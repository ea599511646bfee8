"""Certificates for many categories: the relaxation's, and what group terms add where it is loose."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from ...mechanisms.errors import SolverError
from ..arrays import Array
from ..certificate import relative_gap
from .program import Certificate, FrequencyProgram, certified_frequency_bound
from .relaxation import Relaxation
from .terms import violated_terms

TERM_ROUNDS = 6
"""Times that group terms are added."""

MOST_TERMS = 600
"""Group terms in force at once: a Newton step of the relaxation costs O(K C^2) with them."""

SHARE_CLOSED = 0.05
"""Group terms must close this share of the gap each time, or are left at that."""

HELD = 1e-6
"""Group terms with less than this share of the largest diagonal weight are left out of the next round."""

SEED = 20170705
"""Searches for terms start at random; the same prior gives the same certificate."""


def without_terms(root: Array, multipliers: Array) -> Certificate:
    size, nothing = len(multipliers), np.zeros(0)
    return Certificate(root, multipliers, np.zeros(size), np.zeros((0, size)), nothing, nothing)


def bound_of(program: FrequencyProgram, certificate: Certificate) -> float:
    """Return what a certificate proves of the program."""
    return certified_frequency_bound(program.prior, program.ratio, certificate, program.importance)


def relaxed_certificate(program: FrequencyProgram, tolerance: float) -> Certificate:
    """The relaxation's certificate; where rounding defeats it (epsilon above about 10), one that proves nothing."""
    size = program.size
    with suppress(SolverError):
        relaxation = Relaxation(program, np.zeros((0, size)), np.zeros(0))
        return relaxation.certificate(relaxation.solve(tolerance / 10))
    return without_terms(np.zeros((size, size)), np.zeros(size))


def tightened_certificate(program: FrequencyProgram, best: Certificate, error: float, tolerance: float) -> Certificate:
    """Return the best certificate that a few rounds of group terms lead to."""
    rng = np.random.default_rng(SEED)
    groups, levels = np.zeros((0, program.size)), np.zeros(0)
    highest = bound_of(program, best)
    for _ in range(TERM_ROUNDS):
        relaxation = Relaxation(program, groups, levels)
        try:
            state = relaxation.solve(tolerance / 10)
        except SolverError:
            break
        made = relaxation.certificate(state)
        bound = bound_of(program, made)
        closed, before = bound - highest, error - highest
        if bound > highest:
            best, highest = made, bound
        if relative_gap(error, highest) <= tolerance or (len(levels) and closed < SHARE_CLOSED * before):
            break
        held = made.weights * groups.sum(1) ** 2 > HELD * np.abs(made.diagonal).max()
        groups, levels = groups[held], levels[held]
        room = min(MOST_TERMS - len(levels), 6 * program.size)
        more = violated_terms(*relaxation.moments(state), room, rng)
        if room <= 0 or not len(more[1]):
            break
        joined = np.unique(np.column_stack([np.vstack([groups, more[0]]), np.append(levels, more[1])]), axis=0)
        groups, levels = joined[:, :-1], joined[:, -1]
    return best
