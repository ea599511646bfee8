"""The formulas that clients know: a quadratic of scaled columns, a score of a regression, ranks before either."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..documents.table import as_number, as_object, numbers_from_document, require_keys
from ..errors import InputError, TableError
from .signs import Sides, Signs

MOST_COLUMNS = 9
"""Of a formula: the range of a quadratic is sought on all 3^d faces of its box."""


@dataclass(frozen=True, eq=False)
class Ranks:
    """A public distribution function, linear between its points, which replaces a column by ranks.

    Parameters
    ----------
    values : (m,) array_like of float
        Increasing.
    shares : (m,) array_like of float
        From 0 to 1, not falling.

    Raises
    ------
    InputError
        Points that are no distribution function.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.mechanisms.features import Ranks
    >>> Ranks([0, 10, 20], [0, 0.8, 1]).of(np.array([5.0, 15.0]))
    array([0.4, 0.9])
    """

    values: np.ndarray
    shares: np.ndarray

    def __init__(self, values: ArrayLike, shares: ArrayLike) -> None:
        object.__setattr__(self, "values", _vector("values of ranks", values))
        object.__setattr__(self, "shares", _vector("shares of ranks", shares))
        rising = self.values.size > 1 and (np.diff(self.values) > 0).all()
        if self.values.shape != self.shares.shape or not rising or (np.diff(self.shares) < 0).any():
            raise InputError("ranks must have increasing values and shares that do not fall, as many, got others")
        if self.shares[0] < 0 or self.shares[-1] > 1:
            raise InputError(f"shares of ranks must be from 0 to 1, got {self.shares[0]!r} to {self.shares[-1]!r}")

    def of(self, column: np.ndarray) -> np.ndarray:
        """Return the rank (N,) of each value."""
        return np.interp(column, self.values, self.shares)

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {"values": self.values.tolist(), "shares": self.shares.tolist()}

    @classmethod
    def from_document(cls, held: object) -> Ranks:
        """Return the one that a document holds; InputError or TableError for another."""
        told = as_object("ranks", held)
        require_keys("ranks", told, ("values", "shares"))
        return cls(*(numbers_from_document(name, told[name]) for name in ("values", "shares")))


@dataclass(frozen=True, eq=False)
class Quadratic:
    """c + b'z + z'A z of scaled columns z = (x - centre) / scale: products, powers, influence functions.

    Parameters
    ----------
    centres, scales : (d,) array_like of float
        In the columns' units; scales are positive.
    constant : float
        c.
    linear : (d,) array_like of float
        b.
    square : (d, d) array_like of float
        A, symmetric.

    Raises
    ------
    InputError
        Shapes that do not go together, more than 9 columns, or numbers that are not finite.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.mechanisms.features import Quadratic
    >>> product = Quadratic([0, 0], [1, 1], 0.0, [0, 0], [[0, 0.5], [0.5, 0]])
    >>> product.of(np.array([[2.0, 3.0]])), product.extremes([-1, -1], [1, 2])
    (array([6.]), (-2.0, 2.0))
    """

    name: ClassVar[str] = "quadratic"
    centres: np.ndarray
    scales: np.ndarray
    constant: float
    linear: np.ndarray
    square: np.ndarray

    def __init__(
        self, centres: ArrayLike, scales: ArrayLike, constant: float, linear: ArrayLike, square: ArrayLike
    ) -> None:
        _set_scaled(self, centres, scales)
        object.__setattr__(self, "constant", float(constant))
        object.__setattr__(self, "linear", _vector("linear terms", linear))
        object.__setattr__(self, "square", np.array(square, dtype=float))
        d = self.centres.size
        if self.linear.shape != (d,) or self.square.shape != (d, d) or not np.isfinite(self.square).all():
            raise InputError(f"terms of a quadratic of {d} columns must be {d} and {d} x {d} numbers, got others")
        if (self.square != self.square.T).any() or not np.isfinite(self.constant):
            raise InputError("terms of a quadratic must be finite and symmetric, got others")

    @property
    def width(self) -> int:
        """d, of the columns that it is of."""
        return self.centres.size

    def of(self, columns: np.ndarray) -> np.ndarray:
        """Return the feature (N,) of records (N, d)."""
        return self._at((columns - self.centres) / self.scales)

    def _at(self, z: np.ndarray) -> np.ndarray:
        return self.constant + z @ self.linear + np.einsum("ij,jk,ik->i", z, self.square, z)

    def extremes(self, low: ArrayLike, high: ArrayLike) -> tuple[float, float]:
        """Return the least and the largest value over a box: on each of its faces where the slope is zero."""
        ends = np.array([(np.asarray(each) - self.centres) / self.scales for each in (low, high)])
        points = [self._stationary(face, ends) for face in itertools.product((0, 1, None), repeat=self.centres.size)]
        found = self._at(np.array([point for point in points if point is not None]))
        return float(found.min()), float(found.max())

    def _stationary(self, face: Sequence[int | None], ends: np.ndarray) -> np.ndarray | None:
        """The point of a face where the slope along it is zero; None where there is none within."""
        free = [place for place, end in enumerate(face) if end is None]
        point = np.array([0.0 if end is None else ends[end, place] for place, end in enumerate(face)])
        if free:
            slope = self.linear[free] + 2 * self.square[free] @ point
            own = 2 * self.square[np.ix_(free, free)]
            if np.linalg.matrix_rank(own) < len(free):  # straight along some line, so that a lower face has it
                return None
            point[free] = np.linalg.solve(own, -slope)
            if (point < ends[0]).any() or (point > ends[1]).any():
                return None
        return point

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "formula": self.name,
            "centres": self.centres.tolist(),
            "scales": self.scales.tolist(),
            "constant": self.constant,
            "linear": self.linear.tolist(),
            "square": self.square.tolist(),
        }

    @classmethod
    def from_members(cls, told: Mapping[str, Any]) -> Quadratic:
        """Return the one that a document holds; InputError or TableError for another."""
        require_keys("a quadratic", told, ("formula", "centres", "scales", "constant", "linear", "square"))
        if not isinstance(told["square"], list):
            raise TableError("square must be a list of lists of numbers")
        square = [numbers_from_document("square", row) for row in told["square"]]
        vectors = {name: numbers_from_document(name, told[name]) for name in ("centres", "scales", "linear")}
        if any(row.shape != vectors["linear"].shape for row in square):
            raise TableError("square must have as many rows and columns as there are linear terms")
        return cls(**vectors, constant=as_number("constant", told["constant"]), square=np.array(square))


@dataclass(frozen=True, eq=False)
class Score:
    """w'(1, u) times the residual y - (1, z)'b, cut to [-clip, clip]: the score of a regression, of scaled columns.

    The instruments u are the columns z cut to [-reach, reach]. The score is zero on average at the true slopes, however
    much of u is cut.

    The last column is the response y; z are the others, and all are scaled by centre and scale.

    Parameters
    ----------
    centres, scales : (d + 1,) array_like of float
        In the columns' units; scales are positive.
    weights : (d + 1,) array_like of float
        w, with the constant's first.
    coefficients : (d + 1,) array_like of float
        b, with the constant's first.
    reach : float
        Positive, in scales of the columns.
    clip : float
        Positive, in scales of the response.

    Raises
    ------
    InputError
        Shapes that do not go together, more than 9 columns, or a clip that is not positive.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.mechanisms.features import Score
    >>> score = Score([0, 0], [1, 1], [0, 1], [0, 0.5], 2.0, 1.0)
    >>> score.of(np.array([[2.0, 1.5], [2.0, 9.0]])), score.extremes([-3, -3], [2, 3])
    (array([1., 2.]), (-2.0, 2.0))
    """

    name: ClassVar[str] = "score"
    centres: np.ndarray
    scales: np.ndarray
    weights: np.ndarray
    coefficients: np.ndarray
    reach: float
    clip: float

    def __init__(
        self, centres: ArrayLike, scales: ArrayLike, weights: ArrayLike, coefficients: ArrayLike, reach: float,
        clip: float,
    ) -> None:  # fmt: skip
        _set_scaled(self, centres, scales)
        object.__setattr__(self, "weights", _vector("weights", weights))
        object.__setattr__(self, "coefficients", _vector("coefficients", coefficients))
        object.__setattr__(self, "reach", float(reach))
        object.__setattr__(self, "clip", float(clip))
        if not self.weights.shape == self.coefficients.shape == self.centres.shape:
            raise InputError(f"a score of {self.centres.size} columns must have as many weights and coefficients")
        if not 0 < self.clip < np.inf or not 0 < self.reach < np.inf:
            raise InputError(
                f"reach and clip of a score must be positive and finite, got {self.reach!r} and {self.clip!r}"
            )

    @property
    def width(self) -> int:
        """d + 1, of the columns that it is of."""
        return self.centres.size

    def of(self, columns: np.ndarray) -> np.ndarray:
        """Return the feature (N,) of records (N, d + 1)."""
        z = (columns - self.centres) / self.scales
        residuals = z[:, -1] - self.coefficients[0] - z[:, :-1] @ self.coefficients[1:]
        instruments = self.weights[0] + np.clip(z[:, :-1], -self.reach, self.reach) @ self.weights[1:]
        return instruments * np.clip(residuals, -self.clip, self.clip)

    def extremes(self, low: ArrayLike, high: ArrayLike) -> tuple[float, float]:
        """Return a range that holds all values over a box, the same to both sides of zero."""
        ends = np.array([(np.asarray(each) - self.centres) / self.scales for each in (low, high)])[:, :-1]
        terms = np.clip(ends, -self.reach, self.reach) * self.weights[1:]
        most = max(abs(self.weights[0] + terms.max(axis=0).sum()), abs(self.weights[0] + terms.min(axis=0).sum()))
        return -float(most * self.clip), float(most * self.clip)

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON."""
        vectors = {name: getattr(self, name).tolist() for name in ("centres", "scales", "weights", "coefficients")}
        return {"formula": self.name, **vectors, "reach": self.reach, "clip": self.clip}

    @classmethod
    def from_members(cls, told: Mapping[str, Any]) -> Score:
        """Return the one that a document holds; InputError or TableError for another."""
        names = ("centres", "scales", "weights", "coefficients")
        require_keys("a score", told, ("formula", *names, "reach", "clip"))
        return cls(
            **{name: numbers_from_document(name, told[name]) for name in names},
            reach=as_number("reach", told["reach"]), clip=as_number("clip", told["clip"]),
        )  # fmt: skip


