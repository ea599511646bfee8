r"""A test of what is assumed: one half of the reports says along which number, the other how far it is off.

Half of the reports and the class have a nearest distribution; what is left points along h. Whatever distribution of the
class is true, h . q_p is at most b, the most over the class, so that (h . Y - b) / s of the other half is below a
standard normal number. The halves do not depend on each other, and both directions are used: twice the smaller of two
p-values.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from ...solvers.modulus.estimates import largest_over
from ...solvers.modulus.largest import nearest
from ...solvers.one_thread import one_thread
from ..assumptions.base import Assumed
from .outcomes import Outcomes
from .split import halves

ROUNDS = 3
"""Fits to half of the reports, each with the variances at the one before."""


@one_thread()
def p_value(outcomes: Outcomes, held: Assumed) -> float:
    """Return how likely reports are that speak so much against what is assumed, if it holds; at most 1.

    Example
    -------
    >>> from optldp.estimators.assumptions.shapes import Monotone
    >>> seen = Outcomes(np.array([0.0, 1.0]), np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([300, 700]), False)
    >>> p_value(seen, Assumed.of(Monotone(0.0), seen.points)) < 1e-6  # most have the larger value
    True
    """
    first, second = halves(outcomes)
    found = [_against(one, other, held) for one, other in ((first, second), (second, first))]
    return min(1.0, 2.0 * min(found))


def _against(chooses: Outcomes, other: Outcomes, held: Assumed) -> float:
    weights = held.start
    h = np.zeros(chooses.law.shape[1])
    for _ in range(ROUNDS):
        matrix, outcomes_of = chooses.in_errors(weights, chooses.n)
        expected = weights @ chooses.law
        # What is seen, as \|M (p - weights)\| has it.
        seen = matrix @ weights + outcomes_of @ (chooses.shares - expected)
        near = nearest(held.polyhedron, matrix, seen)
        h = (seen - matrix @ near) @ outcomes_of
        weights = 0.9 * near + 0.1 * held.start
    bound = float(largest_over((chooses.law @ h)[None], held.polyhedron)[0])
    seen = other.moments(h[None])
    error = np.sqrt(max(float(seen.variance[0]), np.finfo(float).tiny) / max(other.n - 1, 1))
    return NormalDist().cdf(-(float(seen.mean[0]) - bound) / error)
