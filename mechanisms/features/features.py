"""One feature of a user's record, drawn by public shares, reported through the table of that feature."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..channel import Channel
from ..display.summary import Dots, Told
from ..documents.bundle import Bundle, Nested, require_exact
from ..documents.table import as_number, as_object, as_text, numbers_from_document, require_keys
from ..errors import InputError, TableError
from ..exactness.proof import prove
from ..promise import Pure
from ..sampling.law import Words
from ..sampling.random_words import random_words
from ..sampling.subsets import uniform_below
from ..spaces.categories import Categories
from ..spaces.columns import Columns
from ..spaces.interval import Interval
from ..table.table import TabulatedMechanism
from .formulas import Formula, Ranks, formula_of

LARGEST_SHARES = 2**31
"""Of the sum of shares, which are whole numbers."""

MOST_FEATURES = 64


@dataclass(frozen=True, eq=False)
class Feature:
    """A named number of a record, its share of the users, and the table that reports it.

    A value beyond the table's domain counts as its nearer end, so features are clipped.

    Parameters
    ----------
    name : str
    formula : Quadratic, Score, Signs or Sides
        Of all columns, in their order.
    mechanism : TabulatedMechanism
        Exact, of pure privacy.
    share : int
        Users who report it, in proportion to those of the others; positive.

    Example
    -------
    >>> from optldp.mechanisms import duchi, make_exact
    >>> from optldp.mechanisms.features import Feature, Quadratic
    >>> product = Quadratic([0, 0], [1, 1], 0.0, [0, 0], [[0, 0.5], [0.5, 0]])
    >>> Feature("xy", product, make_exact(duchi([-1, 1], 1.0)).mechanism, 1).name
    'xy'
    """

    name: str
    formula: Formula
    mechanism: TabulatedMechanism
    share: int = 1


@dataclass(frozen=True, eq=False, repr=False)
class Features(Bundle):
    """A table for each of some features of a record, of which a user reports one, drawn independent of the values.

    Each report passes a function of the record through a table of pure privacy. Any two records thus have a log-ratio
    of at most the tables' largest epsilon, which is at most `epsilon`.

    Parameters
    ----------
    columns : mapping of str to (low, high)
        The box: the range of each column's values.
    features : sequence of Feature
    epsilon : float
    target : str
        What the features are for: an entry of `optldp.estimators.features`.
    told : mapping of str to JSON values
        Arguments of the target's estimator, such as the reference of an influence function.
    ranks : mapping of str to Ranks
        Columns that are replaced by ranks of a public distribution function first.
    kept : mapping of str to (low, high)
        Limits of columns (of ranks, where they replace values); values beyond a limit are moved to it.
    labels : mapping of str to sequence of str
        Columns with labels, whose values here are the labels' numbers from 0.

    Raises
    ------
    InputError
        Names, boxes, shares or formulas that do not go together, or a table that spends more than epsilon.
    TableError
        A table in doubles.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.mechanisms import duchi, make_exact
    >>> from optldp.mechanisms.features import Feature, Features, Quadratic
    >>> product = Quadratic([0, 0], [1, 1], 0.0, [0, 0], [[0, 0.5], [0.5, 0]])
    >>> one = Feature("xy", product, make_exact(duchi([-1, 1], 1.0)).mechanism)
    >>> made = Features({"x": (-1, 1), "y": (-1, 1)}, [one], 1.0)
    >>> made.sample({"x": [0.5, 1.0], "y": [1.0, -1.0]})[:, 0]
    array([0., 0.])
    """

    kind: ClassVar[str] = "features"
    columns: Mapping[str, tuple[float, float]]
    features: tuple[Feature, ...]
    epsilon: float
    target: str
    told: Mapping[str, Any]
    ranks: Mapping[str, Ranks]
    kept: Mapping[str, tuple[float, float]]
    labels: Mapping[str, Categories]

    def __init__(
        self,
        columns: Mapping[str, tuple[float, float]],
        features: Sequence[Feature],
        epsilon: float,
        target: str = "",
        told: Mapping[str, Any] | None = None,
        ranks: Mapping[str, Ranks] | None = None,
        kept: Mapping[str, tuple[float, float]] | None = None,
        labels: Mapping[str, Sequence[str] | Categories] | None = None,
    ) -> None:
        object.__setattr__(self, "columns", {name: (float(a), float(b)) for name, (a, b) in columns.items()})
        object.__setattr__(self, "features", tuple(features))
        object.__setattr__(self, "epsilon", check_epsilon(epsilon))
        object.__setattr__(self, "target", target)
        object.__setattr__(self, "told", dict(told or {}))
        object.__setattr__(self, "ranks", dict(ranks or {}))
        object.__setattr__(self, "kept", {name: (float(a), float(b)) for name, (a, b) in (kept or {}).items()})
        object.__setattr__(self, "labels", {name: Categories.of(held) for name, held in (labels or {}).items()})
        _check_box("range", self.columns)
        _check_box("kept range", self.kept)
        if unknown := [name for name in (*self.ranks, *self.kept, *self.labels) if name not in self.columns]:
            raise InputError(f"ranks, kept ranges and labels must be of one of the columns, got {unknown[0]!r}")
        for name, held in self.labels.items():
            if self.columns[name] != (0, len(held) - 1):
                raise InputError(f"column {name!r} of {len(held)} labels must range from 0 to {len(held) - 1}")
        if not self.columns:
            raise InputError("features are of columns, got none: name one")
        _check_features(self.features, len(self.columns), self.epsilon)

    def __repr__(self) -> str:
        names = ", ".join(self.columns)
        return f"Features({self.target!r}, columns={names!r}, features={len(self.features)}, epsilon={self.epsilon:g})"

    def _told(self) -> Told:
        names, shares = [each.name for each in self.features], self.shares
        facts = {"epsilon": self.epsilon, "target": self.target, "columns": ", ".join(self.columns)}
        tables = [each.mechanism for each in self.features]
        columns = {
            "feature": names,
            "share": shares.tolist(),
            "low": [float(table.knots[0]) for table in tables],
            "high": [float(table.knots[-1]) for table in tables],
        }
        return Told(facts, columns, Dots(names, shares, "share of the users"))

    @property
    def shares(self) -> np.ndarray:
        """(F,) of the users who report each feature, of sum one."""
        whole = np.array([each.share for each in self.features], dtype=float)
        return whole / whole.sum()

    @property
    def promise(self) -> Pure:
        """Pure privacy of its budget, for the whole record."""
        return Pure(self.epsilon)

    def failures(self) -> tuple[str, ...]:
        """Return what the tables break, each with its feature."""
        return tuple(
            f"feature {each.name!r}: {failure}" for each in self.features for failure in prove(each.mechanism).failures
        )

    def members(self) -> dict[str, Any]:
        return {
            "columns": [
                {"name": name, "low": low, "high": high}
                | ({"ranks": self.ranks[name].to_document()} if name in self.ranks else {})
                | ({"kept": list(self.kept[name])} if name in self.kept else {})
                | ({"labels": list(self.labels[name].labels)} if name in self.labels else {})
                for name, (low, high) in self.columns.items()
            ],
            "features": [
                {"name": each.name, "share": each.share, **each.formula.to_document()} for each in self.features
            ],
            "mechanisms": [each.mechanism for each in self.features],
            "epsilon": self.epsilon,
            "target": self.target,
            "told": dict(self.told),
        }

    @classmethod
    def from_members(cls, members: Mapping[str, Any], nested: Nested) -> Self:
        require_keys("the mechanism", members, ("columns", "features", "mechanisms", "epsilon", "target", "told"))
        lists = [members[name] for name in ("columns", "features", "mechanisms")]
        if not all(isinstance(each, list) for each in lists) or not 0 < len(lists[1]) == len(lists[2]) <= MOST_FEATURES:
            raise TableError(
                f"there must be lists of columns, of 1 to {MOST_FEATURES} features, and of a table of each"
            )
        columns, ranks, kept, labels = {}, {}, {}, {}
        for held in lists[0]:
            told = as_object("a column", held)
            name = as_text("the name of a column", told.get("name"))
            columns[name] = (as_number("low", told.get("low")), as_number("high", told.get("high")))
            if "ranks" in told:
                ranks[name] = Ranks.from_document(told["ranks"])
            if "kept" in told:
                ends = numbers_from_document("kept", told["kept"])
                if ends.size != 2:
                    raise TableError(f"kept must be two numbers, got {ends.size}")
                kept[name] = tuple(ends.tolist())
            if "labels" in told:
                if not isinstance(told["labels"], list):
                    raise TableError("labels must be a list of texts")
                labels[name] = [as_text("a label", label) for label in told["labels"]]
        if len(columns) != len(lists[0]):
            raise TableError("columns must differ, got one name twice")
        features = []
        for held, table in zip(lists[1], lists[2], strict=True):
            told = dict(as_object("a feature", held))
            name, share = as_text("the name of a feature", told.pop("name", None)), told.pop("share", None)
            features.append(Feature(name, formula_of(told), nested(table), share))  # pyright: ignore[reportArgumentType] -- checked below
        target, told = as_text("target", members["target"]), as_object("told", members["told"])
        return cls(columns, features, as_number("epsilon", members["epsilon"]), target, told, ranks, kept, labels)

    @property
    def by_column(self) -> Mapping[str, Channel]:
        """None: a report is one, of all columns."""
        return {}

    @property
    def inputs(self) -> Columns:
        """A number of each column, within its box."""
        return self._inputs

    @cached_property
    def _inputs(self) -> Columns:
        return Columns({name: Interval(*box) for name, box in self.columns.items()})

    def nature(self) -> dict[str, object]:
        return {"kinds": type(self).__name__, "columns": tuple(self.columns), "target": self.target}

    def values_of(self, held: np.ndarray, feature: int) -> np.ndarray:
        """Return one feature (n,) of records (n, d), moved into the domain of its table."""
        one, columns = self.features[feature], held.astype(float)
        for place, name in enumerate(self.columns):
            if name in self.ranks:
                columns[:, place] = self.ranks[name].of(columns[:, place])
            if name in self.kept:
                columns[:, place] = np.clip(columns[:, place], *self.kept[name])
        knots = one.mechanism.knots
        return np.clip(one.formula.of(columns), knots[0], knots[-1])

    def draw(self, held: np.ndarray, words: Words, /) -> np.ndarray:
        """Draw reports (N, 2) of records (N, d): the number of the feature, and its report."""
        ends = np.cumsum([each.share for each in self.features])
        chosen = np.searchsorted(ends, uniform_below(int(ends[-1]), len(held), words), side="right")
        reports = np.empty((len(held), 2))
        reports[:, 0] = chosen
        for place, each in enumerate(self.features):
            mine = chosen == place
            inputs = each.mechanism.inputs
            values = inputs.sampled(inputs.admitted(self.values_of(held[mine], place)), words)
            reports[mine, 1] = each.mechanism.draw(values, words)
        return reports

    def sample(
        self, values: Mapping[str, ArrayLike] | ArrayLike, rng: np.random.Generator | None = None, *, clip: bool = False
    ) -> np.ndarray:
        """Draw one report for each user: by the operating system's generator, or as a simulation.

        Parameters
        ----------
        values : mapping of str to (N,) array_like, or (N, d) array_like
            Every column of every user, within its box; columns in the order of `columns`.
        rng : numpy.random.Generator, optional
            For simulations only: whoever knows its seed can undo the noise.
        clip : bool
            Move values outside a box to its nearer end, and warn with their count, instead of raising.

        Returns
        -------
        reports : (N, 2) ndarray of float
            The number of the feature, from 0, and its report.

        Raises
        ------
        InputError
            Columns that are missing, unknown, of different lengths, or outside their box.
        """
        words = random_words(rng)
        return self.draw(self.inputs.admitted(values, clip=clip), words)

    def checked_reports(self, reports: ArrayLike) -> np.ndarray:
        """Return reports (N, 2) as doubles; InputError for ones that no feature of this mechanism has."""
        found = np.array(reports, dtype=float)
        if found.ndim != 2 or found.shape[1] != 2:
            raise InputError(f"reports of features must be (N, 2), the feature and its report, got {found.shape}")
        if not np.isin(found[:, 0], np.arange(len(self.features))).all():
            raise InputError(f"features are numbered from 0 to {len(self.features) - 1}, got a report of another")
        for place, each in enumerate(self.features):
            mine = found[found[:, 0] == place, 1]
            if mine.size:
                each.mechanism.checked_reports(mine)
        return found

    def to_text(self, reports: np.ndarray) -> list[str]:
        """Return each as a list of JSON: the feature and its report."""
        return [json.dumps([int(feature), report]) for feature, report in reports.tolist()]

    def from_text(self, texts: Sequence[str]) -> np.ndarray:
        rows = []
        for number, text in enumerate(texts, 1):
            try:
                feature, report = json.loads(text)
                rows.append([float(feature), float(report)])
            except (ValueError, TypeError):
                raise InputError(f"reports must be [feature, report], got another in row {number}") from None
        return self.checked_reports(np.array(rows, dtype=float).reshape(len(rows), 2))


def _check_box(what: str, columns: Mapping[str, tuple[float, float]]) -> None:
    """Raise InputError unless columns have names and two rising numbers."""
    for name, (low, high) in columns.items():
        if not isinstance(name, str) or not name or not -np.inf < low < high < np.inf:
            raise InputError(f"the {what} of column {name!r} must be two rising numbers, got {low!r} and {high!r}")


def _check_features(features: tuple[Feature, ...], columns: int, epsilon: float) -> None:
    """Raise InputError unless features have names, shares, formulas of all columns, and tables within the budget."""
    if not 1 <= len(features) <= MOST_FEATURES or len({each.name for each in features}) < len(features):
        raise InputError(f"there must be 1 to {MOST_FEATURES} features of different names, got others")
    for each in features:
        what = f"feature {each.name!r}"
        if type(each.share) is not int or each.share < 1:
            raise InputError(f"the share of {what} must be a whole number from 1, got {each.share!r:.40}")
        if each.formula.width != columns:
            raise InputError(f"the formula of {what} must be of all {columns} columns, got {each.formula.width}")
        if not isinstance(each.mechanism, TabulatedMechanism):
            raise InputError(f"{what} must have a table of numbers, got {each.mechanism!r:.60}")
        require_exact(f"the table of {what}", each.mechanism)
        if each.mechanism.epsilon > epsilon:
            raise InputError(f"{what} must spend at most {epsilon:g}, got {each.mechanism.epsilon!r}: design it anew")
    if sum(each.share for each in features) >= LARGEST_SHARES:
        raise InputError(f"shares must have a sum below {LARGEST_SHARES}: scale them")
