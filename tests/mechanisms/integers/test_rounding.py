"""Rounding to whole numbers, step by step, against slow readings of what each step says that it does."""

from fractions import Fraction
from itertools import product
from math import floor

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from optldp.mechanisms import TableError
from optldp.mechanisms.integers import rounding as integer_rounding
from optldp.mechanisms.integers.rounding import _carried, _move_mean, _settled, _useful_pair, boxes, round_rows

D = 2**53
SEEDS = st.integers(0, 2**32 - 1)


class TestBoxes:
    @pytest.mark.parametrize("limit", [Fraction(3), Fraction(5, 4), Fraction(9, 2)])
    def test_the_largest_numerator_is_the_limit_times_the_smallest_rounded_down(self, limit):
        """By fractions, and never above 2^53."""
        wanted = np.array([[10.0, 12.0], [7.0, 7.0], [1.0, 3.0], [2.0**52, 2.0**52]])
        least, most = boxes(wanted, limit)
        assert least.tolist() == [10, 7, 1, 2**52]
        assert most.tolist() == [min(floor(limit * t), D) for t in least.tolist()]
        assert least.dtype == most.dtype == np.int64

    def test_numbers_that_doubles_would_round_up_are_rounded_down(self):
        """2^53 - 1 less a quarter of a unit lies between two doubles, of which the upper is nearer."""
        limit = Fraction(4 * (2**53 - 1) - 1, 4 * 2**52)
        assert boxes(np.full((1, 2), 2.0**52), limit)[1].tolist() == [2**53 - 2]

    def test_an_output_that_no_row_has_stays_at_zero_and_one_that_a_row_has_does_not(self):
        """A least numerator of zero would allow no other."""
        least, most = boxes(np.array([[0.0, 0.0], [0.0, 0.2], [0.3, 0.4], [0.0, 5.0]]), Fraction(2))
        assert least.tolist() == [0, 1, 1, 1]
        assert most.tolist() == [0, 2, 2, 2]

    def test_at_limits_above_the_number_of_rows_all_are_rounded_up(self):
        """The number that decides is that of the outputs, which lose a unit each."""
        wanted = np.array([[10.4, 20.0], [30.2, 40.0], [7.0, 9.0]])
        assert boxes(wanted, Fraction(4))[0].tolist() == [11, 31, 7]
        assert boxes(wanted, Fraction(3))[0].tolist() == [10, 31, 7]

    def test_at_smaller_limits_errors_of_neighbouring_outputs_cancel(self):
        """Up and down in turn: running sums of the least numerators are within a half of those of what is wanted."""
        wanted = np.random.default_rng(1).uniform(10, 100, (40, 1))
        least, _ = boxes(wanted, Fraction(2))
        assert np.abs(np.cumsum(least) - np.cumsum(wanted[:, 0])).max() <= 0.5 + 1e-9


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("limit", [Fraction(11, 10), Fraction(3), Fraction(10**4)])
def test_rows_that_are_alike_have_whole_numbers_too(limit, size):
    """They are at the bottom of every box: rounding all of these up would leave too little for any row."""
    for seed in range(20):
        wanted = np.tile(np.random.default_rng(seed).dirichlet(np.ones(size)), (3, 1))
        made = round_rows(wanted, limit, [Fraction(0)] * size, [Fraction(0)] * 3)
        assert (made.sum(axis=1) == D).all()
        assert all(
            most <= limit * least for most, least in zip(made.max(0).tolist(), made.min(0).tolist(), strict=True)
        )
        assert np.abs(made / D - wanted).max() < 1e-14


def carried_by_hand(wanted, least, most):
    """One row at a time, in fractions."""
    rows = []
    for row in wanted.T.tolist():
        carry, made = Fraction(0), []
        for value, low, high in zip(row, least.tolist(), most.tolist(), strict=True):
            carry += Fraction(value) - floor(value)
            made.append(min(max(floor(value) + round(carry), low), high))
            carry += floor(value) - made[-1]
        rows.append(made)
    return np.array(rows).T


@given(SEEDS, st.integers(1, 6), st.integers(1, 5))
@settings(max_examples=60)
def test_each_output_is_rounded_with_the_error_of_those_before_it(seed, outputs, rows):
    """Within the boxes; quarters, so that doubles are exact and ties occur."""
    rng = np.random.default_rng(seed)
    wanted = rng.integers(0, 80, (outputs, rows)) / 4
    least = rng.integers(0, 10, outputs)
    most = least + rng.integers(0, 12, outputs)
    made = _carried(wanted, least, most)
    assert made.tolist() == carried_by_hand(wanted, least, most).tolist()
    assert made.dtype == np.int64


