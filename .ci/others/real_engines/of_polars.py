"""Polars, by frames that are scanned."""

from importlib.metadata import version

import polars as pl

from .checks import Checks
from .data import Data
from .frames import check_frames


def check(checks: Checks, data: Data) -> None:
    print(f"polars {version('polars')}")
    check_frames(checks, "polars", data, lambda name, path: pl.scan_parquet(path))
    schema = {"account": pl.String, "output": pl.Int64, "table": pl.String}
    drawn = pl.scan_parquet(data.people).map_batches(data.task(), schema=schema)
    checks.that("polars: perturb_partition by map_batches", lambda: data.are_drawn(drawn.collect().to_arrow()))
