"""Largest expectations over sets of priors: against cvxpy from the definitions, safe, and attained."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.mechanisms import InputError, SolverError
from optldp.solvers.robust import BandSet, BoxSet, MixedSet, MovedSet, PriorSet, TransportSet
from optldp.solvers.robust.polytope import PriorPolytope
from scipy.optimize import linprog

from ..robust_oracle import KINDS, largest_with_cvxpy, random_set

PRIOR = np.array([0.1, 0.4, 0.3, 0.2])
KNOTS = np.array([-1.0, -0.5, 0.25, 1.0])


def drawn(seed: int, kind: str, largest_n: int = 8) -> tuple[PriorSet, np.ndarray]:
    """A random set, and values with ties in a third of the cases."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, largest_n + 1))
    knots = np.concatenate([[-1], np.sort(rng.uniform(-0.99, 0.99, n - 2)), [1]])
    prior = rng.dirichlet(np.full(n, 0.7))
    if rng.random() < 0.3:
        prior[rng.random(n) < 0.4] = 0
    prior = prior / prior.sum() if prior.sum() > 0 else np.eye(n)[0]
    values = rng.uniform(0, 5, n)
    return random_set(knots, prior, kind, rng), np.round(values) if rng.random() < 0.3 else values


def distance(priors: PriorSet, q: np.ndarray) -> float:
    """By how much a prior breaks what the set is defined by."""
    if isinstance(priors, BoxSet):
        return float(max((priors.low - q).max(), (q - priors.high).max()))
    if isinstance(priors, MixedSet):
        return float(((1 - priors.share) * priors.prior - q).max())
    if isinstance(priors, MovedSet):
        return float(0.5 * np.abs(q - priors.prior).sum() - priors.radius)
    if isinstance(priors, TransportSet):
        return priors.distance(q) - priors.radius
    assert isinstance(priors, BandSet)
    return float(max((priors.low - priors.matrix @ q).max(), (priors.matrix @ q - priors.high).max()))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_largest_expectation_is_that_of_a_linear_program_on_the_definition(kind, seed):
    priors, values = drawn(seed, kind)
    bound, worst = priors.largest(values)
    assert bound == pytest.approx(largest_with_cvxpy(priors, values), abs=1e-7)
    assert worst @ values == pytest.approx(bound, abs=1e-8)
    assert worst.sum() == pytest.approx(1, abs=1e-12)
    assert worst.min() >= -1e-15
    assert distance(priors, worst) < 1e-8


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_member_has_more_and_the_bound_is_on_the_safe_side(kind, seed):
    """Members drawn inside, and the one that is said to attain it."""
    priors, values = drawn(seed, kind)
    bound, worst = priors.largest(values)
    for share in np.random.default_rng(seed).uniform(0, 1, 5):
        member = share * worst + (1 - share) * priors.some_prior
        assert member @ values <= bound * (1 + 1e-9 * (kind == "band"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_polytope_is_the_set(kind, seed):
    """Its own linear program has the same optimum, and its centre is a member with all slacks positive."""
    priors, values = drawn(seed, kind)
    polytope = priors.polytope()
    total = [1 - polytope.base.sum()]
    found = linprog(
        -(values @ polytope.spread),
        A_ub=polytope.rows,
        b_ub=polytope.right,
        A_eq=polytope.border[None],
        b_eq=total,
        bounds=(None, None),
    )
    assert values @ polytope.base - found.fun == pytest.approx(priors.largest(values)[0], abs=1e-7)
    x = polytope.centre()
    assert polytope.slack(x).min() > 0
    assert distance(priors, polytope.prior(x)) < 1e-12
    assert polytope.prior(x).sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_at_the_centre_the_slacks_cannot_grow_together(kind):
    """Moves within the sum of one lower the product of slacks."""
    priors, _ = drawn(5, kind)
    polytope = priors.polytope()
    x = polytope.centre()
    rng, border = np.random.default_rng(1), polytope.border
    for _ in range(20):
        move = rng.normal(size=len(x)) * polytope.slack(x).min()
        move -= border * (border @ move) / (border @ border)
        assert np.log(polytope.slack(x + 0.3 * move)).sum() < np.log(polytope.slack(x)).sum()


@pytest.mark.parametrize("kind", KINDS)
def test_the_lower_bounds_come_first(kind):
    """What the solver mends its multipliers by."""
    polytope = drawn(8, kind)[0].polytope()
    lower = len(polytope.free)
    assert lower >= 2
    np.testing.assert_array_equal(polytope.spread[:, :lower], np.eye(len(polytope.base))[:, polytope.free])
    np.testing.assert_array_equal(polytope.rows[:lower, :lower], -np.eye(lower))
    assert not polytope.rows[:lower, lower:].any()
    assert not polytope.spread[:, lower:].any()


def test_moved_mass_comes_from_the_smallest_values():
    bound, worst = MovedSet(PRIOR, 0.45).largest(np.array([0.0, 1.0, 5.0, 2.0]))
    np.testing.assert_allclose(worst, [0, 0.05, 0.75, 0.2])
    assert bound == pytest.approx(4.2)


def test_weights_that_cannot_change_are_no_coordinates():
    fixed = BoxSet(np.array([0.1, 0.4, 0.1, 0.1]), np.array([0.5, 0.4, 0.3, 0.2])).polytope()
    np.testing.assert_array_equal(fixed.free, [0, 2, 3])


def test_the_largest_over_mixtures_is_a_mixture_of_expectation_and_largest():
    bound, worst = MixedSet(PRIOR, 0.3).largest(np.array([0.0, 1.0, 5.0, 2.0]))
    np.testing.assert_allclose(worst, [0.07, 0.28, 0.51, 0.14])
    assert bound == pytest.approx(0.7 * 2.3 + 0.3 * 5, rel=1e-14)


def test_a_radius_beyond_all_mass_leads_to_the_largest_value():
    for priors in (MovedSet(PRIOR, 1.0), TransportSet(KNOTS, PRIOR, 2.0), BoxSet(np.zeros(4), np.ones(4))):
        bound, worst = priors.largest(np.array([1.0, 0.0, 3.0, 2.0]))
        np.testing.assert_allclose(worst, [0, 0, 1, 0])
        assert bound == pytest.approx(3, rel=1e-14)


def test_a_radius_of_zero_leads_nowhere():
    values = np.array([1.0, 0.0, 3.0, 2.0])
    for priors in (MovedSet(PRIOR, 0.0), TransportSet(KNOTS, PRIOR, 0.0), BoxSet(PRIOR, PRIOR)):
        bound, worst = priors.largest(values)
        np.testing.assert_allclose(worst, PRIOR, atol=1e-15)
        assert bound == pytest.approx(PRIOR @ values, rel=1e-14)


def test_transport_pays_by_distance():
    """A quarter of travel moves a quarter by one, or an eighth by two: the steeper rise wins."""
    near = TransportSet(np.array([0.0, 1.0, 2.0]), np.array([1.0, 0.0, 0.0]), 0.25)
    assert near.largest(np.array([0.0, 1.0, 4.0]))[0] == pytest.approx(0.5)
    assert near.largest(np.array([0.0, 3.0, 4.0]))[0] == pytest.approx(0.75)


def test_the_distance_is_the_earth_movers():
    far = TransportSet(KNOTS, PRIOR, 0.1).distance(np.array([0.2, 0.3, 0.3, 0.2]))
    assert far == pytest.approx(0.05)


def test_a_band_of_no_rows_is_every_prior():
    assert BandSet(np.zeros((0, 4)), np.zeros(0), np.zeros(0)).largest(KNOTS + 1)[0] == pytest.approx(2, rel=1e-12)


def test_a_bands_bound_does_not_trust_the_solver(monkeypatch):
    """Whatever multipliers come back, no member has more than the bound made of them."""
    from dataclasses import replace

    from optldp.solvers.linear_program import solve_linear_program as real
    from optldp.solvers.robust import band as robust_band

    priors = BandSet(np.array([[1.0, 0.0, 0.5, 0.0]]), np.array([0.2]), np.array([0.3]))
    honest = priors.largest(KNOTS + 1)[0]

    def lies(program):
        found = real(program)
        return replace(found, objective=0.0, row_duals=found.row_duals * 0.5)

    monkeypatch.setattr(robust_band, "solve_linear_program", lies)
    assert priors.largest(KNOTS + 1)[0] > honest + 1e-3


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: BoxSet(np.array([0.6, 0.6]), np.array([0.7, 0.7])), "sum of 1"),
        (lambda: BoxSet(np.array([0.1, 0.1]), np.array([0.2, 0.2])), "sum of 1"),
        (lambda: BoxSet(np.array([0.6, 0.1]), np.array([0.5, 0.9])), "low <= high"),
        (lambda: BoxSet(np.array([-0.1, 0.1]), np.array([0.5, 0.9])), "low <= high"),
        (lambda: BandSet(np.eye(2), np.zeros(2), np.full(2, 0.4)), "excludes all priors"),
        (lambda: BandSet(np.eye(2), np.zeros(2), np.zeros(2)), "low < high"),
        (lambda: BandSet(np.eye(2), np.zeros(1), np.ones(1)), "one upper bound for each"),
    ],
)
def test_sets_without_members_are_refused(make, says):
    with pytest.raises(InputError, match=says):
        make()


def test_a_polytope_without_an_inside_has_no_centre():
    flat = PriorPolytope(np.zeros(2), np.eye(2), -np.eye(2), np.zeros(2), np.array([1.0, 0.0]))
    with pytest.raises(SolverError, match="inside"):
        flat.centre()
