"""A process that has read and written files ends in silence: nothing of duckdb is alive when the interpreter ends.

Its bindings are made by nanobind, which prints dozens of lines about "leaked" objects otherwise, below a green result:
up to duckdb 2.0.0, which the lock of CI has; from 2.0.1 on they are built to say nothing, whatever is left.
"""

import subprocess
import sys

import duckdb
import pytest

READING = """
import numpy as np
from optldp.estimators import count
from optldp.estimators.reading.columns import read_column, read_pairs
from optldp.estimators.reading.columns.keyed import write_keyed_reports
from optldp.estimators.reading.columns.number_cells import write_column
from optldp.mechanisms import InputError, duchi

table = duchi([0.0, 1.0], 1.0)
reports = table.sample(np.full(50, 0.5), np.random.default_rng(1))
with open("users.csv", "w") as file:
    file.write("user,value\\n" + "".join(f"u{i},0.5\\n" for i in range(50)))
for suffix in ("csv", "parquet"):
    write_column(f"column.{suffix}", "report", reports)
    assert read_column(f"column.{suffix}", "report").size == 50
    write_keyed_reports(f"keyed.{suffix}", {"report": reports}, data="users.csv", columns=["value"], key="user")
counts = count([("a", table, "keyed.csv"), ("b", table, "keyed.parquet")], key="user")
assert counts.groups[0].counts.sum() == 50
with open("pairs.csv", "w") as file:
    file.write("value,weight\\n0,1\\n1,x\\n")
refusals = []
for path in ("pairs.csv", "none.csv"):
    try:
        read_pairs(path)
    except InputError as error:
        refusals.append(error)  # with the frames that held connections
assert len(refusals) == 2
"""

HOLDING = """
import ctypes, duckdb
connection = duckdb.connect()
ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
"""


def said_at_its_end(code: str, folder) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.nightly
def test_a_process_that_read_and_wrote_csv_and_parquet_says_nothing_at_its_end(tmp_path):
    assert said_at_its_end(READING, tmp_path) == ""


@pytest.mark.slow
def test_a_connection_that_outlives_the_interpreter_would_be_told(tmp_path):
    """What the test above rests on, where the bindings tell at all."""
    tells = tuple(map(int, duckdb.__version__.split(".")[:3])) <= (2, 0, 0)
    assert ("leaked" in said_at_its_end(HOLDING, tmp_path)) == tells
