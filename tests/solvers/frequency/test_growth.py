"""Tables for many categories by exchanges, against enumeration of all patterns and against column generation alone."""

import math

import numpy as np
import pytest
from optldp.solvers import FrequencyProgram, solve_frequency
from optldp.solvers.certificate import relative_gap
from optldp.solvers.frequency import frequency_program as frequency_program
from optldp.solvers.frequency import growth
from optldp.solvers.frequency import optimal_sets as frequency_optimum
from optldp.solvers.frequency.exchange import Exchange
from optldp.solvers.frequency.generation import Generation, Rounds
from optldp.solvers.frequency.growth import Growth
from optldp.solvers.frequency.patterns import cyclic_family, starting_marks
from optldp.solvers.frequency.tightening import Tightening

PRIORS = {
    "random": lambda size, rng: rng.dirichlet(np.ones(size)),
    "uneven": lambda size, rng: rng.dirichlet(np.full(size, 0.1)),
    "zeros": lambda size, rng: np.append(0.0, rng.dirichlet(np.ones(size - 1))) * (np.arange(size) % 3 != 2),
    "heavy": lambda size, rng: np.append(0.95, 0.05 * rng.dirichlet(np.ones(size - 1))),
    "classes": lambda size, rng: rng.choice([1.0, 2.0, 10.0], size),
    "uniform": lambda size, rng: np.ones(size),
    "point": lambda size, rng: np.eye(size)[0],
}


def prior_of(kind, size, rng):
    weights = PRIORS[kind](size, rng)
    return weights / weights.sum() if weights.sum() > 0 else np.full(size, 1 / size)


def grown(prior, epsilon, tolerance=1e-3, max_columns=4000):
    program = FrequencyProgram(prior, math.exp(epsilon))
    proof = Tightening(program, tolerance)
    growth = Growth(program, proof.certificate.multipliers, tolerance, max_columns, Rounds(None))
    return program, proof, growth, growth.run(proof)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("size", [2, 5, 12])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("kind", PRIORS)
def test_exchanges_agree_with_all_patterns(monkeypatch, kind, size, epsilon):
    """Few categories both ways: neither the error nor the bound of the one crosses the other's."""
    prior = prior_of(kind, size, np.random.default_rng(size))
    exact = solve_frequency(prior, math.exp(epsilon), tolerance=1e-4)
    monkeypatch.setattr(frequency_optimum, "MOST_ENUMERATED", 0)
    monkeypatch.setattr(frequency_program, "MOST_ENUMERATED", 0)
    found = solve_frequency(prior, math.exp(epsilon), tolerance=1e-3)
    assert found.value >= exact.bound * (1 - 1e-9)
    assert found.bound <= exact.value * (1 + 1e-9)
    assert found.value == pytest.approx(exact.value, rel=1.2e-3)
    assert found.solution.min() > 0
    assert (found.solution.max(0) / found.solution.min(0)).max() <= math.exp(epsilon) * (1 + 4e-16)
    np.testing.assert_allclose(found.solution.sum(1), 1, atol=1e-13)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", PRIORS)
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
def test_exchanges_agree_with_column_generation(kind, epsilon):
    """Twenty-two categories: neither finds much that the other, from balanced sets alone, does not."""
    prior = prior_of(kind, 22, np.random.default_rng(1))
    found = solve_frequency(prior, math.exp(epsilon))
    program = FrequencyProgram(prior, math.exp(epsilon))
    start = starting_marks(program, np.random.default_rng(2))
    weights = Generation(program, start, 1e-3, 4000, Rounds(None)).run(False, 0.0)
    assert found.value == pytest.approx(np.trace(weights.root) - program.square, rel=1e-3)


