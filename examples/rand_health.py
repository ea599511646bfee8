"""The whole loop on real data: doctor visits in the RAND Health Insurance Experiment.

20,190 person-years; the data ship inside statsmodels, nothing is downloaded.  Learns the prior of the number of
outpatient visits, derives the optimal mechanism for it, writes it as a table, perturbs every value through the table,
estimates the mean from the reports, and compares the mechanism with the closed forms.

Run: python examples/rand_health.py [--epsilon 1] [--folder DIR]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from optldp.designer import Prior, compare, design
from optldp.estimators import count, estimate_mean
from optldp.mechanisms import load_table, save_table
from statsmodels.datasets import randhie

METHODS = ("optimal", "ptt", "hybrid", "piecewise", "three-outputs", "aaa", "duchi", "laplace")
DOMAIN = (0.0, 80.0)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Doctor visits under local differential privacy.")
    parser.add_argument("--epsilon", type=float, default=1.0, help="privacy budget (default 1)")
    parser.add_argument("--folder", type=Path, help="where to keep the table; default: a temporary folder")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        run(options.epsilon, options.folder or Path(temporary))


def run(epsilon: float, folder: Path) -> None:
    people = randhie.load_pandas().data
    assert people is not None  # for type checkers: statsmodels leaves it open
    visits = people["mdvis"].to_numpy(dtype=float)
    print(f"RAND Health Insurance Experiment: {len(visits)} person-years, mean {visits.mean():.4f} visits")

    # The prior is public here: the data are. A prior from data to be protected would need its own budget.
    prior = Prior.from_data(visits, domain=DOMAIN, source="public", units="visits")
    best = design(prior, epsilon)
    n, m = best.mechanism.probabilities.shape
    print(f"\nOptimal mechanism at epsilon = {epsilon:g}: {n} knots, {m} outputs, {best.seconds:.1f} s")
    print(f"  expected variance {best.expected_variance:.4f}, worst case {best.worst_case_variance:.4f}")
    share = best.objective.uniform_share
    print(f"  under the prior solved for, a uniform share of {share:g} mixed in: {best.value:.4f},")
    print(f"  and no unbiased mechanism has less than {best.bound:.4f} (relative gap {best.gap:.1e})")
    print(f"  largest log-ratio {best.max_log_ratio:.15f}")

    folder.mkdir(parents=True, exist_ok=True)
    save_table(best.mechanism, folder / "visits.json")
    mechanism = load_table(folder / "visits.json")  # what a client would do; verified again

    started = time.perf_counter()
    reports = mechanism.sample(visits, np.random.default_rng(7))
    estimate = estimate_mean(count(mechanism, reports))
    print(f"\n{len(reports)} reports drawn and estimated from in {time.perf_counter() - started:.2f} s")
    print(
        f"  mean {estimate.value:.3f} +- {estimate.std_error:.3f}, "
        f"95% interval [{estimate.interval().low:.3f}, {estimate.interval().high:.3f}], truth {visits.mean():.3f}"
    )

    print(f"\n{'method':14}{'expected variance':>20}{'worst case':>14}{'ratio to optimal':>19}")

    for row in compare(prior, [epsilon], methods=METHODS):
        print(
            f"{row.method:14}{row.expected_variance:20.2f}{row.worst_case_variance:14.2f}{row.ratio_to_optimal:19.4f}"
        )


if __name__ == "__main__":
    main()
