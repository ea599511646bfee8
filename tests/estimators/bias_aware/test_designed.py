"""Tables designed for the error of a mean: decoded anew for the users that there are, and what that costs is said."""

from dataclasses import replace

import numpy as np
import pytest
from optldp.designer import Error, FactorAmbiguity, Prior, design
from optldp.estimators import (
    ReportCounts,
    Service,
    bias_aware_mean,
    estimate_combined_mean,
    estimate_mean,
    promised_error,
)
from optldp.estimators.bias_aware.designed import told_by
from optldp.mechanisms import InputError, TabulatedMechanism

KNOTS = np.linspace(0.0, 80.0, 11)
PRIOR = Prior.from_pairs(np.arange(81.0), np.exp(-np.arange(81.0) / 6), knots=KNOTS, source="public")
MADE = {n: design(PRIOR, 1.0, objective=Error(n, FactorAmbiguity(2.0))).mechanism for n in (300, 5000)}


def counts_of(table: TabulatedMechanism, users: int) -> ReportCounts:
    rng = np.random.default_rng(users)
    seen = rng.multinomial(users, PRIOR.weights @ table.probabilities)
    return ReportCounts.from_outputs([Service("one", table)], np.repeat(np.arange(seen.size), seen)[:, None])


def test_for_as_many_users_as_designed_for_reports_count_as_they_are():
    table = MADE[5000]
    found = bias_aware_mean(counts_of(table, 5000))
    promised = promised_error(table)
    assert found.trust == 2.0
    assert found.rmse == pytest.approx(promised.rmse, rel=2e-4)
    assert found.rmse_before == pytest.approx(promised.rmse, rel=1e-9)
    assert found.bias_high == pytest.approx(promised.bias_bound, rel=5e-3)
    often = PRIOR.weights @ table.probabilities  # the rarer a report, the less what it counts as matters to the optimum
    assert np.sqrt(often @ (found.parts[0].values - table.low) ** 2) < 0.5
    assert found.rmse_designed is None


@pytest.mark.parametrize("users", [300, 100_000])
def test_for_other_users_reports_are_decoded_anew_and_the_cost_is_told(users):
    table = MADE[5000]
    found = bias_aware_mean(counts_of(table, users))
    kept = promised_error(table, users=users)
    assert found.rmse < kept.rmse * 0.999
    assert found.rmse_before == pytest.approx(kept.rmse, rel=1e-9)
    assert found.rmse_designed is not None
    assert found.rmse_designed < found.rmse
    if users in MADE:
        assert found.rmse_designed == pytest.approx(promised_error(MADE[users]).rmse, rel=1e-3)


def test_somebody_elses_prior_and_trust_may_be_given():
    counts = counts_of(MADE[5000], 5000)
    wider, other = bias_aware_mean(counts, trust=4.0), bias_aware_mean(counts, np.ones(11), trust=1.5)
    assert wider.trust == 4.0
    assert wider.bias_high > bias_aware_mean(counts).bias_high
    assert other.rmse > wider.rmse  # an even prior has much more to lose beyond the clip


def test_such_a_table_is_not_averaged_as_if_it_were_unbiased():
    counts = counts_of(MADE[300], 300)
    says = r"an unbiased mean must be possible, got a table that is biased on purpose.*bias_aware_mean"
    with pytest.raises(InputError, match=says):
        estimate_mean(counts)
    two = ReportCounts.from_outputs([Service(name, MADE[300]) for name in "ab"], np.zeros((10, 2), dtype=int))
    for method in ("ua", "uwa", "population"):
        with pytest.raises(InputError, match=r"service 'a': .*bias_aware_mean"):
            estimate_combined_mean(two, method=method)
    assert np.isfinite(bias_aware_mean(two).bias_high)


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"n": "many"}, "the number of users must be whole"),
        ({"n": 0}, "the number of users must be whole"),
        ({"n": 2.5}, "the number of users must be whole"),
        ({"trust": 0.5}, "trust is the factor"),
        ({"trust": "much"}, "trust is the factor"),
        ({"trust": True}, "trust is the factor"),
        ({"uniform_share": 2}, "uniform share must lie in"),
        ({"uniform_share": "all"}, "uniform share must lie in"),
    ],
)
def test_damaged_files_are_refused_in_one_line(parameters, says):
    table = MADE[300]
    told = replace(table.provenance, parameters=dict(table.provenance.parameters) | parameters)
    with pytest.raises(InputError, match=says):
        told_by(table.with_provenance(told))


def test_without_a_prior_in_the_file_one_must_be_given():
    table = MADE[300].without_prior()
    with pytest.raises(InputError, match="no table carries one: give it, --prior FILE"):
        bias_aware_mean(counts_of(table, 300))
    assert bias_aware_mean(counts_of(table, 300), PRIOR.weights).trust == 2.0