def test_what_is_returned_is_a_table_of_that_error():
    """Rows sum to one, patterns differ, weights are positive, and the error is recomputed."""
    program, _, growth, table = grown(prior_of("random", 30, np.random.default_rng(3)), 1.0)
    patterns = program.patterns(table.marks)
    np.testing.assert_allclose(patterns @ table.weights, 1, atol=1e-13)
    assert table.weights.min() > 0
    assert np.unique(table.marks, axis=1).shape == table.marks.shape
    assert table.error == program.error(patterns * table.weights)
    assert growth.best is table


def test_the_relaxation_s_gap_is_reached_and_no_more_is_done():
    """A Zipf prior of 40 categories: three sweeps of 800 patterns, a gap within the tolerance."""
    prior = 1 / np.arange(1, 41)
    _, proof, growth, table = grown(prior / prior.sum(), 1.0)
    assert relative_gap(table.error, proof.bound) <= 1e-3
    assert growth.rounds.count <= 6
    assert table.weights.size <= 800


@pytest.mark.nightly
def test_more_patterns_come_where_the_first_leave_a_gap():
    """A tighter tolerance takes more than twenty for each category, and as many as are allowed."""
    prior = prior_of("random", 20, np.random.default_rng(4))
    _, _, few, loose = grown(prior, 1.0, 1e-4, 400)
    _, _, many, tight = grown(prior, 1.0, 1e-4, 600)
    assert few.table.weights.size == 400
    assert 400 < many.table.weights.size <= 600
    assert tight.error < loose.error


@pytest.mark.nightly
def test_the_same_prior_gives_the_same_table():
    """To the last bit."""
    prior = prior_of("classes", 25, np.random.default_rng(5))
    one, other = (solve_frequency(prior, math.e) for _ in range(2))
    np.testing.assert_array_equal(one.solution, other.solution)
    assert one.bound == other.bound


def test_a_sweep_that_fails_leaves_what_was_found_before(monkeypatch):
    """Rounding may make M singular; the best table so far stands."""
    program = FrequencyProgram(prior_of("random", 20, np.random.default_rng(6)), math.e)
    proof = Tightening(program, 1e-6)
    growth = Growth(program, proof.certificate.multipliers, 1e-6, 400, Rounds(None))
    sweep = Exchange.sweep

    def failing(table, rng):
        if growth.rounds.count == 2:
            raise np.linalg.LinAlgError("singular")
        sweep(table, rng)

    monkeypatch.setattr(Exchange, "sweep", failing)
    table = growth.run(proof)
    assert growth.rounds.count == 2
    assert table.error == program.error(program.patterns(table.marks) * table.weights)


@pytest.mark.nightly
def test_a_hundred_and_twenty_eight_categories_close():
    """Zipf and uniform, one unit of budget: gaps of a thousandth, which column generation took minutes for."""
    for prior in (1 / np.arange(1, 129), np.ones(128)):
        found = solve_frequency(prior / prior.sum(), math.e)
        assert found.gap < 1e-3
        assert found.solution.shape[1] <= 4000


@pytest.mark.nightly
@pytest.mark.parametrize(("size", "seed"), [(112, 0), *((128, seed) for seed in range(5))])
def test_prefix_sums_of_many_categories_are_nearly_closed_whatever_the_seed(monkeypatch, size, seed):
    """Errors of sums of neighbours: from flat families exchanges stuck 3 to 33% above the bound, by the seed."""
    monkeypatch.setattr(growth, "SEED", seed)
    sums = np.tri(size)
    found = solve_frequency(np.full(size, 1 / size), math.e, importance=sums.T @ sums, tolerance=1e-2)
    assert found.gap < 0.01


def test_where_all_errors_count_alike_exchanges_start_from_flat_families():
    """Coloured noise is for an importance; the families of histograms stay what they were."""
    program = FrequencyProgram(np.full(30, 1 / 30), math.e)
    made = Growth(program, np.ones(30), 1e-3, 4000, Rounds(None))
    flat = cyclic_family(30, round(30 / (1 + math.e)), growth.FIRST, np.random.default_rng(growth.SEED))
    np.testing.assert_array_equal(made.table.marks, flat)
