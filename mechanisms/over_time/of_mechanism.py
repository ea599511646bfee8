"""Ways whose reports are those of one mechanism: as a channel they are that mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..exactness.proof import failures_of
from ..sampling.law import Words
from ..spaces.space import Space
from ..statistics import Statistic
from .way import Way


class OfMechanism(Way):
    """A way that hands each value on to its mechanism, whatever the value is of.

    Example
    -------
    >>> from optldp.mechanisms.over_time import HistoryRows
    >>> from optldp.mechanisms.over_time.of_mechanism import OfMechanism
    >>> issubclass(HistoryRows, OfMechanism)
    True
    """

    @property
    def max_log_ratio(self) -> float | None:
        """The epsilon that a report really keeps."""
        return getattr(self.mechanism, "max_log_ratio", None)

    def failures(self) -> tuple[str, ...]:
        return tuple(f"the mechanism of a report: {failure}" for failure in failures_of(self.mechanism))

    @property
    def inputs(self) -> Space:
        """The values of one report."""
        return self.mechanism.inputs

    @property
    def statistic(self) -> Statistic | None:
        """What a report tells of its value."""
        return self.mechanism.statistic

    def draw(self, held: Any, words: Words, /) -> Any:
        """Draw one report for each of N values."""
        return self.mechanism.draw(held, words)

    def checked_reports(self, reports: ArrayLike) -> np.ndarray:
        return self.mechanism.checked_reports(reports)

    def to_text(self, reports: np.ndarray) -> list[str]:
        return self.mechanism.to_text(reports)

    def from_text(self, texts: Sequence[str]) -> np.ndarray:
        return self.mechanism.from_text(texts)

    def nature(self) -> dict[str, object]:
        return {"kinds": type(self).__name__, "periods": self.periods, **self.mechanism.nature()}
