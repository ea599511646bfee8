"""The state of a way over time: nothing is drawn twice, whatever is asked again, in whatever order."""

# pyright: reportArgumentType=false

import sqlite3
from pathlib import Path

import pytest
from optldp.mechanisms import InputError
from optldp.mechanisms.categorical import categorical_grr
from optldp.mechanisms.ledger import PeriodState
from optldp.mechanisms.over_time import Panel

WAY = Panel(categorical_grr(["no", "yes"], 1.0), 4, 1, 1.0, "0" * 32)
USERS = [f"u{number}" for number in range(60)]


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "state.db"


def test_a_period_asked_again_has_the_same_reports_whatever_the_values_are_now(path):
    first = PeriodState(path, WAY).reports(2, USERS, ["yes"] * 60)
    again = PeriodState(path, WAY).reports(2, USERS, ["no"] * 60)
    assert 0 < first.new == again.repeated
    assert (first.reports, again.new) == (again.reports, 0)


def test_a_life_has_as_many_reports_as_the_way_allows_each_in_its_turn(path):
    state = PeriodState(path, WAY)
    given = [state.reports(period, USERS, ["yes"] * 60).reports for period in range(1, 5)]
    for user, mine in zip(USERS, zip(*given, strict=True), strict=True):
        assert [period for period, report in enumerate(mine, 1) if report is not None] == state.lives(user)[0].periods
        assert state.lives(user)[0].periods == WAY.turns([user])[0].tolist()


def test_a_clock_that_is_set_back_draws_nothing_new(path):
    state = PeriodState(path, WAY)
    sent = state.reports(2, USERS[:30], ["yes"] * 30)
    state.reports(3, USERS, ["yes"] * 60)
    back = state.reports(2, USERS, ["yes"] * 60)
    assert (back.reports[:30], set(back.reports[30:])) == (sent.reports, {None})
    assert (back.new, state.latest) == (0, 3)
    assert back.late == WAY.in_turn(USERS[30:], 2).sum() > 0


def test_a_value_that_is_not_in_turn_is_not_looked_at_and_one_in_turn_that_is_none_books_nothing(path):
    state, mine = PeriodState(path, WAY), WAY.in_turn(USERS, 1).tolist()
    state.reports(1, USERS, ["yes" if own else "no such answer" for own in mine])
    with pytest.raises(InputError):
        state.reports(2, USERS, ["no such answer"] * 60)
    assert state.latest == 1


def test_the_state_of_another_way_and_what_is_no_state_are_refused(path):
    PeriodState(path, WAY)
    with pytest.raises(InputError, match=r"must be of way t.*, got that of t"):
        PeriodState(path, Panel(WAY.mechanism, 4, 1, 1.0, "1" * 32))
    other = path.with_name("other.db")
    other.write_text("no database")
    with pytest.raises(InputError, match="must be a file of optldp-periods/1"):
        PeriodState(other, WAY)


