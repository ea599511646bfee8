"""Four attributes of each person and one budget: how many should a person report, and what are the means?

    python examples/several_attributes.py

The people are simulated. The priors are the analyst's guesses, which are public; they need not be right for the means
to be unbiased.
"""

import numpy as np
from optldp.designer import Prior, design
from optldp.estimators import count, estimate_attribute_means
from scipy import stats

USERS = 50_000
EPSILON = 6.0
GUESSES = {
    "age": (stats.truncnorm(-1.5, 2.5, 45, 18), (18, 90)),
    "hours a week": (stats.norm(38, 12), (0, 80)),
    "income": (stats.gamma(2, scale=25_000), (0, 250_000)),
    "commute, minutes": (stats.expon(scale=25), (0, 120)),
}


def people(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Values that differ from the guesses."""
    ages = 18 + 72 * rng.beta(1.6, 2.4, USERS)
    hours = np.clip(rng.normal(41, 8, USERS), 0, 80)
    incomes = np.clip(rng.lognormal(10.6, 0.6, USERS), 0, 250_000)
    minutes = np.clip(rng.gamma(1.5, 18, USERS), 0, 120)
    return dict(zip(GUESSES, (ages, hours, incomes, minutes), strict=True))


def main() -> None:
    rng = np.random.default_rng(7)
    priors = {
        name: Prior.from_distribution(guess, knots=41, domain=domain) for name, (guess, domain) in GUESSES.items()
    }
    made = design(priors, EPSILON)
    print(
        f"epsilon {EPSILON:g} for {len(priors)} attributes; sum of variances on [-1, 1], times users, if k are sampled:"
    )
    for choice in made.evidence.choices:
        designed = "" if choice.designed is None else f", {choice.designed:.3f} by designed tables"
        print(f"  k = {choice.sampled}: {choice.screened:.3f} by closed forms{designed}")
    print(f"sampled: {made.mechanism.sampled}; the rule of thumb says {made.evidence.rule_of_thumb}\n")

    values = people(rng)
    reports = made.mechanism.sample(values, rng)  # a simulation: without rng it would be for real
    predicted = made.evidence.predicted_variances(USERS)
    found = estimate_attribute_means(count(made.mechanism, reports), target="users")
    for name, mean in zip(found.attributes, found.means, strict=True):
        ends = mean.interval()
        print(
            f"{name:17} {mean.value:10.2f} +- {mean.std_error:.2f} (predicted {predicted[name] ** 0.5:.2f}), "
            f"95% [{ends.low:.2f}, {ends.high:.2f}], truth {values[name].mean():.2f}"
        )


if __name__ == "__main__":
    main()
