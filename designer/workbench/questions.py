"""What may be asked in the workbench: what a question is called, and what it is designed for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..objectives.base import Objective
from ..objectives.variance import Variance


@dataclass(frozen=True)
class Question:
    """A question.

    Attributes
    ----------
    label : str
        What a reader chooses.
    error : str
        What its error is, in a sentence that follows "the".
    objective : callable
        From the number of people to the objective.
    """

    label: str
    error: str
    objective: Callable[[int], Objective]


QUESTIONS: Mapping[str, Question] = {
    "mean": Question("The mean", "standard error of the mean", lambda n: Variance()),
}
"""By the name that the state has."""
