"""Trying a mechanism out: people drawn from the prior report, and what they tell is seen beside the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..priors.categorical import CategoricalPrior

if TYPE_CHECKING:
    from ...mechanisms.categorical.table import CategoricalTable
    from ...mechanisms.table.table import TabulatedMechanism
    from ..priors.prior import Prior
    from .answers import Answer, GoOn

MOST = 100_000
"""People who are simulated at most; their mean is clear by then."""

STEPS = 24
"""Numbers of people at which the estimate of a mean is shown."""

FEWER_STEPS = 6
"""And of a median, whose every estimate is a fit of a fifth of a second."""

FEWEST = 20
"""Reports before the first estimate of a mean is shown."""

MOST_OF_FIRST = 500
"""And of a median: from fewer nothing is told of it."""


@dataclass(frozen=True, eq=False)
class Trial:
    """Simulated people and what their reports tell, after 20 reports, more, and all.

    Attributes
    ----------
    people : (t,) ndarray of int
        Reports counted.
    estimate, low, high : (t,) ndarray of float
        The estimated mean and its 95% interval, in units of the values.
    truth : float
        The mean of all simulated people; the median of the prior that they are drawn from.
    """

    people: np.ndarray
    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    truth: float

    @property
    def inside(self) -> bool:
        """Whether the last interval holds the truth."""
        return bool(self.low[-1] <= self.truth <= self.high[-1])

    def facts(self) -> dict[str, Any]:
        """Return the numbers that the page shows."""
        return {
            "simulated": int(self.people[-1]),
            "truth": self.truth,
            "estimate": float(self.estimate[-1]),
            "low": float(self.low[-1]),
            "high": float(self.high[-1]),
        }


@dataclass(frozen=True, eq=False)
class Shares:
    """Simulated people, and what their reports tell of shares: of values below cuts, or of categories.

    Attributes
    ----------
    people : int
        Reports counted.
    of : tuple of str or (c,) ndarray of float
        The categories, or cuts between the knots.
    estimate, low, high : (c,) ndarray of float
        The share of values below each cut, or of each category, and its 95% interval.
    truth : (c,) ndarray of float
        Of the prior that people are drawn from.
    """

    people: int
    of: tuple[str, ...] | np.ndarray
    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    truth: np.ndarray

    @property
    def inside(self) -> int:
        """How many intervals hold the truth."""
        return int(((self.low <= self.truth) & (self.truth <= self.high)).sum())

    def facts(self) -> dict[str, Any]:
        """Return the numbers that the page shows."""
        return {"simulated": self.people, "shares": len(self.of), "inside": self.inside}


def tried(prior: Prior | CategoricalPrior, made: Answer, seed: int, go_on: GoOn = None) -> Trial | Shares:
    """Try the mechanism of an answer out on what was asked; see `trial`, `median`, `shares` and `categories`."""
    if isinstance(prior, CategoricalPrior):
        return categories(prior, made.design.mechanism, made.n, seed)
    if made.of == "distribution":
        return shares(made.design.prior, made.design.mechanism, made.n, seed)
    if made.of == "median":
        return median(made.design.prior, made.design.mechanism, made.n, seed, go_on)
    return trial(prior, made.design.mechanism, made.n, seed, go_on)


def shares(prior: Prior, mechanism: TabulatedMechanism, n: int, seed: int) -> Shares:
    """Draw people from the prior and reports of theirs, and estimate the distribution; arguments as those of `trial`.

    Example
    -------
    >>> from optldp import Prior, design
    >>> prior = Prior.on_knots([0, 5, 10], [2, 2, 1], source="public")
    >>> found = shares(prior, design(prior, 1.0).mechanism, 5_000, seed=1)
    >>> found.of.tolist(), found.inside
    ([2.5, 7.5], 2)
    """
    from ...estimators.count_reports import count
    from ...estimators.distributions.estimation import estimate_distribution

    rng, people = np.random.default_rng(seed), min(n, MOST)
    reports = mechanism.sample(rng.choice(prior.knots, people, p=prior.weights), rng)
    estimate = estimate_distribution(count(mechanism, reports))
    cuts = (prior.knots[:-1] + prior.knots[1:]) / 2
    told = [estimate.probability(float(prior.knots[0]), float(cut)) for cut in cuts]
    ends = np.array([(each.interval().low, each.interval().high) for each in told], dtype=float)
    values = np.array([each.value for each in told])
    return Shares(people, cuts, values, ends[:, 0], ends[:, 1], np.cumsum(prior.weights)[:-1])


def categories(prior: CategoricalPrior, mechanism: CategoricalTable, n: int, seed: int) -> Shares:
    """Draw people from the prior and reports of theirs, and estimate the shares; arguments as those of `trial`.

    Example
    -------
    >>> from optldp import CategoricalPrior, design
    >>> prior = CategoricalPrior("abc", [2, 2, 1])
    >>> categories(prior, design(prior, 1.0).mechanism, 5_000, seed=1).inside
    3
    """
    from ...estimators.count_reports import count
    from ...estimators.frequencies.estimation import estimate_frequencies

    rng, people = np.random.default_rng(seed), min(n, MOST)
    labels = np.array(prior.categories.labels)
    found = estimate_frequencies(count(mechanism, mechanism.sample(rng.choice(labels, people, p=prior.weights), rng)))
    ends = found.interval()
    return Shares(people, prior.categories.labels, found.value, ends.low, ends.high, prior.weights)


def median(prior: Prior, mechanism: TabulatedMechanism, n: int, seed: int, go_on: GoOn = None) -> Trial:
    """Draw people from the prior and reports of theirs, and estimate the median, of more and more of them.

    Arguments are those of `trial`.

    Example
    -------
    >>> from optldp import Prior, design
    >>> prior = Prior.on_knots([0, 5, 10], [2, 2, 1], source="public")
    >>> found = median(prior, design(prior, 1.0).mechanism, 5_000, seed=1)
    >>> found.truth, found.inside
    (5.0, True)
    """
    from ...estimators.count_reports import count
    from ...estimators.distributions.estimation import estimate_distribution

    rng, people = np.random.default_rng(seed), min(n, MOST)
    reports = mechanism.sample(rng.choice(prior.knots, people, p=prior.weights), rng)
    counted = np.unique(np.geomspace(min(MOST_OF_FIRST, people), people, FEWER_STEPS).round().astype(int))
    found = []
    for each in counted:
        if go_on is not None:
            go_on()
        found.append(estimate_distribution(count(mechanism, reports[:each])).quantile(0.5))
    ends = np.array([(each.interval().low, each.interval().high) for each in found], dtype=float)
    truth = float(prior.knots[int(np.searchsorted(np.cumsum(prior.weights), 0.5))])
    return Trial(counted, np.array([each.value for each in found]), ends[:, 0], ends[:, 1], truth)


def trial(prior: Prior, mechanism: TabulatedMechanism, n: int, seed: int, go_on: GoOn = None) -> Trial:
    """Draw people from the prior and reports of theirs, and estimate the mean again and again.

    Parameters
    ----------
    prior : Prior
    mechanism : TabulatedMechanism
    n : int
        People, at least 2; of more than 100,000 these are simulated.
    seed : int
    go_on : callable, optional
        Called before each estimate.

    Example
    -------
    >>> from optldp import Prior, design
    >>> prior = Prior.on_knots([0, 5, 10], [2, 2, 1], source="public")
    >>> found = trial(prior, design(prior, 1.0).mechanism, 5_000, seed=1)
    >>> int(found.people[-1]), found.inside
    (5000, True)
    """
    from ...estimators.count_reports import count
    from ...estimators.means.mean import estimate_mean

    rng, people = np.random.default_rng(seed), min(n, MOST)
    values = rng.choice(prior.knots, people, p=prior.weights)
    reports = mechanism.sample(values, rng)
    counted = np.unique(np.geomspace(min(FEWEST, people), people, STEPS).round().astype(int))
    found = []
    for each in counted:
        if go_on is not None:
            go_on()
        found.append(estimate_mean(count(mechanism, reports[:each])))
    intervals = [each.interval() for each in found]
    ends = np.array([(each.low, each.high) for each in intervals], dtype=float)
    return Trial(counted, np.array([each.value for each in found]), ends[:, 0], ends[:, 1], float(values.mean()))
