r"""Whether the reports of a table are distributed alike on all days: a test of homogeneity.

Of whole outputs it is the likelihood ratio of one law for all days to one for each, compared with chi-squared. Of sums
of bits it is the largest deviation of a bit's share on a day from its share on all, of as many as there are
(Bonferroni), as bits of one report depend on each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
from scipy.special import chdtrc, ndtr, xlogy

from ...mechanisms.errors import InputError

LEAST_EXPECTED = 5.0
"""Users whom a cell must expect on each day for chi-squared to hold; rarer outputs count together."""


@dataclass(frozen=True)
class Drift:
    """How much days differ.

    Attributes
    ----------
    p_value : float, optional
        Upper bound on the probability of such different days if nothing changed; None for fewer than two days.
    day : date, optional
        The day that differs most from all others together.
    statistic : float
        The likelihood ratio, or the largest deviation in standard errors.

    Example
    -------
    >>> from datetime import date
    >>> from optldp.estimators.days import Drift
    >>> Drift(0.5, date(2026, 5, 1), 1.25).p_value
    0.5
    """

    p_value: float | None
    day: date | None
    statistic: float


def drift_of(days: Sequence[date], counts: np.ndarray, users: np.ndarray | None = None) -> Drift:
    """Return whether counts of days differ by more than chance.

    Parameters
    ----------
    days : sequence of date
        D of them.
    counts : (D, m) ndarray of int
        Users with each output, or supports of each bit.
    users : (D,) ndarray of int, optional
        Users of each day, where counts are sums of bits.

    Returns
    -------
    drift : Drift

    Raises
    ------
    InputError
        Other shapes.

    Example
    -------
    >>> from datetime import date
    >>> import numpy as np
    >>> from optldp.estimators.days import drift_of
    >>> days = [date(2026, 5, 1), date(2026, 5, 2)]
    >>> alike = drift_of(days, np.array([[500, 500], [510, 490]]))
    >>> changed = drift_of(days, np.array([[500, 500], [900, 100]]))
    >>> alike.p_value > 0.1, changed.p_value < 1e-9
    (True, True)
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or len(table) != len(days):
        raise InputError(f"counts must have a row for each of {len(days)} days, got shape {table.shape}")
    seen = (table.sum(axis=1) if users is None else np.asarray(users)) > 0
    kept, table = [day for day, here in zip(days, seen, strict=True) if here], table[seen]
    if len(kept) < 2:
        return Drift(None, None, 0.0)
    if users is not None:
        return _of_bits(kept, table, np.asarray(users, dtype=np.float64)[seen])
    table = _pooled(table)
    if table.shape[1] < 2:
        return Drift(None, None, 0.0)
    total, each = table.sum(axis=0), table.sum(axis=1)
    expected = np.outer(each, total) / total.sum()
    by_day = 2.0 * (xlogy(table, table) - xlogy(table, expected)).sum(axis=1)
    statistic = float(by_day.sum())
    p_value = float(chdtrc((len(kept) - 1) * (table.shape[1] - 1), max(statistic, 0.0)))
    away = ((table - expected) ** 2 / expected).sum(axis=1) / (1.0 - each / each.sum())
    return Drift(p_value, kept[int(np.argmax(away))], statistic)


def _pooled(table: np.ndarray) -> np.ndarray:
    """Counts whose rare outputs, by their share on all days, are counted together."""
    share = table.sum(axis=0) / table.sum()
    rare = share * table.sum(axis=1).min() < LEAST_EXPECTED
    pooled = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    return pooled[:, pooled.sum(axis=0) > 0]


def _of_bits(days: Sequence[date], sums: np.ndarray, users: np.ndarray) -> Drift:
    others = users.sum() - users
    mine, rest = sums / users[:, None], (sums.sum(axis=0) - sums) / others[:, None]
    share = sums.sum(axis=0) / users.sum()
    error = np.sqrt(share * (1 - share) * (1 / users + 1 / others)[:, None])
    away = np.divide(np.abs(mine - rest), error, out=np.zeros_like(mine), where=error > 0)
    largest = float(away.max(initial=0.0))
    p_value = float(min(1.0, 2.0 * ndtr(-largest) * away.size))
    return Drift(p_value, days[int(np.argmax(away.max(axis=1)))], largest)
