"""Which oracle errs less: against simulated errors, formulas written out, and the rule of thumb."""

import math

import numpy as np
import pytest
from optldp.mechanisms import InputError, frequency_oracle
from optldp.mechanisms.categorical.local_hashing import LocalHashing, local_hashing
from optldp.mechanisms.categorical.oracle_choice import total_error
from optldp.mechanisms.categorical.table import CategoricalTable, categorical_grr


def summed(size: int, epsilon: float) -> tuple[float, float]:
    """Total variance of GRR and of hashing, by summing the variance of each frequency of some users."""
    e, hashing = math.exp(epsilon), local_hashing(range(size), epsilon)
    frequencies = np.random.default_rng(size).dirichlet(np.ones(size))
    p, q = e / (e + size - 1), 1 / (e + size - 1)
    grr = np.sum(frequencies * p * (1 - p) + (1 - frequencies) * q * (1 - q)) / (p - q) ** 2
    return float(grr), float(np.sum(hashing.frequency_variance(frequencies)))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("size", [2, 3, 5, 8, 12, 20, 40, 100])
def test_it_is_the_oracle_of_less_total_variance(size, epsilon):
    """Whatever the frequencies are; GRR where both are equal."""
    grr, hashing = summed(size, epsilon)
    assert isinstance(frequency_oracle(range(size), epsilon), CategoricalTable if grr <= hashing else LocalHashing)


@pytest.mark.parametrize("epsilon", [0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0])
def test_the_change_is_near_three_e_to_the_epsilon_and_two(epsilon):
    """Well below it randomised response, well above it hashing."""
    turn = 3 * math.exp(epsilon) + 2
    assert isinstance(frequency_oracle(range(max(2, int(0.6 * turn))), epsilon), CategoricalTable)
    assert isinstance(frequency_oracle(range(math.ceil(1.4 * turn)), epsilon), LocalHashing)


@pytest.mark.parametrize("make", [categorical_grr, local_hashing])
def test_the_total_error_is_the_one_that_is_seen(make):
    """400 samples of 500 users of six categories; the sum of squared errors within five standard errors."""
    made = make("abcdef", 1.0)
    if isinstance(made, CategoricalTable):
        p, q = made.probabilities[0, :2]
    else:
        p, q = made.own_support, made.other_support
    codes, rng = np.repeat([0, 1, 1, 2, 2], 100), np.random.default_rng(8)
    truth = np.array([1, 2, 2, 0, 0, 0]) / 5
    errors = []
    for _ in range(400):
        reports = made.sample_codes(codes, rng)
        support = made.supported(reports) if isinstance(made, LocalHashing) else np.eye(6)[reports]
        errors.append(np.sum(((support.mean(axis=0) - q) / (p - q) - truth) ** 2))
    expected = total_error(6, p, q) / codes.size
    assert abs(np.mean(errors) - expected) < 5 * np.std(errors) / 20


@pytest.mark.parametrize("epsilon", ["one", None, float("nan"), float("inf"), -1, 0, 17])
def test_budgets_that_are_none_are_refused(epsilon):
    with pytest.raises(InputError, match="epsilon must be"):
        frequency_oracle(range(5), epsilon)
