"""Priors of a declared class, such as one peak or nearly the shape of another prior, all but a share of the people.

The class is {u >= 0 : R u >= 0, sum u = 1}; with a share e of people exempt q = u + v - w, v and w of
that mass at most. The last w is what the others leave of v's mass, so that inequalities alone say it and the set has
an inside.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from ...mechanisms.errors import InputError, SolverError
from ..arrays import Array
from ..linear_program import LinearProgram, solve_linear_program
from ..modulus.largest import largest, on_simplex
from ..modulus.polyhedron import Polyhedron
from .polytope import PriorPolytope
from .sets import PriorSet, rounded_up

WIDTH = 1e-9
"""Slack that the innermost prior must have: less is a class as good as flat, in which no interior point can move."""


@dataclass(frozen=True, eq=False)
class DeclaredSet(PriorSet):
    """Priors q = u + v - w with u of a class.

    Parameters
    ----------
    above : (r, n) ndarray
        R: the class is the weights u with R u >= 0.
    exempt : float
        Share of people, in [0, 1), who may be anywhere.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.robust.declared import DeclaredSet
    >>> falling = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]])
    >>> value, worst = DeclaredSet(falling).largest(np.array([0.0, 0.0, 3.0]))
    >>> round(value, 6), worst.round(3)
    (1.0, array([0.333, 0.333, 0.333]))
    >>> round(DeclaredSet(falling, 0.1).largest(np.array([0.0, 0.0, 3.0]))[0], 6)  # a tenth may be anywhere
    1.3
    """

    above: Array
    exempt: float = 0.0

    @property
    def some_prior(self) -> Array:
        """The innermost weights of the class, (n,); InputError where it has no inside."""
        return self._inside

    @cached_property
    def _inside(self) -> Array:
        return _innermost(self.above)

    def polytope(self) -> PriorPolytope:
        inside, n = self.some_prior, self.above.shape[1]
        unit = np.eye(n)
        if self.exempt == 0.0:
            rows = np.vstack([-unit, -self.above])
            return PriorPolytope(np.zeros(n), unit, rows, np.zeros(len(rows)), inside)
        none = np.zeros((n, n))
        # q, v and w as they follow from the coordinates: q, v, and w without its last.
        weights, added = np.hstack([unit, none, none[:, 1:]]), np.hstack([none, unit, none[:, 1:]])
        taken = np.hstack([none, none, unit[:, :-1]])
        taken[-1] = added.sum(axis=0) - taken.sum(axis=0)
        of_class = weights - added + taken
        rows = np.vstack([-weights, -added, -taken, -of_class, -self.above @ of_class, added.sum(axis=0)])
        right = np.append(np.zeros(len(rows) - 1), self.exempt)
        each = np.full(n, self.exempt / (2 * n))
        return PriorPolytope(np.zeros(n), weights, rows, right, np.concatenate([inside, each, each[1:]]))

    def largest(self, values: Array) -> tuple[float, Array]:
        found = largest(values, Polyhedron.of_rows(self.above).with_exempt(self.exempt))
        return rounded_up(found.bound, len(values)), on_simplex(found.weights)


def _innermost(above: Array) -> Array:
    """Return the weights (n,) of a class whose least slack is largest, relative to what each row can have."""
    n, size = above.shape[1], np.abs(above).max(axis=1, keepdims=True)
    inequalities = np.vstack([above / size, np.eye(n)])
    matrix = np.vstack([np.hstack([inequalities, -np.ones((len(inequalities), 1))]), np.append(np.ones(n), 0.0)])
    low = np.append(np.zeros(len(inequalities)), 1.0)
    high = np.append(np.full(len(inequalities), np.inf), 1.0)
    cost, ends = np.append(np.zeros(n), -1.0), (np.zeros(n + 1), np.ones(n + 1))
    try:
        found = solve_linear_program(LinearProgram(cost, sparse.csc_array(matrix), low, high, *ends))
    except SolverError:
        found = None
    if found is None or -found.objective < WIDTH:
        raise InputError("a declared class must leave all weights free, got one that fixes some, or none: allow more")
    return on_simplex(found.x[:n])
