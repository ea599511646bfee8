"""Patterns worth having: balanced ones to begin with, and the ones that a pricing step finds.

A pattern marks some categories with E.  With W = H^2 and multipliers lambda, a pattern with

    s^T W s / (pi . s) > lambda . s

lowers tr M^-1 when it is given weight.  The best one is a quadratic program in K binary unknowns: looked for among all
of them up to 18 categories, by ascent from many starts beyond.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from .frequency_program import FrequencyProgram, all_marks

BLOCKS = 4
"""Cyclic families to begin with: with four, a uniform prior's error is within 2 % of its optimum."""

SWAPS = 4000
"""Swaps tried on them, fewer on small ones; later ones gain less than a tenth of a per cent."""

SWAPS_EACH = 30
"""Swaps for each category; below 130 categories these are enough."""

STARTS = 3
"""Ascents from disturbed present patterns, for each pattern asked for; one more from a fresh one."""

DISTURBANCES = (1.0, 3.0, 10.0)
"""Categories that a disturbance changes, on average: near, middling and far starts find different patterns."""

WORTH = 1e-12
"""An ascent ends when a change gains less than this share of the charge: rounding, not gain."""


def slack_marks(size: int) -> Array:
    """Return the marks (K, K + 1) of the all-1 pattern and of the K patterns with one E; they allow any rest."""
    return np.hstack([np.zeros((size, 1)), np.eye(size)])


