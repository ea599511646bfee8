"""The bound: what a certificate proves holds for every table, however wrong the certificate's numbers."""

# Tests know which kind of mechanism or result they made; the types say only that it may be one of several.
# pyright: reportArgumentType=false

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.mechanisms import InputError
from optldp.solvers import FrequencyProgram, certified_frequency_bound, solve_frequency
from optldp.solvers.frequency import frequency_program as frequency_program
from optldp.solvers.frequency.frequency_program import Certificate, all_marks


def every_pattern(size, ratio):
    return np.array(list(itertools.product([1.0, ratio], repeat=size))).T


def random_certificate(rng, size, count=5):
    """Something of the right magnitude, but no more."""
    root = rng.normal(size=(size, size)) / size + np.diag(rng.random(size) * 3)
    groups = (rng.random((count, size)) < 0.5).astype(float)
    levels, weights = rng.integers(-1, size, count).astype(float), rng.random(count)
    return Certificate(root, rng.normal(1, 1, size), rng.normal(size=size), groups, levels, weights)


def random_table(rng, program, columns):
    """Columns that privacy allows, rows summing to one: what is missing goes to the all-1 column, in a mixture."""
    raw = 1 + (program.ratio - 1) * rng.random((program.size, columns))
    raw *= 1 / (raw.sum(1).max() * 1.5)
    rest = 1 - raw.sum(1)
    return np.column_stack([raw, rest]) if rest.max() <= program.ratio * rest.min() else None


