"""Counts by day of batches: each report once, whatever the order of batches, copies and late ones."""

from contextlib import suppress
from dataclasses import replace

import duckdb
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from optldp.estimators.days import collecting, load_days
from optldp.estimators.days.collected import DayCollector
from optldp.estimators.engines.daily import Daily
from optldp.mechanisms import InputError

TABLE, OTHER = "t0123456789ab", "tba9876543210"
DAYS = [f"2026-05-{day:02d}" for day in range(1, 9)]
HEAD = "table,day,output,report_id\n"
N = 60


def texts(outputs):
    if any(text not in ("0", "1", "2") for text in outputs):
        raise InputError("no output")
    return outputs


def batch(path, rows, head=HEAD):
    path.write_text(head + "".join(",".join(row) + "\n" for row in rows))
    return path


def made(seed):
    rng = np.random.default_rng(seed)
    return [(TABLE, DAYS[rng.integers(4)], str(rng.integers(3)), f"id{i}") for i in range(N)]


def counted(folder):
    found = load_days([folder])
    return {
        key[: 4 if key[3] else 3]: sorted((row.output, row.users) for row in day.rows)
        for key, day in found.days.items()
    }


def add(folder, path, today, *, late=3, least=1, by=None, **options):
    with collecting(folder, TABLE, texts, Daily(late, least, today, **(by or {}))) as days:
        return days.add(path, **options)


class Killed(BaseException):
    """No error that anything handles, as SIGKILL is none."""


class Cut:
    """A connection to a run that is killed before its statement of this number: nothing runs after it."""

    def __init__(self, connection, at):
        self.connection, self.left = connection, at

    def execute(self, *asked):
        self.left -= 1
        if self.left < 0:
            raise Killed
        return self.connection.execute(*asked)

    def __getattr__(self, name):
        return getattr(self.connection, name)


def add_killed(folder, path, today, at):
    """Count a batch by a run that is killed, if it gets as far, and by another one."""
    with suppress(Killed), collecting(folder, TABLE, texts, Daily(3, 1, today)) as days:
        replace(days, connection=Cut(days.connection, at)).add(path)
    add(folder, path, today)


def same_as_at_once(tmp, delays, copies, cuts):
    """Reports that come days late, a few too late, copies of some a day after, runs killed; and all in one batch."""
    reports = made(1)
    arrive = [DAYS.index(row[1]) + delay for row, delay in zip(reports, delays, strict=True)]
    for number, today in enumerate(DAYS):
        mine = [row for row, day in zip(reports, arrive, strict=True) if day == number]
        again = [row for place, row in enumerate(reports) if place in copies and arrive[place] == number - 1]
        again = [row for row in again if number - DAYS.index(row[1]) <= 3]  # later ones count apart once more
        for place, rows in enumerate((again, mine)):
            path = batch(tmp / "batch.csv", rows)
            add_killed(tmp / "counts", path, today, cuts[2 * number + place])
    late = {row for row, delay in zip(reports, delays, strict=True) if delay > 3}
    add(tmp / "at_once", batch(tmp / "all.csv", [row for row in reports if row not in late]), DAYS[3])
    found = {key: rows for key, rows in counted(tmp / "counts").items() if not key[2]}
    assert found == counted(tmp / "at_once")
    assert load_days([tmp / "counts"]).number(TABLE, "late") == len(late)


