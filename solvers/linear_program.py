"""The one place that talks to HiGHS: sparse linear programs in, checked solutions out."""

import math
import time
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

import highspy
import numpy as np
from scipy import sparse

from ..mechanisms.errors import InputError, SolverError

Solver: TypeAlias = Literal["choose", "simplex", "ipm"]

DEFAULT_TOLERANCE = 1e-9
"""Primal and dual feasibility asked of HiGHS, whose default is 1e-7: tables are repaired from its answer."""

_STATUS: dict[highspy.HighsModelStatus, str] = {
    highspy.HighsModelStatus.kInfeasible: "infeasible",
    highspy.HighsModelStatus.kUnbounded: "unbounded",
    highspy.HighsModelStatus.kUnboundedOrInfeasible: "unbounded or infeasible",
    highspy.HighsModelStatus.kTimeLimit: "stopped at the time limit",
    highspy.HighsModelStatus.kIterationLimit: "stopped at the iteration limit",
    highspy.HighsModelStatus.kMemoryLimit: "out of memory",
    highspy.HighsModelStatus.kModelEmpty: "empty",
    highspy.HighsModelStatus.kUnknown: "not solved to the tolerance",
}
"""HiGHS's word for how a run ended; anything else is reported as a failed run."""


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """minimise cost.x subject to row_lower <= A x <= row_upper and lower <= x <= upper.

    Parameters
    ----------
    cost : (k,) ndarray of float
    matrix : (r, k) scipy sparse array, by column
        A.
    row_lower, row_upper : (r,) ndarray of float
        Equal for an equation; +-inf where there is no bound.
    lower, upper : (k,) ndarray of float

    Raises
    ------
    InputError
        A shape does not fit, or a number is NaN or, in cost and matrix, infinite.
    """

    cost: np.ndarray
    matrix: sparse.csc_array
    row_lower: np.ndarray
    row_upper: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    def __post_init__(self) -> None:
        rows, columns = cast("tuple[int, int]", self.matrix.shape)  # scipy's annotations say None
        sizes = {"cost": columns, "lower": columns, "upper": columns, "row_lower": rows, "row_upper": rows}
        for name, size in sizes.items():
            values = np.array(getattr(self, name), dtype=np.float64)
            if values.shape != (size,) or np.isnan(values).any():
                raise InputError(f"{name} of a linear program must be {size} numbers, got {values!r}")
            object.__setattr__(self, name, values)
        if not (np.isfinite(self.cost).all() and np.isfinite(self.matrix.data).all()):
            raise InputError("cost and matrix of a linear program must be finite")


@dataclass(frozen=True, eq=False)
class LinearSolution:
    """An optimal solution as HiGHS states it; every other end of a run is a SolverError.

    Parameters
    ----------
    x : (k,) ndarray
    objective : float
        cost.x
    row_duals : (r,) ndarray
        Change of the optimum per unit of the row's active bound.
    seconds : float
        Wall time of the run, building the model included.
    iterations : int
        Simplex, interior point and crossover iterations together.
    """

    x: np.ndarray
    objective: float
    row_duals: np.ndarray
    seconds: float
    iterations: int


def solve_linear_program(
    program: LinearProgram,
    *,
    solver: Solver = "choose",
    crossover: bool = True,
    time_limit: float = math.inf,
    tolerance: float = DEFAULT_TOLERANCE,
) -> LinearSolution:
    """Solve a linear program with HiGHS.

    Parameters
    ----------
    program : LinearProgram
    solver : {"choose", "simplex", "ipm"}
    crossover : bool
        After the interior point method, move on to a vertex: slower, and exact to rounding.
    time_limit : float
        Seconds.
    tolerance : float
        Largest primal and dual infeasibility, at least 1e-10.

    Raises
    ------
    SolverError
        The run did not end at an optimum; the message says how it ended.

    Source: Huangfu and Hall (2018), "Parallelizing the dual revised simplex method".

    Example
    -------
    >>> from scipy.sparse import csc_array
    >>> one, none, free = np.ones(1), np.zeros(2), np.full(2, math.inf)
    >>> program = LinearProgram(np.array([1.0, 2.0]), csc_array([[1.0, 1.0]]), one, one, none, free)
    >>> solve_linear_program(program).x
    array([1., 0.])
    """
    start = time.perf_counter()
    highs = _Silent()
    for option, value in {
        "output_flag": False,  # whatever the constructor calls
        "solver": solver,
        "run_crossover": "on" if crossover else "off",
        "time_limit": time_limit,
        "primal_feasibility_tolerance": tolerance,
        "dual_feasibility_tolerance": tolerance,
        "ipm_optimality_tolerance": tolerance,
    }.items():
        if highs.setOptionValue(option, value) == highspy.HighsStatus.kError:
            raise SolverError(f"HiGHS must accept the option {option}, got {value!r}")
    _pass_model(highs, program)
    highs.run()
    status = highs.getModelStatus()
    if status != highspy.HighsModelStatus.kOptimal:
        rows, columns = program.row_lower.size, program.cost.size
        raise SolverError(
            f"a linear program of {rows} rows and {columns} columns must have an optimum, but HiGHS ended "
            f"after {time.perf_counter() - start:.1f} s: {_STATUS.get(status, 'the run failed')}"
        )
    solution, info = highs.getSolution(), highs.getInfo()
    # HiGHS counts -1 iterations for a method that did not run.
    counts = info.simplex_iteration_count, info.ipm_iteration_count, info.crossover_iteration_count
    return LinearSolution(
        x=np.array(solution.col_value),
        objective=float(info.objective_function_value),
        row_duals=np.array(solution.row_dual),
        seconds=time.perf_counter() - start,
        iterations=sum(max(0, count) for count in counts),
    )


class _Silent(highspy.Highs):
    """HiGHS with its output off before the first call that logs, which its own constructor makes.

    HiGHS 1.16 prints a banner there, on the descriptor of stdout: among the JSON of a command.
    """

    def enableCallbacks(self) -> None:  # noqa: N802 -- HiGHS's name
        self.setOptionValue("output_flag", False)
        super().enableCallbacks()


def _pass_model(highs: highspy.Highs, program: LinearProgram) -> None:
    """Hand the arrays over as they are; a Python list per row would cost more than solving."""
    matrix = program.matrix
    matrix.sort_indices()
    rows, columns = program.row_lower.size, program.cost.size
    status = highs.passModel(
        columns,
        rows,
        matrix.nnz,
        int(highspy.MatrixFormat.kColwise),
        int(highspy.ObjSense.kMinimize),
        0.0,
        program.cost,
        program.lower,
        program.upper,
        program.row_lower,
        program.row_upper,
        matrix.indptr.astype(np.int32),
        matrix.indices.astype(np.int32),
        np.asarray(matrix.data, dtype=np.float64),
        np.zeros(columns, dtype=np.int32),  # no integer variables
    )
    if status == highspy.HighsStatus.kError:
        raise SolverError("a linear program must be one that HiGHS accepts, but it refused the model")
