"""Drawing by whole numbers: every word decides as the format page says; reports are as frequent as they should be."""

import os
from fractions import Fraction
from itertools import accumulate
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.mechanisms import (
    FAMILIES,
    InputError,
    Sampler,
    TableError,
    TabulatedMechanism,
    laplace,
    make_exact,
    piecewise,
)
from optldp.mechanisms.sampling.geometric import digit_odds
from optldp.mechanisms.sampling.random_words import draw53, random_words
from optldp.mechanisms.table.exact_sampling import ExactLaw, ordered_bits
from scipy import stats

from ..exact_documents import lattice

D = 2**53
SIZE = 100_000

TABLES = {
    name: make_exact(family([-1.0, -0.5, 0.2, 1.0], 1.3)).mechanism
    for name, family in FAMILIES.items()
    if name not in ("laplace", "ptt2")
}
TABLES["laplace"] = make_exact(laplace([-1.0, -0.5, 0.2, 1.0], 1.3), spacing=0.4).mechanism
TABLES["lattice"] = make_exact(lattice()).mechanism


class Scripted:
    """A source of words that were written down beforehand, and a count of those asked for."""

    def __init__(self, words):
        self.words, self.used = list(words), 0

    def __call__(self, size):
        taken = self.words[self.used : self.used + size]
        self.used += size
        return np.array(taken, dtype=np.uint64)


def by_the_page(table, x, words):
    """One report as docs/exact-table-format.md has it, one number at a time."""
    words = iter(words)
    knots, n = table.knots.tolist(), table.knots.size
    k = min(max(i for i in range(n) if knots[i] <= x), n - 2)
    w = round((x - knots[k]) / (knots[k + 1] - knots[k]) * D)
    row = k + 1 if (next(words) >> 11) < w else k
    u = next(words) >> 11
    running = accumulate(table.numerators[row].tolist())
    j = next(j for j, total in enumerate(running) if u < total)
    low, high = float(table.low[j]), float(table.high[j])
    if low == high:
        return low
    if np.isinf(low) or np.isinf(high):
        q, steps, i = table.within.ratio, 0, 0
        while (odds := round(q / (1 + q) * D)) > 0:
            steps += 2**i * ((next(words) >> 11) < odds)
            q, i = q * q, i + 1
        return low + steps * table.within.step if np.isinf(high) else high - steps * table.within.step
    return min(low + (high - low) * ((2 * (next(words) >> 12) + 1) / D), high)


@pytest.mark.parametrize("name", sorted(TABLES))
def test_every_word_decides_as_the_format_page_says(name):
    """Word for word, against a plain reading of the page with Python's integers."""
    table, rng = TABLES[name], np.random.default_rng(5)
    law = ExactLaw.of(table.knots, table.low, table.high, table.numerators, table.within)
    low, high = table.domain
    values = [low, high, *table.knots.tolist(), *rng.uniform(low, high, 300).tolist()]
    for x in values:
        words = rng.integers(0, 2**64 - 1, 80, dtype=np.uint64, endpoint=True).tolist()
        assert law.draw(np.array([x]), Scripted(words))[0] == by_the_page(table, x, words)


@pytest.mark.parametrize("word", [0, 2**64 - 1])
@pytest.mark.parametrize("name", sorted(TABLES))
def test_the_extreme_words_draw_outputs_that_are_possible(name, word):
    """All bits zero, all bits one."""
    table = TABLES[name]
    law = ExactLaw.of(table.knots, table.low, table.high, table.numerators, table.within)
    reports = law.draw(table.knots, Scripted([word] * 1000))
    outputs = table.output_index(reports)
    assert (table.numerators[:, outputs].max(axis=0) > 0).all()


@pytest.mark.parametrize("name", sorted(TABLES))
@pytest.mark.parametrize("rng", [None, np.random.default_rng(11)], ids=["system", "simulated"])
def test_outputs_come_out_as_often_as_the_table_says(name, rng):
    """A chi-square test between knots at one in ten million, of the real generator and of a simulation."""
    table = TABLES[name]
    low, high = table.domain
    x = low + 0.37 * (high - low)
    reports = table.sample(np.full(SIZE, x), rng)
    counts = np.bincount(table.output_index(reports), minlength=table.low.size)
    expected = SIZE * table.pmf(x)[0]
    assert stats.chisquare(counts, expected * counts.sum() / expected.sum()).pvalue > 1e-7
    deviation = reports - table.mean(x)
    assert abs(deviation.mean()) < 6 * np.sqrt(table.var(x)[0] / SIZE)


