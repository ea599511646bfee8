"""Maximum likelihood for the shares of the levels and the weights of the values, jointly."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ...mechanisms.cost import fit_cost, require_affordable
from ...mechanisms.errors import SolverError
from ...solvers.likelihood.fit import DEFAULT_CERTIFICATE, Stop
from ...solvers.one_thread import one_thread
from .likelihood import PersonalisedLikelihood

MOST_STEPS = 200
"""Ten to forty do."""

TO_BOUNDARY = 0.995
"""Share of the way to the nearest bound that a step may go, as for `interior_point`."""

FIRST_WEIGHT = 1e-3
"""Smallest entry of the start, as a share of the even one."""

SUFFICIENT = 1e-4
"""Share of the gain that the slope promises which a step must keep: Armijo's usual constant."""

MOST_HALVINGS = 40
"""A step that gains nothing at 1e-12 of its length gains nothing that doubles can show."""

SAME_VALUE = 2.0**-44
"""Change of the mean log-likelihood, relative to it, that is taken for rounding of sums of many logarithms."""

BARRIER_FALL = 0.15
"""Factor of the mean product of weights and multipliers that a step aims at."""


class Derivatives(NamedTuple):
    """Mean log-likelihood per user and its derivatives in (shares, weights), t + K of them.

    Attributes
    ----------
    mean : float
        Without the likelihood's offset.
    gradient : (t + K,) ndarray
        Its average under the shares and under the weights is one.
    scores : (t + K, t + K) ndarray
        Average of the products of users' scores; positive semidefinite.
    joint : (t, K) ndarray
        (1/n) sum_o c_o L[o, i, j] / m_o; the second derivative is `joint` across the blocks, less `scores`.
    """

    mean: float
    gradient: np.ndarray
    scores: np.ndarray
    joint: np.ndarray

    @property
    def information(self) -> np.ndarray:
        """(t + K, t + K) observed information per user: minus the second derivative."""
        matrix, many = self.scores.copy(), len(self.joint)
        matrix[:many, many:] -= self.joint
        matrix[many:, :many] -= self.joint.T
        return matrix


def derivatives(likelihood: PersonalisedLikelihood, shares: np.ndarray, weights: np.ndarray) -> Derivatives:
    """Return the mean log-likelihood and its derivatives; O(R (t + K)^2)."""
    size, n = shares.size + weights.size, likelihood.total
    mean, gradient, scores, joint = 0.0, np.zeros(size), np.zeros((size, size)), np.zeros((shares.size, weights.size))
    for part in likelihood.parts():
        by_level, by_value = likelihood.rows(part, shares, weights)
        mixed, counts = by_level @ shares, likelihood.counts[part]
        if not mixed.min() > 0:
            raise SolverError("every pair of reports must be possible under the start, but one has probability zero")
        mean += float(np.sum(counts * np.log(mixed)))
        ratio = counts / mixed
        both = np.concatenate([by_level, by_value], axis=1)
        gradient += ratio @ both
        both *= np.sqrt(ratio / mixed)[:, None]
        scores += both.T @ both
        joint += likelihood.gather(part, ratio)
    return Derivatives(mean / n, gradient / n, scores / n, joint / n)


@dataclass(frozen=True, eq=False)
class JointFit:
    """Where the joint fit ended, and the evidence for it.

    Parameters
    ----------
    shares : (t,) ndarray of float
    weights : (K,) ndarray of float
    loglik : float
        In nats.
    share_certificate, weight_certificate : float
        No other shares, with these weights, have a log-likelihood higher by more than this per user, and the reverse:
        the largest gradient of the block less one (Lindsay).
    joint_certificate : float
        No shares and weights at all do, nor weights of the t K pairs of a level and a value that need not be products;
        those often fit better, so that this rarely closes.
    iterations : int
        Evaluations of the derivatives.
    stop : Stop
        Why it ended there.
    """

    shares: np.ndarray
    weights: np.ndarray
    loglik: float
    share_certificate: float
    weight_certificate: float
    joint_certificate: float
    iterations: int
    stop: Stop


