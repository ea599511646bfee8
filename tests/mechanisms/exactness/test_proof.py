"""The proof at its limits: a ratio just at the bound is private, a bias of just what is allowed is none."""

from fractions import Fraction

import numpy as np
import pytest
from optldp.mechanisms import Provenance, TabulatedMechanism, prove
from optldp.mechanisms.exactness import promises

WIDTH = 5.0**12
"""A domain whose 1e-12th part, 2^-12, is a double."""


def table_shifted_by(shift: float) -> TabulatedMechanism:
    """A ratio of three, the means beside their knots by `shift`; it claims to be unbiased."""
    ends = np.array([-WIDTH / 2, 1.5 * WIDTH]) + shift
    matrix = np.array([[0.75, 0.25], [0.25, 0.75]])
    source = Provenance("test", {"unbiased": True}, "0")
    return TabulatedMechanism(np.array([0.0, WIDTH]), ends, ends, matrix, 1.1, provenance=source, exact=True)


@pytest.mark.parametrize("beyond", [Fraction(0), Fraction(1, 2**128)])
def test_a_ratio_at_the_bound_is_private_and_one_beyond_it_is_not(beyond, monkeypatch):
    """The bound is put to three, and to the next number below that it could be."""
    monkeypatch.setattr(promises, "exponential_below", lambda budget: 3 - beyond)
    proof = prove(table_shifted_by(0.0))
    assert proof.ok == (beyond == 0)
    assert proof.slack == -beyond
    assert len(proof.failures) == (beyond > 0)


@pytest.mark.parametrize(
    ("shift", "got"), [(2.0**-12, None), (2.0**-12 + 2.0**-22, "1.001e-12"), (-(2.0**-11), "2.000e-12")]
)
def test_a_bias_of_a_trillionth_of_the_domain_is_the_largest_that_is_unbiased(shift, got):
    """To the last bit of the reports, whichever way."""
    text = "an exact table that claims to be unbiased must be so within 1e-12 of the domain, got {} at knot 0"
    proof = prove(table_shifted_by(shift))
    assert proof.relative_bias == abs(Fraction(shift)) / Fraction(WIDTH)
    assert proof.ok == (got is None)
    assert proof.failures == ((text.format(got),) if got else ())
