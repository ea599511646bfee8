"""Perturbing where the values lie, part by part: what a cluster's task calls, and may call again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...mechanisms.errors import InputError
from ...mechanisms.files.identifier import table_identifier
from ...mechanisms.pseudorandom import KeyedReports, secret_of
from ...mechanisms.pseudorandom.reports import Keyed
from ...mechanisms.pseudorandom.secret import SecretSource
from ...mechanisms.sampling.short_floats import short_floats
from ..reading.columns.days import day_of
from ..reading.columns.other_table import TABLE
from ..reading.columns.simulated_columns import DAY, OUTPUT, REPORT_ID
from ..reading.formats.overrides import MISSING_MARKS
from .lazy import narwhals_or_refuse


def perturb_partition(
    partition: Any,
    mechanism: Keyed,
    secret: SecretSource,
    *,
    column: str,
    key: str,
    label: str = "",
    day: str | None = None,
    clip: bool = False,
    drop_missing: bool = False,
    group_readable: bool = False,
) -> Any:
    """Return the key and report of each row of a partition, for Spark's `mapInArrow` and `mapInPandas`, Dask, Polars
    and others.

    A failed or lost task is run again, and must not draw a second report. Reports are therefore those of
    `KeyedReports`, a function of the secret, the user and the value. Memory is that of one partition, or of one batch.
    Errors go to the engine's log: they name no value and nothing of the secret.

    Parameters
    ----------
    partition : frame or iterator of frames or pyarrow.RecordBatch
        A pandas or polars data frame, or an Arrow table; or such frames or Arrow's batches, one after another. The
        engine sees raw values here, so nothing is local unless the engine is the person's own.
    mechanism : TabulatedMechanism, FloorForm or CategoricalMechanism
        Exact.
    secret : Secret, path or callable
        A path is read, and a callable called, where the task runs, so that the secret does not travel; see `secret_of`.
        A `Secret` is for engines that stay in this process: it refuses to be pickled.
    column, key : str
        Columns of the values and of the users. Several values of a user are noticed only within one partition.
    label : str
        Of the round.
    day : str, optional
        The day of the reports, as 2026-05-01. Each report then has it, and an id of `KeyedReports.report_ids`. A
        repeated task writes the same ids, so that counts by day recognise its copies.
    clip : bool
        Move numbers outside the domain to its nearer end, and warn with their count, instead of raising.
    drop_missing : bool
        Leave out rows without a value, which shows who has none, instead of raising: a null or NaN, or the texts "" and
        "NA", as in `perturb`.
    group_readable : bool
        The group of the secret's file may read it, as with mounts of secrets; see `read_secret`.

    Returns
    -------
    frame, or iterator of frames or pyarrow.RecordBatch
        Of the kind of `partition`: the key as it is, and the columns output and table, with a day also day and
        report_id, as `perturb --as index` writes them.

    Raises
    ------
    InputError
        Narwhals is missing; invalid columns, users, values, day or secret; clipping of categories.

    Example
    -------
    >>> import polars as pl
    >>> from optldp.estimators.engines import perturb_partition
    >>> from optldp.mechanisms import duchi, make_exact
    >>> from optldp.mechanisms.pseudorandom import Secret, new_secret
    >>> table, secret = make_exact(duchi([0, 1], 1.0)).mechanism, Secret(new_secret())
    >>> people = pl.DataFrame({"user": ["ann", "bo"], "x": [0.5, 0.25]})
    >>> drawn = perturb_partition(people, table, secret, column="x", key="user")
    >>> drawn.columns, drawn.equals(perturb_partition(people, table, secret, column="x", key="user"))
    (['user', 'output', 'table'], True)
    """
    nw = narwhals_or_refuse("parts of tables")
    keyed = KeyedReports(mechanism, secret_of(secret, group_readable=group_readable), column=column, label=label)
    if clip:
        mechanism.admitted([], clip=True)  # raises where nothing can be clipped, before a task is sent
    named = None if day is None else day_of(day).isoformat()
    part = _Part(nw, keyed, column, key, named, clip, drop_missing)
    return part.batches(partition) if isinstance(partition, Iterator) else part.frame(partition)


@dataclass(frozen=True, eq=False)
class _Part:
    """What is asked of each part, or of each batch of one."""

    nw: Any
    keyed: KeyedReports
    column: str
    key: str
    day: str | None
    clip: bool
    drop_missing: bool

    def batches(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            if type(batch).__module__.partition(".")[0] == "pyarrow" and hasattr(batch, "schema"):
                import pyarrow as pa  # whoever hands batches has it

                whole = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
                yield from self.frame(whole).to_batches()
            else:
                yield self.frame(batch)

    def frame(self, native: Any) -> Any:
        frame = self.nw.from_native(native, eager_only=True)
        for name in (self.column, self.key):
            if name not in frame.columns:
                has = ", ".join(map(repr, frame.columns[:20]))
                raise InputError(f"column {name!r} of a part must exist: it has {has}")
        written = (OUTPUT, TABLE) if self.day is None else (OUTPUT, TABLE, DAY, REPORT_ID)
        if self.key in (self.column, *written):
            own = ", ".join(map(repr, written))
            raise InputError(f"the key must be another column than the values, {own}, got {self.key!r}")
        if frame[self.column].dtype in (self.nw.Float32, getattr(self.nw, "Float16", None)):
            raise short_floats(str(frame[self.column].dtype))
        frame = self._present(frame)
        values = np.asarray(frame[self.column].to_list())
        if self.clip:
            values = self.keyed.mechanism.admitted(values, clip=True)
        users = np.array(frame[self.key].to_list(), dtype=object)
        reports = self.keyed.written(users, values)
        kind = None if reports.size else self.nw.Int64
        columns = [
            self.nw.new_series(OUTPUT, reports.tolist(), kind, backend=frame.implementation),
            self.nw.lit(table_identifier(self.keyed.mechanism)).alias(TABLE),
        ]
        if self.day is not None:
            ids = self.keyed.report_ids(users)
            columns += [
                self.nw.lit(self.day).alias(DAY),
                self.nw.new_series(REPORT_ID, ids, self.nw.String, backend=frame.implementation),
            ]
        return frame.select(self.nw.col(self.key)).with_columns(columns).to_native()

    def _present(self, frame: Any) -> Any:
        """The rows that have a value: all of them, unless those without are to be left out."""
        values = frame[self.column]
        missing = values.is_null()
        if values.dtype.is_float():
            missing = missing | values.is_nan()
        elif values.dtype == self.nw.String:
            missing = missing | values.is_in(MISSING_MARKS)
        many = int(missing.sum() or 0)
        if many and not self.drop_missing:
            raise InputError(
                f"column {self.column!r} must not miss values, got {many} missing in a part: leave them out "
                "(drop_missing)"
            )
        return frame.filter(~missing) if many else frame