@pytest.fixture
def sixty(monkeypatch):
    """Probabilities over sixty, so that all of them can be tried."""
    monkeypatch.setattr(integer_rounding, "DENOMINATOR", 60)


class TestSettling:
    @pytest.mark.usefixtures("sixty")
    @pytest.mark.parametrize(
        ("row", "settled"),
        [
            ((10, 20, 30), (10, 20, 30)),
            ((10, 20, 20), (10, 20, 30)),
            ((10, 10, 20), (10, 15, 35)),
            ((10, 25, 35), (10, 25, 25)),
            ((10, 30, 35), (10, 30, 20)),
            ((30, 30, 35), (25, 15, 20)),
        ],
    )
    def test_the_last_outputs_with_room_take_or_give_what_is_missing(self, row, settled):
        """As much as each box has room for, each row for itself."""
        least, most = np.array([5, 15, 20]), np.array([30, 30, 35])
        rounded = np.array([row, (25, 15, 20)]).T
        assert _settled(rounded, least, most).T.tolist() == [list(settled), [25, 15, 20]]

    @pytest.mark.usefixtures("sixty")
    @pytest.mark.parametrize(("least", "most", "missing"), [((0, 0), (20, 10), 30), ((30, 40), (40, 50), -10)])
    def test_a_row_without_room_is_named_with_what_it_lacks(self, least, most, missing):
        """After all that its boxes can take or give; they are those of all rows, so that it is the first."""
        rounded = np.array([(10, 10) if missing > 0 else (35, 45)] * 2).T
        says = rf"^row 0 must sum to 2\^53 in whole numbers within e\^epsilon, got {missing} too few: raise epsilon"
        with pytest.raises(TableError, match=says):
            _settled(rounded, np.array(least), np.array(most))


def widest_useful(spare, room, near, reach, forward):
    """The distance that `_useful_pair` should choose, read from its docstring, over all pairs; None without one."""
    pairs = [(i, j) for i, j in product(range(len(near)), repeat=2) if spare[i] and room[j]]
    distance = {(i, j): forward * (near[j] - near[i]) for i, j in pairs}
    if distance and max(distance.values()) > reach:
        rich, roomy = max(spare), max(room)
        distance = {(i, j): d for (i, j), d in distance.items() if spare[i] == rich or room[j] == roomy}
    useful = [d for d in distance.values() if 0 < d <= reach]
    return max(useful) if useful else None


@pytest.mark.slow
@given(SEEDS, st.integers(1, 6), st.sampled_from([0.5, 1.0, 2.0, 3.0, 100.0]), st.sampled_from([1, -1]))
@settings(max_examples=300)
def test_the_pair_to_move_units_between_is_the_widest_that_its_docstring_allows(seed, outputs, reach, forward):
    """Some outputs are at one place, some have nothing to spare or no room; who has most is never in doubt."""
    rng = np.random.default_rng(seed)
    near = np.sort(rng.integers(0, 8, outputs) / 2)
    spare, room = (rng.permutation(outputs) * rng.integers(0, 2, outputs) for _ in range(2))
    pair = _useful_pair(spare, room, near, reach, forward)
    expected = widest_useful(spare.tolist(), room.tolist(), near.tolist(), reach, forward)
    if pair is None:
        assert expected is None
    else:
        giver, taker = pair
        assert forward * (near[taker] - near[giver]) == expected
        assert spare[giver] > 0
        assert room[taker] > 0
        assert type(giver) is type(taker) is int


@pytest.mark.parametrize(
    ("near", "spare", "room", "pair"),
    [
        ((0, 1, 2), (1, 5, 0), (0, 9, 1), (0, 2)),  # the widest of all, just within reach
        ((0, 5, 6), (9, 1, 0), (0, 0, 9), (1, 2)),  # the last giver is the only one near enough
        ((0, 6, 7), (9, 1, 0), (0, 0, 9), (1, 2)),
        ((0, 1, 10, 12), (9, 0, 1, 0), (0, 1, 0, 9), (2, 3)),  # of two pairs near enough the wider
        ((0, 2, 10, 11), (9, 0, 1, 0), (0, 1, 0, 9), (0, 1)),
        ((0, 3, 10, 13), (9, 0, 1, 0), (0, 1, 0, 9), None),
    ],
)
def test_pairs_at_the_edge_of_a_reach_of_two(near, spare, room, pair):
    """In the mirror too, where giving goes from the right to the left."""
    assert _useful_pair(np.array(spare), np.array(room), np.array(near, dtype=float), 2.0, 1) == pair
    mirrored = -np.array(near[::-1], dtype=float)
    last = len(near) - 1
    found = _useful_pair(np.array(spare[::-1]), np.array(room[::-1]), mirrored, 2.0, -1)
    assert found == (pair and (last - pair[0], last - pair[1]))


