"""Frames that are not read yet, of whatever engine Narwhals wraps: counted there, and only the answer is fetched.

What is asked is the query of `query`, said in Narwhals' expressions: equal outputs of one service; or codes of each
user, equal ones of which are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from ...mechanisms.errors import InputError
from ...mechanisms.files.identifier import table_identifier
from ..counting.codes import FOREIGN, REPEATED, UNNAMED, OutputCodes
from ..counting.collect import require_common_users
from ..counting.counts import ReportCounts, Service
from ..counting.source import refuse_several_rounds
from ..reading.columns.files import listed, short_message
from ..reading.columns.other_table import TABLE
from ..reading.columns.rows.skipped_rows import SkippedRows
from ..reading.columns.simulated_columns import OUTPUT, ROUND, USERS, column_of_reports, marked_column
from ..reading.columns.table_column import named_tables

if TYPE_CHECKING:
    import narwhals as nw

LAZY = {
    "dask": "DataFrame",
    "duckdb": "DuckDBPyRelation",
    "_duckdb": "DuckDBPyRelation",
    "ibis": "Table",
    "narwhals": "LazyFrame",
    "polars": "LazyFrame",
    "pyspark": "DataFrame",
    "sqlframe": "DataFrame",
}
"""Classes of frames that are not read yet, by the package of each: they are known without loading Narwhals."""

FETCHING = ("pyarrow", "pandas", "polars")
"""Packages that fetch what an engine answers, of which one is enough."""

MOST_REPORTS = 2**20
"""Different reports that are fetched of a column of numbers: a table of points has fewer outputs than this."""


def is_lazy(reports: object) -> bool:
    """Whether reports are a frame that is not read yet.

    Example
    -------
    >>> import duckdb
    >>> is_lazy(duckdb.sql("SELECT 1 AS output")), is_lazy({"output": np.array([1])})
    (True, False)
    """
    return any(LAZY.get(kind.__module__.partition(".")[0]) == kind.__name__ for kind in type(reports).__mro__)


def collect_lazily(
    services: Sequence[Service],
    frames: Sequence[Any],
    *,
    key: str | None = None,
    column: str = "report",
    allow_disjoint: bool = False,
    skip_invalid: bool | SkippedRows = False,
    rounds: bool = False,
) -> ReportCounts:
    """Count the users of several services in the engine of their frames.

    Parameters
    ----------
    services : sequence of Service
    frames : sequence of frames
        Of one engine. The column output has numbers of outputs; without a key and for one table of points, the
        column may have the reports themselves.
    key, column, allow_disjoint, skip_invalid, rounds
        As of `count`.

    Returns
    -------
    counts : ReportCounts

    Raises
    ------
    InputError
        Narwhals is missing; columns that are missing or of another type; frames of different engines; whatever else
        `ReportCounts.from_counts` refuses.

    Example
    -------
    >>> import duckdb
    >>> from optldp.estimators import Service
    >>> from optldp.estimators.engines import collect_lazily
    >>> from optldp.mechanisms.families.grr import grr
    >>> frame = duckdb.sql("SELECT unnest([0, 1, 1]) AS output")
    >>> collect_lazily([Service("web", grr([0, 1], 1.0))], [frame]).groups[0].counts
    array([1, 2])
    """
    nw = narwhals_or_refuse("frames that are not read yet")
    wrapped = [_wrapped(nw, service, frame) for service, frame in zip(services, frames, strict=True)]
    try:
        if key is not None:
            if not rounds:
                refuse_several_rounds(
                    [(service.name, _round_of(nw, frame)) for service, frame in zip(services, wrapped, strict=True)]
                )
            answer = _matched(nw, services, wrapped, key)
        elif len(services) == 1:
            answer = _of_one(nw, services[0], wrapped[0], column)
        else:
            raise InputError("key (--key) must name the column of users when services are matched, got none")
    except InputError:
        raise
    except Exception as error:  # of whatever engine
        raise InputError(f"the engine of {services[0].name!r} must answer, got {short_message(error)}") from None
    found = replace(ReportCounts.from_counts(services, answer, skip_invalid=skip_invalid), rounds=rounds)
    if not allow_disjoint:
        require_common_users([service.name for service in services], [group.services for group in found.groups])
    return found


def narwhals_or_refuse(what: str) -> Any:
    """Return the package Narwhals, or raise InputError with the extra that has it.

    Example
    -------
    >>> narwhals_or_refuse("frames").__name__
    'narwhals'
    """
    try:
        import narwhals
    except ModuleNotFoundError:
        raise InputError(
            f"{what} need Narwhals, which is not installed: pip install 'optldp[engines]', or count by the query of "
            "count-sql"
        ) from None
    return narwhals


def _wrapped(nw: Any, service: Service, frame: Any) -> nw.LazyFrame[Any]:
    try:
        return nw.from_native(frame).lazy()
    except Exception as error:  # whatever a package raises that lacks another
        kind = type(frame).__module__.partition(".")[0]
        raise InputError(f"the frame of {service.name!r} must be one of {kind}: {short_message(error)}") from None


def _schema(service: Service, frame: Any, wanted: Sequence[str]) -> dict[str, Any]:
    schema = dict(frame.collect_schema())
    for name in wanted:
        if name not in schema:
            raise InputError(f"column {name!r} of {service.name!r} must exist: the frame has {listed(list(schema))}")
    return schema


def _round_of(nw: Any, frame: Any) -> str | None:
    """Return the round that a frame's rows name, several joined by " and "; None where no row names one."""
    if ROUND not in frame.collect_schema():
        return None
    told = fetched(frame.select(nw.col(ROUND).cast(nw.String)).unique().head(3))[ROUND]
    named = (text for text in np.ma.compressed(told) if text is not None)  # what is missing is masked, or None
    return " and ".join(sorted(map(str, named))) or None


