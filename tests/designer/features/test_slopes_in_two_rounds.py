"""Slopes in two rounds: better than one where they are said to be, and refused where the first tells too little."""

# Each case knows which kind of mechanism it made; the types say only that it is one of two.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportCallIssue=false

import numpy as np
import pytest
from optldp.designer.features import Pilot, design_after, design_association, design_regression, two_rounds
from optldp.estimators.features import estimate_features
from optldp.mechanisms import InputError

SLOPES = np.array([0.5, 0.3])


def records(d, n, rng):
    z = rng.standard_normal((n, d)).clip(-2.5, 2.5)
    return np.column_stack([z, z @ SLOPES[:d] + rng.standard_normal(n).clip(-2.5, 2.5)])


def collected(d, epsilon, n, rng):
    """The estimates of one round and of two of as many people."""
    box = dict.fromkeys((*"ab"[:d], "y"), (-4.5, 4.5))
    first = design_regression("y", box, epsilon).mechanism
    one = estimate_features(first, first.sample(records(d, n, rng), rng))
    early = round(0.3 * n)
    later = design_after(first, first.sample(records(d, early, rng), rng), epsilon).mechanism
    return one, estimate_features(later, later.sample(records(d, n - early, rng), rng))


@pytest.mark.nightly
def test_two_rounds_find_the_slope_closer_than_one():
    one, two = collected(1, 4.0, 40_000, np.random.default_rng(1))
    assert two.method == "winsorised score, two rounds"
    assert two.low[0] < 0.5 < two.high[0]
    assert two.std_error[0] < one.std_error[0] / 1.4


@pytest.mark.nightly
def test_two_rounds_are_twice_as_good_as_one_and_their_intervals_hold():
    rng = np.random.default_rng(2)
    runs = [collected(2, 4.0, 20_000, rng) for _ in range(20)]
    errors = [np.mean([np.square(each[place].value - SLOPES) for each in runs]) for place in (0, 1)]
    assert errors[1] < errors[0] / 2
    assert np.mean([(two.low < SLOPES) & (two.high > SLOPES) for _, two in runs]) > 0.9


@pytest.mark.nightly
def test_two_rounds_of_few_people_do_not_pay():
    found = two_rounds("y", {"x": (0, 20), "y": (0, 80)}, 1.0)
    assert found.pay(10**6)
    assert not found.pay(100)
    needed = found.people(0.5)
    assert found.std_errors(needed)[0] <= 0.5 < found.std_errors(needed - 1)[0]


def test_a_first_round_of_something_else_is_refused():
    signs = Pilot(("x", "y"), [[a, b] for a in (-1, 1) for b in (-1, 1)])
    made = design_association("correlation", {"x": (-1, 1), "y": (-1, 1)}, 1.0, signs)
    with pytest.raises(InputError, match="must be of moments for a regression, got correlation"):
        design_after(made.mechanism, np.zeros((2, 2)), 1.0)
