"""Reports that are drawn, against the probabilities and moments that the table states."""

from unittest.mock import Mock

import numpy as np
import pytest
from optldp.mechanisms import FAMILIES, InputError, TabulatedMechanism, piecewise
from optldp.mechanisms.sampling import drawing as sampling
from optldp.mechanisms.sampling.domain import ClippingWarning
from optldp.mechanisms.sampling.drawing import (
    BLOCK,
    FINE_BELOW,
    draw_outputs,
    fine_uniform,
    in_blocks,
    invert_rows,
    rising_distribution,
    round_to_knots,
)
from optldp.mechanisms.sampling.within_cell import GeometricTails
from scipy import stats

SIZE = 100_000


def lattice_table():
    """Points with geometric tails."""
    return TabulatedMechanism(
        knots=np.array([0.0, 1.0]),
        low=np.array([-np.inf, 0.0, 1.0, 2.0]),
        high=np.array([-1.0, 0.0, 1.0, np.inf]),
        probabilities=np.array([[0.3, 0.4, 0.1, 0.2], [0.2, 0.1, 0.4, 0.3]]),
        epsilon=1.5,
        within=GeometricTails(1.0, 0.4),
    )


TABLES = {name: family([-1.0, -0.5, 0.2, 1.0], 1.3) for name, family in FAMILIES.items()}
TABLES["lattice"] = lattice_table()


@pytest.mark.parametrize("name", sorted(TABLES))
@pytest.mark.parametrize("place", [0.0, 0.37, 1.0])
def test_outputs_come_out_as_often_as_the_table_says(name, place):
    """A chi-square test at one in a million, at knots and between them."""
    table = TABLES[name]
    low, high = table.domain
    x = low + place * (high - low)
    reports = table.sample(np.full(SIZE, x), np.random.default_rng(11))
    counts = np.bincount(table.output_index(reports), minlength=table.low.size)
    expected = SIZE * table.pmf(x)[0]
    assert stats.chisquare(counts, expected * counts.sum() / expected.sum()).pvalue > 1e-6


@pytest.mark.parametrize("name", sorted(TABLES))
@pytest.mark.parametrize("place", [0.0, 0.37, 0.8])
def test_reports_have_the_mean_and_variance_that_the_table_says(name, place):
    """Within five standard errors: the law within cells is sampled, not its midpoint."""
    table = TABLES[name]
    low, high = table.domain
    x = low + place * (high - low)
    reports = table.sample(np.full(SIZE, x), np.random.default_rng(23))
    deviation = reports - table.mean(x)
    assert abs(deviation.mean()) < 5 * np.sqrt(table.var(x)[0] / SIZE)
    assert abs(np.mean(deviation**2) - table.var(x)[0]) < 5 * np.std(deviation**2) / np.sqrt(SIZE)


def test_every_user_gets_the_law_of_their_own_value():
    """Grouping by knot hands the outputs back to the right users."""
    knots = np.arange(5.0)
    table = TabulatedMechanism.from_points(knots, 10 * knots, np.eye(5), 1.0)
    x = np.random.default_rng(3).integers(0, 5, 10_000).astype(float)
    np.testing.assert_array_equal(table.sample(x, np.random.default_rng(4)), 10 * x)


def test_rounding_between_knots_follows_the_distance():
    """A value at 30% of its interval is rounded up in 30% of the cases."""
    table = TabulatedMechanism.from_points([0, 10], [0, 1], np.eye(2), 1.0)
    share = table.sample(np.full(SIZE, 3.0), np.random.default_rng(5)).mean()
    assert abs(share - 0.3) < 5 * np.sqrt(0.21 / SIZE)


def test_an_output_of_probability_zero_never_comes_out():
    """Also at the very ends of the cumulative sums, where rounding would hit."""
    matrix = np.tile([0.0, 0.1, 0.2, 0.0, 0.7, 0.0], (2, 1))
    order, cumulative = rising_distribution(matrix)
    outputs = draw_outputs(order, cumulative, np.zeros(SIZE, dtype=int), np.random.default_rng(6))
    assert set(np.unique(outputs)) == {1, 2, 4}
    for uniform in (0.0, np.nextafter(1.0, 0.0)):
        rng = Mock(random=lambda size, value=uniform: np.full(size, value))
        drawn = draw_outputs(order, cumulative, np.zeros(1, dtype=int), rng)
        assert matrix[0, drawn] > 0


def test_tiny_probabilities_keep_their_digits():
    """Sorted by size, an output of 1e-13 occupies 1e-13 of the uniforms' range to nine digits, not to three."""
    order, cumulative = rising_distribution(np.array([[0.4, 3e-13, 0.6 - 3e-13]]))
    assert order[0].tolist() == [1, 0, 2]
    assert cumulative[0, 0] == 3e-13
    uniform = fine_uniform(2**22, np.random.default_rng(7))
    small = uniform[uniform < FINE_BELOW]
    assert small.size > 0
    assert np.any(small * 2.0**53 != np.round(small * 2.0**53))
    assert stats.kstest(uniform[: 10**5], "uniform").pvalue > 1e-6


