"""What may be counts: whole users, of outputs that there are, in one order."""

import numpy as np
import pytest
from optldp.estimators import ReportCounts, ReportGroup, Service
from optldp.mechanisms import InputError, duchi, grr

OUTPUTS = np.array([[0, 1], [0, 2], [1, 0]])
COUNTS = np.array([3, 1, 2])
TABLES = [Service("two", duchi([0.0, 2.0], 1.0)), Service("three", grr([0.0, 1.0, 2.0], 1.0))]


def test_what_is_counted_is_kept_as_integers_that_cannot_be_changed():
    """Whatever integers came, outputs are int32, counts int64, both read-only; the caller's array stays writable."""
    counts = COUNTS.copy()
    group = ReportGroup((0, 1), OUTPUTS.astype(np.uint8), counts)
    assert (group.outputs.dtype, group.counts.dtype, group.n_users) == (np.int32, np.int64, 6)
    with pytest.raises(ValueError, match="read-only"):
        group.counts[0] = 9
    assert counts.flags.writeable


@pytest.mark.parametrize(
    ("services", "outputs", "counts", "says"),
    [
        ((0, 1), OUTPUTS, COUNTS / 2, "counts must be integers, got float64: count users, without weights or shares"),
        ((0, 1), OUTPUTS, COUNTS * 1.0, "counts must be integers, got float64"),
        ((0, 1), OUTPUTS, COUNTS > 1, "counts must be integers, got bool"),
        ((0, 1), OUTPUTS + 0.5, COUNTS, "outputs must be integers, got float64"),
        ((0, 1), OUTPUTS, COUNTS - 1, "counts must be at least 1, got 0: leave out what nobody reported"),
        ((0, 1), OUTPUTS, -COUNTS, "counts must be at least 1, got -3"),
        (
            (0, 1),
            OUTPUTS,
            COUNTS[:2],
            "services for each of its counts, got shapes (3, 2) and (2,)",
        ),
        ((0,), OUTPUTS, COUNTS, "a row of outputs to 1 services for each"),
        ((0, 1), OUTPUTS, COUNTS[:, None], "got shapes (3, 2) and (3, 1)"),
        ((0, 1), OUTPUTS[:0], COUNTS[:0], "got shapes (0, 2) and (0,)"),
        ((0, 1), OUTPUTS - 1, COUNTS, "outputs must be different rows from 0 on, in lexicographic order"),
        ((0, 1), OUTPUTS[[0, 0, 1]], COUNTS, "outputs must be different rows from 0 on, in lexicographic order"),
        ((0, 1), OUTPUTS[[1, 0, 2]], COUNTS, "outputs must be different rows from 0 on, in lexicographic order"),
        ((0, 1), OUTPUTS[[0, 2, 1]], COUNTS, "outputs must be different rows from 0 on, in lexicographic order"),
        ((1, 0), OUTPUTS, COUNTS, "services must be increasing positions from 0 on, got (1, 0)"),
        ((0, 0), OUTPUTS, COUNTS, "services must be increasing positions from 0 on, got (0, 0)"),
        ((-1, 0), OUTPUTS, COUNTS, "services must be increasing positions from 0 on, got (-1, 0)"),
        ((), OUTPUTS, COUNTS, "services must be increasing positions from 0 on, got ()"),
    ],
)
def test_other_counts_are_refused_in_one_line(services, outputs, counts, says):
    """The line says what was got."""
    with pytest.raises(InputError) as caught:
        ReportGroup(services, outputs, counts)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("groups", "says"),
    [
        ([((0, 2), OUTPUTS)], "a group's services must be among 2, got (0, 2)"),
        ([((0, 1), OUTPUTS[:, ::-1][[2, 0, 1]])], "outputs of service 'two' must lie in 0..1, got 2"),
        ([((1,), np.array([[0], [2], [3]]))], "outputs of service 'three' must lie in 0..2, got 3"),
        ([((1,), np.array([[0], [1], [2]]))] * 2, "groups must be of different sets of services, in increasing order"),
        ([((1,), np.array([[0], [1], [2]])), ((0, 1), OUTPUTS)], "in increasing order, got [(1,), (0, 1)]"),
    ],
)
def test_counts_are_of_outputs_that_the_tables_have(groups, says):
    """Groups are checked against the services when they meet."""
    made = tuple(ReportGroup(services, outputs, COUNTS) for services, outputs in groups)
    with pytest.raises(InputError) as caught:
        ReportCounts(tuple(TABLES), made)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_from_outputs_makes_is_accepted():
    """Counting makes valid groups of every set of services."""
    outputs = np.random.default_rng(1).integers(-1, 2, (500, 2))
    counts = ReportCounts.from_outputs(TABLES, outputs)
    again = ReportCounts(counts.services, tuple(ReportGroup(g.services, g.outputs, g.counts) for g in counts.groups))
    assert again.n_users == counts.n_users == int((outputs >= 0).any(axis=1).sum())
