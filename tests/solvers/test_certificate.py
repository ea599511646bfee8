"""One vocabulary for how good an answer is: gap, status, tolerance and progress."""

import json
import math
import pickle
import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.mechanisms.errors import InputError
from optldp.solvers.certificate import Progress, Status, check_tolerance, relative_gap

NUMBERS = st.floats(-1e100, 1e100)
SIZES = st.floats(1e-6, 1e6)


@given(SIZES, st.floats(0, 0.9))
def test_the_gap_is_the_share_of_the_value_by_which_the_bound_is_off_on_either_side(value, share):
    """A minimisation's bound lies below its value, a maximisation's above; signs make no difference."""
    below, above = value - share * value, value + share * value
    assert relative_gap(value, below) == pytest.approx(share, abs=1e-15)
    assert relative_gap(value, above) == relative_gap(-value, -above) == pytest.approx(share, abs=1e-15)


@given(NUMBERS, NUMBERS, st.floats(1e-3, 1e3))
def test_the_gap_is_never_negative_and_has_no_unit(value, bound, unit):
    gap = relative_gap(value, bound)
    assert gap >= 0
    assert (gap == 0) == (value == bound)
    if min(abs(value), abs(value - bound)) > 1e-290:  # smaller numbers lose digits when multiplied
        assert relative_gap(unit * value, unit * bound) == pytest.approx(gap, rel=1e-9, abs=1e-12)


def test_at_zero_the_gap_is_closed_or_infinite():
    assert relative_gap(0.0, 0.0) == relative_gap(-0.0, 0.0) == 0.0
    assert relative_gap(0.0, -1e-300) == relative_gap(0.0, 1e-300) == math.inf
    assert relative_gap(np.float64(0.0), np.float64(1.0)) == math.inf  # and no warning of numpy's


def test_nothing_is_certified_by_numbers_that_are_not_finite():
    """A value as infinite as its bound has no closed gap."""
    bad = (math.inf, -math.inf, math.nan)
    for value, bound in [*product(bad, (0.0, 1.0)), *product((0.0, 1.0), bad), *product(bad, bad)]:
        assert relative_gap(value, bound) == math.inf


def test_a_status_is_what_files_say_and_has_a_sentence_to_read():
    assert [str(one) for one in Status] == ["optimal", "gap-open"]
    assert json.dumps({"status": Status.GAP_OPEN}) == '{"status": "gap-open"}'
    for one in Status:
        assert one == Status(str(one)) is pickle.loads(pickle.dumps(one))
        assert re.fullmatch(r"the certificate[a-z'; ]+", one.sentence)
    assert "valid" in Status.GAP_OPEN.sentence
    assert Status.OPTIMAL.sentence != Status.GAP_OPEN.sentence


@pytest.mark.parametrize(
    ("gap", "status"), [(0.0, "optimal"), (1e-6, "optimal"), (1.1e-6, "gap-open"), (math.inf, "gap-open")]
)
def test_an_answer_is_optimal_when_its_gap_is_within_the_tolerance(gap, status):
    assert Status.of(gap, 1e-6) is Status(status)


def test_a_gap_that_is_no_number_is_open():
    assert Status.of(math.nan, 1e-6) is Status.GAP_OPEN


def test_progress_knows_its_gap():
    assert Progress(3, 5.0, 4.0, 16, 0.1).gap == 0.2
    assert Progress(0, 5.0, 0.0, 16, 0.1).gap == 1.0  # nothing certified yet


@pytest.mark.parametrize("tolerance", [5e-324, 1e-6, 0.5, 1 - 1e-15])
def test_a_tolerance_is_a_share(tolerance):
    assert check_tolerance(tolerance) == tolerance


@pytest.mark.parametrize("tolerance", [0.0, 1.0, -1e-6, 2, math.nan, math.inf])
def test_other_tolerances_are_refused(tolerance):
    with pytest.raises(InputError, match=re.escape(f"strictly between 0 and 1, got {tolerance!r}")):
        check_tolerance(tolerance)
