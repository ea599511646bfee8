"""A strip below a picture, how the values are distributed, or beside one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...estimators.plots.style import GREY, SHADE, SMALL
from ..priors.prior import Prior

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.gridspec import SubplotSpec

STRIP_SHARE = 0.2
"""Height of the strip over that of the picture above it."""

SIDE_SHARE = 0.14
"""Width of a strip over that of the picture beside it."""


def strip_below(axes: Axes, share: float = STRIP_SHARE) -> Axes:
    """Make room for a strip on the same values below axes, within the place that these have, and return it."""
    upper, lower = _place(axes).subgridspec(2, 1, height_ratios=[1.0, share])
    axes.set_subplotspec(upper)
    axes.tick_params(labelbottom=False)
    figure: Any = axes.figure  # a subfigure will do too
    return figure.add_subplot(lower, sharex=axes)


def strip_beside(axes: Axes, share: float = SIDE_SHARE) -> Axes:
    """Make room for a strip on the same heights to the right of axes, within the place that these have."""
    left, right = _place(axes).subgridspec(1, 2, width_ratios=[1.0, share], wspace=0.03)
    axes.set_subplotspec(left)
    figure: Any = axes.figure
    strip = figure.add_subplot(right, sharey=axes)
    strip.tick_params(left=False, labelleft=False)
    return strip


def _place(axes: Axes) -> SubplotSpec:
    """Return the place that axes have: it is divided as a grid is, for layout engines do not know an inset's reach."""
    from matplotlib.gridspec import GridSpec

    figure: Any = axes.figure
    return axes.get_subplotspec() or GridSpec(1, 1, figure, *axes.get_position().extents)[0]


def draw_prior(strip: Axes, prior: Prior) -> None:
    """Fill the prior's density, without numbers: only its shape matters next to the picture.

    The weight of a knot is spread evenly over the values that are nearer to it than to the others.
    """
    edges, density = nearest_density(prior.knots, prior.weights)
    strip.stairs(density, edges, fill=True, color=SHADE)
    strip.stairs(density, edges, color=GREY, linewidth=0.8, label="prior")
    strip.set_ylim(0, 1.15 * density.max())
    strip.set_yticks([])
    strip.set_ylabel("prior", fontsize=SMALL)


def nearest_density(knots: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends half-way between the knots, the domain's own outside, and the density between them.

    Example
    -------
    >>> nearest_density(np.array([0.0, 1.0, 2.0]), np.array([0.25, 0.5, 0.25]))
    (array([0. , 0.5, 1.5, 2. ]), array([0.5, 0.5, 0.5]))
    """
    edges = np.concatenate([knots[:1], 0.5 * (knots[1:] + knots[:-1]), knots[-1:]])
    return edges, weights / np.diff(edges)
