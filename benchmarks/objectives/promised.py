"""What a design for the error of a mean promises, and what it turns out to err by when the next year's values come.

python benchmarks objectives.promised --data FOLDER [--trust 3] [--full], a folder with the real data sets, npz files.

The prior is of an earlier year or half, the truth another one. All errors are computed from the tables, bias and
rounding between knots included; nothing is simulated. Ten minutes of processor time.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from markdown_table import table
from optldp.designer import Error, FactorAmbiguity, Prior, design
from optldp.designer.objectives.clip_alone import clipped
from optldp.mechanisms import TabulatedMechanism
from scipy.optimize import brentq
from scipy.stats import norm
from years import Pair, pairs

KNOTS = 41
EPSILONS = (0.5, 1.0, 2.0, 4.0)
USERS = (10**3, 10**4, 10**5, 10**6, 10**7)
COLUMNS = (
    ("SF base_pay", "2012, 2013"),
    ("SF overtime_pay", "2012, 2013"),
    ("SF other_pay", "2013, 2014"),
    ("SF total_pay", "2012, 2013"),
    ("SF benefits", "2012, 2013"),
    ("bank balance", ""),
    ("bank duration", ""),
    ("ACS income", "random halves"),
    ("ACS income", "men and women"),
    ("Adult capital_gain", ""),
    ("RAND visits", ""),
)


@dataclass(frozen=True, eq=False)
class Truth:
    """Values that come, as tables on some knots see them: the moments that any table's error needs.

    Attributes
    ----------
    weights : (n,) ndarray
        Shares of the knots that values are rounded to at random.
    lean : (n,) ndarray
        Mean of that share of a value times how far the knot lies above it.
    rounding : float
        Variance of the rounding.
    spread : float
        Variance of the values.
    """

    weights: np.ndarray
    lean: np.ndarray
    rounding: float
    spread: float

    @classmethod
    def of(cls, values: np.ndarray, knots: np.ndarray) -> "Truth":
        left = np.clip(np.searchsorted(knots, values, "right") - 1, 0, len(knots) - 2)
        gap = knots[left + 1] - knots[left]
        right = (values - knots[left]) / gap
        cross, n = right * (1 - right) * gap, len(knots)

        def mean(at: np.ndarray, what: np.ndarray) -> np.ndarray:
            return np.bincount(at, what, n) / len(values)

        weights = mean(left, 1 - right) + mean(left + 1, right)
        lean = mean(left + 1, cross) - mean(left, cross)
        return cls(weights, lean, float((cross * gap).mean()), float(values.var()))

    def squares_and_bias(self, made: TabulatedMechanism) -> tuple[float, float]:
        """Mean squared error and mean error of a report: E(Y - x)^2 is v_k + 2 b_k (x_k - x) + (x_k - x)^2 in row k."""
        bias = made.knot_bias
        v = made.knot_variances + bias**2
        return float(self.weights @ v + 2 * self.lean @ bias + self.rounding), float(self.weights @ bias)

    def error(self, made: TabulatedMechanism, users: int) -> float:
        """Root mean squared error of the mean of so many users whose values are drawn from the truth."""
        squares, bias = self.squares_and_bias(made)
        return float(np.sqrt(squares / users + (1 - 1 / users) * bias**2))

    def coverage(self, made: TabulatedMechanism, users: int, bias_bound: float) -> float:
        """That of the interval for the population's mean which allows for a bias of so much, by the normal law."""
        squares, bias = self.squares_and_bias(made)
        b, away = made.knot_bias, made.knots - self.weights @ made.knots
        # Var(Y) = E(Y - x)^2 - (E(Y - x))^2 + Var(x) + 2 Cov(b(x), x), and b is linear between knots.
        covariance = self.weights @ (b * away) - self.lean @ b
        sd = float(np.sqrt((squares - bias**2 + self.spread + 2 * covariance) / users))
        reach = critical(bias_bound / sd) * sd
        return float(norm.cdf((reach - bias) / sd) - norm.cdf((-reach - bias) / sd))


def critical(shift: float) -> float:
    """The 95% quantile of |N(shift, 1)|."""
    return float(brentq(lambda c: norm.cdf(c - shift) - norm.cdf(-c - shift) - 0.95, 0, shift + 10))  # pyright: ignore[reportArgumentType] -- a float


@dataclass(frozen=True)
class Case:
    """Promised and actual errors of one column at one budget and one number of users."""

    column: str
    how: str
    epsilon: float
    users: int
    promised: float
    actual: float
    bias: float
    bias_bound: float
    coverage: float
    unbiased: float
    clip: float
    cut: float


def cases(pair: Pair, trust: float) -> Iterator[Case]:
    prior = Prior.from_data(pair.older, knots=KNOTS, domain=(pair.low, pair.high), source="public")
    truth = Truth.of(pair.newer, prior.knots)
    for epsilon in EPSILONS:
        unbiased = design(prior, epsilon, exact=False).mechanism
        known = {(0, KNOTS - 1): unbiased}
        for users in USERS:
            made = design(prior, epsilon, objective=Error(users, FactorAmbiguity(trust)), exact=False)
            found = made.evidence
            low, high = np.searchsorted(prior.knots, found.clip_alone).tolist()
            ends = int(low), int(high)
            if ends not in known:
                known[ends] = clipped(made.certificate.problem, *ends)
            cut = known[ends]
            yield Case(
                pair.name, pair.how, epsilon, users, found.rmse, truth.error(made.mechanism, users),
                truth.squares_and_bias(made.mechanism)[1], found.bias_bound,
                truth.coverage(made.mechanism, users, found.bias_bound), truth.error(unbiased, users),
                truth.error(cut, users), found.clip_high,
            )  # fmt: skip


def compact(found: list[Case]) -> tuple[str, ...]:
    """One column: medians and worst cases over its budgets and numbers of users."""
    gains, beside = (np.array([getattr(case, name) / case.actual for case in found]) for name in ("unbiased", "clip"))
    kept = np.array([case.actual / case.promised for case in found])
    return (
        found[0].column,
        found[0].how,
        f"{np.median(gains):.2f}, {gains.min():.2f}, {gains.max():.1f}",
        f"{np.median(beside):.2f}, {beside.min():.2f}, {beside.max():.2f}",
        f"{np.median(kept):.2f}, {kept.max():.2f}",
        f"{min(case.coverage for case in found):.3f}",
    )


def full(case: Case) -> tuple[object, ...]:
    errors = (case.unbiased, case.clip, case.actual, case.promised, case.bias, case.bias_bound)
    numbers = [f"{number:.4g}" for number in errors]
    return (case.column, case.how, case.epsilon, f"{case.users:,}", *numbers, f"{case.coverage:.3f}", f"{case.cut:.4g}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--trust", type=float, default=3.0)
    parser.add_argument("--full", action="store_true", help="every budget and number of users, a row each")
    asked = parser.parse_args()
    chosen = [pair for pair in pairs(asked.data) if any(pair.name == name and how in pair.how for name, how in COLUMNS)]
    if asked.full:
        header = ("column", "earlier, later", "epsilon", "users", "unbiased", "best clip", "this", "promised", "bias",
                  "bias bound", "coverage", "cut at")  # fmt: skip
    else:
        quotients = ("unbiased / this: median, least, most", "best clip / this: median, least, most")
        header = ("column", "earlier, later", *quotients, "this / promised: median, most", "least coverage")
    print(table(header, []))
    for pair in chosen:  # minutes each: what is there is shown
        found = list(cases(pair, asked.trust))
        for row in map(full, found) if asked.full else [compact(found)]:
            print(table((), [row]).splitlines()[-1], flush=True)
