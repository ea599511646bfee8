"""The designed table beside the oracles: their errors against enumerated reports, and never below its own."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.designer.comparison.categorical import compare_categorical, hash_values
from optldp.mechanisms.errors import InputError
from optldp.solvers.frequency.program import FrequencyProgram

PRIOR = np.array([0.5, 0.25, 0.15, 0.1])


def unary_table(p, q):
    """Probability of each of the 2^4 reports under each category, bit by bit."""
    reports = np.array(list(itertools.product([0, 1], repeat=4)))
    chance = np.where(np.eye(4, dtype=bool), p, q)[:, None, :]
    return np.where(reports == 1, chance, 1 - chance).prod(2), reports


def hashing_table(epsilon):
    """Probability of each pair of a hash function (all g^4 of them) and a value; what it supports."""
    g = hash_values(math.exp(epsilon))
    hashes = np.array(list(itertools.product(range(g), repeat=4)))
    supports = np.concatenate([hashes == value for value in range(g)])
    return np.where(supports, math.exp(epsilon), 1.0).T / (math.exp(epsilon) + g - 1) / len(hashes), supports


def support_error(table, supports, p, q):
    """Total expected squared error of (support - q) / (p - q), from all reports."""
    estimates = (supports - q) / (p - q)
    return float((PRIOR @ table) @ ((estimates - PRIOR) ** 2).sum(1))


@pytest.mark.parametrize("epsilon", [0.7, 1.5])
def test_errors_are_those_of_enumerated_reports(epsilon):
    """Each oracle's table written out: its own estimator, and the best linear one."""
    E, root = math.exp(epsilon), math.exp(epsilon / 2)
    rows = {row.method: row for row in compare_categorical(PRIOR, epsilon)}
    program, g = FrequencyProgram(PRIOR, E), hash_values(E)
    cases = {
        "grr": (np.where(np.eye(4, dtype=bool), E, 1) / (E + 3), np.eye(4), E / (E + 3), 1 / (E + 3)),
        "rappor": (*unary_table(root / (root + 1), 1 / (root + 1)), root / (root + 1), 1 / (root + 1)),
        "oue": (*unary_table(0.5, 1 / (E + 1)), 0.5, 1 / (E + 1)),
        "olh": (*hashing_table(epsilon), E / (E + g - 1), 1 / g),
    }
    assert set(rows) == {"optimal", *cases}
    for method, (table, supports, p, q) in cases.items():
        np.testing.assert_allclose(table.sum(1), 1, rtol=1e-12)
        assert rows[method].error == pytest.approx(support_error(table, supports, p, q), rel=1e-10)
        assert rows[method].linear_error == pytest.approx(program.error(table), rel=1e-10)


@given(st.integers(2, 9), st.floats(0.1, 5.0), st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_no_oracle_beats_the_design(size, epsilon, seed):
    """By its own estimator or by the best linear one, up to the design's tolerance."""
    prior = np.random.default_rng(seed).dirichlet(np.full(size, 0.7))
    designed, *others = compare_categorical(prior, epsilon)
    assert designed.method == "optimal"
    for row in others:
        assert row.linear_error is not None
        assert designed.error <= row.linear_error * (1 + 1e-3)
        assert row.linear_error <= row.error * (1 + 1e-9)
        assert row.ratio_to_optimal == row.error / designed.error


def test_a_design_gains_where_oracles_are_weakest():
    """Twelve categories at epsilon = 1: the design errs at least a fifth less than the best of the others."""
    designed, *others = compare_categorical(1 / np.arange(1, 13), 1.0)
    assert designed.error < 0.8 * min(row.error for row in others)


def test_many_categories_have_no_enumerated_estimator():
    """Beyond twelve only GRR's best linear error is known: its estimator is the only one."""
    rows = {row.method: row.linear_error for row in compare_categorical(np.ones(13), 4.0)}
    assert [method for method, error in rows.items() if error is None] == ["rappor", "oue", "olh"]


def test_priors_that_are_none_are_refused():
    """The same refusals as a design's."""
    with pytest.raises(InputError, match="positive sum"):
        compare_categorical([0.0, 0.0], 1.0)
