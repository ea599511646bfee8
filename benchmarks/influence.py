"""What one report can do on [-1, 1]: influence beside the variance, and what winsorising tails costs.

    python benchmarks/influence.py

Prints two Markdown tables for docs/influence.md.  Influence is the most that one report of n moves the mean, times n;
the last columns of the first are for 20,000 honest users.
"""

from __future__ import annotations

import math

import numpy as np
from markdown_table import table
from optldp.designer import Prior, design
from optldp.estimators import influence, winsorised

EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0)
METHODS = ("optimal", "duchi", "piecewise", "aaa", "laplace")
SHARES = (0.05, 0.01, 0.001)
TAILS = ((0.1, "aaa"), (0.1, "laplace"), (1.0, "laplace"))
USERS = 20_000
PRIOR = Prior.on_knots(np.linspace(-1, 1, 33), np.ones(33), source="public")


def influences() -> str:
    """One row for each budget and method."""
    rows = []
    for epsilon in EPSILONS:
        for method in METHODS:
            made = design(PRIOR, epsilon, method=method)
            times_n = float(influence(made.mechanism).times_n[0])
            deviation = math.sqrt(made.expected_variance)
            needed = deviation * math.sqrt(USERS) / times_n
            rows.append(
                [
                    f"{epsilon:g}",
                    method,
                    f"{deviation:.3f}",
                    f"{times_n:.2f}",
                    f"{times_n / USERS:.2g}",
                    f"{needed:.0f}",
                ]
            )
    return table(
        [
            "epsilon",
            "method",
            "standard deviation",
            "influence",
            "one report moves the mean by",
            "reports for one standard error",
        ],
        rows,
    )


def winsorised_tails() -> str:
    """One row for each mechanism with tails and share."""
    rows = []
    for epsilon, method in TAILS:
        made = design(PRIOR, epsilon, method=method)
        times_n = float(influence(made.mechanism).times_n[0])
        rows.append(
            [f"{epsilon:g}", method, "none", "", "0", f"{math.sqrt(made.expected_variance):.3f}", f"{times_n:.2f}"]
        )
        for share in SHARES:
            found = winsorised(made.mechanism, share)
            less = float(influence(made.mechanism, winsorise=share).times_n[0])
            deviation = math.sqrt(found.expected_variance or math.nan)
            ends = f"{found.low:.2f} to {found.high:.2f}"
            rows.append(
                [
                    f"{epsilon:g}",
                    method,
                    f"{share:g}",
                    ends,
                    f"{found.largest_bias:.2g}",
                    f"{deviation:.3f}",
                    f"{less:.2f}",
                ]
            )
    return table(["epsilon", "method", "share", "limits", "largest bias", "standard deviation", "influence"], rows)


if __name__ == "__main__":
    print(f"{influences()}\n\n{winsorised_tails()}")
