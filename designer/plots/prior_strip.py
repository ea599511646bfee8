"""A strip below a picture: how the values are distributed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..priors.prior import Prior
from .style import GREY, SHADE, SMALL, empty_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STRIP_SHARE = 0.2
"""Height of the strip over that of the picture above it."""


def figure_with_strip(width: float, height: float, share: float = STRIP_SHARE) -> tuple[Figure, Axes, Axes]:
    """Return an empty figure, its axes and a strip below them on the same values.

    Raises
    ------
    InputError
        matplotlib is not installed.
    """
    figure = empty_figure(width, height)
    axes, strip = figure.subplots(2, 1, sharex=True, height_ratios=[1.0, share])
    axes.tick_params(labelbottom=False)
    return figure, axes, strip


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
