r"""Few queries of many values: reports that are read as points, unbiased, with the least expected squared distance.

Answers to k queries from one report are a point of k numbers. On given points the table is a channel program with k
kinds of deviations, exact and small whatever the number of patterns; columns that gain by its multipliers
(`few_bound`) say which points to add, and points that columns are best read as replace the ones in use. The value is
that of the table with its own best reading; the bound holds for every private table.

The first points are those of a table that tells on which side of a cut a value lies: cuts of the queries' numbers in
random directions.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np

from ...mechanisms.errors import SolverError
from ..arrays import Array
from ..certificate import Optimum, Progress
from ..channel import ChannelProgram, solve_channel
from ..cone import pure
from .few_bound import RANK, FewCertificate, PointPrices, proved

CUTS = 40
"""To begin with, for each query, each with its complement."""

ROUNDS = 40
"""At most; four to ten are usual, and more where E is so large that points must lie near each other."""

PATIENCE, SETTLED = 8, 0.05
"""Rounds that together close no more than this share of the gap, and points have given what they have."""

INSIDE = 0.8
"""Share of the best multipliers so far in those that are priced beside a program's own, which jump from one to the next
(in-out separation: Ben-Ameur and Neto, 2007): without them gaps stay open at a little over 1 %."""

ENOUGH = 0.9
"""Share of the tolerance to reach: the bound is proved anew from the certificate, to within a little."""

INNER, SLACK = 0.05, 0.1
"""Shares of the tolerance that programs, and the pricing of all columns, may leave."""

USED = 1e-6
"""Probability from which on a point counts as used."""

ADDED = 3
"""Points for each value that a round adds, at most."""

SINGULAR = 1e-12
"""Share of the largest eigenvalue of M below which a direction is one that reports tell nothing of."""

SEED = 20170705
"""The first cuts are random; the same prior gives the same table."""


def solve_few_queries(
    prior: Array, ratio: float, queries: Array, tolerance: float, progress: Callable[[Progress], None] | None = None
) -> Optimum[Array]:
    """Return the table of least squared error, its multiplier `certificate` a `FewCertificate`.

    Parameters
    ----------
    prior : (n,) ndarray
    ratio : float
        E = e^epsilon.
    queries : (q, n) ndarray
        Of rank one to three but for equal numbers; no two values alike.
    tolerance : float
        Relative gap to reach.
    progress : callable, optional

    Raises
    ------
    SolverError
        Numbers were lost before there was a table.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.frequency.few_queries import solve_few_queries
    >>> x = np.linspace(-1, 1, 20)
    >>> found = solve_few_queries(np.full(20, 0.05), np.e, np.vstack([x, x**2]), 1e-2)  # mean and mean square
    >>> round(found.value, 1), found.gap < 1e-2
    (6.2, True)
    """
    run, started, gaps = _Run(prior, ratio, queries, tolerance), time.perf_counter(), []
    points = run.first()
    for _ in range(ROUNDS):
        try:
            points = run.round(points)
        except SolverError:
            if not run.table.size or run.certificate is None:
                raise
            break
        gaps.append(run.value - run.bound)
        if progress is not None:
            progress(Progress(len(gaps), run.value, run.bound, run.table.shape[1], time.perf_counter() - started))
        settled = len(gaps) > PATIENCE and gaps[-1] >= (1 - SETTLED) * gaps[-1 - PATIENCE]
        if settled or gaps[-1] <= ENOUGH * tolerance * run.value:
            break
    seconds = time.perf_counter() - started
    proof = {"certificate": run.certificate}
    return Optimum(run.table, run.value, run.bound, proof, tolerance, len(gaps), seconds, "few-queries")


class _Run:
    """The best table and the best multipliers so far."""

    def __init__(self, prior: Array, ratio: float, queries: Array, tolerance: float) -> None:
        self.prior, self.ratio, self.tolerance = prior, ratio, tolerance
        left, sizes, right = np.linalg.svd(queries - (queries @ prior)[:, None], full_matrices=False)
        kept = sizes > RANK * sizes[0]
        self.wanted, self.across = right[kept].T * sizes[kept], left[:, kept]  # R (n, k), and Q with W = Q R^T
        self.cone = pure(prior.size, math.log(ratio))
        self.scatter = float(prior @ (self.wanted**2).sum(1))
        self.table, self.value, self.bound = np.zeros((prior.size, 0)), math.inf, -math.inf
        self.inside: tuple[Array, Array] | None = None

    @property
    def certificate(self) -> FewCertificate | None:
        """The best multipliers, of the queries as they are asked."""
        return None if self.inside is None else FewCertificate(self.inside[0] @ self.across.T, self.inside[1])

    def first(self) -> Array:
        """Return the points (p, k) to begin with."""
        rng, (n, k) = np.random.default_rng(SEED), self.wanted.shape
        ranks = (self.wanted @ rng.standard_normal((k, CUTS * k))).argsort(0).argsort(0)
        marks = ranks < rng.integers(1, n, CUTS * k)
        table = np.where(np.hstack([marks, ~marks]), self.ratio, 1.0) / (CUTS * k * (1 + self.ratio))
        return self._read(table)[0]

    def round(self, points: Array) -> Array:
        """Solve on these points, price all columns, and return the points for the next round."""
        deviations = points.T[:, None] - self.wanted.T[:, :, None]
        program = ChannelProgram(self.cone, self.prior, (deviations**2).sum(0), 0.0, deviations)
        found = solve_channel(program, tolerance=INNER * self.tolerance, solver="tree")
        table = found.solution[:, found.solution.max(0) > 0]
        read, value = self._read(table)
        if value < self.value:
            self.table, self.value = table, value
        nu, R = found.multipliers["nu"].T, self.wanted
        numbers = self.prior[:, None] * R + nu / 2  # the loss written out, in powers of the point
        multipliers = self.prior * (R**2).sum(1) + (nu * R).sum(1) - found.multipliers["lam"]
        new = [self._priced(numbers, multipliers, points)]
        if self.inside is not None:
            far, there = self.inside
            between = INSIDE * far + (1 - INSIDE) * numbers, INSIDE * there + (1 - INSIDE) * multipliers
            new.append(self._priced(*between, points))
        return np.vstack([read[table.max(0) > USED], *new])

    def _priced(self, numbers: Array, multipliers: Array, points: Array) -> Array:
        """Price all columns, keep the multipliers if they prove more, and return points that gain, some near these."""
        prices = PointPrices(self.cone, self.prior, numbers, multipliers)
        priced = prices.over_all(SLACK * self.tolerance * self.value)
        raised = multipliers + priced.gain * prices.weights
        if (bound := proved(self.wanted, numbers, raised) - self.scatter) > self.bound:
            # The best multiple, so that it may be mixed with others.
            scale = float((self.wanted * numbers).sum() / raised.sum())
            self.bound, self.inside = bound, (scale * numbers, scale**2 * raised)
        return prices.gaining(np.vstack([priced.points, points]))[: ADDED * self.prior.size]

    def _read(self, table: Array) -> tuple[Array, float]:
        """Return what a table's columns are best read as (m, k), and the least error."""
        mass = self.prior @ table
        inverse = np.linalg.pinv((table / mass) @ table.T, rcond=SINGULAR, hermitian=True) @ self.wanted
        return (inverse.T @ table / mass).T, float((self.wanted * inverse).sum()) - self.scatter
