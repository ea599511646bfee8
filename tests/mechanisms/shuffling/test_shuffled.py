"""Bounds on what mixed reports tell, against exact enumeration and published figures."""

# pyright: reportArgumentType=false, reportOptionalOperand=false, reportOperatorIssue=false

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import reduce
from itertools import combinations, product

import numpy as np
import pytest
from optldp.mechanisms import (
    Approximate,
    AttributeSampling,
    InputError,
    Provenance,
    TableError,
    TabulatedMechanism,
    make_exact,
)
from optldp.mechanisms.categorical import CategoricalTable, basic_rappor, categorical_grr
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.subset_selection import subset_selection
from optldp.mechanisms.features import Feature, Features, Quadratic
from optldp.mechanisms.key_value import key_value_unary
from optldp.mechanisms.over_time import Memoised, Panel
from optldp.mechanisms.shuffling import Clones, Distinguisher, Shuffled, binomials, lower
from optldp.mechanisms.shuffling.rows import largest_ratio, pairs_of

Law = tuple[Fraction, ...]


def counts(n: int, kinds: int) -> Iterator[tuple[int, ...]]:
    """All ways in which n reports may be of so many kinds."""
    if kinds == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for others in counts(n - first, kinds - 1):
            yield first, *others


def outcomes(one: Law, other: Law, rest: Law, n: int) -> Iterator[tuple[Fraction, Fraction]]:
    """Of mixed reports of n users, of whom all but one draw from the rest: all that there are, in fractions."""
    for seen in counts(n, len(rest)):
        here = there = Fraction(0)
        for kind, number in enumerate(seen):
            if number:
                left = [each - (at == kind) for at, each in enumerate(seen)]
                ways = Fraction(math.factorial(n - 1), math.prod(map(math.factorial, left)))
                ways *= math.prod(p**k for p, k in zip(rest, left, strict=True))
                here, there = here + ways * one[kind], there + ways * other[kind]
        yield here, there


def divergence(one: Law, other: Law, rest: Law, n: int, ratio: Fraction) -> Fraction:
    return sum((max(Fraction(0), here - ratio * there) for here, there in outcomes(one, other, rest, n)), Fraction(0))