Formula = Quadratic | Score | Signs | Sides

FORMULAS: Mapping[str, type[Formula]] = {each.name: each for each in (Quadratic, Score, Signs, Sides)}


def formula_of(held: object) -> Formula:
    """Return the formula of a document; InputError or TableError for one that clients do not know.

    Example
    -------
    >>> made = formula_of(Score([0, 0], [1, 1], [0, 1], [0, 0.5], 2.0, 1.0).to_document())
    >>> made.clip
    1.0
    """
    told = as_object("the formula", held)
    kind = FORMULAS.get(name) if isinstance(name := told.get("formula"), str) else None
    if kind is None:
        raise TableError(f"a formula must be one of {', '.join(FORMULAS)}, got {name!r:.60}")
    return kind.from_members(told)


def _vector(what: str, given: ArrayLike) -> np.ndarray:
    found = np.array(given, dtype=float)
    if found.ndim != 1 or not np.isfinite(found).all():
        raise InputError(f"{what} must be a list of finite numbers, got others")
    found.flags.writeable = False
    return found


def _set_scaled(made: Quadratic | Score, centres: ArrayLike, scales: ArrayLike) -> None:
    object.__setattr__(made, "centres", _vector("centres", centres))
    object.__setattr__(made, "scales", _vector("scales", scales))
    if made.centres.shape != made.scales.shape or not 1 <= made.centres.size <= MOST_COLUMNS:
        raise InputError(
            f"a formula needs a centre and a scale for each of 1 to {MOST_COLUMNS} columns, got "
            f"{made.centres.size} centres and {made.scales.size} scales"
        )
    if (made.scales <= 0).any():
        raise InputError("scales of a formula must be positive, got another: a column that is constant tells nothing")
