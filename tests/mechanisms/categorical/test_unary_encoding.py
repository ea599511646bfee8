"""Unary encodings: their law bit by bit, exact coins, and budgets that the next whole number would break."""

import sys
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.mechanisms import InputError, Provenance, TableError
from optldp.mechanisms.categorical import UnaryEncoding, basic_rappor, optimised_unary
from optldp.mechanisms.categorical.unary_encoding import bernoulli
from optldp.mechanisms.integers.exponential import exponential_below
from scipy import stats

from ..table.test_exact_sampling import Scripted

D = 2**53
MAKERS = [basic_rappor, optimised_unary]


class TestBernoulli:
    @pytest.mark.parametrize("numerator", [1, D // 2, D // 3, D - 1, 2**37 * 5, 2**37 * 5 + 1])
    def test_sixteen_bits_decide_and_forty_eight_settle_a_tie(self, numerator):
        """Draws around the leading bits; after a tie, followers around the rest."""
        leading, rest = divmod(numerator << 11, 2**48)
        drawn = [d for d in (0, leading - 1, leading, leading, leading, leading + 1, 2**16 - 1) if 0 <= d < 2**16]
        ties = sum(d == leading for d in drawn)
        followers = [max(rest - 1, 0), rest, 2**48 - 1, 0, 0][:ties]
        words = Scripted([*packed(drawn), *(f << 16 | 0xFFFF for f in followers)])
        settled = iter(followers)
        expected = [d < leading or (d == leading and next(settled) < rest) for d in drawn]
        assert bernoulli(numerator, len(drawn), words).tolist() == [int(one) for one in expected]
        assert words.used == -(-len(drawn) // 4) + ties

    @pytest.mark.slow
    @given(st.integers(1, D - 1))
    def test_the_chance_is_the_numerator_exactly(self, numerator):
        """leading / 2^16 + following / 2^64, which the tie branch adds up to: asked for by bisection."""
        leading = lowest(lambda d: not one(numerator, d, 2**48 - 1), 2**16)
        following = lowest(lambda f: not one(numerator, leading, f), 2**48)
        assert Fraction(leading, 2**16) + Fraction(following, 2**64) == Fraction(numerator, D)

    @pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 1001])
    def test_any_number_of_coins_comes(self, size):
        assert bernoulli(D // 3, size, np.random.default_rng(1).bit_generator.random_raw).shape == (size,)

    def test_ties_happen_and_do_not_bias(self):
        """Two million coins of 3/2^16 and a bit: about thirty ties each way; five standard errors."""
        rng = np.random.default_rng(2)
        numerator = D // 2**16 * 3 + D // 2**17
        ones = bernoulli(numerator, 2_000_000, lambda n: rng.integers(0, 2**64 - 1, n, np.uint64, endpoint=True))
        assert abs(int(ones.sum()) - 2_000_000 * numerator / D) < 5 * np.sqrt(2_000_000 * numerator / D)


def packed(drawn: list[int]) -> list[int]:
    """Sixteen-bit numbers in words, as memory has them."""
    padded = np.array(drawn + [0] * (-len(drawn) % 4), dtype=np.uint16)
    return padded.view(np.uint64).tolist()


def one(numerator: int, drawn: int, following: int) -> bool:
    """Whether a coin falls on one with these bits."""
    return bool(bernoulli(numerator, 1, Scripted([*packed([drawn]), following << 16]))[0])


def lowest(holds, end: int) -> int:
    """The least number below `end` from which on a rising condition holds, or `end`."""
    start = 0
    while start < end:
        middle = (start + end) // 2
        start, end = (start, middle) if holds(middle) else (middle + 1, end)
    return start


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("size", [2, 3, 8, 9])
class TestLaw:
    def test_it_is_the_product_over_the_bits(self, make, size):
        """One bit at a time, for every report and category; so it sums to one."""
        made = make(range(size), 1.2)
        p, q = made.own_one / D, made.other_one / D
        reports = made.all_reports()
        bits = made.bits(reports)
        assert {tuple(row) for row in bits.tolist()} == set(product((0, 1), repeat=size))
        law = made.pmf(reports)
        for category in range(size):
            chance = np.full(size, q)
            chance[category] = p
            np.testing.assert_allclose(
                law[:, category], np.prod(np.where(bits, chance, 1 - chance), axis=1), rtol=1e-12
            )
        np.testing.assert_allclose(law.sum(axis=0), 1.0, rtol=1e-12)

    def test_the_largest_ratio_and_the_supports_are_those_of_enumeration(self, make, size):
        made = make(range(size), 1.2)
        reports = made.all_reports()
        law, bits = made.pmf(reports), made.bits(reports)
        assert np.max(law.max(axis=1) / law.min(axis=1)) == pytest.approx(float(made.largest_ratio), rel=1e-12)
        assert made.support_ratio == pytest.approx(float(made.largest_ratio), rel=1e-15)
        chances = law.T @ bits
        own = np.eye(size, dtype=bool)
        np.testing.assert_allclose(chances[own], made.own_support, rtol=1e-12)
        np.testing.assert_allclose(chances[~own], made.other_support, rtol=1e-12)
        assert np.array_equal(made.support(reports), reports)

    @pytest.mark.parametrize("rng", [None, np.random.default_rng(3)], ids=["system", "simulated"])
    def test_reports_come_out_as_often_as_the_law_says(self, make, size, rng):
        """All bits together, a chi-square test at one in ten million; 2 and 9 categories end a byte early."""
        made = make(range(size), 1.2)
        reports = made.sample_codes(np.full(60_000, size - 1), rng)
        listed = {text: i for i, text in enumerate(made.to_text(made.all_reports()))}
        counts = np.bincount([listed[text] for text in made.to_text(reports)], minlength=2**size)
        expected = 60_000 * made.pmf(made.all_reports())[:, size - 1]
        assert stats.chisquare(counts, expected * counts.sum() / expected.sum()).pvalue > 1e-7

    def test_text_and_back(self, make, size):
        made = make(range(size), 1.2)
        reports = made.all_reports()
        texts = made.to_text(reports)
        assert set(map(len, texts)) == {2 * made.n_bytes}
        assert np.array_equal(made.from_text(texts), reports)


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.1, 1.0, 2.0, 8.0, 16.0])
def test_the_budget_is_used_up_exactly(epsilon):
    """The next numerator would break it, in either encoding."""
    limit = exponential_below(epsilon)
    for made, p, q in (
        (rappor := basic_rappor("ab", epsilon), rappor.own_one + 1, rappor.other_one - 1),
        (oue := optimised_unary("ab", epsilon), oue.own_one, oue.other_one - 1),
    ):
        assert made.failures() == ()
        assert made.largest_ratio <= limit
        assert Fraction(p * (D - q), q * (D - p)) > limit
        leaky = UnaryEncoding(made.categories, epsilon, Provenance(), p, q)
        assert leaky.failures() == (f"the log-ratio must be at most {epsilon:g}, got {leaky.max_log_ratio!r}",)
    assert rappor.own_one + rappor.other_one == D
    assert oue.own_one == D // 2


