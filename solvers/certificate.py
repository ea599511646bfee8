"""What every solver returns, and how it says how good that is: value and bound, gap, status, progress.

A value has been reached, a bound is what nothing can better: below the value of a minimisation, above that of a
maximisation. What lies between the two, relative to the value, is the gap; the answer is optimal to a tolerance when
the gap is within it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

from ..mechanisms.errors import InputError

Solved = TypeVar("Solved", covariant=True)
"""What a solver finds: arrays, or a small record of its room."""

Proof = TypeVar("Proof")
"""What proves a bound."""


class Status(StrEnum):
    """How a solver ended.

    Attributes
    ----------
    sentence : str
        What the status means, for people to read.

    Example
    -------
    >>> from optldp.solvers import Status
    >>> Status.of(1e-7, tolerance=1e-6), str(Status.of(0.2, tolerance=1e-6))
    (<Status.OPTIMAL: 'optimal'>, 'gap-open')
    """

    sentence: str

    OPTIMAL = "optimal", "the certificate proves it optimal to the tolerance asked for"
    GAP_OPEN = (
        "gap-open",
        "the certificate's gap stayed open; the table is valid all the same",
    )

    LOCAL = (
        "local",
        "the certificate leaves the gap open; no better table was found near this one; the bound is valid all the same",
    )

    def __new__(cls, value: str, sentence: str) -> Status:
        member = str.__new__(cls, value)
        member._value_, member.sentence = value, sentence
        return member

    @classmethod
    def of(cls, gap: float, tolerance: float) -> Status:
        """Return OPTIMAL for a gap within the tolerance, GAP_OPEN for any other, NaN among them."""
        return cls.OPTIMAL if gap <= tolerance else cls.GAP_OPEN


@dataclass(frozen=True, eq=False)
class Optimum(Generic[Solved]):
    """A solver's result with its evidence, both recomputed from the returned numbers.

    Attributes
    ----------
    solution : Solved
        The solution, in the form that the solver describes.
    value : float
        The solution's objective, which the solver minimises or maximises.
    bound : float
        Certified: nothing is better than that.
    multipliers : mapping of str
        The multipliers by name, from which the program's bound function proves the bound.
    tolerance : float
        Relative gap that was asked for.
    steps : int
        Steps taken; rounds, where patterns are added round by round.
    seconds : float
    solver : str
        Name of the solver, where there are several; else empty.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers import UnbiasedProgram, certified_bound, solve_unbiased
    >>> program = UnbiasedProgram(np.linspace(-1, 1, 5), np.array([0.05, 0.2, 0.5, 0.2, 0.05]), np.e)
    >>> best = solve_unbiased(program.knots, program.weights, program.ratio)
    >>> round(best.value, 3), round(best.bound, 3), best.status.value
    (3.737, 3.737, 'optimal')
    >>> certified_bound(program, **best.multipliers) == best.bound
    True
    """

    solution: Solved
    value: float
    bound: float
    multipliers: Mapping[str, Any]
    tolerance: float
    steps: int
    seconds: float
    solver: str = ""

    @property
    def gap(self) -> float:
        """The `relative_gap` of value and bound."""
        return relative_gap(self.value, self.bound)

    @property
    def status(self) -> Status:
        """OPTIMAL when the gap is within the tolerance."""
        return Status.of(self.gap, self.tolerance)


@dataclass(frozen=True)
class Progress:
    """Argument of a progress callback after each step of a solver.

    Attributes
    ----------
    step : int
        Steps taken so far: rounds, where patterns are added round by round, and gradients, where a likelihood climbs.
    value : float
        Objective at present, which the solver minimises or maximises. The result may differ slightly after its
        clean-up.
    bound : float
        Certified so far; 0 where a minimisation has none yet.
    columns : int
        Of the matrix at present: outputs, patterns, or the components of a mixture.
    seconds : float
        Since the start.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers import solve_unbiased
    >>> told = []
    >>> best = solve_unbiased(np.linspace(-1, 1, 5), np.full(5, 0.2), np.e, progress=told.append)
    >>> told[0].step, told[-1].step == best.steps, round(told[-1].value, 3)
    (0, True, 3.967)
    """

    step: int
    value: float
    bound: float
    columns: int
    seconds: float

    @property
    def gap(self) -> float:
        """The `relative_gap` of value and bound."""
        return relative_gap(self.value, self.bound)


class BestBound(Generic[Proof]):
    """What a path keeps of its steps: their number, the best bound with what proves it, and who asks to be told.

    Parameters
    ----------
    progress : callable or None
    multipliers : Proof
        They prove that nothing is below zero.

    Example
    -------
    >>> kept = BestBound(None, "none")
    >>> kept.improve(2.0, "first"), kept.improve(1.0, "second")
    (2.0, 1.0)
    >>> kept.bound, kept.multipliers
    (2.0, 'first')
    """

    def __init__(self, progress: Callable[[Progress], None] | None, multipliers: Proof) -> None:
        self.progress, self.started, self.steps = progress, time.perf_counter(), 0
        self.bound, self.multipliers = 0.0, multipliers

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.perf_counter() - self.started

    def improve(self, bound: float, multipliers: Proof) -> float:
        """Return this bound, and keep it with what proves it if it is the best."""
        if bound > self.bound:
            self.bound, self.multipliers = bound, multipliers
        return bound

    def tell(self, value: float, columns: int) -> None:
        """Tell of the value that is reached, at so many columns."""
        if self.progress is not None:
            self.progress(Progress(self.steps, value, self.bound, columns, self.seconds))


def relative_gap(value: float, bound: float) -> float:
    """Return |value - bound| / |value|: by what share of itself the value could still be improved, at most.

    One formula for minimisation and maximisation, so a bound that rounding has put on the wrong side of the value
    counts as far from it as one on the right side.

    Parameters
    ----------
    value, bound : float
        Of any one unit.

    Returns
    -------
    gap : float
        Zero where value and bound are equal, zeros too; infinite for a value of zero with another bound, and where
        either is infinite or NaN, since then nothing is certified.

    Example
    -------
    >>> relative_gap(4.0, 3.0), relative_gap(4.0, 5.0), relative_gap(0.0, 0.0), relative_gap(0.0, 1.0)
    (0.25, 0.25, 0.0, inf)
    """
    value, bound = float(value), float(bound)  # numpy's scalars warn of a division by zero
    if not (math.isfinite(value) and math.isfinite(bound)):
        return math.inf
    if value == bound:
        return 0.0
    return abs(value - bound) / abs(value) if value else math.inf


def check_tolerance(tolerance: float) -> float:
    """Return the tolerance, a relative gap to reach.

    Raises
    ------
    InputError
        One that is not strictly between 0 and 1: none could be reached, or nothing would have to be.
    """
    if not 0 < tolerance < 1:
        raise InputError(f"tolerance must lie strictly between 0 and 1, got {tolerance!r}")
    return tolerance
