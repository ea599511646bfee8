"""Parquet files of some bytes that claim to hold more than they can: refused before a row is read."""

from pathlib import Path

import duckdb
import pytest

MECH = ["design", "people.csv", "--column", "x", "--range", 0, 4, "--epsilon", 1, "--knots", 3, "--out", "mech.json"]


@pytest.fixture(autouse=True)
def files(here, optldp):
    Path("people.csv").write_text("x\n0\n1\n4\n")
    assert optldp(*MECH).exit_code == 0
    return here


def write(query: str) -> int:
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({query}) TO 'r.parquet' (COMPRESSION zstd)")
    return Path("r.parquet").stat().st_size


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("estimate", "mech.json", "r.parquet"),
        ("estimate", "mech.json", "r.parquet", "--skip-invalid"),
        ("perturb", "mech.json", "r.parquet", "--column", "report", "--out", "o.csv"),
        ("design", "r.parquet", "--column", "report", "--range", 0, 4, "--epsilon", 1),
        ("design", "--prior", "r.parquet", "--categorical", "--epsilon", 1),
    ],
    ids=lambda command: command[0],
)
def test_more_rows_than_a_file_can_honestly_hold_are_not_read(refusal, command):
    """Equal rows are said once; whoever sends them makes the collector unpack them."""
    size = write("SELECT 1.0::DOUBLE AS report, 1.0::DOUBLE AS value, 1.0::DOUBLE AS weight FROM range(3000000)")
    assert size < 20_000
    assert "rows, got 3000000: write it as CSV" in refusal(*map(str, command))


@pytest.mark.nightly
def test_cells_that_unpack_to_far_more_than_the_file_are_not_read(refusal):
    """Before their length can be looked at."""
    assert write("SELECT repeat('x', 40000000 + range::INTEGER) AS report FROM range(2)") < 100_000
    assert "must unpack to at most" in refusal("estimate", "mech.json", "r.parquet", "--skip-invalid")


@pytest.mark.nightly
def test_a_million_honest_reports_of_two_outputs_are_read(optldp):
    """Whose bits cannot be packed any closer."""
    assert optldp("design", "people.csv", "--column", "x", "--range", 0, 4, "--epsilon", 1, "--method", "duchi",
                  "--knots", 2, "--out", "two.json").exit_code == 0  # fmt: skip
    write("SELECT 0.0 + 4 * (hash(range) % 2) AS x FROM range(1500000)")
    assert optldp("perturb", "two.json", "r.parquet", "--column", "x", "--out", "o.parquet").exit_code == 0
    assert optldp("estimate", "two.json", "o.parquet").exit_code == 0
