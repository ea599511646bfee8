"""Tables whose reports answer linear queries: solved under a promise of pairs, and made mechanisms."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from ....mechanisms.categorical.table import CategoricalTable
from ....mechanisms.spaces.places import Places
from ....mechanisms.table.provenance import Provenance
from ....mechanisms.table.table import TabulatedMechanism
from ....solvers.certificate import Optimum
from ....solvers.frequency.cone_workload import solve_cone_workload
from ...priors.categorical import CategoricalPrior
from ..base import Problem, Told
from ..cones import cone_of, spared_of
from ..information_solution import LEAST_DISTANCE, placed_outputs
from ..losses.custom_table import ready_for_integers


def answered_of_pairs(problem: Problem, queries: np.ndarray, progress: Told) -> tuple[np.ndarray, Optimum[np.ndarray]]:
    """Return the table (n, m), with room for whole numbers, that answers queries (q, n) best; and what was found."""
    cone = cone_of(problem, spared_of(problem.privacy))
    with threadpool_limits(1, user_api="blas"):  # as in `Variance`
        found = solve_cone_workload(
            cone, problem.solved.weights, queries, tolerance=problem.tolerance, progress=progress
        )
    return ready_for_integers(found.solution, cone, problem, unbiased=False), found


def answering_table(
    problem: Problem, probabilities: np.ndarray, origin: Provenance
) -> TabulatedMechanism | CategoricalTable:
    """Return the mechanism of a table (n, m); a report of numbers or places is at its mean value."""
    prior = problem.prior
    if isinstance(prior, CategoricalPrior):
        named, outputs = prior.categories, None
        if isinstance(named, Places):
            outputs = _places_of_outputs(named, problem.solved.weights, probabilities)
        return CategoricalTable.from_probabilities(
            named, probabilities, problem.epsilon, provenance=origin, outputs=outputs, promise=problem.privacy
        )
    places, columns = placed_outputs(prior.knots, problem.solved.weights, probabilities)
    return TabulatedMechanism.from_points(
        prior.knots,
        places,
        columns,
        problem.epsilon,
        provenance=origin,
        units=prior.units,
        promise=problem.privacy,
    )


def _places_of_outputs(named: Places, weights: np.ndarray, probabilities: np.ndarray) -> Places:
    """Return a place for each output (n, m): the mean of the value given the report; alike ones are moved apart."""
    means = (weights[:, None] * probabilities).T @ named.points / (weights @ probabilities)[:, None]
    step = LEAST_DISTANCE * max(float(np.ptp(named.points, axis=0).max()), LEAST_DISTANCE)
    _, alike = np.unique(np.round(means / step), axis=0, return_inverse=True)
    before = np.array([np.count_nonzero(alike[:k] == one) for k, one in enumerate(alike.ravel())])
    return Places(means + np.outer(before * step / (len(means) + 1), [1.0, 0.0]))
