"""Attacks on reports of several periods find the changes of those who memoise, and of nobody else."""

import numpy as np
import pytest
from optldp.designer.auditing.over_time import audit_over_time, changes_seen, links_seen
from optldp.mechanisms import InputError, duchi, make_exact
from optldp.mechanisms.categorical import categorical_grr
from optldp.mechanisms.over_time import Directions, HistoryRows, Memoised, Panel, Tree
from optldp.mechanisms.over_time.signs import best_signs

USERS, PERIODS, MIDDLE = 600, 8, 5
CHANGED = np.arange(USERS) % 2 == 1
TABLE = make_exact(duchi([0.0, 1.0], 1.0)).mechanism
ANSWERS = [str(number) for number in range(30)]


def answers() -> list[list[str]]:
    """Reports of answers that are remembered for each value."""
    rng, table = np.random.default_rng(1), categorical_grr(ANSWERS, 2.0)
    kept = [table.sample([value] * USERS, rng) for value in ("0", "29")]
    sent = [np.where(CHANGED & (period >= MIDDLE), kept[1], kept[0]) for period in range(1, PERIODS + 1)]
    return np.array(sent).T.astype(str).tolist()


def test_changes_of_remembered_reports_are_found_and_their_users_are_linked():
    sent = answers()
    found, false, bound = changes_seen(sent, CHANGED, MIDDLE, 0.999)
    assert (found > 0.6, false) == (True, 0.0)
    assert bound > 2.0
    linked, chance = links_seen([mine for mine, moves in zip(sent, CHANGED, strict=True) if not moves])
    assert linked > 8 * chance


@pytest.mark.parametrize(("reports", "span"), [(1, None), (4, None), (1, 2)])
def test_changes_of_a_panel_are_not_found_beyond_its_promise(reports, span):
    budget = 1.0 / reports
    way = Panel(categorical_grr(["no", "yes"], budget), 4, reports, 1.0, "0" * 32, span=span)
    found = audit_over_time(way, users=300)
    assert found.ok
    if (reports, span) == (1, None):
        assert (found.changes_found, found.false_alarms, found.linked) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    "way",
    [
        HistoryRows(TABLE, [[0.25] * 4, [0, 0, 0.5, -0.5]], [1, 1], [2.0, 2.0], 1.0, "0" * 32),
        Directions(0.0, 1.0, 2**20 * np.eye(4, dtype=int), 70000, 8, 2, (5, 2), 1.0),
        Tree(TABLE, 4, [1, 1, 1, 1, 8], [(1, best_signs(1, 1.0))], 2.0, 1.0, "0" * 32),
    ],
    ids=["rows", "directions", "tree"],
)
def test_changes_of_ways_of_histories_are_not_found_beyond_their_promise(way):
    """Of a tree signs differ as often of those who stay; who reports once is never linked."""
    found = audit_over_time(way, users=300)
    assert found.ok
    assert found.changes_found <= found.false_alarms + 0.2
    assert found.linked <= (0.0 if way.kind != "tree" else 2 * found.chance)


def test_changes_of_a_way_that_memoises_are_found():
    found = audit_over_time(Memoised(categorical_grr(["no", "yes"], 1.0), 4, 2, 2.0), users=300)
    assert not found.ok
    assert (found.changes_found > 0.2, found.false_alarms) == (True, 0.0)


def test_too_few_users_are_refused():
    with pytest.raises(InputError, match="at least 200 users, got 10"):
        audit_over_time(Panel(categorical_grr(["no", "yes"], 1.0), 4, 1, 1.0, "0" * 32), users=10)
