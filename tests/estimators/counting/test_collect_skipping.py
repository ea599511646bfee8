"""`collect` with rows that hold no report: left out, counted once, named by row and reason."""

import numpy as np
import pandas as pd
import pytest
from optldp.estimators.counting.collect import collect
from optldp.estimators.reading.columns import SkippedRows
from optldp.estimators.reading.columns.rows.skipped_rows import SkippedRowsWarning
from optldp.mechanisms import InputError, grr

TABLE = grr([0.0, 1.0, 2.0], 1.0)

BAD = {
    "a,banana": "'banana' is no number",
    "a,1e999": "1e999 is no finite number",
    "a,0.5": "0.5 is no output of its table",
    "a,": "no report",
    "a,nan": "no report",
    "a,0x10": "'0x10' is no number",
    "a,1_0": "'1_0' is no number",
    "a,\u0661": "'\u0661' is no number",
    "a,2\0": "a cell with the character NUL",
    f"a,{'7' * 5000}": "a cell of 5000 characters, more than 4096",
    ",1": "the key is missing",
    f"{'k' * 1025},1": "the key has more than 1024 characters",
    "a": "has 1 cell and not 2",
    "a,1,2": "has 3 cells and not 2",
    'a,"1': "has a quote in a wrong place or not closed",
    "a,\udcff": "is not UTF-8",
    ",banana": "the key is missing",
}


def written(folder, lines, name="web.csv"):
    path = folder / name
    path.write_bytes("\n".join(["user,report", *lines, ""]).encode(errors="surrogateescape"))
    return path


@pytest.mark.sampled(3)
@pytest.mark.parametrize("line", list(BAD))
def test_a_row_without_a_report_is_left_out_and_named(tmp_path, line):
    """Its neighbours are counted; without the option it is one line that offers it."""
    path = written(tmp_path, ["ann,0", line, "bo,2"])
    account = SkippedRows()
    counts = collect([("web", TABLE, path)], key="user", skip_invalid=account)
    assert counts.n_users == 2
    assert (account.count, account.first) == (1, (f"row 2: {BAD[line]}",))
    with pytest.raises(InputError) as refusal:
        collect([("web", TABLE, path)], key="user")
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 1000
    assert "row 2" in str(refusal.value)
    assert "--skip-invalid" in str(refusal.value) or "--drop-missing" in str(refusal.value)


def test_all_kinds_of_bad_rows_together_are_counted_once_each(tmp_path):
    lines = [line for bad in BAD for line in (bad, "u,1")]
    lines = [line.replace("u,", f"u{i},") if line == "u,1" else line for i, line in enumerate(lines)]
    account = SkippedRows()
    counts = collect([("web", TABLE, written(tmp_path, lines))], key="user", skip_invalid=account)
    assert counts.n_users == account.count == len(BAD)
    assert account.first == tuple(f"row {2 * i + 1}: {reason}" for i, reason in enumerate(BAD.values()) if i < 5)


def test_without_an_account_there_is_a_warning(tmp_path):
    path = written(tmp_path, ["ann,0", "bo,banana"])
    with pytest.warns(SkippedRowsWarning, match="1 row holds no report and was left out: row 2: 'banana' is no number"):
        assert collect([(TABLE, path)], skip_invalid=True).n_users == 1


def test_missing_reports_that_may_be_dropped_are_not_counted(tmp_path):
    account = SkippedRows()
    path = written(tmp_path, ["ann,0", "bo,", "cy,banana"])
    collect([(TABLE, path)], skip_invalid=account, drop_missing=True)
    assert account.first == ("row 3: 'banana' is no number",)


def test_several_services_are_told_apart(tmp_path):
    first = written(tmp_path, ["1,0", "x,banana", "2,1"])
    second = {"user": np.array([1, 2, 3]), "report": np.array([0.0, 7.5, np.inf])}
    account = SkippedRows()
    counts = collect([("a", TABLE, first), ("b", TABLE, second)], key="user", skip_invalid=account)
    assert account.first == (
        f"service 'a' ({str(first)!r}), row 2: the key 'x' is no integer",
        "service 'b', row 2: 7.5 is no output of its table",
        "service 'b', row 3: inf is no output of its table",
    )
    assert counts.n_users == 2


@pytest.mark.parametrize("kind", [np.asarray, pd.Series, lambda v: {"report": np.asarray(v)}])
def test_reports_in_memory_are_left_out_alike(kind):
    account = SkippedRows()
    counts = collect([(TABLE, kind([0.0, 9.0, np.nan, 2.0]))], skip_invalid=account)
    assert counts.n_users == 2
    assert account.first == ("row 2: 9.0 is no output of its table", "row 3: no report")


@pytest.mark.slow
def test_what_is_good_is_counted_as_without_the_option(tmp_path):
    rng = np.random.default_rng(1)
    lines = [f"u{i},{int(report)}" for i, report in enumerate(rng.integers(0, 3, 5000))]
    path, account = written(tmp_path, lines), SkippedRows()
    plain, skipping = collect([(TABLE, path)], key="user"), collect([(TABLE, path)], key="user", skip_invalid=account)
    assert [g.counts.tolist() for g in plain.groups] == [g.counts.tolist() for g in skipping.groups]
    assert account.count == 0


def test_nothing_left_is_said(tmp_path):
    with pytest.raises(InputError, match=r"got none for service 'web' .* among 2 rows"):
        collect([("web", TABLE, written(tmp_path, ["a,x", "b,y"]))], skip_invalid=SkippedRows())


def test_simulated_reports_are_found_by_their_mark_and_never_mixed(tmp_path):
    path = tmp_path / "web.csv"
    path.write_text("user,simulated_report\nann,0\n")
    assert collect([(TABLE, path)]).n_users == 1
    path.write_text("report,simulated_report\n0,0\n")
    with pytest.raises(InputError, match="reports in earnest or of a simulation, got the columns 'report' and"):
        collect([(TABLE, path)])
