"""Signs of changes keep one budget for a life, by enumeration; simulated they err as planned."""

from collections import defaultdict
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from optldp.designer import Prior, design
from optldp.designer.over_time import Repeated
from optldp.designer.over_time.noise import Noise
from optldp.designer.over_time.rows import histories_of
from optldp.designer.over_time.tree import design_tree, plan_tree
from optldp.estimators.over_time.linear import estimate_rows
from optldp.estimators.over_time.tree import of_tree
from optldp.mechanisms import InputError, duchi, load_mechanism, make_exact, save_bundle
from optldp.mechanisms.over_time import Tree
from optldp.mechanisms.over_time.signs import Signs, best_signs
from optldp.mechanisms.sampling.random_words import random_words

TABLE = make_exact(duchi([-1.0, 1.0], 2.0)).mechanism
PERIODS = 5


def law_of(history, signs):
    """Exact probabilities of what a user of blocks of one period sends, of +-1 values, by the rule of the class."""
    steps = [(after - before) // 2 for before, after in pairwise(history)]
    law = defaultdict(Fraction)
    for drawn in product((-1, 1), repeat=signs.many):
        weight = Fraction(signs.high if drawn.count(1) >= signs.least else signs.low, signs.total)
        for fair in product((-1, 1), repeat=len(steps)):
            told, sent = 0, []
            for step, toss in zip(steps, fair, strict=True):
                changed = step if told < signs.many else 0
                sent.append(changed * drawn[told] if changed else toss)
                told += bool(changed)
            law[tuple(sent)] += weight / 2 ** len(steps)
    return law


@pytest.mark.parametrize(("many", "epsilon"), [(1, 1.0), (2, 1.0), (3, 2.0)])
def test_no_two_histories_are_told_apart_by_more_than_the_ratio_however_often_they_change(many, epsilon):
    signs = best_signs(many, epsilon)
    laws = [law_of(history, signs) for history in product((-1, 1), repeat=PERIODS)]
    shares = [(max(law[sent] for law in laws), min(law[sent] for law in laws)) for sent in laws[0]]
    assert all(sum(law.values()) == 1 for law in laws)
    assert max(most / least for most, least in shares) == signs.ratio
    assert Tree(TABLE, PERIODS, [0] * 5 + [1], [(1, signs)], 5.0, 2.0, "0" * 32).failures() == ()


def test_the_class_sends_what_the_law_says():
    """Two histories, one that changes more often than it has signs: shares of all sequences within five errors."""
    signs, users = best_signs(1, 1.0), [str(number) for number in range(20_000)]
    way = Tree(TABLE, 4, [0, 0, 0, 0, 1], [(1, signs)], 5.0, 2.0, "0" * 32)
    for history in ((1, 1, -1, -1), (1, -1, 1, -1)):
        told = way.drawn_lives(users, np.tile(np.array(history, float), (len(users), 1)), random_words(generator()))
        sent = np.array([told[2][told[1] == period, 1] for period in (2, 3, 4)]).T
        law = law_of(history, signs)
        for one, share in law.items():
            found = (sent == one).all(axis=1).mean()
            assert abs(found - float(share)) < 5 * np.sqrt(float(share) / len(users)), (history, one)


def generator():
    return np.random.default_rng(7)


def test_signs_that_exceed_the_budget_are_no_tree_that_is_proved():
    way = Tree(TABLE, 4, [1, 0, 0, 0, 1], [(1, Signs(1, 1, 8, 1))], 5.0, 2.0, "0" * 32)
    assert len(way.failures()) == 1
    with pytest.raises(InputError, match="steps must be different"):
        Tree(TABLE, 4, [1, 0, 0, 0, 1], [(4, best_signs(1, 2.0))], 5.0, 2.0, "0" * 32)


def test_a_file_holds_it(tmp_path):
    way = Tree(TABLE, 4, [1, 0, 0, 0, 1], [(1, best_signs(2, 2.0))], 5.0, 2.0, "0" * 32)
    save_bundle(way, tmp_path / "way.json")
    found = load_mechanism(tmp_path / "way.json")
    assert isinstance(found, Tree)
    assert found.branches == way.branches
    assert found.from_text(found.to_text(np.array([[1.0, -1.0]]))).tolist() == [[1.0, -1.0]]


@pytest.mark.nightly
def test_what_is_planned_is_what_simulated_estimates_err():
    """Variance times n at T = 12, one change, E = 1, about these users, from all reports when the year is over."""
    prior, users = Prior.even(np.linspace(-1, 1, 17)), 3000
    planned = plan_tree(Noise(prior), 1.0, Repeated(12, 1, answers="at-end"))
    way = design_tree(design(prior, 1.0, exact=True).mechanism, planned, 1.0)
    rng, errors, names = generator(), [], [str(number) for number in range(users)]
    for _ in range(60):
        values = histories_of(prior, 12, 1, users, rng)
        who, periods, reports = way.drawn_lives(names, values, random_words(rng))
        found = estimate_rows(of_tree(way, reports, way.beside(names)["branch"][who], periods), "each")
        errors.append(users * ((found.value - values.mean(axis=0)) ** 2).mean())
    assert abs(np.mean(errors) - planned.costs[0]) < 3 * np.std(errors) / np.sqrt(60)
