"""What is estimated from personalised reports: frequencies of values, and the shares of the privacy levels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..frequencies.frequencies import FrequencyEstimate
from .counts import PersonalisedCounts


@dataclass(frozen=True, eq=False)
class LevelShares:
    """The share of the users on each privacy level.

    Parameters
    ----------
    shares : (t,) ndarray of float
        Unbiased ones may be negative; they sum to one.
    covariance : (t, t) ndarray of float
        Of the estimates, for shares of a population that the users are drawn from.
    """

    shares: np.ndarray
    covariance: np.ndarray

    @property
    def std_errors(self) -> np.ndarray:
        """(t,) standard errors of the shares."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))


@dataclass(frozen=True, eq=False)
class PersonalisedEstimate:
    """Frequencies of the categories with intervals, and shares of the levels.

    Parameters
    ----------
    frequency : FrequencyEstimate
        Its method is "unbiased" for `auem`, "mle" for `personalised_mle`.
    shares : LevelShares
    """

    frequency: FrequencyEstimate
    shares: LevelShares

    @property
    def frequencies(self) -> np.ndarray:
        """(K,) estimated frequencies of the categories."""
        return self.frequency.frequencies


def level_shares(counts: PersonalisedCounts) -> LevelShares:
    """Return the unbiased shares of the levels: the reported levels' shares r times the inverse of their response.

    rho = T^-T r, with T[i, l] the probability that level i is reported as l; r is a multinomial mean, so the
    covariance is T^-T (diag(r) - r r^T) T^-1 / n.

    Raises
    ------
    InputError
        No reports.

    Source
    ------
    Wu, Zhu, Zhang and Xie (2024), equation (4).

    Example
    -------
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> from optldp.mechanisms.composed.personalised import PersonalisedMechanism, PersonalisedReports
    >>> made = PersonalisedMechanism([categorical_grr(["yes", "no"], e) for e in (0.5, 1.0)], 1.0)
    >>> reported = np.repeat([0, 1], [600, 400])
    >>> counts = PersonalisedCounts.from_reports(made, PersonalisedReports(reported, reported))
    >>> found = level_shares(counts)
    >>> found.shares.round(4), found.std_errors.round(4)
    (array([0.7164, 0.2836]), array([0.0335, 0.0335]))
    """
    counts.require_reports()
    inverse = np.linalg.inv(counts.mechanism.level_response)
    seen = counts.level_counts / counts.n_users
    covariance = inverse.T @ (np.diag(seen) - np.outer(seen, seen)) @ inverse / counts.n_users
    return LevelShares(seen @ inverse, covariance)
