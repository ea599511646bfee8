"""Sums of reports: those of each row's users, however they were counted, added or left out."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.estimators import ReportGroup, count, load_counts, save_counts
from optldp.estimators.counting import users as user_counting
from optldp.estimators.counting.reported_sums import ReportedSums
from optldp.estimators.reading.columns import SkippedRows
from optldp.estimators.reading.columns.number_cells import write_columns
from optldp.mechanisms import InputError, duchi, laplace, square_wave

KNOTS = np.linspace(10.0, 30.0, 3)  # whose middle is 20 and whose half is 10
TABLES = (laplace(KNOTS, 2.0), duchi(KNOTS, 1.0), square_wave(KNOTS, 1.0))
NAMES = ("noise", "bits", "waves")


def drawn(seed: int, users: int = 40) -> np.ndarray:
    """Reports (N, 3) of which a third is missing, but never all of a user's."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(10, 30, users)
    reports = np.stack([table.sample(values, rng) for table in TABLES], axis=1)
    absent = rng.random(reports.shape) < 1 / 3
    absent[np.arange(users), rng.integers(0, 3, users)] = False
    return np.where(absent, np.nan, reports)


def counted(reports: np.ndarray, **options):
    return count(list(zip(NAMES, TABLES, reports.T, strict=True)), raw=True, **options)


def brute_force(reports: np.ndarray) -> dict:
    """By services and outputs the users, the sums and the sums of products of their places, user by user."""
    found: dict = {}
    for row in reports:
        mine = tuple(int(j) for j in np.flatnonzero(~np.isnan(row)))
        if not mine:
            continue
        outputs = tuple(int(TABLES[j].output_index([row[j]])[0]) for j in mine)
        place = (row[list(mine)] - 20) / 10
        users, first, second = found.get((mine, outputs), (0, 0.0, 0.0))
        found[mine, outputs] = users + 1, first + place, second + np.outer(place, place)
    return found


def assert_sums(counts, expected: dict) -> None:
    rows = 0
    for group in counts.groups:
        for r, outputs in enumerate(group.outputs.tolist()):
            users, first, second = expected[group.services, tuple(outputs)]
            assert group.counts[r] == users
            np.testing.assert_allclose(group.sums.first[r], first, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(group.sums.second[r], second, rtol=1e-12, atol=1e-12)
            rows += 1
    assert rows == len(expected)


@pytest.mark.nightly
@settings(max_examples=8)
@given(seed=st.integers(0, 10_000), cut=st.integers(1, 39))
def test_sums_are_those_of_a_loop_over_users_also_of_shards_and_of_fewer_services(seed, cut):
    reports = drawn(seed)
    whole, parts = counted(reports), np.split(reports, [cut])
    assert_sums(whole, brute_force(reports))
    left, right = (counted(part, allow_disjoint=True) for part in (_padded(part) for part in parts))
    assert_sums(left + right, brute_force(np.concatenate([_padded(part) for part in parts])))
    for services in ((0,), (2, 0)):
        fewer = np.full_like(reports, np.nan)
        fewer[:, list(services)] = reports[:, list(services)]
        if services == (0,):
            assert_sums(whole.only(services), brute_force(fewer))
        else:  # in another order
            expected = {
                (tuple(sorted({0: 1, 2: 0}[j] for j in key)), outputs[::-1]): (n, first[::-1], second[::-1, ::-1])
                for (key, outputs), (n, first, second) in brute_force(fewer).items()
            }
            assert_sums(whole.only(services), expected)


def _padded(part: np.ndarray) -> np.ndarray:
    """With one more user, of all services, so that each has reports."""
    return np.concatenate([part, [[25.5, TABLES[1].low[0], 20.0]]])


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files_matched_by_user_have_the_sums_of_arrays(tmp_path, suffix, monkeypatch):
    """Rows in any order, in blocks of seven; a user's first report, and rows that hold none, are dealt with first."""
    monkeypatch.setattr("optldp.estimators.counting.staged.BLOCK", 7)
    reports, sources = drawn(5), []
    for j, (name, table) in enumerate(zip(NAMES, TABLES, strict=True)):
        users = np.random.default_rng(j).permutation(np.flatnonzero(~np.isnan(reports[:, j])))
        rows = [*users, users[0], users[1]]
        values = [*reports[users, j], 7e300, reports[users[2], j]]  # none of the table's, and a second one
        place = tmp_path / f"{name}.{suffix}"
        write_columns(place, {"user": np.array([f"u{row}" for row in rows]), "report": np.array(values)})
        sources.append((name, table, place))
    counts = count(sources, key="user", raw=True, keep_first=True, skip_invalid=SkippedRows())
    assert_sums(counts, brute_force(reports))


@pytest.mark.parametrize("table", TABLES, ids=NAMES)
def test_one_service_has_sums_of_its_rows(table, tmp_path, monkeypatch):
    monkeypatch.setattr(user_counting, "BLOCK", 7)
    reports = table.sample(np.linspace(10, 30, 30), np.random.default_rng(2))
    write_columns(tmp_path / "r.csv", {"report": reports})
    for source in (reports, tmp_path / "r.csv"):
        group = count(table, source, raw=True).groups[0]
        outputs, places = table.output_index(reports), (reports - 20) / 10
        assert group.sums is not None
        for r, (output,) in enumerate(group.outputs):
            mine = places[outputs == output]
            assert group.counts[r] == mine.size
            assert group.sums.first[r] == pytest.approx([mine.sum()], rel=1e-12)
            assert group.sums.second[r, 0] == pytest.approx([np.sum(mine**2)], rel=1e-12)


def test_sums_are_kept_by_counts_alone_that_all_have_them(tmp_path):
    """Not on disk, not in parts dealt out at random, not beside counts without."""
    reports = drawn(1)
    counts = counted(reports)
    save_counts(counts, tmp_path / "c.npz")
    saved = load_counts(tmp_path / "c.npz", TABLES)
    parts = counts.split([0.5, 0.5], np.random.default_rng(1))
    plain = count(list(zip(NAMES, TABLES, reports.T, strict=True)))
    for without in (saved, *parts, plain, counts + saved, saved + counts):
        assert all(group.sums is None for group in without.groups)
    for one, other in pairwise((counts, saved, plain)):
        assert [g.counts.tolist() for g in one.groups] == [g.counts.tolist() for g in other.groups]


def test_what_are_no_sums_of_the_groups_rows_is_refused():
    with pytest.raises(InputError, match=r"must be \(R, J\), and those of products \(R, J, J\), got shapes \(2, 3\)"):
        ReportedSums(np.zeros((2, 3)), np.zeros((2, 3)))
    with pytest.raises(InputError, match="must be finite"):
        ReportedSums(np.full((1, 1), np.inf), np.zeros((1, 1, 1)))
    outputs, counts = np.array([[0], [1]]), np.array([5, 7])
    with pytest.raises(InputError, match=r"sums must be of shape \(2, 1\), got \(1, 1\)"):
        ReportGroup((0,), outputs, counts, ReportedSums(np.zeros((1, 1)), np.zeros((1, 1, 1))))