def _of_one(nw: Any, service: Service, frame: Any, column: str) -> dict[str, np.ndarray]:
    """Rows of one service by their report; a number is located here, once for all who reported it."""
    names = list(frame.collect_schema())
    named = column_of_reports(names, column)
    marked = marked_column(names, named, repr(service.name))
    kind = _schema(service, frame, [marked])[marked]
    indexed = named == OUTPUT
    if not (kind.is_integer() if indexed else kind.is_numeric()):
        what = "whole numbers" if indexed else "numbers"
        raise InputError(f"column {marked!r} of {service.name!r} must hold {what}, got type {kind}")
    if not indexed and not service.mechanism.is_discrete:
        raise InputError(
            f"reports of {service.name!r} lie in intervals and must be numbers of outputs in a frame that is not read: "
            "perturb --as index, or join the cells of output_cells"
        )
    held = [TABLE] if TABLE in names else []
    wanted = [nw.col(marked).alias(OUTPUT), *map(nw.col, held)]
    grouped = frame.select(*wanted).group_by(OUTPUT, *held).agg(nw.len().alias(USERS)).head(MOST_REPORTS)
    found = fetched(grouped)
    if indexed:
        return found
    reports = np.ma.filled(found[OUTPUT].astype(float), np.nan)
    return found | {OUTPUT: np.where(np.isnan(reports), np.nan, service.mechanism.locate(reports))}


