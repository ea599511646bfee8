"""45,211 users at ten levels from 0.1 to 1.0, whose choice is protected at epsilon 0.3, report values by basic RAPPOR;
values by Zipf's law. Counting, the joint maximum likelihood of values and levels, and the bound by relaxation."""

import time

import numpy as np
from markdown_table import table
from optldp.estimators import PersonalisedCounts, personalised_mle
from optldp.estimators.personalised.likelihood import personalised_likelihood
from optldp.estimators.personalised.mle import relaxation_bound
from optldp.mechanisms import PersonalisedMechanism
from optldp.mechanisms.categorical.unary_encoding import basic_rappor

TITLE = "Personalised budgets"
USERS = 45_211
LEVELS = np.arange(1, 11) / 10


def run() -> str:
    rows = []
    for size in (12, 16, 42):
        rng = np.random.default_rng(1)
        mechanism = PersonalisedMechanism([basic_rappor(range(size), epsilon) for epsilon in LEVELS], 0.3)
        weights = 1.0 / np.arange(1, size + 1)
        values = rng.choice(size, USERS, p=weights / weights.sum())
        sent = mechanism.sample(values, rng.integers(0, LEVELS.size, USERS), rng)
        started = time.perf_counter()
        counts = PersonalisedCounts.from_reports(mechanism, sent)
        counted = time.perf_counter()
        found = personalised_mle(counts)
        assert found.joint is not None
        fitted = time.perf_counter()
        bound, _ = relaxation_bound(personalised_likelihood(counts)) if size < 42 else (np.nan, None)
        rows.append(
            (
                size, f"{counts.counts.size:,}", f"{counted - started:.2f}", f"{fitted - counted:.2f}",
                found.joint.iterations, "" if np.isnan(bound) else f"{bound - found.joint.loglik:.1f}",
            )
        )  # fmt: skip
    header = ("categories", "distinct reports", "counting, s", "fit, s", "steps", "bound above the maximum, nats")
    return table(header, rows)
