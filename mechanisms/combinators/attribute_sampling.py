"""Several numeric attributes of one user: some are drawn at random and reported, the others are not looked at."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import nextafter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..cost import columns_cost, require_affordable
from ..display.summary import Dots, Told
from ..documents.bundle import Bundle, Nested, require_exact
from ..documents.table import as_number, require_keys
from ..errors import InputError, TableError
from ..exactness.proof import prove
from ..promise import Pure
from ..sampling.law import Words
from ..sampling.subsets import random_subsets
from ..spaces.columns import Columns, naming
from ..spaces.interval import plain_number
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
    of_levels: ClassVar[str | None] = "personalised-attributes"
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
        return dict(zip(self.attributes, self.drawn(values, rng, clip=clip).T, strict=True))

    @property
    def by_column(self) -> Mapping[str, TabulatedMechanism]:
        """The tables by their attributes."""
        return dict(zip(self.attributes, self.mechanisms, strict=True))

    @property
    def inputs(self) -> Columns:
        """A number of each attribute."""
        return self._inputs

    @cached_property
    def _inputs(self) -> Columns:
        return Columns({name: table.inputs for name, table in self.by_column.items()})

    def nature(self) -> dict[str, object]:
        return {
            "kinds": type(self).__name__,
            "attributes": self.attributes,
            "numbers of sampled attributes": self.sampled,
        }

    def draw(self, held: np.ndarray, words: Words, /) -> np.ndarray:
        """Draw the reports (N, d) of numbers (N, d); NaN where an attribute was not drawn."""
        chosen = random_subsets(len(held), len(self.attributes), self.sampled, words)
        reports = np.full(held.shape, np.nan)
        for place, table in enumerate(self.mechanisms):
            mine = chosen[:, place]
            reports[mine, place] = table.draw(held[mine, place], words)
        return reports

    def checked_reports(self, reports: Mapping[str, ArrayLike] | ArrayLike) -> np.ndarray:
        """Return reports (N, d); InputError for ones that a table cannot produce, or another number of them."""
        checked = np.column_stack(self.inputs.split(reports))
        told = ~np.isnan(checked)
        if wrong := np.flatnonzero(told.sum(axis=1) != self.sampled).tolist():
            raise InputError(
                f"a report must hold {self.sampled} of {len(self.attributes)} attributes, got "
                f"{told[wrong[0]].sum()} in row {wrong[0] + 1}"
            )
        for place, (name, table) in enumerate(self.by_column.items()):
            with naming(name):
                table.checked_reports(checked[told[:, place], place])
        return checked

    def to_text(self, reports: np.ndarray) -> list[str]:
        """Return objects of JSON: a number, or null where an attribute was not drawn, by its name."""
        rows = ([None if math.isnan(report) else report for report in row] for row in reports.tolist())
        return [json.dumps(dict(zip(self.attributes, row, strict=True))) for row in rows]

    def from_text(self, texts: Sequence[str]) -> np.ndarray:
        """Return the reports (N, d) that are written as these objects; InputError for others."""
        rows = []
        for number, text in enumerate(texts, 1):
            try:
                held = json.loads(text)
                rows.append([_number_or_null(held[name]) for name in self.attributes])
            except (ValueError, TypeError, KeyError):
                what = "reports must map every attribute to a number or null"
                raise InputError(f"{what}, got another in row {number}") from None
        return self.checked_reports(np.array(rows, dtype=float).reshape(len(rows), len(self.attributes)))

    def report_of(self, text: str) -> dict[str, float]:
        """Return one report by the names of attributes, from a text that `to_text` wrote and nobody has changed."""
        return {name: math.nan if report is None else report for name, report in json.loads(text).items()}


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
            raise InputError(
                f"attribute {name!r} must have a table of numbers, got {table!r:.60}: expand it, or leave it out"
            )
        require_exact(f"the table of attribute {name!r}", table)


def _number_or_null(held: object) -> float:
    number = math.nan if held is None else plain_number(held, -math.inf, math.inf)
    if number is None:
        raise ValueError
    return number
