"""Designs of at most so many outputs."""

import numpy as np
import pytest
from optldp import Prior, design
from optldp.designer import BoxAmbiguity, Guarantee, Lattice, Levels, TradeOff, Variance, WorstCase
from optldp.designer.objectives import AtMost
from optldp.mechanisms import InputError, verify

PRIOR = Prior.on_knots(np.linspace(0, 10, 6), np.array([1, 2, 4, 3, 1, 1.0]), source="public")


@pytest.mark.parametrize(
    "objective", [Variance(), *(pytest.param(one, marks=pytest.mark.slow) for one in (WorstCase(), TradeOff(0.3)))]
)
def test_a_design_keeps_the_limit_its_promise_and_the_bound_of_free_outputs(objective):
    """Exact, unbiased, and no better than what the certificate says."""
    free, made = (design(PRIOR, 1.0, objective=objective, outputs=limit) for limit in (None, AtMost(3)))
    assert made.mechanism.n_outputs <= 3 < free.mechanism.n_outputs
    assert made.mechanism.exact
    assert verify(made.mechanism).ok
    assert made.bound == pytest.approx(free.bound, rel=1e-9)
    assert free.value < made.value < 1.2 * free.value
    assert str(made.status) == "gap-open"
    assert made.certificate.bound() == made.bound


@pytest.mark.nightly
def test_the_table_does_not_depend_on_who_solved_for_free_outputs():
    """The general solver's is no better, and no worse."""
    prior = Prior.even(np.linspace(-1, 1, 5))
    quick, general = (design(prior, 1.0, outputs=AtMost(3), general=one) for one in (False, True))
    assert quick.solver != general.solver
    assert quick.value == pytest.approx(general.value, rel=1e-6)


def test_a_limit_that_does_not_bind_changes_nothing():
    """The optimum has fewer outputs."""
    free, made = design(PRIOR, 1.0), design(PRIOR, 1.0, outputs=AtMost.bits(10))
    assert np.array_equal(made.mechanism.probabilities, free.mechanism.probabilities)
    assert str(made.status) == "optimal"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"objective": Guarantee(BoxAmbiguity(PRIOR.weights / 2, PRIOR.weights * 2))}, "AtMost is for Variance"),
        ({"method": Lattice(20)}, "AtMost is for tables of the optimum"),
        ({"form": "floor"}, "AtMost is for tables of the optimum"),
        ({"privacy": Levels([1.0, 2.0])}, "AtMost is for one budget"),
    ],
)
def test_what_has_no_few_outputs_is_refused(more, said):
    """One line each."""
    with pytest.raises(InputError, match=said):
        design(PRIOR, more.pop("privacy", 1.0), outputs=AtMost(4), **more)


@pytest.mark.parametrize("wrong", [1, 2.5, True, "4"])
def test_a_limit_is_a_whole_number(wrong):
    """Of at least two."""
    with pytest.raises(InputError, match="at least two outputs, a whole number"):
        AtMost(wrong)
    with pytest.raises(InputError, match="bits of a report"):
        AtMost.bits(17)
