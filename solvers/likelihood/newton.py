"""A second-order method for mixture weights: a primal-dual interior point on the simplex."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ...mechanisms.errors import SolverError
from .em import Iterate, evaluate
from .mixture import MixtureLikelihood

TO_BOUNDARY = 0.995
"""Share of the way to the nearest bound that a step may go: the usual compromise between speed and staying inside."""

FIRST_WEIGHT = 1e-8
"""Smallest weight of the start, as a share of the even one: further out the first steps would be all boundary."""

CENTRING_POWER = 3
"""Mehrotra's choice: the next barrier is this power of what the affine step leaves of the present one."""

CAUTIOUS_CENTRE = 0.5
"""Share of the present barrier that a step without corrector aims at: far enough from the boundary to be a long one."""

MOST_HALVINGS = 40
"""A descent direction that gains nothing at 1e-12 of its length gains nothing that doubles can show."""

FINEST_GAP = 2.0**-56
"""Sum of the products w_k z_k, as a share of the largest gradient, at which a step that does not halve the certificate
is the last: what is left of it are rounding errors."""

SHORT = 0.5
"""Relative change of the weights that needs no test: then every (L w)_o changes by no more, and the loss is nearly the
quadratic that Newton's method takes it for."""

SAME_VALUE = 2.0**-40
"""Rise of the barrier function, relative to it, that is taken for rounding: sums of many logarithms lose these bits."""

JITTER = 1e-14
"""Share of the largest diagonal entry that is added to it until a Cholesky factor exists."""


@dataclass(frozen=True)
class _Place:
    """Weights inside the simplex, the multipliers of w >= 0, and that of sum w = 1."""

    weights: np.ndarray
    slack: np.ndarray
    level: float


class _Program:
    """The loss -(1/n) sum_o c_o log (L w)_o and what is needed to lower it."""

    def __init__(self, likelihood: MixtureLikelihood) -> None:
        self.likelihood = likelihood
        self._mixed = np.empty(0), np.empty(0)

    def mix(self, weights: np.ndarray) -> np.ndarray:
        """Return L w, that of the weights asked for last without work: a step asks for it up to four times."""
        if self._mixed[0] is not weights:
            self._mixed = weights, self.likelihood.mix(weights)
        return self._mixed[1]

    def loss(self, weights: np.ndarray) -> float:
        """Return the loss, per observation."""
        return -self.likelihood.loglik(self.mix(weights)) / self.likelihood.total

    def hessian(self, weights: np.ndarray) -> np.ndarray:
        """Return the second derivative of the loss."""
        curvature = self.likelihood.information(self.mix(weights))
        curvature /= self.likelihood.total
        return curvature

    def evaluate(self, weights: np.ndarray, steps: int) -> Iterate:
        """Return the weights with their gradient and log-likelihood."""
        return evaluate(self.likelihood, weights, steps, self.mix(weights))

    def first_place(self, now: Iterate) -> _Place:
        """Return multipliers that satisfy -g = nu 1 + z, each positive by the mean weight or more."""
        level = -float(now.gradient.max()) - 1.0 / now.gradient.size
        return _Place(now.weights, -now.gradient - level, level)


def interior_point(likelihood: MixtureLikelihood, start: np.ndarray) -> Iterator[Iterate]:
    r"""Yield the start and then each step of a primal-dual interior point, until doubles can show no more gain.

    It maximises (1/n) sum_o c_o log (L w)_o over the simplex.  With g its gradient, the conditions

        -g = nu 1 + z,   sum w = 1,   w_k z_k = mu,   w, z > 0

    are followed to mu = 0 by Newton's method with Mehrotra's predictor and corrector: one K x K Cholesky factor
    of L^T diag(c / (L w)^2) L / n + diag(z / w) a step, which costs R K^2 operations to form.  A step that does
    not lower the barrier function

        -(1/n) sum_o c_o log (L w)_o - mu sum_k log w_k

    is replaced by Newton's own towards a larger mu, which is downhill, and halved until it does.  The start need
    not be on the simplex; every iterate yielded is.

    Yields
    ------
    iterate : Iterate
        The largest entry of its gradient less one bounds what any weights can still gain.  The last is the one of the
        smallest certificate.

    Source: Koenker and Mizera (2014), "Convex optimization, shape constraints, compound decisions, and empirical
    Bayes rules", for the program; Nocedal and Wright (2006), algorithm 14.3, for the steps; Waechter and Biegler
    (2006), "On the implementation of an interior-point filter line-search algorithm", for their descent.
    """
    program = _Program(likelihood)
    weights = np.maximum(start / start.sum(), FIRST_WEIGHT / start.size)
    weights /= weights.sum()
    now = best = program.evaluate(weights, 1)
    place = program.first_place(now)
    while True:
        yield now
        moved = _step(program, place, now)
        if moved is None:
            break
        before, place = now, moved
        now = program.evaluate(place.weights, now.steps + 1)
        best = min(best, now, key=lambda iterate: iterate.certificate)
        if _is_exact(place, now) and now.certificate >= before.certificate / 2:  # zero may follow zero
            break
    yield replace(best, steps=now.steps)


