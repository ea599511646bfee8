"""A first phase through oracles, AAA's linear program, and AAA's own parameters for the second phase."""

from dataclasses import replace

import numpy as np
import pytest
from optldp.designer import Lattice, TwoPhasePlan, two_phase
from optldp.designer.methods.lattice import lattice_mechanism
from optldp.designer.protocols.first_phase import FallbackWarning
from optldp.estimators.distributions.least_absolute import least_absolute
from optldp.estimators.methods import OF_ORACLE
from optldp.mechanisms import InputError, OneReportClient, SolverError, grr
from optldp.mechanisms.categorical import categorical_grr
from optldp.mechanisms.combinators.rounded_oracle import RoundedOracle

DOMAIN = (-1.0, 1.0)
VALUES = np.random.default_rng(5).normal(-0.3, 0.2, 6000).clip(*DOMAIN)
KNOTS = np.linspace(*DOMAIN, 9)
OWN = categorical_grr(range(9), 1.5)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("estimator", OF_ORACLE)
@pytest.mark.parametrize("phase_one", ["olh", "oue", "rappor", OWN], ids=str)
def test_an_oracle_learns_the_distribution_and_an_unbiased_mean(phase_one, estimator):
    plan = TwoPhasePlan(DOMAIN, 1.5, knots=9, phase_one=phase_one, estimator=estimator)
    assert isinstance(plan.first, RoundedOracle)
    assert plan.first.epsilon <= 1.5
    result = two_phase(VALUES, 1.5, domain=DOMAIN, knots=9, phase_one=phase_one, estimator=estimator, share=0.5,
                       rng=np.random.default_rng(2))  # fmt: skip
    truth = np.bincount(np.abs(VALUES[:, None] - KNOTS).argmin(1), minlength=9) / VALUES.size
    assert np.abs(result.prior.weights - truth).sum() < 0.5  # that of even weights is 1.3
    assert result.first_mean is not None
    assert result.first_mean.value == pytest.approx(VALUES.mean(), abs=4 * result.first_mean.std_error)
    assert result.value == pytest.approx(VALUES.mean(), abs=4 * result.std_error)
    assert 0 < result.first_weight < 1


@pytest.mark.sampled(1)
def test_the_means_standard_error_is_the_scatter_over_repetitions():
    plan = TwoPhasePlan(DOMAIN, 1.5, knots=9, phase_one="oue")
    rng, found = np.random.default_rng(4), []
    for _ in range(200):
        values = rng.normal(-0.3, 0.2, 500).clip(*DOMAIN)
        found.append(plan._first.mean(plan.first.sample(values, rng)))
    errors = np.array([each.std_error for each in found])
    assert np.std([each.value for each in found]) == pytest.approx(errors.mean(), rel=0.2)


def test_aaas_linear_program_for_a_table():
    plan = TwoPhasePlan(DOMAIN, 1.0, knots=9, phase_one="grr", estimator="least-absolute")
    reports = plan.first.sample(VALUES, np.random.default_rng(2))
    shares = np.bincount(plan.first.output_index(reports), minlength=9) / VALUES.size
    assert plan.learn(reports).weights == pytest.approx(least_absolute(grr(KNOTS, 1.0).probabilities, shares), abs=1e-6)


def test_the_second_phase_takes_aaas_parameters():
    plan = TwoPhasePlan(DOMAIN, 1.0, knots=9, phase_one="grr", method=Lattice(intervals=4, window=9, ratio=0.7))
    reports = plan.first.sample(VALUES, np.random.default_rng(2))
    made = plan.second(reports).mechanism
    expected = lattice_mechanism(plan.learn(reports).mixed(), 1.0, intervals=4, window=9, ratio=0.7)
    assert made.knots.size == 5
    assert made.probabilities == pytest.approx(expected.probabilities, abs=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"phase_one": "olh", "estimator": "ems"}, "estimator must be one of em, mr, least-absolute for an oracle"),
        ({"phase_one": "olh", "robust_confidence": 0.9}, "needs a table of numbers for the first phase"),
        ({"phase_one": categorical_grr(range(8), 1.0)}, "a category for each knot, got 8 for 9 knots"),
        ({"phase_one": categorical_grr(range(9), 2.0)}, "must keep within epsilon 1"),
        ({"phase_one": "auto"}, "phase_one must be a mechanism or one of"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(options, message):
    with pytest.raises(InputError, match=message):
        TwoPhasePlan(DOMAIN, 1.0, knots=9, **options)


def test_real_clients_are_not_asked_through_an_oracle():
    clients = [OneReportClient(0.1, 1.0, domain=DOMAIN) for _ in range(100)]
    with pytest.raises(InputError, match="must be a table of numbers, got RoundedOracle"):
        two_phase(clients, 1.0, domain=DOMAIN, knots=9, phase_one="olh", share=0.5, rng=np.random.default_rng(1))
    assert not any(client.has_reported for client in clients)


@pytest.mark.slow
def test_a_first_phase_without_a_smooth_fit_says_so(monkeypatch):
    """The exact maximum took its place, which the prior cannot say."""

    def failing(*_: object, **__: object) -> None:
        raise SolverError("the log-density fit has not converged in 102 evaluations: use method em")

    monkeypatch.setattr("optldp.estimators.distributions.smooth.fit_log_density", failing)
    plan = TwoPhasePlan((0.0, 1.0), 2.0, knots=9, estimator="smooth")
    reports = plan.first.sample(np.random.default_rng(1).random(500), np.random.default_rng(2))
    with pytest.warns(FallbackWarning, match="smooth found no fit of the first reports"):
        prior = plan.learn(reports)
    assert prior.weights == pytest.approx(replace(plan, estimator="em").learn(reports).weights)
