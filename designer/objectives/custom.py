"""The open door: any convex function of a table on given outputs.

With n knots or categories x_i and m outputs y the table P (n, m) is a cvxpy variable, with rows that sum to one,
columns within the ratio (t_y <= P(y | x_i) <= E t_y, t_y >= 0), rows of mean x_i if it is to be unbiased, and
constraints of one's own. The bound is that of `optldp.solvers.conic_program`, recomputed from the dual vector: r . P is
at least the sum of the least r in each row, and r . t at least the least r, or zero, since the t_y sum to at most one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from ...mechanisms.errors import InputError, SolverError
from ...mechanisms.table.provenance import Provenance
from ...solvers import Status
from ...solvers.certificate import relative_gap
from ...solvers.conic_program import ConeProgram
from ..priors.categorical import CategoricalPrior
from ..priors.prior import Prior
from .base import Objective, Problem, Solution, Told
from .custom_table import as_mechanism, check_width, mended, on_outputs

if TYPE_CHECKING:
    import cvxpy as cp

Expressed = Callable[..., Any]
"""Called with P (n, m), a cvxpy variable, the outputs (m,) and, if it takes a third, the prior solved for."""

ROOMS = (1e-9, 1e-8, 1e-7, 1e-5)
"""Shares of the budget that mending the solver's table may use up, tried in turn."""

SMALL = 1e-3
"""Share of the size guessed for a number below which it is solved again in its own size: tolerances are absolute."""

NOTHING = 1e-6
"""Share of its size at which a number counts as nothing, and has no size of its own."""

CURE = "build it of cvxpy's functions, as in https://www.cvxpy.org/tutorial/dcp"


@dataclass(frozen=True, eq=False)
class CustomEvidence:
    """What a design for an objective of one's own shows beside its value.

    Attributes
    ----------
    violation : float
        The most by which the table, as returned, breaks a constraint of one's own: the solver's rounding.
    """

    violation: float


