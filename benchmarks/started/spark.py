"""Sessions of Spark on this machine."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def spark_session(master: str, **options: str) -> Iterator[Any]:
    """Yield a session of a cluster, "local[2]" or "local-cluster[2,1,1024]", which logs nothing."""
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    from pyspark.sql import SparkSession  # pyright: ignore[reportMissingImports] -- `.ci/others/engines` installs it

    chosen = {
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
    }
    made = SparkSession.builder.master(master).config(map=chosen | options).getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    try:
        yield made
    finally:
        made.stop()
