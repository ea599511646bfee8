"""Subset selection against all subsets written out, in whole numbers, and against the paper's formulas."""

import math
import sys
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from optldp.mechanisms import InputError, Provenance, TableError
from optldp.mechanisms.categorical import SubsetSelection
from optldp.mechanisms.categorical.oracle_choice import oracle_error
from optldp.mechanisms.categorical.subset_selection import subset_selection, subsets_of_levels
from optldp.mechanisms.integers.exponential import exponential_below
from scipy import stats

D = 2**53


def sets(made: SubsetSelection) -> list[frozenset[int]]:
    """Every set of so many categories."""
    return [frozenset(chosen) for chosen in combinations(range(len(made.categories)), made.n_chosen)]


def law(made: SubsetSelection, code: int) -> dict[frozenset[int], Fraction]:
    """By the definition: the own one in the set or not, then one of all sets of the others, each as likely."""
    own, every = Fraction(made.own_chosen, D), sets(made)
    held = [one for one in every if code in one]
    return {one: own / len(held) if code in one else (1 - own) / (len(every) - len(held)) for one in every}


CASES = [(2, 1), (3, 1), (5, 2), (6, 4), (8, 3), (9, 2)]


@pytest.mark.parametrize(("size", "chosen"), CASES)
class TestLaw:
    def test_everything_said_of_it_is_that_of_all_sets(self, size, chosen):
        """Probabilities, the largest ratio, and how often one and two categories are supported: exact fractions."""
        made = subset_selection(range(size), 1.2, n_chosen=chosen)
        laws = [law(made, code) for code in range(size)]
        assert all(sum(one.values()) == 1 for one in laws)
        ratios = [max(one[z] for one in laws) / min(one[z] for one in laws) for z in sets(made)]
        assert max(ratios) == made.largest_ratio == min(ratios)
        mine = laws[0]
        assert made.own_support == float(sum(share for z, share in mine.items() if 0 in z))
        assert made.other_support == float(sum(share for z, share in mine.items() if 1 in z))
        own, two = made.both_supported
        assert own == float(sum(share for z, share in mine.items() if {0, 1} <= z))
        assert two == float(sum(share for z, share in mine.items() if {1, 2} <= z)) or size == 2
        elsewhere = [float(share) for z, share in mine.items() if 0 not in z]
        assert math.exp(made.log_elsewhere(made.all_reports())[0]) == pytest.approx(elsewhere[0], rel=1e-13)
        reports = made.all_reports()
        assert [frozenset(np.flatnonzero(bits)) for bits in made.bits(reports)] == sets(made)
        assert made.pmf(reports).tolist() == [[float(one[z]) for one in laws] for z in sets(made)]
        assert np.array_equal(made.from_text(made.to_text(reports)), reports)

    @pytest.mark.parametrize("rng", [None, np.random.default_rng(3)], ids=["system", "simulated"])
    def test_sets_come_out_as_often_as_the_law_says(self, size, chosen, rng):
        """A chi-square test at one in ten million."""
        made = subset_selection(range(size), 1.2, n_chosen=chosen)
        texts = made.to_text(made.sample_codes(np.full(30_000, size - 1), rng))
        listed = {text: place for place, text in enumerate(made.to_text(made.all_reports()))}
        counts = np.bincount([listed[text] for text in texts], minlength=len(listed))
        expected = 30_000 * made.pmf(made.all_reports())[:, size - 1]
        assert stats.chisquare(counts, expected * counts.sum() / expected.sum()).pvalue > 1e-7


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 4.0, 16.0])
@pytest.mark.parametrize(("size", "chosen"), [(2, 1), (5, 2), (100, 27), (2**20, 7)])
def test_the_budget_is_used_up_exactly(epsilon, size, chosen):
    """The next numerator would break it."""
    made, limit = subset_selection(range(size), epsilon, n_chosen=chosen), exponential_below(epsilon)
    assert made.failures() == ()
    assert made.largest_ratio <= limit
    leaky = SubsetSelection(made.categories, epsilon, Provenance(), chosen, made.own_chosen + 1)
    assert leaky.largest_ratio > limit
    assert leaky.failures() == (f"the log-ratio must be at most {epsilon:g}, got {leaky.max_log_ratio!r}",)


@pytest.mark.parametrize(("size", "chosen"), [(2, 1), (4, 3), (12, 2), (30, 5)])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_its_error_is_that_of_the_paper(size, chosen, epsilon):
    """Ye and Barg (2018), Proposition III.1 at even frequencies and elsewhere, and their formula for the worst case."""
    made, k, d, e = subset_selection(range(size), epsilon, n_chosen=chosen), size, chosen, math.exp(epsilon)
    squares = (d * (k - 2) + 1) * e * e / (k - d) + 2 * (k - 2) * e + ((k - 2) * (k - d) + 1) / d
    for frequencies in (np.full(size, 1 / size), np.eye(size)[0]):
        mine = float(np.sum(made.frequency_variance(frequencies))) + 1 - float(frequencies @ frequencies)
        assert mine == pytest.approx(squares / (e - 1) ** 2 - float(frequencies @ frequencies), rel=1e-12)
    worst = (k - 1) ** 2 / (k * (e - 1) ** 2) * (d * e + k - d) ** 2 / (d * (k - d))
    assert oracle_error(made) + 1 - 1 / k == pytest.approx(worst, rel=1e-12)


