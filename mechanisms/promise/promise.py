"""What every promise says of itself, the pure one, and all but a delta of it.

A promise is plain data. What a table's numbers show of it is for `exactness`; here it is only said, and how it stands
in the member `promise` of a file, which pure tables do not have: there epsilon alone says it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..budget import check_epsilon
from ..errors import InputError
from .members import number, written


@dataclass(frozen=True)
class Promise(ABC):
    """A promise of local privacy with a budget epsilon; each kind says what else it holds, and what it means.

    Parameters
    ----------
    epsilon : float
        Privacy budget, natural units.

    Example
    -------
    >>> from optldp.mechanisms.promise import Approximate, Promise
    >>> promise = Approximate(1, 1e-6)
    >>> isinstance(promise, Promise), promise.kind, promise.more()
    (True, 'approximate', {'delta': 1e-06})
    """

    epsilon: float

    kind: ClassVar[str]
    """The name of its kind in a file."""

    members: ClassVar[Mapping[str, Callable[[object], Any]]] = {}
    """What it holds beside epsilon, by the names of its arguments: how each is read out of a file; where one is None by
    default, files may leave it out."""

    carries_budgets: ClassVar[bool] = False
    """Whether epsilon follows from what it holds, and is no argument."""

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
        """Return what it holds beside epsilon, as the member `promise` of a file has it."""
        held = {name: getattr(self, name) for name in self.members}
        return {name: written(value) for name, value in held.items() if value is not None}

    def numbers(self) -> dict[str, Any]:
        """Return what it holds beside epsilon but for what has an entry for each knot, by name, to be shown."""
        return {name: value for name, value in self.more().items() if not isinstance(value, list)}

    def misfit(self, knots: np.ndarray) -> str:
        """Return why it cannot be promised of these knots, n increasing numbers; "" if it can."""
        return ""

    def limits(self, knots: np.ndarray) -> np.ndarray:
        """Return what is promised of every two of n knots: (n, n) log-ratios at most, for `Approximate` but for delta.

        Example
        -------
        >>> import numpy as np
        >>> from optldp.designer import Pure
        >>> Pure(0.5).limits(np.array([0.0, 3.0])).tolist()
        [[0.5, 0.5], [0.5, 0.5]]
        """
        return np.full((knots.size, knots.size), self.epsilon)


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

    This is weaker than epsilon-LDP: with a probability of up to delta a report may reveal everything.

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
    members: ClassVar[Mapping[str, Callable[[object], Any]]] = {"delta": number}

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "delta", check_delta(self.delta))

    def __str__(self) -> str:
        return f"epsilon {self.epsilon:g}, delta {self.delta:g}"

    @property
    def caution(self) -> str:
        words = "not epsilon-LDP: with probability up to delta a report may tell all"
        return f"({self.epsilon:g}, {self.delta:g})-LDP, {words}"


def as_promise(privacy: object) -> Promise:
    """Return a promise as it is, and a number as the epsilon of `Pure`.

    Parameters
    ----------
    privacy : Promise or float

    Returns
    -------
    Promise

    Raises
    ------
    InputError
        It is neither, or a budget that is not usable.

    Example
    -------
    >>> from optldp.mechanisms.promise import Approximate, as_promise
    >>> as_promise(0.5), as_promise(Approximate(2, 0.1))
    (Pure(epsilon=0.5), Approximate(epsilon=2.0, delta=0.1))
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
