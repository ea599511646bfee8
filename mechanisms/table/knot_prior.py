"""What a table must know of the prior in order to recompute its own expected variance."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from ..errors import InputError

Source = Literal["public", "private-report", "sensitive"]
"""Where a prior came from: anyone's data, reports that were already private, or the data to be protected."""

WEIGHT_SUM_TOLERANCE = 1e-9
"""Slack on the sum of the weights: what decimal text and averaging over 1e7 values leave behind."""


@dataclass(frozen=True, eq=False)
class KnotPrior:
    r"""The mean random-rounding weights of a data set on n knots, and what rounding between knots adds.

    For a value x between knots x_k and x_{k+1}, the weight of x_{k+1} is (x - x_k) / (x_{k+1} - x_k).

    Parameters
    ----------
    weights : (n,) array_like
        Mean over the data of the weight of each knot; non-negative, sums to one.
    rounding : (n - 1,) array_like
        Per interval, the mean over the data of (x - x_k)(x_{k+1} - x), zero for data outside the interval;
        squared input units. All zero for data that sit on knots.
    source : {"public", "private-report", "sensitive"}
        A table built from a sensitive prior is itself a function of the data to be protected.

    Raises
    ------
    InputError
        Wrong shapes, values that are negative or not finite, weights that do not sum to one, unknown source.

    Source
    ------
    Wei et al. (2024), equations (6) and (7).

    Example
    -------
    >>> prior = KnotPrior(np.array([0.5, 0.5]), np.array([0.25]), "public")
    >>> float(prior.weights.sum())
    1.0
    """

    weights: np.ndarray
    rounding: np.ndarray
    source: Source

    def __post_init__(self) -> None:
        weights, rounding = _vector("weights", self.weights), _vector("rounding", self.rounding)
        if weights.size < 2 or rounding.size != weights.size - 1:
            raise InputError(
                f"a prior has n >= 2 weights and n - 1 rounding terms, got {weights.size} and {rounding.size}"
            )
        total = math.fsum(weights)  # to the last digit, as every reader of files adds them up
        if abs(total - 1) > WEIGHT_SUM_TOLERANCE:
            raise InputError(f"prior weights must sum to 1, got {total}: divide them by their sum")
        if self.source not in get_args(Source):
            raise InputError(f"prior source must be one of {', '.join(get_args(Source))}, got {self.source!r}")
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "rounding", rounding)


def _vector(name: str, values: object) -> np.ndarray:
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"prior {name} must be numbers") from None
    if array.ndim != 1:
        raise InputError(f"prior {name} must be one-dimensional, got shape {array.shape}")
    wrong = np.flatnonzero(~(np.isfinite(array) & (array >= 0)))
    if wrong.size:
        raise InputError(f"prior {name} must be finite and non-negative, got {array[wrong[0]]} in row {wrong[0] + 1}")
    array.setflags(write=False)
    return array
