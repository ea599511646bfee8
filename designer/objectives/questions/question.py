"""What objectives share that are questions: the length of a 95% interval of the answer, nothing assumed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ....mechanisms.errors import InputError
from ....mechanisms.table.provenance import Provenance
from ....mechanisms.table.table import TabulatedMechanism
from ....mechanisms.units import units_label
from ....solvers import Status
from ....solvers.biased.error_program import check_users
from ....solvers.certificate import relative_gap
from ....solvers.lengths.length_bound import certified_length_bound
from ....solvers.lengths.length_program import LengthProgram
from ...priors.prior import DEFAULT_UNIFORM_SHARE
from ..base import Objective, Problem, Solution
from ..information_solution import placed_outputs
from ..variance import Variance


@dataclass(frozen=True, eq=False)
class QuestionEvidence:
    """What a design for a question shows beside its value.

    Attributes
    ----------
    one_peak_bound : float
        What no table is below whose columns rise to one peak and fall, as those of all closed forms do.
    mean_length, mean_length_own : float
        Length of the interval of the mean by this table, and by the table for the mean, in units of the values.
    shares_length, shares_length_own : float or None
        Mean length of the intervals of the distribution function by this table, and about that by a table for them
        alone; None where nothing else was wanted.
    """

    one_peak_bound: float
    mean_length: float
    mean_length_own: float
    shares_length: float | None = None
    shares_length_own: float | None = None


class Question(Objective):
    """Length of the 95% interval of an answer by n people, nothing assumed of their distribution; a share.

    Intervals are pairs of affine estimates, honest for every distribution on the knots; their length is that where
    values follow the prior. Answers are estimated from whole reports (`estimate_distribution`), never averaged.
    """

    n: int

    nobody = "no mechanism on these knots"
    uniform_share = DEFAULT_UNIFORM_SHARE
    tolerance = 1e-2

    @staticmethod
    def checked(n: int | None) -> int:
        """Return the number of people; InputError for none."""
        if n is None:
            raise InputError("a question needs --n N, the people who will report: add it")
        check_users(n)
        return int(n)

    @abstractmethod
    def program(self, problem: Problem, ratio: float) -> LengthProgram:
        """Return what is asked, as numbers of the distribution on the prior's knots."""

    def check(self, problem: Problem) -> None:
        self.program(problem, problem.ratio)

    def made(self, problem: Problem, probabilities: np.ndarray) -> TabulatedMechanism:
        """Return the table of columns (n, m), its outputs the mean of the value given the report."""
        places, columns = placed_outputs(problem.prior.knots, problem.solved.weights, probabilities)
        # `n` is the mark of tables for the error of a mean.
        told = {"unbiased": False, "question": self.key, "people": self.n, **self.parameters()}
        return TabulatedMechanism.from_points(
            problem.prior.knots, places, columns, problem.epsilon,
            provenance=Provenance("optimal", told), units=problem.prior.units,
        )  # fmt: skip

    def value(self, mechanism: TabulatedMechanism, problem: Problem) -> float:
        with threadpool_limits(1, user_api="blas"):  # as in `Variance`
            return self.program(problem, problem.ratio).value(mechanism.probabilities)

    def bound(self, problem: Problem, multipliers: Mapping[str, Any]) -> float:
        return self.program(problem, problem.ratio).alone()

    def one_peak_bound(self, problem: Problem, multipliers: Mapping[str, Any]) -> float:
        """Return what no table is below whose columns have one peak; the bound of all where nothing else is known."""
        alone = self.bound(problem, multipliers)
        if "certificate" not in multipliers:
            return alone
        program = self.program(problem, problem.ratio)
        return max(alone, certified_length_bound(program, multipliers["certificate"]))

    def evidence(self, problem: Problem, mechanism: TabulatedMechanism, solution: Solution) -> QuestionEvidence:
        peaked = self.one_peak_bound(problem, solution.multipliers)
        return QuestionEvidence(peaked, *mean_lengths(problem, mechanism, self.n))

    def status(self, problem: Problem, value: float, bound: float, solution: Solution) -> Status:
        """Whether the bound for all tables proves it; where it does not, what was found is the best near it."""
        return Status.OPTIMAL if relative_gap(value, bound) <= problem.tolerance else Status.LOCAL

    def quantity(self, units: str) -> str:
        return f"length of the interval, {self.n:,} people"

    def title(self, made: Any) -> str:
        return f"table for {self.label}"

    def facts(self, made: Any) -> dict[str, Any]:
        return {
            "users": self.n,
            "interval_length": made.value,
            "lower_bound": made.bound,
            "one_peak_bound": made.evidence.one_peak_bound,
            "mean_interval_length": made.evidence.mean_length,
        }

    def notes(self, made: Any) -> list[str]:
        units = made.prior.units
        found = made.evidence
        if found.shares_length is None or found.shares_length_own is None:
            return [mean_note(self.n, found.mean_length, found.mean_length_own, units)]
        mean, own = (f"+-{length / 2:.3g}" for length in (found.mean_length, found.mean_length_own))
        first = f"note: this table tells the mean of {self.n:,} people within {units_label(mean, units)}"
        shares, alone = (f"+-{length / 2:.2g}" for length in (found.shares_length, found.shares_length_own))
        return [
            f"{first} and shares of them within {shares} on average; tables for one of both within {own} and "
            f"about {alone}"
        ]


def mean_lengths(problem: Problem, mechanism: TabulatedMechanism, n: int) -> tuple[float, float]:
    """Return the lengths of the mean's interval of n people by a table and by the table for the mean, in units.

    Example
    -------
    >>> from optldp.designer import Prior, design
    >>> made = design(Prior.even(list(range(11))), 1.0)
    >>> [round(length, 3) for length in mean_lengths(made.certificate.problem, made.mechanism, 20_000)]
    [0.288, 0.288]
    """
    knots, (low, high) = problem.prior.knots, problem.prior.domain
    width = high - low
    mean = LengthProgram(problem.solved.weights, problem.ratio, ((knots - low) / width)[None], np.ones(1), n)
    with threadpool_limits(1, user_api="blas"):
        own = mean.value(Variance().solve(problem).mechanism.probabilities)
        return width * mean.value(mechanism.probabilities), width * own


def mean_note(n: int, length: float, own: float, units: str) -> str:
    """Return what a table for a question costs the mean, in words.

    Example
    -------
    >>> mean_note(20_000, 4.0, 2.5, "EUR")
    'note: this table tells the mean of 20,000 people within +-2 [EUR], the table for the mean within +-1.25: --of mean'
    """
    found = units_label(f"+-{length / 2:.3g}", units)
    return (
        f"note: this table tells the mean of {n:,} people within {found}, the table for the mean within "
        f"+-{own / 2:.3g}: --of mean"
    )
