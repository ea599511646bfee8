"""How many users hold each key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..estimate import Estimate
from ..intervals import CONFIDENCE, Interval, normal_interval
from ..methods import Target


@dataclass(frozen=True, eq=False, repr=False)
class KeyFrequencies(Estimate):
    """The share of the users who hold each of K keys.

    Parameters
    ----------
    keys : tuple of str
    unbiased : (K,) ndarray of float
        Their shares before clipping, which intervals are about; fitted ones as they are.
    std_error : (K,) ndarray of float
        NaN for fits.
    n : int
        Number of users.
    method : str
    target : {"population", "users"}

    Example
    -------
    >>> from optldp.estimators import count, estimate_key_means
    >>> from optldp.mechanisms import duchi, make_exact
    >>> from optldp.mechanisms.key_value.unary import key_value_unary
    >>> made = key_value_unary(["a", "b"], make_exact(duchi([0.0, 1.0], 2.0)).mechanism, 2.0)
    >>> sent = made.sample(["a", "b"] * 500, [0.25, 0.75] * 500, np.random.default_rng(1))
    >>> estimate_key_means(count(made, sent)).frequencies
    KeyFrequencies(numbers=2, largest='a: 0.502422', n=1000, method='unbiased')
    """

    keys: tuple[str, ...]
    unbiased: np.ndarray
    std_error: np.ndarray
    n: int
    method: str
    target: Target = "population"

    @property
    def value(self) -> np.ndarray:
        """(K,) shares within [1 / n, 1]; fitted ones may be zero."""
        return np.clip(self.unbiased, 1.0 / self.n if self.method == "unbiased" else 0.0, 1.0)

    @property
    def labels(self) -> Mapping[str, Sequence[Any]]:
        """The keys."""
        return {"key": self.keys}

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return normal intervals within [0, 1]; InputError for a confidence outside (0, 1)."""
        return normal_interval(self.unbiased, self.std_error, confidence, 0.0, 1.0)


class KeyMeans(Estimate):
    """The mean value of each key's holders, in input units, and how many users hold it.

    Attributes
    ----------
    keys : tuple of str
    frequencies : KeyFrequencies
    """

    keys: tuple[str, ...]
    frequencies: KeyFrequencies

    @property
    def labels(self) -> Mapping[str, Sequence[Any]]:
        """The keys."""
        return {"key": self.keys}

    def to_dict(self, confidence: float = CONFIDENCE) -> dict[str, Any]:
        """Return what every estimate has of the means, and `frequency`, its standard error and its interval's ends."""
        found = self.frequencies.to_dict(confidence)
        names = {"value": "frequency", **{name: f"frequency_{name}" for name in ("std_error", "low", "high")}}
        return super().to_dict(confidence) | {name: found[fact] for fact, name in names.items()}
