"""What everybody does: the budget split over the columns, and estimates from the products of both reports."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...estimators.features.slopes import moment_pairs, slopes_of
from ...mechanisms.categorical.oracle_choice import frequency_oracle
from .association import CLIP, UNIFORM_SHARE, checked_pilot
from .design import Box, designed_table, feature_prior
from .pilot import Pilot
from .slopes_by_moments import moment_tables


def split_variance(
    pilot: Pilot, box: Box, epsilon: float, *, clip: float = CLIP, uniform_share: float = UNIFORM_SHARE
) -> float:
    """Return n times the variance of a correlation by the product of two reports, half the budget for each column.

    Each column is scaled by the pilot's mean and standard deviation, which are assumed known, and reported through its
    optimal table; learning these as well adds error.

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
        second *= _second_moments(values, held.weights, (low, high), epsilon / 2, uniform_share)
        product *= values
    return float(held.weights @ second - (held.weights @ product) ** 2)


def _second_moments(
    values: np.ndarray, weights: np.ndarray, domain: tuple[float, float], epsilon: float, uniform_share: float
) -> np.ndarray:
    """The mean square (K,) of a report of each value, by the optimal table.

    Between knots it lies on a line, as a value is rounded to one of them at random.
    """
    table, _ = designed_table(feature_prior(values, weights, domain), epsilon, uniform_share)
    return np.interp(values, table.knots, table.knot_variances + table.knots**2)


def split_slopes(response: str, box: Box, epsilon: float, pilot: Pilot) -> np.ndarray:
    """Return n times the variance (d,) of slopes where users report one column, or two with half the budget each.

    Each user is asked for one of the columns scaled to [-1, 1], its square, or two of the columns; the products of two
    reports and the means of the others give the moments, with the best shares of users for the pilot.

    Parameters
    ----------
    response : str
        One of the columns.
    box : mapping of str to (low, high)
    epsilon : float
        Of both reports together.
    pilot : Pilot
        On the columns of the box.

    Returns
    -------
    variances : (d,) ndarray of float

    Raises
    ------
    InputError
        A pilot on other columns, or outside the box.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.designer.features import Pilot, split_slopes
    >>> x, e = np.random.default_rng(1).normal(size=(2, 500)).clip(-3, 3)
    >>> pilot = Pilot(("x", "y"), np.column_stack([x, x / 2 + e]))
    >>> split_slopes("y", {"x": (-3, 3), "y": (-5, 5)}, 4.0, pilot).round(-2)
    array([200.])
    """
    held = checked_pilot(pilot, box)
    order = [*(place for place, name in enumerate(box) if name != response), list(box).index(response)]
    low, high = np.array(list(box.values())).T[:, order]
    unit = (high - low) / 2
    z, d = (held.records[:, order] - (low + high) / 2) / unit, len(order) - 1
    squares = [_second_moments(each, held.weights, (-1.0, 1.0), epsilon / 2, UNIFORM_SHARE) for each in z.T]
    pairs = moment_pairs(d)
    noise, moments = [], []
    for pair, (_, alone) in zip(pairs, moment_tables(d, epsilon), strict=True):
        values = np.prod(z[:, pair], axis=1)
        moments.append(float(held.weights @ values))
        two = len(set(pair)) == 2
        noise.append(float(held.weights @ (squares[pair[0]] * squares[pair[1]])) - moments[-1] ** 2 if two else alone)
    gradient = slopes_of(np.array(moments), d).gradient
    # Each mean has users of its own: shares by the root of what a mean's noise adds to the slopes together.
    costs = np.sqrt((gradient**2).sum(axis=0) * noise)
    varied = gradient**2 @ (np.array(noise) * costs.sum() / np.where(costs > 0, costs, 1.0))
    return varied * (unit[-1] / unit[:-1]) ** 2


def split_groups(
    groups: np.ndarray, values: np.ndarray, box: tuple[float, float], epsilon: float, *, clip: float = CLIP
) -> np.ndarray:
    """Return n times the variance (k,) of means of groups, half the budget for the group and half for the number.

    Users report the number's distance from the mean of all, cut as for groups; group sizes and the mean of all are
    assumed known.

    Parameters
    ----------
    groups : (K,) ndarray of int
        Of a pilot's records, from 0.
    values : (K,) ndarray of float
        Of the pilot's records.
    box : (low, high)
        Of the values.
    epsilon : float
        Of both reports together.
    clip : float
        Standard deviations of the values that are kept, `math.inf` for the whole box.

    Returns
    -------
    variances : (k,) ndarray of float

    Example
    -------
    >>> import numpy as np
    >>> from optldp.designer.features import split_groups
    >>> split_groups(np.arange(400) % 4, np.arange(400) % 7, (0, 6), 4.0).round(-1)
    array([100., 100., 100., 100.])
    """
    k = int(groups.max()) + 1
    sizes = np.bincount(groups, minlength=k) / groups.size
    apart = values - values.mean()
    means = np.bincount(groups, apart, minlength=k) / (sizes * groups.size)
    reach = min(clip * float(np.std(apart)), max(box[1] - values.mean(), values.mean() - box[0]))
    cut = np.clip(apart, -reach, reach)
    weights = np.full(cut.size, 1 / cut.size)
    second = _second_moments(cut, weights, (-reach, reach), epsilon / 2, UNIFORM_SHARE)
    of_group = np.array([second[groups == g].mean() for g in range(k)])
    first = np.array([cut[groups == g].mean() for g in range(k)])
    # About the mean of the group g that is estimated: E (R - m_g)^2, of people of each group.
    about = of_group - 2 * first * means[:, None] + means[:, None] ** 2
    return (_decoder_squares(k, epsilon / 2) * about) @ sizes / sizes**2


def _decoder_squares(k: int, epsilon: float) -> np.ndarray:
    """Mean squares (k, k) of the unbiased indicator of each category, of people of each, by the best oracle."""
    law, decoder = _law_and_decoder(k, epsilon)
    return decoder**2 @ law


def _law_and_decoder(k: int, epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    oracle = frequency_oracle(range(k), epsilon)
    law = oracle.pmf(oracle.all_reports())
    weighted = law.T / law.mean(axis=1)
    return law, np.linalg.solve(weighted @ law, weighted)


def split_cells(shape: Sequence[int], epsilon: float, shares: np.ndarray) -> np.ndarray:
    """Return n times the variance of each cell, of the best joint fit to a report of each of two columns of labels.

    Each column has half the budget, through the oracle that errs least on it. The fit is by least squares, with weights
    for cells of equal size.

    Parameters
    ----------
    shape : (int, int)
        How many values each column has.
    epsilon : float
        Of both reports together.
    shares : (K,) ndarray of float
        Of the people in each cell, row by row.

    Returns
    -------
    variances : (K,) ndarray of float

    Example
    -------
    >>> import numpy as np
    >>> from optldp.designer.features import split_cells
    >>> round(float(split_cells((4, 5), 1.0, np.full(20, 0.05)).sum()))
    1905
    """
    law = np.ones((1, 1))
    for size in shape:
        law = np.kron(law, _law_and_decoder(size, epsilon / 2)[0])
    weighted = law.T / law.mean(axis=1)
    decoder = np.linalg.solve(weighted @ law, weighted)
    return decoder**2 @ (law @ shares) - shares**2
