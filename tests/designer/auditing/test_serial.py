"""Reports in their order: which of them make a pair, and where in a call it begins."""

import numpy as np
import pytest
from optldp.designer.auditing.serial import InOrder
from optldp.designer.auditing.subjects.subject import Subject

NOTHING = {"input": np.zeros(1, dtype=np.int64), "place": np.zeros(1, dtype=np.int64)}


class Counting(Subject):
    """Reports are their own input, and their place in the call."""

    weights, claims = np.ones(3), np.ones((3, 3))

    def draw(self, inputs):
        self.many = inputs.size
        return {"input": inputs.astype(np.int64), "place": np.arange(inputs.size)}

    def words(self, number):
        return number

    def likely_pairs(self, samples):
        return [(0, 2)]


class Pairs(InOrder):
    """The reports of pairs, before they are looked at together."""

    def _together(self, before, after, odd=0):
        return {"first": before["place"], "second": after["place"], "inputs": before["input"] * 3 + after["input"]}


@pytest.mark.parametrize("many", [1, 2, 7, 1000])
def test_each_second_pair_of_neighbours_begins_at_an_odd_place(many):
    """In the first half of a call's pairs as in the second: a search chooses on one half and judges on the other."""
    subject = Counting()
    ordered = Pairs(subject, 1, NOTHING)
    inputs = np.random.default_rng(1).integers(9, size=many)
    drawn = ordered.draw(inputs)
    np.testing.assert_array_equal(drawn["first"] % 2, np.arange(many) % 2)
    np.testing.assert_array_equal(drawn["second"], drawn["first"] + 1)
    np.testing.assert_array_equal(drawn["inputs"], ordered._pairs[inputs] @ [3, 1])
    assert np.unique(drawn["first"]).size == many
    assert subject.many % 2 == 0


@pytest.mark.parametrize("distance", [3, 10])
def test_pairs_at_a_distance_are_so_far_apart(distance):
    ordered = Pairs(Counting(), distance, NOTHING)
    inputs = np.random.default_rng(1).integers(9, size=25)
    drawn = ordered.draw(inputs)
    np.testing.assert_array_equal(drawn["second"] - drawn["first"], distance)
    np.testing.assert_array_equal(drawn["inputs"], ordered._pairs[inputs] @ [3, 1])