PLACES = [0, 10, 25]


def moved(row, missing, *, least=(0, 0, 0), most=(99, 99, 99), enough=0, scale=1, places=PLACES):
    """The row after its mean was moved."""
    changed = np.array(row, dtype=np.int64)
    near = np.array(places) / scale
    _move_mean(changed, np.array(least), np.array(most), near, places, missing, enough, scale)
    return changed.tolist()


class TestMovingMeans:
    @pytest.mark.parametrize("scale", [1, 4])
    @pytest.mark.parametrize(
        ("missing", "units"), [(0, 0), (13, 1), (24, 1), (37, 1), (38, 2), (250, 10), (262, 10), (263, 11)]
    )
    def test_as_many_units_as_come_nearest_are_moved_over_the_widest_distance(self, missing, units, scale):
        """Both ways; what is left is less than half of the distance."""
        ends = {"scale": scale, "places": [0, 25], "least": (0, 0), "most": (99, 99)}
        assert moved((50, 50), missing, **ends) == [50 - units, 50 + units]
        assert moved((50, 50), -missing, **ends) == [50 + units, 50 - units]

    def test_one_that_is_missing_is_one_unit_over_a_distance_of_one(self):
        """Both ways."""
        ends = {"places": [0, 1], "least": (0, 0), "most": (99, 99)}
        assert moved((50, 50), 1, **ends) == [49, 51]
        assert moved((50, 50), -1, **ends) == [51, 49]

    def test_what_is_enough_is_left_alone(self):
        """At most as much, on both sides."""
        for missing in (100, -100):
            assert moved((50, 50, 50), missing, enough=100) == [50, 50, 50]
        assert moved((50, 50, 50), 101, enough=100) == [46, 50, 54]
        assert moved((50, 50, 50), -101, enough=100) == [54, 50, 46]

    def test_boxes_are_kept(self):
        """Whoever is at its end leaves the rest to the next."""
        assert moved((50, 50, 50), 1000, least=(47, 0, 0), most=(99, 99, 70)) == [47, 33, 70]
        assert moved((50, 50, 50), 1000, least=(0, 0, 0), most=(99, 58, 52)) == [40, 58, 52]
        assert moved((50, 50, 50), -1000, least=(0, 47, 48), most=(53, 99, 99)) == [53, 49, 48]

    @pytest.mark.slow
    @example(1095138, 4)  # twice 19 is the distance of two outputs
    @given(SEEDS, st.integers(1, 6))
    @settings(max_examples=200)
    def test_in_the_end_it_is_enough_or_nothing_useful_is_left(self, seed, outputs):
        """By the same reading of what is useful; sum and boxes hold, and it is never farther than before."""
        rng = np.random.default_rng(seed)
        places = np.sort(rng.integers(0, 40, outputs) * 2).tolist()
        row = rng.permutation(outputs) + 100
        least, most = row - rng.integers(0, 90, outputs), row + rng.integers(0, 90, outputs)
        missing = 2 * int(rng.integers(-3000, 3000)) + 1  # odd, so that two roundings are never as near
        after = np.array(moved(row, missing, least=least, most=most, enough=1, places=places))
        assert after.sum() == row.sum()
        assert (least <= after).all()
        assert (after <= most).all()
        left = missing - int((after - row) @ np.array(places))
        assert abs(left) <= abs(missing)
        forward = 1 if left > 0 else -1
        reach = float(np.nextafter(2 * abs(left), 0.0))  # twice what is missing would only turn it round
        pair = _useful_pair(after - least, most - after, np.array(places, dtype=float), reach, forward)
        assert abs(left) <= 1 or pair is None


def test_a_mean_that_cannot_be_kept_ends_after_fifty_moves(monkeypatch):
    """A search that finds a pair for ever is stopped."""
    asked = []

    def pair(*arguments):
        asked.append(arguments)
        return (0, 2)

    monkeypatch.setattr(integer_rounding, "_useful_pair", pair)
    assert moved((5000, 0, 0), 10**6, most=(10**4, 0, 1)) == [4999, 0, 1]
    assert len(asked) == 50


