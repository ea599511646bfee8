"""Reports counted by group and weight: the counts of a loop over rows, and one line for what is wrong."""

import numpy as np
import pytest
from optldp.estimators.differences import tally_groups
from optldp.estimators.reading.columns import SkippedRows
from optldp.mechanisms import InputError, duchi
from optldp.mechanisms.categorical import categorical_grr

TABLE = duchi([0.0, 1.0], 1.0)
LOW, HIGH = TABLE.low.tolist()
ROWS = [
    ("east", 1.0, LOW), ("west", 2.0, HIGH), ("east", 3.0, LOW), ("east", 0.0, HIGH), ("=1+1", 0.5, HIGH),
    ("west", 2.5, LOW), ("east", 1.5, HIGH),
]  # fmt: skip


def written(path, rows=ROWS) -> str:
    path.write_text("region,weight,report\n" + "".join(f"{g},{w},{r!r}\n" for g, w, r in rows))
    return str(path)


def in_memory() -> dict:
    region, weight, report = zip(*ROWS, strict=True)
    return {"region": np.array(region), "weight": np.array(weight), "report": np.array(report)}


@pytest.mark.parametrize("source", ["file", "memory"])
def test_counts_are_those_of_a_loop(tmp_path, source):
    rows = written(tmp_path / "r.csv") if source == "file" else in_memory()
    found = tally_groups(TABLE, rows, by="region", weights="weight")
    assert found.names == ("=1+1", "east", "west")
    assert found.weightless == 1
    for name, tally in zip(found.names, found.tallies, strict=True):
        mine = [(w, r) for g, w, r in ROWS if g == name and w > 0]
        for k, output in enumerate(tally.reports):
            weights = [w for w, r in mine if r == TABLE.low[output]]
            sums = len(weights), sum(weights), sum(w * w for w in weights)
            assert (tally.users[k], tally.weights[k], tally.squares[k]) == sums
        assert tally.n_users == len(mine)
        assert tally.effective_n == pytest.approx(sum(w for w, _ in mine) ** 2 / sum(w * w for w, _ in mine))


def test_numbers_of_outputs_and_reports_of_categories_are_counted_alike():
    by_index = {"region": in_memory()["region"], "output": (in_memory()["report"] == HIGH).astype(int)}
    one, other = (tally_groups(TABLE, rows, by="region") for rows in (by_index, in_memory()))
    for left, right in zip(one.tallies, other.tallies, strict=True):
        assert (left.reports.tolist(), left.users.tolist()) == (right.reports.tolist(), right.users.tolist())
    jobs = {"region": np.array(["a", "b", "a"]), "report": np.array(["1", "0", "1"])}
    found = tally_groups(categorical_grr(["cook", "nurse"], 1.0), jobs, by="region")
    assert [tally.reports.tolist() for tally in found.tallies] == [[1], [0]]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (("east", -1.0, LOW), r"weights from 0 to 1e\+100, got 1 others, the first \(-1\) in row 8"),
        (("east", 1e200, LOW), r"the first \(1e\+200\) in row 8"),
        (("east", "inf", LOW), r"\(inf\) in row 8"),
        (("east", "heavy", LOW), "got 1 rows that hold none, the first in row 8: 'heavy' is no number"),
        (("east", "", LOW), "must not miss values, got 1 missing, the first in row 8"),
        (("", 1.0, LOW), "column 'region' .* must not miss values, got 1 missing"),
        (("east", 1.0, 0.25), "got 1 rows that hold none, the first in row 8: 0.25 is no report of this mechanism"),
    ],
)
def test_a_row_at_fault_is_one_line_that_names_it(tmp_path, row, says):
    rows = written(tmp_path / "r.csv", [*ROWS, row])
    with pytest.raises(InputError, match=says) as caught:
        tally_groups(TABLE, rows, by="region", weights="weight")
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_rows_at_fault_are_left_out_where_that_is_asked_for(tmp_path):
    """But weights below zero never are: nobody is worth less than nothing."""
    wrong = [*ROWS, ("east", 1.0, 0.25), ("east", "heavy", LOW), ("", 1.0, LOW)]
    account = SkippedRows()
    rows = written(tmp_path / "r.csv", wrong)
    found = tally_groups(TABLE, rows, by="region", weights="weight", skip_invalid=account)
    plain = tally_groups(TABLE, written(tmp_path / "s.csv"), by="region", weights="weight")
    assert [t.users.tolist() for t in found.tallies] == [t.users.tolist() for t in plain.tallies]
    assert account.count == 3
    with pytest.raises(InputError, match="weights from 0"):
        tally_groups(TABLE, written(tmp_path / "t.csv", [("e", -1, LOW)]), weights="weight", skip_invalid=True)


def test_what_cannot_be_estimated_from_is_refused(monkeypatch):
    weightless = in_memory() | {"weight": np.zeros(len(ROWS))}
    with pytest.raises(InputError, match="a weight above 0, got 7 rows without one"):
        tally_groups(TABLE, weightless, weights="weight")
    with pytest.raises(InputError, match="columns of their own"):
        tally_groups(TABLE, in_memory(), by="region", weights="region")
    monkeypatch.setattr("optldp.estimators.differences.tally.MOST_GROUPS", 2)
    with pytest.raises(InputError, match="at most 2 groups, got 3"):
        tally_groups(TABLE, in_memory(), by="region")
