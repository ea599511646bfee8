"""From values of a feature to its table, and what a mechanism of features is expected to err by."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...mechanisms.categorical.mechanism import CategoricalMechanism
from ...mechanisms.errors import InputError
from ...mechanisms.features import Features
from ...mechanisms.table.table import TabulatedMechanism
from ..designs.design import design
from ..priors.prior import Prior, Source

MOST_KNOTS = 401
"""Different values of a feature that are knots themselves; more are rounded to even ones."""

EVEN_KNOTS = 101

SAME_VALUE = 1e-9
"""As a share of a feature's range, how far apart values are that are one."""

Box = Mapping[str, tuple[float, float]]
"""Columns, in their order, with the range of each."""

SHARE_UNIT = 10_000
"""Shares of the users are written as whole numbers of so many."""

LEAST_SHARE = 4
"""Standard errors that a group's share must be from zero for errors of means over it to be predicted: nearer, a ratio
errs by more than any moment says."""


@dataclass(frozen=True, eq=False)
class FeaturesDesign:
    """A mechanism of features, and the expected errors of estimates of its target.

    Attributes
    ----------
    mechanism : Features or CategoricalMechanism
        The latter of cells.
    names : tuple of str
        Of the numbers of the target, such as the slopes of a regression.
    variances : (k,) ndarray of float
        n times the variance of each number, in its squared units.
    open_variances : (k,) ndarray of float
        The same of open records.
    bias_low, bias_high : (k,) ndarray of float
        Least and largest bias by clipping, measured on the pilot.
    target : str
        Target of the features.
    hopeless : float or (k,) ndarray of float
        Standard errors beyond which reports carry no information.
    share_variances : float or (k,) ndarray of float
        n times the variance of what each number is divided by, relative to its square: of means of groups.

    Example
    -------
    >>> import math
    >>> from optldp.designer.features import Pilot, design_association
    >>> signs = Pilot(("x", "y"), [[a, b] for a in (-1, 1) for b in (-1, 1)])
    >>> made = design_association("correlation", {"x": (-1, 1), "y": (-1, 1)}, 1.0, signs, clip=math.inf)
    >>> made.variances.round(3), made.people(0.05), made.people_within(0.05)
    (array([4.683]), 1874, 7196)
    """

    mechanism: Features | CategoricalMechanism
    names: tuple[str, ...]
    variances: np.ndarray
    open_variances: np.ndarray
    bias_low: np.ndarray
    bias_high: np.ndarray
    target: str
    hopeless: float | np.ndarray = math.inf
    share_variances: float | np.ndarray = 0.0

    def std_errors(self, people: int) -> np.ndarray:
        """Return the standard error (k,) of each number with so many people.

        With z the relative error of what a number is divided by, of variance v, the square grows by the mean of
        1 / (1 + z)^2, which is 1 + 3 v to second order; see `least_people`.
        """
        return np.sqrt(self.variances / people * (1 + 3 * self.share_variances / people))

    @property
    def least_people(self) -> int:
        """From how many people on errors are predicted: those who tell each group's share from zero."""
        return math.ceil(LEAST_SHARE**2 * float(np.max(self.share_variances)))

    def people(self, error: float | np.ndarray) -> int:
        """Return how many people a standard error takes, or one (k,) of each number, of the number that takes most."""
        first = self.variances / np.square(error)
        second = first / 2 + np.sqrt(np.square(first) / 4 + 3 * first * self.share_variances)
        return max(math.ceil(float(second.max()) * (1 - 1e-12)), self.least_people)

    def people_within(self, error: float, score: float = 1.959963984540054) -> int:
        """Return how many people it takes to be within an error in 95% of cases."""
        return self.people(error / score)

    def worth(self, people: int) -> int:
        """Return how many open records tell as much as the reports of so many people."""
        return int(people * float((self.open_variances / self.variances).min()))


