"""The table of an objective of one's own: what it may report, how a solver's is mended and made a mechanism."""

from __future__ import annotations

import math
from functools import singledispatch
from typing import Any

import numpy as np

from ...mechanisms.categorical.table import CategoricalTable
from ...mechanisms.errors import InputError, unwired
from ...mechanisms.promise import Pure
from ...mechanisms.spaces.places import Places
from ...mechanisms.table.provenance import Provenance
from ...mechanisms.table.table import TabulatedMechanism
from ..priors.categorical import CategoricalPrior
from .base import Problem

NEGLIGIBLE = 1e-9
"""Probability below which an output is the solver's rounding; mending restores the means."""

SAME_OUTPUT = 1e-9
"""Distance of a table's output from the one asked for, as a share of their width: what making it exact may move."""


def check_width(problem: Problem, outputs: np.ndarray) -> None:
    """Refuse outputs between which there is no unbiased mechanism.

    Any unbiased mechanism can be mapped to the outermost two outputs a < x_1 and b > x_n at random, without changing
    its means. What comes out is unbiased, so P(b | x) = (x - a) / (b - a), which is private if and only if
    (x_n - a) / (x_1 - a) <= E and (b - x_1) / (b - x_n) <= E.

    Example
    -------
    >>> from ..priors.prior import Prior
    >>> problem = Problem(Prior.even([-1, 0, 1]), math.log(3))
    >>> check_width(problem, np.array([-2.001, 2.001]))
    >>> check_width(problem, np.array([-2.0, 3.0]))
    Traceback (most recent call last):
    ...
    optldp.mechanisms.errors.InputError: unbiased reports must reach beyond -2 and 2 at epsilon 1.09861, got outputs \
from -2 to 3: widen them
    """
    if isinstance(problem.prior, CategoricalPrior):
        raise InputError("only numbers have means to be unbiased, got categories: leave unbiased out")
    (low, high), reach = problem.prior.domain, math.expm1(problem.epsilon)
    beyond = (high - low) / reach
    if not (outputs[0] < low - beyond and outputs[-1] > high + beyond):
        raise InputError(
            f"unbiased reports must reach beyond {low - beyond:.6g} and {high + beyond:.6g} at epsilon "
            f"{problem.epsilon:g}, got outputs from {outputs[0]:g} to {outputs[-1]:g}: widen them"
        )


def as_mechanism(matrix: np.ndarray, problem: Problem, provenance: Provenance) -> TabulatedMechanism | CategoricalTable:
    """Return the mechanism of a table (n, m); of numbers, outputs that are never reported are left out."""
    prior, outputs = problem.prior, problem.outputs
    assert outputs is not None  # or there were no table
    kept = matrix.any(axis=0)
    if isinstance(prior, CategoricalPrior):
        told: dict[str, Any] = {"provenance": provenance}
        if isinstance(prior.categories, Places):
            told |= {"outputs": Places(outputs[kept]), "per_unit": not isinstance(problem.privacy, Pure)}
            matrix = matrix[:, kept]
        return CategoricalTable.from_probabilities(prior.categories, matrix, problem.epsilon, **told)
    return TabulatedMechanism.from_points(
        prior.knots,
        outputs[kept],
        matrix[:, kept],
        problem.epsilon,
        provenance=provenance,
        units=prior.units,
        promise=problem.privacy,
    )


@singledispatch
def on_outputs(mechanism: TabulatedMechanism | CategoricalTable, outputs: np.ndarray) -> np.ndarray:
    """Return a table's probabilities (n, m) on all the outputs there may be, some of which it may never report.

    Raises
    ------
    InputError
        It reports something else.
    """
    raise unwired("mechanism", mechanism)


@on_outputs.register
def _(mechanism: CategoricalTable, outputs: np.ndarray) -> np.ndarray:
    if mechanism.outputs is None:
        return mechanism.probabilities
    places = Places(outputs).locate(mechanism.outputs.points)
    if (places < 0).any():
        raise InputError("a table for this objective must report the places given alone, got another: add it")
    return mechanism.probabilities @ np.eye(len(outputs))[places]


@on_outputs.register
def _(mechanism: TabulatedMechanism, outputs: np.ndarray) -> np.ndarray:
    after = np.clip(np.searchsorted(outputs, mechanism.low), 1, outputs.size - 1)
    index = after - (mechanism.low - outputs[after - 1] < outputs[after] - mechanism.low)
    far = np.abs(mechanism.low - outputs[index]) > SAME_OUTPUT * (outputs[-1] - outputs[0])
    if far.any() or not mechanism.is_discrete:
        strange = "intervals" if not mechanism.is_discrete else f"{mechanism.low[far][0]:g}"
        raise InputError(f"a table for this objective must report the outputs given alone, got {strange}: add them")
    return mechanism.probabilities @ np.eye(outputs.size)[index]


def mended(matrix: np.ndarray, problem: Problem, ratio: float, unbiased: bool) -> np.ndarray | None:
    """Return the table with the solver's rounding mended: private, rows of sum one and, if asked, of mean x.

    Columns are brought within a smaller ratio by raising their least entries, rows divided by their sums, and their
    means moved by a factor that is linear in the output. The last two may use up the rest of the budget; None if they
    use more.
    """
    matrix = np.where(matrix.max(0) > NEGLIGIBLE, matrix, 0.0)
    matrix = np.maximum(matrix, matrix.max(0) / ratio)
    matrix = matrix / matrix.sum(1, keepdims=True)
    if unbiased:
        assert problem.outputs is not None  # or there were no table
        matrix = centred(matrix, problem.unit.places(problem.outputs) - problem.unit.knots[:, None])
    highest, lowest = matrix.max(0), matrix.min(0)
    fits = (lowest >= 0).all() and (highest <= problem.inner_ratio * lowest).all()
    return matrix if fits else None


def centred(matrix: np.ndarray, deviations: np.ndarray) -> np.ndarray:
    """Return a table (n, m) with rows tilted by a factor that is linear in the output, so that no mean deviates.

    Example
    -------
    >>> centred(np.array([[0.3, 0.7]]), np.array([[-1.0, 1.0]]))
    array([[0.5, 0.5]])
    """
    first, second = (matrix * deviations).sum(1), (matrix * deviations**2).sum(1)
    slope = first / (second - first**2)
    return matrix * (1 - slope[:, None] * (deviations - first[:, None]))
