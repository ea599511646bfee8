"""What memoising promises of a life, by exact enumeration: nothing, once a value may change."""

import math
from fractions import Fraction
from itertools import product

import pytest

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


def two_rounds(history: tuple[int, ...], permanent: float, instantaneous: float) -> dict[tuple[int, ...], float]:
    """The same with a second randomised response to the remembered report in each period."""
    keep, again = (1 / (1 + math.exp(-epsilon)) for epsilon in (permanent, instantaneous))
    law: dict[tuple[int, ...], float] = {}
    for draws in product((0, 1), repeat=2):
        own = math.prod(keep if draw == value else 1 - keep for value, draw in enumerate(draws))
        for sent in product((0, 1), repeat=len(history)):
            told = math.prod(
                again if report == draws[value] else 1 - again for report, value in zip(sent, history, strict=True)
            )
            law[sent] = law.get(sent, 0.0) + own * told
    return law


@pytest.mark.parametrize(("periods", "epsilon"), [(1, 0.434), (2, 0.868), (3, 1.169), (4, 1.711)])
def test_a_second_round_does_not_mend_it(periods, epsilon):
    """Budgets 1 and 1, at most one change: the series of docs/asking-again.md, to .001."""
    histories = [
        (first,) * change + (1 - first,) * (periods - change) for first in (0, 1) for change in range(1, periods + 1)
    ]
    laws = [two_rounds(history, 1.0, 1.0) for history in histories]
    found = max(
        math.log(one[sent] / other[sent]) for one in laws for other in laws for sent in product((0, 1), repeat=periods)
    )
    assert found == pytest.approx(epsilon, abs=1e-3)
