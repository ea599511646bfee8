r"""The likelihood of reports on pairs at several levels, given the shares of the levels.

Levels do not depend on pairs, so the shares rho are estimated from the reports of the levels alone: they are what was
seen in the clear, else of maximum likelihood. A report y beside the report r of a level then has the probability
sum_i rho_i T[i, r] L_i(y) under a pair, L_i the law of level i; it is linear in the weights of the pairs, and all fits
of one mechanism serve.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...mechanisms.combinators.personalised import PersonalisedMechanism
from ...mechanisms.errors import InputError
from ...solvers.likelihood.dense import DenseLikelihood
from ...solvers.likelihood.fit import fit_mixture
from ...solvers.likelihood.mixture import MixtureLikelihood
from ...solvers.likelihood.places import PlaceLikelihood
from ..input_grid import InputGrid
from ..key_values.counts import KeyValueCounts
from ..key_values.likelihood import key_law, place_ratios, require_modest_responses, response_counts, response_table

MOST_NUMBERS = 2**27
"""Of a matrix of different reports and components, 1 GiB."""


def weights_of_levels(mechanism: PersonalisedMechanism, reported: np.ndarray) -> np.ndarray:
    """Return rho_i T[i, r] (t, r), with shares of maximum likelihood for these numbers (r,) of reports of levels.

    Example
    -------
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> from optldp.mechanisms.key_value.unary import key_value_unary
    >>> made = PersonalisedMechanism([key_value_unary(["a", "b"], duchi([0.0, 1.0], e), e) for e in (0.5, 1.0)])
    >>> weights_of_levels(made, np.array([30, 10]))
    array([[0.75, 0.  ],
           [0.  , 0.25]])
    """
    response = mechanism.level_response
    if mechanism.level_epsilon is None:
        return response * (reported / reported.sum())
    return fit_mixture(DenseLikelihood([response], reported)).weights[:, None] * response


def likelihood_of_pairs(
    mechanism: PersonalisedMechanism, by_level: Sequence[KeyValueCounts], grid: InputGrid
) -> MixtureLikelihood:
    """Return the likelihood of whole reports, of one at least, by the report of the level beside them.

    Components are those of `key_values.likelihood.joint_likelihood`.  In the unary form where levels are protected it
    takes a number for each different report and component.

    Raises InputError for a grid outside the domain, or more than 2^27 such numbers.
    """
    weights = weights_of_levels(mechanism, np.array([part.n_users for part in by_level]))
    if not mechanism.levels[0].independent:
        require_modest_responses(mechanism.levels[0], grid, max(len(by_level), len(mechanism.levels)))
        tables = np.stack([response_table(level, grid) for level in mechanism.levels])
        view = np.einsum("ir,ijs->jrs", weights, tables).reshape(tables.shape[1], -1)
        return DenseLikelihood([view], np.concatenate([response_counts(part) for part in by_level]))
    ratios = np.stack([place_ratios(level, grid) for level in mechanism.levels])  # (t, J, 1 + m)
    if mechanism.level_epsilon is None:
        # A symbol is what is shown together with the level: its ratios are those of that level.
        symbols = [part.reports.astype(np.int64) + number * ratios.shape[2] for number, part in enumerate(by_level)]
        times, joined = np.concatenate([part.counts for part in by_level]), np.concatenate(list(ratios), axis=1)
        return PlaceLikelihood(np.concatenate(symbols), times, joined, neutral=mechanism.levels[0].padding > 0)
    return _places_of_mixtures(mechanism, by_level, ratios, weights)


def _places_of_mixtures(
    mechanism: PersonalisedMechanism, by_level: Sequence[KeyValueCounts], ratios: np.ndarray, weights: np.ndarray
) -> DenseLikelihood:
    """Ratios of levels, weighed for each different report by how likely it comes from each level under no pair."""
    reports = np.concatenate([part.reports for part in by_level])
    told = np.repeat(np.arange(len(by_level)), [len(part.reports) for part in by_level])
    many, (_, each, _) = len(mechanism.levels[0].keys), ratios.shape
    if reports.shape[0] * (many * each + 1) > MOST_NUMBERS:
        raise InputError(
            f"whole reports at protected levels take at most {MOST_NUMBERS} numbers, got {len(reports)} different ones "
            f"of {many} keys with {each} values: use method em"
        )
    elsewhere = np.stack([np.append(1 - one.other_shown, one.other_shown * one.fake_law) for one in mechanism.levels])
    with np.errstate(divide="ignore"):
        logs = np.log(weights)[:, told]
        logs = logs + sum(np.log(elsewhere[:, column]) for column in reports.T)
    from_level = np.exp(logs - logs.max(axis=0))
    from_level /= from_level.sum(axis=0)
    view = np.concatenate([np.einsum("io,ijo->jo", from_level, ratios[:, :, column]) for column in reports.T])
    if mechanism.levels[0].padding:
        view = np.vstack([view, np.ones(len(reports))])
    return DenseLikelihood([view], np.concatenate([part.counts for part in by_level]))


def likelihood_of_a_key(mechanism: PersonalisedMechanism, seen: np.ndarray, grid: InputGrid) -> DenseLikelihood:
    """Return the likelihood of what (r, 1 + m) was seen at one key; components are those of `key_likelihood`."""
    weights = weights_of_levels(mechanism, seen.sum(axis=1))
    laws = np.stack([key_law(level, grid) for level in mechanism.levels])
    view = np.einsum("ir,ijs->jrs", weights, laws).reshape(laws.shape[1], -1)
    return DenseLikelihood([view], seen.reshape(-1))