def test_what_breaks_off_before_the_end_leaves_nothing_behind(path, monkeypatch):
    """Drawn and written within one transaction: neither a report without a record, nor a record without its report."""
    state = PeriodState(path, WAY)
    monkeypatch.setattr(Panel, "to_text", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        state.reports(1, USERS, ["yes"] * 60)
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM reports").fetchone() == (0,)
        assert connection.execute("SELECT latest FROM about").fetchone() == (0,)
    connection.close()


def test_a_user_twice_is_refused(path):
    with pytest.raises(InputError, match="one value of each user"):
        PeriodState(path, WAY).reports(1, ["ann", "ann"], ["yes", "no"])


def test_a_copy_that_is_put_back_draws_nothing_in_the_periods_since_and_counts_them_as_spent(path):
    state = PeriodState(path, WAY)
    first = state.reports(1, USERS, ["yes"] * 60)
    backup = path.read_bytes()
    state.reports(2, USERS, ["yes"] * 60)
    path.write_bytes(backup)
    restored = PeriodState(path, WAY)
    again = restored.reports(2, USERS, ["no"] * 60)
    assert (restored.lost, again.new, again.withheld) == (2, 0, WAY.in_turn(USERS, 2).sum())
    assert restored.reports(1, USERS, ["no"] * 60).reports == first.reports
    assert restored.reports(3, USERS, ["yes"] * 60).new == WAY.in_turn(USERS, 3).sum()
    assert [restored.lives(user)[0].spent for user in USERS] == WAY.in_turn(USERS, 4).__invert__().astype(
        float
    ).tolist()


def test_a_state_that_is_lost_beside_its_mark_goes_on_behind_it(path):
    PeriodState(path, WAY).reports(2, USERS, ["yes"] * 60)
    path.unlink()
    state = PeriodState(path, WAY)
    assert state.reports(2, USERS, ["yes"] * 60).new == 0
    assert state.reports(3, USERS, ["yes"] * 60).new == WAY.in_turn(USERS, 3).sum() > 0
    assert PeriodState(path, WAY).lost == 2


def test_a_state_without_its_mark_draws_nothing_in_the_period_that_is_asked_for(path):
    PeriodState(path, WAY).reports(1, USERS, ["yes"] * 60)
    path.with_name("state.db.mark").unlink()
    state = PeriodState(path, WAY)
    assert [state.reports(period, USERS, ["yes"] * 60).new > 0 for period in (2, 3)] == [False, True]


def test_a_mark_of_another_state_or_of_something_else_is_refused(path):
    PeriodState(path, WAY)
    other = PeriodState(path.with_name("other.db"), WAY)
    with pytest.raises(InputError, match="must be of the state beside it, got that of another"):
        PeriodState(path, WAY, mark=path.with_name("other.db.mark"))
    path.with_name("other.db.mark").write_text("{}")
    with pytest.raises(InputError, match="must be a file of optldp-periods-mark/1, got something else"):
        other.reports(1, USERS, ["yes"] * 60)


def test_what_breaks_off_between_state_and_mark_gives_the_same_reports_and_nothing_twice(path, monkeypatch):
    """The report has not left, and is in the state: the next call gives it."""
    state = PeriodState(path, WAY)
    with monkeypatch.context() as broken:
        broken.setattr(
            "optldp.mechanisms.ledger.period_mark.os.fsync", lambda _: (_ for _ in ()).throw(OSError("full"))
        )
        with pytest.raises(InputError, match="full"):
            state.reports(2, USERS, ["yes"] * 60)
    mine = WAY.in_turn(USERS, 2).sum()
    again = state.reports(2, USERS, ["no"] * 60)
    assert (again.new, again.repeated, again.withheld, state.lost) == (0, mine, 0, 0)


def test_a_state_that_broke_off_while_it_was_made_is_made_again(path):
    path.touch()
    assert PeriodState(path, WAY).reports(1, USERS, ["yes"] * 60).new > 0


def test_a_state_of_one_user_is_of_no_other(path):
    mine = PeriodState(path, WAY, user="ann")
    with pytest.raises(InputError, match="must be of this user alone, got that of another"):
        PeriodState(path, WAY, user="bo")
    with pytest.raises(InputError, match="must be asked for that user alone"):
        mine.reports(1, ["bo"], ["yes"])
    PeriodState(path.with_name("many.db"), WAY)
    with pytest.raises(InputError, match="got that of many users"):
        PeriodState(path.with_name("many.db"), WAY, user="ann")


def test_what_is_forgotten_is_sent_no_more_and_stays_booked(path):
    state = PeriodState(path, WAY)
    mine = [user for user, report in zip(USERS, state.reports(2, USERS, ["yes"] * 60).reports, strict=True) if report]
    assert state.forget(mine[0]) == 1
    assert state.forget() == len(mine) - 1
    again = state.reports(2, USERS, ["yes"] * 60)
    assert (again.new, again.repeated, again.withheld) == (0, 0, len(mine))
    assert state.lives(mine[0])[0].spent == 1.0
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT DISTINCT report FROM reports").fetchall() == [(None,)]
    connection.close()


def test_a_state_knows_its_way_and_another_file_is_none(path):
    PeriodState(path, WAY).reports(1, USERS, ["yes"] * 60)
    assert PeriodState(path).way.members()["salt"] == WAY.salt
    with pytest.raises(InputError, match="there must be a state at"):
        PeriodState(path.with_name("none.db"))


OWN = Panel(categorical_grr(["no", "yes"], 1.0), 4, 1, 1.0, None)


def test_turns_that_devices_draw_are_kept_and_spread_evenly(path):
    state = PeriodState(path, OWN)
    sent = [state.reports(period, USERS, ["yes"] * 60) for period in (1, 2, 3, 4)]
    assert sum(each.new for each in sent) == 60
    assert all(state.lives(user)[0].periods for user in USERS)
    assert min(each.new for each in sent) > 3
    with pytest.raises(InputError, match="drawn by devices"):
        OWN.in_turn(USERS, 1)


def test_a_lost_state_of_drawn_turns_sends_nothing_more_of_users_it_does_not_know(path):
    PeriodState(path, OWN).reports(1, USERS, ["yes"] * 60)
    path.unlink()
    state = PeriodState(path, OWN)
    assert [state.reports(period, USERS, ["yes"] * 60).new for period in (2, 3, 4)] == [0, 0, 0]
    assert state.lives("u1")[0].spent == 1.0


def test_a_panel_that_rotates_has_one_report_in_any_so_many_periods_in_a_row(path):
    way = Panel(categorical_grr(["no", "yes"], 1.0), 9, 1, 1.0, "0" * 32, span=4)
    state = PeriodState(path, way)
    for period in range(1, 10):
        state.reports(period, USERS, ["yes"] * 60)
    for user in USERS:
        sent = state.lives(user)[0].periods
        assert all(sum(first <= period < first + 4 for period in sent) == 1 for first in range(1, 7))
    assert (way.life_epsilon, max(state.lives(user)[0].spent for user in USERS)) == (3.0, 3.0)