def _is_exact(place: _Place, now: Iterate) -> bool:
    return float(place.weights @ place.slack) <= FINEST_GAP * np.abs(now.gradient).max()


def _step(program: _Program, place: _Place, iterate: Iterate) -> _Place | None:
    """Return the place after one step, or None if no step gains anything."""
    weights, slack = place.weights, place.slack
    solve = _factored(program.hessian(weights), slack / weights)
    ones = solve(np.ones_like(weights))
    dual = -iterate.gradient - place.level - slack
    missing = 1.0 - weights.sum()

    def newton(products: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        move = solve(-dual - products / weights)
        rise = (missing - move.sum()) / ones.sum()
        move = move + rise * ones
        return move, -(products + slack * move) / weights, rise

    now = weights * slack
    move, relax, _ = newton(now)
    ahead = float((weights + _reach(weights, move) * move) @ (slack + _reach(slack, relax) * relax))
    centre = (ahead / now.sum()) ** CENTRING_POWER * now.mean()
    corrected = newton(now + move * relax - centre)
    if found := _downhill(program, place, iterate, corrected, centre, 1):
        return found
    centre = CAUTIOUS_CENTRE * now.mean()
    return _downhill(program, place, iterate, newton(now - centre), centre, MOST_HALVINGS)


def _downhill(
    program: _Program,
    place: _Place,
    iterate: Iterate,
    direction: tuple[np.ndarray, np.ndarray, float],
    centre: float,
    trials: int,
) -> _Place | None:
    """Return the first place, halving the step from its longest, that does not raise the barrier function."""
    move, relax, rise = direction

    def barrier(weights: np.ndarray, loss: float) -> float:
        return loss - centre * float(np.log(weights).sum())

    # One length for all: the dual residual is linear in the step only if weights and multipliers move together.
    share = min(1.0, TO_BOUNDARY * min(_reach(place.weights, move), _reach(place.slack, relax)))
    before = barrier(place.weights, -iterate.loglik / program.likelihood.total)
    for _ in range(trials):
        weights = place.weights + share * move
        weights /= weights.sum()
        short = (np.abs(weights - place.weights) <= SHORT * place.weights).all()
        if short or barrier(weights, program.loss(weights)) <= before + SAME_VALUE * (1.0 + abs(before)):
            return _Place(weights, place.slack + share * relax, place.level + share * rise)
        share /= 2
    return None


def _reach(place: np.ndarray, move: np.ndarray) -> float:
    """Largest share of the move, at most one over TO_BOUNDARY, that keeps the place non-negative."""
    down = move < 0
    return min(1.0 / TO_BOUNDARY, float((place[down] / -move[down]).min())) if down.any() else 1.0 / TO_BOUNDARY


def _factored(matrix: np.ndarray, barrier: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the solution operator of matrix + diag(barrier), scaled to a unit diagonal; overwrites the matrix."""
    diagonal = np.einsum("kk->k", matrix)
    diagonal += barrier
    scale = 1.0 / np.sqrt(diagonal)
    matrix *= scale[:, None]
    matrix *= scale
    jitter = 0.0
    while jitter < 1.0:
        try:
            factor = cho_factor(matrix, lower=True, check_finite=False)
            return lambda right: scale * cho_solve(factor, scale * right, check_finite=False)
        except LinAlgError:
            jitter = max(10 * jitter, JITTER)
            diagonal[:] = 1.0 + jitter
    raise SolverError("the second derivative of the log-likelihood must be finite: use method em")
