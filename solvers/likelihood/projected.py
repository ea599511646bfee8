"""A first-order method for very many mixture weights: gradient steps, projected on the simplex."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .em import Iterate, evaluate
from .mixture import MixtureLikelihood
from .simplex import nearest_weights

LONGEST, SHORTEST = 1e10, 1e-10
"""Limits of a step's length, those of Birgin, Martinez and Raydan: curvature between them is believed."""

LINE_STEPS = 30
"""Newton's steps along a line; the concave function of one number needs five to ten."""

LINE_TOLERANCE = 1e-10
"""Change of the share of a move, below which the line's maximum is found."""

MIXED_ANEW = 25
"""Steps after which L w is computed and no longer added up, so that rounding does not."""


def projected_gradient(likelihood: MixtureLikelihood, start: np.ndarray) -> Iterator[Iterate]:
    r"""Yield the start and then each spectral projected gradient step, until doubles can show no more gain.

    With g the gradient, d = P(w + a g) - w is uphill, P the projection on the simplex and a Barzilai and Borwein's
    length, which is one over the curvature along the last move.  Along d the log-likelihood is a concave function of
    one number

        sum_o c_o log (L w + s L d)_o,   0 <= s <= 1,

    whose maximum Newton's method finds without another product with L.  So a step costs one product with L and one with
    its transpose, and weights that are to be zero become zero, where EM lets them fall for ever.

    Yields
    ------
    iterate : Iterate

    Source
    ------
    Birgin, Martinez and Raydan (2000), "Nonmonotone spectral projected gradient methods on convex sets", with exact
    lines instead of their backtracking; Barzilai and Borwein (1988).
    """
    now = evaluate(likelihood, start, 1)
    mixed = likelihood.mix(start)
    length = 1.0 / max(float(now.gradient.max()), 1.0)
    for number in range(1, 2**62):
        yield now
        move = nearest_weights(now.weights + length * now.gradient) - now.weights
        slope = float(move @ (now.gradient - 1.0))  # the move adds up to nothing: taking one off keeps digits
        if not slope > 0:
            if length >= 1.0:
                return
            length = 1.0
            continue
        along = likelihood.mix(move)
        share = _best_share(likelihood, mixed, along)
        weights = np.maximum(now.weights + share * move, 0.0)
        weights /= weights.sum()
        mixed = likelihood.mix(weights) if number % MIXED_ANEW == 0 else mixed + share * along
        then = evaluate(likelihood, weights, now.steps + 1, mixed)
        step = weights - now.weights
        bend = float(step @ (now.gradient - then.gradient))
        length = float(np.clip((step @ step) / bend, SHORTEST, LONGEST)) if bend > 0 else LONGEST
        if not share > 0:
            return
        now = then


def _best_share(likelihood: MixtureLikelihood, mixed: np.ndarray, along: np.ndarray) -> float:
    """Return the s in [0, 1] of the largest log-likelihood of mixed + s along, of which s = 0 is possible.

    Newton's method within a bracket on the derivative, which falls in s.
    """
    seen = likelihood.counts > 0
    counts, rate = likelihood.counts[seen], along[seen] / mixed[seen]
    low, high, share = 0.0, 1.0, 1.0
    if rate.min() <= -1.0:  # the whole move makes something that was seen impossible
        # Just short of that point, where the log-likelihood is minus infinity.
        high = share = 0.999 / -float(rate.min())
    for _ in range(LINE_STEPS):
        terms = rate / (1.0 + share * rate)
        slope, bend = float(counts @ terms), float(counts @ terms**2)
        if slope >= 0:
            low = share
            if share == high:
                return share
        else:
            high = share
        newton = share + slope / bend if bend > 0 else high
        following = newton if low < newton < high else (low + high) / 2
        if abs(following - share) <= LINE_TOLERANCE:
            break
        share = following
    return share
