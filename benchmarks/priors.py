"""The priors that the benchmarks share: those of AAA's figure 3 on [-1, 1], at the knots."""

import numpy as np
from optldp.designer import Prior
from scipy import stats

EPSILONS = (0.5, 1.0, 2.0, 4.0)


def at_knots(name: str, n: int) -> Prior:
    """Return a prior proportional to the density at n equally spaced knots (Beta: the mass of each knot's cell)."""
    x = np.linspace(-1, 1, n)
    if name == "gaussian":
        weights = np.exp(-(x**2) / (2 * 0.1**2))
    elif name == "exponential":
        weights = np.exp(-6 * (x + 1))
    elif name == "uniform":
        weights = np.ones(n)
    else:
        cells = np.concatenate([[-1], (x[1:] + x[:-1]) / 2, [1]])
        weights = np.diff(stats.beta(0.5, 0.5, loc=-1, scale=2).cdf(cells))
    return Prior.on_knots(x, weights, source="public")
