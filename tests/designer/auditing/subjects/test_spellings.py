"""One input in several spellings, which all mean it."""

import json
import math

import numpy as np
from optldp.designer.auditing.sources import SPELLINGS
from optldp.designer.auditing.subjects.spellings import spellings

DOUBLES = np.random.default_rng(1).integers(0, 2**64, 2000, dtype=np.uint64).view(np.float64)
NUMBERS = [0.0, -0.0, 3.0, -41.0, 0.25, 1e5, 2.0**53, 2.0**60, 1e22, 5e-324, *DOUBLES[np.isfinite(DOUBLES)].tolist()]


def test_every_spelling_of_a_number_is_read_as_the_same_double():
    for number in NUMBERS:
        for text in spellings(number):
            assert float(text) == number == float(json.loads(text))
            assert math.copysign(1.0, float(text)) == math.copysign(1.0, number)


def test_whole_numbers_come_as_a_column_of_counts_has_them():
    """And with decimals, as prices, and with an exponent, as some programs write large ones."""
    assert spellings(3.0) == ("3.0", "3", "3.00", "3e+0")
    assert spellings(1e5) == ("100000.0", "100000", "100000.00", "1e+5")


def test_an_input_has_so_many_spellings_that_each_is_sent_as_often():
    inputs = [*NUMBERS, "cook", "Köchin", [["a", 1.5], ["é", 2.0]], [], [41.0, 2000.5], [[["a", 1.0]], 1], ["cook", 0]]
    many = {len(spellings(value)) for value in inputs}
    assert {SPELLINGS % one for one in many} == {0}
    assert max(many) > 2


def test_what_is_no_double_keeps_its_spelling():
    """The number of a level is no number of the user's column."""
    assert all(json.loads(text) == ["cook", 1] and text.endswith("1]") for text in spellings(["cook", 1]))
