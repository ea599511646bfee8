"""What figures ask of the results that they draw: results stand above them, and call them by their `plot`."""

from __future__ import annotations

from typing import Any, Protocol

from ...mechanisms import TabulatedMechanism


class VarianceRow(Protocol):
    """A method's variances at one budget; None for all where it failed.

    Rows of a sweep also have `prior`, `lower_bound` and `program_variance`, those of bounds `continuum_bound`.
    """

    @property
    def method(self) -> str: ...
    @property
    def epsilon(self) -> float: ...
    @property
    def expected_variance(self) -> float | None: ...
    @property
    def worst_case_variance(self) -> float | None: ...
    @property
    def ratio_to_optimal(self) -> float | None: ...


class ValueRow(Protocol):
    """A mechanism's value at one budget by an objective, and, in the row of the best, the certified bound."""

    @property
    def objective(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def epsilon(self) -> float: ...
    @property
    def value(self) -> float | None: ...
    @property
    def bound(self) -> float | None: ...


class WeightedDesign(Protocol):
    """A table made against the worst case with a weight, `objective.worst`, and the certified bound of that."""

    @property
    def mechanism(self) -> TabulatedMechanism: ...
    @property
    def epsilon(self) -> float: ...
    @property
    def objective(self) -> Any: ...
    @property
    def bound(self) -> float: ...
    @property
    def evidence(self) -> Any: ...
    @property
    def worst_case_variance(self) -> float: ...
