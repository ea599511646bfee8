"""Weights between users who reported to different services, where those users may be taken for alike; and whether."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...mechanisms.table.table import TabulatedMechanism
from ..counting.counts import ReportCounts
from ..input_grid import InputGrid
from ..intervals import Sample

FEWEST_COMPARED = 30
"""Users of a set of services from which their own scatter says how well their mean is known."""

DOUBTFUL = 0.05
"""Chance of means as unlike as those seen below which users of different services should not be taken for alike."""


@dataclass(frozen=True, eq=False)
class Participation:
    r"""Who reported to which services, their means compared, and what weights between them would be worth.

    Users may be taken for alike where participation says nothing of the value: which services a user reports to is as
    if drawn by chance.  Then the means m_g of G sets of services differ by chance alone, and so, with their variances
    v_g and w_g = 1 / v_g, is

        Q = sum_g w_g (m_g - m)^2 / (1 + 2 (G - 2) / (G^2 - 1)  sum_g (1 - w_g / W)^2 / (n_g - 1)),

    W = sum w_g, m = sum w_g m_g / W, about chi-square with G - 1 degrees of freedom.  It sees unlike means alone, and
    only as far as reports tell: means that are not seen to differ may.

    Parameters
    ----------
    services : tuple of tuple of str
        Names of each set's services.
    n : (S,) ndarray of int
        Users of each set.
    value, std_error : (S,) ndarray of float
        Mean of each set's users by their own reports; its error is NaN for fewer than 2 users.
    gain : float
        Standard error with users counted the same, over that with users weighed, if they are alike.

    Source: Welch (1951), "On the comparison of several mean values", whose denominator this is.

    Example
    -------
    >>> sets, means, errors = (("a",), ("a", "b")), np.array([5.0, 6.0]), np.array([0.3, 0.4])
    >>> found = Participation(sets, np.array([900, 100]), means, errors, 1.0)
    >>> round(found.chi_square, 2), found.degrees, round(found.p, 3), found.doubtful
    (4.0, 1, 0.046, True)
    """

    services: tuple[tuple[str, ...], ...]
    n: np.ndarray
    value: np.ndarray
    std_error: np.ndarray
    gain: float

    @property
    def compared(self) -> np.ndarray:
        """Which sets (S,) have users enough, 30, to be compared."""
        return (self.n >= FEWEST_COMPARED) & (self.std_error > 0)

    @property
    def degrees(self) -> int:
        """Sets that are compared, less one; 0 where there is nothing to compare."""
        return max(int(self.compared.sum()) - 1, 0)

    @property
    def chi_square(self) -> float:
        """Q; NaN where there is nothing to compare."""
        if not self.degrees:
            return math.nan
        among, many = self.compared, self.degrees + 1
        weight = self.std_error[among] ** -2.0
        mean = weight @ self.value[among] / weight.sum()
        loss = float(((1 - weight / weight.sum()) ** 2 / (self.n[among] - 1)).sum())
        return float(weight @ (self.value[among] - mean) ** 2) / (1 + 2 * (many - 2) / (many**2 - 1) * loss)

    @property
    def p(self) -> float:
        """Chance of means at least as unlike if users are alike; NaN where there is nothing to compare."""
        from scipy.special import chdtrc  # a fifth of a second to load

        return float(chdtrc(self.degrees, self.chi_square)) if self.degrees else math.nan

    @property
    def doubtful(self) -> bool:
        """Whether that chance is below 0.05."""
        return self.p < DOUBTFUL

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, as Python's numbers and lists."""
        sets = {"services": [list(names) for names in self.services], "n": self.n.tolist()}
        means = {"value": self.value.tolist(), "std_error": self.std_error.tolist()}
        told = {"chi_square": self.chi_square, "degrees": self.degrees, "p": self.p, "gain": self.gain}
        return {"sets": sets | means} | told


