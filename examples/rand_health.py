"""The whole loop on real data: doctor visits in the RAND Health Insurance Experiment.

20,190 person-years; the data ship inside statsmodels, nothing is downloaded.  The first 4,000 stand for a published
survey, from which the mechanism is designed; the other 16,190, of other people, are perturbed.  The mean is estimated
from the reports alone and held against the truth; then the script says what would have helped, and what other
mechanisms would have cost.

Run: python examples/rand_health.py [--epsilon 1] [--folder DIR]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from optldp.designer import Design, Prior, compare, design
from optldp.designer.planning import plan_error, plan_users
from optldp.estimators import count, estimate_mean
from optldp.mechanisms import load_table, save_table
from statsmodels.datasets import randhie

METHODS = ("optimal", "aaa", "duchi", "three-outputs", "hybrid", "ptt", "piecewise", "laplace")
SURVEYED = 4_000
MOST, HIGHEST = 20, 80
"""Visits that count in full, which the survey suggests; visits that anybody can have."""

COLLECTIONS = 200
"""As if the same people had been asked so often: how often does the interval hold?"""

HALF_WIDTH = 1.96
"""Standard errors to either side of a 95% interval."""


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
    survey, asked = visits[:SURVEYED], visits[SURVEYED:]
    print("Doctor visits in a year, RAND Health Insurance Experiment")
    print(
        f"  known: a survey of {survey.size:,} person-years, {np.mean(survey <= MOST):.1%} of them up to {MOST} visits"
    )
    print(f"  asked: {asked.size:,} others; more than {MOST} visits count as {MOST}")

    best = design(prior_up_to(MOST, survey), epsilon)
    describe(best)
    folder.mkdir(parents=True, exist_ok=True)
    save_table(best.mechanism, folder / "visits.json")
    mechanism = load_table(folder / "visits.json")  # what a client would do; verified again

    truth, counted = asked.mean(), asked.clip(0, MOST)
    rng = np.random.default_rng(1)  # seeded, so a simulation: without it reports would be for real
    estimates = [
        estimate_mean(count(mechanism, mechanism.sample(counted, rng)), target="users") for _ in range(COLLECTIONS)
    ]
    first, held = estimates[0], sum(e.low <= counted.mean() <= e.high for e in estimates)
    found = "inside" if first.low <= truth <= first.high else "outside"
    print(
        f"\nEstimated from {asked.size:,} reports: {first.value:.2f}, 95% interval [{first.low:.2f}, {first.high:.2f}]"
    )
    print(f"  the truth, which no collector sees: {truth:.2f}, {found} ({counted.mean():.2f} as counted)")
    print(f"  the same again, {COLLECTIONS} times: the interval held the mean as counted {held} times")
    say_what_would_have_helped(survey, asked.size, epsilon)
    say_what_others_cost(survey, epsilon)


def prior_up_to(most: int, survey: np.ndarray) -> Prior:
    """Return the survey's prior on whole numbers; it is public, and of other people than those who report."""
    return Prior.from_data(survey.clip(0, most), knots=most + 1, domain=(0, most), source="public", units="visits")


def describe(best: Design) -> None:
    knots, outputs = best.mechanism.probabilities.shape
    print(f"\nOptimal mechanism at epsilon {best.epsilon:g}: {knots} knots, {outputs} outputs")
    print(f"  variance {best.value:.2f}; no unbiased mechanism has less than {best.bound:.2f} (gap {best.gap:.0e})")
    print(f"  largest log-ratio {best.max_log_ratio:.12f}, by the numbers of the table")


def say_what_would_have_helped(survey: np.ndarray, n: int, epsilon: float) -> None:
    prior, whole = prior_up_to(MOST, survey), prior_up_to(HIGHEST, survey)
    changes = {
        "as done": (prior, n, epsilon),
        f"all visits counted, up to {HIGHEST}": (whole, n, epsilon),
        "four times as many people": (prior, 4 * n, epsilon),
        "twice the epsilon": (prior, n, 2 * epsilon),
    }
    print("\nHow far off the mean is, 19 times of 20")
    for name, change in changes.items():
        print(f"  {name:<32}{HALF_WIDTH * plan_error(*change).predicted_error:6.2f} visits")
    users = plan_users(prior, epsilon, target_error=0.1 / HALF_WIDTH).users
    print(f"  {'to be within 0.10 takes':<32}{users:,} people")


def say_what_others_cost(survey: np.ndarray, epsilon: float) -> None:
    print(f"\n{'mechanism':14}{'variance of a report':>22}{'largest':>10}{'people needed':>16}")
    for row in compare(prior_up_to(MOST, survey), [epsilon], methods=METHODS):
        cost = f"{row.ratio_to_optimal:.3f} times"
        print(f"{row.method:14}{row.expected_variance:22.2f}{row.worst_case_variance:10.2f}{cost:>16}")


if __name__ == "__main__":
    main()
