"""One function for each kind of privacy: it returns the cone, as few rows as it takes, or as a tree where it is one."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from ..arrays import Array
from .cone import Cone
from .tree import Tree


def pure(values: int, epsilon: float) -> Cone:
    """Return the cone of pure privacy: any two values differ by at most e^epsilon. A star.

    Parameters
    ----------
    values : int
        At least two.
    epsilon : float

    Returns
    -------
    cone : Cone

    Raises
    ------
    InputError
        A number is out of range.

    Example
    -------
    >>> from optldp.solvers.cone import pure
    >>> cone = pure(100, 1.0)
    >>> len(cone.logs), cone.closed.max()
    (200, np.float64(1.0))
    """
    if values < 2:
        raise InputError(f"there must be at least two values, got {values!r}")
    return _star(np.full(values, _positive(epsilon) / 2))


def line(values: ArrayLike, epsilon: float) -> Cone:
    """Return the cone of privacy by distance on a line: log-ratios of epsilon |x - x'|. A chain of neighbours.

    Parameters
    ----------
    values : (n,) ndarray
        In increasing order; repeated values must have the same row.
    epsilon : float
        Per unit of the values.

    Returns
    -------
    cone : Cone

    Raises
    ------
    InputError
        Values that decrease or are all one, a number out of range.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.cone import line
    >>> cone = line(np.linspace(0, 1, 11), 4.0)
    >>> len(cone.logs), round(cone.closed[0, 10], 9)
    (20, np.float64(4.0))
    """
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or not np.isfinite(x).all() or (np.diff(x) < 0).any():
        raise InputError(f"values on a line must be numbers that nowhere decrease, got {values!r:.60}")
    apart, places = np.unique(x, return_inverse=True)
    if len(apart) < 2:
        raise InputError(f"there must be at least two different values, got {values!r:.60}")
    steps = _positive(epsilon) * np.diff(apart)
    n = len(apart)
    root = n // 2  # half the depth, and half the largest log-ratio from the root
    v = np.arange(n)
    parents = np.where(v < root, v + 1, v - 1)
    parents[root] = -1
    edge = np.r_[steps[:root], 0.0, steps[root:]]
    return Cone.of_tree(Tree(parents, edge, edge), places.astype(np.intp))


def circle(values: ArrayLike, period: float, epsilon: float) -> Cone:
    """Return the cone of privacy by distance on a circle: epsilon times the shorter way round. Rows of neighbours.

    Parameters
    ----------
    values : (n,) ndarray
    period : float
        Period after which values repeat.
    epsilon : float
        Per unit of the values.

    Returns
    -------
    cone : Cone

    Raises
    ------
    InputError
        A number is out of range.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.cone import circle
    >>> cone = circle(np.arange(24), 24, 0.5)
    >>> len(cone.logs), cone.closed[0, 23], cone.closed[0, 12]
    (48, np.float64(0.5), np.float64(6.0))
    """
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or not np.isfinite(x).all():
        raise InputError(f"values on a circle must be numbers, got {values!r:.60}")
    if not 0 < period < math.inf:
        raise InputError(f"period must be positive and finite, got {period!r}")
    way = np.mod(x[:, None] - x, period)
    return Cone.of(_positive(epsilon) * np.minimum(way, np.mod(-way, period)))


def value_budgets(epsilons: ArrayLike, rule: Literal["average", "min"] = "average") -> Cone:
    """Return the cone of privacy by value: for two values the average of their epsilons, or the smaller one.

    With averages it is a star with edges of epsilon / 2. With the smaller one it is no tree, and paths through the
    value with the smallest epsilon shorten some pairs to at most twice that epsilon.

    Parameters
    ----------
    epsilons : (n,) ndarray
        Of each value.
    rule : {"average", "min"}

    Returns
    -------
    cone : Cone

    Raises
    ------
    InputError
        A number is out of range, or an unknown rule.

    Example
    -------
    >>> from optldp.solvers.cone import value_budgets
    >>> value_budgets([1.0, 4.0, 6.0]).closed[1, 2], value_budgets([1.0, 4.0, 6.0], rule="min").closed[1, 2]
    (np.float64(5.0), np.float64(2.0))
    """
    e = np.asarray(epsilons, dtype=np.float64)
    if e.ndim != 1 or len(e) < 2 or not ((e > 0) & np.isfinite(e)).all():
        raise InputError(f"epsilons of values must be at least two positive, finite numbers, got {epsilons!r:.60}")
    if rule == "average":
        return _star(e / 2)
    if rule == "min":
        return Cone.of(np.minimum(e[:, None], e))
    raise InputError(f"rule must be 'average' or 'min', got {rule!r}")


def blocks(labels: ArrayLike, within: float, across: float) -> Cone:
    """Return the cone of privacy by blocks: log-ratios of at most `within` in a block, and `across` between blocks. A
    star of stars.

    Parameters
    ----------
    labels : (n,) array_like
        The block of each value.
    within, across : float
        If `across` is smaller, paths through another block may be shorter.

    Returns
    -------
    cone : Cone

    Raises
    ------
    InputError
        A number is out of range.

    Example
    -------
    >>> from optldp.solvers.cone import blocks
    >>> cone = blocks(["a", "a", "b", "b"], within=1.0, across=3.0)
    >>> cone.closed[0].round(9).tolist(), len(cone.logs)
    ([0.0, 1.0, 3.0, 3.0], 12)
    """
    names, block = np.unique(np.asarray(labels), return_inverse=True)
    n, b = block.size, len(names)
    if n < 2 or block.ndim != 1:
        raise InputError(f"labels must name the block of each of at least two values, got {labels!r:.60}")
    within, across = _positive(within, "within"), _positive(across, "across")
    if b == 1:
        return pure(n, within)
    if b == n:
        return pure(n, across)
    if across <= within:  # the edges of a star of stars would be zero, or negative
        return Cone.of(np.where(block[:, None] == block, within, across))
    edge = np.r_[np.full(n, within / 2), np.full(b, (across - within) / 2), 0.0]
    return Cone.of_tree(Tree(np.r_[n + block, np.full(b, n + b), -1], edge, edge), np.arange(n))


def sensitive(flags: ArrayLike, epsilon: float) -> Cone:
    """Return the cone of one-sided privacy: every value gives each report of a sensitive value almost as often.

    Other values may be revealed: the log-ratio of values i and j is limited to epsilon only if i is sensitive. The cone
    is a star, whose edges to values that are not sensitive have one direction.

    Parameters
    ----------
    flags : (n,) ndarray of bool
        Whether each value is sensitive; some must be, and some not.
    epsilon : float

    Returns
    -------
    cone : Cone

    Raises
    ------
    InputError
        A subset that is empty or everything, a number out of range.

    Source: Doudalis, Kotsogiannis, Haney, Machanavajjhala and Mehrotra (2020), "One-sided differential privacy".

    Example
    -------
    >>> from optldp.solvers.cone import sensitive
    >>> sensitive([True, True, False], 1.0).closed
    array([[ 0.,  1.,  1.],
           [ 1.,  0.,  1.],
           [inf, inf,  0.]])
    """
    told = np.asarray(flags)
    if told.ndim != 1 or told.dtype != bool or told.all() or not told.any():
        raise InputError(f"some values must be sensitive and some not, got {flags!r:.60}: use pure privacy, or none")
    half = np.full(told.size, _positive(epsilon) / 2)
    return _star(half, np.where(told, half, np.inf))


def ratios(matrix: ArrayLike) -> Cone:
    """Return the cone of any log-ratios: of points and their distances, of a graph's paths, or of any matrix.

    Parameters
    ----------
    matrix : (n, n) ndarray
        Log-ratios: P(y | i) <= e^matrix_ij P(y | j); inf where nothing is promised. It need not be symmetric or closed:
        `closed` of the cone holds the final promise.

    Returns
    -------
    cone : Cone

    Raises
    ------
    InputError
        The matrix is not square, has negative entries, or makes values alike by a cycle of zeros.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.cone import ratios
    >>> points = np.array([[0, 0], [3, 4], [6, 8]])
    >>> ratios(np.linalg.norm(points[:, None] - points, axis=2)).closed[0]
    array([ 0.,  5., 10.])
    """
    return Cone.of(matrix)


def _star(down: Array, up: Array | None = None) -> Cone:
    """Return the cone of values around one node of no value."""
    n = len(down)
    edges = np.r_[down if up is None else up, 0.0], np.r_[down, 0.0]
    return Cone.of_tree(Tree(np.r_[np.full(n, n), -1], *edges), np.arange(n))


def _positive(number: float, name: str = "epsilon") -> float:
    if not 0 < number < math.inf:
        raise InputError(f"{name} must be positive and finite, got {number!r}")
    return float(number)
