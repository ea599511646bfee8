"""Reports of every kind of mechanism from files: good rows come back, bad ones are named, counted, and no more."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optldp.designer import read_reports
from optldp.estimators.reading.columns.number_cells import write_columns
from optldp.mechanisms import AttributeSampling, InputError, PersonalisedMechanism, duchi, grr, make_exact
from optldp.mechanisms.categorical import categorical_grr, optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.key_value import key_value_response, key_value_unary

HALF, WHOLE = (make_exact(duchi([0.0, 1.0], epsilon)).mechanism for epsilon in (0.5, 1.0))
LABELS = ["a", "b", "c"]
LOW, HIGH = HALF.high.tolist()

KINDS: dict[str, tuple[Any, str, list[str], dict[str, str]]] = {
    "numbers": (
        make_exact(grr([0.0, 1.0, 2.0], 1.0)).mechanism, "report", ["0.0", "2.0", " 1 "],
        {"banana": "'banana' is no number", "7": "7.0 is no output of this table",
         "1e999": "1e999 is no finite number", "1_0": "'1_0' is no number", "nan": "no value"},
    ),
    "categories": (
        categorical_grr(LABELS, 1.0), "report", ["0", "2", "1"],
        {"3": "'3' is no report of this mechanism", "-1": "'-1' is no report of this mechanism",
         "1.0": "'1.0' is no report of this mechanism", " 1": "' 1' is no report of this mechanism",
         "\u0661": "'\u0661' is no report of this mechanism", "0_1": "'0_1' is no report of this mechanism"},
    ),
    "unary": (
        optimised_unary(LABELS, 1.0), "report", ["e0", "00", "40"],
        {"ff": "'ff' is no report of this mechanism", "e": "'e' is no report of this mechanism",
         "e0e0": "'e0e0' is no report of this mechanism", " e": "' e' is no report of this mechanism"},
    ),
    "hashing": (
        local_hashing(range(10), 1.0), "report", ["0", "1"],
        {"999999999": "'999999999' is no report of this mechanism", "x": "'x' is no report of this mechanism"},
    ),
    "levels": (
        PersonalisedMechanism([categorical_grr(LABELS, epsilon) for epsilon in (0.5, 1.0)], 0.3), "report,level",
        ["0,0.5", "2,1.0"],
        {"3,0.5": "'3' with 0.5 is no report of this mechanism", "0,0.7": "'0' with 0.7 is no report of this mechanism",
         "0,x": "'x' is no number", "0,": "no value", ",0.5": "no value"},
    ),
    "levels of numbers": (
        PersonalisedMechanism([HALF, WHOLE]), "report,level", [f"{LOW!r},0.5", f"{HIGH!r},0.5"],
        {f"{LOW!r},1": f"{LOW!r} with 1.0 is no report of this mechanism",
         "9,1": "9.0 with 1.0 is no report of this mechanism", "inf,1": "inf is no finite number"},
    ),
    "pairs": (
        key_value_unary(LABELS, HALF, 1.0), "report", ["0:1;2:0", "-"],
        {"3:0": "'3:0' is no report of this mechanism", "0:1;0:1": "'0:1;0:1' is no report of this mechanism",
         "0:1:2": "'0:1:2' is no report of this mechanism", "0:\u0661": "'0:\u0661' is no report of this mechanism"},
    ),
    "pairs in one": (
        key_value_response(LABELS, WHOLE, 1.0, padding=2), "report", ["0:1", "4:0"],
        {"-": "'-' is no report of this mechanism", "5:0": "'5:0' is no report of this mechanism"},
    ),
    "attributes": (
        AttributeSampling(["x", "y"], [HALF, HALF], 1, 0.5), "x,y", [f"{LOW!r},", f",{HIGH!r}"],
        {f"{LOW!r},{HIGH!r}": f"{LOW!r} with {HIGH!r} is no report of this mechanism",
         "0.5,": "0.5 is no report of this mechanism",
         "x,": "'x' is no number", ",": "no value"},
    ),
}  # fmt: skip


def written(folder: Path, header: str, lines: list[str]) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "reports.csv"
    path.write_text("\n".join([header, *lines, ""]))
    return path


def as_lists(reports: Any) -> Any:
    if isinstance(reports, dict):
        return {name: column.tolist() for name, column in reports.items()}
    if hasattr(reports, "levels"):
        return reports.levels.tolist(), np.asarray(reports.reports).tolist()
    return np.asarray(reports).tolist()


CASES = [(kind, line) for kind, (_, _, _, bad) in KINDS.items() for line in bad]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("kind", "line"), CASES)
def test_a_bad_row_is_named_or_left_out_and_costs_itself(tmp_path, kind, line):
    """By its number in the file and the reason, and the option is offered where it is not given."""
    mechanism, header, good, bad = KINDS[kind]
    expected = read_reports(mechanism, written(tmp_path, header, good))
    assert (expected.simulated, expected.skipped.count) == (False, 0)
    path = written(tmp_path, header, [*good[:1], line, *good[1:]])
    found = read_reports(mechanism, path, skip_invalid=True)
    np.testing.assert_equal(as_lists(found.reports), as_lists(expected.reports))
    assert (found.skipped.count, found.skipped.first) == (1, (f"row 2: {bad[line]}",))
    with pytest.raises(InputError) as refusal:
        read_reports(mechanism, path)
    assert "row 2" in str(refusal.value)
    assert "--skip-invalid" in str(refusal.value) or "--drop-missing" in str(refusal.value)


@pytest.mark.parametrize("kind", list(KINDS))
def test_rows_keep_their_numbers_whatever_else_is_left_out(tmp_path, kind):
    """Missing values that may be dropped, and rows that are none, are rows all the same."""
    mechanism, header, good, bad = KINDS[kind]
    line = next(line for line, reason in bad.items() if reason != "no value")
    empty = "NA" + ",NA" * header.count(",")
    path = written(tmp_path, header, [empty, good[0], "1,2,3,4", line, good[1]])
    found = read_reports(mechanism, path, drop_missing=True, skip_invalid=True)
    columns = header.count(",") + 1
    assert found.skipped.first == (f"row 3: has 4 cells and not {columns}", f"row 4: {bad[line]}")
    path = written(tmp_path, header, [empty, good[0], line, good[1]])
    with pytest.raises(InputError, match="row 3"):
        read_reports(mechanism, path, drop_missing=True)


@pytest.mark.parametrize("kind", list(KINDS))
def test_no_report_at_all_is_one_line(tmp_path, kind):
    mechanism, header, _, bad = KINDS[kind]
    for lines in ([], list(bad)):
        with pytest.raises(InputError) as refusal:
            read_reports(mechanism, written(tmp_path, header, lines), skip_invalid=True)
        assert "must hold at least one" in str(refusal.value)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("kind", ["numbers", "attributes", "levels of numbers"])
def test_the_mark_of_a_simulation_is_found_in_every_kind_of_file(tmp_path, kind, suffix):
    mechanism, header, good, _ = KINDS[kind]
    cells = [[float(cell or "nan") for cell in line.split(",")] for line in good]
    names = [f"simulated_{name}" for name in header.split(",")]
    columns = dict(zip(names, zip(*cells, strict=True), strict=True))
    path = tmp_path / f"reports.{suffix}"
    write_columns(path, columns)
    found = read_reports(mechanism, path)
    assert found.simulated
    expected = read_reports(mechanism, written(tmp_path / "plain", header, good))
    np.testing.assert_equal(as_lists(found.reports), as_lists(expected.reports))
    first = header.split(",")[0]
    write_columns(path, columns | {first: next(iter(columns.values()))})
    with pytest.raises(InputError, match=f"of a simulation, got the columns '{first}' and 'simulated_{first}'"):
        read_reports(mechanism, path)


def test_infinite_numbers_of_a_parquet_file_are_no_reports(tmp_path):
    path = tmp_path / "reports.parquet"
    write_columns(path, {"report": [0.0, np.inf, 2.0, -np.inf]})
    found = read_reports(KINDS["numbers"][0], path, skip_invalid=True)
    assert found.reports.tolist() == [0.0, 2.0]
    assert found.skipped.first == ("row 2: inf is no output of this table", "row 4: -inf is no output of this table")


def test_half_of_many_rows_may_be_bad(tmp_path):
    mechanism = KINDS["categories"][0]
    found = read_reports(mechanism, written(tmp_path, "report", ["0", "x"] * 5000), skip_invalid=True)
    assert (len(found.reports), found.skipped.count) == (5000, 5000)
    assert found.skipped.first[4] == "row 10: 'x' is no report of this mechanism"
