"""From probabilities in doubles to whole numbers over 2^53: privacy exactly, sums exactly, means as near as can be.

Every output gets a least numerator t and with it a box [t, floor(L t)], L <= e^epsilon: whatever lies in its box is
private. Then the rows are independent of each other. In each, numerators are rounded output by output, the error
being carried to the next; what is left of the sum is settled backwards, and what is left of the mean by moving
units between two outputs, all within the boxes. The rounding thus gives up utility (a few units of 1.1e-16), never
privacy.
"""

from fractions import Fraction

import numpy as np

from ..errors import TableError
from .numerators import DENOMINATOR, over_one_denominator, weighted_sums

ENOUGH = Fraction(1, 10**15)
"""A bias of this share of the domain is left alone: it is a thousand times below what an exact table may have."""

SHAVED = 1e-9
"""A probability may lose this share of itself to its box: far more than rounding, far less than a broken promise."""

TRANSFERS = 50
"""Per row: each halves what is missing or empties a box; a row that needs more has hardly any room in its boxes."""


def round_rows(
    probabilities: np.ndarray, limit: Fraction, means: list[Fraction], targets: list[Fraction]
) -> np.ndarray:
    """Return numerators over 2^53 with these probabilities nearly, and these row means as nearly as possible.

    Parameters
    ----------
    probabilities : (n, m) ndarray
        Rows that sum to one; in every column the largest at most e^epsilon times the smallest.
    limit : Fraction
        At most e^epsilon: the ratio that no column will exceed.
    means : list of m Fraction
        Mean report of each output.
    targets : list of n Fraction
        Mean report wanted in each row, increasing or not; the first and the last say how wide the domain is.

    Returns
    -------
    (n, m) ndarray of int64
        Each row sums to 2^53; largest <= limit * smallest in each column.

    Raises
    ------
    TableError
        A column beyond its limit by more than rounding, or no whole numbers that sum to 2^53 within the limits.

    Example
    -------
    >>> wanted = np.array([[0.7, 0.3], [0.3, 0.7]])
    >>> made = round_rows(wanted, Fraction(7, 3), [Fraction(0), Fraction(1)], [Fraction(3, 10), Fraction(7, 10)])
    >>> (made / 2**53).round(15).tolist(), made.sum(axis=1).tolist() == [2**53] * 2
    ([[0.7, 0.3], [0.3, 0.7]], True)
    """
    order = _order(means)
    wanted = np.ascontiguousarray(probabilities.T[order]) * float(DENOMINATOR)
    least, most = boxes(wanted, limit)
    over = np.flatnonzero(wanted.max(axis=1) * (1 - SHAVED) > most + float(limit) + 1)
    if over.size:
        raise TableError(
            f"every ratio must be at most e^epsilon to be made exact, got more at output {order[over[0]]}: "
            "verify the table first"
        )
    low, high = (np.broadcast_to(ends[:, None], wanted.shape) for ends in (least, most))
    return _in_order(wanted, low, high, order, means, targets)


def round_within(
    probabilities: np.ndarray, least: np.ndarray, most: np.ndarray, means: list[Fraction], targets: list[Fraction]
) -> np.ndarray:
    """Return numerators over 2^53 as `round_rows` does, each between its own least and most (n, m).

    Raises
    ------
    TableError
        No whole numbers that sum to 2^53 within the limits.

    Example
    -------
    >>> wanted, ends = np.array([[0.7, 0.3]]), [Fraction(0), Fraction(1)]
    >>> low, high = np.array([[0, 0]]), np.array([[2**52, 2**53]])
    >>> (round_within(wanted, low, high, ends, [Fraction(3, 10)]) / 2**53).tolist()
    [[0.5, 0.5]]
    """
    order = _order(means)
    low, high = (np.ascontiguousarray(ends.T[order]) for ends in (least, most))
    wanted = np.ascontiguousarray(probabilities.T[order]) * float(DENOMINATOR)
    return _in_order(wanted, low, high, order, means, targets)


def _order(means: list[Fraction]) -> np.ndarray:
    return np.argsort([float(mean) for mean in means], kind="stable")


def _in_order(
    wanted: np.ndarray,
    least: np.ndarray,
    most: np.ndarray,
    order: np.ndarray,
    means: list[Fraction],
    targets: list[Fraction],
) -> np.ndarray:
    """Round what is wanted (m, n), outputs in the order of their means, and give them back in their own."""
    rounded = np.ascontiguousarray(_settled(_carried(wanted, least, most), least, most).T)
    places, scale = over_one_denominator([means[j] for j in order])
    near = np.array([float(means[j]) for j in order])
    enough = int(ENOUGH * abs(targets[-1] - targets[0]) * scale * DENOMINATOR)
    for i, (row, target, reached) in enumerate(zip(rounded, targets, weighted_sums(rounded, places), strict=True)):
        missing = round(target * scale * DENOMINATOR) - reached
        _move_mean(row, least[:, i], most[:, i], near, places, missing, enough, scale)
    numerators = np.empty_like(rounded)
    numerators[:, order] = rounded
    return numerators


