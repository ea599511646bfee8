"""States of ways that report histories: values are held until they are reported, and no longer."""

import sqlite3

import numpy as np
import pytest
from optldp.mechanisms import InputError, grr, make_exact
from optldp.mechanisms.ledger import PeriodState
from optldp.mechanisms.over_time import HistoryRows

TABLE = make_exact(grr([0.0, 1.0], 4.0)).mechanism
WAY = HistoryRows(TABLE, [[0.5, 0.5, 0], [0, 0.5, 0.5]], [1, 1], [1.0, 1.0], 4.0, "0" * 32)
USERS = [f"u{number}" for number in range(200)]


def held(path) -> int:
    with sqlite3.connect(path) as connection:
        (many,) = connection.execute("SELECT count(*) FROM remembered").fetchone()
    connection.close()
    return many


def test_each_user_reports_a_row_of_its_own_history_once_which_is_then_forgotten(tmp_path):
    path, turns = tmp_path / "state.db", WAY.turns(USERS)[:, 0]
    state = PeriodState(path, WAY)
    assert state.reports(1, USERS, [1.0] * 200).new == 0
    assert held(path) == 200
    second = state.reports(2, USERS, [1.0] * 200)
    assert [report is not None for report in second.reports] == (turns == 2).tolist()
    assert held(path) == 2 * (turns == 3).sum()
    again = state.reports(2, USERS, [0.0] * 200)
    assert (again.reports, again.new) == (second.reports, 0)
    third = state.reports(3, USERS, [0.0] * 200)
    assert held(path) == 0
    # Of values 1, 1, 0 rows tell 1, and one half: so do their reports on average, by the odds of the table.
    told = [np.mean([float(text) for text in each.reports if text is not None]) for each in (second, third)]
    assert told[0] - told[1] == pytest.approx(0.5, abs=0.3)


def test_a_value_that_is_none_books_nothing(tmp_path):
    state = PeriodState(tmp_path / "state.db", WAY)
    with pytest.raises(InputError):
        state.reports(1, USERS, [2.0] * 200)
    assert held(tmp_path / "state.db") == 0
