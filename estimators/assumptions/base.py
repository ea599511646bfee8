"""What an assumption is: a convex class of weights on knots, and a share of people that it does not hold for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...mechanisms.errors import InputError, SolverError
from ...solvers.modulus.largest import nearest
from ...solvers.modulus.polyhedron import Polyhedron, intersection

NOTHING = "nothing"
"""The label where nothing is assumed."""

SAME = 1e-9
"""Share of the range within which two knots are the same."""

LEAST = 0.01
"""Share of even or prior weights in what a fit begins at, so that none are zero."""


class Weighed(Protocol):
    """What an assumption asks of a prior: `optldp.Prior` has it."""

    @property
    def knots(self) -> np.ndarray: ...

    @property
    def weights(self) -> np.ndarray: ...


class Assumption(ABC):
    """A convex class of distributions on knots.

    Attributes
    ----------
    exempt : float
        Share of people, in [0, 1), whose values may lie anywhere: p = u + v - w with u of the class, and v and w of
        that mass.

    Example
    -------
    >>> from optldp.estimators.assumptions import Monotone
    >>> Monotone(50.0, exempt=0.01).label
    'monotone=50,exempt=0.01'
    """

    exempt: float = 0.0

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is, without the share of exempt people."""

    @abstractmethod
    def rows(self, knots: np.ndarray) -> np.ndarray:
        """Return R, (r, K): the class is the weights p with R p >= 0; InputError for knots that it does not fit."""

    def start(self, knots: np.ndarray) -> np.ndarray | None:
        """Return positive weights (K,) of the class that are likely, such as the prior's; None where none are."""
        return None

    @property
    def label(self) -> str:
        """What it is, for people and in JSON."""
        return self.name if self.exempt == 0.0 else f"{self.name},exempt={self.exempt:g}"


@dataclass(frozen=True, eq=False)
class Intersection(Assumption):
    """All of several assumptions at once, each of which holds for everybody.

    Parameters
    ----------
    parts : tuple of Assumption
        At least one, without exempt people.
    exempt : float
        Share of people that all of them need not hold for.

    Raises
    ------
    InputError
        A part that exempts people of its own.

    Example
    -------
    >>> from optldp.estimators.assumptions.base import Intersection
    >>> from optldp.estimators.assumptions.shapes import Monotone, Unimodal
    >>> Intersection((Monotone(2.0), Unimodal(1.0))).label
    'monotone=2 and unimodal=1'
    """

    parts: tuple[Assumption, ...]
    exempt: float = 0.0

    def __post_init__(self) -> None:
        check_exempt(self.exempt)
        if some := next((one for one in self.parts if one.exempt > 0.0), None):
            raise InputError(
                f"assumptions that hold together must exempt nobody, got {some.label} beside others: leave exempt out"
            )

    @property
    def name(self) -> str:
        return " and ".join(one.name for one in self.parts)

    def start(self, knots: np.ndarray) -> np.ndarray | None:
        return next((found for one in self.parts if (found := one.start(knots)) is not None), None)

    def rows(self, knots: np.ndarray) -> np.ndarray:
        return np.vstack([one.rows(knots) for one in self.parts])


@dataclass(frozen=True, eq=False)
class Assumed:
    """All that is assumed, on certain knots.

    Attributes
    ----------
    label : str
    polyhedron : Polyhedron
    start : (K,) ndarray of float
        Positive weights of sum one that a fit may begin at.
    """

    label: str
    polyhedron: Polyhedron
    start: np.ndarray

    @classmethod
    def of(
        cls, assume: Assumption | Sequence[Assumption], knots: np.ndarray, likely: np.ndarray | None = None
    ) -> Assumed:
        """Return the intersection of assumptions on knots.

        Parameters
        ----------
        assume : Assumption or sequence of Assumption
            None of them: nothing is assumed.
        knots : (K,) ndarray of float
        likely : (K,) ndarray of float, optional
            Weights to begin a fit at where no assumption has any.

        Raises
        ------
        InputError
            Assumptions that no distribution meets together, or of other knots.

        Example
        -------
        >>> from optldp.estimators.assumptions.shapes import Monotone
        >>> found = Assumed.of([Monotone(0.0)], np.arange(3.0))
        >>> found.label, bool((found.start > 0).all())
        ('monotone=0', True)
        """
        each = [assume] if isinstance(assume, Assumption) else list(assume)
        even = np.full(knots.size, 1.0 / knots.size)
        given = even if likely is None else (1.0 - LEAST) * likely / likely.sum() + LEAST * even
        if not each:
            return cls(NOTHING, Polyhedron.simplex(knots.size), given)
        label = " and ".join(one.label for one in each)
        classes = [Polyhedron.of_rows(one.rows(knots)).with_exempt(one.exempt) for one in each]
        start = next((found for one in each if (found := one.start(knots)) is not None), given)
        both = intersection(classes)
        try:
            held = nearest(both, np.eye(knots.size), start)
        except SolverError:
            raise InputError(f"assumptions must hold together, got {label}, which no distribution meets") from None
        return cls(label, both, (1.0 - LEAST) * held + LEAST * start)


def check_exempt(exempt: float) -> None:
    """Raise InputError unless it is a share of people.

    Example
    -------
    >>> check_exempt(0.05)
    """
    if not 0.0 <= exempt < 1.0:
        raise InputError(f"exempt must be a share of people in [0, 1), got {exempt!r}: 0 means that it holds for all")


def weights_at(prior: Weighed, knots: np.ndarray, name: str) -> np.ndarray:
    """Return a prior's weights (K,); InputError for one on other knots, or without weight at some.

    Example
    -------
    >>> from types import SimpleNamespace
    >>> even = SimpleNamespace(knots=np.arange(2.0), weights=np.array([0.5, 0.5]))
    >>> weights_at(even, np.arange(2.0), "trust=2")
    array([0.5, 0.5])
    """
    own = np.asarray(prior.knots, dtype=np.float64)
    if own.shape != knots.shape or np.abs(own - knots).max() > SAME * np.ptp(knots):
        raise InputError(
            f"the prior of assumption {name} must be on the {knots.size} knots of the table, got {own.size} others: "
            "make it with knots=table.knots"
        )
    weights = np.asarray(prior.weights, dtype=np.float64)
    if (empty := np.flatnonzero(weights <= 0.0)).size:
        raise InputError(
            f"the prior of assumption {name} must have weight at every knot, got none at {knots[empty[0]]:g}: mix a "
            "small uniform share into it, or smooth it"
        )
    return weights / weights.sum()
