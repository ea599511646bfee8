"""The open door: any convex function of a table on given outputs.

With n knots or categories x_i and m outputs y the table P (n, m) is a cvxpy variable, with rows that sum to one,
columns in the cone of any promise (`optldp.solvers.cone`, with its nodes of no value as further variables), rows of
mean x_i if it is to be unbiased, and constraints of one's own. The bound is that of `optldp.solvers.conic_program`,
recomputed from the dual vector. It leaves gradient less multipliers r: r . P is at least the price of the cheapest
column of the cone, as all columns weigh one together, and a node of no value at most so many times its nearest value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from ....mechanisms.errors import InputError, SolverError
from ....mechanisms.promise import OfPairs, Pure
from ....mechanisms.table.provenance import Provenance
from ....solvers import Status
from ....solvers.certificate import relative_gap
from ....solvers.channel.channel_program import even_weights
from ....solvers.channel.repair import repaired
from ....solvers.cone import Cone, cheapest
from ....solvers.cone.flow import nearest_values
from ....solvers.conic_program import ConeProgram
from ...priors.categorical import CategoricalPrior
from ...priors.prior import Prior
from ..base import Objective, Problem, Solution, Told
from ..cones import cone_of, spared_of
from .custom_table import as_mechanism, channel_program, on_outputs, ready_for_integers

if TYPE_CHECKING:
    import cvxpy as cp

    from ....solvers.channel import ChannelProgram

Expressed = Callable[..., Any]
"""Called with P (n, m), a cvxpy variable, and, if it takes them, the outputs (m,) and the prior solved for."""

NEGLIGIBLE = 1e-9
"""Probability below which an output is the solver's rounding."""

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
    """Any convex expression of the table, minimised on given outputs; or any concave one, maximised.

    The program adds the constraints of privacy, pure or of pairs, and of rows that sum to one. The expression covers
    the knots: rounding between them is not counted. Of categories, reports are the numbers 0, ..., m - 1, and
    `design(..., outputs=m)` says how many.

    Parameters
    ----------
    expression : callable
        Called with P (n, m), a cvxpy variable, and, if it takes them, the outputs (m,) and the prior solved for;
        returns a scalar cvxpy expression of P alone, or such an expression and a list of constraints. An expression
        without a prior is the same under every prior, in `Design.against` too.
    name : str
        A label of the number, for people to read.
    unbiased : bool
        Whether the mean of each knot's reports must be the knot; for numbers alone.
    maximise : bool
    constraints : callable, optional
        Called with the same; returns a list of cvxpy constraints on P, beside those of the expression. They are met up
        to the solver's rounding.

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
    >>> from optldp.mechanisms import Metric
    >>> far = abs(prior.knots - prior.knots[:, None])
    >>> two_norm = Custom(lambda P: cp.norm(cp.sum(cp.multiply(far, P), axis=1)))  # of the three expected losses
    >>> made = design(prior, Metric(2.0), objective=two_norm, outputs=prior.knots)
    >>> round(made.value, 4), round(made.bound, 4)
    (0.3057, 0.3057)
    """

    expression: Expressed
    name: str = "custom objective"
    unbiased: bool = False
    maximise: bool = False
    constraints: Expressed | None = None

    nobody = "no mechanism on these outputs"
    takes = (Prior, CategoricalPrior)
    takes_outputs = True
    has_general = True
    promises = (Pure, OfPairs)
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

        self._unasked(problem)
        table, expression, own = self._asked(problem)
        wanted, right = ("concave", "is_concave") if self.maximise else ("convex", "is_convex")
        if not (expression.is_scalar() and getattr(expression, right)()):
            turned = not self.maximise and expression.is_scalar() and expression.is_concave()
            raise InputError(
                f"a Custom objective must be a scalar that is {wanted} by cvxpy's rules (DCP), got one of shape "
                f"{expression.shape} that is {expression.curvature.lower()}: {'pass maximise=True' if turned else CURE}"
            )
        if not all(isinstance(each, cp.Constraint) and each.is_dcp() for each in own):
            raise InputError(f"constraints must be cvxpy's, each convex by its rules (DCP): {CURE}")
        if strange := {each.name() for part in (expression, *own) for each in part.variables() if each is not table}:
            raise InputError(
                f"a Custom objective must be of the table P alone, got other variables ({', '.join(sorted(strange))}): "
                "write them as cvxpy's functions, suppfunc and partial_optimize for instance"
            )

    def solve(self, problem: Problem, progress: Told = None) -> Solution:
        size, spared = self._guessed_size(problem), spared_of(problem.privacy)
        with threadpool_limits(1, user_api="blas"):  # as in `Variance`
            matrix, dual, reached = self._solved(problem, size, spared)
            if NOTHING < reached < SMALL:
                size *= reached
                matrix, dual, _ = self._solved(problem, size, spared)
            unasked = self._unasked(problem, spared)
            matrix = repaired(unasked, np.where(matrix.max(0) > NEGLIGIBLE, matrix, 0.0))
        made = ready_for_integers(matrix, unasked.cone, problem, self.unbiased)
        origin = Provenance("custom", {"unbiased": self.unbiased, "objective": self.name})
        return Solution(
            as_mechanism(made, problem, origin),
            {"dual": np.asarray(dual), "size": np.array(size)},
            Status.OPTIMAL,
            solver="clarabel",
        )

    def value(self, mechanism: Any, problem: Problem) -> float:
        return self._number(on_outputs(mechanism, _outputs(problem)), problem)

    def bound(self, problem: Problem, multipliers: Mapping[str, np.ndarray]) -> float:
        size = float(multipliers["size"])
        if not 0 < size < math.inf:
            raise InputError(f"the size among the multipliers must be positive, got {size!r}")
        cone = cone_of(problem)
        program, table, between = self._program(problem, size, cone)
        even = even_weights(problem.solved.weights)
        known = {table: lambda r: float(cheapest(cone, r, even)[0].min())}
        if between is not None:
            _, factors = nearest_values(cone)
            known[between] = lambda r: float(factors @ np.minimum(r.min(axis=1), 0.0))
        below = size * program.bound(multipliers["dual"], known)
        return -below if self.maximise else below

    def status(self, problem: Problem, value: float, bound: float, solution: Solution) -> Status:
        if not math.isfinite(bound):
            raise SolverError(
                f"a bound must follow from Clarabel's multipliers, got {bound}: write {self.name} otherwise"
            )
        return Status.of(relative_gap(value, bound), problem.tolerance)

    def evidence(self, problem: Problem, mechanism: Any, solution: Solution) -> CustomEvidence:
        table, _, own = self._asked(problem)
        table.value = on_outputs(mechanism, _outputs(problem))
        return CustomEvidence(max((float(np.max(each.violation())) for each in own), default=0.0))

    def _unasked(self, problem: Problem, spared: float = 0.0) -> ChannelProgram:
        """The program of all tables that there may be, whatever is asked of them; InputError for none."""
        losses = np.zeros((problem.prior.weights.size, _outputs(problem).size))
        return channel_program(problem, losses, spared, unbiased=self.unbiased)

    def _asked(self, problem: Problem) -> tuple[cp.Variable, cp.Expression, list[cp.Constraint]]:
        """A table, and what is wanted of it."""
        import cvxpy as cp

        table = cp.Variable((problem.prior.weights.size, _outputs(problem).size), name="P")
        expression, own = _called(self.expression, _number_and_constraints, table, problem)
        more = [] if self.constraints is None else _called(self.constraints, list, table, problem)
        return table, expression, own + more

    def _number(self, matrix: np.ndarray, problem: Problem) -> float:
        table, expression, _ = self._asked(problem)
        table.value = matrix
        with np.errstate(all="ignore"):  # some numbers are infinite for some tables
            return float(np.asarray(expression.value).item())

    def _program(
        self, problem: Problem, size: float, cone: Cone
    ) -> tuple[ConeProgram, cp.Variable, cp.Variable | None]:
        """The program in units of a size, its table, and the nodes of no value, if the cone has any."""
        import cvxpy as cp

        table, expression, own = self._asked(problem)
        nodes, first, alike = np.unique(cone.places, return_index=True, return_inverse=True)
        between = cp.Variable((cone.hidden.size, table.shape[1])) if cone.hidden.size else None
        rows = cone.rows[:, nodes] @ table[first]
        held: list[Any] = [table >= 0, (rows if between is None else rows + cone.rows[:, cone.hidden] @ between) >= 0]
        held.append(cp.sum(table, axis=1) == 1)
        if first.size < alike.size:
            held.append(table == table[first[alike]])
        if self.unbiased:
            held.append(table @ problem.unit.places(_outputs(problem)) == problem.unit.knots)
        scaled = (-1 if self.maximise else 1) / size * expression
        known = [table] if between is None else [table, between]
        return ConeProgram.of(cp.Problem(cp.Minimize(scaled), held + own), known), table, between

    def _solved(self, problem: Problem, size: float, spared: float) -> tuple[np.ndarray, np.ndarray, float]:
        """The solver's table, its dual vector, and how large the number is in units of the size."""
        program, table, _ = self._program(problem, size, cone_of(problem, spared))
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
        for count in (3, 2):
            with suppress(TypeError):
                signature(function).bind(*given[:count])
                break
        else:
            count = 1
        if (answer := function(*given[:count])) is None:
            raise TypeError("nothing is returned")
        return made(answer)
    except (TypeError, ValueError, LookupError) as error:  # cvxpy's of shapes that do not fit, too
        raise InputError(
            "a Custom objective must be made by functions of P, (P, y) or (P, y, prior), with P of shape "
            f"{table.shape} and y of {given[1].shape}, got an error: {' '.join(str(error).split())}"
        ) from error


def _number_and_constraints(answer: Any) -> tuple[cp.Expression, list[cp.Constraint]]:
    """What an expression's function returns, with or without constraints."""
    import cvxpy as cp

    expression, own = answer if isinstance(answer, tuple) else (answer, [])
    return cp.Expression.cast_to_const(expression), list(own)
