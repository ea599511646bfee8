"""What a promise allows the columns of a table to be: for each kind, the cone that programs are solved over."""

from __future__ import annotations

from functools import singledispatch

from ...mechanisms.errors import InputError, unwired
from ...mechanisms.promise import Metric, Promise, Pure
from ...solvers.cone import Cone, line, pure
from ..priors.prior import Prior
from .base import Problem


def cone_of(problem: Problem, spared: float = 0.0) -> Cone:
    """Return the cone of a problem's promise with a share of its budget unspent.

    Raises
    ------
    InputError
        A promise that says nothing of these values.

    Example
    -------
    >>> from ...mechanisms.promise import Metric
    >>> problem = Problem(Prior.even([0.0, 1.0, 4.0]), 0.5, promise=Metric(0.5))
    >>> cone_of(problem).closed[0].tolist()
    [0.0, 0.5, 2.0]
    """
    return _cone(problem.privacy, problem, problem.epsilon * (1 - spared))


@singledispatch
def _cone(promise: Promise, problem: Problem, epsilon: float) -> Cone:
    raise unwired("promise", promise)


@_cone.register
def _(promise: Pure, problem: Problem, epsilon: float) -> Cone:
    return pure(problem.prior.weights.size, epsilon)


@_cone.register
def _(promise: Metric, problem: Problem, epsilon: float) -> Cone:
    if not isinstance(problem.prior, Prior):
        raise InputError("privacy by distance is for numbers, got categories: give a pure budget")
    return line(problem.prior.knots, epsilon)
