"""Weights on the simplex that trade a functional against a misfit, followed as the functional counts for more."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array, Flags

RIDGE = 1e-12
"""Added to the misfit's second derivative, relative to its largest entry: weights that nothing tells apart would leave
systems without a solution. It moves no bound, since those are proved from where the weights end."""

FAVOUR = 1e-4
"""What all the weight at one component takes off the misfit: of weights that explain the data alike it chooses some of
which few are positive. Bounds are larger by a hundred-thousandth of a functional's range for it."""

GOLDEN = (5.0**0.5 - 1.0) / 2.0
"""Its multiples without their whole parts are all different: so much of the favour components have that are alike."""

DOWN = 1e-12
"""Least slope that takes a slack to zero: below it is rounding."""

FAR = 1e9
"""A tau at which nothing but the functional counts, of the order of one as it is: a path that no longer moves ends."""

NEAR = 1e-8
"""Differences of tau that are rounding."""

MOST_STEPS = 1000
"""Some ten are needed; what has not arrived then has a bound that is larger than need be."""

BLOCK_ENTRIES = 2**22
"""Numbers of one block of systems at once: 32 megabytes."""


class Problem(NamedTuple):
    r"""\|B w - c\|^2 / 2 as a function of w, up to a constant: w^T G w / 2 - b . w, with a ridge and a favour.

    Parameters
    ----------
    gram : (K, K) ndarray
        G = B^T B.
    pull : (K,) ndarray
        b = B^T c.
    first : int
        The component that explains the data best alone, which is favoured.
    square : float
        c . c.
    """

    gram: Array
    pull: Array
    first: int
    square: float

    @classmethod
    def of(cls, matrix: Array, centre: Array) -> Problem:
        """Return that of B and c."""
        gram = matrix.T @ matrix
        np.fill_diagonal(gram, np.diag(gram) + RIDGE * max(float(np.abs(gram).max()), np.finfo(float).tiny))
        pull = matrix.T @ centre
        first = int((np.diag(gram) / 2 - pull).argmin())
        pull += FAVOUR * (np.arange(pull.size) * GOLDEN % 1.0) / 2.0
        pull[first] += FAVOUR
        return cls(gram, pull, first, float(centre @ centre))


class Followed(NamedTuple):
    """Where the paths ended.

    Parameters
    ----------
    weights : (F, K) ndarray
    tau : (F,) ndarray
    """

    weights: Array
    tau: Array


class _Line(NamedTuple):
    """Weights w + t v at t after now, G times both, and by how much gradients exceed those of active ones, s + t d."""

    w: Array
    v: Array
    pulled: Array
    turned: Array
    s: Array
    d: Array


def best_weights(problem: Problem) -> Array:
    """Return the weights (K,) of the least misfit, by a path along which the first component loses its favour.

    Example
    -------
    >>> best_weights(Problem.of(np.eye(3), np.array([0.75, 0.25, -1.0]))).round(3)
    array([0.75, 0.25, 0.  ])
    """
    first = problem.first
    away = -1.0 * (np.arange(problem.pull.size) == first)
    slack = problem.gram[first] - problem.pull
    alone = 2.0 * min(0.0, float(slack.min() - slack[first])) - 1.0
    return follow(problem, away[None], away < 0, alone, limit=0.0).weights[0]


