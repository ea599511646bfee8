"""Results of papers: made once for the same code and parameters, and compared with what is kept."""

import sys

import pytest
from redone.experiment import keeping, script
from redone.experiment.keeping import Shelf, Stamp, Table, experiment_code, library_commit, table_drift
from redone.experiment.pages import Telling
from redone.experiment.script import Check, main
from redone.privacy_for_free import means

STAMP = Stamp("abc1234", "0123456789", 1, True, False)
KEPT = Table("t", "T", ("data", "epsilon", "error"), (("a", "1", "2 ± 0.1"), ("a", "2", "0.5"), ("b", "1", "none")))


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """Start a script of two figures with options, as at a library's commit; return how often each was made."""
    monkeypatch.setattr(script, "ROOT", tmp_path)
    made = []

    def figure(name):
        def make(run):
            made.append(name)
            run.table(name, "Title", ("data", "error"), [("a", 0.1), ("b", "2 ± 0.1")])
            return [Check("it holds", name != "wrong", "seen")]

        return make

    def start(*options, commit="abc1234", figures=("one", "two")):
        monkeypatch.setattr(keeping, "library_commit", lambda: commit)
        monkeypatch.setattr(sys, "argv", ["toy", *options])
        made.clear()
        main("toy", "", {name: figure(name) for name in figures}, lambda shelf: Telling())
        return list(made)

    return start


def test_what_is_kept_is_not_made_again_for_the_same_commit_and_parameters(toy, tmp_path):
    assert toy("--keep", "--figure", "one") == ["one"]
    assert toy("--keep") == ["two"]
    assert toy("--keep") == []
    assert toy("--keep", "--again") == ["one", "two"]
    assert toy("--keep", "--data", str(tmp_path)) == ["one", "two"]
    assert toy("--keep", commit="fff0000") == ["one", "two"]


def test_a_library_with_changes_of_no_commit_keeps_nothing_for_good(toy):
    assert toy("--keep", commit="abc1234+") == toy("--keep", commit="abc1234+") == ["one", "two"]


def test_a_figure_that_was_stopped_before_its_checks_is_made_again(toy, tmp_path):
    toy("--keep")
    (checks,) = tmp_path.rglob("checks-one.csv")
    checks.unlink()
    assert toy("--keep") == ["one"]


def test_a_kept_check_that_fails_still_fails(toy):
    for _ in range(2):
        with pytest.raises(SystemExit):
            toy("--keep", figures=("wrong",))


def test_a_second_run_is_compared_with_what_is_kept(toy, tmp_path, capsys):
    toy("--keep")
    toy("--compare")
    (table,) = tmp_path.rglob("one.csv")
    table.write_text(table.read_text().replace("a,0.1", "a,0.2"))
    with pytest.raises(SystemExit):
        toy("--compare")
    assert "one, a, error: kept 0.2, now 0.1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("row", "drifts"),
    [
        (("a", "1", "2.3 ± 0.1"), False),
        (("a", "1", "3 ± 0.1"), True),
        (("a", "2", "0.505"), False),
        (("a", "2", "0.52"), True),
        (("b", "1", "0.3"), True),
        (("c", "1", "0.3"), True),
        (("b", "1", "none"), False),
    ],
)
def test_drift_is_beyond_four_standard_errors_or_two_percent(row, drifts):
    assert bool(table_drift(KEPT, Table("t", "T", KEPT.header, (row,)))) == drifts


def test_other_columns_are_drift():
    assert table_drift(KEPT, Table("t", "T", ("data", "error"), ()))


def test_seconds_and_what_was_copied_by_hand_are_not_compared(tmp_path, capsys):
    shelf, new = Shelf(tmp_path), Table("t", "T", ("data",), (("other",),), timed=True)
    shelf.put("f", STAMP, [KEPT], [], 1.0)
    assert shelf.drift("f", [new]) == []
    assert shelf.drift("f", [Table("t", "T", KEPT.header, (("c", "1", "1"),))])
    shelf.put("f", Stamp("abc1234", keeping.COPIED, 1, True, True), [KEPT], [], 0.0)
    assert shelf.drift("f", [Table("t", "T", KEPT.header, (("c", "1", "1"),))]) == []
    assert "copied" in capsys.readouterr().out


def test_without_the_real_data_only_rows_of_sets_that_are_there_are_compared(tmp_path):
    shelf, total = Shelf(tmp_path), Table("s", "S", ("gain", "least"), (("all", "1"),))
    shelf.put("f", Stamp("abc1234", "0123456789", 1, True, True), [KEPT, total], [], 1.0)
    other = Table("t", "T", KEPT.header, (("synthetic", "1", "5"), ("a", "2", "0.5")))
    assert shelf.drift("f", [other, Table("s", "S", total.header, (("all", "3"),))], lacking=True) == []
    assert len(shelf.drift("f", [other, Table("s", "S", total.header, (("all", "3"),))])) == 2
    assert shelf.drift("f", [Table("t", "T", KEPT.header, (("a", "2", "0.6"),))], lacking=True)


def test_what_is_put_is_got(tmp_path):
    shelf = Shelf(tmp_path)
    shelf.put("4, moved", STAMP, [KEPT], [("claim, one", "yes", "0.3")], 2.4)
    kept = shelf.get("4, moved")
    assert kept is not None
    assert (kept.stamp, kept.tables[0], kept.seconds) == (STAMP, KEPT, 2)
    assert shelf.seen("4, moved", "claim") == "0.3"
    assert shelf.get("other") is None


def test_an_experiments_code_is_that_of_the_modules_it_imports(monkeypatch, tmp_path):
    """What only tells, as pages do, is left out: its change makes no figure anew."""
    code = experiment_code(means.equal_budgets)
    read, changed = keeping.Path.read_bytes, {"drawn_values": False, "pages": False}
    monkeypatch.setattr(keeping.Path, "read_bytes", lambda p: read(p) + b"#" * changed.get(p.stem, False))
    assert experiment_code(means.equal_budgets) == code
    changed["pages"] = True
    assert experiment_code(means.equal_budgets) == code
    changed["drawn_values"] = True
    assert experiment_code(means.equal_budgets) != code


def test_the_librarys_commit_is_one_of_the_repository():
    if not (keeping.ROOT / ".git").exists():
        pytest.skip("no repository here")
    assert keeping.re.fullmatch(r"[0-9a-f]{7,}\+?", library_commit())
