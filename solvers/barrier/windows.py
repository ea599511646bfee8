"""The best rows over a floor: windows of one mass, each where its mean is right.

In the coordinate of cumulative floor mass every row is E t on [alpha, alpha + width] and t outside, with
width = (1 - sum t)/(E - 1), at the alpha that gives its mean, which increases in alpha and is linear between the places
where an end of the window crosses an output's edge.

Source: derived in `unbiased.window_rows`.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..arrays import Array


class Windows:
    """The windows over a floor.

    Parameters
    ----------
    E : float
    outputs, floor : (m,) ndarray
        Increasing outputs and t > 0.

    Attributes
    ----------
    mass : (m + 1,) ndarray
        Cumulative floor.
    width, latest : float
        Of every window, and its last possible start.

    Example
    -------
    >>> import numpy as np
    >>> windows = Windows(3.0, np.array([-2.0, 2.0]), np.array([0.25, 0.25]))
    >>> windows.reach, windows.starts(np.array([-1.0, 0.0, 1.0]))
    ((-1.0, 1.0), array([0.   , 0.125, 0.25 ]))
    """

    def __init__(self, E: float, outputs: Array, floor: Array) -> None:
        self.growth, self.outputs, self.floor = E - 1, outputs, floor
        self.mass = np.concatenate([[0.0], np.cumsum(floor)])
        self.width = float(1 - self.mass[-1]) / self.growth
        self.latest = float(self.mass[-1]) - self.width

    @property
    def exist(self) -> bool:
        """Whether there are rows that sum to one."""
        return self.width > 0 and self.latest >= 0

    def sums(self, starts: Array, values: Array) -> Array:
        """sum_y P(y) h(y) of rows with windows at these starts, for values (m,) t h(y)."""
        running = np.concatenate([[0.0], np.cumsum(values)])
        inside = np.interp(starts + self.width, self.mass, running) - np.interp(starts, self.mass, running)
        return running[-1] + self.growth * inside

    def means(self, starts: Array) -> Array:
        """Of rows with windows at these starts."""
        return self.sums(starts, self.floor * self.outputs)

    @property
    def reach(self) -> tuple[float, float]:
        """The least and the largest mean of a row."""
        low, high = self.means(np.array([0.0, self.latest]))
        return float(low), float(high)

    @cached_property
    def _crossings(self) -> Array:
        """Starts between which the mean is linear."""
        return np.unique(np.clip(np.append(self.mass, self.mass - self.width), 0, self.latest))

    def starts(self, means: Array) -> Array:
        """Where the windows with these means start."""
        return np.interp(means, self.means(self._crossings), self._crossings)
