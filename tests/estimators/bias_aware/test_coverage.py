"""Intervals of bias-aware means cover as said for every prior within the trust, from a thousand users to a million."""

import math

import numpy as np
import pytest
from optldp.estimators import ReportCounts, Service, bias_aware_mean
from optldp.estimators.bias_aware.decoders import UNIFORM_SHARE
from optldp.estimators.intervals import bias_aware_reach
from optldp.mechanisms import laplace, piecewise, square_wave
from optldp.solvers.biased import trusted

KNOTS = np.linspace(0.0, 80.0, 21)
PRIOR = np.exp(-KNOTS / 6)
SAMPLES = 4000


@pytest.mark.slow
@pytest.mark.parametrize("trust", [1.5, 2.0, 5.0])
@pytest.mark.parametrize("users", [1000, 10_000, 100_000, 1_000_000])
@pytest.mark.parametrize("make", [piecewise, square_wave, laplace], ids=lambda make: make.__name__)
def test_at_least_94_of_100_intervals_cover_whatever_prior_within_the_trust_is_true(make, users, trust):
    """The prior itself, those of worst bias either way and of most noise, and three corners of the set."""
    table, rng = make(KNOTS, 1.0), np.random.default_rng(users)
    seen = rng.multinomial(users, PRIOR / PRIOR.sum() @ table.probabilities)
    counts = ReportCounts.from_outputs([Service("one", table)], np.repeat(np.arange(seen.size), seen)[:, None])
    found = bias_aware_mean(counts, PRIOR, trust=trust)
    P, values = table.probabilities, found.parts[0].values
    b, v = P @ values - KNOTS, (P * (values - KNOTS[:, None]) ** 2).sum(1)
    box = trusted(PRIOR / PRIOR.sum(), trust, share=UNIFORM_SHARE)
    costs = [b - b.min(), b.max() - b, v, *(rng.random(b.size) for _ in range(3))]
    for q in (box.low, *(box.largest(cost)[1] for cost in costs)):
        prior = q / q.sum()
        seen = rng.multinomial(users, prior @ P, SAMPLES)
        means = seen @ values / users
        errors = np.sqrt((seen @ values**2 / users - means**2) / (users - 1))
        grid = np.linspace(errors.min(), errors.max(), 50)  # the reach is nearly linear between them
        reach = np.interp(errors, grid, [bias_aware_reach(error, found.bias_high, 0.95) for error in grid])
        covered = np.mean(np.abs(means - prior @ KNOTS) <= reach)
        assert covered >= 0.95 - 3.5 * math.sqrt(0.05 * 0.95 / SAMPLES)  # of 250 cases none by chance
