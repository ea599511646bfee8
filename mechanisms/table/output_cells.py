"""The same mechanism with its reports told less exactly: only which of some cells each one fell into.

No other room asks for it: it is for collectors who count reports in cells, as papers on distributions do, and it stands
here because what it gives out is a table whose privacy must hold to the last bit.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ..budget import inner_epsilon
from ..errors import InputError
from ..promise import Promise, Pure
from ..sampling.domain import numbers
from ..sampling.law import Uniform
from .table import TabulatedMechanism

SAME_EDGE = 1e-9
"""An edge this close to the end of an output, as a share of its width, is that end with other last digits."""

SUM_ROUNDING = 1e-12
"""Relative rounding error of sums of probabilities, generously; a ratio above e^epsilon by more is no rounding."""


def with_output_cells(mechanism: TabulatedMechanism, edges: ArrayLike) -> TabulatedMechanism:
    r"""Return the mechanism whose outputs are the cells between neighbouring edges.

    With S_{jc} the share of output j that lies in cell c, the probabilities are P' = P S. Grouping reports after
    they were drawn is post-processing: no ratio of two rows grows, and privacy can only improve. A report is still
    a number, so reports of the old table are found among the outputs of the new one.

    Within a cell the new table takes reports to be spread evenly, whatever the knot. What follows from the
    probabilities (likelihoods, distributions) is exact for grouped reports; means and variances are those of
    reports drawn anew within their cell, and the claim "unbiased" is dropped.

    Parameters
    ----------
    mechanism : TabulatedMechanism
    edges : (M + 1,) array_like
        Strictly increasing ends of the cells, in the units of the reports; they must hold all outputs. A point on
        an edge belongs to the cell above it, on the last edge to the last cell.

    Returns
    -------
    TabulatedMechanism
        With M outputs, and the same knots, prior and units.

    Raises
    ------
    InputError
        Edges that are not increasing or do not hold all outputs; an output that straddles an edge, but in which
        reports are not spread evenly.

    Example
    -------
    >>> table = TabulatedMechanism.from_edges([0, 1], [0, 1, 2], [[0.75, 0.25], [0.25, 0.75]], 1.1)
    >>> with_output_cells(table, [0.0, 0.5, 2.0]).probabilities
    array([[0.375, 0.625],
           [0.125, 0.875]])
    """
    ends = numbers("edges", edges)
    if ends.size < 2 or not np.isfinite(ends).all() or not (np.diff(ends) > 0).all():
        raise InputError(f"edges must be at least 2 finite, strictly increasing numbers, got {edges!r}")
    if mechanism.low.min() < ends[0] or mechanism.high.max() > ends[-1]:
        raise InputError(
            f"the edges must hold all outputs, [{mechanism.low.min():g}, {mechanism.high.max():g}], "
            f"got [{ends[0]:g}, {ends[-1]:g}]: widen them"
        )
    shares = _shares(mechanism, ends)
    straddling = (mechanism.low < mechanism.high) & (shares.max(axis=1) < 1)
    if straddling.any() and not isinstance(mechanism.within, Uniform):
        j = int(np.argmax(straddling))
        raise InputError(
            f"an output with a {mechanism.within.kind} law must lie in one cell, got an edge inside output {j}, "
            f"[{mechanism.low[j]:g}, {mechanism.high[j]:g}]: add its ends to the edges or leave the edge out"
        )
    origin = mechanism.provenance
    parameters = {name: value for name, value in origin.parameters.items() if name != "unbiased"}
    return TabulatedMechanism.from_edges(
        mechanism.knots,
        ends,
        _without_rounding(mechanism.probabilities @ shares, mechanism.promise),
        mechanism.epsilon,
        provenance=replace(origin, parameters=parameters | {"output_cells": ends.size - 1}, certificate=None),
        prior=mechanism.prior,
        units=mechanism.units,
        promise=mechanism.promise,
    )


def _shares(mechanism: TabulatedMechanism, edges: np.ndarray) -> np.ndarray:
    """(m, M) share of each output's length in each cell; all of a point in one."""
    low, high = mechanism.low[:, None], mechanism.high[:, None]
    width = np.where(low < high, high - low, 1.0)
    below = np.clip((edges - low) / width, 0.0, 1.0)
    below[np.abs(below - 1) <= SAME_EDGE] = 1.0
    below[below <= SAME_EDGE] = 0.0
    points = np.flatnonzero(mechanism.low == mechanism.high)
    below[points] = edges > low[points]
    below[:, -1] = 1.0
    return np.diff(below, axis=1)


def _without_rounding(probabilities: np.ndarray, promise: Promise) -> np.ndarray:
    """Raise the probabilities that sums rounded below e^-epsilon of the largest in their column, and no others.

    Under other promises than a pure one sums of probabilities stay as they are.
    """
    if not isinstance(promise, Pure):
        return probabilities
    least = probabilities.max(axis=0) * np.exp(-inner_epsilon(promise.epsilon))
    rounded = (probabilities < least) & (probabilities >= least * (1 - SUM_ROUNDING))
    return np.where(rounded, least, probabilities)
