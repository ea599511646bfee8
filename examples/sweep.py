"""Which mechanism, for which budget, for which values; and what budget does a survey need?

    python examples/sweep.py [results.jsonl]

Three guesses of what a survey's answers in hours may look like, all public. With a results file the sweep can be
interrupted and goes on where it stopped when it is run again.
"""

import sys

from optldp.designer import Prior, sweep
from optldp.designer.comparison.row import Row
from optldp.designer.planning import plan_epsilon, plan_error
from scipy import stats

DOMAIN = (0, 80)
GUESSES = {
    "full-time": stats.norm(40, 6),
    "skewed": stats.gamma(2, scale=8),
    "flat": stats.uniform(*DOMAIN),
}
EPSILONS = (0.5, 1.0, 2.0, 4.0)
METHODS = ("optimal", "aaa", "laplace", "duchi", "piecewise")
USERS = 20_000


def tell(done: int, total: int, row: Row) -> None:
    if done % 10 == 0:
        print(f"  {done} of {total} done, the last: {row.prior}, epsilon {row.epsilon:g}, {row.method}")


def main() -> None:
    priors = {
        name: Prior.from_distribution(guess, knots=41, domain=DOMAIN, units="hours") for name, guess in GUESSES.items()
    }
    results = sys.argv[1] if len(sys.argv) > 1 else None
    table = sweep(priors, EPSILONS, METHODS, results=results, n_jobs=-1, progress=tell)
    ratios = {(row.prior, row.epsilon, row.method): row.ratio_to_optimal for row in table.rows}
    print("\nexpected variance over the certified optimum's")
    print(f"{'prior':12}{'epsilon':8}" + "".join(f"{method:>11}" for method in METHODS))
    for name in sorted(priors):
        for epsilon in EPSILONS:
            print(f"{name:12}{epsilon:<8g}" + "".join(f"{ratios[name, epsilon, method]:11.3f}" for method in METHODS))
    # table.write("sweep.parquet") keeps it for a data frame

    print(f"\nthe mean of {USERS} users, answers skewed")
    print(f"epsilon 1 errs by {plan_error(priors['skewed'], USERS, 1.0).predicted_error:.2f} hours")
    for method in ("optimal", "laplace"):
        plan = plan_epsilon(priors["skewed"], USERS, 0.25, method=method)
        print(f"0.25 hours take epsilon {plan.epsilon:.3f} with {method}, over {plan.least_epsilon:.3f} with anything")


if __name__ == "__main__":
    main()
