"""What is derived is never worse than what was known: every objective, against every closed form, at every budget."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from optldp.designer import Guarantee, Information, Prior, TradeOff, WorstCase, design
from optldp.designer.objectives.information import table_information, table_trace
from optldp.designer.priors.ambiguity import AMBIGUITIES
from optldp.mechanisms import FAMILIES

KNOTS = np.linspace(-1.0, 1.0, 9)
SLACK = 1 + 2e-6
"""Gap of a certificate, and what making a table exact may cost."""

WEIGHTS = st.lists(st.floats(0.0, 1.0), min_size=9, max_size=9).filter(lambda drawn: sum(drawn) > 0.1)
EPSILONS = st.floats(0.1, 6.0)


def prior_of(drawn):
    return Prior.on_knots(KNOTS, drawn, source="public")


def rivals(prior, epsilon):
    """Every closed form as the tables that `design` makes of them, unbiased."""
    return {name: design(prior, epsilon, method=name, uniform_share=0.0, exact=False).mechanism for name in FAMILIES}


@pytest.mark.nightly
@settings(max_examples=12)
@given(WEIGHTS, EPSILONS)
def test_the_least_expected_variance(drawn, epsilon):
    prior = prior_of(drawn)
    best = design(prior, epsilon, uniform_share=0.0).expected_variance
    for name, table in rivals(prior, epsilon).items():
        assert best <= table.expected_variance(prior.knot_prior) * SLACK, name


@pytest.mark.nightly
@settings(max_examples=12)
@given(EPSILONS)
def test_the_least_worst_case(epsilon):
    best = design(Prior.even(KNOTS), epsilon, objective=WorstCase())
    for name, table in rivals(prior_of(np.ones(9)), epsilon).items():
        assert best.evidence.worst_knot_variance <= table.knot_variances.max() * SLACK, name
        assert best.worst_case_variance <= table.worst_case_variance()[0] + 0.25 * (KNOTS[1] - KNOTS[0]) ** 2, name


@pytest.mark.nightly
@settings(max_examples=8)
@given(WEIGHTS, EPSILONS, st.floats(0.05, 0.95))
def test_every_mixture_of_the_two(drawn, epsilon, weight):
    prior = prior_of(drawn)
    best = design(prior, epsilon, objective=TradeOff(weight))
    for name, table in rivals(prior, epsilon).items():
        expected, worst = table.expected_variance(prior.knot_prior), table.knot_variances.max()
        assert best.value <= ((1 - weight) * expected + weight * worst) * SLACK, name


@pytest.mark.nightly
@settings(max_examples=6)
@given(WEIGHTS, EPSILONS, st.sampled_from(sorted(AMBIGUITIES)), st.floats(0.01, 0.3))
def test_the_least_guarantee(drawn, epsilon, kind, radius):
    prior, ambiguity = prior_of(drawn), AMBIGUITIES[kind](radius)
    assume(not ambiguity.contains_every(prior))
    best = design(prior, epsilon, objective=Guarantee(ambiguity)).value
    for name, table in rivals(prior, epsilon).items():
        assert best <= ambiguity.around(prior).largest(table.knot_variances)[0] * SLACK, name


@pytest.mark.slow
@settings(max_examples=8)
@given(WEIGHTS, EPSILONS)
def test_the_most_information(drawn, epsilon):
    prior = prior_of(drawn)
    best = design(prior, epsilon, objective=Information(), uniform_share=0.0).value
    for name, family in FAMILIES.items():
        assert best >= table_information(family(KNOTS, epsilon).probabilities, prior) * (1 - 1e-6), name


@pytest.mark.parametrize("criterion", ["fisher", "cumulative"])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_the_least_trace_of_the_inverse_information(epsilon, criterion):
    prior = prior_of(np.exp(-((KNOTS / 0.5) ** 2)))
    best = design(prior, epsilon, objective=Information(criterion), uniform_share=0.0).value
    for name, family in FAMILIES.items():
        assert best <= table_trace(family(KNOTS, epsilon).probabilities, prior, criterion) * (1 + 1e-5), name


@pytest.mark.nightly
@pytest.mark.parametrize("epsilon", [0.25, 0.5, 1.0, 2.0, 4.0])
def test_the_papers_budgets_with_a_lead(epsilon):
    """Strictly better than all closed forms for a bell of values, the harder the larger the budget."""
    prior = prior_of(np.exp(-(((KNOTS) / 0.4) ** 2)))
    best = design(prior, epsilon, uniform_share=0.0).expected_variance
    least = min(table.expected_variance(prior.knot_prior) for table in rivals(prior, epsilon).values())
    assert best < (0.97 if epsilon >= 1 else 0.999) * least
