"""Slopes of a regression: a score feature of each, by a pilot, with the shares of an optimal design; else moments."""

from __future__ import annotations

import math

import numpy as np

from ...mechanisms.errors import InputError
from ...mechanisms.features import Feature, Features, Score
from ...solvers.over_time import best_rows
from ..priors.prior import Source
from .association import CLIP, UNIFORM_SHARE, checked_pilot
from .design import EVEN_KNOTS, Box, FeaturesDesign, designed_table, feature_prior, whole_shares
from .pilot import Pilot
from .slopes_by_moments import HOPELESS, slopes_by_moments

MOST_COVARIATES = 8

COLLINEAR = 1000.0
"""Condition number of the covariates' correlations beyond which slopes are not told apart."""


def design_regression(
    response: str,
    box: Box,
    epsilon: float,
    pilot: Pilot | None = None,
    *,
    clip: float = CLIP,
    uniform_share: float = UNIFORM_SHARE,
    source: Source = "public",
) -> FeaturesDesign:
    """Return the mechanism for the slopes of one column on the others.

    A user reports one row of S^-1 (1, z) times the residual at the pilot's slopes b0, cut at so many of its standard
    deviations: the influence function of a slope. If residuals are symmetric its mean is zero at the true slopes even
    when cut, so one step from b0, by the slope of the cut feature's mean, finds them.

    Parameters
    ----------
    response : str
        One of the columns.
    box : mapping of str to (low, high)
        Of 2 to 9 columns.
    epsilon : float
    pilot : Pilot, optional
        On the columns of the box.
    clip : float
        Standard deviations of the feature.
    uniform_share : float
    source : {"public", "private-report", "sensitive"}

    Returns
    -------
    made : FeaturesDesign

    Raises
    ------
    InputError
        Another response than the columns, too many covariates, or collinear ones.

    Source: one-step M-estimates (Bickel, 1975).

    Example
    -------
    >>> import numpy as np
    >>> from optldp.designer.features import Pilot, design_regression
    >>> x, e = np.random.default_rng(1).normal(size=(2, 500)).clip(-3, 3)
    >>> pilot = Pilot(("x", "y"), np.column_stack([x, x / 2 + e]))
    >>> made = design_regression("y", {"x": (-3, 3), "y": (-5, 5)}, 1.0, pilot)
    >>> made.names, made.people(0.2) < 3000
    (('x',), True)
    """
    if response not in box:
        raise InputError(f"the response must be one of the columns {', '.join(box)}, got {response!r}: add its range")
    names = tuple(name for name in box if name != response)
    if not 1 <= len(names) <= MOST_COVARIATES:
        raise InputError(f"a regression is on 1 to {MOST_COVARIATES} other columns, got {len(names)}")
    if not 0 < clip < math.inf:
        raise InputError(f"the clip of a regression must be positive and finite, got {clip!r}")
    if pilot is None:
        return slopes_by_moments(names, {name: box[name] for name in (*names, response)}, epsilon)
    known = checked_pilot(pilot, box)
    order = [list(box).index(name) for name in (*names, response)]
    centres, scales = known.means[order], np.sqrt(np.diag(known.covariance))[order]
    z, weights = (known.records[:, order] - centres) / scales, known.weights
    start, residuals = _least_squares(z, weights, names)
    spread = math.sqrt(weights @ residuals**2)
    # Residuals of a perfect fit are rounding, in units of the box, not spread.
    if spread < 1e-9:
        raise InputError(f"the survey's {response!r} must vary around the others' fit, got none that does")
    one = np.column_stack([np.ones(len(z)), z[:, :-1]])
    second = (one * weights[:, None]).T @ one
    rows = np.linalg.inv(second)[1:]
    ordered = {name: box[name] for name in (*names, response)}
    low, high = np.array(list(ordered.values())).T
    # The box itself cuts the instruments nowhere, and residuals at what they can be within it.
    widest = float(np.max(np.abs((np.array([low, high]) - centres) / scales)))
    largest = widest * (1 + float(np.abs(start).sum()))
    tables, noise, formulas, slopes, means = [], [], [], [], []
    for row in rows:
        formula = Score(centres, scales, row, start, widest, largest)
        values = formula.of(known.records[:, order])
        whole, reach = formula.extremes(low, high), clip * math.sqrt(weights @ values**2)
        domain = max(whole[0], -reach), min(whole[1], reach)
        table, variance = designed_table(
            feature_prior(values, weights, domain, source, most=EVEN_KNOTS), epsilon, uniform_share
        )
        tables.append(table)
        noise.append(variance)
        formulas.append(formula)
        inside = weights * (np.abs(values) < reach) * (one @ row)
        slopes.append((one[:, 1:] * inside[:, None]).sum(axis=0))
        means.append(float(weights @ np.clip(values, *domain)))
    units = scales[-1] / scales[:-1]
    step = np.linalg.inv(np.array(slopes))
    shares = best_rows(np.eye(len(names)), np.array(noise), np.zeros_like(step), step.T @ step, 1).shares
    features = [
        Feature(name, formula, table, share)
        for name, formula, table, share in zip(names, formulas, tables, whole_shares(shares), strict=True)
    ]
    opened = spread**2 * np.diag(np.linalg.inv(second))[1:] * units**2
    off = units * (step @ means)  # the cut estimate of the pilot itself less its least squares
    off_low, off_high = np.minimum(off, 0), np.maximum(off, 0)
    told = {
        "names": list(names),
        "slopes": (start[1:] * units).tolist(),
        "step": (step * units[:, None]).tolist(),
        "open_variance": opened.tolist(),
        "pilot_records": len(z),
        "bias_low": off_low.tolist(),
        "bias_high": off_high.tolist(),
    }
    made = Features(ordered, features, epsilon, "regression", told)
    variances = (step**2 @ (np.array(noise) / shares)) * units**2
    return FeaturesDesign(made, names, variances, opened, off_low, off_high, "regression", HOPELESS * units)


def _least_squares(z: np.ndarray, weights: np.ndarray, names: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The coefficients, the constant first, and residuals; InputError for covariates that hang together."""
    square = (z[:, :-1] * weights[:, None]).T @ z[:, :-1]
    condition = float(np.linalg.cond(square))
    if condition > COLLINEAR:
        raise InputError(
            f"covariates must not be collinear, got {', '.join(names)} with condition number {condition:.2g}, above "
            f"{COLLINEAR:g}: leave one out"
        )
    one = np.column_stack([np.ones(len(z)), z[:, :-1]])
    root = np.sqrt(weights)
    start = np.linalg.lstsq(one * root[:, None], z[:, -1] * root, rcond=None)[0]
    return start, z[:, -1] - one @ start
