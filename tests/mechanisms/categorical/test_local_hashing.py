"""Local hashing: an exactly uniform family, by enumeration; its law, budget and draws."""

import math
import sys
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from optldp.mechanisms import Categories, InputError, Provenance, TableError
from optldp.mechanisms.categorical import LocalHashing
from optldp.mechanisms.categorical.local_hashing import hashing_of_levels, local_hashing
from optldp.mechanisms.integers.exponential import exponential_below
from optldp.mechanisms.integers.finite_field import finite_field, prime_power
from scipy import stats

from ..table.test_exact_sampling import Scripted

D = 2**53

FAMILIES = [(2, 1), (2, 2), (2, 5), (2, 7), (3, 2), (3, 4), (4, 2), (4, 3), (5, 3), (7, 2), (8, 2), (9, 2), (16, 2)]

SMALL = [(2, 2), (2, 3), (3, 7), (4, 4), (4, 11), (5, 3), (5, 26), (8, 20), (9, 81)]
"""Numbers of values and of categories, powers and none."""


MANY = Categories(range(20_000))


def hashing(g: int, size: int, epsilon: float = 1.0) -> LocalHashing:
    return local_hashing(range(size), epsilon, n_values=g)


def digits(number: int, g: int, d: int) -> list[int]:
    return [number // g**i % g for i in range(d)]


class TestFamily:
    @pytest.mark.parametrize(("g", "d"), FAMILIES)
    def test_seeds_are_the_lines_through_the_origin(self, g, d):
        """The multiples of their coefficients are all vectors but zero, each once."""
        made = hashing(g, g**d)
        coefficients = made.coefficients(np.arange(made.n_hashes))
        assert coefficients.shape == ((g**d - 1) // (g - 1), d)
        multiples = finite_field(g).products[1:, coefficients].reshape(-1, d)
        assert {tuple(v) for v in multiples.tolist()} == set(product(range(g), repeat=d)) - {(0,) * d}
        assert len(multiples) == g**d - 1

    @pytest.mark.parametrize(("g", "d"), FAMILIES)
    def test_any_two_categories_share_their_hash_under_equally_many_seeds(self, g, d):
        """(g^(d-1) - 1) / (g - 1) of them, for every pair; so less than one in g."""
        made = hashing(g, g**d)
        seeds, codes = np.arange(made.n_hashes), np.arange(g**d)
        table = made.hashes(np.tile(codes, seeds.size), np.repeat(seeds, codes.size)).reshape(seeds.size, -1)
        assert table.min() >= 0
        assert table.max() < g
        same = np.sum([(table == value).T.astype(int) @ (table == value) for value in range(g)], axis=0)
        off_diagonal = same[~np.eye(g**d, dtype=bool)]
        assert (off_diagonal == (g ** (d - 1) - 1) // (g - 1)).all()
        assert (np.diag(same) == made.n_hashes).all()

    @pytest.mark.slow
    def test_hashes_are_inner_products_of_digits(self):
        """Against sums of products one at a time, for a million categories."""
        made = hashing(4, 2**20)
        field, rng = finite_field(4), np.random.default_rng(1)
        codes, seeds = rng.integers(0, 2**20, 50), rng.integers(0, made.n_hashes, 50)
        expected = []
        for code, factors in zip(codes.tolist(), made.coefficients(seeds).tolist(), strict=True):
            value = 0
            for left, right in zip(factors, digits(code, 4, 10), strict=True):
                value = int(field.sums[value, field.products[left, right]])
            expected.append(value)
        assert made.hashes(codes, seeds).tolist() == expected


@pytest.mark.parametrize(("g", "size"), SMALL)
class TestLaw:
    def test_probabilities_sum_to_one_and_keep_the_budget(self, g, size):
        """Over all seeds and values, for every category; the largest ratio is the one that it says."""
        made = hashing(g, size, 1.3)
        law = made.pmf(made.all_reports())
        assert law.shape == (made.n_hashes * g, size)
        np.testing.assert_allclose(law.sum(axis=0), 1.0, rtol=1e-12)
        assert np.max(law.max(axis=1) / law.min(axis=1)) == pytest.approx(float(made.largest_ratio), rel=1e-12)
        assert made.failures() == ()
        assert float(made.largest_ratio) <= math.exp(1.3)

    def test_own_and_other_support_are_those_of_enumeration(self, g, size):
        """p* and q* over all reports; every pair of categories alike."""
        made = hashing(g, size)
        reports = made.all_reports()
        chances = made.pmf(reports).T @ made.supported(reports)
        own = np.eye(size, dtype=bool)
        np.testing.assert_allclose(chances[own], made.own_support, rtol=1e-12)
        np.testing.assert_allclose(chances[~own], made.other_support, rtol=1e-12)
        assert made.support_ratio == pytest.approx(float(made.largest_ratio), rel=1e-15)

    def test_support_is_the_same_in_bits(self, g, size):
        made = hashing(g, size)
        reports = made.all_reports()
        bits = np.unpackbits(made.support(reports), axis=1, count=size)
        assert np.array_equal(bits.astype(bool), made.supported(reports))

    @pytest.mark.parametrize("rng", [None, np.random.default_rng(3)], ids=["system", "simulated"])
    def test_reports_come_out_as_often_as_the_law_says(self, g, size, rng):
        """Seeds and values together, a chi-square test at one in ten million."""
        made = hashing(g, size)
        reports = made.sample_codes(np.full(60_000, size - 1), rng)
        expected = 60_000 * made.pmf(made.all_reports())[:, size - 1]
        counts = np.bincount(reports, minlength=expected.size)
        assert stats.chisquare(counts, expected * counts.sum() / expected.sum()).pvalue > 1e-7


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 16.0])
@pytest.mark.parametrize("g", [2, 3, 16, 256])
def test_the_budget_is_used_up_exactly(epsilon, g):
    """The next whole shares would break it."""
    made = hashing(g, 1000, epsilon)
    limit, other = exponential_below(epsilon), (D - made.own_value) // (g - 1)
    assert made.largest_ratio == Fraction(made.own_value, other) <= limit
    assert Fraction(made.own_value + g - 1, other - 1) > limit
    assert epsilon * (1 - 1e-5) < made.max_log_ratio <= epsilon


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 5.5])
def test_the_number_of_values_is_the_best_there_is(epsilon):
    """Of all fields, by the variance of a rare category; within 3% of that of e^epsilon + 1 values."""
    made, e = local_hashing(MANY, epsilon), math.exp(epsilon)
    variances = {}
    for g in (g for g in range(2, 257) if prime_power(g)):
        d = next(d for d in range(1, 64) if g**d >= len(MANY))
        p, same = e / (e + g - 1), (g ** (d - 1) - 1) / (g**d - 1)
        q = same * p + (1 - same) / (e + g - 1)
        variances[g] = q * (1 - q) / (p - q) ** 2
    assert made.n_values == min(variances, key=lambda g: variances[g])
    assert float(made.frequency_variance(0.0)) == pytest.approx(variances[made.n_values], rel=1e-9)
    ideal = 4 * math.exp(epsilon) / (math.exp(epsilon) - 1) ** 2
    assert float(made.frequency_variance(0.0)) < 1.03 * ideal


