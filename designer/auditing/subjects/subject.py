"""What is audited: inputs, the reports that a sampler makes of them, and what is claimed of two inputs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ....mechanisms import TabulatedMechanism
from .events import Columns, Family

SHORT_LINE = 512
"""Bytes of a report that is a number or two, with room to spare."""


class Inputs(ABC):
    """A finite list of inputs to try, numbered from 0, and what is claimed of any two.

    Attributes
    ----------
    weights : (I,) ndarray
        How often each input is tried in the first look at all of them, in proportion.
    claims : (I, I) ndarray
        The log-ratio that is claimed at most, of reports of the first input against those of the second; inf where
        none is, NaN of two that are not compared.
    """

    weights: np.ndarray
    claims: np.ndarray

    @abstractmethod
    def words(self, number: int) -> object:
        """Return an input for people and JSON: a number, or text."""

    @abstractmethod
    def likely_pairs(self, samples: int) -> list[tuple[int, int]]:
        """Return pairs of inputs that should differ most at this many samples, the best first; at least one."""

    def tables(self) -> Mapping[str, TabulatedMechanism]:
        """Return the table that a column's numbers should be outputs of, where there is one."""
        return {}

    def pair_families(self, first: int, second: int) -> Sequence[Family]:
        """Return families that are made for two inputs, such as what the mechanism itself says of them."""
        return []


class Subject(Inputs):
    """A sampler with a finite list of inputs to try, numbered from 0."""

    @abstractmethod
    def draw(self, inputs: np.ndarray) -> Columns:
        """Return the reports of these inputs (N,), in this order, as columns."""


class Kind(Inputs):
    """What inputs and reports are, for one kind of mechanism: the same for every sampler of it."""

    @abstractmethod
    def at(self, mechanism: Any, epsilon: float) -> Kind:
        """Return the same inputs of another mechanism that takes them, such as that of another level."""

    @abstractmethod
    def arguments(self, inputs: np.ndarray) -> tuple:
        """Return what the mechanism's own method of drawing takes for these inputs."""

    @abstractmethod
    def columns(self, reports: object, many: int) -> Columns:
        """Return what that method returned as columns; InputError unless it is `many` reports."""

    def columns_beside_level(self, reports: object, many: int) -> Columns:
        """Return the same of reports as levels of budgets have them beside the level."""
        return self.columns(reports, many)

    @abstractmethod
    def lines(self) -> list[tuple[str, ...]]:
        """Return the lines of text, without their ends, that mean each input, for a sampler that reads such lines."""

    @abstractmethod
    def columns_of_text(self, texts: Sequence[str]) -> Columns:
        """Return lines that such a sampler printed as columns; text that is no report is a report too."""

    @abstractmethod
    def published(self, texts: Sequence[str]) -> list[str | None]:
        """Return the one spelling of the report that each text is read as (docs/report-format.md); None for none."""

    @abstractmethod
    def foreign(self, columns: Columns, mechanism: Any = None) -> np.ndarray:
        """Return which of these reports the mechanism, or another one for the same inputs, cannot make, (N,) bool."""

    def readable(self, columns: Columns) -> bool:
        """Return whether any line of text was a report at all."""
        return not columns["no report"].all()

    @property
    def places(self) -> int:
        """Bits of a report, or places of keys: what an audit costs grows with them."""
        return 1

    @property
    def longest_line(self) -> int:
        """Bytes that a report as text may have, on average."""
        return SHORT_LINE