def participation_of(
    counts: ReportCounts, parts: Sequence[tuple[ReportCounts, Sequence[np.ndarray], Sequence[float]]]
) -> Participation | None:
    """Return how users of different services compare, None where all reported to the same ones.

    Parameters
    ----------
    counts : ReportCounts
        All users, G groups.
    parts : sequence of (ReportCounts, G arrays, G numbers)
        Users of one half or of both, with the number of each combination of outputs, and the precision of each group.

    Example
    -------
    >>> from optldp.estimators import estimate_combined_mean
    >>> from optldp.mechanisms import duchi
    >>> from ..counting.counts import Service
    >>> services = [Service("a", duchi([-1.0, 1.0], 1.0)), Service("b", duchi([-1.0, 1.0], 2.0))]
    >>> outputs = np.repeat([[0, -1], [1, -1], [0, 1], [1, 0]], [300, 400, 50, 60], axis=0)
    >>> found = estimate_combined_mean(ReportCounts.from_outputs(services, outputs)).participation
    >>> found.services, found.n.tolist(), found.doubtful
    ((('a',), ('a', 'b')), [700, 110], True)
    """
    if len(counts.groups) < 2:
        return None
    names = tuple(tuple(counts.services[j].name for j in group.services) for group in counts.groups)
    values: dict[tuple[int, ...], list[np.ndarray]] = {group.services: [] for group in counts.groups}
    seen: dict[tuple[int, ...], list[np.ndarray]] = {group.services: [] for group in counts.groups}
    equal = weighed = 0.0
    for part, totals, precisions in parts:
        many = np.array([group.n_users for group in part.groups])
        equal += float(many @ (1 / np.asarray(precisions)))
        weighed += part.n_users**2 / float(many @ np.asarray(precisions))
        for group, mine in zip(part.groups, totals, strict=True):
            values[group.services].append(mine)
            seen[group.services].append(group.counts)
    n = np.array([group.n_users for group in counts.groups])
    means, errors = np.full((2, n.size), np.nan)
    for g, group in enumerate(counts.groups):
        mine, times = np.concatenate(values[group.services]), np.concatenate(seen[group.services])
        means[g] = times @ mine / n[g]
        if n[g] > 1:
            errors[g] = math.sqrt(times @ (mine - means[g]) ** 2 / (n[g] - 1) / n[g])
    return Participation(names, n, means, errors, math.sqrt(equal / weighed))


def user_precision(
    tables: Sequence[TabulatedMechanism], values: Sequence[np.ndarray], grid: InputGrid, prior: np.ndarray
) -> float:
    r"""Return one over the expected variance of a user's number: sum_j E_p Var(d_j | x) + Var_p(x).

    Parameters
    ----------
    tables : sequence of TabulatedMechanism
        Of the user's services.
    values : sequence of (m_j,) ndarray of float
        What each output of each table adds to the user's number, which is unbiased.
    grid : InputGrid
        K components.
    prior : (K,) ndarray of float
        Weights of the components, summing to one.

    Example
    -------
    >>> from ...mechanisms.families.duchi import duchi
    >>> table, grid = duchi([-1.0, 1.0], 1.0), InputGrid.knots([-1.0, 1.0])
    >>> round(1 / user_precision([table], [table.low], grid, np.array([0.5, 0.5])), 4)  # reports are +-2.164
    4.6827
    """
    points = grid.points
    spread = prior @ points**2 - (prior @ points) ** 2
    for table, added in zip(tables, values, strict=True):
        rows = grid.rows(table)
        spread += prior @ (rows @ added**2 - (rows @ added) ** 2)
    return float(1.0 / spread)


def weighed_sample(counts: ReportCounts, totals: Sequence[np.ndarray], precisions: Sequence[float]) -> Sample:
    r"""Return the sample whose mean is that of the users' numbers, weighed by the precision of their group.

    Given which users reported to which services, the variance of sum_u v_u z_u / sum_u v_u is that of the average of

        z + (v_u / mean v) (z_u - z),    z the weighted mean,

    which are what the sample holds.  Its width is infinite: the bounds for any number of users are not for it.

    Parameters
    ----------
    counts : ReportCounts
        G groups.
    totals : sequence of (R_g,) ndarray of float
        The users' numbers z.
    precisions : sequence of float
        v of each group, positive.

    Source: Cochran (1977), "Sampling techniques", chapter 5, on weights of strata with one mean.

    Example
    -------
    >>> from ...mechanisms.families.duchi import duchi
    >>> from ..counting.counts import Service
    >>> services = [Service("a", duchi([-1.0, 1.0], 1.0)), Service("b", duchi([-1.0, 1.0], 2.0))]
    >>> counts = ReportCounts.from_outputs(services, [[0, -1], [1, -1], [-1, 0], [-1, 0]])
    >>> weighed_sample(counts, [np.array([2.0, 4.0]), np.array([1.0])], [1.0, 3.0]).mean
    1.5
    """
    numbers, seen = np.concatenate(totals), np.concatenate([group.counts for group in counts.groups])
    weight = np.repeat(precisions, [len(group.counts) for group in counts.groups])
    share = weight * seen.sum() / (seen @ weight)
    mean = float(seen @ (share * numbers)) / float(seen.sum())
    return Sample.of(mean + share * (numbers - mean), seen, np.inf)
