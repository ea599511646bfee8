"""Of random directions of a seed of a user's own, one that agrees with the user's history: its number is sent."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..display.summary import Dots, Told
from ..documents.bundle import Nested
from ..documents.table import as_number, require_keys
from ..errors import InputError, TableError
from ..integers.exponential import exponential_below
from ..sampling.law import Words
from ..sampling.subsets import uniform_below
from ..spaces.columns import Columns
from ..spaces.interval import Interval
from ..statistics import Statistic
from .histories import filled, scaled
from .normal_numbers import PARTS, seeded_normals
from .panel import LIFE
from .way import Way, checked_periods

VALUE_BITS, ROOT_BITS, POINT_BITS = 15, 20, 15
"""Binary places of scaled values, of the scaling, and of what it makes of them: all sums are exact in doubles."""

MOST_DIRECTIONS = 1024
LARGEST_TOTAL = 2**53

AT_ONCE = 2**18
"""Numbers of directions that are made at once: they stay in a processor's cache."""

REPORT = re.compile(r"([0-9a-f]{16}):([0-9]{1,4})", re.ASCII)


@dataclass(frozen=True, eq=False, repr=False)
class Directions(Way):
    """One report of a user's whole history, when the last period ends: a seed, and the number of a direction.

    A history, scaled to [-1, 1], is multiplied by `root`, shortened to `length` if it is longer, and brought to that
    length by one more coordinate. The seed, drawn apart from the data, makes K directions of whole numbers. The m that
    agree most with the history (the first among equals) have weight `high`, the others `low`, and one is drawn by
    weight. The weights have the same sum for every history, so two histories differ by a factor of at most high / low,
    which is at most e^epsilon. This holds for every seed, however often a history changes.

    Parameters
    ----------
    low, high : float
        The ends of the domain of values.
    root : (T, T) array_like of int
        In units of 2^-20; symmetric, with an inverse, below 2^25.
    length : int
        In units of 2^-15.
    directions, favoured : int
        K, and m of them, from 1 to K - 1.
    weights : (int, int)
        Of each of the m and of each other one, of a sum of at most 2^53.
    epsilon : float
        The budget of a life.
    units : str

    Raises
    ------
    InputError
        Numbers out of their ranges.

    Source: directions of docs/asking-again.md.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.mechanisms.over_time import Directions
    >>> made = Directions(0.0, 1.0, 2**20 * np.eye(2, dtype=int), 46341, 8, 2, (5, 2), 1.0)
    >>> reports = made.drawn(np.zeros((3, 2)), np.random.default_rng(1))
    >>> reports.shape, made.failures(), made.to_text(made.from_text(["00000000000000ff:3"]))
    ((3, 2), (), ['00000000000000ff:3'])
    """

    kind: ClassVar[str] = "directions"
    promised: ClassVar[str] = LIFE  # pyright: ignore[reportIncompatibleVariableOverride] -- the same for all of them
    keeps: ClassVar[str] = "its values until it reports, and the report"
    remembers: ClassVar[str] = "values"
    low: float
    high: float
    root: np.ndarray
    length: int
    directions: int
    favoured: int
    weights: tuple[int, int]
    epsilon: float
    units: str

    def __init__(
        self,
        low: float,
        high: float,
        root: ArrayLike,
        length: int,
        directions: int,
        favoured: int,
        weights: Sequence[int],
        epsilon: float,
        units: str = "",
    ) -> None:
        if not (math.isfinite(low) and math.isfinite(high) and low < high and isinstance(units, str)):
            raise InputError(f"the domain must have two finite ends, the lower first, got {low!r} and {high!r}")
        object.__setattr__(self, "low", float(low))
        object.__setattr__(self, "high", float(high))
        object.__setattr__(self, "root", _checked_root(root))
        object.__setattr__(self, "length", _whole("length", length, 1, 2**25))
        object.__setattr__(self, "directions", _whole("directions", directions, 2, MOST_DIRECTIONS))
        object.__setattr__(self, "favoured", _whole("favoured", favoured, 1, directions - 1))
        object.__setattr__(self, "weights", _checked_weights(weights, directions, favoured))
        object.__setattr__(self, "epsilon", check_epsilon(epsilon))
        object.__setattr__(self, "units", units)

    def __repr__(self) -> str:
        return f"Directions(periods={self.periods}, directions={self.directions}, epsilon={self.epsilon:g})"

    def _told(self) -> Told:
        facts = {"epsilon": self.epsilon, "periods": self.periods, "directions": self.directions}
        weights = np.array(self.weights) / self.total
        return Told(facts, picture=Dots(["one that agrees", "another"], weights, "probability of a direction"))

    @property
    def mechanism(self) -> Self:  # pyright: ignore[reportIncompatibleVariableOverride] -- a report is of the whole way
        """Itself: a report is of a whole history."""
        return self

    @property
    def periods(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride] -- it follows from the scaling
        """T."""
        return len(self.root)

    @property
    def reports(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride] -- the same for all of them
        """One."""
        return 1

    @property
    def total(self) -> int:
        """The sum of all weights."""
        return self.favoured * self.weights[0] + (self.directions - self.favoured) * self.weights[1]

    @property
    def max_log_ratio(self) -> float:
        """The epsilon really kept."""
        return math.log(Fraction(*self.weights))

    def failures(self) -> tuple[str, ...]:
        limit = exponential_below(self.epsilon)
        if Fraction(*self.weights) <= limit:
            return ()
        return (f"weights must have a ratio of at most e^{self.epsilon:g}, got {self.weights[0]} to {self.weights[1]}",)

    def turns(self, users: Sequence[str]) -> np.ndarray:
        return np.full((len(users), 1), self.periods)

    @property
    def values(self) -> Interval:
        return Interval(self.low, self.high, self.units)

    @cached_property
    def inputs(self) -> Columns:  # pyright: ignore[reportIncompatibleMethodOverride] -- a property that is kept
        """A value of each period, by its number."""
        return Columns({str(period): self.values for period in range(1, self.periods + 1)})

    @property
    def statistic(self) -> Statistic | None:
        """None: there are too many reports to list, and they support histories and not values."""
        return None

    def favours(self, seeds: np.ndarray, histories: np.ndarray) -> np.ndarray:
        """Return the directions (N, K) of each of N seeds in the order of their agreement with a history (N, T)."""
        points, wide = self._points(histories), self.periods + 1
        words = -(-wide // PARTS)
        order = np.empty((len(seeds), self.directions), dtype=np.int64)
        some = max(1, AT_ONCE // (self.directions * words * PARTS))
        for start in range(0, len(seeds), some):
            mine = slice(start, start + some)
            many = seeded_normals(seeds[mine], np.array(0), self.directions * words * PARTS)
            found = many.reshape(-1, self.directions, words * PARTS)[:, :, :wide]
            agreement = np.matmul(found, points[mine, :, None])[:, :, 0]
            order[mine] = np.argsort(-agreement, axis=1, kind="stable")
        return order

    def _points(self, histories: np.ndarray) -> np.ndarray:
        """Histories (N, T) as whole numbers (N, T + 1) of one length, exact in doubles."""
        values = np.rint(np.clip(scaled(histories, self.low, self.high), -1, 1) * 2.0**VALUE_BITS)
        points = np.floor(values @ self.root.astype(float) / 2.0 ** (VALUE_BITS + ROOT_BITS - POINT_BITS))
        longest = np.ceil(np.sqrt((points**2).sum(axis=1)))
        shorter = self.length / np.maximum(longest, self.length)
        points = np.trunc(points * shorter[:, None])
        last = np.floor(np.sqrt(np.maximum(float(self.length) ** 2 - (points**2).sum(axis=1), 0.0)))
        return np.column_stack([points, last])

    def draw(self, held: np.ndarray, words: Words, /) -> np.ndarray:
        """Draw reports (N, 2), seed and number of a direction, of histories (N, T)."""
        seeds = words(len(held)).copy()
        order, drawn = self.favours(seeds, held), uniform_below(self.total, len(held), words)
        high, low = self.weights
        among = self.favoured * high
        rank = np.where(drawn < among, drawn // high, self.favoured + (drawn - among) // low)
        return np.column_stack([seeds, order[np.arange(len(held)), rank].astype(np.uint64)])

    def drawn_of(self, users: Sequence[str], histories: np.ndarray, words: Words) -> np.ndarray:
        return self.draw(self.inputs.admitted(filled(histories)), words)

    def directions_of(self, reports: np.ndarray) -> np.ndarray:
        """Return the direction (N, T) of each report, whole numbers as doubles, without the last coordinate."""
        words = -(-(self.periods + 1) // PARTS)
        first = reports[:, 1].astype(np.int64) * words
        return seeded_normals(reports[:, 0], first, self.periods)

    def checked_reports(self, reports: ArrayLike) -> np.ndarray:
        found = np.asarray(reports)
        if found.ndim != 2 or found.shape[1] != 2 or found.dtype != np.uint64:
            raise InputError(f"reports must be a seed and a number each, of type uint64, got shape {found.shape}")
        if (found[:, 1] >= self.directions).any():
            raise InputError(f"directions must have numbers from 0 to {self.directions - 1}, got others")
        return found

    def to_text(self, reports: np.ndarray) -> list[str]:
        return [f"{seed:016x}:{number}" for seed, number in reports.tolist()]

    def from_text(self, texts: Sequence[str]) -> np.ndarray:
        found = []
        for row, text in enumerate(texts, 1):
            if (told := REPORT.fullmatch(str(text))) is None or int(told[2]) >= self.directions:
                raise InputError(f"reports must be 16 hexadecimal digits, a colon, a number, got another in row {row}")
            found.append((int(told[1], 16), int(told[2])))
        return np.array(found, dtype=np.uint64).reshape(len(found), 2)

    def nature(self) -> dict[str, object]:
        return {"kinds": type(self).__name__, "periods": self.periods, "domains": (self.low, self.high)}

    def members(self) -> dict[str, Any]:
        return {
            "low": self.low,
            "high": self.high,
            "root": self.root.tolist(),
            "length": self.length,
            "directions": self.directions,
            "favoured": self.favoured,
            "weights": list(self.weights),
            "epsilon": self.epsilon,
            "units": self.units,
        }

    @classmethod
    def from_members(cls, members: Mapping[str, Any], nested: Nested) -> Self:
        names = ("low", "high", "root", "length", "directions", "favoured", "weights", "epsilon", "units")
        require_keys("directions", members, names)
        for name in ("root", "weights"):
            if not isinstance(members[name], list):
                raise TableError(f"{name} must be a list, got {type(members[name]).__name__}")
        numbers = {name: as_number(name, members[name]) for name in ("low", "high", "epsilon")}
        return cls(**{**members, **numbers})


def _whole(name: str, value: object, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise InputError(f"{name} must be a whole number from {least} to {most}, got {value!r:.40}")
    return value


def _checked_root(root: ArrayLike) -> np.ndarray:
    try:
        found = np.array(root)
    except (TypeError, ValueError):
        raise InputError("root must be a matrix of whole numbers, got something else") from None
    if found.ndim != 2 or found.dtype.kind not in "iu" or found.shape[0] != found.shape[1]:
        raise InputError(f"root must be a square matrix of whole numbers, got shape {found.shape}")
    checked_periods(len(found))
    found = found.astype(np.int64)
    # Sums of T products of a value and an entry must be exact in doubles.
    most = 2**53 // 2**VALUE_BITS
    if (np.abs(found) >= 2**25).any() or (np.abs(found).sum(axis=0) > most).any() or (found != found.T).any():
        raise InputError(
            "root must be symmetric, of entries below 2^25 and columns that sum to at most 2^38, got others"
        )
    found.setflags(write=False)
    return found


def _checked_weights(weights: Sequence[int], directions: int, favoured: int) -> tuple[int, int]:
    found = tuple(weights)
    if len(found) != 2 or any(type(one) is not int or one < 1 for one in found):
        raise InputError(f"weights must be two positive whole numbers, got {weights!r:.60}")
    if favoured * found[0] + (directions - favoured) * found[1] > LARGEST_TOTAL or found[0] < found[1]:
        raise InputError(
            "weights must have a sum of at most 2^53 over all directions, the first the larger, got others"
        )
    return found[0], found[1]
