"""What is estimated from personalised reports: frequencies of values, and the shares of the privacy levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...mechanisms.combinators.personalised import PersonalisedMechanism
from ..distributions.distribution import DistributionEstimate
from ..estimate import Estimate
from ..frequencies.frequencies import FrequencyEstimate
from ..intervals import CONFIDENCE, Interval, normal_interval
from ..methods import Target
from .counts import PersonalisedCounts
from .fit import JointFit


@dataclass(frozen=True, eq=False, repr=False)
class LevelShares(Estimate):
    """The share of the users on each privacy level.

    Parameters
    ----------
    levels : (t,) tuple of float
        The levels' budgets.
    value : (t,) ndarray of float
        Unbiased ones may be negative; they sum to one.
    covariance : (t, t) ndarray of float
        Of the estimates, for shares of a population that the users are drawn from.
    n : int
        Number of users.
    method : {"unbiased", "mle"}
    target : {"population"}

    Example
    -------
    >>> from optldp.estimators import auem, count
    >>> from optldp.mechanisms import PersonalisedMechanism
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> made = PersonalisedMechanism([categorical_grr(["yes", "no"], epsilon) for epsilon in (1.0, 2.0)])
    >>> sent = made.sample(["yes", "yes", "no", "no"] * 100, [0, 1] * 200, np.random.default_rng(1))
    >>> auem(count(made, sent)).level_shares
    LevelShares(numbers=2, largest='1: 0.5', n=400, method='unbiased')
    """

    levels: tuple[float, ...]
    value: np.ndarray
    covariance: np.ndarray
    n: int
    method: str
    target: Target = "population"

    @property
    def std_error(self) -> np.ndarray:
        """(t,) standard errors of the shares."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def labels(self) -> Mapping[str, Sequence[Any]]:
        """The levels."""
        return {"level": self.levels}

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return normal intervals within [0, 1]; InputError for a confidence outside (0, 1)."""
        return normal_interval(self.value, self.std_error, confidence, 0.0, 1.0)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PersonalisedFrequencies(FrequencyEstimate):
    """Frequencies of the categories, and shares of the levels.

    Parameters
    ----------
    level_shares : LevelShares
    joint : JointFit, optional
        For "mle": log-likelihood, iterations and certificates.

    Example
    -------
    >>> from optldp.estimators import auem, count
    >>> from optldp.mechanisms import PersonalisedMechanism
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> made = PersonalisedMechanism([categorical_grr(["yes", "no"], epsilon) for epsilon in (1.0, 2.0)])
    >>> sent = made.sample(["yes", "yes", "no", "no"] * 100, [0, 1] * 200, np.random.default_rng(1))
    >>> auem(count(made, sent))
    PersonalisedFrequencies(numbers=2, largest='no: 0.528602', n=400, method='unbiased')
    """

    level_shares: LevelShares
    joint: JointFit | None = None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PersonalisedDistribution(DistributionEstimate):
    """A distribution with bands, mean and quantiles, and shares of the levels.

    Parameters
    ----------
    level_shares : LevelShares
    joint : JointFit
        What `fit` summarises: its certificate is the joint one.

    Example
    -------
    >>> from optldp.estimators import count, personalised_distribution
    >>> from optldp.mechanisms import PersonalisedMechanism, duchi, make_exact
    >>> made = PersonalisedMechanism([make_exact(duchi([0.0, 1.0], epsilon)).mechanism for epsilon in (1.0, 2.0)])
    >>> sent = made.sample([0.25, 0.25] * 200, [0, 1] * 200, np.random.default_rng(1))
    >>> personalised_distribution(count(made, sent))
    PersonalisedDistribution(numbers=2, mean=0.200167, std_error=0.0359334, n=400, method='em')
    """

    level_shares: LevelShares
    joint: JointFit


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
    >>> from optldp.mechanisms.combinators.personalised import PersonalisedMechanism, PersonalisedReports
    >>> made = PersonalisedMechanism([categorical_grr(["yes", "no"], e) for e in (0.5, 1.0)], 1.0)
    >>> reported = np.repeat([0, 1], [600, 400])
    >>> counts = PersonalisedCounts.from_reports(made, PersonalisedReports(reported, reported))
    >>> found = level_shares(counts)
    >>> found.value.round(4), found.std_error.round(4)
    (array([0.7164, 0.2836]), array([0.0335, 0.0335]))
    """
    counts.require_reports()
    return shares_of_reports(counts.mechanism, counts.level_counts)


def shares_of_reports(mechanism: PersonalisedMechanism, reported: np.ndarray) -> LevelShares:
    """Return the same of how often (m,) each report of a level was sent, some at least."""
    inverse, n = mechanism.level_report.decoder, int(reported.sum())
    seen = reported / n
    covariance = inverse.T @ (np.diag(seen) - np.outer(seen, seen)) @ inverse / n
    return LevelShares(mechanism.epsilons, seen @ inverse, covariance, n, "unbiased")