@given(st.floats(2.0**-60, 1 - 2.0**-20))
def test_the_digits_of_a_geometric_number_have_its_mean(ratio):
    """Sum of 2^i B_i / 2^53 against r / (1 - r), as fractions."""
    mean = Fraction(sum(odds << i for i, odds in enumerate(digit_odds(ratio))), D)
    exact = Fraction(ratio) / (1 - Fraction(ratio))
    assert abs(mean - exact) <= Fraction(64, D) / (1 - Fraction(ratio)) ** 2


def test_a_geometric_tail_has_the_law_of_its_ratio():
    """Against scipy's geometric distribution, by a chi-square test."""
    table = TABLES["lattice"]
    reports = table.sample(np.full(SIZE, 1.0), np.random.default_rng(2))
    steps = np.round((reports[reports >= 5.0] - 5.0) / 1.0).astype(int)
    counts = np.bincount(np.minimum(steps, 8), minlength=9)
    missed = 1 - table.within.parameters()["ratio"]
    expected = steps.size * np.r_[stats.geom.pmf(np.arange(8), missed, loc=-1), stats.geom.sf(7, missed, loc=-1)]
    assert stats.chisquare(counts, expected).pvalue > 1e-6


@pytest.mark.slow
@given(st.lists(st.floats(allow_nan=False), min_size=2, max_size=20))
def test_bits_compare_as_their_doubles_do(values):
    """Infinities, subnormal numbers and both zeros included."""
    array = np.array(values)
    bits = ordered_bits(array)
    np.testing.assert_array_equal(bits[:, None] < bits, array[:, None] < array)
    np.testing.assert_array_equal(bits[:, None] == bits, array[:, None] == array)


@pytest.mark.parametrize("value", [-1e300, -2.0, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, 3.0])
def test_bits_of_neighbouring_doubles_rise(value):
    """The last bit tells them apart, below zero too; both zeros are one number."""
    neighbours = np.array([np.nextafter(value, -np.inf), value, np.nextafter(value, np.inf)])
    assert (np.diff(ordered_bits(neighbours)) > 0).all()
    assert ordered_bits(np.array([-0.0, 0.0])).tolist() == [0, 0]


def test_numbers_of_53_bits_are_the_upper_bits_of_words_as_whole_numbers():
    """All of them, from zero to 2^53 - 1."""
    drawn = draw53(Scripted([0, 2**11 - 1, 2**11, 2**63, 2**64 - 1]), 5)
    assert drawn.dtype == np.int64
    assert drawn.tolist() == [0, 0, 1, 2**52, D - 1]


def test_a_value_on_a_knot_keeps_it_whatever_the_word():
    """The smallest word and the largest; a quarter of the way to the next knot a quarter of the words go there."""
    knots = np.array([-1.0, -0.0, 2.0])
    law = ExactLaw.of(knots, np.zeros(1), np.zeros(1), np.full((3, 1), D), TABLES["duchi"].within)
    for word in (0, 2**64 - 1):
        assert law.rows(np.array([-1.0, 0.0, 2.0]), Scripted([word] * 3)).tolist() == [0, 1, 2]
    words = Scripted([2**62 - 1, 2**62, 2**63])
    assert law.rows(np.array([0.5, 0.5, 0.5]), words).tolist() == [2, 1, 1]


def test_a_law_that_differs_between_rows_is_no_exact_law():
    """Refused by its name."""
    table = laplace([0.0, 1.0], 1.0)
    with pytest.raises(TableError, match="must be the same for all rows, got exponential"):
        ExactLaw.of(table.knots, table.low, table.high, np.full((2, table.low.size), 1), table.within)


def test_the_number_of_words_does_not_depend_on_the_values():
    """Two words for a point, three where a table has cells, whatever is reported on; no rejection."""
    rng = np.random.default_rng(3)
    for name, each in (("duchi", 2), ("grr", 2), ("piecewise", 3), ("hybrid", 3)):
        table = TABLES[name]
        law = ExactLaw.of(table.knots, table.low, table.high, table.numerators, table.within)
        for x in (-1.0, -0.9, 0.2, 1.0):
            words = Scripted(rng.integers(0, 2**64 - 1, 1000, dtype=np.uint64, endpoint=True).tolist())
            law.draw(np.full(100, x), words)
            assert words.used == 100 * each


