"""What one report can do on [-1, 1]: influence beside the variance, and what winsorising tails costs.

    python benchmarks collecting.influence

Prints two Markdown tables for docs/influence.md and one for docs/theory/estimators.md.  Influence is the most that
one report of n moves the mean, times n; the last columns of the first are for 20,000 honest users.
"""

from __future__ import annotations

import math

import numpy as np
from markdown_table import table
from optldp.designer import Prior, design
from optldp.estimators import influence, winsorised
from optldp.estimators.means.decoder import MeanDecoder, mean_decoder
from optldp.mechanisms.table.moments import prior_variance

EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0)
METHODS = ("optimal", "duchi", "piecewise", "aaa", "laplace")
SHARES = (0.05, 0.01, 0.001)
DECODED = ("laplace", "piecewise", "pm-sub", "ptt", "ptt2", "square-wave", "aaa", "hybrid", "duchi", "optimal")
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
            deviation = math.sqrt(_expected_variance(mean_decoder(made.mechanism)))
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
    """One row for each mechanism with tails: decoded as by default, and raw, with and without a share."""
    rows = []
    for epsilon, method in TAILS:
        made = design(PRIOR, epsilon, method=method)
        for named, raw in (("decoded", False), ("raw", True)):
            decoder = mean_decoder(made.mechanism, raw=raw)
            deviation = math.sqrt(_expected_variance(decoder))
            rows.append([f"{epsilon:g}", method, named, "", "0", f"{deviation:.3f}", f"{_reach(decoder):.2f}"])
        for share in SHARES:
            found = winsorised(made.mechanism, share, raw=True)
            less = np.ptp(found.clip(np.array([extreme.value for extreme in decoder.extremes])))
            deviation = math.sqrt(found.expected_variance or math.nan)
            ends = f"{found.low:.2f} to {found.high:.2f}"
            rows.append(
                [
                    f"{epsilon:g}",
                    method,
                    f"raw, {share:g}",
                    ends,
                    f"{found.largest_bias:.2g}",
                    f"{deviation:.3f}",
                    f"{less:.2f}",
                ]
            )
    return table(
        ["epsilon", "method", "reports, share", "limits", "largest bias", "standard deviation", "influence"], rows
    )


def decoded() -> str:
    """One row for each budget: variance of a report as decoded by default, as a share of the raw one's."""
    rows = []
    for epsilon in EPSILONS:
        tables = [design(PRIOR, epsilon, method=method).mechanism for method in DECODED]
        shares = [
            _expected_variance(mean_decoder(one)) / _expected_variance(mean_decoder(one, raw=True)) for one in tables
        ]
        rows.append([f"{epsilon:g}", *(f"{share:.3f}" if share < 1 else "raw" for share in shares)])
    return table(["epsilon", *DECODED], rows)


def _expected_variance(decoder: MeanDecoder) -> float:
    """Of a decoded report, the values being those of the prior."""
    table = decoder.mechanism
    assert table.prior is not None  # every design carries its prior
    return prior_variance(table.knots, table.knots, decoder.knot_variances, table.prior)


def _reach(decoder: MeanDecoder) -> float:
    """From the least decoded report to the largest."""
    low, high = decoder.extremes
    return high.value - low.value


if __name__ == "__main__":
    print("\n\n".join((influences(), winsorised_tails(), decoded())))
