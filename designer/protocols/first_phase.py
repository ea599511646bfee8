"""What the first phase reports through, and what its reports say of the values: a table of numbers, or an oracle.

A table's reports fit a distribution on the knots and, where some decoding is unbiased, a mean.  An oracle's reports
are of the knots that values were rounded to: frequencies of the knots, and the mean that these have.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ...estimators.counting.counts import ReportCounts
from ...estimators.distributions.estimation import estimate_distribution
from ...estimators.distributions.least_absolute import least_absolute
from ...estimators.estimate import NumberEstimate
from ...estimators.frequencies.category_counts import CategoryCounts
from ...estimators.frequencies.estimation import estimate_frequencies
from ...estimators.input_grid import InputGrid
from ...estimators.means.mean import estimate_mean
from ...estimators.means.unbiasing import affine_unbiasing, optimal_decoder
from ...estimators.methods import OF_ORACLE, FrequencyMethod, PriorMethod
from ...mechanisms import FAMILIES, InputError, TabulatedMechanism, make_exact
from ...mechanisms.categorical.mechanism import CategoricalMechanism
from ...mechanisms.client.budget_token import unproved
from ...mechanisms.combinators.rounded_oracle import RoundedOracle
from ...mechanisms.errors import wired
from ...mechanisms.promise import Pure
from ...mechanisms.spaces.categories import Categories
from ..designs.design import design
from ..methods.oracles import ORACLES
from ..priors.prior import Prior

ORACLES_BY_NAME = tuple(name for name in ORACLES if name not in ("auto", "grr"))
"""Oracles that are not among the tables of numbers: "grr" is both, and the same."""

DESIGNED = "designed"
"""The optimal unbiased table of a uniform prior."""

FIRST_TABLES = (DESIGNED, *FAMILIES, *ORACLES_BY_NAME)
"""What the first phase can report through, beside a mechanism of one's own."""


OF_FREQUENCIES: dict[PriorMethod, FrequencyMethod] = {"em": "mle", "mr": "mr"}
"""Ways from an oracle's reports to a distribution that estimators of frequencies have, and what they call them."""


class FallbackWarning(UserWarning):
    """Another estimator took the place of the one that was asked for, of which the prior that is learnt cannot tell.

    Example
    -------
    >>> import warnings
    >>> from optldp.designer.protocols.first_phase import FallbackWarning
    >>> warnings.filterwarnings("error", category=FallbackWarning)  # to stop there instead
    """


@dataclass(frozen=True, eq=False)
class FirstTable:
    """The first phase through a table of numbers."""

    mechanism: TabulatedMechanism

    @property
    def drawn(self) -> TabulatedMechanism:
        """What a picture of it is of."""
        return self.mechanism

    def weights(self, reports: ArrayLike, knots: np.ndarray, estimator: PriorMethod) -> np.ndarray:
        """Return the distribution (n,) on the knots; InputError for reports that the table cannot make."""
        counts = ReportCounts.from_reports(self.mechanism, reports, name="first phase")
        grid = InputGrid.knots(knots)
        if estimator != "least-absolute":
            found = estimate_distribution(counts, method=estimator, grid=grid)
            if found.instead_of:
                told = f"{found.instead_of} found no fit of the first reports: {found.method} took its place"
                warnings.warn(told, FallbackWarning, stacklevel=2)
            return found.value
        rows = grid.rows(self.mechanism)
        seen = np.bincount(self.mechanism.output_index(reports), minlength=rows.shape[1])
        return least_absolute(rows, seen / seen.sum())

    def mean(self, reports: ArrayLike) -> NumberEstimate | None:
        """Return the unbiased mean, None where the table has none.

        It is not decoded for the distribution learnt: that depends on the reports, and the mean would be biased.
        """
        if affine_unbiasing(self.mechanism) is None:
            try:
                optimal_decoder(self.mechanism)
            except InputError:
                return None
        return estimate_mean(ReportCounts.from_reports(self.mechanism, reports))


@dataclass(frozen=True, eq=False)
class FirstOracle:
    """The first phase through an oracle for the knots that values are rounded to."""

    mechanism: RoundedOracle

    @property
    def drawn(self) -> CategoricalMechanism:
        """What a picture of it is of."""
        return self.mechanism.oracle

    def weights(self, reports: ArrayLike, knots: np.ndarray, estimator: PriorMethod) -> np.ndarray:
        """Return the distribution (n,) on the knots; InputError for reports that the oracle cannot make."""
        if estimator not in OF_ORACLE:
            raise InputError(f"estimator must be one of {', '.join(OF_ORACLE)} for an oracle, got {estimator!r}")
        counts = CategoryCounts.from_reports(self.mechanism.oracle, reports)
        if estimator == "least-absolute":
            return least_absolute(np.eye(knots.size), estimate_frequencies(counts).value)
        return estimate_frequencies(counts, method=wired("estimator", OF_FREQUENCIES, estimator)).value

    def mean(self, reports: ArrayLike) -> NumberEstimate | None:
        """Return x . f of the unbiased frequencies f, with its standard error; None beyond 4096 knots."""
        found = estimate_frequencies(CategoryCounts.from_reports(self.mechanism.oracle, reports))
        if found.covariance is None:
            return None
        x = self.mechanism.knots
        return NumberEstimate(float(x @ found.value), float(np.sqrt(x @ found.covariance @ x)), found.n, found.method)


FirstPhase = FirstTable | FirstOracle


@singledispatch
def first_phase(
    asked: Any,
    knots: np.ndarray,
    epsilon: float,
    *,
    units: str,
    tolerance: float,
) -> FirstPhase:
    """Return the first phase that is asked for, by name or as a mechanism; InputError for what cannot be used."""
    if asked not in FIRST_TABLES:
        raise InputError(f"phase_one must be a mechanism or one of {', '.join(FIRST_TABLES)}, got {asked!r}")
    if asked == DESIGNED:
        even = Prior.even(knots, units=units)
        return FirstTable(design(even, epsilon, uniform_share=0.0, tolerance=tolerance).mechanism)
    if asked in ORACLES_BY_NAME:
        return FirstOracle(RoundedOracle(knots, ORACLES[asked](Categories(range(knots.size)), epsilon)))
    family = wired("phase_one", FAMILIES, asked)
    return FirstTable(make_exact(family(knots, epsilon)).mechanism.with_units(units))


@first_phase.register
def _(asked: TabulatedMechanism, knots: np.ndarray, epsilon: float, **_: Any) -> FirstPhase:
    domain = float(knots[0]), float(knots[-1])
    if asked.domain != domain:
        raise InputError(f"the first table's domain must be {domain}, got {asked.domain}")
    return FirstTable(_within(asked, epsilon))


@first_phase.register
def _(asked: CategoricalMechanism, knots: np.ndarray, epsilon: float, **_: Any) -> FirstPhase:
    return FirstOracle(_within(RoundedOracle(knots, asked), epsilon))


M = TypeVar("M", TabulatedMechanism, RoundedOracle)


def _within(mechanism: M, epsilon: float) -> M:
    if fault := unproved(mechanism, Pure(epsilon)):
        raise InputError(f"the first table must keep within epsilon {epsilon:g}: {fault}")
    return mechanism
