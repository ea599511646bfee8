"""The test of whether counts are of a mixture of laws: silent where they are, at any weights and any size."""

# What is tested here can be, and has laws.
# pyright: reportOptionalOperand=false, reportAttributeAccessIssue=false

import numpy as np
import pytest
from optldp.estimators.goodness_of_fit import law_test
from optldp.estimators.goodness_of_fit.law_test import LEVEL, law_p_value
from optldp.mechanisms import FAMILIES, piecewise

KNOTS = np.linspace(0.0, 1.0, 9)


def law_of(name: str, epsilon: float) -> np.ndarray:
    """Nine knots, 17 outputs."""
    return FAMILIES[name](KNOTS, epsilon).probabilities


def rejected(law: np.ndarray, weights: np.ndarray, n: int, repetitions: int, level: float) -> int:
    rng = np.random.default_rng(5)
    tables = rng.multinomial(n, weights @ law, repetitions)
    found = [law_p_value(law, counts) for counts in tables]
    return sum(p_value is not None and p_value < level for p_value in found)


EVEN, VERTEX = np.full(9, 1 / 9), np.eye(9)[0]


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 400, 50_000])
@pytest.mark.parametrize("weights", [EVEN, VERTEX, 0.5 * VERTEX + 0.5 * np.eye(9)[-1]], ids=["even", "vertex", "edge"])
def test_counts_of_a_mixture_are_refused_no_more_often_than_said(weights, n):
    """At the level of 1 in 20, which 60 repetitions can tell: 10 of them have a chance below 1 in 1,000."""
    assert rejected(law_of("piecewise", 1.0), weights, n, 60, 0.05) < 10


@pytest.mark.nightly
@pytest.mark.parametrize("n", [20, 100, 1_000, 100_000])
@pytest.mark.parametrize("weights", [EVEN, VERTEX, np.eye(9)[4]], ids=["even", "vertex", "middle"])
def test_counts_of_a_mixture_are_hardly_ever_said_not_to_fit(weights, n):
    """At most 5 of 20,000 at the level of 1 in 10,000: 2 are expected at most, and 5 have a chance of 5%.

    With all that is fitted taken for known, which is what the reference rests on: the fit makes G smaller.
    """
    law = law_of("piecewise", 1.0)
    expected = weights @ law * n
    rng, beyond = np.random.default_rng(9), 0
    for counts in rng.multinomial(n, weights @ law, 20_000).astype(float):
        with np.errstate(divide="ignore", invalid="ignore"):
            deviance = 2 * np.nansum(counts * np.log(counts / expected))
        if deviance > 2.2 * law.shape[1]:  # below that no probability is near the level
            beyond += law_test._beyond(deviance, expected, counts) < LEVEL
    assert beyond <= 5


def test_counts_beside_every_mixture_are_found():
    counts = np.random.default_rng(1).multinomial(3_000, EVEN @ law_of("piecewise", 1.0))
    wrong = law_of("piecewise", 2.0)
    assert law_p_value(law_of("piecewise", 1.0), counts) > 0.01
    assert law_p_value(wrong, counts[: wrong.shape[1]]) < LEVEL


def test_as_many_free_values_as_cells_cannot_be_tested_unless_counts_are_beyond_all():
    law = np.array([[0.75, 0.25], [0.25, 0.75]])
    assert law_p_value(law, np.array([600, 400])) is None
    assert law_p_value(law, np.array([950, 50])) < LEVEL
    assert law_p_value(law[:1], np.array([600, 400])) < LEVEL
    assert law_p_value(law, np.zeros(2)) is None


def test_what_no_law_makes_has_no_probability():
    assert law_p_value(np.array([[0.5, 0.5, 0.0]]), np.array([1, 1, 1])) == 0.0


def test_few_users_are_compared_with_simulated_counts_the_same_each_time():
    law = np.random.default_rng(2).dirichlet(np.ones(40), 5)
    counts = np.random.default_rng(3).multinomial(25, law[0])
    assert law_p_value(law, counts) == law_p_value(law, counts) > 1e-3
    strange = np.zeros(40, dtype=np.int64)
    strange[np.argmin(law.max(axis=0))] = 25
    assert law_p_value(law, strange) < LEVEL


@pytest.mark.nightly
def test_many_laws_are_fitted_by_those_that_are_missed_as_if_all_were_known(monkeypatch):
    """Of 513 knots a quarter is fitted at first: the answer is that of all at once."""
    law = piecewise(np.linspace(0.0, 1.0, 513), 2.0).probabilities
    weights = np.random.default_rng(1).dirichlet(np.full(513, 0.05))
    counts = np.random.default_rng(2).multinomial(1_000_000, weights @ law)
    few = law_test._p_value(law, counts.astype(float))
    monkeypatch.setattr(law_test, "FEW_LAWS", 513)
    assert few == pytest.approx(law_test._p_value(law, counts.astype(float)), rel=0.05)
