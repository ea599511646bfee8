"""Guide tables: the place of a number among increasing edges, found in a step or two however many edges there are.

Numbers and edges are sorted into the same buckets by a function that never falls.  So edges in lower buckets than a
number's are below it and edges in higher ones above it, whatever the function rounds, and only those in its own bucket
are compared with it: the answer is `numpy.searchsorted`'s to the last place.

Source: Chen and Asau (1974); Devroye (1986), Non-Uniform Random Variate Generation, section III.2.4.
"""

import numpy as np

BUCKETS_AN_EDGE = 4
"""So that a bucket seldom has two edges."""

MOST_BUCKETS = 2**22
"""Of all rows together: 16 megabytes."""

MOST_STEPS = 3
"""Edges of a bucket that all numbers are compared with; those in fuller ones are searched for by halving."""


def places_among(
    edges: np.ndarray, values: np.ndarray, *, keys: tuple[np.ndarray, np.ndarray] | None = None
) -> np.ndarray:
    """Return how many edges are at or below each value (N,), as ``searchsorted(edges, values, side="right")`` does.

    Parameters
    ----------
    edges : (m,) ndarray of float
        Increasing, m >= 1.
    values : (N,) ndarray of float
        The answer for NaN is any.
    keys : two ndarray of int64, optional
        What to compare instead, in the same order: of the edges and of the values.

    Example
    -------
    >>> places_among(np.array([0.0, 1.0, 2.0]), np.array([-1.0, 1.0, 1.5, 7.0])).tolist()
    [0, 2, 2, 3]
    """
    sought, among = (values, edges) if keys is None else (keys[1], keys[0])
    low, width = edges[0], edges[-1] - edges[0]
    n_buckets = BUCKETS_AN_EDGE * edges.size
    with np.errstate(all="ignore"):
        scale = n_buckets / width
    if values.size < n_buckets or not 0 < scale < np.inf:
        return np.searchsorted(among, sought, side="right")

    def bucket(numbers: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            position = (numbers - low) * scale
        return np.fmin(np.fmax(position, 0.0), n_buckets - 1.0).astype(np.int32)  # NaN, too, has a bucket

    starts, fullest = _starts(bucket(edges)[None], n_buckets)
    of_value = bucket(values)
    places = starts[0][of_value]
    padded = np.append(among, np.nan if keys is None else np.iinfo(np.int64).max)  # above all
    for _ in range(min(fullest, MOST_STEPS)):
        places += padded[places] <= sought
    if fullest > MOST_STEPS:
        crowded = np.flatnonzero(np.diff(starts[0], append=edges.size)[of_value] > MOST_STEPS)
        places[crowded] = np.searchsorted(among, sought[crowded], side="right")
    return places


def row_places(cumulative: np.ndarray, rows: np.ndarray, uniform: np.ndarray) -> np.ndarray | None:
    """Return the first place (N,) in each row whose running sum is above the number; None if a guide is not worth it.

    Parameters
    ----------
    cumulative : (n, m) ndarray of int64
        Running sums of whole numbers, of which the last of every row is the same power of two.
    rows : (N,) ndarray of int
    uniform : (N,) ndarray of int64
        From 0 on and below that power.

    Example
    -------
    >>> rows = np.repeat([0, 1], 8)
    >>> row_places(np.array([[1, 1, 4], [0, 2, 4]]), rows, np.tile(np.arange(4), 4)).tolist()
    [0, 2, 2, 2, 0, 2, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2]
    """
    n, m = cumulative.shape
    total = int(cumulative[0, -1])
    bits = min((BUCKETS_AN_EDGE * m - 1).bit_length(), total.bit_length() - 1, (MOST_BUCKETS // n).bit_length() - 1)
    if bits < 1 or n << bits > rows.size or total & (total - 1) or (cumulative[:, -1] != total).any():
        return None
    shift = total.bit_length() - 1 - bits
    starts, fullest = _starts(cumulative >> shift, (1 << bits) + 1)
    found = starts.ravel()[rows * starts.shape[1] + (uniform >> shift)]
    places, flat = found + rows * m, cumulative.ravel()
    for _ in range(min(fullest, MOST_STEPS)):
        places += flat[places] <= uniform  # the last of a row is above all: nobody leaves theirs
    places -= rows * m
    if fullest > MOST_STEPS:
        _halve(cumulative, rows, uniform, places, starts, shift)
    return places


def _halve(
    cumulative: np.ndarray, rows: np.ndarray, uniform: np.ndarray, places: np.ndarray, starts: np.ndarray, shift: int
) -> None:
    """Search by halving for those whose bucket is full; rows come one after the other."""
    full = np.diff(starts, axis=1, append=0) > MOST_STEPS
    crowded = np.flatnonzero(full.ravel()[rows * starts.shape[1] + (uniform >> shift)])
    ends = np.flatnonzero(np.diff(rows[crowded], append=-1)) + 1
    for group in np.split(crowded, ends[:-1]) if crowded.size else []:
        places[group] = np.searchsorted(cumulative[rows[group[0]]], uniform[group], side="right")


def _starts(buckets: np.ndarray, n_buckets: int) -> tuple[np.ndarray, int]:
    """Return how many edges (n, K) of each row lie in lower buckets, and how many the fullest holds."""
    n = len(buckets)
    flat = (buckets + np.arange(n)[:, None] * n_buckets).ravel()
    held = np.bincount(flat, minlength=n * n_buckets).reshape(n, n_buckets)
    return np.cumsum(held, axis=1) - held, int(held.max())
