"""What memoising promises of a life, by exact enumeration: nothing, once a value may change."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from optldp.mechanisms import grr, make_exact
from optldp.mechanisms.categorical import categorical_grr
from optldp.mechanisms.over_time import Memoised
from optldp.mechanisms.sampling.random_words import random_words

Law = dict[tuple[int, ...], Fraction]

THREE = Fraction(3)


def memoised(history: tuple[int, ...], ratio: Fraction) -> Law:
    """The law of the reports of a history of two values: one remembered report of each value that it has."""
    law: Law = {}
    for draws in product((0, 1), repeat=2):  # the report of value 0, and that of value 1
        own = [ratio / (1 + ratio) if draw == value else 1 / (1 + ratio) for value, draw in enumerate(draws)]
        sent = tuple(draws[value] for value in history)
        law[sent] = law.get(sent, Fraction(0)) + own[0] * own[1]
    return law


def largest_ratio(one: Law, other: Law) -> Fraction | float:
    return max(share / other[sent] if other.get(sent) else math.inf for sent, share in one.items())


def test_without_changes_the_ratio_is_that_of_one_report():
    assert largest_ratio(memoised((0, 0, 0), THREE), memoised((1, 1, 1), THREE)) == 3


def test_with_a_change_it_is_infinite_and_much_lies_where_the_other_has_nothing():
    one, other = memoised((0, 0, 1), THREE), memoised((0, 1, 1), THREE)
    assert largest_ratio(one, other) == math.inf
    # Where the remembered reports of the two values differ, a repeated report shows when the value changed.
    assert sum(share for sent, share in one.items() if sent not in other) == Fraction(5, 8)


def test_with_the_times_of_changes_public_it_is_the_product_over_values():
    assert largest_ratio(memoised((0, 0, 1), THREE), memoised((1, 1, 0), THREE)) == 9


def two_rounds(history: tuple[int, ...], permanent: float, instantaneous: float) -> np.ndarray:
    """The law of all sequences, with a second randomised response to the remembered report in each period."""
    keep, again = (1 / (1 + math.exp(-epsilon)) for epsilon in (permanent, instantaneous))
    law = np.zeros(2 ** len(history))
    for draws in product((0, 1), repeat=2):
        told = np.array([math.prod(keep if draw == value else 1 - keep for value, draw in enumerate(draws))])
        for value in history:
            told = np.kron(told, [again, 1 - again] if draws[value] == 0 else [1 - again, again])
        law += told
    return law


@pytest.mark.parametrize(
    ("periods", "budget", "epsilon"),
    [
        *((1, 1.0, 0.434), (2, 1.0, 0.868), (3, 1.0, 1.169), (4, 1.0, 1.711), (6, 1.0, 2.650), (8, 1.0, 3.627)),
        *((10, 1.0, 4.619), (3, 2.0, 3.201)),
    ],
)
def test_a_second_round_does_not_mend_it(periods, budget, epsilon):
    """Both rounds of that budget, at most one change: the series of docs/asking-again.md, to .001."""
    histories = [
        (first,) * change + (1 - first,) * (periods - change) for first in (0, 1) for change in range(1, periods + 1)
    ]
    laws = np.log([two_rounds(history, budget, budget) for history in histories])
    assert (laws.max(axis=0) - laws.min(axis=0)).max() == pytest.approx(epsilon, abs=1e-3)


def test_remembered_draws_keep_the_budget_of_values_and_repeat_while_a_value_stays():
    """By the class itself: of one pattern, all values; a change to the knot that is had draws once."""
    made = Memoised(categorical_grr(["no", "yes", "or"], math.log(3)), 4, 2, 2 * math.log(3) + 1e-12)
    rng = np.random.default_rng(1)
    words = random_words(rng)
    law: dict[tuple[int, ...], dict[tuple[str | None, ...], int]] = {}
    for history in ((0, 0, 1, 0), (2, 2, 0, 2)):
        remembered = made.first_draws(6000, words)
        sent = []
        for value in history:
            remembered, texts = made.drawn_again(np.full(6000, value), remembered, words)
            sent.append(texts)
        seen = list(zip(*sent, strict=True))
        assert all(one[0] == one[1] == one[3] for one in seen)
        law[history] = {one: seen.count(one) for one in set(seen)}
    one, other = law.values()
    assert max(one[sent] / other[sent] for sent in one) < 9 * 1.5


def test_values_beyond_those_that_are_drawn_for_send_what_was_sent_last():
    made = Memoised(categorical_grr(["no", "yes", "or"], 1.0), 4, 2, 2.0)
    words = random_words(np.random.default_rng(1))
    remembered, sent = made.first_draws(50, words), []
    for value in (0, 1, 2):
        remembered, texts = made.drawn_again(np.full(50, value), remembered, words)
        sent.append(texts)
    assert sent[1] == sent[2] != sent[0]
    _, none = made.drawn_again(np.full(50, 0), made.first_draws(50, words), words, fresh=False)
    assert set(none) == {None}


def test_an_offset_of_a_users_own_keeps_small_drifts_on_one_knot_and_the_average_unbiased():
    made = Memoised(make_exact(grr([0.0, 1.0, 2.0], 7.0)).mechanism, 4, 2, 14.0)
    words = random_words(np.random.default_rng(1))
    first = made.first_draws(4000, words)
    one, before = made.drawn_again(np.full(4000, 0.30), first, words)
    two, after = made.drawn_again(np.full(4000, 0.31), one, words)
    assert 0.98 < np.mean([a == b for a, b in zip(before, after, strict=True)]) < 1
    assert np.mean([float(text) for text in before if text is not None]) == pytest.approx(0.3, abs=0.03)
    assert sum(len(mine) for mine in two) - sum(len(mine) for mine in one) < 0.02 * 4000
