r"""The table that answers linear queries best under any promise of pairs: columns added one round after the other.

Weights of given columns are the convex program of `weights`. With its multipliers a column s of the cone that gains,

    |Z^T s|^2 / (pi . s) > lambda . s,    Z = M^-1 R,

betters the table (`cone_bound` has the words). Gains are convex: from any column the best one of the tangent, one
question to the cone's oracle, gains at least as much. So ascents from many columns find the next ones, where the rays
cannot be listed. What they find proves nothing; a semidefinite program over products of rows finds what does.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError, SolverError
from ..arrays import Array
from ..certificate import Optimum, Progress, check_tolerance
from ..channel.channel_program import ChannelProgram, even_weights
from ..channel.repair import repaired
from ..cone import Cone, cheapest
from .cone_bound import (
    ConeCertificate,
    centred_root,
    certified_cone_bound,
    lists_rays,
    rays,
)
from .cone_products import relaxed
from .frequency_program import FrequencyProgram
from .weights import polished, weigh_patterns
from .workload import checked_queries, workload_cost

MOST_VALUES = 48
"""Values that a cone may have: the semidefinite program has a square matrix of twice as many rows."""

ROUNDS, STEPS = 40, 8
"""Of columns at most, and of an ascent."""

ENOUGH, INNER = 0.2, 0.02
"""Shares of the tolerance: what columns may still gain, and the weights' own gap."""

STARTS, LEAST, ADDED = 3, 40, 3
"""Ascents from random columns for each value, and at least; and columns that a round adds for each value."""

IN_VAIN = 2
"""Rounds without a column that gains, one after the other, that end the search, where rays are not listed."""

LIGHT = 1e-6
"""Weight below which a column is left out."""

SINGULAR = 1e-6
"""Added to a singular C, as a share of its mean diagonal."""

MOST_PRODUCTS = (1200, 500, 200)
"""Products of rows in the semidefinite program, those that the best table makes least; fewer where numbers are lost."""

SEED = 20170705
"""The first columns are random; the same problem gives the same table."""


def solve_cone_workload(
    cone: Cone,
    prior: ArrayLike,
    queries: ArrayLike,
    *,
    tolerance: float = 1e-2,
    progress: Callable[[Progress], None] | None = None,
) -> Optimum[Array]:
    """Derive the table of a cone that answers linear queries with the least sum of squared errors.

    Parameters
    ----------
    cone : Cone
        Of n values, at most 48.
    prior : (n,) array_like
    queries : (q, n) array_like
    tolerance : float
        Relative gap to reach.
    progress : callable, optional

    Returns
    -------
    found : Optimum of (n, m) ndarray
        Its value is `workload_cost`, its bound the `certified_cone_bound` of its multiplier `certificate`.

    Raises
    ------
    InputError
        Queries that are none, or too many values.
    SolverError
        No table was found, for instance because values must be alike that queries tell apart.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.cone import line
    >>> from optldp.solvers.frequency.cone_workload import solve_cone_workload
    >>> found = solve_cone_workload(line(range(4), 1.0), np.full(4, 0.25), np.tri(4)[:-1])
    >>> round(found.value, 2), found.gap < 1e-2
    (2.05, True)
    """
    check_tolerance(tolerance)
    weights, matrix = checked_queries(prior, queries)
    if weights.size > MOST_VALUES:
        raise InputError(
            f"under a promise of pairs queries are solved for at most {MOST_VALUES} values, got {weights.size}: use "
            "fewer knots, or pure privacy"
        )
    started = time.perf_counter()
    root, _ = centred_root(weights, matrix)
    search = _Search(cone, weights, root, tolerance)
    columns, c, steps = search.run(progress)
    held = c > LIGHT
    table = columns[:, held] * polished(columns[:, held], c[held])
    table = repaired(ChannelProgram(cone, weights, np.zeros_like(table)), table)
    value = workload_cost(weights, table, matrix)
    if not math.isfinite(value):
        raise SolverError("no table from whose reports the queries can be answered was found: raise the budgets")
    certificate = search.certificate(columns, c)
    bound = certified_cone_bound(cone, weights, matrix, certificate)
    seconds = time.perf_counter() - started
    return Optimum(table, value, bound, {"certificate": certificate}, tolerance, steps, seconds, "columns")


