"""Engines for real: the same counts from all, bit for bit, and reports that a killed worker's retry does not change.

`.ci/others/engines PYTHON` installs what is missing and starts this; `--only spark` and so on choose. An engine that
cannot be started is named, and fails the run.
"""

import argparse
import sys
import tempfile
import warnings
from functools import partial
from pathlib import Path

from . import of_dask, of_duckdb, of_polars, of_postgres, of_spark
from .checks import Checks
from .data import Data

ENGINES = {
    "duckdb": of_duckdb.check,
    "polars": of_polars.check,
    "dask": of_dask.check,
    "postgres": of_postgres.check,
    "spark": of_spark.check,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=ENGINES, default=list(ENGINES), help="all by default")
    chosen = parser.parse_args().only
    warnings.simplefilter("ignore")  # engines say what of pandas they have not seen yet
    checks = Checks()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        folder.chmod(0o711)  # PostgreSQL's user passes through
        data = Data(folder)
        for name in chosen:
            print(f"== {name}", flush=True)
            checks.that(f"{name} was started and asked", partial(ENGINES[name], checks, data))
    if "spark" in chosen:
        of_spark.scaling()
    print(f"{checks.passed} passed, {checks.failed} failed")
    sys.exit(1 if checks.failed else 0)


if __name__ == "__main__":
    main()
