"""Reports to several tables, of which a user's count as a sum: the same decoder program, whose numbers are shared.

Users come in sets: a share a_g of them reports to the tables P_gs, s = 1, 2, ..., independently given the value.  The
reports of one count as D = sum_s d_gs(y_s), and the mean of all users as the mean of their D.  With mu_gs = P_gs d_gs,

    b_i = sum_g a_g (sum_s mu_gsi - x_i),
    v_i = sum_g a_g (sum_s (sum_j P_gsij d_gsj^2 - mu_gsi^2) + (sum_s mu_gsi - x_i)^2),

and values drawn from q by all users alike have a mean whose squared error is at most q.v / N + (q.b)^2, as for one
table (what is left out is sum_g a_g (q.b_g)^2 / N).  So R, its bound and its path are those of `decoder`: all that
changes is the curvature, 2 a_g M_g with

    M_g(s, s) = diag(w P_gs),      M_g(s, t) = P_gs' diag(w) P_gt      (second moments of who reports what under w).

Constants may move between a user's tables; the d_gs of equal mean under w are taken.  Weights of sets need not be
asked for: a set whose reports say little counts as nearly constant, and the others as more than they are.

Source: derived here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ...mechanisms.errors import InputError
from ..arrays import Array
from ..robust.sets import BoxSet
from .error_program import check_users
from .reports import Curvature, DecoderBase, Diagonal, require_rows

SHARE_SLACK = 1e-9
"""How far shares may miss a sum of one."""


@dataclass(frozen=True, eq=False)
class UserSet:
    """Users who report to the same tables.

    Parameters
    ----------
    share : float
        Of all users, positive.
    tables : sequence of (n, m_s) ndarray
        Rows that sum to one, on the same n knots.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.biased import UserSet
    >>> UserSet(0.3, [np.array([[0.75, 0.25], [0.25, 0.75]])]).share
    0.3
    """

    share: float
    tables: Sequence[Array]


@dataclass(frozen=True, eq=False)
class SummedProgram(DecoderBase):
    """Sets of users, the possible priors, and the number of users.

    Parameters
    ----------
    knots : (n,) ndarray
        In any unit.
    sets : sequence of UserSet
        Their shares sum to one.
    priors : BoxSet
    users : int
        N >= 1, of all sets together.

    Raises
    ------
    InputError
        A shape does not fit, or a number is out of range.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.biased import SummedProgram, UserSet
    >>> from optldp.solvers.biased import solve_decoder, trusted
    >>> x, P = np.linspace(-1, 1, 3), np.full((3, 3), 0.25) + 0.25 * np.eye(3)
    >>> box = trusted(np.full(3, 1 / 3), 2.0)
    >>> once, twice = (SummedProgram(x, [UserSet(1.0, [P] * k)], box, 10**9) for k in (1, 2))
    >>> [values.round(3) + 0.0 for values in twice.split(solve_decoder(twice).solution)[0]]
    [array([-2.,  0.,  2.]), array([-2.,  0.,  2.])]
    >>> round(solve_decoder(twice).value / solve_decoder(once).value, 2)
    0.71
    """

    knots: Array
    sets: Sequence[UserSet]
    priors: BoxSet
    users: int

    def __post_init__(self) -> None:
        for one in self.sets:
            if not one.tables:
                raise InputError("users must report to at least one table, got a set of none")
            for P in one.tables:
                require_rows(P, len(self.knots), len(self.priors.low))
        shares = [one.share for one in self.sets]
        if not (shares and min(shares) > 0 and abs(sum(shares) - 1) <= SHARE_SLACK):
            raise InputError(f"shares of users must be positive and sum to one, got {shares}")
        check_users(self.users)

    def with_priors(self, priors: BoxSet) -> Self:
        return replace(self, priors=priors)

    def split(self, values: Array) -> list[list[Array]]:
        """Return the numbers of each set's tables, of all of them in a row."""
        return [[values[place] for place in places] for places in self._places]

    def moments(self, values: Array) -> tuple[Array, Array]:
        """Return v_i and b_i, (n,) each."""
        v, b = np.zeros(len(self.knots)), np.zeros(len(self.knots))
        for one, parts in zip(self.sets, self.split(values), strict=True):
            means = [P @ d for P, d in zip(one.tables, parts, strict=True)]
            off = sum(means) - self.knots
            # About the mean, so that constants that are moved between tables cost no digits.
            spread = [P * (d - m[:, None]) ** 2 for P, d, m in zip(one.tables, parts, means, strict=True)]
            v += one.share * (sum(part.sum(1) for part in spread) + off * off)
            b += one.share * off
        return v, b

    def slopes(self, values: Array) -> Array:
        """Return (2n, M) derivatives of b and v: those of one table, for what the user's others leave of x."""
        columns = []
        for one, parts in zip(self.sets, self.split(values), strict=True):
            means = [P @ d for P, d in zip(one.tables, parts, strict=True)]
            for P, d, mean in zip(one.tables, parts, means, strict=True):
                left = self.knots - (sum(means) - mean)
                columns.append(one.share * np.concatenate([P, 2 * P * (d - left[:, None])]))
        return np.concatenate(columns, axis=1)

    def curvature(self, worst: Array) -> Blocks:
        return Blocks(
            [
                Block(one, worst) if len(one.tables) > 1 else Diagonal(one.share * (worst @ one.tables[0]))
                for one in self.sets
            ],
            [sum(P.shape[1] for P in one.tables) for one in self.sets],
        )

    def pull(self, worst: Array, nu: Array) -> Array:
        pulled = worst * self.knots + 0.5 * nu
        return np.concatenate([one.share * (pulled @ P) for one in self.sets for P in one.tables])

    @property
    def outputs(self) -> int:
        return self._places[-1][-1].stop

    def reach(self, values: Array) -> float:
        return max(float(sum(np.abs(d).max() for d in parts)) for parts in self.split(values))

    @cached_property
    def _places(self) -> list[list[slice]]:
        places, at = [], 0
        for one in self.sets:
            places.append([])
            for P in one.tables:
                places[-1].append(slice(at, at + P.shape[1]))
                at += P.shape[1]
        return places