def test_the_generator_of_the_operating_system_is_asked_once_for_every_word(monkeypatch):
    """Eight bytes a word, and no other source: with its bytes at zero every report is the first possible one."""
    asked = []

    def zeros(count):
        asked.append(count)
        return bytes(count)

    monkeypatch.setattr(os, "urandom", zeros)
    table = TABLES["duchi"]
    assert set(table.sample(np.full(50, 0.2))) == {table.low[0]}
    assert asked == [400, 400]


def test_a_simulation_draws_all_64_bits_of_its_generator():
    """No word is left out, not even the first or the last: those of PCG64 come as they are, and zero may be one."""
    words = random_words(np.random.default_rng(6))(1000)
    np.testing.assert_array_equal(words, np.random.default_rng(6).bit_generator.random_raw(1000))
    rng = Mock(spec=np.random.Generator)
    random_words(rng)(7)
    rng.integers.assert_called_once_with(0, 2**64 - 1, 7, dtype=np.uint64, endpoint=True)


def test_a_table_in_doubles_can_only_be_simulated():
    """Whatever its law within outputs; the message names the way out."""
    for table in (piecewise([0.0, 0.4, 1.0], 1.0), laplace([0.0, 1.0], 1.0)):
        with pytest.raises(TableError, match=r"must be exact, got .* in doubles: make it exact with make_exact"):
            table.sample([0.5])
        assert table.sample([0.5], np.random.default_rng(1)).size == 1


def test_only_the_right_knots_chance_is_rounded_and_by_less_than_one_in_2_to_51():
    """Against exact fractions, over many magnitudes."""
    rng = np.random.default_rng(4)
    knots = np.sort(rng.normal(size=30) * 10.0 ** rng.integers(-8, 8, 30))
    numerators = np.full((30, 1), D)
    law = ExactLaw.of(knots, np.zeros(1), np.zeros(1), numerators, TABLES["duchi"].within)
    for x in rng.uniform(knots[0], knots[-1], 300):
        k = int(np.searchsorted(knots, x, side="right") - 1)
        exact = (Fraction(x) - Fraction(knots[k])) / (Fraction(knots[k + 1]) - Fraction(knots[k]))
        for error in (-4, 4):
            u = int(exact * D) + error
            if 0 <= u < D:
                assert law.rows(np.array([x]), Scripted([u << 11]))[0] == k + (error < 0)


class TestSampler:
    def test_it_says_whether_it_simulates(self):
        """The operating system's generator unless a numpy Generator is handed in."""
        table = TABLES["piecewise"]
        assert not Sampler(table).simulated
        simulation = Sampler(table, np.random.default_rng(1))
        assert simulation.simulated
        expected = table.sample([0.0, 0.3], np.random.default_rng(1))
        np.testing.assert_array_equal(simulation.sample([0.0, 0.3]), expected)

    def test_it_refuses_what_it_could_not_draw_from(self):
        """At once, not at the first report."""
        leaky = TabulatedMechanism.from_points([0, 1], [0, 1], [[0.9, 0.1], [0.1, 0.9]], 1.0)
        with pytest.raises(TableError, match="log-ratio must be at most 1"):
            Sampler(leaky, np.random.default_rng(1))
        with pytest.raises(TableError, match="make it exact with make_exact"):
            Sampler(piecewise([0.0, 1.0], 1.0))
        with pytest.raises(InputError, match="rng must be a numpy"):
            Sampler(TABLES["duchi"], 7)  # pyright: ignore[reportArgumentType] -- the fault
        with pytest.raises(InputError, match="must be a TabulatedMechanism"):
            Sampler("mech.json")  # pyright: ignore[reportArgumentType] -- the fault

    def test_words_of_the_system_are_words(self):
        """All 64 bits are used: each is one in about half of many words."""
        words = random_words(None)(20_000)
        shares = [np.mean((words >> np.uint64(bit)) & np.uint64(1)) for bit in range(64)]
        assert np.abs(np.array(shares) - 0.5).max() < 6 * 0.5 / np.sqrt(20_000)
