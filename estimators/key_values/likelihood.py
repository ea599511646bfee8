"""The likelihood of key-value reports: of whole reports under all pairs, or of what one key's place shows."""

import numpy as np

from ...mechanisms.key_value.mechanism import KeyValueMechanism
from ...mechanisms.key_value.unary import KeyValueUnary
from ...solvers.likelihood.dense import DenseLikelihood
from ...solvers.likelihood.mixture import MixtureLikelihood
from ...solvers.likelihood.places import PlaceLikelihood
from ..input_grid import InputGrid
from .counts import KeyValueCounts, ShownCounts


def joint_likelihood(counts: KeyValueCounts, grid: InputGrid) -> MixtureLikelihood:
    r"""Return the likelihood of whole reports; component k J + j is key k with a value of the grid's component j.

    Where there is padding, one more component, the last, stands for users whose sampled key is a dummy. Exact for both
    forms; of a set it is the sampled pair that counts. Randomised response has a table of K m + 1 reports. In the unary
    form a pair changes the probability of a report by a factor that depends on what it shows at that key alone, so
    nothing but distinct reports need be kept: R of them, a step of EM costing R K.

    Parameters
    ----------
    counts : KeyValueCounts
        At least one report.
    grid : InputGrid
        J components within the domain of the value table.

    Raises
    ------
    InputError
        No reports, or a grid outside the domain.

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
    counts.require_reports()
    mechanism = counts.mechanism
    rows = grid.rows(mechanism.value)
    if isinstance(mechanism, KeyValueUnary):
        own, other, fake = mechanism.own_shown, mechanism.other_shown, mechanism.fake_law
        hidden = np.full((len(rows), 1), (1 - own) / (1 - other))
        never = fake == 0  # such outputs are not seen
        shown = own * rows / (other * np.where(never, 1.0, fake))
        ratios = np.hstack([hidden, np.where(never, 1.0, shown)])
        return PlaceLikelihood(counts.reports, counts.counts, ratios, neutral=mechanism.padding > 0)
    table, seen = _response_table(mechanism, rows), counts.shown.reshape(-1)
    return DenseLikelihood([table], np.append(seen, counts.n_users - seen.sum()) if mechanism.padding else seen)


def _response_table(mechanism: KeyValueMechanism, rows: np.ndarray) -> np.ndarray:
    """(K J + 1, K m + 1) probability of each place and output, all dummies counting as one; without padding no ones."""
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


def key_likelihood(counts: KeyValueCounts | ShownCounts, key: int, grid: InputGrid) -> DenseLikelihood:
    r"""Return the likelihood of what the reports show at one key; J components hold the key, the last one does not.

    It forgets that the frequencies of all keys sum to one and what other places say, and needs counts alone.

    Parameters
    ----------
    counts : KeyValueCounts or ShownCounts
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
    mechanism = counts.mechanism
    own, other = mechanism.own_shown, mechanism.other_shown
    rows = grid.rows(mechanism.value)
    held = np.hstack([np.full((len(rows), 1), 1 - own), own * rows])
    elsewhere = np.append(1 - other, other * mechanism.fake_law)
    seen = np.append(counts.hidden[key], counts.shown[key])
    return DenseLikelihood([np.vstack([held, elsewhere])], seen)
