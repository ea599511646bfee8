"""The prior that a table carries, and the record of where the table came from."""

import math

import numpy as np
import pytest
from optldp.mechanisms import InputError, Provenance
from optldp.mechanisms.table.knot_prior import KnotPrior
from optldp.mechanisms.table.provenance import installed_version


def test_a_prior_is_a_read_only_copy():
    """Its arrays cannot change under a table."""
    weights = np.array([0.5, 0.5])
    prior = KnotPrior(weights, np.zeros(1), "public")
    weights[0] = 7
    assert prior.weights[0] == 0.5
    with pytest.raises(ValueError, match="read-only"):
        prior.rounding[0] = 1


@pytest.mark.parametrize(
    ("weights", "rounding", "source", "message"),
    [
        ([1.0], [], "public", "n >= 2 weights"),
        ([0.5, 0.5], [0, 0], "public", "n - 1 rounding terms, got 2 and 2"),
        ([[0.5, 0.5]], [0], "public", "one-dimensional"),
        ([0.5, 0.4], [0], "public", "must sum to 1, got 0.9"),
        ([0.5, np.nan], [0], "public", "got nan in row 2"),
        ([1.5, -0.5], [0], "public", "got -0.5 in row 2"),
        ([0.5, 0.5], [-1], "public", "rounding must be finite and non-negative"),
        ([0.5, "x"], [0], "public", "weights must be numbers"),
        ([0.5, 0.5], [0], "secret", "one of public, private-report, sensitive, got 'secret'"),
    ],
)
def test_what_is_not_a_prior_is_refused(weights, rounding, source, message):
    """With the requirement, the value and its place."""
    with pytest.raises(InputError, match=message):
        KnotPrior(weights, rounding, source)


def test_provenance_takes_numpy_values_and_keeps_plain_ones():
    """What it holds can be written as JSON."""
    record = Provenance("x", {"n": np.int64(3), "flag": np.bool_(True), "list": np.array([1.0, 2.0]), "t": ("a", None)})
    assert record.parameters == {"n": 3, "flag": True, "list": [1.0, 2.0], "t": ["a", None]}
    assert type(record.parameters["n"]) is int
    assert record.version == installed_version()
    assert record.certificate is None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"method": 3}, "method must be text"),
        ({"parameters": [1]}, "parameters must be a mapping"),
        ({"parameters": {1: 2}}, "text as keys"),
        ({"parameters": {"a": {"b": 1}}}, r"parameters\['a'\] must be a number"),
        ({"parameters": {"a": [1, np.inf]}}, "must be finite, got inf"),
        ({"certificate": {"gap": float("nan")}}, "must be finite, got nan"),
    ],
)
def test_a_record_that_json_cannot_hold_is_refused(fields, message):
    """Found when the record is made, not when the file is written."""
    with pytest.raises(InputError, match=message):
        Provenance(**fields)


def test_weights_are_added_up_to_the_last_digit():
    """As the second verifier does: at the very edge of the slack a sum of doubles decided otherwise."""
    weights = np.array([0.3333333333333333, 0.33333333433333334, 0.3333333333333333])
    assert abs(math.fsum(weights) - 1) > 1e-9 >= abs(np.sum(weights) - 1)
    with pytest.raises(InputError, match="sum to 1"):
        KnotPrior(weights, np.full(2, 0.01), "public")
