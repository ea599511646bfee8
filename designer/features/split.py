"""What everybody does: half the budget for each column, and the product of both reports."""

from __future__ import annotations

import numpy as np

from .association import CLIP, UNIFORM_SHARE, checked_pilot
from .design import Box, designed_table, feature_prior
from .pilot import Pilot


def split_variance(
    pilot: Pilot, box: Box, epsilon: float, *, clip: float = CLIP, uniform_share: float = UNIFORM_SHARE
) -> float:
    """Return n times the variance of a correlation by the product of two reports, half the budget for each column.

    Each column is scaled by the pilot's mean and standard deviation, which are taken for known, and reported through
    its optimal table; whoever has to learn these as well errs more.

    Parameters
    ----------
    pilot : Pilot
        Of two columns.
    box : mapping of str to (low, high)
    epsilon : float
        Of both reports together.
    clip : float
        Standard deviations of a column that are kept, `math.inf` for the whole box.
    uniform_share : float

    Returns
    -------
    variance : float
        Of the estimated correlation, times the number of people.

    Raises
    ------
    InputError
        A pilot on other columns, or outside the box.

    Example
    -------
    >>> import math
    >>> from optldp.designer.features import Pilot, split_variance
    >>> signs = Pilot(("x", "y"), [[a, b] for a in (-1, 1) for b in (-1, 1)])
    >>> round(split_variance(signs, {"x": (-1, 1), "y": (-1, 1)}, 1.0, clip=math.inf, uniform_share=0.0), 1)
    277.9
    """
    held = checked_pilot(pilot, box)
    z = (held.records - held.means) / np.sqrt(np.diag(held.covariance))
    second, product = np.ones(len(z)), np.ones(len(z))
    for place, ends in enumerate(box.values()):
        scale = float(np.sqrt(held.covariance[place, place]))
        low, high = ((end - held.means[place]) / scale for end in ends)
        low, high = max(low, -clip), min(high, clip)
        values = np.clip(z[:, place], low, high)
        table, _ = designed_table(feature_prior(values, held.weights, (low, high)), epsilon / 2, uniform_share)
        # Between knots the second moment of a report lies on a line, as a value is rounded to one of them at random.
        second *= np.interp(values, table.knots, table.knot_variances + table.knots**2)
        product *= values
    return float(held.weights @ second - (held.weights @ product) ** 2)
