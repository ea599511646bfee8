"""How far weights of a class are from a reference at which a number is no less than asked, in standard errors."""

from __future__ import annotations

import numpy as np

from ...mechanisms.errors import SolverError
from ..arrays import Array
from .largest import nearest
from .polyhedron import Polyhedron


def distance_to(functional: Array, least: float, polyhedron: Polyhedron, matrix: Array, reference: Array) -> float:
    r"""Return the least \|M (p - g)\| over p of the class with a . p >= least, from above; infinite for no p.

    Parameters
    ----------
    functional : (K,) ndarray
        a.
    least : float
    polyhedron : Polyhedron
    matrix : (r, K) ndarray
        M.
    reference : (K,) ndarray
        g.

    Example
    -------
    >>> round(distance_to(np.array([0.0, 1.0]), 0.6, Polyhedron.simplex(2), np.eye(2), np.array([0.5, 0.5])), 4)
    0.1414
    """
    if functional @ reference >= least:
        return 0.0
    row = polyhedron.lift.T @ (functional - least)
    held = Polyhedron(polyhedron.lift, np.vstack([polyhedron.above, row]), polyhedron.equal, polyhedron.mass)
    try:
        found = nearest(held, matrix, matrix @ reference)
    except SolverError:
        return float("inf")
    return float(np.linalg.norm(matrix @ (found - reference)))