class TestWholeTables:
    PLACES = (Fraction(5), Fraction(0), Fraction(1, 3), Fraction(1))
    """Not in order, and of another denominator."""

    MATRIX = np.array([[0.1, 0.4, 0.3, 0.2], [0.2, 0.3, 0.3, 0.2], [0.15, 0.35, 0.25, 0.25]])

    def test_outputs_keep_their_numbers_whatever_order_their_means_have(self):
        """Each is within a few units of what was wanted, at its own place."""
        targets = [Fraction(4, 5), Fraction(13, 10), Fraction(13, 12)]
        made = round_rows(self.MATRIX, Fraction(9, 4), list(self.PLACES), targets)
        assert np.abs(made - self.MATRIX * D).max() < 50

    def test_outputs_of_equal_means_keep_their_order(self, monkeypatch):
        """So that the same table is rounded alike everywhere: all of mean 0 first, then all of mean 1."""
        seen = []

        def noted(wanted, limit):
            seen.append(wanted[:, 0] / D)
            return boxes(wanted, limit)

        monkeypatch.setattr(integer_rounding, "boxes", noted)
        row = np.arange(1, 65) / (32 * 65)
        means = [Fraction(j % 2) for j in range(64)]
        round_rows(np.array([row, row]), Fraction(3), means, [Fraction(1, 2)] * 2)
        assert seen[0].tolist() == pytest.approx([*row[::2], *row[1::2]])

    def test_a_column_beyond_its_limit_is_named_by_its_own_number(self):
        """Of two such columns the one of the smaller mean; rounding alone is no reason."""
        matrix = np.array([[0.1, 0.4, 0.3, 0.2], [0.4, 0.1, 0.3, 0.2]])
        targets = [Fraction(1), Fraction(2)]
        with pytest.raises(TableError, match=r"^every ratio must be .* got more at output 1: verify the table first$"):
            round_rows(matrix, Fraction(3), list(self.PLACES), targets)
        with pytest.raises(TableError, match="got more at output 1: verify"):
            round_rows(matrix, Fraction(4) * (1 - Fraction(2, 10**9)), list(self.PLACES), targets)
        made = round_rows(matrix, Fraction(4) * (1 - Fraction(1, 2 * 10**9)), list(self.PLACES), targets)
        assert all(max(column) < 4 * min(column) for column in made.T.tolist()[:2])

    @pytest.mark.parametrize(("units", "fits"), [(4.9, True), (5.1, False)])
    def test_an_output_of_a_few_units_may_lose_a_limit_and_one(self, units, fits):
        """Of 4.9 units beside 0.2 two are left at a limit of two: no sign yet of a table that is not private."""
        small = np.array([0.2, units]) / D
        matrix = np.column_stack([small, [0.5, 0.5], 0.5 - small])
        arguments = (matrix, Fraction(2), [Fraction(j) for j in range(3)], [Fraction(1, 2)] * 2)
        if fits:
            assert round_rows(*arguments)[1, 0] == 2
        else:
            with pytest.raises(TableError, match="got more at output 0"):
                round_rows(*arguments)

    def test_a_quadrillionth_of_the_domain_is_enough(self, monkeypatch):
        """What is missing of the mean and what is enough are handed on in units of 1 / (scale 2^53)."""
        seen = []
        monkeypatch.setattr(integer_rounding, "_move_mean", lambda *arguments: seen.append(arguments))
        targets = [Fraction(7, 2), Fraction(2), Fraction(1)]
        made = round_rows(self.MATRIX, Fraction(9, 4), list(self.PLACES), targets)
        for row, target, arguments in zip(made.tolist(), targets, seen, strict=True):
            ordered, least, most, near, places, missing, enough, scale = arguments
            assert ordered.tolist() == [row[j] for j in (1, 2, 3, 0)]
            assert (least <= ordered).all()
            assert (ordered <= most).all()
            assert (scale, places, near.tolist()) == (3, [0, 1, 3, 15], [0.0, 1 / 3, 1.0, 5.0])
            mean = sum(n * place for n, place in zip(row, self.PLACES, strict=True)) / D
            assert missing == round((target - mean) * 3 * D)
            assert enough == int(Fraction(5, 2) * 3 * D / 10**15)
