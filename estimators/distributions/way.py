"""What a way to a distribution is: how it fits counts on a grid, and how it does so in simulations, without errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...solvers import Progress
from ...solvers.likelihood.fit import MixtureFit
from ..counting.counts import ReportCounts
from ..input_grid import InputGrid
from .smooth import SmoothFit


class Found(NamedTuple):
    """A fit on K components, and what is known of its errors.

    Attributes
    ----------
    fit : MixtureFit
    covariance : (K, K) ndarray of float
    components : int
        Those that have weights of their own.
    smooth : SmoothFit, optional
        What the average of log densities knows besides.
    """

    fit: MixtureFit
    covariance: np.ndarray
    components: int
    smooth: SmoothFit | None = None


class Way(NamedTuple):
    """A way to a distribution; both raise SolverError where they find no fit.

    Attributes
    ----------
    fitted : callable
        Takes counts, a grid, the settings that were given, all of which it knows, and what is called with the progress
        of a fit and of the sets of masses tried; returns what it `Found`.
    alone : callable
        Takes counts and a grid; returns the (K,) weights and their mean, in less time than `fitted` if it can.
    """

    fitted: Callable[
        [
            ReportCounts,
            InputGrid,
            Mapping[str, Any],
            Callable[[Progress], None] | None,
            Callable[[int, int], None] | None,
        ],
        Found,
    ]
    alone: Callable[[ReportCounts, InputGrid], tuple[np.ndarray, float]]