def test_blocks_of_users_change_nothing(monkeypatch):
    """Three users at a time, with coins that always fall on one: every bit up to the last category is set."""
    made, codes = optimised_unary(range(11), 1.0), np.arange(10)
    monkeypatch.setattr(sys.modules[UnaryEncoding.__module__], "BITS_AT_ONCE", 33)
    everything = made.draw(codes, lambda size: np.zeros(size, dtype=np.uint64))
    assert everything.tolist() == [[255, 0b11100000]] * 10
    nothing = made.draw(codes, lambda size: np.full(size, 2**64 - 1, dtype=np.uint64))
    assert (nothing == 0).all()


def test_the_own_bit_has_its_own_chance_in_every_block(monkeypatch):
    """Coins of 0.4 fall between q = 0.27 and p = 0.5: only the own category's bit is set."""
    made, codes = optimised_unary(range(11), 1.0), np.array([3, 10, 0, 7, 8])
    monkeypatch.setattr(sys.modules[UnaryEncoding.__module__], "BITS_AT_ONCE", 22)
    word = packed([int(0.4 * 2**16)] * 4)[0]
    bits = made.bits(made.draw(codes, lambda size: np.full(size, word, dtype=np.uint64)))
    assert np.array_equal(bits, np.eye(11)[codes])


@pytest.mark.parametrize(
    ("own", "other"),
    [(1, 1), (D // 4, D // 2), (D, 1), (D // 2, 0), (D // 2, -1), (D + 1, 5), (0.5, 0.25), (True, 0)],
)
def test_numerators_out_of_order_are_refused(own, other):
    with pytest.raises(TableError, match=r"whole numbers 0 < other_one < own_one < 2\^53"):
        UnaryEncoding("ab", 1.0, Provenance(), own, other)  # pyright: ignore[reportArgumentType] -- made by it


@pytest.mark.parametrize(
    ("reports", "message"),
    [
        (np.zeros((2, 1), np.uint8), r"must be \(N, 2\) bytes for 11 categories, got shape \(2, 1\) of uint8"),
        (np.zeros(2, np.uint8), r"got shape \(2,\)"),
        (np.zeros((2, 2), np.int64), "of int64"),
        (np.array([[0, 32], [0, 1]], np.uint8), "must have 11 bits, got a one beyond them in row 2"),
    ],
)
def test_reports_that_there_are_not_are_refused(reports, message):
    with pytest.raises(InputError, match=message):
        optimised_unary(range(11), 1.0).checked_reports(reports)


@pytest.mark.slow
def test_a_listing_of_more_than_a_million_reports_is_refused():
    assert len(basic_rappor(range(20), 1.0).all_reports()) == 2**20
    with pytest.raises(InputError, match="listed for at most 20 categories, got 21"):
        basic_rappor(range(21), 1.0).all_reports()
