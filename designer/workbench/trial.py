"""Trying a mechanism out: people drawn from the prior report, and an interval closes on their mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ...mechanisms.table.table import TabulatedMechanism
    from ..priors.prior import Prior
    from .answers import GoOn

MOST = 100_000
"""People who are simulated at most; their mean is clear by then."""

STEPS = 24
"""Numbers of people at which the estimate is shown."""

FEWEST = 20
"""Reports before the first estimate is shown."""


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
        The mean of all simulated people.
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
    >>> from optldp import design
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
