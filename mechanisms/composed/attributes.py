"""Several numeric attributes of one user: some are drawn at random and reported, the others are not looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from math import nextafter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..cost import columns_cost, require_affordable
from ..documents.bundle import Bundle, Nested, require_exact
from ..documents.table import as_number, require_keys
from ..errors import InputError, TableError
from ..exactness.proof import prove
from ..laws.domain import admitted_values
from ..laws.subsets import random_subsets
from ..promise import Pure
from ..shown.told import Dots, Told
from ..table.exact_sampling import random_words
from ..table.table import TabulatedMechanism


@dataclass(frozen=True, eq=False, repr=False)
class AttributeSampling(Bundle):
    r"""A table for each of d attributes, of which a user reports k, drawn uniformly and independent of the values.

    For every choice of k attributes the report is private by the sum of their tables' epsilons (basic composition),
    so the sum of the k largest must be at most epsilon.  A report costs the user `epsilon` whichever attributes it
    holds; to draw again is a second report.

    Parameters
    ----------
    attributes : sequence of str
        d names, all different, none empty.
    mechanisms : sequence of TabulatedMechanism
        One for each attribute, exact.
    sampled : int
        k, from 1 to d.
    epsilon : float
        The privacy budget that a user spends, all attributes together.

    Raises
    ------
    InputError
        Names and tables that do not match, a k that is none, or tables that spend more than epsilon.
    TableError
        A table in doubles.

    Source
    ------
    Wang et al. (2019), "Collecting and analyzing multidimensional data with local differential privacy", algorithm 4;
    with k = 1, algorithm 3 of OPTT (Ma, Zhu and Wang).

    Example
    -------
    >>> import numpy as np
    >>> from optldp import AttributeSampling, make_exact
    >>> from optldp.mechanisms import duchi
    >>> tables = [make_exact(duchi(ends, 1.0)).mechanism for ends in ([18, 90], [0, 80])]
    >>> made = AttributeSampling(["age", "hours"], tables, 1, 1.0)
    >>> reports = made.sample({"age": [20, 64, 33], "hours": [40, 0, 35]})
    >>> np.isnan([reports["age"], reports["hours"]]).sum(axis=0)
    array([1, 1, 1])
    """

    kind: ClassVar[str] = "attributes"
    attributes: tuple[str, ...]
    mechanisms: tuple[TabulatedMechanism, ...]
    sampled: int
    epsilon: float

    def __init__(
        self, attributes: Sequence[str], mechanisms: Sequence[TabulatedMechanism], sampled: int, epsilon: float
    ) -> None:
        object.__setattr__(self, "attributes", tuple(attributes))
        object.__setattr__(self, "mechanisms", tuple(mechanisms))
        object.__setattr__(self, "sampled", sampled)
        object.__setattr__(self, "epsilon", check_epsilon(epsilon))
        _check_members(self.attributes, self.mechanisms)
        if type(sampled) is not int or not 1 <= sampled <= len(self.attributes):
            raise InputError(f"sampled must be a whole number from 1 to {len(self.attributes)}, got {sampled!r}")
        if self.largest_spending > Fraction(self.epsilon):
            raise InputError(
                f"the epsilons of any {sampled} attributes must sum to at most {self.epsilon:g}, "
                f"got {float(self.largest_spending)!r}: give each attribute_budget(epsilon, sampled)"
            )

    @classmethod
    def of(cls, mechanisms: Mapping[str, TabulatedMechanism], sampled: int, epsilon: float) -> Self:
        """Return the mechanism for attributes that are given with their tables."""
        return cls(tuple(mechanisms), tuple(mechanisms.values()), sampled, epsilon)

    def __repr__(self) -> str:
        return f"AttributeSampling(attributes={len(self.attributes)}, sampled={self.sampled}, epsilon={self.epsilon:g})"

    def _told(self) -> Told:
        budgets = [table.epsilon for table in self.mechanisms]
        facts = {"epsilon": self.epsilon, "sampled": self.sampled, "attributes": len(self.attributes)}
        columns = {
            "attribute": self.attributes,
            "epsilon": budgets,
            "method": [table.provenance.method for table in self.mechanisms],
            "knots": [table.knots.size for table in self.mechanisms],
            "outputs": [table.low.size for table in self.mechanisms],
        }
        return Told(facts, columns, Dots(self.attributes, np.array(budgets), "epsilon of an attribute"))

    @property
    def promise(self) -> Pure:
        """Pure privacy of its budget, for all attributes together."""
        return Pure(self.epsilon)

    @property
    def largest_spending(self) -> Fraction:
        """The sum of the k largest epsilons: what a user spends at most, exactly."""
        epsilons = sorted((Fraction(table.epsilon) for table in self.mechanisms), reverse=True)
        return sum(epsilons[: self.sampled], Fraction(0))

    def failures(self) -> tuple[str, ...]:
        """Return what the tables break, each with its attribute."""
        members = zip(self.attributes, self.mechanisms, strict=True)
        return tuple(f"attribute {name!r}: {failure}" for name, table in members for failure in prove(table).failures)

    def members(self) -> dict[str, Any]:
        return {
            "attributes": list(self.attributes),
            "mechanisms": list(self.mechanisms),
            "sampled": self.sampled,
            "epsilon": self.epsilon,
        }

    @classmethod
    def from_members(cls, members: Mapping[str, Any], nested: Nested) -> Self:
        require_keys("the mechanism", members, ("attributes", "mechanisms", "sampled", "epsilon"))
        for name in ("attributes", "mechanisms"):
            if not isinstance(members[name], list):
                raise TableError(f"{name} must be a list, got {type(members[name]).__name__}")
        require_readable(len(members["attributes"]))
        tables = [nested(document) for document in members["mechanisms"]]
        return cls(members["attributes"], tables, members["sampled"], as_number("epsilon", members["epsilon"]))

    def sample(
        self,
        values: Mapping[str, ArrayLike] | ArrayLike,
        rng: np.random.Generator | None = None,
        *,
        clip: bool = False,
    ) -> dict[str, np.ndarray]:
        """Draw k reports for each user: by the operating system's generator, or as a simulation.

        Parameters
        ----------
        values : mapping of str to (N,) array_like, or (N, d) array_like
            Every attribute of every user, in its table's domain and units; columns in the order of `attributes`.
        rng : numpy.random.Generator, optional
            For simulations only: whoever knows its seed can undo the noise.
        clip : bool
            Move values outside a domain to its nearer end, and warn with their count, instead of raising.

        Returns
        -------
        mapping of str to (N,) ndarray
            Reports in the units of the tables; NaN where the attribute was not drawn.

        Raises
        ------
        InputError
            Attributes missing, unknown or of different lengths; what `TabulatedMechanism.sample` raises, with the
            attribute.
        """
        columns = self.admitted(values, clip=clip)
        chosen = random_subsets(len(columns[0]), len(columns), self.sampled, random_words(rng))
        reports = {}
        for name, table, column, mine in zip(self.attributes, self.mechanisms, columns, chosen.T, strict=True):
            reports[name] = np.full(column.size, np.nan)
            with naming(name):
                reports[name][mine] = table.sample(column[mine], rng)
        return reports

    def columns(self, given: Mapping[str, ArrayLike] | ArrayLike) -> list[np.ndarray]:
        """Return one (N,) column of floats for each attribute; InputError for columns that do not match."""
        if isinstance(given, Mapping):
            if missing := [name for name in self.attributes if name not in given]:
                raise InputError(f"there must be a column for each attribute, got none for {missing[0]!r}")
            if unknown := [name for name in given if name not in self.attributes]:
                raise InputError(f"columns must be among {', '.join(self.attributes)}, got {unknown[0]!r}: drop it")
            columns = [_floats(f"attribute {name!r}", given[name], 1) for name in self.attributes]
        else:
            matrix = _floats("the attributes", given, 2)
            if matrix.shape[1] != len(self.attributes):
                raise InputError(f"there must be {len(self.attributes)} columns, got {matrix.shape[1]}")
            columns = list(matrix.T)
        for name, column in zip(self.attributes, columns, strict=True):
            if column.size != columns[0].size:
                raise InputError(
                    f"columns must be of equal length, got {column.size} for {name!r}, not {columns[0].size}"
                )
        return columns

    def admitted(self, values: Mapping[str, ArrayLike] | ArrayLike, *, clip: bool) -> list[np.ndarray]:
        """Return every value (N,) of each attribute, drawn or not: an error must not tell what was drawn."""
        admitted = []
        for name, table, column in zip(self.attributes, self.mechanisms, self.columns(values), strict=True):
            with naming(name):
                admitted.append(admitted_values(column, *table.domain, clip=clip))
        return admitted


@contextmanager
def naming(attribute: str) -> Iterator[None]:
    """Raise an InputError of the block again, with the attribute it is about.

    Example
    -------
    >>> with naming("age"):
    ...     check_epsilon(0)
    Traceback (most recent call last):
        ...
    optldp.mechanisms.errors.InputError: attribute 'age': epsilon must be positive and finite, got 0
    """
    try:
        yield
    except InputError as error:
        raise InputError(f"attribute {attribute!r}: {error}") from None


def attribute_budget(epsilon: float, sampled: int) -> float:
    """Return the largest double that `sampled` times is at most epsilon, exactly.

    Raises InputError for an epsilon, or a share of it, that is not usable.

    Example
    -------
    >>> attribute_budget(1.0, 3), Fraction(attribute_budget(0.7, 3)) * 3 <= Fraction(0.7)
    (0.3333333333333333, True)
    """
    share = check_epsilon(epsilon) / sampled
    while Fraction(share) * sampled > Fraction(epsilon):
        share = nextafter(share, 0.0)
    return check_epsilon(share)


def require_readable(attributes: int) -> None:
    """Raise InputError for more attributes than a file of values can well have, of which each is a column to be read.

    Example
    -------
    >>> require_readable(12)
    """
    what = f"a mechanism for {attributes} attributes"
    require_affordable(what, columns_cost(attributes, read=attributes), "use fewer attributes")


def _check_members(attributes: tuple[Any, ...], mechanisms: tuple[Any, ...]) -> None:
    """Raise InputError unless there are as many different names as tables, and at least one."""
    if not attributes or len(attributes) != len(mechanisms):
        raise InputError(f"every attribute needs one table, got {len(mechanisms)} for {len(attributes)}")
    if unnamed := [name for name in attributes if not isinstance(name, str) or not name]:
        raise InputError(f"attributes must have names, got {unnamed[0]!r:.40}")
    if repeated := [name for name, many in Counter(attributes).items() if many > 1]:
        raise InputError(f"attributes must differ, got {repeated[0]!r} twice")
    for name, table in zip(attributes, mechanisms, strict=True):
        if not isinstance(table, TabulatedMechanism):
            raise InputError(f"attribute {name!r} must have a table of numbers, got {table!r:.60}")
        require_exact(f"the table of attribute {name!r}", table)


def _floats(name: str, given: ArrayLike, dimensions: int) -> np.ndarray:
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers, got something else") from None
    if array.ndim != dimensions:
        raise InputError(f"{name} must have {dimensions} dimension{'s'[: dimensions - 1]}, got shape {array.shape}")
    return array
