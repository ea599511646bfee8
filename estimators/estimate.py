"""What every estimator returns: one shape for numbers and for lists of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from ..mechanisms.display.display import Shown
from ..mechanisms.display.frames import Backend, frame_of
from ..mechanisms.display.summary import Dots, Told, plain
from ..mechanisms.errors import InputError, unwired
from .intervals import CONFIDENCE, Interval, normal_interval
from .methods import Target

MOST_LINES = 10
"""Entries of a list that a summary shows."""


def check_target(target: str) -> None:
    """Raise InputError unless the target is one of the two."""
    if target not in get_args(Target):
        raise InputError(f"target must be one of {', '.join(get_args(Target))}, got {target!r}")
    if target not in ("users", "population"):  # estimators ask whether it is the one, and take the rest for the other
        raise unwired("target", target)


class Estimate(Shown, ABC):
    """An estimate of a number, or of K numbers with labels, with its standard errors and intervals.

    Each interval covers one number by itself.  They measure scatter, not bias, unless an estimate says otherwise.

    Attributes
    ----------
    value : float or (K,) ndarray of float
    std_error : float or (K,) ndarray of float
        Estimated standard deviation of `value`; NaN where the method has none.
    n : int or (K,) ndarray of int
        Number of users whose reports it uses.
    method : str
        How it was estimated.
    target : {"users", "population"}
        Whose numbers `std_error` refers to.
    low, high : float or (K,) ndarray of float
        Ends of the interval of the usual confidence, which is `confidence`; for another one see `interval`.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import count, estimate_mean
    >>> from optldp.mechanisms import duchi
    >>> table = duchi([-3.0, 3.0], 1.0)
    >>> found = estimate_mean(count(table, np.repeat(table.low, [400, 600])))
    >>> found.n, found.target, round(found.value, 3), round(found.std_error, 3)
    (1000, 'population', 1.298, 0.201)
    >>> interval = found.interval(0.99)
    >>> round(interval.low, 2), round(interval.high, 2)
    (0.78, 1.82)
    """

    value: Any
    std_error: Any
    n: Any
    method: str
    target: Target

    @abstractmethod
    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return where the truth lies with this confidence; InputError for one outside (0, 1)."""

    @property
    def confidence(self) -> float:
        """That of `low` and `high`."""
        return CONFIDENCE

    @property
    def low(self) -> Any:
        """Lower end of the interval."""
        return self.interval().low

    @property
    def high(self) -> Any:
        """Upper end of the interval."""
        return self.interval().high

    @property
    def labels(self) -> Mapping[str, Sequence[Any]]:
        """Columns (K,) that say what each of K numbers is of; none for a single number."""
        return {}

    def to_dict(self, confidence: float = CONFIDENCE) -> dict[str, Any]:
        """Return labels, value, std_error, low, high, confidence, n, method and target, as Python's numbers and lists.

        Raises InputError for a confidence outside (0, 1).
        """
        found = self.interval(confidence)
        facts = {
            **self.labels,
            "value": self.value,
            "std_error": self.std_error,
            "low": found.low,
            "high": found.high,
            "confidence": confidence,
            "n": self.n,
            "method": self.method,
            "target": self.target,
        }
        return {name: plain(fact) for name, fact in facts.items()}

    def to_frame(self, confidence: float = CONFIDENCE, *, backend: Backend | None = None) -> Any:
        """Return a data frame of what `to_dict` has, a row for each number.

        Parameters
        ----------
        confidence : float
        backend : {"pandas", "polars", "pyarrow"}, optional
            Whose frame it is. Default: of the first of them that is installed.

        Raises
        ------
        InputError
            A confidence outside (0, 1); another library, or one that is not installed.
        """
        return frame_of(self.to_dict(confidence), backend)

    def _line(self) -> dict[str, Any]:
        about = {"n": self.n, "method": self.method}
        if not np.ndim(self.value):
            found = self.interval()
            numbers = {"value": self.value, "std_error": self.std_error, "low": found.low, "high": found.high}
            return numbers | {"confidence": found.confidence} | about
        names, largest = self._names(), int(np.argmax(self.value))
        if np.ndim(self.n):
            del about["n"]
        return {"numbers": len(names), "largest": f"{names[largest]}: {self.value[largest]:.6g}"} | about

    def _told(self) -> Told:
        facts = self.to_dict()
        order = np.argsort(-np.atleast_1d(self.value), kind="stable").tolist()
        value, low, high = (np.atleast_1d(facts[name])[order].astype(float) for name in ("value", "low", "high"))
        if not isinstance(facts["value"], list):
            single = {name: fact for name, fact in facts.items() if not isinstance(fact, list | dict)}
            return Told(single, picture=Dots([self.method], value, "estimate", low, high))
        columns = {name: [fact[k] for k in order] for name, fact in facts.items() if isinstance(fact, list)}
        names = self._names()
        return Told(self._line(), columns, Dots([names[k] for k in order], value, "estimate", low, high))

    def _names(self) -> list[str]:
        return [", ".join(map(_text, row)) for row in zip(*self.labels.values(), strict=True)]

    def summary(self, confidence: float = CONFIDENCE) -> str:
        """Return a few lines for people to read: of a list the largest numbers first."""
        facts = self.to_dict(confidence)
        n = facts["n"]
        users = "" if isinstance(n, list) else f" of {n:,} users"
        head = f"{self.method} estimate{users}, {100 * confidence:g}% intervals, about the {self.target}"
        if not isinstance(facts["value"], list):
            return f"{_shown(facts['value'], facts['std_error'], facts['low'], facts['high'])}\n  {head}"
        names = self._names()
        order = np.argsort(-np.asarray(facts["value"]), kind="stable")[:MOST_LINES]
        lines = [f"  {names[k]}: {_shown(*(facts[c][k] for c in _NUMBERS))}" for k in order]
        more = len(names) - len(lines)
        return "\n".join([head, *lines, *([f"  and {more} more: to_frame"] if more else [])])

    def __str__(self) -> str:
        return self.summary()


_NUMBERS = ("value", "std_error", "low", "high")


def _text(label: object) -> str:
    return f"{label:.6g}" if isinstance(label, float) else str(label)


def _shown(value: float, std_error: float, low: float, high: float) -> str:
    return f"{value:.6g} +- {std_error:.2g} [{low:.6g}, {high:.6g}]"


@dataclass(frozen=True, eq=False, repr=False)
class NumberEstimate(Estimate):
    """An estimated number whose interval is a normal one.

    Parameters
    ----------
    value : float
    std_error : float
    n : int
    method : str
    target : {"users", "population"}
    least, most : float
        What is known of the number whatever the reports say; the interval is cut to it.

    Example
    -------
    >>> print(NumberEstimate(0.5, 0.01, 2500, "em", least=0.0, most=1.0))
    0.5 +- 0.01 [0.4804, 0.5196]
      em estimate of 2,500 users, 95% intervals, about the population
    """

    value: float
    std_error: float
    n: int
    method: str
    target: Target = "population"
    least: float = -np.inf
    most: float = np.inf

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return the normal interval, within [least, most]; InputError for a confidence outside (0, 1)."""
        return normal_interval(self.value, self.std_error, confidence, self.least, self.most)
