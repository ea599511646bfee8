"""What two phases gain over one: the variance of the mean of users drawn from a column, as a share of its variance by
the optimal table for a uniform prior, which needs no first phase: below 1 two phases pay. A repetition draws the
reports of the first phase; given the design that they lead to, the variances of both tables are exact. 33 knots;
the distribution is learnt by EM. The first phase goes through that very table, by shares of 2% to 20% of the users,
or, in the last column, through the square wave."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from markdown_table import table
from optldp.designer import Prior, TwoPhasePlan
from optldp.designer.protocols.two_phase import first_size
from optldp.estimators import InputGrid, plain_decoder
from optldp.estimators.means.decoding import decoded_variances
from optldp.mechanisms import TabulatedMechanism
from redone.experiment.drawn_values import all_sets

from .full_tables import Row, chosen, mean_and_worst, number
from .repetitions import Errors, repeat

TITLE = "Two phases or one"
SETS = ("S-MN", "SF benefits", "SF total pay", "Adult age", "IRS mean income")
BUDGETS, USERS = (0.5, 1.0, 2.0, 4.0), (2_000, 20_000, 200_000)
SHARES, KNOTS, DRAWN = (0.02, 0.05, 0.1, 0.2), 33, 200_000
Plan = tuple[str, float | None]
"""The table of the first phase, and its share of the users: `None` for the default."""

PLANS: Mapping[str, Plan] = {f"designed, {share:.0%}": ("designed", share) for share in SHARES} | {
    "square wave, 10%": ("square-wave", 0.1)
}


def rows(data: Path, repetitions: int, workers: int) -> list[Row]:
    """Return a row for each column, budget and number of users."""
    cases = [(data, name, epsilon, users) for name in SETS for epsilon in BUDGETS for users in USERS]
    found = repeat(ratios, [(*case, PLANS) for case in cases], repetitions, workers)
    return [
        {"column": name, "epsilon": f"{epsilon:g}", "users": f"{users:,}"} | {plan: scores.show(plan) for plan in PLANS}
        for (_, name, epsilon, users), scores in zip(cases, found, strict=True)
    ]


def page(found: list[Row]) -> str:
    """Return geometric means by budget, by number of users and over all, with the worst of them."""
    groups = [(f"epsilon {epsilon:g}", chosen(found, epsilon=f"{epsilon:g}")) for epsilon in BUDGETS]
    groups += [(f"{users:,} users", chosen(found, users=f"{users:,}")) for users in USERS]
    lines = [
        (label, *(mean_and_worst([number(row[plan]) for row in some]) for plan in PLANS))
        for label, some in [*groups, ("all", found)]
    ]
    said = "Geometric means over columns, budgets and users, in brackets the worst of them:"
    return "\n\n".join([said, table(("", *PLANS), lines)])


def ratios(
    data: Path, name: str, epsilon: float, users: int, compared: Mapping[str, Plan], rng: np.random.Generator
) -> Errors:
    """Return the variance of two phases, by plan, as a share of that of one phase."""
    values = all_sets(data)[name](DRAWN, rng)
    knots = np.linspace(0.0, 1.0, KNOTS)
    prior = Prior.from_data(values, knots=knots, source="public")
    plans = {
        kind: TwoPhasePlan((0.0, 1.0), epsilon, knots=knots, phase_one=kind) for kind in ("designed", "square-wave")
    }

    def variance(mechanism: TabulatedMechanism) -> float:
        noise = decoded_variances(mechanism, plain_decoder(mechanism), InputGrid.knots(knots))
        return float(values.var() + noise @ prior.weights + prior.rounding_variance)

    one, found = variance(plans["designed"].first), {}
    for label, (kind, asked_share) in compared.items():
        first, asked = plans[kind].first, first_size(users, asked_share)
        share = asked / users
        later = plans[kind].second(first.sample(rng.choice(values, asked), rng)).mechanism
        found[label] = 1 / (one * (share / variance(first) + (1 - share) / variance(later)))
    return found