def cyclic_family(size: int, marked: int, blocks: int, rng: np.random.Generator) -> Array:
    """Return marks (K, blocks K): all cyclic shifts of sets of `marked` categories with a flat joint spectrum.

    For a uniform prior M is circulant, with the summed squared spectrum P_f as eigenvalues: swaps of two
    categories in one set are kept while they do not raise sum_f 1 / P_f.  Perfectly flat: a difference family.

    Example
    -------
    >>> family = cyclic_family(7, 3, 1, np.random.default_rng(1))
    >>> (family @ family.T)[0]   # any two categories are marked together once: the Fano plane
    array([3., 1., 1., 1., 1., 1., 1.])
    """
    sets = np.zeros((blocks, size))
    for row in sets:
        row[rng.permutation(size)[:marked]] = 1
    spectra = np.abs(np.fft.rfft(sets)[:, 1:]) ** 2
    times = np.where(2 * np.arange(1, size // 2 + 1) == size, 1.0, 2.0)
    total = spectra.sum(0)
    for _ in range(min(SWAPS, SWAPS_EACH * size) if 0 < marked < size else 0):
        block = rng.integers(blocks)
        trial = sets[block].copy()
        trial[rng.choice(np.flatnonzero(trial == 1))] = 0
        trial[rng.choice(np.flatnonzero(sets[block] == 0))] = 1
        spectrum = np.abs(np.fft.rfft(trial)[1:]) ** 2
        changed = total - spectra[block] + spectrum
        if changed.min() > 0 and (total.min() <= 0 or times @ (1 / changed) <= times @ (1 / total)):
            sets[block], spectra[block], total = trial, spectrum, changed
    return _shifted(sets)


def coloured_family(root: Array, marked: int, blocks: int, rng: np.random.Generator) -> Array:
    """Return marks (K, blocks K): all cyclic shifts of the `marked` largest entries of noise coloured by C^(1/2).

    Where errors of some combinations of categories count more than others', patterns are to tell those apart: of
    noise with the covariance C they have more than flat families have, from which exchanges find no way to them.  All
    shifts together mark each category as often, so that even weights make a table.

    Parameters
    ----------
    root : (K, K) ndarray
        C^(1/2).
    marked, blocks : int
    rng : numpy.random.Generator

    Example
    -------
    >>> family = coloured_family(np.tri(8) @ np.tri(8).T, 3, 2, np.random.default_rng(1))
    >>> family.sum(0).tolist() == [3.0] * 16, family.sum(1).tolist() == [6.0] * 8
    (True, True)
    """
    noise = root @ rng.standard_normal((root.shape[0], blocks))
    sets = np.zeros((blocks, root.shape[0]))
    np.put_along_axis(sets, np.argsort(-noise.T, axis=1)[:, :marked], 1.0, axis=1)
    return _shifted(sets)


def _shifted(sets: Array) -> Array:
    """Return all cyclic shifts (K, b K) of sets (b, K)."""
    size = sets.shape[1]
    shifts = (np.arange(size)[:, None] + np.arange(size)) % size
    return np.hstack([row[shifts] for row in sets])


def starting_marks(program: FrequencyProgram, rng: np.random.Generator) -> Array:
    """Return marks (K, m) to begin with: slack, and cyclic families of the size that suits a uniform prior."""
    size = program.size
    marked = max(1, round(size / (1 + program.ratio)))
    return distinct([slack_marks(size), cyclic_family(size, marked, BLOCKS, rng)])


def distinct(parts: list[Array]) -> Array:
    """Return the different columns of several blocks of marks."""
    return np.unique(np.hstack(parts), axis=1)


def enumerate_best(program: FrequencyProgram, squared: Array, multipliers: Array, wanted: int) -> tuple[Array, Array]:
    """Return the best patterns of all, marks (K, b) and gains (b,), best first; O(2^K K^2)."""
    marks, gains = np.zeros((program.size, 0)), np.zeros(0)
    for block in all_marks(program.size):
        s = program.patterns(block)
        gain = np.einsum("xs,xs->s", s, squared @ s) / (program.prior @ s) - multipliers @ s
        marks, gains = np.hstack([marks, block]), np.append(gains, gain)
        best = np.argsort(-gains, kind="stable")[:wanted]
        marks, gains = marks[:, best], gains[best]
    return marks, gains


def climb(program: FrequencyProgram, squared: Array, multipliers: Array, marks: Array) -> tuple[Array, Array]:
    """Return what ascents from these marks (K, b) lead to, and its gains (b,).

    Each step changes the one category that gains most, in all ascents at once: O(b K) a step, after O(b K^2).
    """
    marks, index = marks.copy(), np.arange(marks.shape[1])
    s = program.patterns(marks)
    product = squared @ s
    quadratic, mean, charge = np.einsum("xs,xs->s", s, product), program.prior @ s, multipliers @ s
    for _ in range(3 * program.size):
        change = (program.ratio - 1) * (1 - 2 * marks)
        quadratics = quadratic + change * (2 * product + change * np.diag(squared)[:, None])
        means = mean + change * program.prior[:, None]
        gains = quadratics / means - charge - change * multipliers[:, None]
        which = gains.argmax(0)
        moving = index[gains[which, index] > quadratic / mean - charge + WORTH * np.abs(charge)]
        if not moving.size:
            break
        row = which[moving]
        step = change[row, moving]
        quadratic[moving], mean[moving] = quadratics[row, moving], means[row, moving]
        charge[moving] += step * multipliers[row]
        product[:, moving] += squared[:, row] * step
        marks[row, moving] = 1 - marks[row, moving]
    return marks, quadratic / mean - charge


def climb_from(
    program: FrequencyProgram,
    squared: Array,
    multipliers: Array,
    present: tuple[Array, Array],
    wanted: int,
    rng: np.random.Generator,
) -> tuple[Array, Array]:
    """Return patterns of gain, best first: ascents from present marks (K, m) with weights (m,), and from new ones."""
    marks, weights = present
    size, count = program.size, STARTS * wanted
    base = marks[:, rng.integers(0, marks.shape[1], count)]
    disturbed = np.abs(base - (rng.random(base.shape) < rng.choice(DISTURBANCES, count) / size))
    shares = marks @ weights / weights.sum()
    fresh = (rng.random((size, wanted)) < shares[:, None]).astype(np.float64)
    found, gains = climb(program, squared, multipliers, np.hstack([disturbed, fresh, marks]))
    found, first = np.unique(found, axis=1, return_index=True)
    gains = gains[first]
    best = np.argsort(-gains, kind="stable")[:wanted]
    return found[:, best], gains[best]