class _Search:
    """Columns, their weights and multipliers, from round to round."""

    def __init__(self, cone: Cone, prior: Array, root: Array, tolerance: float) -> None:
        self.cone, self.prior, self.root, self.tolerance = cone, prior, root, tolerance
        self.even, self.rng = even_weights(prior), np.random.default_rng(SEED)
        self.rays = self.scaled(rays(cone)) if lists_rays(cone) else None
        n, C = prior.size, root @ root
        scale = float(np.trace(C)) / n
        importance = C + scale / n  # equal numbers, which cost the same with any table
        if np.linalg.eigvalsh(importance)[0] < SINGULAR * scale:
            importance = importance + SINGULAR * scale * np.eye(n)
        self.program = FrequencyProgram(prior, math.e, importance)  # the ratio is of no use here

    def scaled(self, columns: Array) -> Array:
        return columns / (self.even @ columns)

    def run(self, progress: Callable[[Progress], None] | None) -> tuple[Array, Array, int]:
        """Return columns (n, m), their weights (m,) and how many rounds there were."""
        started, columns, step = time.perf_counter(), self.start(), 0
        first, in_vain = columns.shape[1], 0
        for step in range(1, ROUNDS + 1):
            found = weigh_patterns(self.program, columns, tolerance=INNER * self.tolerance)
            c, lam = np.maximum(found.weights, 0.0), found.multipliers
            importance = self.program.importance
            assert importance is not None
            inverse = np.linalg.inv(self.information(columns, c))
            value = float((importance * inverse).sum())
            new, gains = self.gaining(inverse @ importance @ inverse, lam, columns[:, c > LIGHT])
            if progress is not None:
                most = float(gains.max(initial=0.0))
                told = Progress(step, value, value - most, columns.shape[1], time.perf_counter() - started)
                progress(told)
            in_vain = 0 if gains.max(initial=0.0) > ENOUGH * self.tolerance * value else in_vain + 1
            if in_vain >= (1 if self.rays is not None else IN_VAIN):
                break
            held = c > LIGHT
            held[:first] = True  # these allow any rest
            columns = np.hstack([columns[:, held], new])
        else:
            found = weigh_patterns(self.program, columns, tolerance=INNER * self.tolerance)
            c = np.maximum(found.weights, 0.0)
        return columns, c, step

    def start(self) -> Array:
        """Return columns that allow any rest, and random ones."""
        alone = self.cone.raised(np.eye(self.prior.size))
        i, k = np.nonzero(np.isfinite(self.cone.closed) & (self.cone.closed > 0))
        room = np.exp(self.cone.closed[i, k])[:, None]
        most = ((room * alone[k] - alone[i]) / (room - 1)).max(0, initial=1.0)
        columns = np.hstack([np.ones((self.prior.size, 1)), alone, np.maximum(most, alone.max(0)) - alone])
        return np.hstack([self.scaled(columns), self.random()])

    def random(self) -> Array:
        count = max(STARTS * self.prior.size, LEAST)
        if self.cone.tree is not None:
            return cheapest(self.cone, self.rng.standard_normal((self.prior.size, count)), self.even)[1]
        closed = self.cone.closed
        highest = self.rng.uniform(0, closed[np.isfinite(closed)].max(), (self.prior.size, count))
        return self.scaled(self.cone.raised(np.exp(highest)))

    def information(self, columns: Array, c: Array) -> Array:
        return (columns * (c / (self.prior @ columns))) @ columns.T

    def gaining(self, squared: Array, lam: Array, present: Array) -> tuple[Array, Array]:
        """Return columns that gain most, and what they gain per unit of the even weights."""
        if self.rays is not None:
            found = self.rays
        else:
            found = np.hstack([present, self.random()])
            climb = self.by_tangents if self.cone.tree is not None else self.by_entries
            found = climb(found, squared, lam)
            found = self.scaled(self.cone.raised(found))
        gains = (found * (squared @ found)).sum(0) / (self.prior @ found) - lam @ found
        best = np.argsort(-gains)[: ADDED * self.prior.size]
        best = best[gains[best] > 0]
        return found[:, best], gains[best]

    def by_tangents(self, found: Array, squared: Array, lam: Array) -> Array:
        """Return where ascents from columns end: the best column of the tangent, again and again."""
        for _ in range(STEPS):
            mean, turned = self.prior @ found, squared @ found
            gain = (found * turned).sum(0) / mean
            slope = (2 * turned - self.prior[:, None] * gain) / mean - lam[:, None]
            found = np.unique(cheapest(self.cone, -slope, self.even)[1].round(12), axis=1)
        return found

    def by_entries(self, found: Array, squared: Array, lam: Array) -> Array:
        """Return where ascents from columns end that move an entry at a time, to the better end of what it may be.

        A gain is convex in each entry. Where an oracle is a linear program, this is a hundred times quicker.
        """
        s, factors = found.copy(), np.exp(-self.cone.closed)
        for _ in range(STEPS):
            before = s.copy()
            for i in self.rng.permutation(self.prior.size):
                others = np.delete(np.arange(self.prior.size), i)
                low = (factors[others, i][:, None] * s[others]).max(0)
                with np.errstate(divide="ignore"):
                    high = (s[others] / factors[i, others][:, None]).min(0)
                along, mean, charge = squared[i] @ s, self.prior @ s, lam @ s
                whole = (s * (squared @ s)).sum(0)
                best, move = whole / mean - charge, np.zeros_like(mean)
                for end in (low, np.where(np.isfinite(high), high, s[i])):
                    step = end - s[i]
                    moved = whole + 2 * step * along + step**2 * squared[i, i]
                    gain = moved / (mean + step * self.prior[i]) - charge - step * lam[i]
                    better = gain > best
                    best, move = np.where(better, gain, best), np.where(better, step, move)
                s[i] += move
            s = self.scaled(s)
            if np.array_equal(s, self.scaled(before)):
                break
        return np.unique(s.round(12), axis=1)

    def certificate(self, columns: Array, c: Array) -> ConeCertificate:
        """Return what proves a bound: of the table's own numbers where rays are listed, else of the program's."""
        numbers = np.linalg.inv(self.information(columns, c)) @ self.root
        nothing = np.zeros(0, dtype=np.intp)
        lam = weigh_patterns(self.program, columns, tolerance=INNER * self.tolerance).multipliers
        if self.rays is not None:
            # The multipliers of C with equal numbers: those of C alone are less by these, times the prior's charge.
            ones = float(np.trace(self.root @ self.root)) / self.prior.size**2
            return ConeCertificate(numbers, lam - ones * self.prior, nothing, nothing, np.zeros(0))
        value = float((self.root * numbers).sum())
        for most in MOST_PRODUCTS:
            with suppress(SolverError):
                return relaxed(self.cone, self.prior, self.root, columns, c, value, most)
        return ConeCertificate(0 * numbers, lam, nothing, nothing, np.zeros(0))  # which proves nothing