@pytest.mark.parametrize("size", [2, 3, 4, 7, 12, 30])
@pytest.mark.parametrize("epsilon", [0.25, 1.0, 2.5])
def test_the_size_is_the_best_of_all_and_its_error_that_of_enumeration(size, epsilon):
    """The error of every size by fractions; the best is near K / (e^epsilon + 1)."""
    errors = {}
    for d in range(1, size):
        e = Fraction(exponential_below(epsilon))
        p = d * e / (d * e + size - d)
        q = p * Fraction(d - 1, size - 1) + (1 - p) * Fraction(d, size - 1)
        errors[d] = ((size - 1) * q * (1 - q) + p * (1 - p)) / (p - q) ** 2
    made = subset_selection(range(size), epsilon)
    assert errors[made.n_chosen] == pytest.approx(min(errors.values()), rel=1e-12)
    assert oracle_error(made) == pytest.approx(float(min(errors.values())), rel=1e-12)
    assert abs(made.n_chosen - size / (math.exp(epsilon) + 1)) < 1


def test_levels_have_one_size_and_say_all_of_them_together():
    """Whatever the budgets, so that a set tells its level by its frequency alone; one budget is the plain mechanism."""
    epsilons = (0.5, 1.0, 2.0)
    made = subsets_of_levels(range(41), epsilons)
    told = {
        d: sum(1 / oracle_error(subset_selection(range(41), e, n_chosen=d)) for e in epsilons) for d in range(1, 41)
    }
    assert {level.n_chosen for level in made} == {max(told, key=lambda d: told[d])}
    assert [level.epsilon for level in made] == list(epsilons)
    assert subsets_of_levels(range(41), [1.0])[0].same_law(subset_selection(range(41), 1.0))


@pytest.mark.slow
def test_blocks_of_users_change_nothing(monkeypatch):
    """Two users at a time, of eleven categories: sets of the right size that hold the own one as often as they must."""
    made, codes = subset_selection(range(11), 1.0), np.arange(3000) % 11
    monkeypatch.setattr(sys.modules[SubsetSelection.__module__], "NUMBERS_AT_ONCE", 23)
    bits = made.bits(made.checked_reports(made.sample_codes(codes, np.random.default_rng(1))))
    own = bits[np.arange(codes.size), codes].mean()
    assert abs(own - made.own_support) < 5 * math.sqrt(0.25 / codes.size)


@pytest.mark.parametrize(
    ("chosen", "own", "message"),
    [
        (0, D // 2, "n_chosen must be a whole number from 1 to 3, got 0"),
        (4, D - 1, "from 1 to 3, got 4"),
        (True, D // 2, "from 1 to 3, got True"),
        (2.0, D // 2, "from 1 to 3, got 2.0"),
        (2, D // 2, r"own_chosen must be a whole number below 2\^53 and more than 2/4 of it"),
        (2, D, r"below 2\^53"),
        (2, 0.75, "got 0.75"),
    ],
)
def test_numbers_out_of_order_are_refused(chosen, own, message):
    with pytest.raises(TableError, match=message):
        SubsetSelection("abcd", 1.0, Provenance(), chosen, own)  # pyright: ignore[reportArgumentType] -- made by it


@pytest.mark.parametrize("chosen", [0, 4, -1, 1.5, True])
def test_sizes_that_are_none_are_refused(chosen):
    with pytest.raises(InputError, match="n_chosen must be a whole number from 1 to 3"):
        subset_selection("abcd", 1.0, n_chosen=chosen)


@pytest.mark.parametrize(
    ("reports", "message"),
    [
        (np.array([[0b11100000, 0], [0b11000000, 0]], np.uint8), "must have 3 ones, got 2 in row 2"),
        (np.array([[0b11110000, 0]], np.uint8), "must have 3 ones, got 4 in row 1"),
        (np.array([[0b11000000, 1]], np.uint8), "must have 11 bits, got a one beyond them in row 1"),
        (np.zeros((1, 3), np.uint8), r"must be \(N, 2\) bytes"),
    ],
)
def test_reports_of_other_sizes_are_refused(reports, message):
    with pytest.raises(InputError, match=message):
        subset_selection(range(11), 1.0).checked_reports(reports)


@pytest.mark.nightly
def test_a_listing_of_more_than_a_million_sets_is_refused():
    with pytest.raises(InputError, match="at most 1048576 reports can be listed, got all sets of 9 of 32 categories"):
        subset_selection(range(32), 1.0).all_reports()
    huge = subset_selection(range(2**20), 1.0)
    with pytest.raises(InputError, match="of 1048576 categories"):
        huge.all_reports()
    assert huge.pmf(huge.sample_codes([5], np.random.default_rng(1))).max() == 0.0  # less than a double can say
