"""A structured mechanism whose privacy is one exact number: what those for categories and for pairs have in common."""

import math
from abc import abstractmethod
from fractions import Fraction

from ..integers.exponential import exponential_below
from ..promise import Promise, Pure
from .bundle import Bundle


class ExactMechanism(Bundle):
    """One budget, reports of a kind of its own, and probabilities that are ratios of whole numbers."""

    epsilon: float
    """The privacy budget that it claims to keep."""

    @property
    def promise(self) -> Promise:
        """Pure privacy of its budget, unless it says something else."""
        return Pure(self.epsilon)

    @property
    @abstractmethod
    def largest_ratio(self) -> Fraction | None:
        """The largest ratio of two inputs' probabilities of a report, or a bound on it; None where it is infinite."""

    @property
    def max_log_ratio(self) -> float:
        """The epsilon really kept."""
        ratio = self.largest_ratio
        return math.inf if ratio is None else math.log1p(float(ratio - 1))

    def failures(self) -> tuple[str, ...]:
        """Return what breaks the promise of privacy, recomputed from the numbers by whole-number arithmetic."""
        ratio, limit = self.largest_ratio, exponential_below(self.epsilon)
        if ratio is not None and ratio <= limit:
            return ()
        return (f"the log-ratio must be at most {self.epsilon:g}, got {self.max_log_ratio!r}",)
