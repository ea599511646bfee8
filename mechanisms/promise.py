"""What a mechanism promises of any two values: pure privacy, all but a delta of it, or privacy by distance.

A promise is plain data. What a table's numbers show of it is for `exactness`; here it is only said, and read from and
written to the member `promise` of a file, which pure tables do not have: there epsilon alone says it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from .budget import check_epsilon
from .errors import InputError, TableError


@dataclass(frozen=True)
class Promise(ABC):
    """A promise of local privacy with a budget epsilon; each kind says what else it holds, and what it means."""

    epsilon: float

    kind: ClassVar[str]
    """The name of its kind in a file."""

    holds_between_knots: ClassVar[bool] = True
    """Whether it holds for values between knots, which are rounded to these at random: a mixture of two rows keeps what
    both keep of every row. If not, a table takes its knots alone."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))

    @abstractmethod
    def __str__(self) -> str:
        """The promise in words that are short enough for a title."""

    @property
    def caution(self) -> str:
        """What it does not promise, for people who take every budget for that of pure privacy; "" for `Pure`."""
        return ""

    def more(self) -> dict[str, Any]:
        """Return its numbers beside epsilon, as the member `promise` of a file holds them."""
        return {}

    def limits(self, values: np.ndarray) -> np.ndarray:
        """Return what is promised of every two of n values: (n, n) log-ratios at most, for `Approximate` but for delta.

        Example
        -------
        >>> Metric(0.5).limits(np.array([0.0, 3.0])).tolist()
        [[0.0, 1.5], [1.5, 0.0]]
        """
        return np.full((values.size, values.size), self.epsilon)


@dataclass(frozen=True)
class Pure(Promise):
    """Pure epsilon-LDP: no report is more than e^epsilon times as probable at one value as at another.

    Parameters
    ----------
    epsilon : float
        Privacy budget, natural units.

    Raises
    ------
    InputError
        A budget that is not usable.

    Example
    -------
    >>> from optldp.designer import Pure
    >>> str(Pure(1))
    'epsilon 1'
    """

    kind: ClassVar[str] = "pure"

    def __str__(self) -> str:
        return f"epsilon {self.epsilon:g}"


@dataclass(frozen=True)
class Approximate(Promise):
    """(epsilon, delta)-LDP: Pr(report in S | x) <= e^epsilon Pr(report in S | x') + delta for all values and sets S.

    That is weaker than epsilon-LDP, and not called so: with a probability of up to delta a report may tell everything.

    Parameters
    ----------
    epsilon : float
        Privacy budget, natural units.
    delta : float
        Strictly between 0 and 1.

    Raises
    ------
    InputError
        A budget or a delta that is not usable.

    Example
    -------
    >>> from optldp.mechanisms import Approximate
    >>> str(Approximate(1, 1e-6))
    'epsilon 1, delta 1e-06'
    """

    delta: float

    kind: ClassVar[str] = "approximate"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "delta", check_delta(self.delta))

    def __str__(self) -> str:
        return f"epsilon {self.epsilon:g}, delta {self.delta:g}"

    @property
    def caution(self) -> str:
        words = "not epsilon-LDP: with probability up to delta a report may tell all"
        return f"({self.epsilon:g}, {self.delta:g})-LDP, {words}"

    def more(self) -> dict[str, Any]:
        return {"delta": self.delta}


@dataclass(frozen=True)
class Metric(Promise):
    """Epsilon per unit of distance: |log(Pr(y | x) / Pr(y | x'))| <= epsilon |x - x'| for all reports y and knots.

    For a count of a user's contacts, edge privacy: one contact more or less changes the count by one.  It holds between
    knots, and a table that promises it takes no other values: a value that was rounded at random between two knots
    would have a steeper law than the promise allows.

    Parameters
    ----------
    epsilon : float
        Budget per unit of the knots.

    Raises
    ------
    InputError
        A budget that is not usable.

    Example
    -------
    >>> from optldp.mechanisms import Metric
    >>> str(Metric(0.5))
    'epsilon 0.5 per unit'
    """

    kind: ClassVar[str] = "metric"
    holds_between_knots: ClassVar[bool] = False

    def __str__(self) -> str:
        return f"epsilon {self.epsilon:g} per unit"

    @property
    def caution(self) -> str:
        return f"epsilon {self.epsilon:g} per unit, not epsilon-LDP: values that are d units apart have d times as much"

    def limits(self, values: np.ndarray) -> np.ndarray:
        return self.epsilon * np.abs(np.subtract.outer(values, values))


KINDS: dict[str, type[Promise]] = {kind.kind: kind for kind in (Approximate, Metric)}
"""What the member `promise` of a file may say."""


def as_promise(privacy: object) -> Promise:
    """Return a promise as it is, and a number as the epsilon of `Pure`; InputError for anything else.

    Example
    -------
    >>> as_promise(0.5), as_promise(Metric(2))
    (Pure(epsilon=0.5), Metric(epsilon=2.0))
    """
    return privacy if isinstance(privacy, Promise) else Pure(privacy)  # pyright: ignore[reportArgumentType] -- Pure checks it


def check_delta(delta: object) -> float:
    """Return delta as a float, or raise InputError unless it is a number strictly between 0 and 1.

    Example
    -------
    >>> check_delta(1e-6)
    1e-06
    """
    try:
        value = math.nan if isinstance(delta, str | bytes | bool) else float(delta)  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not 0 < value < 1:
        raise InputError(
            f"delta must lie strictly between 0 and 1, got {delta!r:.60}: "
            "without one the promise is pure, and with 1 there is none"
        )
    return value


def promise_to_document(promise: Promise) -> dict[str, Any] | None:
    """Return the member `promise` of a file; None for a pure promise, whose epsilon stands in the file anyway.

    Example
    -------
    >>> promise_to_document(Approximate(1, 1e-6)), promise_to_document(Pure(1))
    ({'kind': 'approximate', 'delta': 1e-06}, None)
    """
    return None if isinstance(promise, Pure) else {"kind": promise.kind, **promise.more()}


def promise_from_document(epsilon: float, member: object) -> Promise:
    """Return the promise of a file's epsilon and its member `promise`, or raise TableError or InputError.

    Example
    -------
    >>> promise_from_document(1.0, {"kind": "metric"})
    Metric(epsilon=1.0)
    """
    kind = member.get("kind") if isinstance(member, Mapping) else None
    if not isinstance(member, Mapping) or not isinstance(kind, str) or kind not in KINDS:
        raise TableError(f"promise must be an object whose kind is one of {', '.join(KINDS)}, got {member!r:.60}")
    numbers = {name: value for name, value in member.items() if name != "kind"}
    known = [each.name for each in fields(KINDS[kind]) if each.name != "epsilon"]
    if sorted(map(str, numbers)) != sorted(known):
        raise TableError(f"a promise of kind {kind} must have the keys {', '.join(['kind', *known])} only")
    if not all(type(value) in (int, float) for value in numbers.values()):
        raise TableError(f"a promise of kind {kind} must have numbers, got {numbers!r:.60}")
    return KINDS[kind](epsilon, **numbers)
