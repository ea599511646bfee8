"""Perturbing where the values lie, part by part: what a cluster's task calls, and may call again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...mechanisms.categorical.mechanism import CategoricalMechanism
from ...mechanisms.errors import InputError
from ...mechanisms.files.identifier import table_identifier
from ...mechanisms.keyed import KeyedReports, Secret, read_secret
from ...mechanisms.keyed.reports import Keyed
from ..data.other_table import TABLE
from ..data.simulated_columns import OUTPUT
from .lazy import narwhals_or_refuse


def perturb_partition(
    partition: Any,
    mechanism: Keyed,
    secret: Secret | str | os.PathLike[str],
    *,
    column: str,
    key: str,
    label: str = "",
) -> Any:
    """Return the key and the report of each row of a part of a table: Spark's `mapInArrow`, Dask's, Polars' and so on.

    A task that failed or was lost is run again, and must not draw a second report: so reports are those of
    `KeyedReports`, a function of the secret, the user and the value. Memory is that of one part, or of one batch.

    Parameters
    ----------
    partition : frame or iterator of pyarrow.RecordBatch
        A pandas or polars data frame, or an Arrow table; or batches, one after another.
    mechanism : TabulatedMechanism, FloorForm or CategoricalMechanism
        Exact.
    secret : Secret or path
        A path is read where the task runs, so that no secret travels with it; see `read_secret`.
    column, key : str
        Columns of the values and of the users. One user's values must be in one part to be found to be several.
    label : str
        Of the round.

    Returns
    -------
    frame, or iterator of pyarrow.RecordBatch
        Of the kind of `partition`: the key as it is, and the columns output and table, as `perturb --as index` writes
        them.

    Raises
    ------
    InputError
        Narwhals is not there; columns, users, values or a secret that are none.

    Example
    -------
    >>> import polars as pl
    >>> from optldp.mechanisms import duchi, make_exact
    >>> from optldp.mechanisms.keyed import new_secret
    >>> table, secret = make_exact(duchi([0, 1], 1.0)).mechanism, Secret(new_secret())
    >>> people = pl.DataFrame({"user": ["ann", "bo"], "x": [0.5, 0.25]})
    >>> drawn = perturb_partition(people, table, secret, column="x", key="user")
    >>> drawn.columns, drawn.equals(perturb_partition(people, table, secret, column="x", key="user"))
    (['user', 'output', 'table'], True)
    """
    nw = narwhals_or_refuse("parts of tables")
    held = secret if isinstance(secret, Secret) else read_secret(secret)
    keyed = KeyedReports(mechanism, held, column=column, label=label)
    table = table_identifier(mechanism)
    if isinstance(partition, Iterator):
        return _batches(nw, partition, keyed, column, key, table)
    return _frame(nw, partition, keyed, column, key, table)


def _batches(nw: Any, batches: Iterator[Any], keyed: KeyedReports, column: str, key: str, table: str) -> Iterator[Any]:
    import pyarrow as pa  # whoever hands batches has it

    for batch in batches:
        yield from _frame(nw, pa.Table.from_batches([batch]), keyed, column, key, table).to_batches()


def _frame(nw: Any, native: Any, keyed: KeyedReports, column: str, key: str, table: str) -> Any:
    frame = nw.from_native(native, eager_only=True)
    for name in (column, key):
        if name not in frame.columns:
            raise InputError(f"column {name!r} of a part must exist: it has {', '.join(map(repr, frame.columns[:20]))}")
    if key in (column, OUTPUT, TABLE):
        raise InputError(f"the key must be another column than the values, {OUTPUT!r} and {TABLE!r}, got {key!r}")
    values = frame[column]
    if missing := int(values.is_null().sum()):
        raise InputError(f"column {column!r} must not miss values, got {missing} missing in a part: leave them out")
    reports = _reports(keyed, frame[key].to_list(), np.asarray(values.to_list()))
    drawn = nw.new_series(OUTPUT, reports.tolist(), None if reports.size else nw.Int64, backend=frame.implementation)
    return frame.select(nw.col(key)).with_columns(drawn, nw.lit(table).alias(TABLE)).to_native()


def _reports(keyed: KeyedReports, users: list[Any], values: np.ndarray) -> np.ndarray:
    names = np.array(users, dtype=object)
    if not isinstance(keyed.mechanism, CategoricalMechanism):
        return keyed.sample_index(names, values)
    reports = keyed.sample(names, values)
    return reports if reports.ndim == 1 else np.array(keyed.mechanism.to_text(reports), dtype=object)
