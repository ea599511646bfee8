"""Three services hold perturbed reports of the same people; what can be said from all of them together?

    python examples/several_services.py

Incomes are simulated, and the prior is that of a survey of other people. One service uses the optimal mechanism, one
the piecewise mechanism, one a square wave, at budgets of their own, and each has reached only some of the people.
"""

import numpy as np
from optldp.designer import Prior, design
from optldp.estimators import Interval, count, estimate_combined_mean, estimate_distribution, estimate_mean

USERS = 40_000
SERVICES = {"optimal": 1.0, "piecewise": 0.7, "square-wave": 0.5}


def main() -> None:
    rng = np.random.default_rng(7)
    incomes = rng.lognormal(10.5, 0.6, USERS).clip(0, 200_000)
    survey = rng.lognormal(10.4, 0.65, 4_000).clip(0, 200_000)  # published; of other people, who earn a little less
    prior = Prior.from_data(survey, domain=(0, 200_000), source="public")
    print(f"{USERS} people, mean income {incomes.mean():.0f}, median {np.median(incomes):.0f}\n")

    sources = []
    for method, epsilon in SERVICES.items():
        table = design(prior, epsilon, method=method).mechanism
        reached = rng.permutation(USERS)[: USERS * 3 // 4]
        reports = table.sample(incomes[reached], rng)  # a simulation: without rng it would be for real
        sources.append((method, table, {"user": reached, "report": reports}))  # or a CSV or Parquet file
        alone = estimate_mean(count(table, reports))
        print(f"{method:12} alone, epsilon {epsilon}: {alone.value:.0f} +- {alone.std_error:.0f}")
    counts = count(sources, key="user")

    print(f"\n{counts.n_users} users counted, {len(counts.groups)} sets of services")
    for method in ("ua", "population", "decoder"):
        mean = estimate_combined_mean(counts, method=method)
        print(f"{method:12} {mean.value:.0f} +- {mean.std_error:.0f}, 95% {shown(mean.interval(), 0)}")
    found = estimate_distribution(counts)
    mean, median, share = found.mean(), found.quantile(0.5), found.probability(20_000, 60_000)
    truth = np.mean((incomes > 20_000) & (incomes < 60_000))
    print(f"{'smooth':12} {mean.value:.0f} +- {mean.std_error:.0f}")
    print(f"median {median.value:.0f} {shown(median.interval(), 0)}")
    print(f"share between 20,000 and 60,000: {share.value:.3f} {shown(share.interval(), 3)}, truth {truth:.3f}")
    print(f"no weights could gain more than {found.fit.certificate:.0e} of log-likelihood per user")


def shown(interval: Interval, digits: int) -> str:
    return f"[{interval.low:.{digits}f}, {interval.high:.{digits}f}]"


if __name__ == "__main__":
    main()
