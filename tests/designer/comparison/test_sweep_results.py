"""The results file: whole rows survive whatever happens to the last one; other files are refused and left alone."""

# Priors are made from lists, which they turn into arrays.
# pyright: reportArgumentType=false

import json
import tempfile
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.designer import Prior
from optldp.designer.comparison import sweep_results
from optldp.designer.comparison.row import Row
from optldp.designer.comparison.sweep_results import SweepResults
from optldp.mechanisms import InputError

PRIORS = {"flat": Prior.on_knots([0, 1], [1, 1], source="public", units="EUR")}
OPTIONS = {"uniform_share": 1e-3, "tolerance": 1e-6}

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
ROWS = st.builds(
    Row,
    prior=st.just("flat"),
    epsilon=NUMBERS,
    objective=st.sampled_from(["expected", "minimax"]),
    method=st.sampled_from(["duchi", "optimal", "shaped"]),
    **dict.fromkeys(("expected_variance", "worst_case_variance", "value", "bound", "relative_gap"), NUMBERS),
    **dict.fromkeys(
        ("ratio_to_optimal", "max_log_ratio", "one_report_times_n", "continuum_bound"), st.none() | NUMBERS
    ),
    status=st.sampled_from(["optimal", "gap-open", "failed"]),
    error=st.text(),
    seconds=st.none() | NUMBERS,
)


def opened(path: Path, priors=PRIORS, **change) -> SweepResults:
    return SweepResults(path, priors, **{**OPTIONS, **change})


def refusal(path: Path, priors=PRIORS, **change) -> str:
    """Return the one line that a file is refused with, which must stay as it is."""
    before = path.read_bytes()
    with pytest.raises(InputError) as caught:
        opened(path, priors, **change)
    assert path.read_bytes() == before
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def file(tmp_path) -> Path:
    """A results file with two rows."""
    path = tmp_path / "sweep.jsonl"
    opened(path).append([Row.failed("flat", epsilon, "expected", "duchi", "as an example") for epsilon in (0.5, 1.0)])
    return path


@pytest.mark.nightly
@given(st.lists(st.lists(ROWS, max_size=3), max_size=3))
@settings(max_examples=30)
def test_rows_come_back_as_they_were_to_the_last_bit(batches):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "sweep.jsonl")
        for batch in batches:
            opened(path).append(batch)
        found = opened(path).rows
    written = [row for batch in batches for row in batch]
    assert found == written
    assert [row.seconds for row in found] == [row.seconds for row in written]


@pytest.mark.parametrize("step", [11, pytest.param(1, marks=pytest.mark.slow)])
def test_a_file_cut_anywhere_after_its_first_line_keeps_its_whole_rows_and_can_be_added_to(file, step):
    """At each byte; quickly at each eleventh, and at and beside the ends of lines."""
    content = file.read_bytes()
    rows = opened(file).rows
    ends = [place for place, byte in enumerate(content, start=1) if byte == ord("\n")]
    beside = {end + by for end in ends[1:] for by in (-1, 0, 1)} - {len(content) + 1}
    for cut in sorted({*range(ends[0], len(content) + 1, step), *beside}):
        file.write_bytes(content[:cut])
        whole = sum(end <= cut for end in ends) - 1
        results = opened(file)
        assert results.rows == rows[:whole]
        results.append(rows[whole:])
        assert file.read_bytes() == content


def test_an_empty_file_is_taken_as_a_new_one(tmp_path, file):
    path = tmp_path / "empty.jsonl"
    path.touch()
    assert opened(path).rows == []
    assert path.read_bytes() == file.read_bytes().splitlines(keepends=True)[0]


def test_files_of_other_sweeps_are_refused_and_left_alone(file, monkeypatch):
    other = {"flat": Prior.on_knots([0, 1], [1, 2], source="public", units="EUR")}
    assert "must not be mixed" in refusal(file, other)
    assert "other priors" in refusal(file, {**PRIORS, "second": PRIORS["flat"]})
    assert "other priors" in refusal(file, {"renamed": PRIORS["flat"]})
    assert "uniform_share 0.001 instead of 0.5" in refusal(file, uniform_share=0.5)
    assert "tolerance 1e-06 instead of 0.01" in refusal(file, tolerance=0.01)
    dollars = {"flat": Prior.on_knots([0, 1], [1, 1], source="public", units="USD")}
    assert "units 'EUR' instead of 'USD'" in refusal(file, dollars)
    monkeypatch.setattr(sweep_results, "installed_version", lambda: "99")
    assert "instead of '99'" in refusal(file)


def test_a_prior_is_told_from_another_by_its_knots_and_its_rounding_too(file):
    knots = {"flat": Prior.on_knots([0, 2], [1, 1], source="public", units="EUR")}
    rounding = {"flat": Prior([0, 1], [0.5, 0.5], [0.1], "public", "EUR")}
    assert "other priors" in refusal(file, knots)
    assert "other priors" in refusal(file, rounding)


@pytest.mark.parametrize("content", ["x,y\n1,2\n", "{}\n", "[1]\n", '{"format": "optldp-ledger/1"}\n', "no end", "\0"])
def test_files_that_no_sweep_made_are_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "data.csv"
    path.write_text(content)
    assert "must be a file that a sweep made" in refusal(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda row: row.pop("status"),
        lambda row: row.update(extra=1.0),
        lambda row: row.update(prior="another"),
        lambda row: row.update(method="magic"),
        lambda row: row.update(epsilon="1.0"),
        lambda row: row.update(epsilon=None),
        lambda row: row.update(expected_variance=float("nan")),
        lambda row: row.update(error=None),
    ],
)
def test_a_line_that_is_no_row_is_named(file, change):
    lines = file.read_text().splitlines()
    row = json.loads(lines[1])
    change(row)
    file.write_text("\n".join([lines[0], json.dumps(row), lines[2]]) + "\n")
    assert "line 2 of results" in refusal(file)
    file.write_text("\n".join([lines[0], lines[1][:-5], lines[2]]) + "\n")
    assert "line 2 of results" in refusal(file)


def test_paths_that_cannot_be_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="results must be a readable file"):
        opened(tmp_path)
    with pytest.raises(InputError, match="must be writable"):
        opened(tmp_path / "missing" / "sweep.jsonl")


def test_a_file_that_is_lost_meanwhile_is_one_line(file, tmp_path):
    results = opened(file)
    file.unlink()
    tmp_path.rename(tmp_path.with_name("moved"))
    with pytest.raises(InputError, match="results must be writable"):
        results.append([])


def test_a_line_without_end_is_refused_unread(tmp_path):
    """No row is a megabyte long; the rest of the file is not looked at."""
    path = tmp_path / "sweep.jsonl"
    path.write_bytes(b"[" * 40_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="must have lines of at most 1048576 bytes, got a longer one"):
            opened(path)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
    assert path.stat().st_size == 40_000_000
