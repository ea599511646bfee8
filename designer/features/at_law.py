"""What a list of moments costs where the law of the columns is known, as a survey has it."""

from __future__ import annotations

import numpy as np

from ...estimators.features.moments import correlation_gradient, covariance_gradient
from ...estimators.features.slopes import slopes_of
from ...mechanisms.errors import InputError
from ...mechanisms.features import Features
from .association import checked_pilot
from .pilot import Pilot


def moments_variance(mechanism: Features, law: Pilot) -> np.ndarray:
    r"""Return n times the variance (k,) of each number from moments, if the columns have this law.

    With m_i the mean of feature i, V_i the variance of its reports, values included, s_i its share of the users and
    f what is estimated, to first order in 1 / n

        n var = sum over i of (df / dm_i)^2 V_i / s_i.

    `FeaturesDesign.variances` of moments averages over laws instead, for unknown columns.

    Parameters
    ----------
    mechanism : Features
        Of moments: designed without a survey, for a correlation, a covariance or a regression.
    law : Pilot
        On the same columns, in any order, within their ranges.

    Returns
    -------
    variances : (k,) ndarray of float
        In squared units of what is estimated.

    Raises
    ------
    InputError
        A mechanism of another kind, or a law on other columns or outside their ranges.

    Source: the delta method.

    Example
    -------
    >>> from optldp.designer.features import Pilot, design_association, moments_variance
    >>> signs = Pilot(("x", "y"), [[a, b] for a in (-1, 1) for b in (-1, 1)])
    >>> made = design_association("covariance", {"x": (-1, 1), "y": (-1, 1)}, 1.0)
    >>> moments_variance(made.mechanism, signs).round(1)
    array([8.7])
    """
    told = mechanism.told
    if told.get("way") != "moments":
        raise InputError(f"the mechanism must be of moments, got one for {mechanism.target} by a survey")
    names = tuple(mechanism.columns)
    if set(law.names) == set(names):
        law = Pilot(names, law.records[:, [law.names.index(name) for name in names]], law.weights)
    held = checked_pilot(law, mechanism.columns)
    moments, noise = np.empty(len(mechanism.features)), np.empty(len(mechanism.features))
    for place, feature in enumerate(mechanism.features):
        values, table = mechanism.values_of(held.records, place), feature.mechanism
        # Between knots a mean square lies on a line, as a value is rounded to one of them at random.
        squares = np.interp(values, table.knots, table.knot_variances + table.knots**2)
        moments[place] = held.weights @ values
        noise[place] = held.weights @ squares - moments[place] ** 2
    noise = noise / mechanism.shares
    if mechanism.target == "correlation":
        return np.array([correlation_gradient(moments) ** 2 @ noise])
    if mechanism.target == "covariance":
        return told["scale"] ** 2 * np.array([covariance_gradient(moments) ** 2 @ noise])
    units = np.array(told["units"], dtype=float)
    return units**2 * (slopes_of(moments, len(units)).gradient ** 2 @ noise)