@one_thread()
def fit_jointly(
    likelihood: PersonalisedLikelihood,
    shares: np.ndarray,
    weights: np.ndarray,
    *,
    certificate: float = DEFAULT_CERTIFICATE,
    max_iterations: int = MOST_STEPS,
) -> JointFit:
    r"""Climb from a start to a maximum of the log-likelihood over both simplexes.

    A primal-dual interior point: with g the gradient, nu one multiplier for each sum and z >= 0 those of the bounds,

        -g + nu = z,   sums = 1,   x z = mu,

    are followed to mu = 0 by Newton's method, with the observed information where it is positive definite along the
    sums, else with the scores' products, which always are.  A step is halved until the barrier function gains what its
    slope promises.  The log-likelihood is not concave in both together; it is in each.  O(R (t + K)^2) a step.

    Parameters
    ----------
    likelihood : PersonalisedLikelihood
    shares : (t,) ndarray of float
        A start on the simplex; zeros are lifted.
    weights : (K,) ndarray of float
    certificate : float
        Stop when both blocks' certificates are at most this.
    max_iterations : int

    Raises
    ------
    InputError
        A fit that would cost too much, see `allow_large`.
    SolverError
        A pair of reports that is impossible under the start.

    Source
    ------
    Nocedal and Wright (2006), chapter 19, for interior points of programs that are not convex.

    Example
    -------
    >>> from optldp.estimators.personalised.likelihood import TabledPersonalised
    >>> coin = np.array([[[0.6, 0.4], [0.4, 0.6]], [[0.8, 0.2], [0.2, 0.8]]])
    >>> seen = TabledPersonalised(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), [52, 48, 56, 44], np.eye(2), coin)
    >>> fit = fit_jointly(seen, np.array([0.5, 0.5]), np.array([0.5, 0.5]))
    >>> fit.shares.round(4), fit.weights.round(4)
    (array([0.5, 0.5]), array([0.6, 0.4]))
    """
    many = shares.size
    what = f"a joint fit of {weights.size} values and {many} levels"
    both = many + weights.size  # each step has a matrix of that size
    require_affordable(what, fit_cost(both, both), "use method unbiased, or fewer --cells (an InputGrid in Python)")
    blocks = np.zeros((2, many + weights.size))
    blocks[0, :many] = blocks[1, many:] = 1.0
    x = np.concatenate([_lifted(shares), _lifted(weights)])
    now = derivatives(likelihood, x[:many], x[many:])
    z = np.maximum(1.0 - now.gradient, 0.0) + 1.0 / x.size
    best = x, now
    steps, stop = 1, Stop.CERTIFICATE
    while _gap(best[1], many) > certificate:
        if steps > max_iterations:
            stop = Stop.ITERATION_LIMIT
            break
        barrier = BARRIER_FALL * float(x @ z) / x.size
        move = _newton(now, x, z, barrier, blocks)
        length = None if move is None else _line_search(likelihood, now, x, move, barrier, many)
        if move is None or length is None:
            stop = Stop.ROUNDING
            break
        relax = barrier / x - z - z / x * move
        x = x + length * move
        x /= blocks.T @ (blocks @ x)
        z = z + min(1.0, TO_BOUNDARY * _reach(z, relax)) * relax
        now = derivatives(likelihood, x[:many], x[many:])
        steps += 1
        if _gap(now, many) < _gap(best[1], many):
            best = x, now
    x, now = best
    most = _certificates(now, many)
    loglik = likelihood.total * now.mean + likelihood.offset
    return JointFit(x[:many], x[many:], loglik, *most, float(now.joint.max()) - 1.0, steps, stop)


def _lifted(start: np.ndarray) -> np.ndarray:
    inside = np.maximum(start / start.sum(), FIRST_WEIGHT / start.size)
    return inside / inside.sum()


def _certificates(now: Derivatives, many: int) -> tuple[float, float]:
    return float(now.gradient[:many].max()) - 1.0, float(now.gradient[many:].max()) - 1.0


def _gap(now: Derivatives, many: int) -> float:
    return max(_certificates(now, many))


def _newton(now: Derivatives, x: np.ndarray, z: np.ndarray, barrier: float, blocks: np.ndarray) -> np.ndarray | None:
    """Return the step (t + K,) of (shares, weights), which keeps both sums, or None if rounding hides the way up."""
    right = _slope(now, x, barrier)
    for matrix in (now.information, now.scores):
        solve = _factored(matrix, z / x, blocks)
        if solve is None:
            continue
        along = solve(blocks.T)  # (t + K, 2)
        move = solve(right)
        move -= along @ np.linalg.solve(blocks @ along, blocks @ move)
        if float(move @ right) > 0:
            return move
    return None


def _slope(now: Derivatives, x: np.ndarray, barrier: float) -> np.ndarray:
    """Gradient of the barrier function along the sums, where taking one off keeps digits and changes nothing."""
    return now.gradient - 1.0 + barrier / x


def _factored(
    matrix: np.ndarray, diagonal: np.ndarray, blocks: np.ndarray
) -> Callable[[np.ndarray], np.ndarray] | None:
    """Return the solution operator of matrix + diag, or None if it is not positive definite along the sums.

    Stiffness across the sums changes no step that keeps them.
    """
    full = matrix + np.diag(diagonal)
    full += float(np.trace(full)) / len(full) * (blocks.T @ blocks)
    scale = 1.0 / np.sqrt(np.diag(full))
    try:
        factor = cho_factor(full * scale[:, None] * scale, lower=True)
    except (LinAlgError, ValueError):
        return None
    return lambda right: (scale * cho_solve(factor, (scale * right.T).T).T).T


def _line_search(
    likelihood: PersonalisedLikelihood, now: Derivatives, x: np.ndarray, move: np.ndarray, barrier: float, many: int
) -> float | None:
    """Return how far to go, halving from the longest step until the barrier function has gained enough."""
    slope = float(move @ _slope(now, x, barrier))
    before = now.mean + barrier * float(np.log(x).sum())
    length = min(1.0, TO_BOUNDARY * _reach(x, move))
    for _ in range(MOST_HALVINGS):
        there = x + length * move
        mean = (likelihood.loglik(there[:many], there[many:]) - likelihood.offset) / likelihood.total
        gain = mean + barrier * float(np.log(there).sum()) - before
        if gain >= SUFFICIENT * length * slope - SAME_VALUE * (1.0 + abs(before)):
            return length
        length /= 2
    return None


def _reach(place: np.ndarray, move: np.ndarray) -> float:
    """Largest share of the move that keeps the place non-negative."""
    down = move < 0
    return float((place[down] / -move[down]).min()) if down.any() else math.inf
