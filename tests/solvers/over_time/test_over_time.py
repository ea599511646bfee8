"""Histories with few changes: reaches by enumeration, lower bounds by laws, rows by the equivalence theorem."""

import math
from itertools import pairwise, product

import numpy as np
import pytest
from optldp.solvers.over_time import best_rows, phi
from optldp.solvers.over_time.lower_bound import circular, law_of
from optldp.solvers.over_time.rows import candidate_rows
from optldp.solvers.over_time.trajectories import furthest, reach


def histories(periods: int, changes: int) -> np.ndarray:
    every = np.array(list(product((-1.0, 1.0), repeat=periods)))
    return every[(np.diff(every, axis=1) != 0).sum(axis=1) <= changes]


@pytest.mark.parametrize("changes", range(6))
def test_reaches_are_those_of_all_histories(changes):
    rows, every = np.random.default_rng(changes).standard_normal((20, 6)), histories(6, changes)
    assert reach(rows, changes) == pytest.approx((rows @ every.T).max(axis=1))
    found = furthest(rows, changes)
    assert (rows * found).sum(axis=1) == pytest.approx(reach(rows, changes))
    assert ((np.diff(found, axis=1) != 0).sum(axis=1) <= changes).all()


@pytest.mark.parametrize("periods", [2, 5, 12, 52])
def test_phi_of_one_change_is_its_closed_form_and_that_of_the_law_that_attains_it(periods):
    """The form in an independent sum, to 1e-6; no history gains on the law, which proves it is the largest."""
    angles = [math.pi * (2 * m + 1) / (2 * periods) for m in range(periods)]
    assert phi(periods, 1) == pytest.approx((sum(1 / math.sin(a) for a in angles) / periods) ** 2, rel=1e-6)
    values, vectors = np.linalg.eigh(circular(periods, 1))
    assert np.sqrt(np.maximum(values, 0)).sum() ** 2 / periods == pytest.approx(phi(periods, 1), rel=1e-6)
    gradient = (vectors / np.sqrt(values)) @ vectors.T
    for change in range(periods):
        history = np.where(np.arange(periods) < change, -1.0, 1.0)
        assert history @ gradient @ history <= np.sqrt(values).sum() * (1 + 1e-9)


@pytest.mark.parametrize("changes", [2, 3])
def test_the_law_of_more_changes_is_one_of_histories_with_no_more(changes):
    """Nonnegative least squares finds its weights; so it is a lower bound."""
    from scipy.optimize import nnls

    every = histories(6, changes)
    moments = np.einsum("hi,hj->hij", every, every).reshape(len(every), -1)
    weights, off = nnls(moments.T, law_of(6, changes).ravel())
    assert off < 1e-8
    assert weights.sum() == pytest.approx(1.0)


def test_phi_grows_with_changes_from_one_to_the_number_of_periods():
    found = [phi(12, changes) for changes in range(12)]
    assert found[0] == 1.0
    assert found[-1] == 12.0
    assert all(more > 0.999 * less for less, more in pairwise(found))


@pytest.mark.parametrize("seed", range(3))
def test_the_panel_of_the_theorem_is_best_of_all_rows_for_any_workload(seed):
    """Theorem 1 to 1e-3: any histories, noise alone; candidates are periods and random rows."""
    rng = np.random.default_rng(seed)
    asked = rng.standard_normal((4, 5))
    rows = np.vstack([np.eye(5), rng.standard_normal((40, 5))])
    made = best_rows(rows, np.ones(len(rows)), np.zeros((5, 5)), asked.T @ asked, 4)
    exact = np.sqrt((asked**2).sum(axis=0)).sum() ** 2
    assert exact == pytest.approx(made.value, rel=2e-3)
    assert made.bound <= exact * (1 + 1e-9)


def test_rows_of_few_changes_gain_and_their_certificate_is_closed():
    rows = candidate_rows(12)
    made = best_rows(rows, np.full(len(rows), 3.9), np.zeros((12, 12)), np.eye(12) / 12, 1)
    assert made.value < 0.8 * 12 * 3.9
    assert made.bound > (1 - 2e-3) * made.value
