"""Means of groups: a number times the sign of its group, and signs alone for the groups' sizes."""

from __future__ import annotations

import numpy as np

from ...mechanisms.errors import InputError
from ...mechanisms.features import Feature, Features, Signs
from ..priors.prior import Prior, Source
from .association import CLIP, UNIFORM_SHARE
from .design import EVEN_KNOTS, FeaturesDesign, designed_table, feature_prior

SIZES = 0.1
"""Share of the users who report their group's sign alone."""

MOST_GROUPS = 32
"""There are up to twice as many features as signs, of which a mechanism has 64."""

ROUNDING = 1e-12
"""Standard deviation within groups, as a share of the box, that is but rounding of their means."""

UNIT = 1000
"""Shares of the users are whole numbers of so many in each set of signs."""


def design_groups(
    group: str,
    labels: tuple[str, ...],
    column: str,
    box: tuple[float, float],
    epsilon: float,
    groups: np.ndarray,
    values: np.ndarray,
    *,
    clip: float = CLIP,
    uniform_share: float = UNIFORM_SHARE,
    source: Source = "public",
) -> FeaturesDesign:
    """Return the mechanism for the mean of a number in each of k groups.

    A user draws one of the rows s of a Hadamard matrix and reports s_g times how far y is from the pilot's mean of the
    group, cut at so many standard deviations; a tenth report s_g alone. Rows act as random signs: columns of two groups
    have no correlation, so that s_g times the reports of row s add up to group g alone.

    Parameters
    ----------
    group, column : str
        Names of the groups' column and of the number's.
    labels : tuple of str
        Of the k groups, 2 to 32.
    box : (low, high)
        Of the number.
    epsilon : float
    groups : (K,) ndarray of int
        Of a pilot's records, positions among the labels: all of them.
    values : (K,) ndarray of float
        Of the pilot's records, within the box.
    clip : float
        Standard deviations within groups that are kept to both sides; `math.inf` for the whole box.
    uniform_share : float
    source : {"public", "private-report", "sensitive"}
        Of the pilot.

    Returns
    -------
    made : FeaturesDesign

    Raises
    ------
    InputError
        Fewer than two groups or more than 32, an empty group, a value outside the box, a number that does not vary
        within groups, or a clip that is not positive.

    Source: random signs as in Bassily and Smith (2015), times a number instead of one.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.designer.features import design_groups
    >>> groups, values = np.arange(400) % 4, np.arange(400) % 7
    >>> made = design_groups("town", tuple("abcd"), "age", (0, 6), 2.0, groups, values)
    >>> made.names, len(made.mechanism.features)
    (('a', 'b', 'c', 'd'), 7)
    """
    _check(labels, group, column, box, groups, values, clip)
    k = len(labels)
    sizes = np.bincount(groups, minlength=k) / groups.size
    centres = np.bincount(groups, values, minlength=k) / (sizes * groups.size)
    apart = values - centres[groups]
    spread = float(np.sqrt(np.mean(apart**2)))
    if spread < ROUNDING * (box[1] - box[0]):
        raise InputError(f"column {column!r} must vary within groups, got none that does: their means are known")
    reach = min(clip * spread, max(box[1] - centres.min(), centres.max() - box[0]))
    cut = np.clip(apart, -reach, reach)
    both = feature_prior(np.concatenate([cut, -cut]), np.ones(2 * cut.size), (-reach, reach), source, most=EVEN_KNOTS)
    table, noise = designed_table(both, epsilon, uniform_share)
    alone, noise_alone = designed_table(Prior.even([-1.0, 1.0]), epsilon, 0.0)
    signs = sign_rows(k)
    rows = len(signs)
    features = [
        Feature(f"mean {h}", Signs(row, centres, reach), table, round((1 - SIZES) * UNIT * (rows - 1)))
        for h, row in enumerate(signs)
    ]
    # The first row has one sign, whose mean is known.
    features += [
        Feature(f"size {h}", Signs(row, centres, 0.0), alone, round(SIZES * UNIT * rows))
        for h, row in enumerate(signs[1:], 1)
    ]
    lost = apart - cut
    above, below, of_cut = (
        np.bincount(groups, each, minlength=k) / (sizes * groups.size)
        for each in (np.maximum(lost, 0), np.maximum(-lost, 0), cut)
    )
    opened = np.bincount(groups, apart**2, minlength=k) / groups.size / sizes**2
    told = {
        "names": list(labels), "centres": centres.tolist(), "open_variance": opened.tolist(),
        "bias_low": (-above).tolist(), "bias_high": below.tolist(), "pilot_records": int(groups.size),
    }  # fmt: skip
    made = Features({group: (0, k - 1), column: box}, features, epsilon, "group-means", told, labels={group: labels})
    # Of sums over a group, and of sizes, whose errors matter as far as the mean of what is cut is not zero.
    shares = made.shares
    of_sums = noise / (shares[0] * rows)
    of_sizes = noise_alone / (shares[-1] * rows) * (rows - 1) / rows
    variances = (of_sums + of_cut**2 * of_sizes) / sizes**2
    return FeaturesDesign(made, labels, variances, opened, -above, below, "group-means", float(np.std(values)))


def sign_rows(groups: int) -> np.ndarray:
    """Return signs (H, k) whose columns have no correlation, the first row of one sign: of Sylvester's matrix.

    Example
    -------
    >>> sign_rows(3).tolist()
    [[1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, -1.0], [1.0, -1.0, -1.0]]
    """
    from scipy.linalg import hadamard

    return hadamard(1 << (groups - 1).bit_length()).astype(float)[:, :groups]


def _check(
    labels: tuple[str, ...], group: str, column: str, box: tuple[float, float], groups: np.ndarray, values: np.ndarray,
    clip: float,
) -> None:  # fmt: skip
    if not 2 <= len(labels) <= MOST_GROUPS:
        raise InputError(f"there must be 2 to {MOST_GROUPS} groups of {group!r}, got {len(labels)}: merge some")
    if not clip > 0:
        raise InputError(f"the clip must be positive, in standard deviations, got {clip!r}")
    many = np.bincount(groups, minlength=len(labels))
    if not many.all():
        raise InputError(f"a group must have somebody in the survey, got none in {labels[int(many.argmin())]!r}")
    outside = values[(values < box[0]) | (values > box[1])]
    if outside.size:
        raise InputError(
            f"column {column!r} must lie within {box[0]:g} to {box[1]:g}, got {outside[0]:g}: widen its range, or clip"
        )
