"""A table whose rows are categories, or places: randomised response, and whatever design makes of a prior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..display.over_floor import FAVOUR, favour
from ..display.summary import HeatMap, Told
from ..documents.bundle import Nested
from ..documents.exact_table import numerators_from_document, require_denominator
from ..errors import TableError
from ..exactness.promises import evidence
from ..integers.exponential import exponential_below
from ..integers.numerators import DENOMINATOR, check_numerators, tightest_output
from ..integers.rounding import round_rows, round_within
from ..promise import Metric, OfPairs, Promise, Pure
from ..promise.document import promise_from_document, promise_to_document
from ..report_text import integers_of_text, report_numbers, require_possible
from ..sampling.drawing import invert_rows
from ..sampling.law import Words
from ..sampling.random_words import draw53
from ..spaces.categories import Categories
from ..spaces.places import Places
from ..statistics import Outputs
from ..table.exact_rounding import pair_boxes
from ..table.provenance import Provenance
from .mechanism import CategoricalMechanism, shared_members

OUTPUTS, PROMISE = "outputs", "promise"
"""Members that a file may have beside: of places those that are reported, and a promise that is not pure."""

MAX_SUM_ERROR = 1e-12
"""Summing 1e4 doubles that ought to give one errs by about 1e-14."""


@dataclass(frozen=True, eq=False, repr=False)
class CategoricalTable(CategoricalMechanism):
    """The probability of each of m outputs under each category; a report is the number of an output.

    Privacy is pure, or of pairs of categories. Categories may be places, and outputs are then places, too.

    Parameters
    ----------
    categories : Categories
        K of them.
    epsilon : float
    provenance : Provenance
    numerators : (K, m) array_like of int
        Over 2^53, in rows that sum to it.
    outputs : Places, optional
        The m places that are reported, where categories are `Places`.
    promise : Promise, optional
        The claim: `Pure(epsilon)` by default, else a promise of pairs of categories with this epsilon, such as
        `Blocks`. `Metric(epsilon)` of places is by their distance.

    Raises
    ------
    TableError
        Numerators of another shape or sum, outputs that do not fit, or a promise about other categories.

    Example
    -------
    >>> from optldp.mechanisms.categorical import CategoricalTable
    >>> made = CategoricalTable.from_probabilities(["yes", "no"], [[0.75, 0.25], [0.25, 0.75]], 1.1)
    >>> made.pmf([0]), made.failures()
    (array([[0.75, 0.25]]), ())
    """

    kind: ClassVar[str] = "categorical-table"
    numerators: np.ndarray
    outputs: Places | None = None
    promise: Promise = None  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride] -- from `__post_init__` on

    def __post_init__(self) -> None:
        super().__post_init__()
        matrix = np.asarray(self.numerators)
        if matrix.ndim != 2 or len(matrix) != len(self.categories) or not np.issubdtype(matrix.dtype, np.integer):
            raise TableError(f"numerators must be integers, one row for each category, got shape {matrix.shape}")
        checked = check_numerators(matrix.astype(np.int64))
        checked.setflags(write=False)
        object.__setattr__(self, "numerators", checked)
        if self.outputs is None:
            if isinstance(self.categories, Places):  # as labels like any others
                object.__setattr__(self, "categories", Categories(self.categories.labels))
        elif not isinstance(self.categories, Places) or len(self.outputs) != matrix.shape[1]:
            raise TableError(
                f"outputs must be places, one for each of {matrix.shape[1]} columns of a table of places, got "
                f"{len(self.outputs)} of a table of {type(self.categories).__name__}"
            )
        object.__setattr__(self, "promise", _claimed(self.promise, self.epsilon, self.categories))

    @classmethod
    def from_probabilities(
        cls,
        categories: Categories | Sequence[object],
        probabilities: ArrayLike,
        epsilon: float,
        *,
        provenance: Provenance | None = None,
        outputs: Places | None = None,
        promise: Promise | None = None,
    ) -> Self:
        """Return the table with these probabilities (K, m) rounded to whole numbers, towards more privacy.

        Raises InputError or TableError for probabilities that are none, or that are not private.

        Example
        -------
        >>> import numpy as np
        >>> from optldp.mechanisms.categorical import CategoricalTable
        >>> from optldp.mechanisms.promise import Metric
        >>> from optldp.mechanisms.spaces.places import Places
        >>> two = Places([[0, 0], [3, 4]])
        >>> law, near = [[0.9, 0.1], [0.1, 0.9]], Metric(0.5)
        >>> made = CategoricalTable.from_probabilities(two, law, 0.5, outputs=two, promise=near)
        >>> str(made.promise), made.failures(), made.to_text(made.sample([[3, 4]], np.random.default_rng(1)))
        ('epsilon 0.5 per unit of distance', (), ['3,4'])
        """
        names = Categories.of(categories)
        matrix = np.asarray(probabilities, dtype=np.float64)
        if matrix.ndim != 2 or len(matrix) != len(names):
            raise TableError(f"probabilities must have one row for each of {len(names)} categories, got {matrix.shape}")
        if not (
            np.isfinite(matrix).all() and (matrix >= 0).all() and np.abs(matrix.sum(axis=1) - 1).max() <= MAX_SUM_ERROR
        ):
            raise TableError("probabilities must be non-negative in rows that sum to 1 within 1e-12")
        nowhere = [Fraction(0)]  # outputs have no place, so there are no means to keep
        means, targets = nowhere * matrix.shape[1], nowhere * len(matrix)
        claimed = _claimed(promise, check_epsilon(epsilon), names)
        if isinstance(claimed, OfPairs):
            boxes = pair_boxes(np.arange(len(names)), matrix, claimed)
            numerators = round_within(matrix, *boxes, means, targets)
        else:
            limit = exponential_below(Fraction(check_epsilon(epsilon)))
            numerators = round_rows(matrix, limit, means, targets)
        return cls(names, epsilon, provenance or Provenance(), numerators, outputs, claimed)

    def _told(self) -> Told:
        told, labels, m = super()._told(), self.categories.labels, self.numerators.shape[1]
        reports = tuple(map(str, range(m))) if self.outputs is None else self.outputs.labels
        ends = (labels[0], labels[-1]), (reports[0], reports[-1])
        return Told(
            told.facts | {"outputs": m},
            picture=HeatMap(favour(self.probabilities), "category", "report", *ends, FAVOUR),
        )

    def _columns(self) -> dict[str, Any]:
        size, m = self.numerators.shape
        return {
            "category": np.repeat(np.array(self.categories.labels, dtype=object), m),
            "output": np.tile(np.arange(m), size),
            "probability": self.probabilities.ravel(),
        }

    def members(self) -> dict[str, Any]:
        more: dict[str, Any] = {} if self.outputs is None else {OUTPUTS: list(self.outputs.labels)}
        named, promise = self.categories, self.promise
        if isinstance(named, Places) and isinstance(promise, Metric) and promise == named.metric(self.epsilon):
            promise = Metric(self.epsilon)
        if (said := promise_to_document(promise)) is not None:
            more[PROMISE] = said
        return super().members() | {"denominator": DENOMINATOR, "numerators": self.numerators} | more

    @classmethod
    def from_members(cls, members: Mapping[str, Any], nested: Nested) -> Self:
        beside = [name for name in (OUTPUTS, PROMISE) if name in members]
        names, epsilon, origin = shared_members(members, ("denominator", "numerators", *beside))
        require_denominator(members["denominator"])
        numerators = numerators_from_document(members["numerators"])
        promise = promise_from_document(epsilon, members[PROMISE]) if PROMISE in members else Pure(epsilon)
        if OUTPUTS not in members:
            return cls(names, epsilon, origin, numerators, None, promise)
        if not isinstance(members[OUTPUTS], list) or not all(isinstance(label, str) for label in members[OUTPUTS]):
            raise TableError("outputs must be a list of texts, a place each")
        outputs = Places.of_labels(members[OUTPUTS])
        return cls(Places.of_labels(names.labels), epsilon, origin, numerators, outputs, promise)

    @property
    def probabilities(self) -> np.ndarray:
        """(K, m) probability of each output under each category."""
        return self.numerators / DENOMINATOR

    @property
    def statistic(self) -> Outputs:
        """Its outputs, with the law of each category."""
        return self._outputs

    @cached_property
    def _outputs(self) -> Outputs:
        return Outputs(self.probabilities)

    def failures(self) -> tuple[str, ...]:
        """Return what breaks the promise of privacy, recomputed from the numbers by whole-number arithmetic."""
        if isinstance(self.promise, Pure):
            return super().failures()
        fault = evidence(self.promise, np.arange(len(self.categories)), self.numerators).fault
        return (fault,) if fault else ()

    def nature(self) -> dict[str, object]:
        places = {} if self.outputs is None else {"places of outputs": self.outputs.labels}
        return super().nature() | {"numbers of outputs": self.numerators.shape[1]} | places

    def draw(self, codes: np.ndarray, words: Words) -> np.ndarray:
        return invert_rows(np.cumsum(self.numerators, axis=1), codes, draw53(words, codes.size))

    def checked_reports(self, reports: ArrayLike) -> np.ndarray:
        """Return the outputs (N,) as int64, numbers from 0 to m - 1; InputError for others and impossible ones."""
        checked = report_numbers(reports, self.numerators.shape[1])
        require_possible((self.numerators.max(axis=0) > 0)[checked], checked)
        return checked

    def pmf(self, reports: ArrayLike) -> np.ndarray:
        return self.probabilities.T[report_numbers(reports, self.numerators.shape[1])]

    def all_reports(self) -> np.ndarray:
        return np.arange(self.numerators.shape[1])

    def to_text(self, reports: np.ndarray) -> list[str]:
        if self.outputs is None:
            return list(map(str, reports.tolist()))
        return [self.outputs.labels[report] for report in reports.tolist()]

    def from_text(self, texts: Sequence[str]) -> np.ndarray:
        return self.checked_reports(integers_of_text(texts) if self.outputs is None else self.outputs.codes(texts))

    @property
    def largest_ratio(self) -> Fraction | None:
        _, largest, smallest = tightest_output(self.numerators)
        return Fraction(largest, smallest) if smallest else None


def _claimed(promise: object, epsilon: float, categories: Categories) -> Promise:
    """What a table of this epsilon promises of its categories, None being pure; TableError for what it cannot."""
    if promise is None or type(promise) is Pure:
        return Pure(epsilon)
    if not isinstance(promise, OfPairs) or promise.epsilon != epsilon:
        raise TableError(f"promise must be pure or of pairs, of epsilon {epsilon:g}, got {promise!r:.60}")
    made = of_categories(promise, categories)
    if misfit := made.misfit(np.arange(len(categories))):
        raise TableError(misfit)
    return made


def of_categories(promise: OfPairs, categories: Categories) -> OfPairs:
    """Return a promise of pairs as it is of categories: that by distance is of places alone, or has a matrix.

    Raises
    ------
    TableError
        Distances of numbers.

    Example
    -------
    >>> near = of_categories(Metric(0.5), Places([[0, 0], [3, 4]]))
    >>> near.limits(np.arange(2))[0].round(9).tolist()
    [0.0, 2.5]
    """
    if not isinstance(promise, Metric) or promise.distance is not None:
        return promise
    if not isinstance(categories, Places) or promise.period is not None:
        raise TableError(f"categories have no distance but one by a matrix, got {promise}: give distance, n x n")
    return categories.metric(promise.epsilon)


def categorical_grr(categories: Categories | Sequence[object], epsilon: float) -> CategoricalTable:
    """Return generalised randomised response: the category itself, or any other with equal probability.

    With limit L <= e^epsilon, each other category has Q = ceil(2^53 / (L + K - 1)) of 2^53, and the own one has the
    rest.

    Parameters
    ----------
    categories : Categories or sequence
        At least two, different, in the order of the numbers that they get.
    epsilon : float
        The budget, in nats.

    Returns
    -------
    table : CategoricalTable

    Raises
    ------
    InputError
        Categories or an epsilon that are not usable.

    Source
    ------
    Kairouz, Oh and Viswanath (2016), as k-ary randomised response.

    Example
    -------
    >>> from optldp.mechanisms.categorical import categorical_grr
    >>> categorical_grr(["a", "b", "c"], 1.0).probabilities[0].round(4)
    array([0.5761, 0.2119, 0.2119])
    """
    names = Categories.of(categories)
    own, other = randomised_response_numerators(len(names), check_epsilon(epsilon))
    matrix = np.where(np.eye(len(names), dtype=bool), own, other)
    return CategoricalTable(names, epsilon, Provenance("grr"), matrix)


def randomised_response_numerators(size: int, epsilon: float) -> tuple[int, int]:
    """Return the numerators over 2^53 of the value itself and of each other one of `size` values.

    The largest own share whose ratio to the others is at most e^epsilon.

    Example
    -------
    >>> own, other = randomised_response_numerators(2, 1.0)
    >>> own + other == 2**53, own / other < 2.718281828459045
    (True, True)
    """
    limit = exponential_below(epsilon)
    other = -((-DENOMINATOR * limit.denominator) // (limit.numerator + (size - 1) * limit.denominator))
    return DENOMINATOR - (size - 1) * other, other
