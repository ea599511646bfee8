"""Means of groups: a number times the sign of its group with signs alone for sizes, or sets of groups with signs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import hadamard

from ...mechanisms.errors import InputError
from ...mechanisms.features import Feature, Features, Sides, Signs
from ..priors.prior import Prior, Source
from .association import CLIP, UNIFORM_SHARE
from .design import EVEN_KNOTS, FeaturesDesign, designed_table, feature_prior
from .signed_sets import best_signed_sets

SIZES = 0.1
"""Share of the users who report their group's sign alone."""

MOST_GROUPS = 32
"""There are up to twice as many features as signs, of which a mechanism has 64."""

SMALLEST = 1e-3
"""Budget from which sets are tried: below it their table's rows are too much alike for doubles, and signs err less."""

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
    way: Literal["signs", "sets"] | None = None,
    users: int | None = None,
) -> FeaturesDesign:
    """Return the mechanism for the mean of a number in each of k groups.

    *Signs.* A user draws one of the rows s of a Hadamard matrix and reports s_g times how far y is from the pilot's
    mean of the group, cut at so many standard deviations; a tenth report s_g alone. Rows act as random signs:
    columns of two groups have no correlation, so that s_g times the reports of row s add up to group g alone.

    *Sets.* A user rounds that distance at random to a side of the group's mean, and reports some groups with a side
    each, likelier ones with its own. They err less at large budgets, and of rare groups.

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
    way : {"signs", "sets"}, optional
        Default: the one whose worst group errs less.
    users : int, optional
        How many will report, who may be too few to tell rare groups' shares; many by default.

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
    >>> made.names, [each.name for each in made.mechanism.features]
    (('a', 'b', 'c', 'd'), ['sets'])
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
    found = []
    if way != "sets":
        both = np.concatenate([cut, -cut])
        prior = feature_prior(both, np.ones(both.size), (-reach, reach), source, most=EVEN_KNOTS)
        of_cut = np.bincount(groups, cut, minlength=k) / (sizes * groups.size)
        found.append(_by_signs(prior, centres, reach, sizes, of_cut, epsilon, uniform_share))
    if way == "sets" or (way is None and epsilon >= SMALLEST):
        upper = np.bincount(groups, (1 + cut / reach) / 2, minlength=k) / groups.size
        table, *costs = best_signed_sets(np.column_stack([sizes - upper, upper]).ravel(), reach, epsilon)
        found.append(_Way([Feature("sets", Sides(centres, reach), table)], *costs))
    best = min(found, key=lambda each: (each.variances * (1 + 3 * each.of_sizes / (users or math.inf))).max())
    lost = apart - cut
    above, below = (
        np.bincount(groups, each, minlength=k) / (sizes * groups.size)
        for each in (np.maximum(lost, 0), np.maximum(-lost, 0))
    )
    opened = np.bincount(groups, apart**2, minlength=k) / groups.size / sizes**2
    told = {
        "names": list(labels), "centres": centres.tolist(), "open_variance": opened.tolist(),
        "bias_low": (-above).tolist(), "bias_high": below.tolist(), "pilot_records": int(groups.size),
    }  # fmt: skip
    ends = {group: (0.0, k - 1.0), column: box}
    made = Features(ends, best.features, epsilon, "group-means", told, labels={group: labels})
    spread_of_all = float(np.std(values))
    return FeaturesDesign(
        made, labels, best.variances, opened, -above, below, "group-means", spread_of_all, best.of_sizes
    )


@dataclass(frozen=True, eq=False)
class _Way:
    """Features, n times the variances (k,) of means, and of the groups' shares relative to their squares."""

    features: list[Feature]
    variances: np.ndarray
    of_sizes: np.ndarray


def _by_signs(
    prior: Prior, centres: np.ndarray, reach: float, sizes: np.ndarray, of_cut: np.ndarray, epsilon: float,
    uniform_share: float,
) -> _Way:  # fmt: skip
    """Of sums over a group, and of sizes, whose errors matter as far as the mean (k,) of what is cut is not zero."""
    table, noise = designed_table(prior, epsilon, uniform_share)
    alone, noise_alone = designed_table(Prior.even([-1.0, 1.0]), epsilon, 0.0)
    signs = sign_rows(centres.size)
    rows = len(signs)
    sums, single = round((1 - SIZES) * UNIT * (rows - 1)), round(SIZES * UNIT * rows)
    features = [Feature(f"mean {h}", Signs(row, centres, reach), table, sums) for h, row in enumerate(signs)]
    # The first row has one sign, whose mean is known.
    features += [Feature(f"size {h}", Signs(row, centres, 0.0), alone, single) for h, row in enumerate(signs[1:], 1)]
    all_of = sums * rows + single * (rows - 1)
    of_sums, of_sizes = noise * all_of / (sums * rows), noise_alone * all_of / (single * rows) * (rows - 1) / rows
    return _Way(features, (of_sums + of_cut**2 * of_sizes) / sizes**2, of_sizes / sizes**2)


def sign_rows(groups: int) -> np.ndarray:
    """Return signs (H, k) whose columns have no correlation, the first row of one sign: of Sylvester's matrix.

    Example
    -------
    >>> sign_rows(3).tolist()
    [[1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, -1.0], [1.0, -1.0, -1.0]]
    """
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