def boxes(wanted: np.ndarray, limit: Fraction) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the largest numerator (m,) of every output, from what is wanted (m, n).

    A least numerator that is raised by one unit costs the rows at the bottom of their boxes one unit; one that is
    lowered costs those at the top `limit` units. So at large limits all are rounded up, and at small ones
    up and down in turn, so that errors of neighbouring outputs cancel. Where all that are raised are more than a row
    has, as in tables whose rows are alike, the largest gives way.

    Example
    -------
    >>> [ends.tolist() for ends in boxes(np.array([[10.4, 20.0], [10.4, 20.0]]), Fraction(2))]
    [[10, 11], [20, 22]]
    """
    smallest = wanted.min(axis=1)
    whole = np.floor(smallest)
    share = smallest - whole
    raised = share > 0 if limit > smallest.size else np.diff(np.rint(np.cumsum(share)), prepend=0.0)
    least = (whole + raised).astype(np.int64)
    least[(wanted.max(axis=1) > 0) & (least == 0)] = 1
    if (excess := int(least.sum()) - DENOMINATOR) > 0:
        least[np.argmax(least)] -= excess
    p, q = limit.as_integer_ratio()
    return least, np.array([min(p * t // q, DENOMINATOR) for t in least.tolist()], dtype=np.int64)


def _carried(wanted: np.ndarray, least: np.ndarray, most: np.ndarray) -> np.ndarray:
    """Round within the boxes, output by output, carrying each row's error to its next output."""
    # All but the carry are whole numbers up to 2^53, which doubles hold; in place, as there are many short columns.
    whole = np.floor(wanted)
    rounded, share, carry, back = (
        np.empty_like(whole),
        wanted - whole,
        np.zeros(whole.shape[1]),
        np.empty(whole.shape[1]),
    )
    for base, extra, low, high, made in zip(whole, share, least, most, rounded, strict=True):
        carry += extra
        np.rint(carry, out=made)
        made += base
        np.maximum(made, low, out=made)
        np.minimum(made, high, out=made)
        np.subtract(base, made, out=back)
        carry += back
    return rounded.astype(np.int64)


def _settled(rounded: np.ndarray, least: np.ndarray, most: np.ndarray) -> np.ndarray:
    """Give what a row lacks of 2^53 to its last outputs that have room for it."""
    missing = DENOMINATOR - rounded.sum(axis=0)
    for j in range(len(rounded) - 1, -1, -1):
        if not missing.any():
            return rounded
        step = np.clip(missing, least[j] - rounded[j], most[j] - rounded[j])
        rounded[j] += step
        missing -= step
    if missing.any():
        i = int(np.flatnonzero(missing)[0])
        raise TableError(
            f"row {i} must sum to 2^53 in whole numbers within e^epsilon, got {missing[i]} too few: "
            "raise epsilon a hair"
        )
    return rounded


def _move_mean(
    row: np.ndarray,
    least: np.ndarray,
    most: np.ndarray,
    near: np.ndarray,
    places: list[int],
    missing: int,
    enough: int,
    scale: int,
) -> None:
    """Move units of one row between outputs, in place, until at most `enough` is missing or nothing helps.

    `places` are the outputs' means times `scale`, increasing, `near` the same means as doubles; `missing` and
    `enough` are in units of 1 / (scale 2^53).
    """
    for _ in range(TRANSFERS):
        if abs(missing) <= enough:
            return
        forward = 1 if missing > 0 else -1
        # A unit over twice the distance that is missing would only turn it round, for ever.
        pair = _useful_pair(row - least, most - row, near, float(np.nextafter(2 * abs(missing) / scale, 0.0)), forward)
        if pair is None:
            return
        giver, taker = pair
        gap = places[taker] - places[giver]
        units = max(1, (2 * missing + gap) // (2 * gap))  # to the nearest, whichever sign both have
        units = min(units, int(row[giver] - least[giver]), int(most[taker] - row[taker]))
        row[giver] -= units
        row[taker] += units
        missing -= units * gap


def _useful_pair(
    spare: np.ndarray, room: np.ndarray, near: np.ndarray, reach: float, forward: int
) -> tuple[int, int] | None:
    """Return the outputs to take a unit from and to give it to, at most `reach` apart and in that direction.

    The widest pair of all where it is near enough; else the widest that has the giver with most to spare or the
    taker with most room.
    """
    place = forward * near
    givers, takers = np.flatnonzero(spare)[::forward], np.flatnonzero(room)[::forward]
    if not (givers.size and takers.size):
        return None
    giver, taker = givers[0], takers[-1]
    if place[taker] - place[giver] > reach:
        rich, roomy = givers[np.argmax(spare[givers])], takers[np.argmax(room[takers])]
        last = np.searchsorted(place[takers], place[rich] + reach, side="right") - 1
        first = np.searchsorted(place[givers], place[roomy] - reach)
        pairs = [(rich, takers[max(last, 0)]), (givers[min(first, givers.size - 1)], roomy)]
        inside = [pair for pair in pairs if 0 < place[pair[1]] - place[pair[0]] <= reach]
        if not inside:
            return None
        giver, taker = max(inside, key=lambda pair: place[pair[1]] - place[pair[0]])
    return (int(giver), int(taker)) if place[taker] > place[giver] else None
