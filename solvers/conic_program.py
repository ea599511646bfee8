"""The one place that lowers convex programs through cvxpy to cones, and turns dual vectors into bounds.

cvxpy writes a problem as: minimise c . z + d subject to A z + s = b, s in a cone K. For any w in the dual cone K* and
r = c + A^T w,

    c . z + d  =  d + r . z - w . (b - s)  >=  d - w . b + r . z,

because w . s >= 0. So a bound needs no solver's word: w is moved into K*, and r . z replaced by the least that it can
be. Whoever asks says how small that is for the problem's own variables. Of those that cvxpy added nothing is known, so
r must be zero there: w is moved until it is, up to rounding, or there is no bound.

Clarabel solves the linear ones too: tables of 21 x 61 took it a fifth to three quarters of the time that HiGHS took.

Source: Boyd and Vandenberghe (2004), "Convex optimization", section 5.9; Clarabel: Goulart and Chen (2024).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import lsqr

from ..mechanisms.errors import InputError, SolverError
from .arrays import Array
from .dual_cones import into_dual_cone

CLARABEL_TOLERANCE = 1e-10
"""Asked of Clarabel, whose own is 1e-8: one or two steps more. Where it reaches only that, the bound shows it."""

ROUNDING = 1e-11
"""Largest entry of r that counts as rounding on a variable of unknown size, for an objective of size one."""

REACH = 1e4
"""Variables of unknown size are charged for such an r as if they were so large."""

ROUNDS = 30
"""Moves of a dual vector to and fro between its cone and the equations: a solver's own takes few."""

MARGIN = 1e-10
"""Taken off every bound of a program with such variables, for an objective of size one: some may be larger still."""

SCALINGS = 4
"""Rounds in which rows and columns are divided by their largest entries."""

Least = Callable[[Array], float]
"""From r in a variable's shape, the least that sum(r * variable) can be."""


