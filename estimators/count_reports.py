"""One verb from reports of any kind of mechanism to the counts that estimators take."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike

from ..mechanisms.categorical.mechanism import CategoricalMechanism
from ..mechanisms.combinators.attribute_sampling import AttributeSampling
from ..mechanisms.combinators.personalised import PersonalisedMechanism, PersonalisedReports
from ..mechanisms.compact_tables.floor_and_windows import FloorForm, expanded
from ..mechanisms.errors import InputError, unwired
from ..mechanisms.key_value.mechanism import KeyValueMechanism
from ..mechanisms.table.table import TabulatedMechanism
from .attributes.counts import AttributeCounts
from .counting.counts import ReportCounts
from .frequencies import collected
from .frequencies.category_counts import CategoryCounts
from .key_values.counts import KeyValueCounts
from .personalised.attribute_levels import PersonalisedAttributeCounts
from .personalised.counts import PersonalisedCounts
from .personalised.pair_counts import PersonalisedPairCounts

if TYPE_CHECKING:
    from .counting.users import Progress
    from .reading.columns.files import FilePath
    from .reading.columns.rows.skipped_rows import SkippedRows

    _OfNumbers = TabulatedMechanism | FloorForm

COLUMN = "report"


@overload
def count(mechanism: CategoricalMechanism, reports: Any, *, column: str = "report") -> Any: ...
@overload
def count(mechanism: PersonalisedMechanism, reports: PersonalisedReports) -> Any: ...
@overload
def count(mechanism: KeyValueMechanism, reports: ArrayLike) -> KeyValueCounts: ...
@overload
def count(
    mechanism: _OfNumbers | Sequence[tuple[_OfNumbers, Any] | tuple[str, _OfNumbers, Any]],
    reports: Any = None,
    *,
    key: str | None = None,
    column: str = COLUMN,
    keep_first: bool = False,
    allow_disjoint: bool = False,
    drop_missing: bool = False,
    skip_invalid: bool | SkippedRows = False,
    raw: bool = False,
    rounds: bool = False,
    memory_limit: str | None = None,
    temp_directory: FilePath | None = None,
    progress: Progress | None = None,
) -> ReportCounts: ...
@overload
def count(
    mechanism: AttributeSampling | Sequence[tuple[AttributeSampling, Any] | tuple[str, AttributeSampling, Any]],
    reports: Any = None,
    *,
    key: str | None = None,
    keep_first: bool = False,
    allow_disjoint: bool = False,
    drop_missing: bool = False,
    skip_invalid: bool | SkippedRows = False,
    rounds: bool = False,
    memory_limit: str | None = None,
    temp_directory: FilePath | None = None,
    progress: Progress | None = None,
) -> AttributeCounts: ...
def count(
    mechanism: Any,
    reports: Any = None,
    *,
    key: str | None = None,
    column: str = COLUMN,
    keep_first: bool = False,
    allow_disjoint: bool = False,
    drop_missing: bool = False,
    skip_invalid: bool | SkippedRows = False,
    raw: bool = False,
    rounds: bool = False,
    memory_limit: str | None = None,
    temp_directory: FilePath | None = None,
    progress: Progress | None = None,
) -> Any:
    """Count how often each report was made: estimators use nothing else.

    | mechanism | reports | counts |
    |---|---|---|
    | table of numbers, in its floor form too | numbers, or a source as below | `ReportCounts` of the table |
    | list of services, each (table, reports) or (name, table, reports) | none | `ReportCounts` of users |
    | categories | as `sample` gives them, or a frame that is not read yet | `CategoryCounts` |
    | categories in many bits | the same, or a file | of frames and files `SupportCounts` |
    | levels of budgets | `PersonalisedReports` | `PersonalisedCounts` |
    | levels of budgets for several attributes | `PersonalisedReports` | `PersonalisedAttributeCounts` |
    | levels of budgets for pairs | `PersonalisedReports` | `PersonalisedPairCounts` |
    | pairs of a key and a value | as `sample` gives them | `KeyValueCounts` |
    | several attributes | columns by name, NaN where not drawn, or a source as below | `AttributeCounts` |
    | list of services of several attributes | none | `AttributeCounts`, each of the services that hold it |

    A source of reports is an array, a `.csv` or `.parquet` path, an Arrow table, a pandas or polars data
    frame, or numpy arrays by column name; everything but an array is counted out of core. A lazy frame, of polars,
    dask, duckdb, Ibis, PySpark or any other that Narwhals wraps (extra engines), is counted by its own engine, by
    numbers of outputs; see docs/how-to/engines.md. Several services are matched by `key`, or are arrays of equal
    length: each row is a user, and NaN means that this user did not report to the service. Counts of shards with
    different users add up, for every kind: ``a + b``. Counts of an array, without further options, keep how often each
    number was reported where a table's outputs are intervals, for `estimate_mean`.

    Matched services are assumed to have measured one value of each user. Files of different times, in which a user may
    have another value or the same report again, need `rounds`.

    Parameters
    ----------
    mechanism : mechanism, or list of services
    reports : optional
    key : str, optional
        Column that names the user, in every source: text or integers (or any other type that is the same in all).
        Keys of a CSV are integers if those of another source are, else text. Needed for several sources with columns.
    column : str
        Column of the reports; if it is missing, the one of the same name with "simulated_" before it. Attributes have
        columns of their own names.
    keep_first : bool
        Keep a user's first report to a service, in the order of the rows, instead of refusing several.
    allow_disjoint : bool
        Accept services that have no users in common.
    drop_missing : bool
        Leave out rows whose report is missing (an empty CSV cell, NA, null, NaN) instead of refusing them.
    skip_invalid : bool or SkippedRows
        Leave out rows without a report that the table can make or without a key, and malformed rows of a CSV, instead
        of refusing them. They are counted in the account that is given, else in a `SkippedRowsWarning`. Such rows are
        not missing at random if senders chose what to send.
    raw : bool
        For tables of numbers: keep sums of the reports beside the counts of their outputs: J + J^2 numbers for each
        combination of outputs of J services. `estimate_combined_mean` and `estimate_mean` use them to average raw
        reports. The sums are equal up to rounding from run to run.
    rounds : bool
        Whether the services are files of different times: estimates are then averages over the files, weighted by their
        reports, with intervals that count users. Without it, files marked as different rounds, or as rounds of one
        table (`perturb --ledger` writes a column round), are refused.
    memory_limit : str, optional
        Memory limit of duckdb, such as "4GB"; 2GB by default.
    temp_directory : path, optional
        Folder for data that do not fit into memory: at most about the size of the reports and keys.
    progress : callable, optional
        Called with what is being done and the share of all the work that is done, from 0 to 1.

    Returns
    -------
    counts : of the kind in the table above
        Argument of every estimator; counts of different users add up.

    Raises
    ------
    InputError
        One line each: reports that the mechanism cannot make, another mechanism, options that are for tables. For
        tables also: missing columns, users without a key or with several reports to a service, services without reports
        or without common users, keys of different types, arrays of different length, sources that cannot be read.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import count
    >>> from optldp.mechanisms import grr
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> count(categorical_grr(["cook", "smith"], 1.0), [0, 1, 1]).counts
    array([1, 2])
    >>> table = grr([0, 1], 1.0)
    >>> web = {"user": np.array(["ann", "bo", "cy"]), "report": np.array([0.0, 1.0, 1.0])}
    >>> app = {"user": np.array(["cy", "bo"]), "report": np.array([0.0, 0.0])}
    >>> counts = count([("web", table, web), ("app", table, app)], key="user")
    >>> [(group.services, group.outputs.tolist(), group.counts.tolist()) for group in counts.groups]
    [((0,), [[0]], [1]), ((0, 1), [[1, 0]], [2])]
    """
    options: dict[str, Any] = {
        "key": key,
        "keep_first": keep_first,
        "allow_disjoint": allow_disjoint,
        "drop_missing": drop_missing,
        "skip_invalid": skip_invalid,
        "raw": raw,
        "rounds": rounds,
        "memory_limit": memory_limit,
        "temp_directory": temp_directory,
        "progress": progress,
    }
    given = column != COLUMN or any(option not in (None, False) for option in options.values())
    mechanism = _expanded(mechanism)
    services = mechanism if isinstance(mechanism, list | tuple) else [(mechanism, reports)]
    if rounds and len(services) < 2:
        raise InputError("rounds are several files, got one: give a list of (mechanism, reports), or leave rounds out")
    several = isinstance(mechanism, list | tuple)
    asked = {_reader(part) for some in services if isinstance(some, list | tuple) for part in some}
    if several or asked != {None}:
        read = next((each for each in (_Rows(), _Labels()) if each in asked), _Numbers())
        if several or given or not read.is_plain(reports):
            return read.collect(services, column, options)
    if given or isinstance(reports, str | os.PathLike):
        raise InputError(f"files, keys and options are for tables and attributes, got {mechanism!r:.60}: pass arrays")
    return _counted(mechanism, reports)


@singledispatch
def _counted(mechanism: Any, reports: Any) -> Any:
    """Count reports of one mechanism that are arrays."""
    raise InputError(f"a mechanism, or a list of services, must be given to count for, got {mechanism!r:.60}")


_counted.register(TabulatedMechanism, ReportCounts.from_reports)
_counted.register(CategoricalMechanism, CategoryCounts.from_reports)
_counted.register(KeyValueMechanism, KeyValueCounts.from_reports)
_counted.register(AttributeSampling, AttributeCounts.from_reports)
_counted.register(PersonalisedMechanism, lambda mechanism, reports: _of_levels(mechanism.levels[0])(mechanism, reports))


@singledispatch
def _of_levels(level: Any) -> Callable[[PersonalisedMechanism, PersonalisedReports], Any]:
    """Return what counts reports of levels that are mechanisms of this kind."""
    raise unwired("mechanism of a level", level)


_of_levels.register(TabulatedMechanism, lambda _: PersonalisedCounts.from_reports)
_of_levels.register(CategoricalMechanism, lambda _: PersonalisedCounts.from_reports)
_of_levels.register(AttributeSampling, lambda _: PersonalisedAttributeCounts.from_reports)
_of_levels.register(KeyValueMechanism, lambda _: PersonalisedPairCounts.from_reports)


@dataclass(frozen=True)
class _Numbers:
    """Reports of tables of numbers, which may lie in files, and be of several services."""

    def is_plain(self, reports: Any) -> bool:
        """Whether these are numbers without columns; a series with an index of its own is an array as well."""
        return isinstance(reports, list | tuple) or (isinstance(reports, np.ndarray) and not reports.dtype.names)

    def collect(self, services: Sequence[Any], column: str, options: dict[str, Any]) -> ReportCounts:
        # Not at the top: duckdb, which these load, would print leaked objects at the end of every program.
        from .counting.collect import collect
        from .engines.lazy import is_lazy

        if any(is_lazy(some[-1]) for some in services if isinstance(some, list | tuple) and some):
            return _lazily(services, column, options)
        return collect(services, column=column, **options)


@dataclass(frozen=True)
class _Rows(_Numbers):
    """Reports of several attributes, a column each."""

    def is_plain(self, reports: Any) -> bool:
        return isinstance(reports, Mapping) or super().is_plain(reports)

    def collect(self, services: Sequence[Any], column: str, options: dict[str, Any]) -> Any:
        from .attributes.collect import collect_attributes

        if column != COLUMN:
            raise InputError(f"attributes have columns of their own names, got column {column!r}: leave it out")
        if options.pop("raw"):
            raise InputError("raw is for tables of numbers, got several attributes: leave it out")
        return collect_attributes(services, **options)


@dataclass(frozen=True)
class _Labels(_Numbers):
    """Reports of categories: arrays, or a frame that is not read yet, or bits in files."""

    def is_plain(self, reports: Any) -> bool:
        from .engines.lazy import is_lazy

        return not (is_lazy(reports) or isinstance(reports, str | os.PathLike))

    def collect(self, services: Sequence[Any], column: str, options: dict[str, Any]) -> Any:
        from .engines.lazy import is_lazy

        if useless := [name for name, value in options.items() if value not in (None, False) and name != "progress"]:
            raise InputError(f"{useless[0]} is for tables and attributes, got categories: leave it out")
        if len(services) != 1 or len(services[0]) != 2:
            raise InputError(
                "services, whose users are matched, must all be of tables of numbers or all of several attributes, got "
                f"{len(services)} of categories: count their reports by themselves"
            )
        mechanism, reports = services[0]
        if is_lazy(reports):
            return collected.collect_lazily(mechanism, reports, column=column)
        if not collected.is_summed(mechanism):
            raise InputError(
                f"files are for bits of many categories, got {mechanism!r:.60}: pass arrays, or optldp count"
            )
        return collected.collect_sums(mechanism, reports, column=column)


@singledispatch
def _reader(mechanism: Any) -> _Numbers | None:
    """Return who reads reports that may lie in files; None where they are arrays alone."""
    return None


_reader.register(TabulatedMechanism, lambda _: _Numbers())
_reader.register(AttributeSampling, lambda _: _Rows())
_reader.register(CategoricalMechanism, lambda _: _Labels())


def _lazily(services: Sequence[Any], column: str, options: dict[str, Any]) -> ReportCounts:
    """Count in the engine of frames that are not read yet."""
    from .counting.source import report_sources
    from .engines.lazy import collect_lazily, is_lazy

    sources = report_sources(services)
    if read := [source.where for source in sources if not is_lazy(source.reports)]:
        raise InputError(
            f"reports must all be frames that are not read yet, of one engine, or none, got {read[0]} read: read the "
            "others, or write it where they are"
        )
    held = ("keep_first", "drop_missing", "raw", "memory_limit", "temp_directory")
    if useless := [name for name in held if options[name]]:
        raise InputError(f"{useless[0]} is for reports that are read here, got a frame that is not: leave it out")
    progress = options["progress"] or (lambda what, share: None)
    progress("counting in the frame's engine", 0.0)
    chosen = {name: options[name] for name in ("key", "allow_disjoint", "skip_invalid", "rounds")}
    services = [source.service for source in sources]
    return collect_lazily(services, [source.reports for source in sources], column=column, **chosen)


def _expanded(mechanism: Any) -> Any:
    """The mechanism, or the services, with the tables of floor forms in their places."""
    if not isinstance(mechanism, list | tuple):
        return expanded(mechanism)
    return [tuple(map(expanded, some)) if isinstance(some, list | tuple) else some for some in mechanism]
