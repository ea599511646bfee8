"""PTT's optimum against the known table, and tabulated variances against closed forms."""

import numpy as np
from markdown_table import table
from optldp.mechanisms import piecewise, ptt
from optldp.mechanisms.families.duchi import duchi_variance
from optldp.mechanisms.families.laplace import laplace_variance
from optldp.mechanisms.families.piecewise import piecewise_variance
from optldp.mechanisms.families.ptt import optimal_eta, ptt_variance

TITLE = "Closed forms"
KNOWN = {0.5: (2.1337, 21.0582), 1.0: (2.2888, 5.0657), 2.0: (2.6906, 1.0922), 4.0: (4.0918, 0.1618)}
"""Worst-case optimal eta and its variance, computed independently."""


def run() -> str:
    rows = []
    x = np.linspace(-1, 1, 101)
    for epsilon, (eta, variance) in KNOWN.items():
        best = optimal_eta(epsilon)
        errors = [
            np.max(np.abs(made.var(x) / exact - 1))
            for made, exact in (
                (ptt(x, epsilon), ptt_variance(x, epsilon, best)),
                (piecewise(x, epsilon), piecewise_variance(x, epsilon)),
            )
        ]
        rows.append(
            (
                epsilon, eta, f"{best:.4f}", variance, f"{ptt_variance(1.0, epsilon, best).max():.4f}",
                f"{np.max(piecewise_variance(1.0, epsilon)):.4f}", f"{np.max(duchi_variance(0.0, epsilon)):.4f}",
                f"{np.max(laplace_variance(0.0, epsilon)):.4f}", f"{errors[0]:.0e}", f"{errors[1]:.0e}",
            )
        )  # fmt: skip
    header = (
        "epsilon", "eta known", "eta", "worst case known", "PTT", "PM", "Duchi", "Laplace",
        "PTT table, relative error", "PM table, relative error",
    )  # fmt: skip
    what = "Worst-case variances on [-1, 1], and how far tabulated variances are from closed forms at 101 knots:"
    return what + "\n\n" + table(header, rows)
