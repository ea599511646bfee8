"""Counts of arrays keep the numbers of reports that are no points, so that a mean of them loses nothing."""

import numpy as np
import pytest
from optldp.estimators import count, estimate_mean, load_counts, plain_decoder, save_counts
from optldp.estimators.means.decoder import mean_decoder
from optldp.mechanisms import InputError, duchi, laplace, piecewise

KNOTS = np.linspace(-1.0, 1.0, 9)
RNG = np.random.default_rng(11)
POINTS, CELLS, TAILS = duchi(KNOTS, 1.0), piecewise(KNOTS, 1.0), laplace(KNOTS, 1.0)
MANY = piecewise(np.linspace(-1.0, 1.0, 33), 4.0)  # whose outputs' best values win less than a hundredth


def _reports(table, n=400):
    return table.sample(RNG.uniform(-1, 1, n), RNG)


def test_points_need_no_numbers_beside_their_outputs():
    reports = _reports(POINTS)
    counts = count(POINTS, reports)
    assert counts.numbers is None
    assert estimate_mean(counts).value == pytest.approx(reports.mean(), rel=1e-12)
    assert estimate_mean(counts).std_error == pytest.approx(reports.std(ddof=1) / 20, rel=1e-12)


@pytest.mark.parametrize("table", [CELLS, TAILS], ids=["cells", "tails"])
def test_a_mean_of_unbinned_reports_is_their_plain_average(table):
    """Of raw reports, to the last digits, with the standard error of these very numbers."""
    reports = _reports(table)
    found = estimate_mean(count(table, reports), raw=True)
    assert found.method == "average"
    assert found.value == pytest.approx(reports.mean(), rel=1e-12)
    assert found.std_error == pytest.approx(reports.std(ddof=1) / 20, rel=1e-12)


@pytest.mark.parametrize("table", [POINTS, CELLS, TAILS], ids=["points", "cells", "tails"])
def test_shards_add_up_to_what_counting_all_gives(table):
    reports = _reports(table)
    whole, sum_of = count(table, reports), count(table, reports[:150]) + count(table, reports[150:])
    assert estimate_mean(whole) == estimate_mean(sum_of)
    if whole.numbers is not None and sum_of.numbers is not None:
        np.testing.assert_array_equal(whole.numbers.values, sum_of.numbers.values)
        np.testing.assert_array_equal(whole.numbers.counts, sum_of.numbers.counts)


def test_repeated_reports_are_counted_and_their_order_is_gone():
    counts = count(CELLS, [0.5, -1.25, 0.5])
    assert counts.numbers is not None
    assert (counts.numbers.values.tolist(), counts.numbers.counts.tolist()) == ([-1.25, 0.5], [1, 2])


@pytest.mark.parametrize("table", [CELLS, TAILS, MANY], ids=["cells", "tails", "many"])
def test_without_numbers_a_mean_is_made_of_one_value_per_output(table, tmp_path):
    """Saved counts have outputs alone; so have those of another's, once they are added to some with numbers."""
    counts = count(table, _reports(table))
    save_counts(counts, tmp_path / "counts.npz")
    saved = load_counts(tmp_path / "counts.npz", [table])
    values = mean_decoder(table).values
    assert (values is None) == (table is MANY)
    expected = (plain_decoder(table) if values is None else values)[
        table.output_index(np.repeat(counts.numbers.values, counts.numbers.counts))
    ]
    for bare, copies in ((saved, 1), (saved + counts, 2)):
        found = estimate_mean(bare)
        assert bare.numbers is None
        assert found.method == "decoder"
        assert found.value == pytest.approx(expected.mean(), rel=1e-12)
        spread = np.tile(expected, copies).std(ddof=1) / np.sqrt(400 * copies)
        assert found.std_error == pytest.approx(spread, rel=1e-12)
    for share, what in ((None, "raw reports need"), (0.01, "winsorising needs")):
        with pytest.raises(InputError, match=f"{what} where in its interval a report lies.*: count an array"):
            estimate_mean(saved, winsorise=share, raw=True)
    if values is not None:
        assert estimate_mean(saved, winsorise=0.01) == estimate_mean(counts, winsorise=0.01)


def test_what_is_no_counts_of_one_table_is_refused_in_one_line():
    with pytest.raises(InputError, match=r"counts of one table's reports, count\(table, reports\), got Tabulated"):
        estimate_mean(CELLS)  # pyright: ignore[reportArgumentType] -- what is tested
    both = count([("a", CELLS, _reports(CELLS)), ("b", CELLS, _reports(CELLS))])
    with pytest.raises(InputError, match="got those of 2 services: several services have estimate_combined_mean"):
        estimate_mean(both)
