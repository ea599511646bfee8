"""45,211 users at ten levels from 0.1 to 1.0, whose choice is protected at epsilon 0.3, report values by basic RAPPOR.
The values follow Zipf's law. The rows are counting, the joint maximum likelihood of values and levels, and the bound by
relaxation."""

import numpy as np
from measured import Table, timed
from optldp.estimators import PersonalisedCounts, personalised_mle
from optldp.estimators.personalised.likelihood import personalised_likelihood
from optldp.estimators.personalised.mle import relaxation_bound
from optldp.mechanisms import PersonalisedMechanism
from optldp.mechanisms.categorical import basic_rappor

TITLE = "Personalised budgets"
USERS = 45_211
LEVELS = np.arange(1, 11) / 10


def run() -> list[Table]:
    rows = []
    for size in (12, 16, 42):
        rng = np.random.default_rng(1)
        mechanism = PersonalisedMechanism([basic_rappor(range(size), epsilon) for epsilon in LEVELS], 0.3)
        weights = 1.0 / np.arange(1, size + 1)
        values = rng.choice(size, USERS, p=weights / weights.sum())
        sent = mechanism.sample(values, rng.integers(0, LEVELS.size, USERS), rng)
        counts, counting = timed(
            lambda mechanism=mechanism, sent=sent: PersonalisedCounts.from_reports(mechanism, sent)
        )
        found, fitting = timed(lambda counts=counts: personalised_mle(counts))
        assert found.joint is not None
        above = relaxation_bound(personalised_likelihood(counts))[0] - found.joint.loglik if size < 42 else None
        rows.append((size, counts.counts.size, counting, fitting, found.joint.iterations, above))
    columns = {
        "categories": "", "distinct reports": ",", "counting, s": ".2f", "fit, s": ".2f", "steps": "",
        "bound above the maximum, nats": ".1f",
    }  # fmt: skip
    return [Table(columns, rows)]
