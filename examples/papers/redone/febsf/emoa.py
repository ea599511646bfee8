"""EMOA as its paper prints it, an iteration that is called expectation-maximisation and is none, and as released."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from optldp.estimators import CategoryCounts, PersonalisedCounts, auem
from optldp.estimators.personalised.auem import clipped
from optldp.estimators.personalised.counts import require_pure
from optldp.mechanisms import InputError
from optldp.mechanisms.categorical.mechanism import PureProtocol

MAX_STEPS = 4
"""Steps that the authors' program takes."""

HALVINGS = 60
"""Of [0, 1], to where a double ends."""

MAX_GAP = 1e-6
"""Change of the objective per user below which it stops; the paper names no number."""


@dataclass(frozen=True, eq=False)
class EmoaResult:
    """Where the iteration stopped.

    Parameters
    ----------
    frequencies : (K,) ndarray of float
    shares : (t,) ndarray of float
    objective : float
        Equation (11) at the last step, per user.
    steps : int
    """

    frequencies: np.ndarray
    shares: np.ndarray
    objective: float
    steps: int


def emoa_printed(counts: PersonalisedCounts, *, max_steps: int = MAX_STEPS, max_gap: float = MAX_GAP) -> EmoaResult:
    r"""Return the frequencies after algorithm 1 of the paper, from AUEM's, clipped.

    With b_o the weight of the categories that report o supports, as printed

        Pr(Z_o | j, i) = p_i if it supports j else q_i                     (equation 5)
        pi_oi = rho_i Pr(Z_o | i) / sum_i' rho_i' Pr(Z_o | i')             (12)
        rho_i = mean_o pi_oi                                               (14)
        f_j = mean_o sum_i Pr(Z_o | j, i) pi_oi                            (15)

    until the objective (11) changes by less than `max_gap`.  It is kept as a baseline, for three reasons not as an
    estimate: (5) is no probability of a vector of bits, whose values add up to 2^(K-1) over all vectors; (15) has no
    posterior of j, not even the last f_j, so that each step gives the supports' shares over again, flattened towards
    even ones; and it ignores the reported levels after the start.  (15) does not add up to one
    either: here it is divided by its sum, the one thing that is not as printed.

    Reports are grouped; O(R (t + K)) a step.

    Parameters
    ----------
    counts : PersonalisedCounts
        Of pure protocols or randomised response.
    max_steps : int
        At least one.
    max_gap : float
        Not negative.

    Raises
    ------
    InputError
        No reports, levels that are not pure, or settings out of range.

    Source
    ------
    Wu, Zhu, Zhang and Xie (2024), "Overcoming challenges in PLDP", section 6.

    Example
    -------
    >>> from optldp.mechanisms.categorical import categorical_grr
    >>> from optldp.mechanisms.combinators.personalised import PersonalisedReports
    >>> from optldp.mechanisms import PersonalisedMechanism
    >>> made = PersonalisedMechanism([categorical_grr("abc", e) for e in (4.0, 5.0)], 5.0)
    >>> reports = np.repeat([0, 1, 2], [80, 15, 5])
    >>> counts = PersonalisedCounts.from_reports(made, PersonalisedReports(np.arange(100) % 2, reports))
    >>> auem(counts).value.round(2), emoa_printed(counts, max_steps=20).frequencies.round(2)
    (array([0.82, 0.14, 0.04]), array([0.78, 0.16, 0.06]))
    """
    if max_steps < 1 or not max_gap >= 0:
        raise InputError(f"max_steps must be at least 1 and max_gap not negative, got {max_steps!r} and {max_gap!r}")
    first = auem(counts)
    own, other = require_pure(counts.mechanism)
    seen, supports = _supports(counts)

    def chances(shares: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return shares * (other + np.outer(supports @ weights, own - other))  # (R, t)

    rho, f = clipped(first.level_shares.value), clipped(first.value)
    objective, change, steps = -np.inf, np.inf, 0
    while steps < max_steps and change >= max_gap:
        chance = chances(rho, f)
        posterior = seen[:, None] * chance / chance.sum(axis=1, keepdims=True)
        rho = posterior.sum(axis=0)
        f = (posterior @ other).sum() + supports.T @ (posterior @ (own - other))
        f /= f.sum()
        now = float(np.sum(posterior * np.log(chances(rho, f), out=np.zeros_like(chance), where=posterior > 0)))
        objective, change, steps = now, abs(now - objective), steps + 1
    return EmoaResult(f, rho, objective, steps)


def emoa_released(counts: PersonalisedCounts) -> np.ndarray:
    r"""Return the frequencies (K,) of what the authors' program fits, at its maximum, divided by their sum.

    It takes each bit by itself, as a value of {0, 1} reported through randomised response at half the budget, and
    maximises a sum over levels whose posterior weights it leaves out:

        f_j = argmax over [0, 1] of sum_i [s_j log(q_i + f (p_i - q_i)) + (1 - s_j) log(1 - q_i - f (p_i - q_i))],

    s_j the share of ones of bit j.  So every level counts alike, whatever its share.  Where p_i + q_i = 1 and levels
    are even, f_j - 1/2 is about the true one times mean(a)^2 / mean(a^2), a_i = p_i - q_i, and the sum exceeds one: the
    frequencies are flattened towards even ones, whatever the number of users.  The program takes four steps from AUEM,
    and uses neither reported levels nor that the bits belong together.

    Parameters
    ----------
    counts : PersonalisedCounts
        Of unary encodings or other pure protocols.

    Raises
    ------
    InputError
        No reports, or levels that are not pure.

    Source
    ------
    The program that Wu, Zhu, Zhang and Xie (2024) released; it solves the same for all bits one by one.

    Example
    -------
    >>> from optldp.mechanisms.categorical import basic_rappor
    >>> from optldp.mechanisms import PersonalisedMechanism
    >>> made = PersonalisedMechanism([basic_rappor(["a", "b", "c"], e) for e in (1.0, 2.0)], 2.0)
    >>> values, levels = np.repeat(["a", "b", "c"], [6000, 3000, 1000]), np.arange(10_000) % 2
    >>> counts = PersonalisedCounts.from_reports(made, made.sample(values, levels, np.random.default_rng(1)))
    >>> emoa_released(counts).round(2)
    array([0.55, 0.3 , 0.15])
    """
    counts.require_reports()
    own, other = require_pure(counts.mechanism)
    ones = counts.support_counts().sum(axis=0) / counts.n_users
    low, high = np.zeros(ones.size), np.ones(ones.size)
    for _ in range(HALVINGS):  # the objective is concave, so its slope falls
        middle = (low + high) / 2
        chance = other[:, None] + np.outer(own - other, middle)
        rises = ((own - other)[:, None] * (ones / chance - (1 - ones) / (1 - chance))).sum(axis=0) > 0
        low, high = np.where(rises, middle, low), np.where(rises, high, middle)
    return clipped(low)


def _supports(counts: PersonalisedCounts) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of the users (R,) with each distinct report, whatever their level, and its support (R, K)."""
    first = counts.mechanism.levels[0]
    size = len(first.categories)
    alone = CategoryCounts.from_reports(first, counts.reports, counts.counts)
    shares = alone.counts / counts.n_users
    if isinstance(first, PureProtocol):
        return shares, np.unpackbits(first.support(alone.reports), axis=1, count=size).astype(np.float64)
    return shares, np.eye(size)[alone.reports]
