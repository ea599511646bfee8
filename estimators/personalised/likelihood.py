r"""The likelihood of personalised reports: a mixture over pairs of a level and a value.

With shares rho of the t levels and weights w of the K values, independent of each other, a pair o of reports has
probability

    m_o = sum_i sum_j rho_i w_j L[o, i, j],   L[o, i, j] = T[i, l_o] Pr(y_o | i, j),

T[i, l] the probability that level i is reported as l. It is linear in rho for fixed w and in w for fixed rho, so
all that is needed are the rows A = sum_j w_j L[:, :, j] and B = sum_i rho_i L[:, i, :], never L itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.statistics import Supports, as_supports
from .counts import PersonalisedCounts
from .reports import categories_of

BLOCK_NUMBERS = 2**17
"""Numbers of a block of rows, 1 MiB: it stays in a core's cache, and memory is not given back and asked for again."""


class PersonalisedLikelihood(ABC):
    """Counts of R pairs of reports and their probabilities under t levels and K values.

    Parameters
    ----------
    counts : (R,) array_like of float
    n_levels, n_values : int
        t and K.
    """

    offset: float = 0.0
    """What is added to the log-likelihood for factors of a pair that were taken out."""

    def __init__(self, counts: ArrayLike, n_levels: int, n_values: int) -> None:
        self.counts = np.array(counts, dtype=np.float64)
        self.total = float(self.counts.sum())
        self.n_levels, self.n_values = n_levels, n_values

    @abstractmethod
    def rows(self, part: slice, shares: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return A (R', t) and B (R', K) for a part of the pairs."""

    @abstractmethod
    def gather(self, part: slice, values: np.ndarray) -> np.ndarray:
        """Return sum_o v_o L[o, i, j] (t, K) over a part of the pairs."""

    def parts(self) -> Iterator[slice]:
        """Yield slices that cover all pairs, each with rows of a moderate size."""
        step = max(1, BLOCK_NUMBERS // (self.n_levels + self.n_values))
        for start in range(0, self.counts.size, step):
            yield slice(start, start + step)

    def mix(self, shares: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return m (R,), the probability of each pair up to a factor of its own."""
        return np.concatenate([self.rows(part, shares, weights)[0] @ shares for part in self.parts()])

    def loglik(self, shares: np.ndarray, weights: np.ndarray) -> float:
        """Return the log-likelihood, in nats."""
        with np.errstate(divide="ignore"):
            return float(np.sum(self.counts * np.log(self.mix(shares, weights)))) + self.offset


class SupportPersonalised(PersonalisedLikelihood):
    r"""Pure protocols: Pr(y | i, j) = c_i(y) r_i^S, S whether report y supports category j.

    The largest c_i of a pair is taken out, so that many bits do not underflow; supports stay packed, R (8 t + K / 8)
    bytes in all.
    """

    def __init__(self, counts: PersonalisedCounts, levels: Sequence[Supports]) -> None:
        super().__init__(counts.counts, len(levels), levels[0].size)
        self._bits = levels[0].support(counts.reports)
        logs = np.stack([level.log_elsewhere(counts.reports) for level in levels], axis=1)
        most = logs.max(axis=1)
        self._base = np.exp(logs - most[:, None]) * counts.mechanism.level_response.T[counts.levels]
        self._rise = np.array([level.support_ratio for level in levels]) - 1.0
        self.offset = float(counts.counts @ most)

    def _unpacked(self, part: slice) -> np.ndarray:
        return np.unpackbits(self._bits[part], axis=1, count=self.n_values).astype(np.float64)

    def rows(self, part: slice, shares: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        bits, base = self._unpacked(part), self._base[part]
        by_level = base * (weights.sum() + np.outer(bits @ weights, self._rise))
        bits *= (base @ (shares * self._rise))[:, None]
        bits += (base @ shares)[:, None]
        return by_level, bits

    def gather(self, part: slice, values: np.ndarray) -> np.ndarray:
        weighted = self._base[part] * values[:, None]
        return weighted.sum(axis=0)[:, None] + self._rise[:, None] * (weighted.T @ self._unpacked(part))


class TabledPersonalised(PersonalisedLikelihood):
    """Any mechanism, by the probabilities of the D distinct reports under every level and value: t D K numbers.

    Parameters
    ----------
    levels : (R,) ndarray of int
        Reported levels.
    which : (R,) ndarray of int
        Which of the D reports each is.
    counts : (R,) ndarray
    response : (t, t) ndarray
        Probability of each reported level for each level.
    laws : (t, D, K) ndarray
    """

    def __init__(
        self, levels: np.ndarray, which: np.ndarray, counts: ArrayLike, response: np.ndarray, laws: np.ndarray
    ) -> None:
        super().__init__(counts, laws.shape[0], laws.shape[2])
        self._response, self._which, self._laws = response.T[levels], which, laws

    def laws_of_reports(self) -> np.ndarray:
        """Return the probability of each pair of reports, up to a factor of its own, by level and value: (t, K, R)."""
        return np.moveaxis(self._laws[:, self._which], 1, 2) * self._response.T[:, None]

    def rows(self, part: slice, shares: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        response, which = self._response[part], self._which[part]
        by_level = response * (self._laws @ weights).T[which]
        by_value = np.zeros((which.size, self.n_values))
        for law, share, column in zip(self._laws, shares, response.T, strict=True):
            by_value += (share * column)[:, None] * law[which]
        return by_level, by_value

    def gather(self, part: slice, values: np.ndarray) -> np.ndarray:
        which, many = self._which[part], self._laws.shape[1]
        columns = (self._response[part] * values[:, None]).T
        sums = np.array([np.bincount(which, column, many) for column in columns])  # (t, D)
        return np.einsum("id,idk->ik", sums, self._laws)


def personalised_likelihood(counts: PersonalisedCounts) -> PersonalisedLikelihood:
    """Return the likelihood of the reports of categories.

    By what reports support, of levels whose reports do; else by the laws of all distinct reports, t D K numbers.

    Raises
    ------
    InputError
        No reports, or reports of numbers.

    Example
    -------
    >>> from optldp.mechanisms.combinators.personalised import PersonalisedMechanism, PersonalisedReports
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> made = PersonalisedMechanism([categorical_grr(["yes", "no"], e) for e in (0.5, 1.0)], 1.0)
    >>> counts = PersonalisedCounts.from_reports(made, PersonalisedReports(np.array([0, 1]), np.array([1, 0])))
    >>> even = np.array([0.5, 0.5])
    >>> personalised_likelihood(counts).mix(even, even).round(12)
    array([0.25, 0.25])
    """
    counts.require_reports()
    categories_of(counts.mechanism)  # raises where values are numbers
    levels = counts.mechanism.levels
    if supports := [made for level in levels if (made := as_supports(level.statistic)) is not None]:
        return SupportPersonalised(counts, supports)
    distinct, which = np.unique(counts.reports, return_inverse=True)
    laws = np.array([level.pmf(distinct) for level in levels])
    return TabledPersonalised(counts.levels, which, counts.counts, counts.mechanism.level_response, laws)
