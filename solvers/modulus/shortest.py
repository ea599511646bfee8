r"""The proved shortest length of honest intervals of a linear number, at one distribution of a class."""

from __future__ import annotations

from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from .estimates import Reference

DISTANCES = (0.6, 1.3, 2.0, 2.8, 3.8)
"""Standard errors at which moduli are computed; between them a concave function is at least the line. More of them
make the bound less than a hundredth larger."""

TURNS = 33
"""Ways to share a distance between two distributions; any of them is one."""


class Shortest(NamedTuple):
    """What was found.

    Parameters
    ----------
    length : float
        No honest interval has a shorter expected length at the reference.
    rise, fall : (D,) ndarray
        How much more and how much less the number can be at each of `DISTANCES`, from feasible weights.
    """

    length: float
    rise: Array
    fall: Array


def shortest_length(functional: Array, reference: Reference, confidence: float) -> Shortest:
    r"""Return a lower bound on the expected length, at a reference g, of any interval honest over the class.

    The bound is \int [omega+(d) + omega-(d)] phi(z - d) dd over d > 0, with omega+-(d) = max +-a . (p - g) over p in
    the class with \|M (p - g)\| <= d, z the one-sided normal quantile. Moduli are concave and zero at zero, so that
    feasible weights at a few distances bound them from below by straight lines, and by the last one beyond.

    Parameters
    ----------
    functional : (K,) ndarray
        a.
    reference : Reference
        g, of the class, and M in standard errors of all reports at g.
    confidence : float
        In (0, 1).

    Source: Pratt (1961), "Length of confidence intervals"; Armstrong and Kolesar (2018), "Optimal inference in a class
    of regression models", section 3; up to the normal approximation of counts.

    Example
    -------
    >>> from optldp.solvers.modulus.polyhedron import Polyhedron
    >>> even = Reference(Polyhedron.simplex(2), np.eye(2), np.array([0.5, 0.5]))
    >>> found = shortest_length(np.array([0.0, 1.0]), even, 0.95)
    >>> float(found.rise.max().round(3))  # nothing is more than one
    0.5
    """
    rise, fall = _moduli(np.stack([functional, -functional]), reference)
    return Shortest(float(_integrals(confidence) @ (rise + fall)), rise, fall)


def shortest_lengths(functionals: Array, reference: Reference, confidence: float) -> Array:
    """Return the same bounds (F,) for each a, (F, K), which share their work where the class is all weights.

    Example
    -------
    >>> from optldp.solvers.modulus.polyhedron import Polyhedron
    >>> even = Reference(Polyhedron.simplex(2), np.eye(2), np.array([0.5, 0.5]))
    >>> found = shortest_lengths(np.eye(2), even, 0.95)
    >>> bool(found[0] == shortest_length(np.array([1.0, 0.0]), even, 0.95).length)
    True
    """
    moved = _moduli(np.vstack([functionals, -functionals]), reference)
    return (moved[: len(functionals)] + moved[len(functionals) :]) @ _integrals(confidence)


def _moduli(functionals: Array, reference: Reference) -> Array:
    """(F, D) how much more each can be at each distance, from feasible weights."""
    moved = np.zeros((len(functionals), len(DISTANCES)))
    for at, distance in enumerate(DISTANCES):
        away = reference.farthest(functionals, distance) - reference.weights
        moved[:, at] = np.maximum(0.0, (functionals * away).sum(axis=1))
    return np.maximum.accumulate(moved, axis=1)


def shortest_of_two(first: Shortest, second: Shortest, confidence: float) -> float:
    r"""Return the same of a number of one distribution and one of another, added, or the one less the other.

    What independent reports of both tell adds up: omega(d) is the most that omega_1(d cos t) + omega_2(d sin t) is. The
    one is taken to rise where the other falls.

    Parameters
    ----------
    first, second : Shortest
        Of a number of each; of a difference, both as they are.
    confidence : float

    Example
    -------
    >>> from optldp.solvers.modulus.polyhedron import Polyhedron
    >>> even = Reference(Polyhedron.simplex(2), 50.0 * np.eye(2), np.array([0.5, 0.5]))
    >>> one = shortest_length(np.array([0.0, 1.0]), even, 0.95)
    >>> round(shortest_of_two(one, one, 0.95) / one.length, 2)
    1.41
    """
    grid, turns = np.array([0.0, *DISTANCES]), np.linspace(0.0, np.pi / 2, TURNS)
    near, far = np.outer(DISTANCES, np.cos(turns)), np.outer(DISTANCES, np.sin(turns))
    moved = np.zeros(len(DISTANCES))
    for up, down in ((first.rise, second.fall), (first.fall, second.rise)):
        both = np.interp(near, grid, np.r_[0.0, up]) + np.interp(far, grid, np.r_[0.0, down])
        moved += np.maximum.accumulate(both.max(axis=1))
    return float(_integrals(confidence) @ moved)


@lru_cache(maxsize=8)
def _integrals(confidence: float) -> Array:
    """(D,) what each modulus counts for: integrals of hat functions against the normal density about z."""
    normal = NormalDist()
    z, ends = normal.inv_cdf(confidence), (0.0, *DISTANCES)

    def mass(a: float, b: float) -> float:
        return normal.cdf(b - z) - normal.cdf(a - z)

    def first(a: float, b: float) -> float:  # of d
        return z * mass(a, b) + normal.pdf(a - z) - normal.pdf(b - z)

    found = np.zeros(len(ends))
    for at in range(len(ends) - 1):
        a, b = ends[at], ends[at + 1]
        rising = (first(a, b) - a * mass(a, b)) / (b - a)
        found[at + 1] += rising
        found[at] += mass(a, b) - rising
    found[-1] += 1.0 - normal.cdf(ends[-1] - z)
    return found[1:]
