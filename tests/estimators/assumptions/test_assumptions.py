"""Assumptions hold what they say, refuse what they cannot use, and say how many people they must exempt."""

import numpy as np
import pytest
from optldp import Prior
from optldp.estimators.assumptions import Factor, Monotone, Shape, Unimodal, exempt_needed
from optldp.estimators.assumptions.base import Assumed
from optldp.mechanisms import InputError
from optldp.solvers.modulus.largest import largest

KNOTS = np.linspace(0.0, 10.0, 21)
WEIGHTS = np.exp(-0.5 * ((KNOTS - 3.0) / 2.0) ** 2) + 0.01
WEIGHTS[[0, -1]] /= 2  # half a cell
PRIOR = Prior.on_knots(KNOTS, WEIGHTS, source="public")


@pytest.mark.parametrize("assume", [Factor(PRIOR, 1.5), Shape(PRIOR, 1.05), Unimodal(3.0), Monotone(3.0)])
def test_the_prior_meets_every_assumption_that_it_is_made_for(assume):
    assert exempt_needed(assume, KNOTS, PRIOR.weights) == pytest.approx(0.0, abs=1e-9)
    assert (assume.rows(KNOTS) @ PRIOR.weights >= -1e-12).all()


def test_a_factor_holds_weights_within_it_and_no_others():
    rows = Factor(PRIOR, 2.0).rows(KNOTS)
    at_twice = PRIOR.weights.copy()
    at_twice[4] *= 2.5
    assert (rows @ (at_twice / at_twice.sum()) < 0).any()


def test_a_shape_lets_ratios_change_by_its_rate_and_no_faster():
    tilted = PRIOR.weights * 1.04 ** (100 * KNOTS / 10)
    tilted /= tilted.sum()
    assert (Shape(PRIOR, 1.041).rows(KNOTS) @ tilted >= 0).all()
    assert (Shape(PRIOR, 1.039).rows(KNOTS) @ tilted < 0).any()


def test_people_who_are_exempt_are_as_many_as_are_moved():
    moved = 0.97 * PRIOR.weights
    moved[-1] += 0.03
    need = exempt_needed(Shape(PRIOR, 1.0), KNOTS, moved)
    assert need == pytest.approx(0.03 * (1 - PRIOR.weights[-1]), rel=1e-4)


def test_what_few_people_may_do_makes_bounds_larger_and_no_one_else_does():
    above = (KNOTS > 8.0).astype(float)
    bounds = [
        largest(above, Assumed.of(Shape(PRIOR, 1.0, exempt=exempt), KNOTS).polyhedron).bound for exempt in (0.0, 0.05)
    ]
    assert bounds[0] == pytest.approx(above @ PRIOR.weights, abs=1e-6)
    assert bounds[1] == pytest.approx(above @ PRIOR.weights + 0.05, abs=1e-6)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: Factor(PRIOR, 0.5), "trust must be a finite number of at least 1, got 0.5"),
        (lambda: Shape(PRIOR, 1.1, exempt=1.0), "exempt must be a share of people"),
        (lambda: Assumed.of(Shape(PRIOR, 1.1), KNOTS[:-1]), "must be on the 20 knots of the table, got 21 others"),
        (lambda: Assumed.of(Unimodal(11.0), KNOTS), "must name a value within 0 to 10"),
        (lambda: Assumed.of([Factor(PRIOR, 1.01), Monotone(0.0)], KNOTS), "which no distribution meets"),
        (
            lambda: Shape(Prior.on_knots(KNOTS, np.r_[0.0, WEIGHTS[1:]], source="public"), 1.1).rows(KNOTS),
            "must have weight at every knot, got none at 0",
        ),
    ],
)
def test_what_cannot_be_assumed_is_refused_in_a_line(made, message):
    with pytest.raises(InputError, match=message):
        made()