def small_table(rng: np.random.Generator, values: int, outputs: int) -> np.ndarray:
    """Numerators (K, m) over 2^53 whose ratios are at most some 4."""
    rows = rng.integers(2**10, 2**12, (values, outputs))
    whole = rows * (2**53 // rows.sum(axis=1, keepdims=True))
    whole[:, 0] += 2**53 - whole.sum(axis=1)
    return whole


class TestSmallNumbersOfUsers:
    @pytest.mark.parametrize("n", [2, 4, pytest.param(8, marks=pytest.mark.slow)])
    def test_no_outcome_of_mixed_reports_tells_more_than_the_upper_bound(self, n):
        """All outcomes, all pairs of values and all values of the rest, in fractions."""
        numerators = small_table(np.random.default_rng(n), 3, 3)
        rows = [tuple(Fraction(int(each), 2**53) for each in row) for row in numerators]
        p = largest_ratio(numerators)
        for more in (0.0, 0.25, 1.5):
            found = max(
                divergence(one, other, rest, n, 1 + Fraction(more)) for one in rows for other in rows for rest in rows
            )
            bound = max(
                Clones(n, p, each.beta, each.shared, 1e-9, each.left_out).delta(more)
                for each in pairs_of(numerators, p)
            )
            assert float(found) <= bound
            assert more or bound <= 3 * float(found)

    @pytest.mark.parametrize("shared", [Fraction(1, 3), Fraction(1)])
    def test_the_upper_bound_is_the_formula_in_fractions_and_never_below_it(self, shared):
        p, beta, n = Fraction(3), Fraction(1, 4), 7
        alpha = beta / (p - 1)
        alike = 1 - alpha * (p + 1)
        one, other = (alpha * p, alpha, alike, Fraction(0)), (alpha, alpha * p, alike, Fraction(0))
        rest = (alpha, alpha, shared * alike, 1 - 2 * alpha - shared * alike)
        clones = Clones(n, p, beta, shared, 1e-9)
        for more in (0.0, 0.125, 0.5, 1.5):
            exactly = divergence(one, other, rest, n, 1 + Fraction(more))
            assert exactly <= Fraction(clones.delta(more)) <= exactly * (1 + Fraction(1, 10**9)) + Fraction(1, 10**14)

    def test_what_hardly_anybody_shares_is_left_out_on_the_safe_side(self):
        """A fifth output of V that others have a hundredth of, or none of: in fractions, and the bound is near."""
        p, beta, n, dust = Fraction(3), Fraction(1, 4), 5, Fraction(1, 100)
        alpha = beta / (p - 1)
        alike = 1 - alpha * (p + 1) - dust
        one, other = (alpha * p, alpha, alike, dust, Fraction(0)), (alpha, alpha * p, alike, dust, Fraction(0))
        for theirs in (dust / 100, dust / 10**6):
            rest = (alpha, alpha, alike, theirs, 1 - 2 * alpha - alike - theirs)
            for more in (0.0, 0.25, 1.0):
                exactly = divergence(one, other, rest, n, 1 + Fraction(more))
                assert exactly <= Fraction(Clones(n, p, beta, Fraction(1), 1e-9, dust).delta(more)) <= 1.1 * exactly

    def test_an_output_of_one_numerator_moves_the_bound_by_nothing(self):
        eighths = np.array([[3, 1, 2, 2], [1, 3, 2, 2], [2, 2, 2, 2]]) * 2**50
        dusty = np.column_stack([eighths, [3, 3, 1]])
        dusty[:, 3] -= dusty[:, 4]
        (kept, *_), (found, *_) = (pairs_of(each, Fraction(3)) for each in (eighths, dusty))
        assert found.beta == kept.beta
        assert found.shared > 0.99
        assert 0 < found.left_out < Fraction(1, 2**40)

    def test_the_lower_bound_is_the_divergence_of_the_counts_and_never_above_it(self):
        eighth = Fraction(1, 8)
        one, other, rest = (4 * eighth, eighth, 3 * eighth), (eighth, 4 * eighth, 3 * eighth), (eighth * 2,) * 2
        rest = (*rest, 4 * eighth)
        n, delta = 6, 0.05
        epsilon = Distinguisher(one, other, rest).epsilon(n, delta)
        assert divergence(one, other, rest, n, Fraction(math.exp(epsilon))) >= delta
        assert divergence(one, other, rest, n, Fraction(math.exp(epsilon * 1.00001))) < delta

    def test_leaving_out_what_the_rows_have_alike_would_promise_too_much(self):
        """The variation ratio's own sum is below what these reports tell; see docs/mixing-reports.md."""
        p, alpha, n = Fraction(3), Fraction(1, 8), 5
        one = (3 * alpha, alpha, 2 * alpha, 2 * alpha)
        other = (alpha, 3 * alpha, 2 * alpha, 2 * alpha)
        rest = (alpha, alpha, 2 * alpha / 3, Fraction(2, 3))
        assert max(max(a / b, b / a) for x in (one, other, rest) for a, b in zip(x, rest, strict=True)) <= p
        told = divergence(one, other, rest, n, Fraction(3, 2))
        without = divergence(
            (*one[:2], 4 * alpha), (*other[:2], 4 * alpha), (alpha, alpha, 6 * alpha), n, Fraction(3, 2)
        )
        assert float(without) < 0.045 < 0.055 < float(told) <= Clones(n, p, Fraction(1, 4), 1 / p, 1e-9).delta(0.5)


class TestManyUsers:
    @pytest.mark.parametrize("shared", [Fraction(1, 3), Fraction(1)])
    def test_blocks_err_to_the_safe_side(self, shared, monkeypatch):
        third = Fraction(1, 3)
        attack = Distinguisher((third, third / 2, third * 3 / 2), (third / 2, third, third * 3 / 2), (third,) * 3)
        made = [Clones(600, Fraction(3), Fraction(1, 4), shared, 1e-6).epsilon(1e-6), -attack.epsilon(600, 1e-6)]
        monkeypatch.setattr(binomials, "MOST", 10)
        monkeypatch.setattr(lower, "BLOCKS", 10)
        in_blocks = [Clones(600, Fraction(3), Fraction(1, 4), shared, 1e-6).epsilon(1e-6), -attack.epsilon(600, 1e-6)]
        assert all(a < b < a + 0.2 * abs(a) for a, b in zip(made, in_blocks, strict=True))

    @pytest.mark.parametrize(
        ("epsilon", "n", "clones"),
        [(1, 10**4, 0.04321), (4, 10**4, 0.41081), (1, 10**5, 0.01245), (4, 10**5, 0.11816)],
    )
    def test_the_generic_bound_is_that_of_stronger_clones(self, epsilon, n, clones):
        p = Fraction(math.exp(epsilon))
        found = Clones(n, p, (p - 1) / (p + 1), Fraction(1), 1e-6).epsilon(1e-6)
        assert found == pytest.approx(clones, abs=2e-4)

    @pytest.mark.slow
    @pytest.mark.parametrize(("epsilon", "published"), [(1, 0.00718), (3, 0.08895), (5, 0.54070)])
    def test_randomised_response_of_a_hundred_is_as_published_code_has_it(self, epsilon, published):
        """github.com/wangsw/PrivacyAmplification, unifiedamplification.py, krr: its sum in double precision."""
        mixed = Shuffled(categorical_grr(range(100), epsilon), 10_000, 1e-6)
        assert mixed.central_epsilon == pytest.approx(published, abs=3e-4)

    def test_randomised_response_of_many_is_bounded_from_both_sides_within_a_thousandth(self):
        mixed = Shuffled(categorical_grr(["yes", "no", "neither"], 2.0), 10**8, 1e-6)
        assert mixed.lower_bound < mixed.central_epsilon < 1.001 * mixed.lower_bound < mixed.generic

    def test_more_users_and_a_larger_delta_promise_more(self):
        made = categorical_grr(["a", "b", "c"], 1.0)
        few, many, more = (Shuffled(made, *each).central_epsilon for each in ((20, 1e-3), (100, 1e-3), (100, 1e-2)))
        assert few > many > more

    @pytest.mark.slow
    def test_no_outcomes_of_several_rounds_tell_more_than_their_bound(self):
        """All outcomes of three users in three rounds, in fractions; and the bound is near."""
        delta, rounds = 1e-3, 3
        mixed = Shuffled(categorical_grr(["yes", "no"], 1.0), 3, delta)
        yes, no = ((Fraction(a, 2**53), Fraction(b, 2**53)) for a, b in mixed.channel.numerators.tolist())
        worst = 0.0
        for one, other in ((yes, no), (no, yes)):
            pairs = list(outcomes(one, other, no, 3))
            ratio = Fraction(math.exp(mixed.over_rounds(rounds)))
            found = Fraction(0)
            for each in product(pairs, repeat=rounds):
                found += max(Fraction(0), math.prod(a for a, _ in each) - ratio * math.prod(b for _, b in each))
            worst = max(worst, float(found))
        assert 0.9 * delta < worst <= delta

    @pytest.mark.slow
    def test_rounds_are_as_another_library_composes_them(self):
        """dp_accounting 0.6.0, self_compose(52) of connect-the-dots of 401 points of the same bound, at 1e-6."""
        mixed = Shuffled(categorical_grr(range(100), 1.0), 10_000, 1e-6)
        assert mixed.over_rounds(52) == pytest.approx(0.061020, rel=1e-3)

    def test_rounds_add_up_or_less(self):
        mixed = Shuffled(categorical_grr(["yes", "no"], 1.0), 100, 1e-4)
        once, twice, often = (mixed.over_rounds(rounds) for rounds in (1, 2, 400))
        assert once == pytest.approx(mixed.central_epsilon, rel=1e-9)
        assert once < twice <= 2 * mixed.epsilon_at(5e-5) * (1 + 1e-9)
        assert often < 400 * mixed.epsilon_at(1e-4 / 400)


class TestWhatIsMixed:
    @pytest.mark.parametrize(
        "made",
        [basic_rappor("abcd", 1.0), subset_selection("abcdef", 1.5), local_hashing("abcde", 2.0)],
        ids=lambda made: made.kind,
    )
    def test_reports_that_support_values_vary_as_they_do_one_by_one(self, made):
        law = made.pmf(made.all_reports())
        apart = max(np.abs(one - other).sum() / 2 for one in law.T for other in law.T)
        mixed = Shuffled(made, 30, 1e-3)
        assert apart <= mixed.beta <= apart + 1e-12
        assert (mixed.known, mixed.lower_bound) == ("law", None)
        assert mixed.central_epsilon < mixed.generic

    @pytest.mark.parametrize(("sampled", "slack"), [(1, 1e-12), (2, 0.05)])
    def test_attributes_vary_as_the_draws_of_some_of_their_tables_do(self, sampled, slack):
        """Each choice of attributes has its product of rows; of one attribute the largest variation is exact."""
        rows = [_two(each) for each in (0.6, 0.55, 0.65)]
        mixed = Shuffled(AttributeSampling.of(dict(zip("abc", rows, strict=True)), sampled, 2.0), 30, 1e-3)
        apart = 0.0
        for some in combinations(rows, sampled):
            one, other = (reduce(np.kron, [each.probabilities[row] for each in some]) for row in (0, 1))
            apart += np.abs(one - other).sum() / 2 / math.comb(3, sampled)
        assert apart <= mixed.beta <= apart + slack
        assert mixed.known == "law"
        assert mixed.central_epsilon < mixed.generic

    def test_features_vary_as_their_tables_by_shares(self):
        formula = Quadratic([0, 0], [1, 1], 0.0, [1, 0], np.zeros((2, 2)))
        each = [Feature(name, formula, _two(held), share) for name, held, share in (("x", 0.6, 1), ("y", 0.7, 3))]
        mixed = Shuffled(Features({"a": (-1, 1), "b": (-1, 1)}, each, 1.0), 30, 1e-3)
        assert mixed.beta == pytest.approx((0.2 + 3 * 0.4) / 4)

    @pytest.mark.slow
    def test_one_report_over_time_is_mixed_like_any_and_several_like_rounds(self):
        made = categorical_grr(["yes", "no"], 1.0)
        alone = Shuffled(made, 50, 1e-3)
        once, twice = (Shuffled(Panel(made, 4, k, 2.0, "0" * 32), 50, 1e-3) for k in (1, 2))
        assert once.central_epsilon == pytest.approx(alone.central_epsilon)
        assert once.lower_bound == alone.lower_bound
        assert twice.central_epsilon == pytest.approx(alone.over_rounds(2))
        assert twice.over_rounds(2) == pytest.approx(alone.over_rounds(4))
        assert "reports like yours are mixed at a time" in twice.sentence

    @pytest.mark.slow
    def test_a_panel_that_rotates_is_bounded_for_a_whole_life(self):
        """Whatever its promise of each span is: somebody who mixes every period hides three reports of a user."""
        made = categorical_grr(["yes", "no"], 1.0)
        rotating = Shuffled(Panel(made, 12, 1, 1.0, "0" * 32, span=4), 50, 1e-3)
        assert rotating.local_epsilon == 3.0
        assert rotating.central_epsilon == pytest.approx(Shuffled(made, 50, 1e-3).over_rounds(3))

    def test_reports_that_are_sent_again_are_refused(self):
        with pytest.raises(InputError, match="come back"):
            Shuffled(Memoised(categorical_grr(["yes", "no"], 1.0), 4, 2, 2.0), 50, 1e-3)

    def test_a_law_that_is_not_written_down_has_the_generic_bound_and_says_so(self):
        mixed = Shuffled(key_value_unary(["a", "b"], _two(), 1.0), 100, 1e-4)
        assert mixed.known == "epsilon"
        assert mixed.beta is None
        assert mixed.lower_bound is None
        assert mixed.central_epsilon == mixed.generic < 1.0

    def test_the_sentence_names_who_mixes_and_rounds_up(self):
        mixed = Shuffled(categorical_grr(["yes", "no"], 1.0), 1000, 1e-6)
        assert mixed.sentence.startswith(
            "if at least 1,000 honest users' reports are mixed by someone who does not side"
        )
        told = float(mixed.sentence.split("e^")[1].split()[0])
        assert mixed.central_epsilon <= told <= 1.001 * mixed.central_epsilon

    def test_reports_that_tell_nothing_alone_tell_nothing_mixed(self):
        half = CategoricalTable(
            categorical_grr(["a", "b"], 1.0).categories, 1.0, Provenance("constant"), np.full((2, 2), 2**52)
        )
        mixed = Shuffled(half, 10, 1e-6)
        assert (mixed.central_epsilon, mixed.lower_bound, mixed.beta) == (0.0, 0.0, 0.0)

    @pytest.mark.parametrize(
        ("n", "delta", "cure"),
        [
            (1, 1e-6, "no others to be mixed with"),
            (2.5, 1e-6, "whole number"),
            (10**10, 1e-6, "holds for more"),
            (100, 0.0, "no more than each report does"),
            (100, 1.0, "below 1"),
        ],
    )
    def test_what_cannot_be_bounded_is_refused_with_the_reason(self, n, delta, cure):
        with pytest.raises(InputError, match=cure):
            Shuffled(categorical_grr(["yes", "no"], 1.0), n, delta)

    def test_a_delta_above_one_in_n_is_warned_of(self):
        made = categorical_grr(["yes", "no"], 1.0)
        assert "drawn at random" in Shuffled(made, 100, 0.02).caution
        assert Shuffled(made, 100, 0.001).caution == ""

    def test_a_table_in_doubles_and_a_promise_with_a_delta_are_refused(self):
        matrix = [[0.75, 0.25], [0.25, 0.75]]
        with pytest.raises(TableError, match="make_exact"):
            Shuffled(TabulatedMechanism.from_points([0, 1], [0, 1], matrix, 1.1), 100, 1e-6)
        promise = Approximate(1.1, 1e-3)
        made = make_exact(TabulatedMechanism.from_points([0, 1], [0, 1], matrix, 1.1, promise=promise)).mechanism
        with pytest.raises(InputError, match="a report tells all"):
            Shuffled(made, 100, 1e-6)


def _two(told: float = 0.72) -> TabulatedMechanism:
    rows = [[told, 1 - told], [1 - told, told]]
    return make_exact(TabulatedMechanism.from_points([0, 1], [0, 1], rows, 1.0)).mechanism
