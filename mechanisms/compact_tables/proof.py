"""The proof that a floor form is private, and unbiased if it says so: by whole numbers, and without its rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ..exactness.proof import ExactProof
from ..integers.exponential import SCALE, exponential_below
from ..integers.numerators import tightest_output
from ..promise import Pure
from ..table.exact_rounding import bias_limit, largest_distance


def form_proof(
    ratio: int,
    epsilon: float,
    knots: np.ndarray,
    ends: Sequence[float],
    spans: tuple[np.ndarray, np.ndarray],
    means: Sequence[Fraction],
    *,
    unbiased: bool,
) -> ExactProof:
    """Return the proof, or what fails.

    Parameters
    ----------
    ratio : int
        Over 2^128: no entry is above it times another of its output, whatever the starts are.
    epsilon : float
    knots : (n,) ndarray
    ends : (2,) sequence of float
        The first and the last report.
    spans : ((m,) ndarray, (m,) ndarray)
        Least and largest numerator of every output.
    means : (n,) sequence of Fraction
        Of the report at each knot.
    unbiased : bool
        Whether the means are claimed to be the knots.
    """
    limit, failures = exponential_below(epsilon), []
    output, largest, smallest = tightest_output(np.array(spans))
    if ratio > limit * SCALE:
        kept = math.log1p(float(Fraction(ratio - SCALE, SCALE)))
        failures.append(f"the log-ratio must be at most {epsilon:g}, got {kept!r}: {ratio} / 2^128")
    places = [Fraction(knot) for knot in knots.tolist()]
    bias, knot = largest_distance(means, places)
    width = places[-1] - places[0]
    if unbiased and bias > (most := bias_limit(width, [Fraction(end) for end in ends])):
        failures.append(
            f"an exact table that claims to be unbiased must be so within {float(most / width):.3g} of the domain, "
            f"got {float(bias / width):.3e} at knot {knot}"
        )
    return ExactProof(
        ok=not failures,
        promise=Pure(epsilon),
        output=output,
        largest=largest,
        smallest=smallest,
        limit=limit,
        divergence=None,
        bias=bias,
        relative_bias=bias / width,
        failures=tuple(failures),
    )