@pytest.mark.nightly
@given(st.integers(2, 6), st.floats(0.2, 4.0), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_random_certificates_never_promise_more_than_tables_give(size, epsilon, seed):
    """By enumeration and by relaxation alike: weak duality needs no good numbers."""
    rng = np.random.default_rng(seed)
    program = FrequencyProgram(rng.dirichlet(np.ones(size)), math.exp(epsilon))
    best = solve_frequency(program.prior, program.ratio).value
    certificate = random_certificate(rng, size)
    for most in (size, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(frequency_program, "MOST_ENUMERATED", most)
            assert certified_frequency_bound(program.prior, program.ratio, certificate) <= best * (1 + 1e-9)


@pytest.mark.parametrize("size", range(2, 9))
def test_the_optimum_s_certificate_survives_brute_force(size):
    """The shift is what the 2^K patterns ask for, and the bound is what follows from it."""
    rng = np.random.default_rng(size)
    for epsilon in (0.3, 1.0, 3.0):
        prior, ratio = rng.dirichlet(np.ones(size)), math.exp(epsilon)
        found = solve_frequency(prior, ratio)
        H, lam = found.multipliers["certificate"].root, found.multipliers["certificate"].multipliers
        s = every_pattern(size, ratio)
        mean = prior @ s
        shift = ((np.einsum("xs,xs->s", s, H @ H @ s) - (lam @ s) * mean) / mean**2).max()
        expected = np.trace(H) ** 2 / (lam.sum() + shift) - prior @ prior
        assert found.bound == pytest.approx(expected, rel=1e-9)
        assert found.bound <= found.value * (1 + 1e-12)
        assert found.gap <= 1e-3


@pytest.mark.parametrize("size", [2, 3, 5])
def test_no_random_private_table_beats_the_bound(size):
    """Tables drawn at random within the ratio, of more columns than the optimum has."""
    rng = np.random.default_rng(size)
    program = FrequencyProgram(rng.dirichlet(np.ones(size)), math.e)
    bound = solve_frequency(program.prior, program.ratio).bound
    tables = [random_table(rng, program, 3 * size) for _ in range(200)]
    errors = [program.error(table) for table in tables if table is not None]
    assert len(errors) > 20
    assert min(errors) > bound


def test_cutting_a_column_into_staircases_only_adds_information():
    """q q^T / (pi . q) is subadditive, so extreme rays are all that a table needs."""
    rng = np.random.default_rng(1)
    program = FrequencyProgram(rng.dirichlet(np.ones(4)), math.e)
    parts = rng.random((4, 3)) + 0.5
    gained = program.information(parts) - program.information(parts.sum(1, keepdims=True))
    assert np.linalg.eigvalsh(gained)[0] > -1e-14


def test_the_error_is_that_of_the_best_linear_unbiased_estimator():
    """Against weighted least squares by its normal equations, with the constraint Q D^T = I explicit."""
    rng = np.random.default_rng(2)
    prior = rng.dirichlet(np.ones(3))
    Q = rng.dirichlet(np.ones(5), 3)
    mu = prior @ Q
    D = np.linalg.solve((Q / mu) @ Q.T, Q / mu)
    np.testing.assert_allclose(Q @ D.T, np.eye(3), atol=1e-12)
    direct = (D**2 @ mu).sum() - prior @ prior
    assert FrequencyProgram(prior, 2.0).error(Q) == pytest.approx(direct, rel=1e-12)
    other = D + 0.1 * rng.normal(size=3)[:, None] * (np.linalg.svd(Q)[2][-1])  # still unbiased
    assert (other**2 @ mu).sum() - prior @ prior > direct


def test_the_error_is_the_variance_that_simulated_reports_show():
    """Total squared error of 4000 simulated collections of 50 users, within 4 standard errors."""
    rng = np.random.default_rng(3)
    prior = np.array([0.5, 0.3, 0.2])
    Q = solve_frequency(prior, math.e).solution
    mu = prior @ Q
    D = np.linalg.solve((Q / mu) @ Q.T, Q / mu)
    counts = rng.multinomial(50, mu, 4000)  # users drawn from the prior, then reports
    squares = ((counts @ D.T / 50 - prior) ** 2).sum(1) * 50
    expected = FrequencyProgram(prior, math.e).error(Q)
    assert abs(squares.mean() - expected) < 4 * squares.std() / math.sqrt(len(squares))


def test_the_relaxed_violation_covers_the_worst_pattern():
    """A quadratic that is large at one sign vector alone, where nothing else can hide a bound that is too small."""
    program = FrequencyProgram([0.0, 0.0, 1.0], 100.0)
    direction = np.array([1.0, 1.0, -1.0])
    nothing = np.zeros(0)
    made = Certificate(np.eye(3), np.zeros(3), np.zeros(3), np.zeros((0, 3)), nothing, nothing)
    s = every_pattern(3, 100.0)
    worst = ((direction @ s) ** 2 / (program.prior @ s) ** 2).max()
    squared = np.outer(direction, direction)
    assert frequency_program.enumerated_violation(program, squared, made) == pytest.approx(worst, rel=1e-12)
    assert worst <= frequency_program.relaxed_violation(program, squared, made) <= 1.05 * worst


def test_a_table_that_tells_nothing_has_infinite_error():
    """Two equal rows cannot be told apart."""
    assert FrequencyProgram([0.5, 0.5], 3.0).error(np.full((2, 2), 0.5)) == math.inf


@pytest.mark.slow
def test_every_pattern_but_one_is_enumerated_once():
    """The all-E pattern is the all-1 pattern again."""
    marks = np.hstack(list(all_marks(15)))
    assert marks.shape == (15, 2**15 - 1)
    assert len(np.unique(marks, axis=1).T) == 2**15 - 1
    assert marks.sum(0).max() == 14


@pytest.mark.parametrize("size", [4, 7])
def test_terms_of_the_relaxed_certificate_are_never_negative_on_patterns(size):
    """Diagonal terms vanish, group terms are at least zero, and multipliers enter as (lambda . s)(pi . s)."""
    rng = np.random.default_rng(size)
    program = FrequencyProgram(rng.dirichlet(np.ones(size)), 2.5)
    made = random_certificate(rng, size, 20)
    first, second = frequency_program.valid_factors(program, made.groups, made.levels)
    s = np.vstack([every_pattern(size, 2.5), np.ones(2**size)])
    values = (first.T @ s) * (second.T @ s)
    np.testing.assert_allclose(values[:size], s[:-1] * (program.prior @ s[:-1]), rtol=1e-12)
    np.testing.assert_allclose(values[size : 2 * size], 0, atol=1e-12)
    assert values[2 * size :].max() < 1e-9
    counts = made.groups @ (s[:-1] > 1)
    np.testing.assert_allclose(
        values[2 * size :], -(counts - made.levels[:, None]) * (counts - made.levels[:, None] - 1), atol=1e-9
    )


NOTHING = {"diagonal": np.zeros(2), "groups": np.zeros((1, 2)), "levels": np.zeros(1), "weights": np.zeros(1)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": np.array([-1.0])}, "weights must not be negative"),
        ({"groups": np.array([[0.5, 1.0]])}, "groups must be of zeros and ones"),
        ({"levels": np.array([0.5])}, "levels whole"),
        ({"diagonal": np.array([np.nan, 0.0])}, "diagonal must be finite"),
        ({"groups": np.zeros((1, 3))}, r"groups must be finite numbers of shape \(1, 2\)"),
    ],
)
def test_certificates_that_prove_nothing_are_refused(change, message):
    """A negative weight, a fractional count or a NaN would turn a bound into a guess."""
    certificate = Certificate(np.eye(2), np.ones(2), **(NOTHING | change))
    with pytest.raises(InputError, match=message):
        certified_frequency_bound([0.5, 0.5], 2.0, certificate)


@pytest.mark.parametrize(
    ("prior", "ratio", "message"),
    [
        ([1.0], 2.0, "at least 2 categories"),
        ([0.5, 0.6], 2.0, "sum to 1"),
        ([1.5, -0.5], 2.0, "non-negative"),
        ([np.nan, 0.5], 2.0, "non-negative"),
        ([0.5, 0.5], 1.0, "above 1"),
        ([0.5, 0.5], math.inf, "above 1"),
    ],
)
def test_what_is_no_program_is_refused(prior, ratio, message):
    """Priors that are none, and ratios that leave nothing to choose."""
    with pytest.raises(InputError, match=message):
        FrequencyProgram(prior, ratio)