@dataclass(frozen=True, eq=False)
class Custom(Objective):
    """Any convex expression of the table, to be least on given outputs; or any concave one, to be most.

    Privacy and rows that sum to one are added. The expression is of the knots: rounding between them is not counted. Of
    categories, reports are the numbers 0, ..., m - 1, and `design(..., outputs=m)` says how many.

    Parameters
    ----------
    expression : callable
        Called with P (n, m), a cvxpy variable, the outputs (m,) and, if it takes a third, the prior solved for; returns
        a scalar cvxpy expression of P alone. What takes two knows no other prior, in `Design.against` either.
    name : str
        What the number is, for people to read.
    unbiased : bool
        Whether the mean of each knot's reports must be the knot; for numbers alone.
    maximise : bool
    constraints : callable, optional
        Called with the same; returns a list of cvxpy constraints on P. They are met up to the solver's rounding.

    Raises
    ------
    InputError
        In a design: no outputs, or too narrow ones; an expression or a constraint that cannot be made, or that cvxpy's
        rules do not allow.
    SolverError
        In a design: no table meets the constraints, or none is found.

    Source: Diamond and Boyd (2016), "CVXPY: a Python-embedded modeling language for convex optimization".

    Example
    -------
    >>> import cvxpy as cp
    >>> import numpy as np
    >>> from optldp import Prior
    >>> from optldp.designer import Custom, design
    >>> prior = Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public")
    >>> def spread(P, y, prior):
    ...     return prior.weights @ cp.sum(cp.multiply((y - prior.knots[:, None]) ** 2, P), axis=1)
    >>> made = design(prior, 1.0, objective=Custom(spread, unbiased=True), outputs=np.linspace(-3, 3, 13))
    >>> round(made.value, 3), round(design(prior, 1.0, uniform_share=0).value, 3)  # any outputs: better ones
    (3.981, 3.933)
    """

    expression: Expressed
    name: str = "custom objective"
    unbiased: bool = False
    maximise: bool = False
    constraints: Expressed | None = None

    nobody = "no mechanism on these outputs"
    takes = (Prior, CategoricalPrior)
    takes_outputs = True
    tolerance = 1e-5

    @property
    def more_is_better(self) -> bool:
        return self.maximise

    @property
    def key(self) -> str:
        return "custom"

    @property
    def label(self) -> str:
        return self.name

    def quantity(self, units: str) -> str:
        return self.name

    def check(self, problem: Problem) -> None:
        import cvxpy as cp

        outputs = _outputs(problem)
        if self.unbiased:
            check_width(problem, outputs)
        table, expression = self._expressed(problem)
        wanted, right = ("concave", "is_concave") if self.maximise else ("convex", "is_convex")
        if not (expression.is_scalar() and getattr(expression, right)()):
            turned = not self.maximise and expression.is_scalar() and expression.is_concave()
            raise InputError(
                f"a Custom objective must be a scalar that is {wanted} by cvxpy's rules (DCP), got one of shape "
                f"{expression.shape} that is {expression.curvature.lower()}: {'pass maximise=True' if turned else CURE}"
            )
        own = self._constraints(table, problem)
        if not all(isinstance(each, cp.Constraint) and each.is_dcp() for each in own):
            raise InputError(f"constraints must be cvxpy's, each convex by its rules (DCP): {CURE}")
        if strange := {each.name() for part in (expression, *own) for each in part.variables() if each is not table}:
            raise InputError(
                f"a Custom objective must be of the table P alone, got other variables ({', '.join(sorted(strange))}): "
                "write them as cvxpy's functions, suppfunc and partial_optimize for instance"
            )

    def solve(self, problem: Problem, progress: Told = None) -> Solution:
        size, made, dual = self._guessed_size(problem), None, None
        for room in ROOMS:
            epsilon = (1 - room) * problem.epsilon
            with threadpool_limits(1, user_api="blas"):  # as in `Variance`
                matrix, found, reached = self._solved(problem, size, epsilon)
                if dual is None and NOTHING < reached < SMALL:
                    size *= reached
                    matrix, found, _ = self._solved(problem, size, epsilon)
            dual = found if dual is None else dual  # that of the least room proves most
            if (made := mended(matrix, problem, math.exp(epsilon), self.unbiased)) is not None:
                break
        if made is None:
            raise SolverError("the table must be private but for rounding, got one that is not: use fewer outputs")
        origin = Provenance("custom", {"unbiased": self.unbiased, "objective": self.name})
        return Solution(
            as_mechanism(made, problem, origin), {"dual": np.asarray(dual), "size": np.array(size)}, Status.OPTIMAL
        )

    def value(self, mechanism: Any, problem: Problem) -> float:
        return self._number(on_outputs(mechanism, _outputs(problem)), problem)

    def bound(self, problem: Problem, multipliers: Mapping[str, np.ndarray]) -> float:
        size = float(multipliers["size"])
        if not 0 < size < math.inf:
            raise InputError(f"the size among the multipliers must be positive, got {size!r}")
        program, table, least = self._program(problem, size, problem.epsilon)
        below = size * program.bound(
            multipliers["dual"],
            {table: lambda r: float(r.min(axis=1).sum()), least: lambda r: min(0.0, float(r.min()))},
        )
        return -below if self.maximise else below

    def status(self, problem: Problem, value: float, bound: float, solution: Solution) -> Status:
        if not math.isfinite(bound):
            raise SolverError(
                f"a bound must follow from Clarabel's multipliers, got {bound}: write {self.name} otherwise"
            )
        return Status.of(relative_gap(value, bound), problem.tolerance)

    def evidence(self, problem: Problem, mechanism: Any, solution: Solution) -> CustomEvidence:
        table, _ = self._expressed(problem)
        own = self._constraints(table, problem)
        table.value = on_outputs(mechanism, _outputs(problem))
        return CustomEvidence(max((float(np.max(each.violation())) for each in own), default=0.0))

    def _expressed(self, problem: Problem) -> tuple[cp.Variable, cp.Expression]:
        import cvxpy as cp

        table = cp.Variable((problem.prior.weights.size, _outputs(problem).size), name="P")
        return table, _called(self.expression, cp.Expression.cast_to_const, table, problem)

    def _constraints(self, table: cp.Variable, problem: Problem) -> list[cp.Constraint]:
        return [] if self.constraints is None else _called(self.constraints, list, table, problem)

    def _number(self, matrix: np.ndarray, problem: Problem) -> float:
        table, expression = self._expressed(problem)
        table.value = matrix
        with np.errstate(all="ignore"):  # some numbers are infinite for some tables
            return float(np.asarray(expression.value).item())

    def _program(self, problem: Problem, size: float, epsilon: float) -> tuple[ConeProgram, cp.Variable, cp.Variable]:
        """The program in units of a size, its table, and the least probability of each output."""
        import cvxpy as cp

        table, expression = self._expressed(problem)
        least, ones = cp.Variable((1, table.shape[1])), np.ones((table.shape[0], 1))
        held: list[Any] = [least >= 0, table >= ones @ least, table <= math.exp(epsilon) * (ones @ least)]
        held.append(cp.sum(table, axis=1) == 1)
        if self.unbiased:
            held.append(table @ problem.unit.places(_outputs(problem)) == problem.unit.knots)
        held += self._constraints(table, problem)
        scaled = (-1 if self.maximise else 1) / size * expression
        return ConeProgram.of(cp.Problem(cp.Minimize(scaled), held), [table, least]), table, least

    def _solved(self, problem: Problem, size: float, epsilon: float) -> tuple[np.ndarray, np.ndarray, float]:
        """The solver's table, its dual vector, and how large the number is in units of the size."""
        program, table, _ = self._program(problem, size, epsilon)
        primal, dual = program.solve()
        return program.part(primal, table), dual, abs(float(program.cost @ primal + program.offset))

    def _guessed_size(self, problem: Problem) -> float:
        """The number's size at the table of equal rows and columns, or where it is nothing, at tables of one output."""
        n, m = problem.prior.weights.size, _outputs(problem).size
        tables = [np.full((n, m), 1 / m), *(np.tile(np.eye(m)[j], (n, 1)) for j in (0, m // 2, m - 1))]
        sizes = np.abs([self._number(each, problem) for each in tables])
        sizes = sizes[np.isfinite(sizes)]
        large = sizes[sizes > NOTHING * sizes.max(initial=0.0)]
        return float(large[0]) if large.size else 1.0


def _outputs(problem: Problem) -> np.ndarray:
    if problem.outputs is None:
        raise InputError("a Custom objective needs the reports that there may be: add outputs=[...] to design")
    return problem.outputs


def _called(function: Expressed, made: Callable[[Any], Any], table: cp.Variable, problem: Problem) -> Any:
    """What a function of one's own returns, made what it should be; its mistakes in one line."""
    given = (table, _outputs(problem), problem.solved)
    try:
        try:
            signature(function).bind(*given)
        except TypeError:
            signature(function).bind(*given[:2])
            given = given[:2]
        if (answer := function(*given)) is None:
            raise TypeError("nothing is returned")
        return made(answer)
    except (TypeError, ValueError, LookupError) as error:  # cvxpy's of shapes that do not fit, too
        raise InputError(
            "a Custom objective must be made by functions of (P, y) or (P, y, prior), with P of shape "
            f"{table.shape} and y of {given[1].shape}, got an error: {' '.join(str(error).split())}"
        ) from error
