"""Jobs of 100,000 people at epsilon 1: which mechanism, and which estimator, finds their shares best?

Run: python examples/categories.py
"""

import numpy as np
from optldp.designer import CategoricalPrior, compare_categorical, design
from optldp.estimators import CategoryCounts, estimate_frequencies
from optldp.mechanisms.categorical import categorical_grr, optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.subset_selection import subset_selection

USERS, EPSILON = 100_000, 1.0


def main() -> None:
    rng = np.random.default_rng(1)
    jobs = [f"job {i}" for i in range(1, 25)]
    weights = 1.0 / np.arange(1, len(jobs) + 1)
    prior = weights / weights.sum()
    people = prior**0.9  # who report are others than those whom the prior is of, and a little more alike
    codes = rng.choice(len(jobs), USERS, p=people / people.sum())
    truth = np.bincount(codes, minlength=len(jobs)) / USERS

    designed = design(CategoricalPrior(jobs, prior), EPSILON)
    print(f"Designed table: {designed.mechanism.numerators.shape[1]} outputs, {designed.seconds:.1f} s")
    print(f"  expected squared error {designed.value:.4f} / n, and no epsilon-LDP table has less than", end=" ")
    print(f"{designed.bound:.4f} / n (relative gap {designed.gap:.1e})\n")
    print(f"{'method':<10}{'error x n':>12}{'ratio':>8}")
    for row in compare_categorical(prior, EPSILON):
        print(f"{row.method:<10}{row.error:>12.3f}{row.ratio_to_optimal:>8.3f}")

    made = (
        designed.mechanism,
        categorical_grr(jobs, EPSILON),
        local_hashing(jobs, EPSILON),
        optimised_unary(jobs, EPSILON),
        subset_selection(jobs, EPSILON),
    )
    methods = ("unbiased", "norm-sub", "mle", "mr")
    print(f"\nMean absolute error of the shares of {USERS:,} simulated users, in percent")
    print(f"{'':<10}" + "".join(f"{method:>12}" for method in methods))
    for mechanism in made:
        counts = CategoryCounts.from_reports(mechanism, mechanism.sample_codes(codes, rng))
        errors = [np.abs(estimate_frequencies(counts, method=method).value - truth).mean() for method in methods]
        print(f"{mechanism.provenance.method:<10}" + "".join(f"{100 * error:>12.3f}" for error in errors))


if __name__ == "__main__":
    main()
