"""Tables on given outputs: the program that they are of, how a solver's is made a mechanism, and read again."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np

from ....mechanisms.categorical.table import CategoricalTable
from ....mechanisms.compact_tables import FloorForm
from ....mechanisms.errors import InputError, unwired
from ....mechanisms.promise import OfPairs
from ....mechanisms.spaces.places import Places
from ....mechanisms.table.provenance import Provenance
from ....mechanisms.table.table import TabulatedMechanism
from ....solvers.channel import ChannelProgram
from ....solvers.cone import Cone
from ...priors.categorical import CategoricalPrior
from ..base import Problem
from ..cones import cone_of

EVEN_UNITS = 16
"""Units of 2^-53 that every output gets over the least log-ratio, where a promise is of pairs: there limits are met by
probabilities of any size, and whole numbers need room."""

SAME_OUTPUT = 1e-9
"""Distance of a table's output from the one asked for, as a share of their width: what making it exact may move."""


def channel_program(
    problem: Problem, losses: np.ndarray, spared: float, worst: float = 0.0, unbiased: bool = False
) -> ChannelProgram:
    """Return the channel program of losses (n, m) on a problem's outputs, a share of its budget unspent.

    Raises
    ------
    InputError
        What does not fit, such as unbiased reports of categories, or outputs between which none are private.

    Example
    -------
    >>> from ...priors.prior import Prior
    >>> problem = Problem(Prior.even([-1, 0, 1]), np.log(3), outputs=np.array([-2.0, 1.9]))
    >>> channel_program(problem, np.zeros((3, 2)), 0.0, unbiased=True)
    Traceback (most recent call last):
    ...
    optldp.mechanisms.errors.InputError: unbiased reports must reach beyond -2 and 2 to be private, got outputs from \
-2 to 1.9: add outputs farther out, or allow bias
    """
    cone, weights = cone_of(problem, spared), problem.solved.weights
    if not unbiased:
        return ChannelProgram(cone, weights, losses, worst)
    if isinstance(problem.prior, CategoricalPrior):
        raise InputError("only numbers have means to be unbiased, got categories: leave unbiased out")
    if problem.prior.period is not None:
        raise InputError("only numbers on a line have means to be unbiased, got a circle: leave unbiased out")
    assert problem.outputs is not None  # or there were no losses
    squared = ChannelProgram.unbiased(cone, weights, problem.prior.knots, problem.outputs, worst)
    return replace(squared, losses=losses)


def as_mechanism(matrix: np.ndarray, problem: Problem, provenance: Provenance) -> TabulatedMechanism | CategoricalTable:
    """Return the mechanism of a table (n, m); of numbers, outputs that are never reported are left out."""
    prior, outputs = problem.prior, problem.outputs
    assert outputs is not None  # or there were no table
    kept = matrix.any(axis=0)
    if isinstance(prior, CategoricalPrior):
        told: dict[str, Any] = {"provenance": provenance, "promise": problem.privacy}
        if isinstance(prior.categories, Places):
            told["outputs"] = Places(outputs[kept])
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
def on_outputs(mechanism: TabulatedMechanism | FloorForm | CategoricalTable, outputs: np.ndarray) -> np.ndarray:
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
def _(mechanism: FloorForm, outputs: np.ndarray) -> np.ndarray:
    return on_outputs(mechanism.expand(), outputs)


@on_outputs.register
def _(mechanism: TabulatedMechanism, outputs: np.ndarray) -> np.ndarray:
    after = np.clip(np.searchsorted(outputs, mechanism.low), 1, outputs.size - 1)
    index = after - (mechanism.low - outputs[after - 1] < outputs[after] - mechanism.low)
    far = np.abs(mechanism.low - outputs[index]) > SAME_OUTPUT * (outputs[-1] - outputs[0])
    if far.any() or not mechanism.is_discrete:
        strange = "intervals" if not mechanism.is_discrete else f"{mechanism.low[far][0]:g}"
        raise InputError(f"a table for this objective must report the outputs given alone, got {strange}: add them")
    return mechanism.probabilities @ np.eye(outputs.size)[index]


def ready_for_integers(matrix: np.ndarray, cone: Cone, problem: Problem, unbiased: bool) -> np.ndarray:
    """Return a table (n, m) of the cone with room for whole numbers, rows of sum one and, if asked, of mean x."""
    if isinstance(problem.privacy, OfPairs):
        apart = cone.closed[cone.closed > 0].min()
        matrix = matrix + (matrix > 0) * EVEN_UNITS / (2**53 * min(apart, 1.0))  # where it may be more than none
    matrix = matrix / matrix.sum(1, keepdims=True)
    if not unbiased:
        return matrix
    assert problem.outputs is not None  # or there were no table
    return centred(matrix, problem.outputs - problem.prior.knots[:, None])


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
