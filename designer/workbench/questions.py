"""What may be asked of the values: how it is called, who designs for it, and what its error is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..objectives.base import Objective
    from ..priors.prior import Prior


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes
    ----------
    asks : str
        What is asked, as a reader chooses it.
    error : str
        What its error is called.
    knots : int, optional
        On which it is designed at most, so that one waits a second; None for those of the prior.
    in_units : bool
        Whether the error is in units of the values; otherwise it is a share.
    """

    asks: str
    error: str
    knots: int | None = None
    in_units: bool = True

    def on_knots(self, prior: Prior) -> Prior:
        """Return the prior on the knots of the design."""
        return prior if self.knots is None or prior.knots.size <= self.knots else prior.on(self.knots)


QUESTIONS = {
    "mean": Question("the mean", "standard error of the mean"),
    "distribution": Question("the distribution", "95% interval of a share, plus or minus", 33, in_units=False),
    "median": Question("the median", "95% interval of the median, plus or minus", 33),
    "categories": Question("how many are in each category", "standard error of a share", in_units=False),
}
"""By the name that addresses have; errors are those of `optldp plan`, of categories the root mean square of all."""


def objective(of: str, n: int) -> Objective:
    """Return what a design for a question of n people minimises."""
    from ..objectives.frequencies import Frequencies
    from ..objectives.questions.cdf import Cdf
    from ..objectives.questions.quantile import Quantile
    from ..objectives.variance import Variance

    if of == "categories":
        return Frequencies()
    return Variance() if of == "mean" else Cdf(n) if of == "distribution" else Quantile(n)


def error(of: str, value: float, n: int, categories: int = 1) -> float:
    """Return the error that a value of the objective means for n people, of so many categories.

    Example
    -------
    >>> error("mean", 4.0, 100), error("distribution", 0.1, 100), error("categories", 4.0, 100, 4)
    (0.2, 0.05, 0.1)
    """
    from ...solvers.lengths.length_program import RADIUS

    if of in ("mean", "categories"):
        return math.sqrt(value / (n * categories))
    return value / 2 if of == "distribution" else RADIUS * math.sqrt(value)
