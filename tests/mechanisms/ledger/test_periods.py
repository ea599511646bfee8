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
        assert [period for period, report in enumerate(mine, 1) if report is not None] == state.sent(user)
        assert state.sent(user) == WAY.turns([user])[0].tolist()


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
