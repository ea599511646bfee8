"""The one class that commands speak to, whatever mechanism they were given, and what passes between the two."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np

from ....estimators.intervals import CONFIDENCE
from ....estimators.reading.columns.simulated_columns import SIMULATED
from ....estimators.reading.columns.table_column import constants_beside
from ....mechanisms.errors import InputError
from ....mechanisms.files.identifier import table_identifier
from ..output.output import number
from .options import REPORT_COLUMN

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ....estimators import Estimate
    from ....estimators.reading.columns import SkippedRows
    from ....mechanisms import TabulatedMechanism
    from ....mechanisms.documents.bundle import Bundle
    from ....mechanisms.ledger import GivenReports
    from ....mechanisms.table.knot_prior import KnotPrior
    from ...planning.people import MeanWithin
    from ..options.perturb import PerturbOptions
    from .options import CountOptions, EstimateOptions

M = TypeVar("M", bound="TabulatedMechanism | Bundle")

Answer = Path | Mapping[str, Any]
"""Rows of counts: a file, or columns by name."""


@dataclass(frozen=True, eq=False)
class Kind(ABC, Generic[M]):
    """A mechanism as commands see it, whatever it is: one file of this room and one line of `registry` for each kind.

    A kind answers for its mechanism, and for nothing that is computed below:

    - `perturb` reads the columns of values that it takes, and makes the columns of reports of them;
    - `layout` says how its reports stand in the columns of a file, so that `reading` can check them row by row;
    - `estimate` makes what can be estimated of reports, as facts, rows and columns;
    - `shown`, `notes`, `figure` and `one_report_times_n` are what `show` says, `checked` what `verify` says.

    What it is audited as stands in `designer.auditing.subjects`, beside the auditor. Errors are InputError, one line.

    Parameters
    ----------
    mechanism : table or bundle
    """

    of: ClassVar[type]
    """The class of its mechanisms."""

    by_itself: ClassVar[bool]
    """Whether reports of one service are all that it can estimate from; of several, one such speaks for all."""

    of_one_column: ClassVar[bool] = False
    """Whether reports are of one column's values, each by itself, so that they can be drawn block by block."""

    has_table: ClassVar[bool] = False
    """Whether the probability of each output is written down for every value of a number."""

    assumes: ClassVar[bool] = False
    """Whether intervals may assume something of the distribution of its values."""

    over_time: ClassVar[bool] = False
    """Whether it is a way of collecting over several periods, each of which has files of its own."""

    holds: ClassVar[tuple[str, ...]] = ()
    """Options of `perturb` by which `held` finds values in the data."""

    moves: ClassVar[str] = "of n moves the mean by at most"
    """What one report does, before the amount."""

    mechanism: M

    @classmethod
    def suits(cls, mechanism: Any) -> bool:
        """Whether a mechanism is of this kind."""
        return isinstance(mechanism, cls.of)

    def identifier(self) -> str:
        """Return what names its file beside its reports and their counts."""
        return table_identifier(self.mechanism)

    def constants(self, columns: Collection[str]) -> dict[str, str]:
        """Return what stands beside reports in these columns, the same in all rows: the table that made them."""
        return constants_beside(columns, [self.mechanism])

    @abstractmethod
    def perturb(self, asked: PerturbOptions, rng: np.random.Generator | None) -> WrittenReports:
        """Return a report of every row of the data, by the operating system's generator, or by one that simulates."""

    @abstractmethod
    def held(self, asked: PerturbOptions, beside: Mapping[str, np.ndarray]) -> Held:
        """Return what users hold, of rows that have all numbers of the columns `beside` their values, if any."""

    def reports_of(self, cells: Sequence[np.ndarray]) -> np.ndarray:
        """Return the reports that the columns of a file hold, as the mechanism takes them, unchecked."""
        return cells[0]

    def columns_of(self, reports: np.ndarray) -> dict[str, np.ndarray]:
        """Return reports as columns of a file."""
        return {REPORT_COLUMN: reports}

    def drawing(self, asked: PerturbOptions, rng: np.random.Generator | None) -> Drawing:
        """Return what draws reports of one column's values, whichever of them; InputError for kinds of more columns."""
        raise InputError("--resume and --window are for tables of numbers and for categories: leave them out")

    @abstractmethod
    def layout(self, column: str, level_column: str) -> Layout:
        """Return how reports stand in the columns of a file."""

    @abstractmethod
    def estimate(self, services: Sequence[Service], asked: EstimateOptions) -> Found:
        """Return what there is to say of the values behind the reports of these services, the first its own."""

    def reader(self, asked: EstimateOptions, *, numbered: bool) -> Reader:
        """Return what reads reports one by one, said by the numbers of their outputs or not; InputError where no single
        report can be read."""
        raise InputError("--of reports is for one table of numbers and for categories: leave it out")

    def answer(self, services: Sequence[Service], asked: CountOptions) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Return the reports of services counted, as columns, and what their files told."""
        raise InputError("count is not for levels of attributes: estimate takes the reports themselves")

    def query(self, kinds: Sequence[Kind], relations: Sequence[str], **options: Any) -> str:
        """Return the query that counts them in another engine; see `count_query`."""
        from ....estimators.engines import count_query

        return count_query([kind.mechanism for kind in kinds], relations, **options)

    def reports_in_text(self, texts: Sequence[str]) -> object:
        """Return the reports that the column of counts by day says; InputError where one is none, or for kinds that
        are not counted so."""
        raise InputError("counts by day are for tables of numbers, categories and pairs: count whole files of others")

    def tested(self, rows: Mapping[str, Any], skipped: SkippedRows) -> Sequence[Any]:
        """Return counts that are rows of an answer as those who test whether they fit take them."""
        raise InputError("counts by day are for tables of numbers, categories and pairs: count whole files of others")

    def cells(self) -> dict[str, np.ndarray]:
        """Return the outputs as intervals of reports; see `output_cells`."""
        raise InputError("--cells is for tables of numbers: leave it out")

    def for_estimates(self) -> Kind:
        """Return the kind that estimates from its reports: itself, but for the short form of another mechanism."""
        return self

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Return what there is to know of the mechanism, by name, for people and programs to read."""

    @abstractmethod
    def checked(self, exact: bool) -> Checked:
        """Return whether the mechanism keeps its promise; `exact` asks for the facts of the proof, where it has any."""

    def shown(self) -> dict[str, Any]:
        """Return the facts, among them what one report can do to an estimate."""
        return self.facts() | {"one_report_times_n": self.one_report_times_n()}

    def notes(self) -> list[str]:
        """Return what whoever looks at the mechanism should know."""
        return []

    @abstractmethod
    def figure(self) -> Axes:
        """Return a picture of the mechanism."""

    def parts(self) -> list[Part]:
        """Return the mechanisms that it is made of, itself where it is one."""
        return [Part("", self.mechanism)]

    def units(self, attribute: str | None) -> str:
        """Return the units of what is estimated, of one attribute where there are several; "" for none."""
        return ""

    def means_within(
        self, people: int, priors: Sequence[KnotPrior] = (), *, confidence: float = CONFIDENCE
    ) -> dict[str, MeanWithin]:
        """Return how far each mean of so many people may be off, by its name, "" for the only one; what the mechanism
        holds of priors serves where none are given. InputError where no mean is estimated."""
        raise InputError("--n is for means of numbers, pairs, attributes and levels of these: leave it out")

    def one_report_times_n(self) -> float | list[float] | None:
        """Return the most that one report of n moves an estimate, times n; None where that is not known."""
        try:
            return self.influence_times_n()
        except InputError:  # no unbiased estimate, so none that one report's share of could be told
            return None

    def influence_times_n(self) -> float | list[float] | None:
        """Return the same, or raise InputError where it is not known."""
        from ....estimators import influence

        return float(influence(self.mechanism).times_n.max())

    def one_report(self, amount: float | list[float]) -> str:
        """Return what `one_report_times_n` found as a fact to print."""
        amounts = amount if isinstance(amount, list) else [amount]
        return f"{self.moves} {', '.join(f'{number(each)}/n' for each in amounts)}"