def feature_prior(
    values: np.ndarray,
    weights: np.ndarray,
    domain: tuple[float, float],
    source: Source = "public",
    *,
    most: int = MOST_KNOTS,
) -> Prior:
    """Return the prior of a feature: on its own values where these are few, else on even knots.

    Parameters
    ----------
    values : (K,) ndarray of float
        Those beyond the domain count as its nearer end.
    weights : (K,) ndarray of float
    domain : (float, float)
    source : {"public", "private-report", "sensitive"}
    most : int
        Knots up to which values are knots themselves: fewer for one of many features, whose tables share a file.

    Example
    -------
    >>> feature_prior(np.array([0.0, 1.0, 1.0 + 1e-12, 5.0]), np.ones(4), (0.0, 2.0)).knots
    array([0., 1., 2.])
    """
    low, high = domain
    inside = np.clip(values, low, high)
    places = np.unique(np.append((inside - low) / (high - low), [0.0, 1.0]))
    # Values of a formula that differ by rounding alone are one knot; both ends stay themselves.
    places = np.concatenate([[0.0], places[1:][np.diff(places) > SAME_VALUE]])
    own = places * (high - low) + low
    own[-1] = high
    knots = own if own.size <= most else np.linspace(low, high, EVEN_KNOTS)
    return Prior.from_pairs(inside, weights, knots=knots, domain=domain, source=source)


def designed_table(prior: Prior, epsilon: float, uniform_share: float) -> tuple[TabulatedMechanism, float]:
    """Return the optimal table of a feature and the variance of one report, of the feature's values included.

    Example
    -------
    >>> table, variance = designed_table(Prior.even([-1.0, 1.0]), 1.0, 0.0)
    >>> round(variance, 3)
    4.683
    """
    made = design(prior, epsilon, uniform_share=uniform_share)
    spread = prior.second_moment - prior.mean**2
    assert made.expected_variance is not None
    return made.mechanism, float(made.expected_variance + spread)


def whole_shares(shares: Sequence[float] | np.ndarray) -> list[int]:
    """Return shares of the users as whole numbers, at least one each.

    Example
    -------
    >>> whole_shares([0.25, 0.75])
    [2500, 7500]
    """
    return [max(1, round(float(share) * SHARE_UNIT)) for share in shares]


def people_of(made: FeaturesDesign, people: int | None, error: float | None = None) -> dict[str, float]:
    """Return the error with so many people, or the people that an error needs, by name; InputError where that is
    hopeless.

    Parameters
    ----------
    made : FeaturesDesign
    people : int, optional
        People whose error is wanted; a target on which they carry no information is refused.
    error : float, optional
        A standard error, in the target's units, for which people are wanted.

    Returns
    -------
    facts : dict of str to float

    Raises
    ------
    InputError
        An error that is not positive, or too few people to learn anything.

    Example
    -------
    >>> import math
    >>> from optldp.designer.features import Pilot, design_association
    >>> signs = Pilot(("x", "y"), [[a, b] for a in (-1, 1) for b in (-1, 1)])
    >>> made = design_association("correlation", {"x": (-1, 1), "y": (-1, 1)}, 1.0, signs, clip=math.inf)
    >>> from optldp.designer.features.design import people_of
    >>> people_of(made, 10)
    Traceback (most recent call last):
        ...
    optldp.mechanisms.errors.InputError: correlation must be told within 0.5 to say anything, got a standard error \
of 0.68 with 10 people: it takes 19, or a larger epsilon
    """
    if error is not None and not 0 < error < math.inf:
        raise InputError(f"the error must be positive and finite, got {error!r}")
    facts: dict[str, float] = {
        "variance_times_n": float(made.variances.max()),
        "bias_low": float(made.bias_low.min()),
        "bias_high": float(made.bias_high.max()),
    }
    if error is not None:
        people = made.people(error)
        return facts | {
            "error": error, "people": people, "people_within": made.people_within(error),
            "worth_open_records": made.worth(people),
        }  # fmt: skip
    if people is None:
        return facts
    if people < made.least_people:
        worst = int(np.argmax(made.share_variances))
        off = math.sqrt(float(np.max(made.share_variances)) / people)
        raise InputError(
            f"the share of group {made.names[worst]!r} must be told within {1 / LEAST_SHARE:.0%} of itself for its "
            f"mean, got {off:.0%} with {people:,} people: it takes {made.least_people:,}, or "
            "fewer groups"
        )
    errors = made.std_errors(people)
    far = errors / made.hopeless
    if far.max() > 1:
        worst = int(far.argmax())
        limit = float(np.broadcast_to(made.hopeless, errors.shape)[worst])
        needed = made.people(made.hopeless)
        raise InputError(
            f"{made.target} must be told within {limit:.3g} to say anything, got a standard error of "
            f"{errors[worst]:.2g} with {people:,} people: it takes {needed:,}, or a larger epsilon"
        )
    found = float(errors.max())
    return facts | {"error": found, "people": people, "worth_open_records": made.worth(people)}