@pytest.mark.parametrize(
    ("first", "drawn"),
    [(2.0**-20, 2.0**-20), (2.0**-20 - 2.0**-53, 2.0**-73), (0.0, 2.0**-73), (1 - 2.0**-53, 1 - 2.0**-53)],
)
def test_below_2_to_minus_20_the_grid_is_2_to_minus_73(first, drawn):
    """What lies below is drawn again, from the edge on nothing is; the second number is the smallest but zero."""
    draws = iter([np.array([0.5, first]), np.array([2.0**-53])])
    assert fine_uniform(2, Mock(random=lambda size: next(draws)[:size])).tolist() == [0.5, drawn]


def test_a_value_on_a_knot_stays_on_it_whatever_is_drawn():
    """Also where the random number is zero, or as near to one as it can be."""
    knots = np.array([0.0, 1.0, 3.0])
    for uniform in (0.0, np.nextafter(1.0, 0.0)):
        rng = Mock(random=lambda size, value=uniform: np.full(size, value))
        assert round_to_knots(knots, knots, rng).tolist() == [0, 1, 2]


def test_a_block_is_never_larger_than_its_limit(monkeypatch):
    """Four at a time, and what is left."""
    monkeypatch.setattr(sampling, "BLOCK", 4)
    sizes = []

    def draw(block):
        sizes.append(block.size)
        return block

    assert in_blocks(np.arange(10.0), draw).tolist() == list(range(10))
    assert sizes == [4, 4, 2]


def test_outputs_of_equal_probability_keep_their_order():
    """So that a seed gives the same reports wherever it is used."""
    weights = np.random.default_rng(1).integers(1, 4, 1000)
    order, _ = rising_distribution(np.array([weights, weights[::-1]]) / weights.sum())
    for row, found in zip((weights, weights[::-1]), order.tolist(), strict=True):
        assert found == sorted(range(1000), key=lambda j: (row[j], j))


def test_random_numbers_are_dealt_to_users_of_a_row_in_their_order():
    """Two rows of a hundred outputs; the first users of a row get its first numbers."""
    cumulative = np.arange(1, 101) + np.zeros((2, 1), dtype=int)
    rows = np.tile([1, 0], 50)
    places = invert_rows(cumulative, rows, np.arange(100))
    assert places.tolist() == [50 + i // 2 if i % 2 == 0 else i // 2 for i in range(100)]


def test_rows_beyond_16_bits_are_not_taken_for_others():
    """65,538 rows, of which the first two and the last two have each an output of their own."""
    n = 2**16 + 2
    cumulative = np.ones((n, 4), dtype=np.int64)
    rows = np.array([n - 1, 0, n - 2, 1])
    for place, row in enumerate(rows):
        cumulative[row, :place] = 0
    assert invert_rows(cumulative, rows, np.zeros(4, dtype=np.int64)).tolist() == [0, 1, 2, 3]


def test_a_seed_decides_every_report():
    """The generator is the only source of randomness."""
    table, x = TABLES["hybrid"], np.linspace(-1, 1, 1000)
    first, second = (table.sample(x, np.random.default_rng(8)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert np.any(first != table.sample(x, np.random.default_rng(9)))


def test_blocks_are_drawn_independently_and_in_order():
    """More values than a block holds: reports stay with their values and do not repeat."""
    table = piecewise([0.0, 1.0], 12.0)
    x = np.r_[np.zeros(BLOCK), np.ones(100)]
    reports = table.sample(x, np.random.default_rng(10))
    assert reports.size == x.size
    assert np.median(reports[:BLOCK]) < 0.01
    assert np.median(reports[BLOCK:]) > 0.99
    assert not np.isin(reports[BLOCK:], reports[:BLOCK]).any()


def test_clipping_is_reported_with_a_count():
    """Only on request, and never silently."""
    table, rng = piecewise([0.0, 0.5, 1.0], 12.0), np.random.default_rng(0)
    with pytest.warns(ClippingWarning, match="2 of 3 values"):
        reports = table.sample([-5.0, 0.5, 7.0], rng, clip=True)
    np.testing.assert_allclose(reports, [0, 0.5, 1], atol=0.1)
    values, count = table.clip_to_domain([-5.0, 0.5, np.inf])
    assert (values.tolist(), count) == ([0.0, 0.5, 1.0], 2)
    table.sample([0.5], rng, clip=True)  # nothing to report


def test_values_outside_are_refused_unless_clipped():
    """With their count and extremes; NaN cannot be clipped either."""
    table, rng = piecewise([0.0, 1.0], 1.0), np.random.default_rng(0)
    with pytest.raises(InputError, match=r"2 of 3 outside, from -5\.0 to 7\.0"):
        table.sample([-5.0, 0.5, 7.0], rng)
    with pytest.raises(InputError, match="1 NaN"):
        table.sample([np.nan], rng, clip=True)


@pytest.mark.parametrize("rng", [7, "os", np.random.RandomState(0)])
def test_only_a_generator_is_a_source_of_randomness(rng):
    """No global seed, no legacy state."""
    with pytest.raises(InputError, match=r"numpy\.random\.Generator"):
        piecewise([0, 1], 1.0).sample([0.5], rng)
