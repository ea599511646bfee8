"""The designed table beside the oracles: their errors against enumerated reports, and never below its own."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.designer import compare_categorical
from optldp.mechanisms import InputError
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.subset_selection import subset_selection
from optldp.solvers import FrequencyProgram

PRIOR = np.array([0.5, 0.25, 0.15, 0.1])


def unary_table(p, q):
    """Probability of each of the 2^4 reports under each category, bit by bit."""
    reports = np.array(list(itertools.product([0, 1], repeat=4)))
    chance = np.where(np.eye(4, dtype=bool), p, q)[:, None, :]
    return np.where(reports == 1, chance, 1 - chance).prod(2), reports


def hashing_table(epsilon):
    """Probability of each pair of a line and a value of four categories, two digits or one; what it supports."""
    g = local_hashing(range(4), epsilon).n_values
    digits, lines = {
        2: ([(0, 0), (1, 0), (0, 1), (1, 1)], [(0, 1), (1, 0), (1, 1)]),
        4: ([(0,), (1,), (2,), (3,)], [(1,)]),
    }[g]
    hashes = np.array(lines) @ np.array(digits).T % g
    supports = np.concatenate([hashes == value for value in range(g)])
    return np.where(supports, math.exp(epsilon), 1.0).T / (math.exp(epsilon) + g - 1) / len(lines), supports


def subset_table(epsilon):
    """Probability of each set of the best size under each category; what it supports."""
    d = subset_selection(range(4), epsilon).n_chosen
    sets = [[code in chosen for code in range(4)] for chosen in itertools.combinations(range(4), d)]
    supports = np.array(sets)
    table = np.where(supports, math.exp(epsilon), 1.0).T
    return table / table.sum(1, keepdims=True), supports


def support_error(table, supports, p, q):
    """Total expected squared error of (support - q) / (p - q), from all reports."""
    estimates = (supports - q) / (p - q)
    return float((PRIOR @ table) @ ((estimates - PRIOR) ** 2).sum(1))


@pytest.mark.parametrize("epsilon", [0.3, 1.5])
def test_errors_are_those_of_enumerated_reports(epsilon):
    """Each oracle's table written out: its own estimator, and the best linear one."""
    E, root = math.exp(epsilon), math.exp(epsilon / 2)
    rows = {row.method: row for row in compare_categorical(PRIOR, epsilon)}
    program, (lines, values), (table, sets) = FrequencyProgram(PRIOR, E), hashing_table(epsilon), subset_table(epsilon)
    cases = {
        "grr": (np.where(np.eye(4, dtype=bool), E, 1) / (E + 3), np.eye(4), E / (E + 3), 1 / (E + 3)),
        "rappor": (*unary_table(root / (root + 1), 1 / (root + 1)), root / (root + 1), 1 / (root + 1)),
        "oue": (*unary_table(0.5, 1 / (E + 1)), 0.5, 1 / (E + 1)),
        "olh": (lines, values, lines[0] @ values[:, 0], lines[0] @ values[:, 1]),
        "subset": (table, sets, table[0] @ sets[:, 0], table[0] @ sets[:, 1]),
    }
    assert set(rows) == {"optimal", *cases}
    for method, (table, supports, p, q) in cases.items():
        np.testing.assert_allclose(table.sum(1), 1, rtol=1e-12)
        assert rows[method].error == pytest.approx(support_error(table, supports, p, q), rel=1e-10)
        assert rows[method].linear_error == pytest.approx(program.error(table), rel=1e-10)


@pytest.mark.nightly
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


@pytest.mark.nightly
def test_a_design_gains_little_beside_sets_and_nothing_where_all_are_as_frequent():
    """The numbers of docs/theory/categories.md: errors of the oracles over that of the design, sixteen categories."""
    errors = {
        ("even", 0.5): {"grr": 2.802, "oue": 1.147, "olh": 1.070, "subset": 1.000},
        ("even", 1.0): {"grr": 1.920, "oue": 1.172, "olh": 1.000, "subset": 1.000},
        ("even", 2.0): {"grr": 1.130, "oue": 1.327, "olh": 1.130, "subset": 1.000},
        ("Zipf", 0.5): {"grr": 2.816, "oue": 1.152, "olh": 1.075, "subset": 1.005},
        ("Zipf", 1.0): {"grr": 1.955, "oue": 1.193, "olh": 1.018, "subset": 1.018},
        ("Zipf", 2.0): {"grr": 1.201, "oue": 1.412, "olh": 1.201, "subset": 1.062},
    }
    priors = {"even": np.ones(16), "Zipf": 1 / np.arange(1, 17)}
    for (name, epsilon), expected in errors.items():
        ratios = {row.method: row.ratio_to_optimal for row in compare_categorical(priors[name], epsilon)}
        for method, ratio in expected.items():
            assert ratios[method] == pytest.approx(ratio, abs=6e-4)


def test_many_categories_have_no_enumerated_estimator():
    """Beyond twelve only GRR's best linear error is known: its estimator is the only one."""
    rows = {row.method: row.linear_error for row in compare_categorical(np.ones(13), 4.0)}
    assert [method for method, error in rows.items() if error is None] == ["rappor", "oue", "olh", "subset"]


def test_priors_that_are_none_are_refused():
    """The same refusals as a design's."""
    with pytest.raises(InputError, match="positive sum"):
        compare_categorical([0.0, 0.0], 1.0)
