"""What benchmarks keep: pages made of it alone, and a slow-down that is said."""

import json
import math
import sys

import pytest
import results
import run
import watched
from measured import Table, alone, calibration, timed


@pytest.mark.parametrize("name", run.PAGES)
def test_a_page_in_docs_is_what_results_json_says_and_has_every_part(name):
    """Made anew by `python benchmarks/run.py --render`."""
    title, parts = run.PAGES[name]
    kept = results.read()
    assert [results.name_of(part) for part in parts if results.name_of(part) not in kept] == []
    assert (results.DOCS / f"{name}.md").read_text() == results.page(name, title, parts, kept)


def test_results_json_keeps_only_parts_that_are_on_a_page():
    named = {results.name_of(part) for _, parts in run.PAGES.values() for part in parts}
    assert set(results.read()) == named


def test_what_is_kept_is_what_was_measured_to_nine_digits(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "RESULTS", tmp_path / "results.json")
    made = Table({"what": "", "s": ".2f", "steps": ""}, [("one [1]", 1.23456789012, 7), ("two", None, 8)], "About.")
    results.write({"part": results.record([made], 0.02)})
    (again,) = results.tables(results.read()["part"])
    assert again.rows == [["one [1]", 1.23456789, 7], ["two", None, 8]]
    assert (again.columns, again.about) == (made.columns, made.about)
    assert '["two", null, 8]' in (tmp_path / "results.json").read_text()
    assert results.read()["part"]["calibration"] == 0.02


def test_a_table_shows_numbers_in_its_formats_and_refuses_uneven_rows():
    shown = Table({"n": ",", "s": ".2f", "gap": ".0e"}, [(1001, 0.256, None), ("free", 2.0, 1.6e-7)], "About.")
    assert shown.markdown().splitlines() == [
        "About.", "", "| n | s | gap |", "|---|---|---|", "| 1,001 | 0.26 |  |", "| free | 2.00 | 2e-07 |",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="every row must have 2 cells"):
        Table({"n": "", "s": ""}, [(1,)])


def test_a_page_shows_a_long_table_by_some_of_its_rows_and_says_so():
    """From the first to one of the last; a short one stands there whole."""
    rows = [(number,) for number in range(2 * results.MOST_ROWS + 1)]
    shown = results._shortened(Table({"n": ""}, rows)).splitlines()
    assert shown[2:-2] == [f"| {number} |" for (number,) in rows[::3]]
    assert shown[-1] == "*One row in 3; `benchmarks/results.json` has all 25.*"
    whole = Table({"n": ""}, rows[: results.MOST_ROWS])
    assert results._shortened(whole) == whole.markdown()


def test_what_takes_more_loops_than_kept_or_fewer_is_said_and_nothing_else():
    before = Table(watched.COLUMNS, [("one", 1.0, 10.0), ("two", 1.0, 20.0), ("gone", 1.0, 1.0), ("best", 1.0, 3.0)])
    now = Table(watched.COLUMNS, [("one", 9.0, 12.9), ("two", 0.1, 28.0), ("three", 1.0, 5.0), ("best", 1.0, 2.0)])
    assert results.compared(before, now) == [
        "slower by 1.40: two, 28.0 loops, 20.0 before",
        "new: three, 5.0 calibration loops",
        "quicker by 1.50: best, 2.0 loops, 3.0 before",
    ]
    (said,) = results.compared(before, Table(watched.COLUMNS, now.rows[:1]))
    assert said.startswith("nothing has changed by 1.3")


def test_the_check_measures_what_is_kept_and_ends_well(monkeypatch, capsys):
    """All that is watched takes half a minute: here the kept numbers, and one that has doubled."""
    (kept,) = results.tables(results.read()["watched"])
    first, *others = kept.rows
    what, seconds, loops = first
    assert isinstance(loops, float)
    monkeypatch.setattr(watched, "run", lambda: [Table(watched.COLUMNS, [(what, seconds, 2 * loops), *others])])
    monkeypatch.setattr("sys.argv", ["run.py", "--check"])
    run.main()
    assert capsys.readouterr().out.startswith(f"slower by 2.00: {what}")


@pytest.mark.nightly
def test_one_part_is_measured_kept_and_shown(tmp_path, monkeypatch, capsys):
    docs = tmp_path / "docs"
    docs.mkdir()
    monkeypatch.setattr(results, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(results, "DOCS", docs)
    monkeypatch.setattr("sys.argv", ["run.py", "benchmarks", "--part", "closed_forms", "--write"])
    run.main()
    kept = json.loads((tmp_path / "results.json").read_text())
    assert list(kept) == ["closed_forms"]
    assert kept["closed_forms"]["calibration"] > 0
    (table,) = results.tables(kept["closed_forms"])
    assert table.markdown() in capsys.readouterr().out
    assert table.markdown() in (docs / "benchmarks.md").read_text()
    assert "the calibration loop took" in (docs / "benchmarks.md").read_text()


def test_arguments_of_a_part_are_not_kept(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["run.py", "benchmarks", "--part", "closed_forms", "3", "--write"])
    with pytest.raises(SystemExit) as ended:
        run.main()
    assert ended.value.code == 2
    assert "leave out --write" in capsys.readouterr().err


@pytest.mark.nightly
def test_a_process_alone_returns_what_it_returns_or_the_limit_that_it_met():
    assert alone(round, 2.6) == 3
    assert alone(math.factorial, 10**8, seconds=1) == "more than 1 s"
    if sys.platform == "linux":  # others do not hold this limit
        assert alone(bytearray, 2**31, gigabytes=1) == "more than 1 GB"
    with pytest.raises(RuntimeError, match=r"factorial\(-1,\) ended with 1"):
        alone(math.factorial, -1)


@pytest.mark.slow
def test_seconds_of_processes_that_ended_are_counted():
    """The other process takes its calibration loop several times and returns the quickest."""
    quickest, seconds = timed(lambda: alone(calibration))
    assert seconds > quickest > 0
