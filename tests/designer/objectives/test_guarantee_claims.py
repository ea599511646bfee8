"""AAA's claim 3 on wrong priors, corrected: which bound holds, which does not."""

import numpy as np
import pytest
from optldp.designer import BoxAmbiguity, Prior, RelativeAmbiguity, design

KNOTS = np.linspace(-1, 1, 11)
PEAK = Prior.on_knots(KNOTS, [1, 2, 4, 8, 14, 20, 14, 8, 4, 2, 1], source="public")
RARE = Prior.on_knots(KNOTS, np.eye(11)[5] + 1e-3, source="public")


def of_the_truth(prior: Prior, psi: float) -> BoxAmbiguity:
    """The true priors p with |p - estimate| <= psi p at every knot, AAA's condition (18)."""
    return BoxAmbiguity(prior.weights / (1 + psi), np.minimum(prior.weights / (1 - psi), 1))


def changes(prior: Prior, epsilon: float, psi: float) -> tuple[float, float]:
    """The largest relative fall and rise of the expected variance from the estimated prior to a true one."""
    V = design(prior, epsilon, uniform_share=0.0).mechanism.knot_variances
    truths, estimated = of_the_truth(prior, psi).around(prior), float(prior.weights @ V)
    rise = truths.largest(V)[0] / estimated - 1
    fall = (V.max() - truths.largest(V.max() - V)[0]) / estimated - 1
    return fall, rise


@pytest.mark.parametrize("psi", [0.05, 0.3, 0.9])
@pytest.mark.parametrize("prior", [PEAK, RARE])
@pytest.mark.parametrize("epsilon", [1.0, 4.0, 8.0])
def test_the_variance_changes_by_no_more_than_psi_over_one_minus_psi(prior, psi, epsilon):
    """It falls by psi / (1 + psi) at most, rises by psi / (1 - psi) at most, for all truths at once."""
    fall, rise = changes(prior, epsilon, psi)
    assert -psi / (1 + psi) <= fall < 0 < rise <= psi / (1 - psi)


def test_the_bound_as_printed_is_broken():
    """Claim 3 says psi / (1 + psi), 0.47 here; the truth may cost 167 % more than estimated."""
    _, rise = changes(RARE, 8.0, 0.9)
    assert rise == pytest.approx(1.665, abs=1e-2)
    assert rise > 3 * 0.9 / 1.9


@pytest.mark.parametrize("psi", [0.1, 0.5])
def test_a_relative_error_of_the_estimate_costs_at_most_its_share(psi):
    """The other reading, |p - estimate| <= psi estimate, changes any expectation by psi of itself at most."""
    V = design(RARE, 4.0, uniform_share=0.0).mechanism.knot_variances
    largest = RelativeAmbiguity(psi).around(RARE).largest(V)[0]
    assert RARE.weights @ V < largest <= (1 + psi) * (RARE.weights @ V) * (1 + 1e-12)