@dataclass(frozen=True, eq=False)
class ConeProgram:
    """minimise cost . z + offset subject to matrix z + s = right, s in a product of cones.

    The variables that cvxpy added, and the rows that they stand in, are scaled to entries of size one: tolerances are
    absolute, and what is added may be in anybody's units.

    Attributes
    ----------
    cost : (k,) ndarray
    offset : float
    matrix : (l, k) scipy sparse array
    right : (l,) ndarray
    dims : cvxpy's ConeDims
        Rows in order: equations, inequalities, second-order and exponential cones.
    columns : mapping of int to int
        Where the variable of an id begins in z.
    unknown : (k,) ndarray of bool
        Which of z cvxpy added.
    call : callable
        Clarabel on these data, with its options.
    """

    cost: Array
    offset: float
    matrix: sparse.csc_array
    right: Array
    dims: Any
    columns: Mapping[int, int]
    unknown: np.ndarray
    call: Callable[..., Any]

    @classmethod
    def of(cls, problem: Any, known: Sequence[Any]) -> ConeProgram:
        """Lower a cvxpy problem, a minimisation, of variables of known size.

        Raises
        ------
        InputError
            It needs other cones, or whole numbers, or its numbers are not finite.
        SolverError
            Clarabel is missing.
        """
        import cvxpy as cp  # half a second

        if cp.CLARABEL not in cp.installed_solvers():
            raise SolverError("convex programs need Clarabel, which cvxpy does not find: pip install clarabel")
        if problem.is_mixed_integer():
            raise InputError("the program must be one of real numbers, got one with whole numbers or booleans")
        data, chain, inverse = problem.get_problem_data(cp.CLARABEL, solver_opts={"use_quad_obj": False})
        if not all(np.isfinite(numbers).all() for numbers in (data["c"], data["A"].data, data["b"])):
            raise InputError("the program must be one of finite numbers, got NaN or infinities among them")
        dims, columns = data["dims"], data["param_prob"].var_id_to_col
        if dims.psd or dims.p3d or getattr(dims, "pnd", ()):
            raise InputError(
                "the program must need linear, quadratic and exponential cones alone, got one of matrices or powers: "
                "write it with squares, norms, exponentials and logarithms"
            )
        unknown = np.ones(data["c"].size, dtype=bool)
        for variable in known:
            unknown[columns[variable.id] : columns[variable.id] + variable.size] = False
        rows, sizes = _scales(sparse.csr_array(data["A"]), dims, unknown)
        data["A"] = sparse.csc_array(sparse.diags_array(rows) @ data["A"] @ sparse.diags_array(sizes))
        data["b"], data["c"] = rows * data["b"], sizes * data["c"]
        return cls(
            data["c"],
            float(inverse[-1]["offset"]),
            data["A"],
            data["b"],
            dims,
            columns,
            unknown,
            lambda options: chain.solve_via_data(problem, data, solver_opts=options),
        )

    def solve(self) -> tuple[Array, Array]:
        """Return z and w as Clarabel leaves them.

        Raises
        ------
        SolverError
            No solution, with Clarabel's word for it.
        """
        tolerances = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), CLARABEL_TOLERANCE)
        found = self.call({**tolerances, "max_iter": 500})
        if (status := str(found.status)) not in ("Solved", "AlmostSolved", "InsufficientProgress"):
            raise SolverError(
                f"the convex program must have a solution, but Clarabel ended with {status}: loosen its constraints"
            )
        return np.asarray(found.x), np.asarray(found.z)

    def part(self, vector: Array, variable: Any) -> Array:
        """Return what a vector of z's size has for a variable, in its shape."""
        start = self.columns[variable.id]
        return vector[start : start + variable.size].reshape(variable.shape, order="F")

    def bound(self, dual: Array, least: Mapping[Any, Least]) -> float:
        """Return a lower bound on the problem from any dual vector; -inf if it proves nothing.

        Parameters
        ----------
        dual : (l,) array_like
        least : mapping of cvxpy.Variable to callable
            For the variables of known size, the least that sum(r * variable) can be, from r in its shape. What is left
            of r on all others must be rounding, or there is no bound.

        Raises
        ------
        InputError
            The dual vector of another problem.

        Example
        -------
        >>> import cvxpy as cp
        >>> x = cp.Variable(2)
        >>> program = ConeProgram.of(cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.sum(x) == 1, x >= 0]), [x])
        >>> round(program.bound(program.solve()[1], {x: lambda r: np.minimum(r, 0).sum()}), 6)  # 0 <= x <= 1
        0.5
        """
        w = np.array(dual, dtype=np.float64)
        if w.shape != self.right.shape or not np.isfinite(w).all():
            raise InputError(f"multipliers must be {self.right.size} finite numbers, got {w.size} of another problem")
        w = self._feasible(w)
        residual = self.cost + self.matrix.T @ w
        left = np.abs(residual[self.unknown])
        if left.max(initial=0.0) > ROUNDING:
            return -math.inf
        known = sum(of(self.part(residual, variable)) for variable, of in least.items())
        return float(self.offset - self.right @ w + known - REACH * left.sum() - MARGIN * self.unknown.any())

    def _feasible(self, w: Array) -> Array:
        """Return w in the dual cone, moved as little as need be for r to be zero on variables of unknown size.

        To and fro: into the cone, preferring rows without these variables; to the equations, each entry by a multiple
        of its size, so that those on the boundary stay there.
        """
        across, cost = self.matrix[:, self.unknown].T.tocsr(), self.cost[self.unknown]
        held = np.diff(across.tocsc().indptr) > 0
        free = np.arange(w.size) < self.dims.zero
        for _ in range(ROUNDS):
            w = into_dual_cone(w, self.dims, held)
            residual = cost + across @ w
            if np.abs(residual).max(initial=0.0) <= ROUNDING / 100:
                break
            size = np.sqrt(np.where(free, max(1.0, np.abs(w).max()), np.abs(w)))
            # What is left to mend is rounding: a looser solution would leave more than that.
            step = lsqr(across @ sparse.diags_array(size), -residual, atol=1e-14, btol=1e-14)[0]
            w = w + size * step
        return into_dual_cone(w, self.dims, held)


def _scales(matrix: sparse.csr_array, dims: Any, unknown: np.ndarray) -> tuple[Array, Array]:
    """Return factors of rows, alike within a second-order cone and one in exponential ones, and of columns.

    Only variables of unknown size, and rows that they stand in, have factors other than one. A row's known variables,
    if it has any, say what its size is.
    """
    size = abs(matrix)
    told, untold = (size @ sparse.diags_array(part.astype(float)) for part in (~unknown, unknown))
    told, touched = told.max(axis=1).toarray(), untold.max(axis=1).toarray() > 0
    ends = dims.zero + dims.nonneg + np.r_[0, np.cumsum(dims.soc, dtype=int)]
    cones = [slice(start, end) for start, end in pairwise(ends)]
    touched[ends[-1] :] = False
    for cone in cones:
        told[cone], touched[cone] = told[cone].max(), touched[cone].any()
    rows, columns = np.ones(told.size), np.ones(unknown.size)
    for _ in range(SCALINGS):
        largest = np.where(told > 0, told, (untold @ sparse.diags_array(columns)).max(axis=1).toarray())
        for cone in cones:
            largest[cone] = largest[cone].max()
        rows = 1 / np.where(touched & (largest > 0), largest, 1.0)
        largest = (sparse.diags_array(rows) @ untold).max(axis=0).toarray()
        columns = 1 / np.where(largest > 0, largest, 1.0)
    return rows, columns
