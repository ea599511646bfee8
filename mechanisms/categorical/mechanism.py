"""What a mechanism for categories is: a table, or a structure whose table would be too large to write down."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..display.summary import Dots, Told
from ..documents.bundle import Nested
from ..documents.exact_mechanism import ExactMechanism
from ..documents.table import as_number, as_object, provenance_from_document, provenance_to_document, require_keys
from ..errors import InputError, TableError
from ..sampling.random_words import random_words
from ..spaces.categories import Categories
from ..statistics import Statistic, Supports
from ..table.provenance import Provenance

MOST_NAMED = 5
"""Categories that are told by their names."""

SHARED = ("categories", "epsilon", "provenance")
"""Fields and members of all kinds."""

NOT_THE_LAW = ("epsilon", "promise", "provenance")
"""What a mechanism says of itself; two that differ in nothing else make the same reports alike."""


@dataclass(frozen=True, eq=False)
class CategoricalMechanism(ExactMechanism):
    """A randomizer of one of K categories, the conditional law of a report given the category.

    The law is exact for every structure: probabilities are ratios of whole numbers, by which `failures` proves privacy
    and reports are drawn.

    Parameters
    ----------
    categories : Categories
    epsilon : float
        The privacy budget that it claims to keep.
    provenance : Provenance

    Example
    -------
    >>> from optldp.mechanisms import frequency_oracle
    >>> oracle = frequency_oracle(["cook", "smith", "nurse"], 1.0)
    >>> oracle.pmf(oracle.all_reports()).round(3)  # of each report, by category
    array([[0.576, 0.212, 0.212],
           [0.212, 0.576, 0.212],
           [0.212, 0.212, 0.576]])
    >>> oracle.failures()
    ()
    """

    of_levels: ClassVar[str | None] = "personalised"
    categories: Categories
    epsilon: float
    provenance: Provenance

    def __post_init__(self) -> None:
        if not isinstance(self.categories, Categories):
            object.__setattr__(self, "categories", Categories(self.categories))
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        if not isinstance(self.provenance, Provenance):
            raise InputError(f"provenance must be a Provenance, got {self.provenance!r}")

    def __repr__(self) -> str:
        name, method = type(self).__name__, self.provenance.method
        return f"{name}({method!r}, epsilon={self.epsilon:g}, categories={len(self.categories)})"

    def _told(self) -> Told:
        return Told(
            {
                "method": self.provenance.method,
                "epsilon": self.epsilon,
                "categories": len(self.categories),
                "of": ", ".join(self.categories.labels[:MOST_NAMED]),
            }
        )

    def with_provenance(self, provenance: Provenance) -> Self:
        """Return the same mechanism with another record of how it was made."""
        return replace(self, provenance=provenance)

    def sample(self, values: ArrayLike, rng: np.random.Generator | None = None) -> np.ndarray:
        """Draw one report for each value: by the operating system's generator, or as a simulation.

        Parameters
        ----------
        values : (N,) array_like of str
            Labels; numbers are taken by the text they print as.
        rng : numpy.random.Generator, optional
            For simulations only: whoever knows its seed can undo the noise.

        Returns
        -------
        (N, ...) ndarray
            Reports, of the kind that `checked_reports` describes.

        Raises
        ------
        InputError
            Unknown categories, with their count and the first; an rng of another kind.
        """
        return self.drawn(values, rng)

    def sample_codes(self, codes: ArrayLike, rng: np.random.Generator | None = None) -> np.ndarray:
        """Draw reports as `sample` does, for values that are given by their positions among the categories."""
        return self.draw(self.categories.checked_codes(codes), random_words(rng))

    @property
    def inputs(self) -> Categories:
        """The categories, held as their positions."""
        return self.categories

    def nature(self) -> dict[str, object]:
        return {"kinds": type(self).__name__, "categories": self.categories.labels}

    @abstractmethod
    def pmf(self, reports: ArrayLike) -> np.ndarray:
        """Return the probability of each report under each category (N, K)."""

    @property
    @abstractmethod
    def statistic(self) -> Statistic:
        """What its reports tell: whole outputs, or the categories that they support."""

    @abstractmethod
    def all_reports(self) -> np.ndarray:
        """Return every report there is; InputError where there are more than a million."""

    def same_law(self, other: CategoricalMechanism) -> bool:
        """Whether the other one makes the same reports with the same probabilities, whatever both say of themselves."""
        if self is other:
            return True
        if type(self) is not type(other) or self.categories != other.categories:
            return False
        names = [field.name for field in fields(self) if field.name not in ("categories", *NOT_THE_LAW)]
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)

    def members(self) -> dict[str, Any]:
        origin = provenance_to_document(self.provenance)
        return {"categories": list(self.categories.labels), "epsilon": self.epsilon, "provenance": origin}


def shared_members(members: Mapping[str, Any], own: tuple[str, ...]) -> tuple[Categories, float, Provenance]:
    """Return what the documents of all kinds have in common, or raise TableError or InputError.

    Parameters
    ----------
    members : mapping
        Of a document, without its format, kind and checksum.
    own : tuple of str
        The members that this kind has besides.
    """
    require_keys("the mechanism", members, (*SHARED, *own))
    labels = members["categories"]
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise TableError("categories must be a list of texts")
    origin = provenance_from_document(as_object("provenance", members["provenance"]))
    return Categories(labels), as_number("epsilon", members["epsilon"]), origin


def whole_number(name: str, value: object) -> int:
    """Return the value if it is a whole number of a document, or raise TableError."""
    if type(value) is not int:
        raise TableError(f"{name} must be a whole number, got {value!r:.40}")
    return value


class PureProtocol(CategoricalMechanism, Supports):
    """A mechanism whose reports support a set of categories and say nothing more, as `Supports` has it.

    Its own fields are whole numbers, in the document under their names.
    """

    @classmethod
    def _own(cls) -> tuple[str, ...]:
        return tuple(field.name for field in fields(cls) if field.name not in SHARED)

    def members(self) -> dict[str, Any]:
        return super().members() | {name: getattr(self, name) for name in self._own()}

    @classmethod
    def from_members(cls, members: Mapping[str, Any], nested: Nested) -> Self:
        own = cls._own()
        return cls(*shared_members(members, own), *(whole_number(name, members[name]) for name in own))

    @property
    def statistic(self) -> Supports:
        """Itself: which categories its reports support."""
        return self

    @property
    def size(self) -> int:
        """K, the number of categories."""
        return len(self.categories)

    @property
    def most_apart(self) -> int:
        """All categories, unless there is a better bound."""
        return len(self.categories)

    def _told(self) -> Told:
        supports = {"own_support": self.own_support, "other_support": self.other_support}
        labels, values = ["the own category", "any other one"], np.array(list(supports.values()))
        return Told(super()._told().facts | supports, picture=Dots(labels, values, "probability of being supported"))
