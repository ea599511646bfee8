r"""Rows over one floor, told apart by a whole number each: where the window begins in which an output is raised.

With a floor t_j of every output and D = 2^53, let e_j be what the limit on ratios lets an output have beyond it, and

    T_j = t_1 + ... + t_j,    E_j = e_1 + ... + e_j,    width W = D - T_m.

A row that starts at s, 0 <= s <= E_m - W, gives output j the numerator

    t_j + |[E_{j-1}, E_j] and [s, s + W]|,

its floor and the length that its own part of the line of the e's has in common with the window. So rows sum to D and
every entry lies in [t_j, t_j + e_j], whatever s is: at most one output at either end of a window is raised in part.
Running sums of a row are T_j + min(max(E_j - s, 0), W), so its reports are found without the row. Moving s by one moves
one unit from the output at one end to that at the other, and the mean with it, never downwards.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from operator import mul

import numpy as np

from ..errors import TableError
from ..integers.exponential import SCALE
from ..integers.numerators import DENOMINATOR

MOST_RAISED = 2**62
"""Of the sum of all e's, so that it and a random number fit 64 bits. An optimal table has less than 20 times 2^53."""


BESIDE = DENOMINATOR + 1
"""What is added to sums that are searched beside those up to 2^53."""


def extras(floor: Sequence[int], ratio: int) -> list[int]:
    """Return floor((ratio / 2^128 - 1) t) for each t: what may be added so that no ratio is above ratio / 2^128.

    Example
    -------
    >>> extras([10, 3], 5 * 2**127)
    [15, 4]
    """
    return [t * (ratio - SCALE) // SCALE for t in floor]


class Windows:
    """The rows over a floor.

    Parameters
    ----------
    floor : (m,) ndarray of int64
        t, at least 1 each.
    ratio : int
        E 2^128, above 2^128.

    Attributes
    ----------
    floor : (m,) ndarray of int64
    below, raised : (m,) ndarray of int64
        T and E, the running sums.
    width, latest : int
        W, and the largest start E_m - W.

    Raises
    ------
    TableError
        Floors that no window fills up to 2^53, or that fill more.

    Example
    -------
    >>> windows = Windows(np.array([2**51, 2**51]), 3 * 2**128)
    >>> windows.numerators(np.array([0, 2**51, 2**52])) / 2**53
    array([[0.75, 0.25],
           [0.5 , 0.5 ],
           [0.25, 0.75]])
    """

    def __init__(self, floor: np.ndarray, ratio: int) -> None:
        self.floor, floors = floor, floor.tolist()
        self.extra = extras(floors, ratio)
        self.width = DENOMINATOR - sum(floors)
        self.latest = sum(self.extra) - self.width
        if self.width < 0:
            raise TableError(f"the floor must sum to at most 2^53, got {-self.width} more")
        if self.latest < 0:
            raise TableError(f"the floor times the ratio must reach 2^53, got {-self.latest} less")
        if self.latest > MOST_RAISED - self.width:
            raise TableError(f"the floor times the ratio must be at most 2^62, got {self.latest + self.width}")
        self.below, self.raised = (np.cumsum(np.array(part, dtype=np.int64)) for part in (floors, self.extra))
        self._sums = np.r_[self.below, self.below + self.raised + BESIDE]

    def numerators(self, starts: np.ndarray) -> np.ndarray:
        """Return the numerators (k, m) of the rows that start at these (k,)."""
        running = self.below + np.clip(self.raised - starts[:, None], 0, self.width)
        return np.diff(running, axis=1, prepend=0)

    def borders(self, starts: np.ndarray) -> np.ndarray:
        """Return for each row (k,) what the outputs before its window sum to, and those up to its end: (2, k).

        Below the first, the row's running sums are T_j; from the second on T_j + W; between T_j + E_j - s.
        """
        below = np.r_[0, self.below]
        first = np.searchsorted(self.raised, starts, side="right")
        last = np.searchsorted(self.raised, starts + self.width)
        return np.stack([below[first], below[last + 1] + self.width])

    def locate(self, units: np.ndarray, starts: np.ndarray, borders: np.ndarray) -> np.ndarray:
        """Return the output (N,) that each random number (N,) below 2^53 draws from the row that starts there (N,).

        It is the first whose running sum is above the number; `borders` (2, N) are those of the rows.
        """
        before, after = units < borders[0], units >= borders[1]
        keys = np.where(before, units, np.where(after, units - self.width, units + starts + BESIDE))
        places = np.searchsorted(self._sums, keys, side="right")
        return np.where(before | after, places, places - self.floor.size)

    def spans(self, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the least and the largest numerator (m,) of each output in the rows that start at these (k,).

        What an output's part of the line has in common with a window rises with the start, then stands, then falls: it
        is least at the first or the last start, and largest at one of the two around where it begins to fall.
        """
        starts = np.sort(starts)
        ends, begins = self.raised, self.raised - np.array(self.extra, dtype=np.int64)

        def common(start: np.ndarray) -> np.ndarray:
            return np.maximum(np.minimum(ends, start + self.width) - np.maximum(begins, start), 0)

        beyond = np.searchsorted(starts, np.maximum(begins, ends - self.width), side="right")
        before, after = starts[np.maximum(beyond - 1, 0)], starts[np.minimum(beyond, starts.size - 1)]
        least = np.minimum(common(starts[:1]), common(starts[-1:]))
        return self.floor + least, self.floor + np.maximum(common(after), common(before))


class Moments:
    """Exact sums of values over the rows of a floor: the numerators of output j count values[j] each.

    Example
    -------
    >>> Moments(Windows(np.array([2**51, 2**51]), 3 * 2**128), [-1, 1]).at([0, 2**51]) == [-(2**52), 0]
    True
    """

    def __init__(self, windows: Windows, values: Sequence[int]) -> None:
        self.windows, self.values = windows, values
        self._ends = [0, *windows.raised.tolist()]
        self._base = sum(map(mul, windows.floor.tolist(), values))
        self._sums = [0, *accumulate(map(mul, windows.extra, values))]

    def at(self, starts: Sequence[int]) -> list[int]:
        """Return the sum of each row that starts there."""
        return [self._base + self._until(start + self.windows.width) - self._until(start) for start in starts]

    def _until(self, place: int) -> int:
        """The values' sum over the line of the e's from its beginning."""
        j = min(bisect_right(self._ends, place), len(self.values)) - 1
        return self._sums[j] + (place - self._ends[j]) * self.values[j]

    def nearest(self, targets: Sequence[Fraction]) -> list[int]:
        """Return the start of the row whose sum is nearest to each target, for values that increase."""
        places, sums = self._corners
        found = []
        for target in targets:
            k = min(max(bisect_left(sums, target), 1), len(places) - 1)
            run, rise = places[k] - places[k - 1], sums[k] - sums[k - 1]
            steps = round((target - sums[k - 1]) * run / rise) if rise else 0
            found.append(places[k - 1] + min(max(steps, 0), run))
        return found

    @cached_property
    def _corners(self) -> tuple[list[int], list[int]]:
        """The starts between which the sums are straight lines, at least two, and the sums there."""
        width, latest = self.windows.width, self.windows.latest
        ends = {0, latest} | {end - shift for end in self._ends for shift in (0, width) if 0 < end - shift < latest}
        places = sorted(ends) if latest else [0, 0]
        return places, self.at(places)
