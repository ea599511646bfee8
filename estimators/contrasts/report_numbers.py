"""What each report adds to an unbiased estimate: one number of a table of numbers, K numbers of categories."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np

from ...mechanisms.categorical.mechanism import CategoricalMechanism
from ...mechanisms.errors import unwired
from ...mechanisms.table.table import TabulatedMechanism
from ..frequencies.decoder import frequency_decoder
from ..means.decoder import MeanDecoder, mean_decoder
from ..means.decoding import plain_decoder
from ..means.noise import MechanismNoise
from .staged_reports import Mechanism
from .tally import Tally


class ReportNumbers(ABC):
    """Unbiased numbers for reports, whose weighted average is the estimate."""

    @abstractmethod
    def average(self, tally: Tally, shares: np.ndarray) -> np.ndarray:
        """Return the average (K,) of the numbers of a tally's distinct reports with these shares (R,), of sum one."""

    @abstractmethod
    def products(self, first: Tally, other: ReportNumbers, second: Tally, shares: np.ndarray) -> np.ndarray:
        """Return the average (K,) of the products of the numbers of pairs of reports with these shares (R,)."""


class MeanNumbers(ReportNumbers):
    """One number a report, as `estimate_mean` decodes it."""

    def __init__(self, mechanism: TabulatedMechanism) -> None:
        self.mechanism = mechanism
        self.decoder = mean_decoder(mechanism)
        self._by_output: np.ndarray | None = self.decoder.values
        if self._by_output is None and mechanism.is_discrete:
            self._by_output = (mechanism.low - self.decoder.shift) / self.decoder.scale

    def of(self, tally: Tally) -> np.ndarray:
        """Return the numbers (R,)."""
        if self._by_output is None and tally.reported is not None:
            return (tally.reported - self.decoder.shift) / self.decoder.scale
        if self._by_output is None:
            self._by_output = MeanDecoder(self.mechanism, "decoder", values=plain_decoder(self.mechanism)).values
        assert self._by_output is not None
        return self._by_output[tally.reports]

    @cached_property
    def noise(self) -> tuple[float, np.ndarray]:
        """The least variance of a number whatever the value, and for each output an estimate of it."""
        decoder = self.decoder
        if self._by_output is not None:
            decoder = MeanDecoder(self.mechanism, "decoder", values=self._by_output)
        return MechanismNoise(self.mechanism).of_decoder(decoder)

    def average(self, tally: Tally, shares: np.ndarray) -> np.ndarray:
        return np.array([shares @ self.of(tally)])

    def products(self, first: Tally, other: ReportNumbers, second: Tally, shares: np.ndarray) -> np.ndarray:
        assert isinstance(other, MeanNumbers)
        return np.array([shares @ (self.of(first) * other.of(second))])


class CategoryNumbers(ReportNumbers):
    """K numbers a report, as `frequency_decoder` has them."""

    def __init__(self, mechanism: CategoricalMechanism) -> None:
        self.decoder = frequency_decoder(mechanism)

    def average(self, tally: Tally, shares: np.ndarray) -> np.ndarray:
        return self.decoder.average(tally.reports, shares)

    def products(self, first: Tally, other: ReportNumbers, second: Tally, shares: np.ndarray) -> np.ndarray:
        assert isinstance(other, CategoryNumbers)
        total = 0.0
        for start in range(0, len(shares), BLOCK):
            rows = slice(start, start + BLOCK)
            both = self.decoder.numbers(first.reports[rows]) * other.decoder.numbers(second.reports[rows])
            total = total + shares[rows] @ both
        return np.asarray(total)


BLOCK = 2**12
"""Pairs of reports whose numbers are written down at a time."""


def report_numbers(mechanism: Mechanism) -> MeanNumbers | CategoryNumbers:
    """Return the unbiased numbers of a mechanism's reports; InputError for one that has none.

    Example
    -------
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> tally = Tally(duchi([-1.0, 1.0], 1.0), np.array([0, 1]), np.ones(2, int), np.ones(2), np.ones(2))
    >>> report_numbers(tally.mechanism).average(tally, np.array([0.5, 0.5])).round(6)
    array([0.])
    """
    if isinstance(mechanism, TabulatedMechanism):
        return MeanNumbers(mechanism)
    if isinstance(mechanism, CategoricalMechanism):
        return CategoryNumbers(mechanism)
    raise unwired("mechanism", mechanism)