@dataclass(frozen=True, eq=False)
class Part:
    """One of the mechanisms that a bundle is made of, and what it is called.

    Attributes
    ----------
    name : str
    mechanism : mechanism
    column : str, optional
        That of its values, where the mechanism names it.
    share : float
        Of the users who report through it.
    """

    name: str
    mechanism: Any
    column: str | None = None
    share: float = 1.0


@dataclass(frozen=True, eq=False)
class Service:
    """Who collected reports: its mechanism, the file that held it, and the file of its reports."""

    kind: Kind
    table: Path
    reports: Path


@dataclass(frozen=True, eq=False)
class Drawing:
    """Reports of values of one column, a block at a time.

    Attributes
    ----------
    numeric : bool
        Whether values are numbers; else they are text.
    units : str, optional
        What dates and times are to be counted in.
    draw : callable
        Makes reports of values (n,), and of their users (n,) where they are drawn by a secret.
    counted : callable
        Makes of values (n,) what they count as.
    mark : str, optional
        Where they are drawn by a secret: what another run that draws the same reports has, too.
    """

    numeric: bool
    units: str | None
    draw: Callable[[np.ndarray, np.ndarray | None], WrittenReports]
    counted: Callable[[np.ndarray], np.ndarray] = lambda values: values
    mark: str | None = None