class Block:
    """The curvature of one set of users, a_g M_g, and its inverse where constants are shared out evenly."""

    def __init__(self, one: UserSet, worst: Array) -> None:
        sums, every = [worst @ P for P in one.tables], range(len(one.tables))
        rows = [[np.diag(W) if s == t else P.T @ (worst[:, None] * Q) for t, Q in enumerate(one.tables)]
                for s, (P, W) in enumerate(zip(one.tables, sums, strict=True))]  # fmt: skip
        self.matrix = one.share * np.block(rows)
        # How far tables' means under w are apart, squared: only constants between tables change it for nothing.
        even = np.eye(len(sums)) - 1 / len(sums)
        apart = np.block([[even[s, t] * np.outer(sums[s], sums[t]) for t in every] for s in every])
        full = self.matrix + one.share * apart + np.diag(np.where(np.concatenate(sums) > 0, 0.0, 1.0))
        self.scale = 1 / np.sqrt(np.diag(full))
        self.full = full * self.scale[:, None] * self.scale
        # Scaled to a unit diagonal: a unit in the last place keeps the factor defined where rows are alike.
        self.factor = cho_factor(self.full + 1e-15 * np.eye(len(full)))

    def times(self, values: Array) -> Array:
        return self.matrix @ values

    def solve(self, right: Array) -> Array:
        scale = self.scale if right.ndim == 1 else self.scale[:, None]
        right = right * scale
        found = cho_solve(self.factor, right)
        return (found + cho_solve(self.factor, right - self.full @ found)) * scale


class Blocks:
    """The curvature of all sets, of which none knows of another."""

    def __init__(self, blocks: Sequence[Curvature], sizes: Sequence[int]) -> None:
        self.blocks, self.ends = blocks, np.cumsum(sizes)[:-1]

    def times(self, values: Array) -> Array:
        parts = np.split(values, self.ends)
        return np.concatenate([block.times(part) for block, part in zip(self.blocks, parts, strict=True)])

    def solve(self, right: Array) -> Array:
        parts = np.split(right, self.ends)
        return np.concatenate([block.solve(part) for block, part in zip(self.blocks, parts, strict=True)])
