"""The likelihood of key-value reports: of whole reports under all pairs, or of what one key's place shows."""

from functools import singledispatch

import numpy as np

from ...mechanisms.cost import fit_cost, require_affordable
from ...mechanisms.errors import InputError
from ...mechanisms.key_value.mechanism import KeyValueMechanism
from ...solvers.likelihood.dense import DenseLikelihood
from ...solvers.likelihood.mixture import MixtureLikelihood
from ...solvers.likelihood.places import PlaceLikelihood
from ..input_grid import InputGrid
from .counts import KeyValueCounts, ShownCounts


@singledispatch
def joint_likelihood(counts: KeyValueCounts | ShownCounts, grid: InputGrid) -> MixtureLikelihood:
    r"""Return the likelihood of whole reports; component k J + j is key k with a value of the grid's component j.

    Where there is padding, one more component, the last, stands for users whose sampled key is a dummy. Exact for both
    forms; of a set it is the sampled pair that counts. Randomised response has a table of K m + 1 reports. In the unary
    form a pair changes the probability of a report by a factor that depends on what it shows at that key alone, so
    nothing but distinct reports need be kept: R of them, a step of EM costing R K.

    Parameters
    ----------
    counts : KeyValueCounts, or a kind that is registered
        At least one report.
    grid : InputGrid
        J components within the domain of the value table.

    Raises
    ------
    InputError
        No reports, counts of what is shown alone, or a grid outside the domain.

    Example
    -------
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> from optldp.mechanisms.key_value.unary import key_value_unary
    >>> made = key_value_unary(["a", "b"], duchi([0.0, 1.0], 1.0), 1.0)
    >>> counts = KeyValueCounts.from_reports(made, [[0, 2], [1, 2], [0, 2]])
    >>> likelihood = joint_likelihood(counts, InputGrid.knots([0.0, 1.0]))
    >>> likelihood.n_components, likelihood.counts.tolist()
    (5, [2.0, 1.0])
    """
    if isinstance(counts, ShownCounts):
        raise InputError("method joint needs whole reports, got counts of what they show: use KeyValueCounts")
    counts.require_reports()
    mechanism = counts.mechanism
    if mechanism.independent:
        ratios = place_ratios(mechanism, grid)
        return PlaceLikelihood(counts.reports, counts.counts, ratios, neutral=mechanism.padding > 0)
    require_modest_responses(mechanism, grid)
    return DenseLikelihood([response_table(mechanism, grid)], response_counts(counts))


def place_ratios(mechanism: KeyValueMechanism, grid: InputGrid) -> np.ndarray:
    """Return how many times likelier (J, 1 + m) nothing, or each output, is at the own place than at another."""
    rows, own, other = grid.rows(mechanism.value), mechanism.own_shown, mechanism.other_shown
    hidden = np.full((len(rows), 1), (1 - own) / (1 - other))
    never = mechanism.fake == 0  # such outputs are not seen
    shown = own * rows / (other * np.where(never, 1.0, mechanism.fake_law))
    return np.hstack([hidden, np.where(never, 1.0, shown)])


def require_modest_responses(mechanism: KeyValueMechanism, grid: InputGrid, levels: int = 1) -> None:
    """Raise InputError where a fit to the whole reports of one place, at so many levels, would cost too much."""
    n_keys, size = len(mechanism.keys), mechanism.value.low.size
    what = f"a fit of the pairs of {n_keys} keys and {grid.size} values to all places and outputs at once"
    require_affordable(what, fit_cost(n_keys * grid.size, levels * n_keys * size), "use method em or unbiased")


def response_counts(counts: KeyValueCounts) -> np.ndarray:
    """Return how often each place and output was shown, all dummies counting as one: a column of `response_table`."""
    seen = counts.shown.reshape(-1)
    return np.append(seen, counts.n_users - seen.sum()) if counts.mechanism.padding else seen


def response_table(mechanism: KeyValueMechanism, grid: InputGrid) -> np.ndarray:
    """(K J + 1, K m + 1) probability of each place and output, all dummies counting as one; without padding no ones."""
    rows = grid.rows(mechanism.value)
    n_keys, (each, size) = len(mechanism.keys), rows.shape
    own, other, padding = mechanism.own_shown, mechanism.other_shown, mechanism.padding
    table = np.tile(other * mechanism.fake_law, (n_keys * each, n_keys))
    for k in range(n_keys):
        table[k * each : (k + 1) * each, k * size : (k + 1) * size] = own * rows
    if not padding:
        return table
    dummies = np.full((len(table), 1), padding * other)
    neutral = np.append(np.tile(other * mechanism.fake_law, n_keys), own + (padding - 1) * other)
    return np.vstack([np.hstack([table, dummies]), neutral])


@singledispatch
def key_likelihood(counts: KeyValueCounts | ShownCounts, key: int, grid: InputGrid) -> DenseLikelihood:
    r"""Return the likelihood of what the reports show at one key; J components hold the key, the last one does not.

    It forgets that the frequencies of all keys sum to one and what other places say, and needs counts alone.

    Parameters
    ----------
    counts : KeyValueCounts, ShownCounts, or a kind that is registered
        Of at least one user.
    key : int
        Its position.
    grid : InputGrid
        J components within the domain of the value table.

    Raises
    ------
    InputError
        No users, or a grid outside the domain.

    Source: Ye, Wang, Zhang and Feng (2025), section V.C and appendix D.

    Example
    -------
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> from optldp.mechanisms.key_value.unary import key_value_unary
    >>> made = key_value_unary(["a", "b"], duchi([0.0, 1.0], 1.0), 1.0)
    >>> counts = ShownCounts.from_reports(made, [[0, 2], [1, 2], [0, 2]])
    >>> key_likelihood(counts, 0, InputGrid.knots([0.0, 1.0])).counts.tolist()
    [2.0, 1.0, 0.0]
    """
    seen = np.append(counts.hidden[key], counts.shown[key])
    return DenseLikelihood([key_law(counts.mechanism, grid)], seen)


def key_law(mechanism: KeyValueMechanism, grid: InputGrid) -> np.ndarray:
    """Return the law (J + 1, 1 + m) of what is shown at a key, nothing or an output: held with each value, or not held.

    Example
    -------
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> from optldp.mechanisms.key_value.unary import key_value_unary
    >>> key_law(key_value_unary(["a", "b"], duchi([0.0, 1.0], 1.0), 1.0), InputGrid.knots([0.0, 1.0])).round(2)
    array([[0.5 , 0.37, 0.13],
           [0.5 , 0.13, 0.37],
           [0.65, 0.17, 0.17]])
    """
    rows, own, other = grid.rows(mechanism.value), mechanism.own_shown, mechanism.other_shown
    held = np.hstack([np.full((len(rows), 1), 1 - own), own * rows])
    return np.vstack([held, np.append(1 - other, other * mechanism.fake_law)])
