"""Directions: exactly m of them are favoured by every history, whatever the seed, alike on every machine."""

from fractions import Fraction
from itertools import product
from statistics import NormalDist

import numpy as np
import pytest
from optldp.designer import Prior
from optldp.designer.over_time import Repeated
from optldp.designer.over_time.directions import best_favoured, design_directions
from optldp.estimators.over_time.directions import estimate_directions
from optldp.mechanisms import InputError
from optldp.mechanisms.integers.exponential import exponential_below
from optldp.mechanisms.over_time import Directions
from optldp.mechanisms.over_time.normal_numbers import SCALE, quantiles
from optldp.solvers.over_time import phi

ROOT = np.array([[3, 1, 0], [1, 4, -2], [0, -2, 5]]) * 2**18
WAY = Directions(-1.0, 1.0, ROOT, 90000, 8, 3, (5, 2), 1.0)
SEEDS = np.array([0, 1, 2**64 - 1, 123456789], dtype=np.uint64)


def test_no_two_histories_are_told_apart_by_more_than_the_budget_those_with_more_changes_included():
    """Exactly: of three periods, three values and four seeds, every history gives weights of the same sum."""
    every = np.array(list(product((-1.0, 0.3, 1.0), repeat=3)))
    for seed in SEEDS:
        order = WAY.favours(np.full(len(every), seed), every)
        assert (np.sort(order, axis=1) == np.arange(8)).all()
        laws = np.full((len(every), 8), WAY.weights[1])
        np.put_along_axis(laws, order[:, :3], WAY.weights[0], axis=1)
        assert (laws.sum(axis=1) == WAY.total).all()
        assert len(np.unique(laws, axis=0)) > 1
        assert Fraction(int(laws.max()), int(laws.min())) <= exponential_below(WAY.epsilon)


def plain_order(seed: int, history: list[int]) -> list[int]:
    """The same by Python's whole numbers alone, of a history of signs."""
    scaled = [int(sum(ROOT[t, s] * x * 2**15 for s, x in enumerate(history)) // 2**20) for t in range(3)]
    squares = sum(x * x for x in scaled)
    assert squares <= 90000**2
    point = [*scaled, int(np.floor(np.sqrt(90000**2 - squares)))]

    def word(i: int) -> int:
        z = (seed + i * 0x9E3779B97F4A7C15) % 2**64
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        return z ^ z >> 31

    agreed = [sum(int(quantiles()[word(j + 1) >> 16 * t & 0xFFFF]) * x for t, x in enumerate(point)) for j in range(8)]
    return sorted(range(8), key=lambda j: -agreed[j])


@pytest.mark.parametrize("history", [[1, 1, 1], [1, -1, 1], [-1, -1, 1]])
def test_directions_are_those_of_plain_whole_numbers(history):
    for seed in SEEDS.tolist():
        found = WAY.favours(np.array([seed], dtype=np.uint64), np.array([history], dtype=float))
        assert found[0].tolist() == plain_order(seed, history)


def test_no_quantile_is_so_near_a_half_that_another_machine_could_round_it_otherwise():
    inverse = NormalDist().inv_cdf
    upper = np.array([SCALE * inverse((2**15 + place + 0.5) / 2**16) for place in range(2**15)])
    assert abs(upper - np.floor(upper) - 0.5).min() > 1e-6


def test_the_variance_is_that_of_the_lower_bounds_law_within_three_percent_and_means_are_unbiased():
    """Twelve periods, one change, epsilon 4: F_K Phi_1, by the covariance that reports show."""
    made = design_directions(Prior.even([-1.0, 1.0]), 4.0, Repeated(12, 1))
    rng = np.random.default_rng(1)
    before, after = rng.choice(np.linspace(-1, 1, 17), (2, 6000, 1))
    histories = np.where(np.arange(12) < rng.integers(1, 12, 6000)[:, None], before, after)
    found = estimate_directions(made, made.drawn(histories, rng))
    each = np.trace(found.covariance) * 6000 / 12 - histories.var(axis=0).mean()
    assert each == pytest.approx(best_favoured(4.0)[1] * phi(12, 1), rel=0.03)
    off = (found.value - histories.mean(axis=0)) / found.std_error
    assert abs(off).max() < 3.5


def test_more_changes_than_were_asked_for_cost_bias_alone():
    made = design_directions(Prior.even([-1.0, 1.0]), 4.0, Repeated(12, 0))
    wild = np.tile([1.0, -1.0], 6)[None]
    assert np.sqrt((made._points(wild) ** 2).sum()) <= made.length


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"root": [[1.5, 0], [0, 1]]}, "square matrix of whole numbers"),
        ({"root": [[1, 2], [3, 4]]}, "root must be symmetric"),
        ({"favoured": 8}, "favoured must be a whole number from 1 to 7"),
        ({"weights": (2, 5)}, "the first the larger"),
        ({"weights": (2**52, 2**51)}, "weights must have a sum of at most 2"),
        ({"low": 2.0}, "the domain must have two finite ends"),
        ({"length": 0}, "length must be a whole number"),
    ],
)
def test_what_makes_no_directions_is_refused_in_one_line(change, said):
    whole = {"low": -1.0, "high": 1.0, "root": ROOT, "length": 90000, "directions": 8, "favoured": 3}
    with pytest.raises(InputError, match=said):
        Directions(**{**whole, "weights": (5, 2), "epsilon": 1.0, **change})


def test_weights_that_promise_too_little_fail_by_whole_numbers():
    assert Directions(-1.0, 1.0, ROOT, 90000, 8, 3, (3, 1), 1.0).failures()


@pytest.mark.parametrize("text", ["0:1", "00000000000000ff:8", "00000000000000FF:1", "00000000000000ff:1 "])
def test_reports_that_cannot_occur_are_refused(text):
    with pytest.raises(InputError, match="reports must be 16 hexadecimal digits"):
        WAY.from_text([text])
