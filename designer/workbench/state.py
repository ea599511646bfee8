"""What a reader of the workbench has chosen: all that its address holds, and never a value of anybody."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, urlencode

import numpy as np

from ...mechanisms.budget import check_epsilon
from ...mechanisms.errors import InputError
from ..priors.categorical import CategoricalPrior
from ..priors.prior import Prior
from .questions import QUESTIONS

KNOTS = 65
"""Of a drawn prior: a design takes a tenth of a second."""

BARS = 13
"""Heights that a reader draws; between them the prior is linear."""

TALLEST = 20
"""The largest height."""

MOST_USERS = 10**9

PRESETS = {
    "bell": (0, 1, 2, 5, 10, 16, 20, 16, 10, 5, 2, 1, 0),
    "skewed": (6, 16, 20, 18, 14, 10, 7, 5, 3, 2, 1, 1, 1),
    "two groups": (1, 4, 12, 20, 12, 4, 1, 2, 6, 10, 6, 2, 1),
    "even": (10,) * BARS,
}
"""Shapes to begin with, by name."""


@dataclass(frozen=True)
class State:
    """What is chosen: a drawn prior, which is public, the question, how many report, the budget and a seed.

    Parameters
    ----------
    heights : tuple of int
        Of the drawn prior at 13 equally spaced values, 0 to 20; not used when the values come from a file.
    low, high : float
        Range of the drawn values.
    units : str
        Of the drawn values.
    names : tuple of str
        The drawn categories, 2 to 13 of them, where these are asked for; the first heights are theirs.
    of : str
        The question, one of `QUESTIONS`.
    n : int
        People who report, once each, 2 to 1e9.
    epsilon : float
        Budget of each.
    seed : int
        Of the simulation.

    Raises
    ------
    InputError
        A choice that is not as said above.

    Example
    -------
    >>> State(epsilon=2.0, n=500).query()
    'n=500&epsilon=2.0'
    >>> State.from_query("epsilon=2.0&n=500") == State(epsilon=2.0, n=500)
    True
    """

    heights: tuple[int, ...] = PRESETS["skewed"]
    low: float = 0.0
    high: float = 100.0
    units: str = ""
    names: tuple[str, ...] = ("tea", "coffee", "water", "juice", "other")
    of: str = "mean"
    n: int = 10_000
    epsilon: float = 1.0
    seed: int = 1

    def __post_init__(self) -> None:
        if len(self.heights) != BARS or not all(0 <= each <= TALLEST for each in self.heights) or not any(self.heights):
            raise InputError(
                f"heights must be {BARS} whole numbers from 0 to {TALLEST}, not all 0, got {self.heights!r}"
            )
        if not (np.isfinite([self.low, self.high]).all() and self.low < self.high):
            raise InputError(f"the range must be two numbers, the smaller first, got {self.low!r} and {self.high!r}")
        if not 2 <= len(set(self.names)) == len(self.names) <= BARS or not all(map(_is_name, self.names)):
            raise InputError(
                f"categories must be 2 to {BARS} different names without a comma, got {', '.join(self.names)!r}"
            )
        if self.of == "categories" and not any(self.heights[: len(self.names)]):
            raise InputError("some category must be drawn, got heights of 0 alone: raise one")
        if self.of not in QUESTIONS:
            raise InputError(f"the question must be one of {', '.join(QUESTIONS)}, got {self.of!r}")
        if not 2 <= self.n <= MOST_USERS:
            raise InputError(f"n must be 2 to {MOST_USERS:,} people, got {self.n!r}")
        if self.seed < 0:
            raise InputError(f"a seed must be 0 or more, got {self.seed!r}")
        check_epsilon(self.epsilon)

    def drawn(self) -> Prior | CategoricalPrior:
        """Return the drawn prior of the question; public."""
        return self.categorical_prior() if self.of == "categories" else self.prior()

    def prior(self) -> Prior:
        """Return the drawn prior of numbers, on `KNOTS` knots."""
        return _drawn(self.heights, self.low, self.high, self.units)

    def categorical_prior(self) -> CategoricalPrior:
        """Return the drawn prior over the categories."""
        return _drawn_categories(self.names, self.heights[: len(self.names)])

    def query(self, *, drawn: bool = True) -> str:
        """Return the choices that differ from the usual ones as an address has them.

        Parameters
        ----------
        drawn : bool
            Whether the prior is the drawn one. One from a file is read again from there.
        """
        names = [each.name for each in fields(self) if drawn or each.name not in DRAWN]
        told = {name: getattr(self, name) for name in names if getattr(self, name) != getattr(_USUAL, name)}
        if "heights" in told:
            told["heights"] = "-".join(map(str, self.heights))
        if "names" in told:
            told["names"] = ",".join(self.names)
        return urlencode(told)

    @classmethod
    def from_query(cls, text: str) -> State:
        """Return the state of an address's query.

        Raises
        ------
        InputError
            An unknown name, or what cannot be chosen.
        """
        told: dict[str, Any] = {}
        for name, value in parse_qsl(text, keep_blank_values=True):
            if name not in _READ:
                raise InputError(f"a state has {', '.join(_READ)}, got {name!r}")
            try:
                told[name] = _READ[name](value)
            except ValueError:
                raise InputError(f"{name} of a state must be {_KINDS[name]}, got {value!r}") from None
        return cls(**told)


@lru_cache(maxsize=64)
def _drawn(heights: tuple[int, ...], low: float, high: float, units: str) -> Prior:
    """The same object for the same drawing, by which its answers are known again."""
    weights = np.interp(np.linspace(0, 1, KNOTS), np.linspace(0, 1, BARS), heights)
    return Prior.on_knots(np.linspace(low, high, KNOTS), weights, source="public", units=units)


@lru_cache(maxsize=64)
def _drawn_categories(names: tuple[str, ...], heights: tuple[int, ...]) -> CategoricalPrior:
    return CategoricalPrior(names, heights)


DRAWN = ("heights", "low", "high", "units", "names")
"""What belongs to a drawn prior alone."""


def _heights(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in text.split("-"))


def names_in(text: str) -> tuple[str, ...]:
    """Return the names that a reader typed, with commas between them.

    Example
    -------
    >>> names_in("tea, coffee,")
    ('tea', 'coffee')
    """
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _is_name(name: str) -> bool:
    return bool(name.strip()) and "," not in name and name.isprintable()


_USUAL = State()
_READ: dict[str, Callable[[str], Any]] = {
    "heights": _heights, "low": float, "high": float, "units": str, "names": names_in, "of": str, "n": int,
    "epsilon": float, "seed": int,
}  # fmt: skip
_KINDS: dict[str, str] = {
    "n": "a whole number", "seed": "a whole number", "low": "a number", "high": "a number", "epsilon": "a number",
    "heights": f"{BARS} whole numbers with - between them",
}  # fmt: skip