def _matched(nw: Any, services: Sequence[Service], frames: Sequence[Any], key: str) -> dict[str, np.ndarray]:
    """Codes of users: of each service the largest, so that what somebody sent twice overflows nothing."""
    codes, alone = OutputCodes.of([service.mechanism.low.size for service in services]), len(services) == 1
    parts, types = [], {}
    for j, (service, frame) in enumerate(zip(services, frames, strict=True)):
        columns = list(frame.collect_schema())
        marked = marked_column(columns, OUTPUT, repr(service.name))
        schema = _schema(service, frame, [marked, key])
        types[service.name] = schema[key]
        if not schema[marked].is_integer():
            raise InputError(
                f"column {marked!r} of {service.name!r} must hold whole numbers, got type {schema[marked]}"
            )
        output = nw.col(marked).cast(nw.Int64)
        sound = (output >= 0) & (output < service.mechanism.low.size)
        code = (output + 1) * (1 if alone else 1 << codes.shifts[j])  # above 0, which is no report, or none that is one
        cells = [nw.col(key).alias("user_key"), nw.when(sound).then(code).otherwise(nw.lit(0)).alias(f"code_{j}")]
        cells += [nw.lit(0, dtype=nw.Int64).alias(f"code_{i}") for i in range(len(services)) if i != j]
        cells += [nw.lit(int(i == j), dtype=nw.Int64).alias(f"from_{i}") for i in range(len(services))]
        cells.append(_other_table(nw, service, TABLE in columns).alias("other"))
        wanted = ("user_key", *_names("code", services), *_names("from", services), "other")
        parts.append(frame.select(*cells).select(*wanted))
    if len({str(kind) for kind in types.values()}) > 1:
        told = " and ".join(f"{kind} for {name!r}" for name, kind in types.items())
        raise InputError(f"keys must have the same type in all frames, got {told}: convert one of them")
    both = parts[0] if alone else nw.concat(parts, how="vertical")
    users = both.group_by("user_key").agg(
        *(nw.col(name).max() for name in _names("code", services)),
        *(nw.col(name).sum() for name in _names("from", services)),
        nw.col("other").max(),
        nw.len().alias("reports"),
    )
    reported = [nw.col(name) for name in _names("from", services)]
    sent = [nw.col(name) for name in _names("code", services)]
    repeated, foreign = reported[0] > 1, (reported[0] > 0) & (sent[0] == 0)
    for mine, code in zip(reported[1:], sent[1:], strict=True):
        repeated, foreign = repeated | (mine > 1), foreign | ((mine > 0) & (code == 0))
    words = []
    for word, name in enumerate(codes.columns):
        mine = [code for code, of in zip(sent, codes.words, strict=True) if of == word]
        total = mine[0] - int(alone)
        for code in mine[1:]:
            total = total + code
        told = nw.when(foreign).then(nw.lit(FOREIGN)).otherwise(total)
        told = nw.when(repeated).then(nw.lit(REPEATED)).otherwise(told)
        words.append(nw.when(nw.col("user_key").is_null()).then(nw.lit(UNNAMED)).otherwise(told).alias(name))
    number = nw.when(nw.col("user_key").is_null()).then(nw.col("reports")).otherwise(nw.lit(1)).alias(USERS)
    right = nw.lit(named_tables([service.mechanism for service in services]))
    table = nw.when(nw.col("other") == "").then(right).otherwise(nw.col("other")).alias(TABLE)
    counted = users.select(*words, table, number).group_by(*codes.columns, TABLE).agg(nw.col(USERS).sum())
    found = fetched(counted)
    return found | {USERS: np.ma.getdata(found[USERS]).astype(np.int64)}  # numpy has sums of DuckDB as doubles


def fetched(frame: Any) -> dict[str, np.ndarray]:
    """Return the columns of an answer as numpy has them, masked where something is missing.

    DuckDB and Polars hand them over themselves; another engine's answer is fetched by a package that knows how.
    """
    if hasattr(native := frame.to_native(), "fetchnumpy"):
        return native.fetchnumpy()
    module = type(native).__module__.partition(".")[0]
    there = module if module == "polars" else next((name for name in FETCHING if find_spec(name)), None)
    if there is None:
        raise InputError(
            f"an answer of {module} must be fetched by one of {', '.join(FETCHING)}, got none: install one"
        )
    read = frame.collect(there)
    return {name: _column(read[name]) for name in read.columns}


def _column(series: Any) -> np.ndarray:
    missing = series.is_null().to_numpy().astype(bool)
    cells = (series.fill_null(0) if missing.any() and series.dtype.is_numeric() else series).to_numpy()
    return np.ma.masked_array(cells, missing) if missing.any() else cells


def _other_table(nw: Any, service: Service, named: bool) -> Any:
    """The name of the table of each report, if it is another one than the service's, else an empty text."""
    if not named:
        return nw.lit("")
    table = nw.col(TABLE)
    right = table.is_null() | (table == table_identifier(service.mechanism))
    return nw.when(right).then(nw.lit("")).otherwise(table)


def _names(what: str, services: Sequence[Service]) -> list[str]:
    return [f"{what}_{j}" for j in range(len(services))]