@dataclass(frozen=True, eq=False)
class Reader:
    """What reads single reports, each as what costs least once it is seen, by the prior.

    Attributes
    ----------
    loss : str
        By name, "own" for numbers of a file.
    readings : (k,) ndarray
        What a report may be read as: numbers or labels.
    expected : float, optional
        Expected loss of a report that is yet to be drawn, where all outputs can be looked at.
    read : callable
        Of reports (n,), as a file has them, the numbers of their readings (n,) and their posterior risk (n,).
    """

    loss: str
    readings: np.ndarray
    expected: float | None
    read: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Held:
    """What users hold.

    Attributes
    ----------
    values : of n users
        As the mechanism draws reports of them.
    rows : (N,) ndarray of bool
        The rows of the data that these users are.
    clipped : int
        Numbers that were moved into the domain.
    present : tuple of str
        Columns of the data: a row that misses a value of one of them is no user.
    each : callable
        Makes the list of what each user holds, as a ledger books it.
    """

    values: Any
    rows: np.ndarray
    clipped: int
    present: tuple[str, ...]
    each: Callable[[], list[Any]]


@dataclass(frozen=True, eq=False)
class WrittenReports:
    """Reports of n users as columns.

    Attributes
    ----------
    columns : dict of str to (n,) ndarray
        Numbers or text.
    n : int
    clipped : int
        Values that were moved into the domain.
    given : GivenReports, optional
        What a ledger gave, where one is kept.
    present : tuple of str, optional
        Columns of the data: a row that misses a value of one of them has no report. Default: the one asked for.
    """

    columns: dict[str, np.ndarray]
    n: int
    clipped: int = 0
    given: GivenReports | None = None
    present: tuple[str, ...] | None = None


def marked(columns: dict[str, np.ndarray], rng: np.random.Generator | None) -> dict[str, np.ndarray]:
    """Return columns of reports under the names that say whether a generator of a simulation drew them.

    Example
    -------
    >>> list(marked({"report": np.zeros(1)}, np.random.default_rng(1)))
    ['simulated_report']
    """
    return columns if rng is None else {SIMULATED + name: column for name, column in columns.items()}


@dataclass(frozen=True)
class Layout:
    """How the reports of a mechanism stand in columns: their names, which hold numbers, and what makes reports of them.

    `parse` raises InputError for rows that hold no report, `wrong` says which, where that can be seen of all at once;
    `none` is what such a row is called.
    """

    columns: tuple[str, ...]
    numeric: tuple[bool, ...]
    parse: Callable[[Sequence[np.ndarray]], Any]
    none: str = "no report of this mechanism"
    may_be_blank: bool = False
    wrong: Callable[[Sequence[np.ndarray]], np.ndarray] | None = None


@dataclass(frozen=True)
class Checked:
    """Whether a promise is kept: the verdict of `verify`, the facts that it rests on, and what breaks it."""

    verdict: str
    facts: dict[str, Any]
    failures: Sequence[str]


@dataclass(frozen=True, eq=False)
class Rows:
    """A table that people are shown; `last` is what is said below it, if anything."""

    title: str
    header: list[str]
    cells: list[list[str]]
    last: str | None = None


@dataclass(frozen=True, eq=False)
class Found:
    """What was estimated, for people, for programs, for files.

    Attributes
    ----------
    title : str
        Of the facts.
    facts : dict
        What the JSON object holds, and people are shown below the rows.
    more : dict
        What the JSON object holds beside the facts.
    rows : Rows, optional
    columns : dict of columns, optional
        What a file gets; none where there is only one number.
    figure : callable, optional
        Draws it.
    moved : str
        What one report moves.
    said : dict, optional
        What people are shown instead of the facts.
    last : str, optional
        What people are told below the facts.
    counts : sequence of counts
        What it was estimated from, for whoever tests whether these fit; empty where nothing is counted.
    """

    title: str
    facts: dict[str, Any]
    more: dict[str, Any] = field(default_factory=dict)
    rows: Rows | None = None
    columns: dict[str, Any] | None = None
    figure: Callable[[], Axes] | None = None
    moved: str = "the mean"
    said: dict[str, Any] | None = None
    last: str | None = None
    counts: Sequence[Any] = ()


def split(found: Estimate, confidence: float) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Return what an estimate says once, and its columns."""
    said = found.to_dict(confidence)
    columns = {name: fact for name, fact in said.items() if isinstance(fact, list)}
    return {name: fact for name, fact in said.items() if name not in columns}, columns


@dataclass(frozen=True, eq=False)
class Designed:
    """A mechanism of several parts, what there is to say of it, and what there is to know beside its own facts."""

    bundle: Bundle
    notes: list[str] = field(default_factory=list)
    more: dict[str, Any] = field(default_factory=dict)
    title: str = ""
    """What people see first; empty for the kind's name."""
    priors: Sequence[KnotPrior] = ()
    """What it was designed for, of each mean; none where no mean is estimated."""
