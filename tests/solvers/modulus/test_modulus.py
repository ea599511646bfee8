"""Moduli against an independent program, and certificates that hold whatever a solver says."""

# pyright: reportArgumentType=false

import warnings
from statistics import NormalDist

import cvxpy as cp
import numpy as np
import pytest
from optldp.solvers.modulus.at_least import distance_to
from optldp.solvers.modulus.estimates import Reference, largest_over
from optldp.solvers.modulus.largest import largest, nearest, proved
from optldp.solvers.modulus.polyhedron import Polyhedron, intersection
from optldp.solvers.modulus.shortest import shortest_length
from scipy.integrate import simpson

KNOTS, USERS = 15, 4000
LAW = np.exp(-np.abs(np.subtract.outer(np.linspace(0, 1, KNOTS), np.linspace(0, 1, 20))))
LAW = LAW / LAW.sum(axis=1, keepdims=True)
G = np.linspace(2.0, 1.0, KNOTS) / np.linspace(2.0, 1.0, KNOTS).sum()
MATRIX = np.sqrt(USERS / (G @ LAW))[:, None] * LAW.T
ABOVE = (np.arange(KNOTS) > 5).astype(float)
RATE = 1.1
RATIOS = np.vstack(
    [
        sign_rows
        for k in range(KNOTS - 1)
        for sign_rows in (
            RATE * np.eye(KNOTS)[k] / G[k] - np.eye(KNOTS)[k + 1] / G[k + 1],
            RATE * np.eye(KNOTS)[k + 1] / G[k + 1] - np.eye(KNOTS)[k] / G[k],
        )
    ]
)
SHAPED = Polyhedron.of_rows(RATIOS * G.mean())
CLASSES = {"all": Polyhedron.simplex(KNOTS), "shaped": SHAPED, "exempt": SHAPED.with_exempt(0.02)}


def oracle(functional, name, radius):
    """The same by cvxpy, from the definition of the class."""
    p, u = cp.Variable(KNOTS), cp.Variable(KNOTS)
    held = [p >= 0, cp.sum(p) == 1, cp.norm(MATRIX @ (p - G)) <= radius]
    if name != "all":
        held += [u >= 0, cp.sum(u) == 1, RATIOS @ u >= 0]
        held += [p == u] if name == "shaped" else [cp.norm1(p - u) <= 2 * 0.02]
    problem = cp.Problem(cp.Maximize(functional @ p), held)
    with warnings.catch_warnings():  # of a solution that is good to five digits
        warnings.simplefilter("ignore")
        return float(problem.solve(solver="CLARABEL"))


@pytest.mark.parametrize("name", CLASSES)
def test_moduli_are_those_of_an_independent_program(name):
    for sign, radius in ((1.0, 1.96), (-1.0, 0.7)):
        found = largest(sign * ABOVE, CLASSES[name], MATRIX, MATRIX @ G, radius)
        assert found.bound == pytest.approx(oracle(sign * ABOVE, name, radius), abs=1e-6)


@pytest.mark.parametrize("name", CLASSES)
def test_the_bias_of_an_estimate_is_no_less_than_anywhere_in_the_class(name):
    found = largest(ABOVE, CLASSES[name], MATRIX, MATRIX @ G, 1.0)
    rest = ABOVE - MATRIX.T @ found.estimate
    assert found.bias >= largest_over(rest[None], CLASSES[name])[0] - 1e-7
    assert largest_over(rest[None], CLASSES[name])[0] >= rest @ found.weights - 1e-7


def test_any_multipliers_prove_a_bound():
    rng = np.random.default_rng(0)
    for _ in range(20):
        y = rng.exponential(0.01, len(RATIOS))
        assert proved(ABOVE, SHAPED, rng.normal(), y, np.empty(0)) >= largest_over(ABOVE[None], SHAPED)[0] - 1e-9


def test_paths_choose_the_estimates_that_programs_choose():
    asked = np.tri(KNOTS)[:-1]
    reference = Reference(CLASSES["all"], MATRIX, G)
    by_paths = reference.estimates(asked, 1.96)
    one_by_one = np.vstack([reference.estimates(a[None], 1.96) for a in asked])

    def length(h):
        return 1.96 * np.linalg.norm(h, axis=1) + (asked - h @ MATRIX).max(axis=1) + h @ MATRIX @ G

    np.testing.assert_allclose(length(by_paths), length(one_by_one), atol=2e-4)


@pytest.mark.parametrize("name", ["all", "shaped", pytest.param("exempt", marks=pytest.mark.slow)])
def test_the_shortest_length_is_within_a_hundredth_of_the_integral_of_moduli(name):
    found = shortest_length(ABOVE, Reference(CLASSES[name], MATRIX, G), 0.95).length
    z, at = NormalDist().inv_cdf(0.95), np.linspace(0.0, 6.0, 9)
    both = [0.0] + [oracle(ABOVE, name, d) + oracle(-ABOVE, name, d) for d in at[1:]]
    density = np.array([NormalDist().pdf(z - d) for d in at])
    integral = simpson(both * density, x=at)
    assert 0.985 * integral <= found <= 1.003 * integral


def test_without_constraints_the_bound_is_the_classical_one():
    even = np.full(KNOTS, 1 / KNOTS)
    small = 100.0 * np.eye(KNOTS)  # so that nothing else than noise counts
    found = shortest_length(ABOVE, Reference(CLASSES["all"], small, even), 0.95).length
    error = np.sqrt(((ABOVE - ABOVE.mean()) ** 2).sum()) / 100.0
    # \int 2 d phi(1.645 - d) dd = 3.33 standard errors, which Pratt (1961) has
    assert found == pytest.approx(3.33 * error, rel=0.02)


def test_the_nearest_weights_and_the_distance_to_a_number_agree():
    nearer = nearest(SHAPED, MATRIX, MATRIX @ G)
    np.testing.assert_allclose(nearer, G, atol=1e-3)
    reached = largest(ABOVE, SHAPED, MATRIX, MATRIX @ G, 1.3).bound
    assert distance_to(ABOVE, reached, SHAPED, MATRIX, G) == pytest.approx(1.3, abs=1e-3)
    assert distance_to(ABOVE, 1.1, SHAPED, MATRIX, G) == np.inf


def test_an_intersection_with_exempt_people_is_no_larger_than_either():
    falling = Polyhedron.of_rows(np.eye(KNOTS)[:-1] - np.eye(KNOTS)[1:])
    both = intersection([falling, CLASSES["exempt"]])
    bounds = [largest(ABOVE, one, MATRIX, MATRIX @ G, 1.0).bound for one in (both, falling, CLASSES["exempt"])]
    assert bounds[0] <= min(bounds[1:]) + 1e-7
