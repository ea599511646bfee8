"""PLDP-FEBSF's theorems 5.1 to 5.3: bias and standard deviation of AUEM, against many collections.

A category's supports and the levels' reports are drawn as sums over users, which is all that AUEM sees of them.
"""

from __future__ import annotations

import numpy as np
from optldp.estimators.personalised import auem_variance
from optldp.estimators.personalised.counts import require_pure
from optldp.mechanisms import PersonalisedMechanism
from optldp.mechanisms.categorical import basic_rappor

from ..experiment.script import Check, Run
from .methods import EPSILONS, zipf

USERS = 32_561
CATEGORIES = 16
LEVELS = {"0.1 to 1.0": (EPSILONS, (0.1, 0.3, 1.0)), "1 and 2": ((1.0, 2.0), (0.3, 1.0, 3.0))}
"""Budgets that users choose from, evenly, and values of epsilon_p: the paper's, and two that tell more."""
SURE = 1.0
"""From this epsilon_p on errors are nearly normal."""
NOISY = 4.0
"""Standard errors that a simulated mean may be off by."""


def theorems(run: Run) -> list[Check]:
    """Theorems 5.1, 5.2 and 5.3: the most frequent and the rarest of sixteen categories, Zipf's law."""
    shares = zipf(CATEGORIES, USERS).truth
    rows = []
    for label, (epsilons, budgets) in LEVELS.items():
        for budget in budgets:
            levels = [basic_rappor([str(k) for k in range(CATEGORIES)], e) for e in epsilons]
            mechanism = PersonalisedMechanism(levels, budget)
            rows += [(label, *_row(run, mechanism, budget, shares, place)) for place in (0, CATEGORIES - 1)]
    header = (
        "budgets",
        "epsilon_p",
        "share",
        "bias, shares known",
        "bias of AUEM, mean",
        "of its median",
        "standard deviation",
    )
    header += ("the delta method's", "theorem 5.3, V1 and V2 over N²", "the same / delta method's", "as printed")
    run.table("theorems", f"AUEM of one category, {USERS:,} users, budgets even, x 1000", header, rows)
    run.table("theorem-5-1", "Equation 3 where levels go with values", ("share", "expected estimate"), [_dependent()])
    known = max(abs(_number(row[3])[0]) / _number(row[3])[1] for row in rows)
    sure = [row for row in rows if float(row[1]) >= SURE]
    near = max(abs(_number(row[4])[0]) / _number(row[6])[0] for row in sure)
    ratios = [float(row[9]) for row in rows]
    share, expected = _dependent()
    return [
        Check("theorem 5.1: unbiased with known shares of the levels", known < NOISY, f"{known:.1f} standard errors"),
        Check(
            "it takes levels that do not depend on values",
            abs(expected / share - 1) > 0.1,
            f"a share of {share:g} is estimated as {expected:.4f} where its holders all take the least budget",
        ),
        Check(
            "theorem 5.2: bias is small against the standard deviation from epsilon_p 1 on",
            near < 0.25,
            f"{near:.2f} of it at most",
        ),
        Check(
            "theorem 5.3 is larger than the truth, even with its units mended",
            min(ratios) > 1,
            f"{min(ratios):.2f} to {max(ratios):.2f} times the standard deviation of the delta method",
        ),
    ]


def _row(run: Run, mechanism: PersonalisedMechanism, budget: float, shares: np.ndarray, place: int) -> tuple[str, ...]:
    p, q = require_pure(mechanism)
    rho, share = np.full(p.size, 1 / p.size), float(shares[place])
    known, found = _collections(run, p, q, budget, share)
    spread = np.sqrt(auem_variance(mechanism, rho, shares, target="users")[place] / USERS)
    mended, printed = _theorem_5_3(p, q, rho, budget, share)
    return (
        f"{budget:g}",
        f"{share:.4f}",
        _mean(known - share),
        _mean(found - share),
        f"{1e3 * (np.median(found) - share):.3g}",
        f"{1e3 * found.std(ddof=1):.3g}",
        f"{1e3 * spread:.3g}",
        f"{1e3 * mended:.3g}",
        f"{mended / spread:.3g}",
        f"{1e3 * printed:.3g}",
    )


def _collections(run: Run, p: np.ndarray, q: np.ndarray, budget: float, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Return estimates by equation 3, levels' shares known, and by equation 5, from the same collections."""
    repetitions, rng = run.repetitions(20_000, 2_000), np.random.default_rng([run.seed, 5, round(100 * budget)])
    t = p.size
    sizes = np.full(t, USERS // t)
    holders = np.round(sizes * share).astype(int)
    supports = rng.binomial(holders, p, (repetitions, t)) + rng.binomial(sizes - holders, q, (repetitions, t))
    kept, other = np.exp(budget) / (np.exp(budget) + t - 1), 1 / (np.exp(budget) + t - 1)
    law = np.full((t, t), other) + np.diag(np.full(t, kept - other))
    reported = sum(rng.multinomial(size, row, repetitions) for size, row in zip(sizes, law, strict=True))
    n = sizes.sum()
    estimated = (reported / n - other) / (kept - other)
    total, true = supports.sum(axis=1) / n, holders.sum() / n
    known = (total - q.mean()) / (p - q).mean() - true
    return known + share, (total - estimated @ q) / (estimated @ (p - q)) - true + share


def _theorem_5_3(p: np.ndarray, q: np.ndarray, rho: np.ndarray, budget: float, share: float) -> tuple[float, float]:
    """Return its standard deviation with V1 and V2, which are of counts, divided by N²; and as it is printed."""
    kept, other = np.exp(budget) / (np.exp(budget) + p.size - 1), 1 / (np.exp(budget) + p.size - 1)
    a = (1 - share) * rho @ q + share * rho @ p
    seen = other + rho * (kept - other)
    b = seen * (1 - seen) / (USERS * (kept - other) ** 2)
    slope = rho @ (p - q)
    first = USERS * a * (1 - a) / slope**2
    second = (USERS * a) ** 2 * (b @ (p - q) ** 2) / slope**4
    rest = b @ q**2 / slope**2 + (rho @ q) ** 2 * (b @ (p - q) ** 2) / slope**4
    return float(np.sqrt((first + second) / USERS**2 + rest)), float(np.sqrt(first + second + rest))


def _dependent() -> tuple[float, float]:
    """Return a rare category's share and what equation 3 expects of it, all its holders at the least budget."""
    made = [basic_rappor(["a", "b"], e) for e in EPSILONS]
    p, q = np.array([(float(m.own_support), float(m.other_support)) for m in made]).T
    share = 0.05
    levels = np.full(p.size, 1 / p.size)
    others = (levels - share * np.eye(p.size)[0]) / (1 - share)
    expected = share * p[0] + (1 - share) * others @ q
    return share, float((expected - levels @ q) / (levels @ (p - q)))


def _mean(values: np.ndarray) -> str:
    return f"{1e3 * values.mean():.3g} ± {1e3 * values.std(ddof=1) / np.sqrt(values.size):.1g}"


def _number(cell: str) -> list[float]:
    return [float(part) for part in cell.split(" ± ")]
