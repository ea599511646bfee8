"""What reports tell, as a mechanism declares it: estimators ask for its statistic, and never for its class.

There are two kinds. Of *whole outputs* there are few enough to have a law each, and all that an estimator may use is
how often each was reported. Reports that *support* some of the values, and say nothing else, may be too many to list;
what they say of a value is whether they support it, so that linear estimates need one sum a value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from .errors import InputError, unwired


@dataclass(frozen=True, eq=False)
class Outputs:
    """Reports are the numbers of m outputs, each with its probability under each value.

    Parameters
    ----------
    law : (K, m) ndarray of float
        Rows sum to one.

    Example
    -------
    >>> Outputs(np.array([[0.75, 0.25], [0.25, 0.75]])).randomised_response
    (0.75, 0.25)
    """

    law: np.ndarray

    @property
    def possible(self) -> np.ndarray:
        """(m,) whether some value gives the output a positive probability."""
        return self.law.max(axis=0) > 0

    @property
    def randomised_response(self) -> tuple[float, float] | None:
        """The probabilities of the own value and of any other one, if the law is randomised response; else None."""
        if self.law.shape[0] != self.law.shape[1]:
            return None
        own, others = np.diag(self.law), self.law[~np.eye(len(self.law), dtype=bool)]
        alike = (own == own[0]).all() and (others == others[0]).all() and own[0] > others[0]
        return (float(own[0]), float(others[0])) if alike else None


class Supports(ABC):
    """Reports support a set of K values and say nothing more.

    A report supports a user's own value with probability p*, any other one with q*, and is `support_ratio` times as
    likely under each value that it supports as under each that it does not.

    Source: Wang, Blocki, Li and Jha (2017), "Locally differentially private protocols for frequency estimation",
    section 3.
    """

    @property
    @abstractmethod
    def size(self) -> int:
        """K."""

    @property
    @abstractmethod
    def own_support(self) -> float:
        """p*, the probability that a report supports its user's value."""

    @property
    @abstractmethod
    def other_support(self) -> float:
        """q*, the probability that it supports any one other value."""

    @property
    @abstractmethod
    def support_ratio(self) -> float:
        """How many times likelier a report is under a value that it supports."""

    @abstractmethod
    def support(self, reports: np.ndarray) -> np.ndarray:
        """Return the values that each report supports as bits (N, ceil(K / 8)) uint8, the first highest."""

    @abstractmethod
    def all_reports(self) -> np.ndarray:
        """Return every report there is; InputError where there are more than a million."""

    @abstractmethod
    def log_elsewhere(self, reports: np.ndarray) -> np.ndarray:
        """Return the logarithm (N,) of the probability of each report under any value that it does not support."""

    @property
    @abstractmethod
    def most_apart(self) -> int:
        """How many values at most are supported by one of two reports and not by the other."""

    @property
    @abstractmethod
    def both_supported(self) -> tuple[float, float] | None:
        """Probabilities that a report supports the own value and one other, and that it supports two others.

        None where these are not the same for all values.
        """

    def frequency_variance(self, frequency: float | np.ndarray = 0.0) -> float | np.ndarray:
        """Return the variance of one user's share in the unbiased estimate of a frequency that is f among the users.

        (f p* (1 - p*) + (1 - f) q* (1 - q*)) / (p* - q*)^2; over n users it is divided by n.

        Source: Wang et al. (2017), equation (3), given the users' data.
        """
        p, q = self.own_support, self.other_support
        return (frequency * p * (1 - p) + (1 - frequency) * q * (1 - q)) / (p - q) ** 2

    @property
    def independent(self) -> bool:
        """Whether values are supported independently of each other, given the own one."""
        return False

    @property
    def fixed_size(self) -> int | None:
        """How many values every report supports; None where some support more than others."""
        return None

    @property
    def n_listed(self) -> int | None:
        """How many reports there are, if they are numbers from 0 and few; None for others."""
        return None


Statistic = Outputs | Supports
"""What is read today; whoever reads one refuses a third by its name, by `as_supports` or `unread`."""


def as_supports(statistic: Statistic) -> Supports | None:
    """Return the statistic if reports support values, None if they are whole outputs; InputError for any other.

    Example
    -------
    >>> as_supports(Outputs(np.eye(2)))
    >>> as_supports("sketch")
    Traceback (most recent call last):
        ...
    optldp.mechanisms.errors.InputError: statistic 'str' is known by name, and nothing here works by it: choose another
    """
    match statistic:
        case Outputs():
            return None
        case Supports():
            return statistic
        case _:
            raise unread(statistic)


def unread(statistic: object) -> InputError:
    """Return the refusal that every choice by statistic ends in: a third must not be read as one of the two.

    Example
    -------
    >>> print(unread(1.0))
    statistic 'float' is known by name, and nothing here works by it: choose another
    """
    return unwired("statistic", type(statistic).__name__)