def test_words_decide_as_they_should():
    """A seed is a word modulo S; below own_value the hash itself, then each other value a share."""
    made = hashing(4, 10, 1.0)
    own, other = made.own_value, (D - made.own_value) // 3
    uniform = [0, own - 1, own, own + other - 1, own + other, own + 2 * other, D - 1]
    seeds = [0, 4, 5, 9, 2**64 - 1, 3, 1]
    codes = np.array([0, 1, 2, 3, 9, 9, 7])
    reports = made.draw(codes, Scripted(seeds + [u << 11 for u in uniform]))
    assert (reports // 4).tolist() == [s % made.n_hashes for s in seeds]
    steps = (reports % 4 - made.hashes(codes, reports // 4)) % 4
    assert steps.tolist() == [0, 0, 1, 1, 2, 3, 3]


def test_blocks_of_users_and_of_seeds_change_nothing(monkeypatch):
    """Seven at a time, with words that never leave the hash itself."""
    made, codes = hashing(3, 25), np.arange(25)
    reports = made.all_reports()
    whole = made.supported(reports)
    monkeypatch.setattr(sys.modules[LocalHashing.__module__], "HASHED_AT_ONCE", 7)  # the package has such a function
    assert np.array_equal(made.supported(reports), whole)
    rng = np.random.default_rng(4)
    drawn = made.draw(codes, lambda size: rng.integers(0, 2**11, size, dtype=np.uint64))
    assert np.array_equal(drawn % 3, made.hashes(codes, drawn // 3))
    assert len(set((drawn // 3).tolist())) > 5


@pytest.mark.nightly
def test_a_million_categories_are_no_trouble():
    """Reports, their text and their support."""
    made = local_hashing(range(2**20), 2.0)
    codes = np.array([0, 1, 2**20 - 1])
    reports = made.sample_codes(codes, np.random.default_rng(5))
    assert np.array_equal(made.from_text(made.to_text(reports)), reports)
    supported = made.supported(reports)
    assert supported.shape == (3, 2**20)
    share = supported.mean(axis=1)
    np.testing.assert_allclose(share, 1 / made.n_values, rtol=1e-3)
    with pytest.raises(InputError, match="at most 1048576 reports can be listed"):
        made.all_reports()


def test_frequencies_are_unbiased_with_the_variance_that_it_says():
    """200 samples of 3000 users of three categories, within five standard errors."""
    made = local_hashing(list("abcdefgh"), 1.0)
    codes = np.repeat([0, 0, 0, 1, 1, 7], 500)
    counts = np.zeros((200, 8))
    rng = np.random.default_rng(6)
    for row in counts:
        row += made.supported(made.sample_codes(codes, rng)).sum(axis=0)
    frequency = (counts / codes.size - made.other_support) / (made.own_support - made.other_support)
    truth = np.array([3, 2, 0, 0, 0, 0, 0, 1]) / 6
    sd = np.sqrt(np.asarray(made.frequency_variance(truth)) / codes.size)
    assert (np.abs(frequency.mean(axis=0) - truth) < 5 * sd / math.sqrt(200)).all()
    np.testing.assert_allclose(frequency.std(axis=0), sd, rtol=0.25)


@pytest.mark.parametrize("g", [0, 1, 6, 257])
def test_numbers_of_values_that_make_no_field_are_refused(g):
    with pytest.raises(InputError, match=f"prime power of elements, at most 256, got {g}"):
        hashing(g, 10)


@pytest.mark.parametrize("own", [D, D // 4, D // 2, 0, -1, 2, float(D // 2 + 1), D + 3])
def test_shares_that_are_not_equal_or_not_smaller_are_refused(own):
    """Over four values: the rest must be divisible by three, and each third less than the own share."""
    with pytest.raises(TableError, match="leaves 3 smaller equal shares"):
        LocalHashing(("a", "b"), 1.0, Provenance("olh"), 4, own)  # pyright: ignore[reportArgumentType] -- made by it


def test_a_share_beyond_the_budget_fails():
    """The largest allowed one and the next."""
    good = hashing(4, 5, 1.0)
    leaky = LocalHashing(good.categories, 1.0, Provenance("olh"), 4, good.own_value + 3)
    assert leaky.failures() == (f"the log-ratio must be at most 1, got {leaky.max_log_ratio!r}",)
    with pytest.raises(TableError, match="log-ratio must be at most 1"):
        leaky.require_private()


@pytest.mark.parametrize("reports", [[-1], [20], [0.5], [[1]], ["1"], [True]])
def test_reports_that_there_are_not_are_refused(reports):
    """Five seeds of four values make twenty."""
    made = hashing(4, 10)
    assert made.n_hashes * 4 == 20
    with pytest.raises(InputError, match="reports must"):
        made.checked_reports(reports)
    with pytest.raises(InputError, match=r"reports must lie in 0..19, got 20 in row 2"):
        made.from_text(["19", "20"])


@pytest.mark.parametrize("epsilons", [[0.5], [0.5, 1.0, 2.0], [1.0, 4.0]])
def test_levels_share_the_number_of_values_that_tells_most(epsilons):
    """Against every other, one over the variances summed up; no less than 0.9 of what numbers of their own tell."""
    made = hashing_of_levels(range(41), epsilons)
    assert [level.epsilon for level in made] == epsilons

    def told(levels: Sequence[LocalHashing]) -> float:
        return sum(1 / float(level.frequency_variance(0.0)) for level in levels)

    fields = [g for g in range(2, 257) if prime_power(g)]
    assert told(made) == max(told([local_hashing(range(41), e, n_values=g) for e in epsilons]) for g in fields)
    assert told(made) > 0.9 * told([local_hashing(range(41), e) for e in epsilons])
    assert len({level.n_hashes * level.n_values for level in made}) == 1
