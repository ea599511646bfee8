"""Bounds by counts within classes of equal weights, against all patterns and against closed forms."""

import itertools
import math

import numpy as np
import pytest
from optldp.solvers import FrequencyProgram, certified_frequency_bound, solve_frequency
from optldp.solvers.frequency.classes import WeightClasses
from optldp.solvers.frequency.frequency_program import Certificate, enumerated_violation, relaxed_violation
from scipy.optimize import linprog

PRIOR = np.array([0.1, 0.25, 0.1, 0.1, 0.25, 0.2])
RATIO = 2.5


def subset_selection_error(size, ratio):
    """Ye and Barg's scheme at the best subset size d."""
    d = np.arange(1, size)
    z = (size + (ratio - 1) * d) / size
    diagonal = ((ratio**2 - 1) * d / size + 1) / z**2
    return (1 / size + (size - 1) ** 2 / (size * diagonal - size)).min() - 1 / size


def orders_of(classes):
    """All permutations of the categories within classes."""
    places = [np.flatnonzero(classes.labels == label) for label in range(classes.sizes.size)]
    for chosen in itertools.product(*(itertools.permutations(place) for place in places)):
        order = np.empty(classes.labels.size, dtype=int)
        order[np.concatenate(places)] = np.concatenate([np.array(part) for part in chosen])
        yield order


def without_terms(root, multipliers):
    size, nothing = len(multipliers), np.zeros(0)
    return Certificate(root, multipliers, np.zeros(size), np.zeros((0, size)), nothing, nothing)


def test_averages_are_those_over_all_orders_within_classes():
    """Of a matrix and of a line, by permuting them in all ways."""
    rng = np.random.default_rng(1)
    classes = WeightClasses(PRIOR, RATIO)
    matrix, line = rng.normal(size=(6, 6)), rng.normal(size=6)
    matrix += matrix.T
    orders = list(orders_of(classes))
    assert len(orders) == 6 * 2
    np.testing.assert_allclose(classes.averaged(matrix), np.mean([matrix[o][:, o] for o in orders], axis=0), atol=1e-13)
    np.testing.assert_allclose(classes.averaged_line(line), np.mean([line[o] for o in orders], axis=0), atol=1e-13)


@pytest.mark.parametrize("seed", range(5))
def test_the_violation_of_averages_is_that_over_all_patterns(seed):
    """Averages of random matrices and lines, by counts and by enumeration; it is never more than before averaging."""
    rng = np.random.default_rng(seed)
    program, classes = FrequencyProgram(PRIOR, RATIO), WeightClasses(PRIOR, RATIO)
    root, multipliers = rng.normal(size=(6, 6)) / 3, rng.normal(1, 1, 6)
    root += root.T
    plain = enumerated_violation(program, root @ root, without_terms(root, multipliers))
    mean, line = classes.averaged(root), classes.averaged_line(multipliers)
    expected = enumerated_violation(program, mean @ mean, without_terms(mean, line))
    assert classes.violation(mean, line) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert expected <= plain + 1e-12


def test_multipliers_of_least_sum_leave_no_pattern_violated():
    """And less of them would: their sum is the linear program's over all patterns and all six multipliers."""
    program, classes = FrequencyProgram(PRIOR, RATIO), WeightClasses(PRIOR, RATIO)
    information = program.information(program.patterns(np.eye(6)) / 8)
    root = classes.averaged(np.linalg.inv(information).astype(np.float64))
    multipliers = classes.multipliers(root)
    s = np.array(list(itertools.product([1.0, RATIO], repeat=6)))
    least = np.einsum("nx,xy,ny->n", s, root @ root, s) / (s @ PRIOR)
    assert (s @ multipliers - least).min() > -1e-9 * least.max()
    every = linprog(np.ones(6), A_ub=-s, b_ub=-least, bounds=(None, None), method="highs")
    assert multipliers.sum() == pytest.approx(every.fun, rel=1e-9)


@pytest.mark.nightly
@pytest.mark.parametrize(("size", "epsilon"), [(19, 0.5), (40, 2.0), (64, 4.0), (100, 6.0)])
def test_the_bound_for_a_uniform_prior_is_subset_selection_s_error(size, epsilon):
    """To rounding, whatever the table's own gap."""
    found = solve_frequency(np.full(size, 1 / size), math.exp(epsilon))
    expected = subset_selection_error(size, math.exp(epsilon))
    assert found.bound <= expected * (1 + 1e-9)
    assert found.bound == pytest.approx(expected, rel=2e-4)
    assert len(found.multipliers["certificate"].levels) == 0


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1.0, 2.5])
def test_a_point_mass_has_a_bound_that_the_relaxation_does_not_find(epsilon):
    """One category of all the mass and 24 of none: within a thousandth, not within a tenth."""
    prior = np.eye(25)[3]
    found = solve_frequency(prior, math.exp(epsilon))
    assert found.gap < 1e-3
    program = FrequencyProgram(prior, math.exp(epsilon))
    relaxed = relaxed_violation(
        program,
        found.multipliers["certificate"].root @ found.multipliers["certificate"].root,
        found.multipliers["certificate"],
    )
    assert relaxed > 0
    assert found.bound == certified_frequency_bound(prior, math.exp(epsilon), found.multipliers["certificate"])


@pytest.mark.parametrize("seed", range(20))
def test_random_certificates_never_promise_more_than_tables_give(monkeypatch, seed):
    """By counts alone: enumeration is switched off, and the certificate is wrong."""
    monkeypatch.setattr("optldp.solvers.frequency.frequency_program.MOST_ENUMERATED", 0)
    rng = np.random.default_rng(seed)
    exact = solve_frequency(PRIOR, RATIO, tolerance=1e-4)
    root = np.linalg.inv(FrequencyProgram(PRIOR, RATIO).information(exact.solution))
    root += rng.normal(size=(6, 6)) * 10.0 ** rng.uniform(-4, 0)
    multipliers = exact.multipliers["certificate"].multipliers + rng.normal(size=6) * 10.0 ** rng.uniform(-4, 0)
    bound = certified_frequency_bound(PRIOR, RATIO, without_terms(root, multipliers))
    assert bound <= exact.value * (1 + 1e-12)


def test_classes_too_many_to_be_counted_are_left_to_the_relaxation():
    """Fifteen weights that differ are 2^15 vectors of counts."""
    assert not WeightClasses(np.arange(1.0, 16.0), RATIO).few
    assert WeightClasses(np.ones(2**13), RATIO).few
