"""Certificates for many categories: the relaxation's, and what group terms add where it is loose."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from ...mechanisms.errors import SolverError
from ..arrays import Array
from ..certificate import relative_gap
from .classes import WeightClasses
from .frequency_program import Certificate, FrequencyProgram, certified_frequency_bound
from .pattern_search import MOST_SEARCHED
from .relaxation import Relaxation
from .terms import violated_terms

TERM_ROUNDS = 6
"""Times that group terms are added."""

MOST_TERMS = 600
"""Group terms in force at once: a Newton step of the relaxation costs O(K C^2) with them."""

MOST_TIGHTENED = 256
"""Categories up to which there are group terms: with 512 a programme takes 20 s, and is solved up to six times more."""

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
    return Tightening(program, tolerance).certificate


class Tightening:
    """The best certificate so far and the bound that it proves: first the relaxation's own."""

    def __init__(self, program: FrequencyProgram, tolerance: float) -> None:
        self.program, self.tolerance, self.rng = program, tolerance, np.random.default_rng(SEED)
        size = program.size
        self.certificate = without_terms(np.zeros((size, size)), np.zeros(size))
        self.bound = bound_of(program, self.certificate)
        self.groups, self.levels = np.zeros((0, size)), np.zeros(0)
        self.moments: tuple[Array, Array] | None = None
        self._solve()

    def take(self, root: Array, multipliers: Array) -> None:
        """Try root and multipliers of a program that has the patterns which matter: proved by a search of all."""
        made = without_terms(root, multipliers)
        bound = bound_of(self.program, made) if self.program.size <= MOST_SEARCHED else -np.inf
        if bound > self.bound:
            self.certificate, self.bound = made, bound

    def offer(self, columns: Array) -> None:
        """Try what a table (K, m) says where few weights differ: its information, averaged over exchangeable ones."""
        classes = WeightClasses(self.program.prior, self.program.ratio)
        if classes.few and self.program.importance is None:
            inverse = np.linalg.inv(classes.averaged(self.program.information(columns))).astype(np.float64)
            root = classes.averaged(inverse)
            made = without_terms(root, classes.multipliers(root))
            bound = bound_of(self.program, made)
            if bound > self.bound:
                self.certificate, self.bound = made, bound

    def close(self, error: float) -> None:
        """Raise the bound by a few rounds of group terms, until it is near the error or terms close little."""
        for _ in range(TERM_ROUNDS if self.program.size <= MOST_TIGHTENED else 0):
            if relative_gap(error, self.bound) <= self.tolerance or not self._more_terms():
                return
            before = self.bound
            self._solve()
            if self.bound - before < SHARE_CLOSED * (error - before):
                return

    def _solve(self) -> None:
        """Solve the relaxation with the present terms; where rounding defeats it, what was found before stands."""
        self.moments = None
        with suppress(SolverError):
            relaxation = Relaxation(self.program, self.groups, self.levels)
            state = relaxation.solve(self.tolerance / 10)
            made, self.moments = relaxation.certificate(state), relaxation.moments(state)
            bound = bound_of(self.program, made)
            if bound >= self.bound:  # what no relaxation beats at first has no multipliers to begin with
                self.certificate, self.bound = made, bound
            held = made.weights * self.groups.sum(1) ** 2 > HELD * np.abs(made.diagonal).max()
            self.groups, self.levels = self.groups[held], self.levels[held]

    def _more_terms(self) -> bool:
        """Add terms that the relaxed table violates; False where there are no new ones or no room."""
        room = min(MOST_TERMS - len(self.levels), 6 * self.program.size)
        if self.moments is None or room <= 0:
            return False
        groups, levels = violated_terms(*self.moments, room, self.rng)
        joined = np.column_stack([np.vstack([self.groups, groups]), np.append(self.levels, levels)])
        joined, present = np.unique(joined, axis=0), len(self.levels)
        self.groups, self.levels = joined[:, :-1], joined[:, -1]
        return len(joined) > present
