"""Who solves a problem: solvers for some problems alone, which are fast, and one for all of them where these fail.

An accelerator says which problems it accepts, and solves them. Its word counts for nothing: the value is the
objective's, of the table, and the bound the objective's too, of the multipliers. One that fails, or leaves the gap
open, is followed by the next, and the answer says who gave it. `design(..., general=True)` asks the last one alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ...mechanisms.errors import SolverError
from ...solvers import Status
from ...solvers.certificate import relative_gap
from .base import Objective, Problem, Solution, Told


@dataclass(frozen=True)
class Accelerator:
    """A solver of some problems of an objective.

    Attributes
    ----------
    name : str
        What answers call it, unless they name a solver of their own.
    accepts : callable
        Whether it takes a problem, by how it is asked alone.
    run : callable
        Returns the solution of a problem that it accepts; SolverError where it finds none.
    """

    name: str
    accepts: Callable[[Problem], bool]
    run: Callable[[Problem, Told], Solution]


def solved(problem: Problem, objective: Objective, ways: Sequence[Accelerator], progress: Told) -> Solution:
    """Return the solution of the first that closes the gap; if none does, the one of the least gap.

    Parameters
    ----------
    problem : Problem
    objective : Objective
        Who judges tables and multipliers.
    ways : sequence of Accelerator
        In the order to be asked, the one for all problems last.
    progress : callable, optional

    Raises
    ------
    SolverError
        Of the last one, where none has a solution.

    Example
    -------
    >>> from optldp.designer import Prior, Variance
    >>> def fails(problem, progress):
    ...     raise SolverError("numbers were lost")
    >>> problem, asked = Problem(Prior.even([-1.0, 0.0, 1.0]), 1.0), Variance()
    >>> ways = [Accelerator("hopeless", lambda problem: True, fails), *asked.ways()]
    >>> solved(problem, asked, ways, None).solver
    'barrier'
    """
    left: list[Solution] = []
    failed: SolverError | None = None
    for way in ways:
        if not way.accepts(problem):
            continue
        try:
            found = way.run(problem, progress)
        except SolverError as error:
            failed = error
            continue
        found = found if found.solver else replace(found, solver=way.name)
        if found.status == Status.OPTIMAL:
            return found
        left.append(found)
    if left:
        return min(left, key=lambda one: _gap(one, problem, objective))
    raise failed or SolverError(f"no solver takes the {objective.label} of such a problem")


def _gap(found: Solution, problem: Problem, objective: Objective) -> float:
    return relative_gap(objective.value(found.mechanism, problem), objective.bound(problem, found.multipliers))
