"""The partition of users behind figures 6 (c) and (d) of "Privacy for Free": who reports what, and the truth."""

import numpy as np
import pytest
from optldp.mechanisms import duchi, make_exact, piecewise
from redone.experiment.drawn_values import wave_people
from redone.experiment.script import Run
from redone.privacy_for_free import dimensions

KNOTS = np.linspace(0.0, 1.0, 9)
TABLES = {"SR": make_exact(duchi(KNOTS, 0.1)).mechanism, "PM": make_exact(piecewise(KNOTS, 0.1)).mechanism}
RUN, USERS = Run(True, None, None), 500


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Three shards of users, the last one smaller."""
    monkeypatch.setattr(dimensions, "_users", lambda run: USERS)
    monkeypatch.setattr(dimensions, "SHARD", 200)


@pytest.mark.parametrize("anew", [False, True])
def test_each_user_reports_one_attribute_to_every_service(anew):
    """The same to all where it is dealt, one of its own to each where services draw."""
    counts = dimensions.partition(RUN, wave_people, 4, TABLES, np.random.default_rng(1), anew=anew).counts
    assert (list(counts), counts.n_users) == (["a0", "a1", "a2", "a3"], USERS)
    for service in range(2):
        assert sum(int(counts[name].reports_of(service).sum()) for name in counts) == USERS
    groups = {group.services for name in counts for group in counts[name].groups}
    assert groups == ({(0,), (0, 1), (1,)} if anew else {(0, 1)})
    assert all(counts[name].n_users > USERS / 8 for name in counts)


def test_errors_are_held_against_all_users_of_all_shards():
    """Whether they reported the attribute or not."""
    seen = []

    def people(n, d, rng):
        seen.append(rng.random((n, d)))
        return seen[-1]

    made = dimensions.partition(RUN, people, 3, TABLES, np.random.default_rng(2))
    everyone = np.concatenate(seen)
    assert everyone.shape == (USERS, 3)
    assert made.means == pytest.approx(everyone.mean(axis=0))
    first = everyone[:, 1] < 1 / dimensions.CELLS
    assert made.shares[1, 0] == pytest.approx(first.mean())
    assert made.shares.sum(axis=1) == pytest.approx(np.ones(3))
