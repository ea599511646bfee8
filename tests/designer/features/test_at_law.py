"""What moments cost at a law: the errors of estimates from its people, of each target; all else is refused."""

# Each case knows which kind of mechanism it made; the types say only that it is one of two.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportCallIssue=false

import numpy as np
import pytest
from optldp.designer.features import Pilot, design_association, design_regression, moments_variance
from optldp.estimators.features import estimate_features
from optldp.mechanisms import InputError

BOX = {"x": (0.0, 20.0), "y": (0.0, 80.0)}


def people():
    rng = np.random.default_rng(8)
    x = rng.normal(size=4000)
    y = 0.5 * x + np.sqrt(0.75) * rng.normal(size=4000)
    return Pilot(("x", "y"), np.column_stack([np.clip(10 + 3 * x, 0, 20), np.clip(30 + 12 * y, 0, 80)]))


@pytest.mark.slow
@pytest.mark.parametrize("target", ["correlation", "covariance", "regression"])
def test_what_moments_cost_at_a_law_is_what_their_estimates_say_they_err_by(target):
    law, rng = people(), np.random.default_rng(4)
    made = design_regression("y", BOX, 4.0) if target == "regression" else design_association(target, BOX, 4.0)
    records = law.records[rng.integers(len(law.records), size=160_000)]
    found = estimate_features(made.mechanism, made.mechanism.sample(records, rng))
    cost = moments_variance(made.mechanism, law)
    assert 160_000 * found.std_error**2 == pytest.approx(cost, rel=0.15)


@pytest.mark.parametrize(
    ("mechanism", "law", "says"),
    [
        (design_association("covariance", BOX, 1.0, people()).mechanism, people(), "must be of moments, got one for"),
        (
            design_association("covariance", BOX, 1.0).mechanism,
            Pilot(("x", "z"), [[0, 1], [1, 0]]),
            "must be of x, y, got x, z",
        ),
    ],
)
def test_other_mechanisms_and_laws_are_one_line(mechanism, law, says):
    with pytest.raises(InputError, match=says):
        moments_variance(mechanism, law)
