"""Unbiased numbers of least variance: what every report's law gives back, and the inverse information."""

# Tests know which kind of mechanism they made.
# pyright: reportAttributeAccessIssue=false

import numpy as np
import pytest
from optldp.estimators import CategoryCounts
from optldp.estimators.frequencies import locally_best
from optldp.estimators.frequencies.locally_best import locally_best_scores
from optldp.mechanisms import InputError

from ..categorical_mechanisms import FAMILIES

TRUTH = np.array([0.5, 0.3, 0.15, 0.05])
USERS = 10**9


def as_expected(name: str, epsilon: float = 2.0) -> tuple[CategoryCounts, np.ndarray, np.ndarray]:
    """As many reports of each kind as are expected, and the law of all reports (R, K)."""
    mechanism = FAMILIES[name](range(4), epsilon)
    reports = mechanism.all_reports()
    law = mechanism.pmf(reports)
    counts = np.rint(USERS * law @ TRUTH).astype(np.int64)
    return CategoryCounts(mechanism, reports[counts > 0], counts[counts > 0]), law, counts / counts.sum()


@pytest.mark.parametrize("name", ["grr", "oue", "olh", "subset", "rappor", "table"])
def test_expected_reports_give_the_frequencies_back(name):
    """Unbiased wherever the place is: here it is the shrunken frequencies, with a share of even ones."""
    counts, _, _ = as_expected(name)
    score, _ = locally_best_scores(counts)
    np.testing.assert_allclose(score.value, TRUTH, atol=1e-6)
    assert score.value.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["grr", "oue", "olh", "subset", "rappor", "table"])
@pytest.mark.parametrize("target", ["users", "population"])
def test_the_covariance_is_the_inverse_information(name, target):
    """Along the simplex, from the law of all reports; less the users' own scatter for these users."""
    counts, law, _ = as_expected(name)
    score, covariance = locally_best_scores(counts, at=TRUTH, target=target)
    free = np.eye(4)[:, :3] - np.eye(4)[:, [3]]
    information = free.T @ (law.T @ (law / (law @ TRUTH)[:, None])) @ free
    expected = free @ np.linalg.inv(information) @ free.T
    if target == "users":
        expected -= np.diag(TRUTH) - np.outer(TRUTH, TRUTH)
    assert covariance is not None
    np.testing.assert_allclose(counts.n_users * covariance, expected, atol=1e-4)
    np.testing.assert_allclose(score.variances(TRUTH), np.diag(expected), atol=1e-4)


def test_hashed_reports_tell_more_than_their_support_counts():
    """Where one category has most, rare ones are known with less variance."""
    mechanism = FAMILIES["oue"](range(20), 2.0)
    truth = np.array([0.9, *np.full(19, 0.1 / 19)])
    rng = np.random.default_rng(3)
    counts = CategoryCounts.from_reports(mechanism, mechanism.sample_codes(rng.choice(20, 20_000, p=truth), rng))
    score, _ = locally_best_scores(counts, at=truth)
    plain = np.asarray(mechanism.frequency_variance(truth)) + truth * (1 - truth)
    assert (score.variances(truth)[1:] < 0.8 * plain[1:]).all()


def test_too_much_work_is_left_to_support_counts(monkeypatch):
    """Then they are the plain decoder's, without a covariance; so are few users' of a unary encoding."""
    counts, _, _ = as_expected("olh")
    monkeypatch.setattr(locally_best, "MOST_OPERATIONS", 10)
    found = locally_best_scores(counts)
    p, q = counts.mechanism.own_support, counts.mechanism.other_support
    np.testing.assert_allclose(found.score.value, (counts.support_counts() / counts.n_users - q) / (p - q))
    assert found.covariance is None
    few = FAMILIES["oue"](range(4), 1.0)
    made = CategoryCounts.from_reports(few, few.sample_codes([0, 1, 2], np.random.default_rng(4)))
    assert locally_best_scores(made).covariance is None


def test_no_reports_have_no_scores():
    grr = FAMILIES["grr"]("ab", 1.0)
    with pytest.raises(InputError, match="at least one report"):
        locally_best_scores(CategoryCounts.from_reports(grr, np.zeros(0, dtype=int)))
