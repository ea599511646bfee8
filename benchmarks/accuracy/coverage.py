"""Whether intervals hold the truth less often than 92%, when many kinds of them are looked at."""

from __future__ import annotations

import math

from scipy.stats import beta, binom, norm, t

LEAST = 0.92
ALONE = float(norm.cdf(-2.0))
"""Probability of two standard errors below, of one cell alone; of many cells each gets its part (Bonferroni)."""


def surely_below(mean: float, error: float, repetitions: int, looks: int, *, yes_or_no: bool) -> bool:
    """Whether a share of intervals that hold the truth is below `LEAST` by more than chance explains in so many looks.

    Of intervals that hold or not, one in each repetition, by the binomial law; of averages of several by Student's t;
    where all repetitions agree, as if the intervals of one held or failed together.
    """
    if mean >= LEAST:
        return False
    if yes_or_no:
        return bool(binom.cdf(round(mean * repetitions), repetitions, LEAST) < ALONE / looks)
    scatter = error or math.sqrt(LEAST * (1 - LEAST) / repetitions)
    return bool(t.cdf((mean - LEAST) / scatter, repetitions - 1) < ALONE / looks)


def found_if_below(repetitions: int, looks: int, chance: float = 0.8) -> float:
    """Return the true coverage that `surely_below` finds so often, of intervals that hold or not; 0 if none."""
    most = int(binom.ppf(ALONE / looks, repetitions, LEAST)) - 1
    if most < 0:
        return 0.0
    return float(beta.ppf(1.0 - chance, most + 1, repetitions - most))


def percent(shares: list[float]) -> str:
    """Return the mean of several shares and its standard error by their scatter, in percent."""
    mean = sum(shares) / len(shares)
    scatter = sum((one - mean) ** 2 for one in shares) / max(len(shares) - 1, 1)
    return f"{100 * mean:.1f} ± {100 * math.sqrt(scatter / len(shares)):.1f}"
