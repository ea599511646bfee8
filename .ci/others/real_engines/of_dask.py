"""Dask, on a cluster of two worker processes."""

import os
import signal
from importlib.metadata import version
from typing import Any

import pyarrow as pa

from .checks import Checks
from .data import Data
from .frames import check_frames


def check(checks: Checks, data: Data) -> None:
    """One of the workers dies after it has drawn."""
    import pandas as pd
    from dask import dataframe
    from distributed import Client, LocalCluster

    print(f"dask, distributed {version('distributed')}: two workers")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(host="127.0.0.1", **options) as cluster, Client(cluster):
        check_frames(checks, "dask", data, lambda name, path: dataframe.read_parquet(path, split_row_groups=1))
        task, folder = data.task(), data.folder / "dask"
        folder.mkdir()

        def dying(part: Any) -> Any:
            drawn = task(part)
            if len(part) and part["account"].iloc[0] == "user 0":
                attempt = len(list(folder.iterdir()))
                drawn.to_pickle(folder / f"attempt-{attempt}")
                if attempt == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
            return drawn

        def survived() -> bool:
            people = dataframe.from_pandas(pd.read_parquet(data.people), npartitions=6)
            kinds = {"account": "str", "output": "int64", "table": "str"}
            meta = pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in kinds.items()})
            drawn = people.map_partitions(dying, meta=meta).compute()
            attempts = [pd.read_pickle(path) for path in sorted(folder.iterdir())]
            print(f"       attempts at the first part: {len(attempts)}")
            alike = len(attempts) > 1 and all(attempts[0].equals(each) for each in attempts)
            return alike and data.are_drawn(pa.Table.from_pandas(drawn, preserve_index=False))

        checks.that("dask: map_partitions, a worker killed in the middle: the same reports", survived)
