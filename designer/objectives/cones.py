"""What a promise allows the columns of a table to be: for each kind, the cone that programs are solved over.

A promise of pairs is a cone whatever it is called. A kind that is registered by itself has fewer rows: a tree.
"""

from __future__ import annotations

from functools import singledispatch

from ...mechanisms.errors import InputError, unwired
from ...mechanisms.promise import Blocks, ByValue, Metric, OfPairs, Promise, Pure, Sensitive
from ...solvers.cone import Cone, blocks, line, pure, ratios, sensitive, value_budgets
from .base import Problem

SPARED_OF_PURE, SPARED_OF_PAIRS = 1e-12, 1e-9
"""The share of the budget that tables leave unspent, for their rounding."""


def spared_of(promise: Promise) -> float:
    """Return the share of a promise's budget that tables leave unspent."""
    return SPARED_OF_PAIRS if isinstance(promise, OfPairs) else SPARED_OF_PURE


def cone_of(problem: Problem, spared: float = 0.0) -> Cone:
    """Return the cone of a problem's promise with a share of its budget unspent.

    Raises
    ------
    InputError
        A promise that says nothing of these values.

    Example
    -------
    >>> from ...mechanisms.promise import Metric
    >>> from ..priors.prior import Prior
    >>> problem = Problem(Prior.even([0.0, 1.0, 4.0]), 0.5, promise=Metric(0.5))
    >>> cone_of(problem).closed[0].tolist()
    [0.0, 0.5, 2.0]
    """
    promise = problem.privacy
    if isinstance(promise, OfPairs) and (misfit := promise.misfit(problem.values)):
        raise InputError(misfit)
    return _cone(promise, problem, 1 - spared)


@singledispatch
def _cone(promise: Promise, problem: Problem, share: float) -> Cone:
    raise unwired("promise", promise)


@_cone.register
def _(promise: Pure, problem: Problem, share: float) -> Cone:
    return pure(problem.prior.weights.size, promise.epsilon * share)


@_cone.register
def _(promise: OfPairs, problem: Problem, share: float) -> Cone:
    return ratios(promise.said(problem.values) * share)


@_cone.register
def _(promise: Metric, problem: Problem, share: float) -> Cone:
    if promise.distance is not None or promise.period is not None:
        return ratios(promise.said(problem.values) * share)
    return line(problem.values, promise.epsilon * share)


@_cone.register
def _(promise: ByValue, problem: Problem, share: float) -> Cone:
    return value_budgets([each * share for each in promise.epsilons], "min" if promise.rule == "min" else "average")


@_cone.register
def _(promise: Blocks, problem: Problem, share: float) -> Cone:
    return blocks(promise.blocks, promise.within * share, promise.across * share)


@_cone.register
def _(promise: Sensitive, problem: Problem, share: float) -> Cone:
    return sensitive(promise.sensitive, promise.epsilon * share)