def test_late_and_doubled_reports_end_in_the_same_counts_whatever_the_order(tmp_path):
    first, second = made(1)[: N // 2], made(1)[N // 3 :]  # some are in both
    for name, order in (("forth", (first, second)), ("back", (second, first))):
        for today, rows in zip(DAYS[3:5], order, strict=True):
            add(tmp_path / name, batch(tmp_path / "a.csv", rows), today, late=4)
    assert counted(tmp_path / "forth") == counted(tmp_path / "back")
    assert sum(many for rows in counted(tmp_path / "back").values() for _, many in rows) == N


def test_days_are_written_while_they_are_open_and_after_a_run_that_ended_before_it_wrote(tmp_path, monkeypatch):
    """A closed day's file is left alone; another --min-batch writes every day anew."""
    folder = tmp_path / "counts"
    days = [(TABLE, day, "1", f"id{place}") for place, day in enumerate(DAYS)]
    add(folder, batch(tmp_path / "a.csv", days[:1]), DAYS[0], late=1)
    with monkeypatch.context() as broken:
        broken.setattr(DayCollector, "write", lambda days: None)
        add(folder, batch(tmp_path / "b.csv", days[1:2]), DAYS[1], late=1)
    assert not (folder / f"{DAYS[1]}.csv").exists()
    add(folder, batch(tmp_path / "c.csv", days[6:7]), DAYS[6], late=1)
    assert {file.stem for file in folder.glob("*.csv")} == {DAYS[0], DAYS[1], DAYS[6]}
    (folder / f"{DAYS[0]}.csv").unlink()
    add(folder, batch(tmp_path / "d.csv", [(TABLE, DAYS[6], "2", "last")]), DAYS[6], late=1)
    assert not (folder / f"{DAYS[0]}.csv").exists()
    add(folder, batch(tmp_path / "e.csv", []), DAYS[6], late=1, least=2)
    assert (folder / f"{DAYS[0]}.csv").exists()
    assert load_days([folder]).number(TABLE, "counted") == 2  # the last day's; the others wait


# four days are too late
DELAYS = st.lists(st.sampled_from((0, 0, 1, 2, 3, 4)), min_size=N, max_size=N)
CUTS = st.lists(st.integers(0, 40), min_size=2 * len(DAYS), max_size=2 * len(DAYS))


@pytest.mark.nightly
@settings(max_examples=4, deadline=None, phases=[Phase.generate])
@given(delays=DELAYS, copies=st.sets(st.integers(0, N - 1)), cuts=CUTS)
def test_neither_the_order_of_arrival_nor_a_kill_anywhere_matters(delays, copies, cuts, tmp_path_factory):
    same_as_at_once(tmp_path_factory.mktemp("order"), delays, copies, cuts)


@pytest.mark.parametrize("at", [20, 28, 31])
def test_a_run_that_is_killed_counts_a_late_report_once(at, tmp_path):
    """Killed in the middle of its transaction, before its end, and right after it."""
    path = batch(tmp_path / "a.csv", [(TABLE, DAYS[0], "1", "a"), (TABLE, DAYS[4], "1", "b")])
    add_killed(tmp_path / "c", path, DAYS[4], at)
    add(tmp_path / "c", path, DAYS[5])
    found = load_days([tmp_path / "c"])
    assert (found.number(TABLE, "late"), found.number(TABLE, "counted")) == (1, 1)


def test_a_run_that_ends_before_its_transaction_does_has_counted_nothing(tmp_path, monkeypatch):
    path = batch(tmp_path / "a.csv", made(2))
    with collecting(tmp_path / "counts", TABLE, texts, Daily(today=DAYS[3])) as days:
        days.connection.execute("BEGIN TRANSACTION; INSERT INTO ids VALUES ('id1', '2026-05-01', 1); ROLLBACK")
    monkeypatch.setattr("optldp.estimators.days.collected.DayCollector.write", lambda self: None)
    assert add(tmp_path / "counts", path, DAYS[3]).new == N  # killed before the files are written
    monkeypatch.undo()
    assert add(tmp_path / "counts", path, DAYS[3], least=1).repeated == N
    assert sum(many for rows in counted(tmp_path / "counts").values() for _, many in rows) == N


def test_late_reports_are_counted_apart_and_small_days_wait(tmp_path):
    add(tmp_path / "c", batch(tmp_path / "a.csv", [(TABLE, DAYS[0], "1", "a")]), DAYS[4], late=3)
    found = load_days([tmp_path / "c"])
    assert (found.number(TABLE, "late"), found.number(TABLE, "counted")) == (1, 0)
    assert add(tmp_path / "c", batch(tmp_path / "b.csv", [(TABLE, DAYS[4], "1", "b")]), DAYS[4], least=2).new == 1
    assert load_days([tmp_path / "c"]).number(TABLE, "waiting") == 1
    add(tmp_path / "c", batch(tmp_path / "d.csv", [(TABLE, DAYS[4], "2", "d")]), DAYS[5], least=2)
    assert load_days([tmp_path / "c"]).number(TABLE, "counted") == 2


REFUSED = {
    "another table": ([(OTHER, DAYS[0], "1", "a")], OTHER),
    "an id twice": ([(TABLE, DAYS[0], "1", "a"), (TABLE, DAYS[0], "1", "a")], "each report id once"),
    "no id": ([(TABLE, DAYS[0], "1", "")], "an id for each report"),
    "an id without end": ([(TABLE, DAYS[0], "1", "a" * 100_000)], "of at most 1024 characters, got 1 rows"),
    "a day to come": ([(TABLE, DAYS[6], "1", "a")], "of days up to"),
    "no day": ([(TABLE, "", "1", "a")], "a day for each report"),
    "a day that is none": ([(TABLE, "yesterday", "1", "a")], "a day must be written"),
    "no output": ([(TABLE, DAYS[0], "7", "a")], "reports of this mechanism"),
    "a known id changed": ([(TABLE, DAYS[3], "2", "known")], "unchanged"),
}


@pytest.mark.parametrize(("rows", "says"), REFUSED.values(), ids=list(REFUSED))
def test_a_batch_that_is_refused_is_refused_whole_in_one_line(rows, says, tmp_path):
    add(tmp_path / "c", batch(tmp_path / "a.csv", [(TABLE, DAYS[3], "1", "known")]), DAYS[3])
    before = counted(tmp_path / "c")
    sound = (TABLE, DAYS[3], "0", "sound")
    with pytest.raises(InputError, match=says) as refused:
        add(tmp_path / "c", batch(tmp_path / "b.csv", [sound, *rows]), DAYS[3])
    assert "\n" not in str(refused.value)
    assert counted(tmp_path / "c") == before
    assert add(tmp_path / "c", batch(tmp_path / "d.csv", [sound]), DAYS[3]).new == 1  # nothing is lost


def test_a_first_batch_that_is_refused_leaves_nothing_and_another_table_may_come(tmp_path):
    """A folder is a table's with the first batch that is counted, whatever was refused before it."""
    folder = tmp_path / "new" / "counts"
    with pytest.raises(InputError, match="each report id once"):
        add(folder, batch(tmp_path / "twice.csv", [(TABLE, DAYS[0], "1", "a")] * 2), DAYS[0])
    assert not (tmp_path / "new").exists()
    other = batch(tmp_path / "other.csv", [(OTHER, DAYS[0], "1", "a")])
    with collecting(folder, OTHER, texts, Daily(5, 1, DAYS[0])) as days:
        assert days.add(other).new == 1
    with pytest.raises(InputError, match="the table must be that of the counts"):
        add(folder, other, DAYS[0])
    assert (folder / "state.duckdb").exists()


def test_a_clock_that_runs_backwards_and_a_folder_of_other_counts_are_refused(tmp_path):
    path = batch(tmp_path / "a.csv", [(TABLE, DAYS[0], "1", "a")])
    add(tmp_path / "c", path, DAYS[3])
    with pytest.raises(InputError, match="must not be before 2026-05-04"):
        add(tmp_path / "c", path, DAYS[2])
    with pytest.raises(InputError, match="late must be that of the counts"):
        add(tmp_path / "c", path, DAYS[3], late=5)
    with (
        pytest.raises(InputError, match="the table must be that of"),
        collecting(tmp_path / "c", OTHER, texts, Daily(today=DAYS[3])),
    ):
        pass


def test_invalid_reports_are_counted_apart_where_that_is_asked_for_and_an_id_twice_once(tmp_path):
    rows = [(TABLE, DAYS[3], "7", "a"), (TABLE, DAYS[3], "1", "b"), (TABLE, DAYS[3], "1", "b")]
    found = add(tmp_path / "c", batch(tmp_path / "a.csv", rows), DAYS[3], skip_invalid=True, keep_first=True)
    assert (found.new, found.invalid) == (1, 1)
    assert load_days([tmp_path / "c"]).number(TABLE, "invalid") == 1


def test_only_rows_for_which_comparisons_are_true_are_counted_and_times_count_by_their_day(tmp_path):
    rows = [(DAYS[0] + " 11:03", "1", "a", "north"), (DAYS[1] + " 00:00", "1", "b", "south")]
    path = batch(tmp_path / "a.csv", rows, "at,output,report_id,region\n")
    found = add(tmp_path / "c", path, DAYS[1], by={"day_column": "at"}, where=["region = north"])
    assert (found.new, list(counted(tmp_path / "c"))) == (1, [(TABLE, DAYS[0], False)])
    with pytest.raises(InputError, match="town"):
        add(tmp_path / "c", path, DAYS[1], by={"day_column": "at"}, where=["town = x"])


@pytest.mark.parametrize("day", [DAYS[0] + "'; --", DAYS[0] + " noon", DAYS[0] + "T11:03\n--"])
def test_what_only_begins_like_a_day_is_none(tmp_path, day):
    path = batch(tmp_path / "a.csv", [(f'"{day}"', "1", "a")], "at,output,report_id\n")
    with pytest.raises(InputError, match="a day must be written as"):
        add(tmp_path / "c", path, DAYS[1], by={"day_column": "at"})


def test_windows_of_any_column_part_a_day_and_an_id_in_two_of_them_is_refused(tmp_path):
    head, by = "table,day,output,report_id,hour\n", {"window": "hour"}
    rows = [(TABLE, DAYS[0], "1", "a", "09 / x"), (TABLE, DAYS[0], "1", "b", "09 / x"), (TABLE, DAYS[0], "0", "c", "")]
    for _ in range(2):
        add(tmp_path / "c", batch(tmp_path / "a.csv", rows, head), DAYS[1], by=by)
    windows = {(TABLE, DAYS[0], False, "09 / x"): [("1", 2)], (TABLE, DAYS[0], False): [("0", 1)]}
    assert counted(tmp_path / "c") == windows
    assert load_days([tmp_path / "c" / "hour=09%20%2F%20x"]).number(TABLE, "counted") == 2
    with pytest.raises(InputError, match="1 ids with another report"):
        add(tmp_path / "c", batch(tmp_path / "a.csv", [(TABLE, DAYS[0], "0", "c", "10")], head), DAYS[1], by=by)
    with pytest.raises(InputError, match="the window of --by must be that of the counts"):
        add(tmp_path / "c", tmp_path / "a.csv", DAYS[1])
    assert counted(tmp_path / "c") == windows


def test_windows_that_no_folder_can_hold_are_refused_and_so_are_counts_parted_in_two_ways(tmp_path):
    head = "table,day,output,report_id,hour\n"
    path = batch(tmp_path / "a.csv", [(TABLE, DAYS[0], "1", "a", "x" * 300)], head)
    with pytest.raises(InputError, match="short text, got one of 300 characters"):
        add(tmp_path / "c", path, DAYS[0], by={"window": "hour"})
    with pytest.raises(InputError, match="a column beside table, day"):
        Daily(window="Simulated_Output")
    for name, window in (("a", ",hour"), ("b", "")):
        (tmp_path / f"{name}.csv").write_text(
            f"table,day,output,n,state{window}\n{TABLE},{DAYS[0]},1,3,counted{window}\n"
        )
    with pytest.raises(InputError, match=r"parted alike, got .*b.csv' by day alone beside .*a.csv' by hour"):
        load_days([tmp_path / "a.csv", tmp_path / "b.csv"])


def test_counts_of_another_schema_are_refused(tmp_path):
    duckdb.connect().sql("SELECT '2026-05-01' AS day, 3 AS n, 'counted' AS state").write_csv(str(tmp_path / "old.csv"))
    with pytest.raises(InputError, match="no column 'output'"):
        load_days([tmp_path])
