"""Counts of reports: all users, each once, however they were counted, added, split or left out."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.estimators import ReportCounts, Service
from optldp.estimators.counting import counts as report_counts
from optldp.estimators.counting.counts import runs
from optldp.mechanisms import FAMILIES, InputError, TabulatedMechanism

SIZES = (2, 3, 5)


def table_of(size: int, seed: int = 1) -> TabulatedMechanism:
    """Two knots and some outputs of random probabilities."""
    rows = np.random.default_rng(seed).uniform(1, 2, (2, size))
    return TabulatedMechanism.from_points([-1, 1], np.arange(size), rows / rows.sum(axis=1, keepdims=True), 3.0)


SERVICES = tuple(Service(name, table_of(size)) for name, size in zip("abc", SIZES, strict=True))


def random_outputs(seed: int, users: int | None = None) -> np.ndarray:
    """Outputs (N, 3) of up to sixty users, some of whom did not report to some or any service."""
    rng = np.random.default_rng(seed)
    users = int(rng.integers(0, 60)) if users is None else users
    return np.stack([rng.integers(-1, size, users) for size in SIZES], axis=1)


def tally(counts: ReportCounts) -> Counter:
    """Return users by what they reported to which service, by name."""
    names = [service.name for service in counts.services]
    return Counter(
        {
            tuple((names[j], int(o)) for j, o in zip(group.services, row, strict=True)): int(count)
            for group in counts.groups
            for row, count in zip(group.outputs, group.counts, strict=True)
        }
    )


def per_user(outputs: np.ndarray, names: str = "abc") -> Counter:
    """Count users one by one."""
    kinds = [tuple((name, int(o)) for name, o in zip(names, row, strict=True) if o >= 0) for row in outputs]
    return Counter(kind for kind in kinds if kind)


def assert_same(first: ReportCounts, second: ReportCounts) -> None:
    """Require the same groups in the same order with the same rows in the same order."""
    assert len(first.groups) == len(second.groups)
    for left, right in zip(first.groups, second.groups, strict=True):
        assert left.services == right.services
        np.testing.assert_array_equal(left.outputs, right.outputs)
        np.testing.assert_array_equal(left.counts, right.counts)


@pytest.mark.slow
@given(seed=st.integers(0, 2**32 - 1))
def test_each_user_is_counted_once_by_what_they_reported(seed):
    outputs = random_outputs(seed)
    counts = ReportCounts.from_outputs(SERVICES, outputs)
    assert tally(counts) == per_user(outputs)
    assert counts.n_users == (outputs >= 0).any(axis=1).sum()
    for group in counts.groups:
        assert [tuple(row) for row in group.outputs] == sorted(tuple(row) for row in group.outputs)
    assert [group.services for group in counts.groups] == sorted(group.services for group in counts.groups)


@pytest.mark.nightly
@given(seed=st.integers(0, 2**32 - 1), cut=st.floats(0, 1))
def test_counts_of_shards_add_up_to_those_of_the_union(seed, cut):
    outputs = random_outputs(seed)
    first, second = np.split(outputs, [int(cut * len(outputs))])
    left, right = (ReportCounts.from_outputs(SERVICES, part) for part in (first, second))
    whole = ReportCounts.from_outputs(SERVICES, outputs)
    assert_same(left + right, whole)
    assert_same(right + left, whole)


@pytest.mark.slow
@given(seed=st.integers(0, 2**32 - 1))
def test_reports_of_a_service_are_counted_whatever_else_was_reported(seed):
    outputs = random_outputs(seed)
    counts = ReportCounts.from_outputs(SERVICES, outputs)
    for j, size in enumerate(SIZES):
        expected = np.bincount(outputs[outputs[:, j] >= 0, j], minlength=size)
        np.testing.assert_array_equal(counts.reports_of(j), expected)


@pytest.mark.slow
@given(seed=st.integers(0, 2**32 - 1), kept=st.sampled_from([[0], [2], [0, 1], [2, 0], [1, 2, 0]]))
def test_only_some_services_is_as_if_the_others_had_not_been_there(seed, kept):
    """In the order asked for, too."""
    outputs = random_outputs(seed)
    some = ReportCounts.from_outputs(SERVICES, outputs).only(kept)
    assert_same(some, ReportCounts.from_outputs([SERVICES[j] for j in kept], outputs[:, kept]))
    assert [service.name for service in some.services] == ["abc"[j] for j in kept]


@pytest.mark.nightly
@given(seed=st.integers(0, 2**32 - 1))
def test_a_split_deals_out_all_users(seed):
    """And counts added up again are the counts."""
    counts = ReportCounts.from_outputs(SERVICES, random_outputs(seed))
    parts = counts.split([2, 0, 1], np.random.default_rng(seed))
    assert parts[1].groups == ()
    assert_same(parts[0] + parts[1] + parts[2], counts)


def test_a_split_gives_each_part_its_share():
    """40,000 users to parts of 1/4 and 3/4, every combination within five standard errors."""
    counts = ReportCounts.from_outputs(SERVICES, random_outputs(0, users=40_000))
    quarter = tally(counts.split([0.25, 0.75], np.random.default_rng(1))[0])
    for kind, users in tally(counts).items():
        assert abs(quarter[kind] - users / 4) < 5 * np.sqrt(users * 3 / 16)


def test_the_same_generator_gives_the_same_split():
    counts = ReportCounts.from_outputs(SERVICES, random_outputs(0, users=500))
    first, second, other = (counts.split([1, 1], np.random.default_rng(seed))[0] for seed in (1, 1, 2))
    assert_same(first, second)
    assert tally(first) != tally(other)


@pytest.mark.parametrize("columns", [3, 30, 70])
def test_rows_are_counted_beyond_what_one_integer_numbers(columns):
    """Seventy columns of 100 outputs have 10^140 combinations; equal prefixes keep them apart and in order."""
    rng = np.random.default_rng(columns)
    few = rng.integers(0, 100, (25, columns))
    few[1:13] = few[0]
    few[np.arange(1, 13), rng.integers(0, columns, 12)] = 99 - few[0, 0]
    rows = few[rng.integers(0, 25, 400)]
    weights = rng.integers(1, 9, 400)
    order, starts = runs(rows.T, [100] * columns)
    expected, member = np.unique(rows, axis=0, return_inverse=True)
    np.testing.assert_array_equal(rows[order[starts]], expected)
    np.testing.assert_array_equal(np.add.reduceat(weights[order], starts), np.bincount(member.reshape(-1), weights))


def test_the_numbers_of_combinations_stay_below_the_largest(monkeypatch):
    """With room for ten combinations the prefixes are renumbered at every column, to the same end."""
    outputs = random_outputs(5, users=300)
    plain = ReportCounts.from_outputs(SERVICES, outputs)
    monkeypatch.setattr(report_counts, "LARGEST_CODE", 10)
    assert_same(ReportCounts.from_outputs(SERVICES, outputs), plain)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint64])
def test_any_kind_of_integer_will_do(kind):
    """Unsigned 64-bit ones too, which numpy adds to signed ones as floats; 2^60 combinations show it."""
    big = tuple(Service(str(j), FAMILIES["grr"](np.linspace(0, 1, 64), 1.0)) for j in range(10))
    outputs = np.random.default_rng(0).integers(0, 2, (500, 10)) * 63
    outputs[:, :8] = 63
    counts = ReportCounts.from_outputs(big, outputs.astype(kind))
    assert_same(counts, ReportCounts.from_outputs(big, outputs))
    assert [len(group.counts) for group in counts.groups] == [4]


def test_reports_of_one_service_are_counted_by_the_outputs_they_are():
    table = FAMILIES["duchi"]([-1.0, 1.0], 1.0)
    counts = ReportCounts.from_reports(table, table.high[[1, 0, 1, 1]], name="survey")
    assert counts.reports_of(0).tolist() == [1, 3]
    assert counts.services[0].name == "survey"
    assert counts.mechanisms == (table,)


def test_reports_that_the_table_cannot_make_are_refused():
    with pytest.raises(InputError, match="reports"):
        ReportCounts.from_reports(FAMILIES["duchi"]([-1.0, 1.0], 1.0), [0.123])


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ([[0, 1]], r"one column for each of 3 services, got shape \(1, 2\)"),
        ([0, 1, 2], "one column for each of 3 services"),
        ([[0.0, 1.0, 2.0]], "outputs must be integers"),
        ([[True, True, True]], "outputs must be integers"),
        ([[0, 3, 0]], r"outputs of service 'b' must lie in 0\.\.2 or be -1"),
        ([[0, 0, -2]], r"outputs of service 'c' must lie in 0\.\.4 or be -1"),
    ],
)
def test_outputs_that_are_none_are_refused_in_one_line(outputs, message):
    with pytest.raises(InputError, match=message) as caught:
        ReportCounts.from_outputs(SERVICES, outputs)
    assert "\n" not in str(caught.value)


def test_a_service_without_reports_is_named():
    counts = ReportCounts.from_outputs(SERVICES, [[0, -1, 1]])
    with pytest.raises(InputError, match="every service must have reports, got none for 'b': leave it out"):
        counts.require_reports()
    counts.only([0, 2]).require_reports()


def test_no_users_are_no_groups():
    """No rows, and rows without a report."""
    for outputs in (np.empty((0, 3), dtype=int), [[-1, -1, -1]]):
        counts = ReportCounts.from_outputs(SERVICES, outputs)
        assert counts.n_users == 0
        assert counts.groups == ()
        assert counts.reports_of(2).tolist() == [0] * 5


@pytest.mark.parametrize(
    ("services", "message"),
    [
        ([], "there must be at least one service, got none"),
        ([SERVICES[0], SERVICES[0]], r"services must have different names, got \['a', 'a'\]"),
        (
            [SERVICES[0], Service("far", FAMILIES["duchi"]([0.0, 9.0], 1.0))],
            r"got domain \(-1.0, 1.0\) for 'a' but \(0.0, 9.0\) for 'far'",
        ),
    ],
)
def test_services_that_do_not_go_together_are_refused(services, message):
    with pytest.raises(InputError, match=message):
        ReportCounts(tuple(services), ())


def test_services_of_other_units_are_refused():
    def table(units: str) -> TabulatedMechanism:
        return TabulatedMechanism.from_points([0, 1], [0, 1], [[0.6, 0.4], [0.4, 0.6]], 0.5, units=units)

    with pytest.raises(InputError, match="got units 'kg' for 'x' but 'lb' for 'y'"):
        ReportCounts((Service("x", table("kg")), Service("y", table("lb"))), ())


def test_counts_of_other_services_or_tables_are_not_added():
    counts = ReportCounts.from_outputs(SERVICES, [[0, 0, 0]])
    for last in (Service("d", SERVICES[2].mechanism), Service("c", table_of(5, seed=2))):
        other = ReportCounts.from_outputs([*SERVICES[:2], last], [[0, 0, 0]])
        with pytest.raises(InputError, match="counts can be added for the same services and tables only"):
            counts.__add__(other)
    assert counts.__add__(1) is NotImplemented  # pyright: ignore[reportArgumentType] -- the point of the test


def test_counts_of_equal_tables_loaded_twice_are_added():
    again = ReportCounts.from_outputs([Service(n, table_of(m)) for n, m in zip("abc", SIZES, strict=True)], [[1, 1, 1]])
    assert (ReportCounts.from_outputs(SERVICES, [[1, 1, 1]]) + again).groups[0].counts.tolist() == [2]


@pytest.mark.parametrize("services", [[3], [-1], [0, 7]])
def test_positions_of_no_service_are_refused(services):
    with pytest.raises(InputError, match=r"services must be positions in 0\.\.2, got"):
        ReportCounts.from_outputs(SERVICES, [[0, 0, 0]]).only(services)


@pytest.mark.parametrize("shares", [[], [0.0, 0.0], [-1.0, 2.0], [np.nan, 1.0], [np.inf, 1.0], [[1.0]]])
def test_shares_that_are_none_are_refused(shares):
    with pytest.raises(InputError, match="shares must be non-negative numbers with a positive sum"):
        ReportCounts.from_outputs(SERVICES, [[0, 0, 0]]).split(shares, np.random.default_rng(0))