def follow(
    problem: Problem, functionals: Array, active: Flags, tau: float, *, radius: float = np.inf, limit: float = FAR
) -> Followed:
    r"""Follow w that minimises w^T G w / 2 - b . w - tau a . w on the simplex, from a tau upwards, for several a.

    Weights are straight in tau as long as the same ones are positive: a path is found piece by piece, a component
    entering or leaving between two. It ends where \|B w - c\| is `radius`, or at `limit`.

    Parameters
    ----------
    problem : Problem
    functionals : (F, K) ndarray
        One a each row, of the order of one.
    active : (K,) ndarray of bool
        The positive weights at the start, which is the same for all.
    tau : float
        At the start.

    Source: Osborne, Presnell and Turlach (2000), "A new approach to variable selection in least squares problems", for
    such paths; Best (1996), "An algorithm for the solution of the parametric quadratic programming problem".

    Example
    -------
    >>> problem = Problem.of(np.eye(2), np.array([0.5, 0.5]))
    >>> found = follow(problem, np.eye(2), np.array([True, True]), 0.0, radius=0.1)
    >>> found.weights.round(3)
    array([[0.571, 0.429],
           [0.429, 0.571]])
    """
    many, size = functionals.shape
    weights, ends = np.zeros((many, size)), np.full(many, tau)
    each = max(1, BLOCK_ENTRIES // (4 * size + (int(active.sum()) + 8) ** 2))
    for at in range(0, many, each):
        some = slice(at, at + each)
        weights[some], ends[some] = _followed(problem, functionals[some], active, tau, radius, limit)
    return Followed(weights, ends)


def _followed(problem: Problem, functionals: Array, active: Flags, tau: float, radius: float, limit: float) -> Followed:
    many = len(functionals)
    weights, ends = np.zeros(functionals.shape), np.full(many, tau)
    on, now, going = np.tile(active, (many, 1)), ends.copy(), np.arange(many)
    for _ in range(MOST_STEPS):
        line = _line(problem, on, functionals[going], now)
        row = np.arange(going.size)
        with np.errstate(divide="ignore", invalid="ignore"):
            left = np.where(on & (line.v < 0), -line.w / line.v, np.inf)
            come = np.where(~on & (line.d < -DOWN), -line.s / line.d, np.inf)
        due = come <= NEAR * np.maximum(1.0, now)[:, None]  # of what comes at once the steepest, of the rest the next
        leaving, coming = left.argmin(axis=1), np.where(due, line.d - FAR, come).argmin(axis=1)
        turn = np.maximum(np.minimum(left[row, leaving], come[row, coming]), 0.0)
        end = np.maximum(np.minimum(_edge(problem, line, radius), limit - now), 0.0)
        on[row, np.where(left[row, leaving] <= come[row, coming], leaving, coming)] ^= True
        step, more = np.minimum(turn, end), turn < end
        now = now + step
        weights[going], ends[going] = line.w + step[:, None] * line.v, now
        on, now, going = on[more], now[more], going[more]
        if not going.size:
            break
    return Followed(weights, ends)


def _line(problem: Problem, on: Flags, a: Array, now: Array) -> _Line:
    """The piece from tau now on which these components are positive: G w + nu = b + tau a on them, w of sum one."""
    size, row = int(on.sum(axis=1).max()), np.arange(len(on))[:, None]
    place = np.argsort(~on, axis=1, kind="stable")[:, :size]
    real = np.take_along_axis(on, place, axis=1)
    system = np.zeros((len(on), size + 1, size + 1))
    system[:, :size, :size] = problem.gram[place[:, :, None], place[:, None, :]]
    system[:, :size, :size] *= real[:, :, None] & real[:, None, :]
    system[:, np.arange(size), np.arange(size)] += ~real
    system[:, :size, size] = system[:, size, :size] = real
    right = np.zeros((len(on), size + 1, 2))
    right[:, :size, 1] = real * np.take_along_axis(a, place, axis=1)
    right[:, :size, 0], right[:, size, 0] = real * problem.pull[place] + now[:, None] * right[:, :size, 1], 1.0
    solved = np.linalg.solve(system, right)
    found = np.zeros((2, *on.shape))
    found[:, row, place] = np.moveaxis(solved[:, :size] * real[:, :, None], 2, 0)
    w, v, nu = found[0], found[1], solved[:, size]
    pulled, turned = w @ problem.gram, v @ problem.gram
    excess = pulled + nu[:, :1] - problem.pull - now[:, None] * a
    return _Line(w, v, pulled, turned, excess, turned + nu[:, 1:] - a)


def _edge(problem: Problem, line: _Line, radius: float) -> Array:
    r"""How far it is to where \|B w - c\| has grown to the radius: infinitely where it no longer grows."""
    slope, bend = ((line.pulled - problem.pull) * line.v).sum(axis=1), (line.turned * line.v).sum(axis=1)
    square = problem.square + ((line.pulled - 2.0 * problem.pull) * line.w).sum(axis=1) - radius**2
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (np.sqrt(np.maximum(slope**2 - bend * square, 0.0)) - slope) / bend
    return np.where(bend > 0, found, np.inf)
