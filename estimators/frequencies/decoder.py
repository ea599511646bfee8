"""Unbiased frequencies: what each report adds to the estimate of each category, and how the sum scatters.

A decoder gives every report a number for each category whose mean, over the mechanism, is one for the user's own
category and zero for all others.  Their average over the users is an unbiased estimate of the shares of the categories
among these users, whatever the shares are, and all its scatter is the mechanism's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from ...mechanisms.categorical.mechanism import CategoricalMechanism
from ...mechanisms.errors import InputError
from ...mechanisms.statistics import Outputs, Supports, unread
from ...solvers.likelihood.bits import BitLikelihood, bit_sums
from ..means.unbiasing import UNBIASED_TOLERANCE, normalised
from .category_counts import CategoryCounts
from .support_counts import SupportCounts


class FrequencyDecoder(ABC):
    """Unbiased numbers for every report and category."""

    @abstractmethod
    def frequencies(self, counts: CategoryCounts | SupportCounts) -> np.ndarray:
        """Return the unbiased estimate (K,); its entries may be negative, or not add up to one."""

    @abstractmethod
    def average(self, reports: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """Return the average (K,) of the numbers of some reports, with a share (R,) for each, of sum one."""

    @abstractmethod
    def numbers(self, reports: np.ndarray) -> np.ndarray:
        """Return the numbers (R, K) of some reports."""

    @abstractmethod
    def totals(self, reports: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Return the sum (R,) of each report's numbers for some of the categories, (K,) bool."""

    @abstractmethod
    def variances(self, frequencies: np.ndarray) -> np.ndarray:
        """Return the variance (K,) of one user's number for each category, averaged over users of these frequencies.

        Given the users' categories: n users' average has 1 / n of it.
        """

    @abstractmethod
    def covariance(self, frequencies: np.ndarray) -> np.ndarray:
        """Return the covariance (K, K) whose diagonal `variances` is."""

    @abstractmethod
    def second_moments(self, frequencies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean squares (K,) of the number for each category: for its own users, and for all others'.

        The others have these frequencies, of which none is one.
        """

    @abstractmethod
    def noise(self) -> np.ndarray:
        """Return the variance (K,) for each category if no user has it, and all others alike."""

    @abstractmethod
    def extremes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the least and the largest number (K,) that any report is given for each category."""

    @abstractmethod
    def largest_total(self) -> float:
        """Return a bound on how far the numbers of two reports lie apart, summed over categories."""


class SupportDecoder(FrequencyDecoder):
    """(1 - q*) / (p* - q*) for categories that a report of a pure protocol supports, -q* / (p* - q*) for the others.

    Source: Wang, Blocki, Li and Jha (2017), equations (2) and (3), the latter given the users' categories.
    """

    def __init__(self, supports: Supports) -> None:
        self._supports, self._size = supports, supports.size

    def frequencies(self, counts: CategoryCounts | SupportCounts) -> np.ndarray:
        p, q = self._supports.own_support, self._supports.other_support
        return (counts.support_counts() / counts.n_users - q) / (p - q)

    def average(self, reports: np.ndarray, shares: np.ndarray) -> np.ndarray:
        p, q = self._supports.own_support, self._supports.other_support
        return (bit_sums(self._supports.support(reports), shares)[: self._size] - q) / (p - q)

    def numbers(self, reports: np.ndarray) -> np.ndarray:
        p, q = self._supports.own_support, self._supports.other_support
        return (np.unpackbits(self._supports.support(reports), axis=1, count=self._size) - q) / (p - q)

    def totals(self, reports: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        p, q = self._supports.own_support, self._supports.other_support
        both = self._supports.support(reports) & np.packbits(chosen)
        return (np.bitwise_count(both).sum(axis=1, dtype=np.int64) - q * np.count_nonzero(chosen)) / (p - q)

    def variances(self, frequencies: np.ndarray) -> np.ndarray:
        return np.asarray(self._supports.frequency_variance(frequencies))

    def covariance(self, frequencies: np.ndarray) -> np.ndarray:
        variances = self.variances(frequencies)
        made = self._supports
        p, q = made.own_support, made.other_support
        if made.both_supported is not None:
            own, two = made.both_supported
            ends = np.add.outer(frequencies, frequencies)
            both = ends * (own - p * q) + (frequencies.sum() - ends) * (two - q * q)
            np.fill_diagonal(both, variances * (p - q) ** 2)
            return both / (p - q) ** 2
        reports = made.all_reports()
        bits, elsewhere = made.support(reports), made.log_elsewhere(reports)
        weights = np.exp(elsewhere - elsewhere.max())
        likelihood = BitLikelihood(bits, np.ones(len(bits)), self._size, low=1.0, high=made.support_ratio)
        chance = likelihood.mix(frequencies) * weights
        chance /= chance.sum()
        both = BitLikelihood(bits, chance, self._size, low=0.0, high=1.0).curvature(chance)
        # Less the products of a user's own means, q + (p - q) for the own category and q for others.
        means = q * q + q * (p - q) * np.add.outer(frequencies, frequencies) + (p - q) ** 2 * np.diag(frequencies)
        return (both - means) / (p - q) ** 2

    def second_moments(self, frequencies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        alone, nobody = (self.variances(np.full(self._size, share)) for share in (1.0, 0.0))
        return alone + 1.0, nobody

    def noise(self) -> np.ndarray:
        return self.variances(np.zeros(self._size))

    def extremes(self) -> tuple[np.ndarray, np.ndarray]:
        p, q = self._supports.own_support, self._supports.other_support
        return np.full(self._size, -q / (p - q)), np.full(self._size, (1 - q) / (p - q))

    def largest_total(self) -> float:
        """Each category that is supported by one of two reports alone adds 1 / (p* - q*)."""
        made = self._supports
        return made.most_apart / (made.own_support - made.other_support)


class TableDecoder(FrequencyDecoder):
    """The decoder D (K, m) of a table P with P D^T = 1 whose total variance is least for a prior fixed in advance.

    With W = diag(prior^T P), D = (P W^-1 P^T)^-1 P W^-1, weighted least squares; computed from the triangular factor of
    W^-1/2 P^T, O(K^2 m).  Weights from the reports themselves would bias it.

    Raises InputError for a table whose reports cannot tell the categories apart.
    """

    def __init__(self, outputs: Outputs, prior: np.ndarray) -> None:
        self._table = outputs.law
        average = prior @ self._table
        used = average > 0
        if (many := int(np.count_nonzero(used))) < len(self._table):
            raise InputError(_not_told(many, len(self._table), ""))
        root = np.sqrt(average[used])
        basis, factor = np.linalg.qr((self._table[:, used] / root).T)
        self._values = np.zeros_like(self._table)
        if len(factor) == len(self._table) and np.diag(factor).all():
            self._values[:, used] = solve_triangular(factor, basis.T) / root
        off = float(np.abs(self._table @ self._values.T - np.eye(len(self._table))).max())
        if not off <= UNBIASED_TOLERANCE:
            raise InputError(_not_told(many, len(self._table), f" (the best decoder found is off by {off:.2g})"))

    def frequencies(self, counts: CategoryCounts | SupportCounts) -> np.ndarray:
        assert isinstance(counts, CategoryCounts)  # a table has no support counts
        return self.average(counts.reports, counts.counts / counts.n_users)

    def average(self, reports: np.ndarray, shares: np.ndarray) -> np.ndarray:
        return self._values[:, reports] @ shares

    def numbers(self, reports: np.ndarray) -> np.ndarray:
        return self._values[:, reports].T

    def totals(self, reports: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        return self._values[chosen].sum(axis=0)[reports]

    def variances(self, frequencies: np.ndarray) -> np.ndarray:
        return np.maximum(self._values**2 @ (frequencies @ self._table) - frequencies, 0.0)

    def covariance(self, frequencies: np.ndarray) -> np.ndarray:
        return (self._values * (frequencies @ self._table)) @ self._values.T - np.diag(frequencies)

    def second_moments(self, frequencies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        squares = self._values**2
        own = np.einsum("km,km->k", self._table, squares)
        return own, (squares @ (frequencies @ self._table) - frequencies * own) / (1.0 - frequencies)

    def noise(self) -> np.ndarray:
        others = (self._table.sum(axis=0) - self._table) / (len(self._table) - 1)
        return np.einsum("km,km->k", self._values**2, others)

    def extremes(self) -> tuple[np.ndarray, np.ndarray]:
        made = self._values[:, self._table.max(axis=0) > 0]
        return made.min(axis=1), made.max(axis=1)

    def largest_total(self) -> float:
        """Twice the farthest from the medians, by the triangle inequality; attained by randomised response."""
        made = self._values[:, self._table.max(axis=0) > 0]
        return 2.0 * float(np.abs(made - np.median(made, axis=1)[:, None]).sum(axis=0).max())


def _not_told(outputs: int, categories: int, how: str) -> str:
    return (
        f"an unbiased estimate must be possible, but the table's {outputs} outputs do not tell {categories} categories "
        f"apart{how}: use method mle"
    )


def frequency_decoder(mechanism: CategoricalMechanism, prior: ArrayLike | None = None) -> FrequencyDecoder:
    """Return the decoder of a mechanism.

    Parameters
    ----------
    mechanism : CategoricalMechanism
    prior : (K,) array_like of float, optional
        For tables: frequencies at which the total variance is made least; non-negative with a positive sum. The
        estimate is unbiased at all others too. Default: even.

    Returns
    -------
    decoder : FrequencyDecoder
        K unbiased numbers for each report, whose average is the frequencies.

    Raises
    ------
    InputError
        A prior for a pure protocol (whose decoder has no choice) or an invalid one, or a table whose reports cannot
        tell the categories apart.

    Example
    -------
    >>> from optldp.estimators import CategoryCounts
    >>> from optldp.estimators.frequencies import frequency_decoder
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> decoder = frequency_decoder(categorical_grr(["a", "b", "c"], 1.0))
    >>> decoder.frequencies(CategoryCounts.from_reports(categorical_grr("abc", 1.0), [0, 0, 0, 1])).round(3)
    array([ 1.477,  0.105, -0.582])
    """
    size = len(mechanism.categories)
    match mechanism.statistic:
        case Outputs() as outputs:
            return TableDecoder(outputs, normalised("prior", size, np.ones(size) if prior is None else prior))
        case Supports() as supports:
            if prior is not None:
                raise InputError(f"a prior is for tables, got one for {mechanism!r}: leave it out")
            return SupportDecoder(supports)
        case statistic:
            raise unread(statistic)
