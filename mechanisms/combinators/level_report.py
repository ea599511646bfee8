"""How the level that a user chose is itself reported: in the clear, by randomised response, or by another protocol."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..categorical.mechanism import CategoricalMechanism
from ..errors import InputError
from ..sampling.law import Words

MOST_REPORTS = 4096
"""Estimators look at every report of a level; unary encodings make 2^t of t levels."""

LEAST_SHARE = 1e-9
"""Of the largest eigenvalue of what reports tell of the levels' shares: below it, some cannot be told apart."""


@dataclass(frozen=True, eq=False)
class LevelReport:
    """The report of one of t levels as a whole number from 0 to m - 1, the place in the protocol's `all_reports`.

    Parameters
    ----------
    many : int
        t.
    protocol : CategoricalMechanism, optional
        Of t categories, whatever their names. None: the level is sent in the clear.

    Raises
    ------
    InputError
        Another number of categories, or more than 4096 reports.

    Example
    -------
    >>> from ..categorical.unary_encoding import optimised_unary
    >>> report = LevelReport(3, optimised_unary(range(3), 1.0))
    >>> report.response.shape, np.allclose(report.response @ report.decoder, np.eye(3))
    ((3, 8), True)
    """

    many: int
    protocol: CategoricalMechanism | None

    def __post_init__(self) -> None:
        if self.protocol is None:
            return
        if len(self.protocol.categories) != self.many:
            raise InputError(
                f"the protocol of the level must have a category for each of {self.many} levels, got "
                f"{len(self.protocol.categories)}: make it of range({self.many})"
            )
        try:
            many = f"{self.n_reports}" if self.n_reports > MOST_REPORTS else ""
        except InputError:  # too many to list
            many = "more"
        if many:
            raise InputError(
                f"there must be at most {MOST_REPORTS} reports of a level, got {many} for {self.many} levels: use "
                "another protocol"
            )

    @cached_property
    def n_reports(self) -> int:
        """m."""
        return self.many if self.protocol is None else len(self.protocol.all_reports())

    @cached_property
    def response(self) -> np.ndarray:
        """(t, m) probability of each report for each level."""
        if self.protocol is None:
            return np.eye(self.many)
        return np.ascontiguousarray(self.protocol.pmf(self.protocol.all_reports()).T)

    @cached_property
    def decoder(self) -> np.ndarray:
        """(m, t) what each report adds to each level's share, so that shares are unbiased: response @ decoder = 1.

        D^-1 T^T (T D^-1 T^T)^-1, T the response and D how often each report is sent by even levels: of all unbiased
        ones the least variance there.  For randomised response it is T^-1.

        Raises InputError where reports cannot tell all levels apart.
        """
        often = self.response.mean(axis=0)
        scaled = np.divide(self.response, often, out=np.zeros_like(self.response), where=often > 0)
        told = scaled @ self.response.T
        values = np.linalg.eigvalsh(told)
        if values[0] <= LEAST_SHARE * values[-1]:
            raise InputError("reports of the level must tell all levels apart, got a protocol of which some look alike")
        return np.linalg.solve(told, scaled).T

    @property
    def method(self) -> str | None:
        """The protocol's own name; None in the clear."""
        return None if self.protocol is None else self.protocol.provenance.method

    @property
    def max_log_ratio(self) -> float:
        """What the report tells of the level; infinite in the clear."""
        return math.inf if self.protocol is None else self.protocol.max_log_ratio

    def draw(self, levels: np.ndarray, words: Words) -> np.ndarray:
        """Draw the report (N,) int64 of each level."""
        if self.protocol is None:
            return levels
        drawn = self.protocol.draw(levels, words)
        if drawn.ndim == 1:
            return drawn.astype(np.int64)
        places = {report.tobytes(): place for place, report in enumerate(self.protocol.all_reports())}
        distinct, which = np.unique(drawn, axis=0, return_inverse=True)
        return np.array([places[report.tobytes()] for report in distinct], dtype=np.int64)[which.reshape(-1)]

    def failures(self) -> tuple[str, ...]:
        """Return what the protocol breaks of its promise."""
        return () if self.protocol is None else self.protocol.failures()
