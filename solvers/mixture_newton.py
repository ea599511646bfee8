"""A second-order method for mixture weights: a primal-dual interior point on the simplex."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .mixture_em import Iterate
from .mixture_likelihood import MixtureLikelihood

TO_BOUNDARY = 0.995
"""Share of the way to the nearest bound that a step may go: the usual compromise between speed and staying inside."""

FIRST_WEIGHT = 1e-8
"""Smallest weight of the start, as a share of the even one: further out the first steps would be all boundary."""

CENTRING_POWER = 3
"""Mehrotra's choice: the next barrier is this power of what the affine step leaves of the present one."""

JITTER = 1e-14
"""Share of the largest diagonal entry that is added to it until a Cholesky factor exists."""


def interior_point(
    likelihood: MixtureLikelihood, start: np.ndarray, penalty: np.ndarray | None = None
) -> Iterator[Iterate]:
    r"""Yield the start and then each step of a primal-dual interior point, for ever.

    It maximises (1/n) sum_o c_o log (L w)_o - w^T Q w / 2 over the simplex.  With g the gradient of the first
    term, the conditions

        Q w - g = nu 1 + z,   sum w = 1,   w_k z_k = mu,   w, z > 0

    are followed to mu = 0 by Newton's method with Mehrotra's predictor and corrector: one K x K Cholesky factor
    of L^T diag(c / (L w)^2) L / n + Q + diag(z / w) a step, which costs R K^2 operations to form.  The start need
    not be on the simplex; every iterate yielded is.

    Yields
    ------
    iterate : Iterate
        Its gradient is that of the penalised objective, plus w^T Q w so that its mean under w is one: the largest
        entry less one bounds what any weights can still gain, as it does without a penalty.

    Source: Koenker and Mizera (2014), "Convex optimization, shape constraints, compound decisions, and empirical
    Bayes rules", for the program; Nocedal and Wright (2006), algorithm 14.3, for the steps.
    """
    weights = np.maximum(start / start.sum(), FIRST_WEIGHT / start.size)
    weights /= weights.sum()
    slack = np.empty(0)
    level, steps = 0.0, 0
    while True:
        mixed = likelihood.mix(weights)
        steps += 1
        pull = likelihood.gradient(mixed)
        bend = np.zeros_like(pull) if penalty is None else penalty @ weights
        gain = pull - bend
        objective = likelihood.loglik(mixed) - likelihood.total * float(weights @ bend) / 2
        yield Iterate(weights, gain + float(weights @ bend), objective, steps)
        if not slack.size:
            level = -float(gain.max()) - 1.0 / weights.size
            slack = -gain - level
            slack = np.maximum(slack, np.median(slack) * FIRST_WEIGHT)
        hessian = likelihood.information(mixed) / likelihood.total
        if penalty is not None:
            hessian += penalty
        weights, slack, level = _step(hessian, gain, weights, slack, level)


def _step(
    hessian: np.ndarray, gain: np.ndarray, weights: np.ndarray, slack: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return weights, slack and level after one predictor-corrector step."""
    solve = _factored(hessian, slack / weights)
    ones = solve(np.ones_like(weights))
    dual = -gain - level - slack
    missing = 1.0 - weights.sum()

    def newton(products: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        move = solve(-dual - products / weights)
        rise = (missing - move.sum()) / ones.sum()
        move = move + rise * ones
        return move, -(products + slack * move) / weights, rise

    now = weights * slack
    move, relax, rise = newton(now)
    forward, back = _reach(weights, move), _reach(slack, relax)
    ahead = float((weights + forward * move) @ (slack + back * relax))
    centre = (ahead / now.sum()) ** CENTRING_POWER * now.mean()
    move, relax, rise = newton(now + move * relax - centre)
    share = TO_BOUNDARY * min(_reach(weights, move), _reach(slack, relax))
    # One length for all: the dual residual is linear in the step only if weights and multipliers move together.
    share = min(1.0, share)
    weights = weights + share * move
    return weights / weights.sum(), slack + share * relax, level + share * rise


def _reach(place: np.ndarray, move: np.ndarray) -> float:
    """Largest share of the move, at most one over TO_BOUNDARY, that keeps the place non-negative."""
    down = move < 0
    return min(1.0 / TO_BOUNDARY, float((place[down] / -move[down]).min())) if down.any() else 1.0 / TO_BOUNDARY


def _factored(hessian: np.ndarray, barrier: np.ndarray):
    """Return the solution operator of hessian + diag(barrier), scaled to a unit diagonal."""
    matrix = hessian + np.diag(barrier)
    scale = 1.0 / np.sqrt(np.diag(matrix))
    matrix *= scale[:, None] * scale
    jitter = 0.0
    while True:
        try:
            factor = cho_factor(matrix + jitter * np.eye(scale.size), lower=True, overwrite_a=True, check_finite=False)
            return lambda right: scale * cho_solve(factor, scale * right, check_finite=False)
        except LinAlgError:
            jitter = max(10 * jitter, JITTER)
