"""Frequencies of keys and distributions of their values, by maximum likelihood and by mixture reduction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mechanisms.cost import fits_cost, require_affordable
from ...mechanisms.errors import InputError
from ...mechanisms.registered import registered
from ...solvers.likelihood.fit import MixtureFit
from ..input_grid import InputGrid
from ..intervals import CONFIDENCE, Interval, check_confidence
from ..methods import KEY_VALUES, KeyValueMethod, Target
from .counts import KeyCounts
from .shares import KeyFrequencies, KeyMeans
from .ways import Way


@dataclass(frozen=True, eq=False, repr=False)
class KeyValueFit(KeyMeans):
    """A distribution of values for each of K keys; its means and frequencies have no standard errors.

    Parameters
    ----------
    keys : tuple of str
    grid : InputGrid
        J components of the values.
    shares : (K, J) ndarray
        Share of all users that sampled the key with a value of the component.
    frequencies : KeyFrequencies
        Share of users that hold the key, at most 1.
    fits : tuple of MixtureFit
        One for all keys, or one for each; each has the certificate of its own likelihood.
    method : {"joint", "em", "mr"}
    n : int
        Number of users.
    target : {"population"}

    Example
    -------
    >>> from optldp.estimators import count, fit_key_values
    >>> from optldp.mechanisms import duchi, make_exact
    >>> from optldp.mechanisms.key_value.unary import key_value_unary
    >>> made = key_value_unary(["a", "b"], make_exact(duchi([0.0, 1.0], 2.0)).mechanism, 2.0)
    >>> sent = made.sample(["a", "b"] * 500, [0.25, 0.75] * 500, np.random.default_rng(1))
    >>> fit_key_values(count(made, sent))
    KeyValueFit(numbers=2, largest='b: 0.671925', n=1000, method='joint')
    """

    keys: tuple[str, ...]
    grid: InputGrid
    shares: np.ndarray
    frequencies: KeyFrequencies
    fits: tuple[MixtureFit, ...]
    method: str
    n: int
    target: Target = "population"

    @property
    def distributions(self) -> np.ndarray:
        """(K, J) distribution of the values of each key's holders; even where nobody seems to hold the key."""
        total = self.shares.sum(axis=1, keepdims=True)
        return np.divide(self.shares, total, out=np.full(self.shares.shape, 1.0 / self.grid.size), where=total > 0)

    @property
    def value(self) -> np.ndarray:
        """(K,) mean value of each key's holders; input units."""
        return self.distributions @ self.grid.points

    @property
    def std_error(self) -> np.ndarray:
        """(K,) NaN."""
        return np.full(len(self.keys), np.nan)

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return ends that are NaN; InputError for a confidence outside (0, 1)."""
        check_confidence(confidence)
        return Interval(self.std_error, self.std_error, confidence)


def fit_key_values(
    counts: KeyCounts,
    *,
    method: KeyValueMethod = "joint",
    grid: InputGrid | None = None,
    loglik_change: float | None = None,
) -> KeyValueFit:
    """Estimate how many users hold each key, and the distribution of its values.

    Parameters
    ----------
    counts : KeyValueCounts, ShownCounts or PersonalisedPairCounts
        At least one report; the second for "em" and "mr" alone.
    method : {"joint", "em", "mr"}
        "joint": the maximum of the likelihood of whole reports, over all pairs at once. "em": EM for each key on what
        its place shows. "mr": mixture reduction of the same by the numeric rule, with windows within one key's values.
        Not holding the key is one more component, too heavy to be merged.
    grid : InputGrid, optional
        Of the values. Default: the knots of the value table.
    loglik_change : float, optional
        For "em" and "mr": where EM stops, which smooths; default 1e-3. For "joint": plain EM with this stop instead of
        the maximum.

    Returns
    -------
    fit : KeyValueFit
        Its `value` has the mean of each key's values, `frequencies` the shares of users who hold it, and `fits` the
        distributions, each with a certificate.

    Raises
    ------
    InputError
        An unknown method, no reports, a grid outside the domain, or a fit that would cost too much, see `allow_large`.

    Source: Ye, Wang, Zhang and Feng (2025), section V.C and appendix D, for "em" and "mr"; they keep the frequencies of
    the unbiased estimate; here both are fitted.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import fit_key_values
    >>> from optldp.estimators.key_values.counts import KeyValueCounts
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> from optldp.mechanisms.key_value.unary import key_value_unary
    >>> made = key_value_unary(["a", "b"], duchi([0.0, 10.0], 2.0), 2.0)
    >>> rng = np.random.default_rng(1)
    >>> reports = made.sample(np.repeat(["a", "b"], [15_000, 5_000]), np.repeat([2.0, 7.0], [15_000, 5_000]), rng)
    >>> found = fit_key_values(KeyValueCounts.from_reports(made, reports))
    >>> found.frequencies.value.round(2), found.value.round(1), found.fits[0].certificate < 1e-8
    (array([0.74, 0.26]), array([2., 7.]), True)
    """
    if method not in KEY_VALUES:
        raise InputError(f"method must be one of {', '.join(KEY_VALUES)}, got {method!r}")
    place = InputGrid.common(counts.tables) if grid is None else grid
    keys, n_keys, n = counts.keys, len(counts.keys), counts.n_users
    what = f"a fit of {n_keys} keys, each of {place.size} values and {counts.symbols} outputs"
    require_affordable(what, fits_cost(n_keys, place.size, counts.symbols), "use method unbiased")
    way: Way = registered("optldp.estimators.key_values", KEY_VALUES[method].at, "method", method)
    fits, shares = way(counts, place, loglik_change)
    held = counts.share_scale * shares.sum(axis=1)
    frequencies = KeyFrequencies(keys, held, np.full(n_keys, np.nan), n, method)
    return KeyValueFit(keys, place, shares, frequencies, fits, method, n)
