"""What each report adds to an unbiased estimate: one number of a table of numbers, K numbers of categories."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property, singledispatch

import numpy as np

from ...mechanisms.categorical.mechanism import CategoricalMechanism
from ...mechanisms.errors import InputError, unwired
from ...mechanisms.table.table import TabulatedMechanism
from ..frequencies.decoder import frequency_decoder
from ..means.decoder import MeanDecoder, mean_decoder
from ..means.decoding import plain_decoder
from ..means.noise import MechanismNoise
from .staged_reports import Mechanism
from .tally import Tally
from .value_scatter import ValueScatter


class ReportNumbers(ABC):
    """Unbiased numbers for reports, whose weighted average is the estimate."""

    @abstractmethod
    def average(self, tally: Tally, shares: np.ndarray) -> np.ndarray:
        """Return the average (K,) of the numbers of a tally's distinct reports with these shares (R,), of sum one."""

    @abstractmethod
    def require_comparable(self, other: ReportNumbers) -> None:
        """Raise InputError unless an estimate from the other ones can be taken from one of these."""

    @abstractmethod
    def products(self, first: Tally, other: ReportNumbers, second: Tally, shares: np.ndarray) -> np.ndarray:
        """Return the average (K,) of the products of the numbers of pairs of reports with these shares (R,)."""


ONE_OF_EACH = "a difference is of two means or of two lists of frequencies, got one of each"


class MeanNumbers(ReportNumbers):
    """One number a report, as `estimate_mean` decodes it."""

    def __init__(self, mechanism: TabulatedMechanism) -> None:
        self.mechanism = mechanism
        self.decoder = mean_decoder(mechanism)
        self._by_output: np.ndarray | None = self.decoder.values
        if self._by_output is None and mechanism.is_discrete:
            self._by_output = (mechanism.low - self.decoder.shift) / self.decoder.scale

    def require_comparable(self, other: ReportNumbers) -> None:
        if not isinstance(other, MeanNumbers):
            raise InputError(ONE_OF_EACH)
        units = [made.mechanism.units for made in (self, other)]
        if units[0] != units[1]:
            raise InputError(f"a difference needs the same units, got {units[0]!r} and {units[1]!r}")

    def scatter(self, tallies: Sequence[Tally]) -> ValueScatter:
        """Return how the values of all users scatter."""
        outputs = sum((self.outputs(tally) for tally in tallies), np.zeros(self.mechanism.low.size))
        return ValueScatter(self.mechanism, outputs, sum(tally.effective_n for tally in tallies))

    def outputs(self, tally: Tally) -> np.ndarray:
        """Return with what weight (m,) each output was reported."""
        return np.bincount(tally.reports, tally.weights, self.mechanism.low.size)

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
        self.mechanism, self.decoder = mechanism, frequency_decoder(mechanism)

    def require_comparable(self, other: ReportNumbers) -> None:
        if not isinstance(other, CategoryNumbers):
            raise InputError(ONE_OF_EACH)
        if self.mechanism.categories.labels != other.mechanism.categories.labels:
            raise InputError("a difference needs the same categories in the same order, got others in the second")

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


@singledispatch
def report_numbers(mechanism: Mechanism) -> MeanNumbers | CategoryNumbers:
    """Return the unbiased numbers of a mechanism's reports; InputError for one that has none.

    Example
    -------
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> tally = Tally(duchi([-1.0, 1.0], 1.0), np.array([0, 1]), np.ones(2, int), np.ones(2), np.ones(2))
    >>> report_numbers(tally.mechanism).average(tally, np.array([0.5, 0.5])).round(6)
    array([0.])
    """
    raise unwired("mechanism", mechanism)


def category_numbers(tally: Tally) -> CategoryNumbers:
    """Return those of a tally of categories; InputError for one of numbers.

    Example
    -------
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> one = np.ones(1, int)
    >>> category_numbers(Tally(categorical_grr("ab", 1.0), one, one, one, one)).mechanism.categories.labels
    ('a', 'b')
    """
    numbers = report_numbers(tally.mechanism)
    if not isinstance(numbers, CategoryNumbers):
        raise InputError(f"reports must be of categories, got those of {tally.mechanism!r:.60}")
    return numbers


report_numbers.register(TabulatedMechanism, MeanNumbers)
report_numbers.register(CategoricalMechanism, CategoryNumbers)
