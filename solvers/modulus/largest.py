r"""The largest a . p over weights p of a class that a matrix hardly tells from a centre, with a proof.

For every h, y >= 0, x and t, and every p = L v of the class with \|M p - c\| <= radius,

    a . p  =  h . c + h . (M p - c) + (a - M^T h) . p  <=  h . c + radius \|h\| + b,
    b  =  t + mass max_j (L^T (a - M^T h) + R^T y + E^T x - t L^T 1)_j^+,

so that what the solver says is a claim, and b, the largest bias of the linear estimate h, is proved by its multipliers.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse

from ...mechanisms.errors import SolverError
from ..arrays import Array
from .polyhedron import Polyhedron

TOLERANCE = 1e-9
"""Asked of Clarabel. Bounds are recomputed from its multipliers, so that it costs length and nothing else."""

SOLVED = ("Solved", "AlmostSolved", "InsufficientProgress")


@cache
def clarabel() -> Any:
    """Return the solver's module, which has no types that can be seen, once something is solved."""
    return importlib.import_module("clarabel")


@dataclass(frozen=True, eq=False)
class Largest:
    """What was found, and what proves it.

    Attributes
    ----------
    bound : float
        No p of the class and the ball has more.
    bias : float
        b: the most that (a - M^T h) . p is over the class, whatever M p is.
    estimate : (r,) ndarray
        h.
    weights : (K,) ndarray
        p where the most was found, up to the solver's tolerance.
    """

    bound: float
    bias: float
    estimate: Array
    weights: Array


def largest(
    functional: Array,
    polyhedron: Polyhedron,
    matrix: Array | None = None,
    centre: Array | None = None,
    radius: float = 0.0,
) -> Largest:
    """Return the largest a . p over the class, and over the ball if there is a matrix.

    Parameters
    ----------
    functional : (K,) ndarray
        a.
    polyhedron : Polyhedron
    matrix, centre : (r, K), (r,) ndarray, optional
        M and c.
    radius : float
        Not negative.

    Raises
    ------
    SolverError
        No weights of the class are in the ball, or none are in the class.

    Source: Donoho (1994), "Statistical estimation and optimal recovery"; Armstrong and Kolesar (2018), "Optimal
    inference in a class of regression models", for estimates from a modulus.

    Example
    -------
    >>> found = largest(np.array([0.0, 1.0]), Polyhedron.simplex(2), np.eye(2), np.array([0.5, 0.5]), 0.1)
    >>> round(found.bound, 3), found.weights.round(3)
    (0.571, array([0.429, 0.571]))
    """
    if matrix is None or centre is None:
        matrix, centre = np.empty((0, polyhedron.size)), np.empty(0)
    size = max(float(np.ptp(functional)), np.finfo(float).tiny)
    a = (functional - functional.min()) / size
    program = _Program.of(polyhedron, matrix, centre, radius)
    v, dual = program.solve(-(polyhedron.lift.T @ a))
    free, rows = program.equations, program.equations + len(polyhedron.above)
    h = dual[rows + polyhedron.lift.shape[1] + 1 :] if len(matrix) else np.empty(0)
    bias = proved(a - matrix.T @ h, polyhedron, dual[0], np.maximum(dual[free:rows], 0.0), dual[1:free])
    bound = min(1.0, float(h @ centre) + radius * float(np.linalg.norm(h)) + bias)
    low = float(functional.min())
    return Largest(low + size * bound, low + size * bias, size * h, polyhedron.lift @ v)


def proved(functional: Array, polyhedron: Polyhedron, t: float, above: Array, equal: Array) -> float:
    """Return the bound on a . p over a class that multipliers prove: t, (R,) of its inequalities, (Q,) of equations.

    Example
    -------
    >>> proved(np.array([0.25, 0.75]), Polyhedron.simplex(2), 0.5, np.empty(0), np.empty(0))
    0.75
    """
    lift = polyhedron.lift
    over = lift.T @ (functional - t) + above @ polyhedron.above + equal @ polyhedron.equal
    return float(t) + polyhedron.mass * max(0.0, float(over.max()))


def nearest(polyhedron: Polyhedron, matrix: Array, centre: Array) -> Array:
    r"""Return the weights (K,) of a class with the least \|M p - c\|, up to the solver's tolerance.

    Raises
    ------
    SolverError
        No weights are in the class.

    Example
    -------
    >>> nearest(Polyhedron.of_rows(np.array([[1.0, -1.0]])), np.eye(2), np.array([0.2, 0.8])).round(6)
    array([0.5, 0.5])
    """
    program = _Program.of(polyhedron, np.empty((0, polyhedron.size)), np.empty(0), 0.0)
    mapped = matrix @ polyhedron.lift
    scale = max(1.0, float((mapped**2).sum(axis=0).max()))
    v, _ = program.solve(-(mapped.T @ centre) / scale, sparse.csc_matrix(np.triu(mapped.T @ mapped / scale)))
    return on_simplex(polyhedron.lift @ v)


def on_simplex(weights: Array) -> Array:
    """Return weights without what a solver's tolerance leaves below zero, of sum one.

    Example
    -------
    >>> on_simplex(np.array([-1e-12, 0.5, 0.5])).tolist()
    [0.0, 0.5, 0.5]
    """
    found = np.maximum(weights, 0.0)
    return found / found.sum()


@dataclass(frozen=True, eq=False)
class _Program:
    """Rows and cones of the program in v: equations, then inequalities, then v >= 0, then the ball."""

    matrix: sparse.csc_matrix
    right: Array
    cones: list
    equations: int

    @classmethod
    def of(cls, polyhedron: Polyhedron, matrix: Array, centre: Array, radius: float) -> _Program:
        n = polyhedron.lift.shape[1]
        equations = 1 + len(polyhedron.equal)
        rows = [polyhedron.lift.sum(axis=0)[None], -polyhedron.equal, -polyhedron.above, -np.eye(n)]
        right = [np.ones(1), np.zeros(len(polyhedron.equal) + len(polyhedron.above) + n)]
        cones = [clarabel().ZeroConeT(equations), clarabel().NonnegativeConeT(len(polyhedron.above) + n)]
        if len(matrix):
            rows += [np.zeros((1, n)), matrix @ polyhedron.lift]
            right += [np.array([radius]), centre]
            cones.append(clarabel().SecondOrderConeT(1 + len(matrix)))
        return cls(sparse.csc_matrix(np.vstack(rows)), np.concatenate(right), cones, equations)

    def solve(self, cost: Array, quadratic: sparse.csc_matrix | None = None) -> tuple[Array, Array]:
        settings = clarabel().DefaultSettings()
        settings.verbose = False
        settings.max_threads = 1
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCE
        none = sparse.csc_matrix((cost.size, cost.size))
        solver = clarabel().DefaultSolver(
            none if quadratic is None else quadratic, cost, self.matrix, self.right, self.cones, settings
        )
        found = solver.solve()
        if (status := str(found.status)) not in SOLVED:
            raise SolverError(f"the class must hold weights that explain the data, but Clarabel ended with {status}")
        return np.asarray(found.x), np.asarray(found.z)
