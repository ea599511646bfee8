"""What each way of collecting over time costs, beside its lower bound, and a panel simulated.

Variances times n about the means of these very users, for 17 values uniform on [-1, 1], as docs/asking-again.md has
them.
"""

import sys

import numpy as np
from optldp.designer import Prior, design
from optldp.designer.over_time import Repeated, plan_over_time

PRIOR = Prior.even(np.linspace(-1, 1, 17))
CASES = [(12, 1), (12, 4), (52, 1), (52, 4), (52, 12), (365, 4)]
BUDGETS = (1.0, 2.0, 4.0)


def cells(of: str) -> None:
    """Print a row for each case and budget."""
    print(f"{of}: periods, changes, epsilon, lower bound, then each way")
    for periods, changes in CASES:
        for epsilon in BUDGETS:
            ways = plan_over_time(PRIOR, epsilon, 1, Repeated(periods, changes, answers="at-end", of=of))
            told = ", ".join(f"{way.way} {way.error(of) ** 2:.4g}" for way in ways)
            least = "-" if ways[0].floor is None else f"{ways[0].floor ** 2:.4g}"
            print(f"{periods:>4} {changes:>3} {epsilon:g}  {least:>6}  {told}")


def simulated_panel(periods: int, epsilon: float, *, users: int = 6000, repetitions: int = 400) -> tuple[float, float]:
    """Return the variance times n of a panel's means about those of its users, and its standard error.

    Values are drawn anew each period, so that chance between users is as large as it can be; groups have equal sizes.
    """
    rng = np.random.default_rng(33)
    table = design(PRIOR, epsilon).mechanism
    errors = []
    for _ in range(repetitions):
        values = rng.choice(PRIOR.knots, (users, periods))
        turns = rng.permutation(np.arange(users) % periods)
        reports = table.sample(values[np.arange(users), turns], rng)
        means = np.bincount(turns, weights=reports) / np.bincount(turns)
        errors.append(users * ((means - values.mean(axis=0)) ** 2).mean())
    return float(np.mean(errors)), float(np.std(errors) / np.sqrt(repetitions))


def main() -> int:
    """Print all, and fail if a simulated cell is more than three standard errors off."""
    for of in ("each", "average", "change"):
        cells(of)
    wrong = 0
    for epsilon in (1.0, 4.0):
        found, error = simulated_panel(12, epsilon)
        expected = plan_over_time(PRIOR, epsilon, 1, Repeated(12))[0].error_per_period
        assert expected is not None
        print(f"panel of 12 periods, epsilon {epsilon:g}: {found:.2f} +- {error:.2f}, computed {expected**2:.2f}")
        wrong += abs(found - expected**2) > 3 * error
    return wrong


if __name__ == "__main__":
    sys.exit(main())
