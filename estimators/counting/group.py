"""The users of one set of services, counted by what they reported."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...mechanisms.errors import InputError
from .reported_sums import ReportedSums
from .user_numbers import whole_counts, whole_numbers

NOT_REPORTED = -1
"""In place of an output: this user sent no report to this service."""


@dataclass(frozen=True, eq=False)
class ReportGroup:
    """The users who reported to the same services, counted by what they reported.

    Parameters
    ----------
    services : tuple of int
        Positions of their J services, increasing.
    outputs : (R, J) ndarray of int32
        The distinct combinations of outputs seen, in lexicographic order.
    counts : (R,) ndarray of int64
        Users with each combination, at least one.
    sums : ReportedSums, optional
        Sums over the reports of the users with each combination, for averages of raw reports.

    Raises
    ------
    InputError
        Counts or outputs that are no integers, other shapes, another order, outputs seen by nobody, too many users.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import ReportGroup
    >>> ReportGroup((0, 2), np.array([[0, 1], [1, 0]]), np.array([5, 7])).n_users
    12
    """

    services: tuple[int, ...]
    outputs: np.ndarray
    counts: np.ndarray
    sums: ReportedSums | None = None

    def __post_init__(self) -> None:
        require_positions(self.services)
        outputs = whole_numbers("outputs", self.outputs, np.int32)
        counts = whole_counts("counts", self.counts, least=1)
        if outputs.shape != (counts.size, len(self.services)) or counts.ndim != 1 or not counts.size:
            raise InputError(
                f"a group must have a row of outputs to {len(self.services)} services for each of its counts, "
                f"got shapes {outputs.shape} and {counts.shape}"
            )
        if outputs.min() < 0 or not increasing_rows(outputs):
            raise InputError(
                "a group's outputs must be different rows from 0 on, in lexicographic order: make them with count_rows"
            )
        if self.sums is not None and self.sums.first.shape != outputs.shape:
            raise InputError(f"a group's sums must be of shape {outputs.shape}, got {self.sums.first.shape}")
        object.__setattr__(self, "outputs", outputs)
        object.__setattr__(self, "counts", counts)

    @property
    def n_users(self) -> int:
        """Number of users in the group."""
        return int(self.counts.sum())


def groups_of(outputs: np.ndarray, counts: np.ndarray, sums: ReportedSums | None = None) -> tuple[ReportGroup, ...]:
    """Split distinct rows by who was reported to.

    Parameters
    ----------
    outputs : (R, J) ndarray of int32
        Distinct, in lexicographic order, -1 where there is no report.
    counts : (R,) ndarray of int64
        Users with each row.
    sums : ReportedSums, optional
        Of the rows and all J services.

    Returns
    -------
    tuple of ReportGroup
        In the order that `ReportCounts` asks for; rows without any report are left out.

    Example
    -------
    >>> groups = groups_of(np.array([[-1, 3], [0, 2]], dtype=np.int32), np.array([7, 1]))
    >>> [(group.services, group.outputs.tolist(), group.counts.tolist()) for group in groups]
    [((0, 1), [[0, 2]], [1]), ((1,), [[3]], [7])]
    """
    sets = np.zeros(len(outputs), dtype=np.int64)
    for j, column in enumerate(outputs.T):
        sets |= (column != NOT_REPORTED).astype(np.int64) << j
    order = np.argsort(sets, kind="stable")
    ends = np.flatnonzero(np.diff(sets[order])) + 1
    groups = []
    for rows in np.split(order, ends):
        services = tuple(j for j in range(outputs.shape[1]) if rows.size and sets[rows[0]] >> j & 1)
        if services:
            mine = None if sums is None else sums.chosen(rows, services)
            groups.append(ReportGroup(services, outputs[rows][:, list(services)], counts[rows], mine))
    return tuple(sorted(groups, key=lambda group: group.services))


def require_positions(services: tuple[int, ...]) -> None:
    """Raise InputError unless services are at least one position, increasing.

    Example
    -------
    >>> require_positions((0, 2))
    """
    if not services or min(services) < 0 or any(a >= b for a, b in pairwise(services)):
        raise InputError(f"a group's services must be increasing positions from 0 on, got {services}")


def increasing_rows(rows: np.ndarray) -> bool:
    """Return whether each row comes after the one before it in lexicographic order.

    Example
    -------
    >>> increasing_rows(np.array([[0, 2], [1, 0]]))
    True
    """
    same = np.ones(len(rows) - 1, dtype=bool)
    later = np.zeros(len(rows) - 1, dtype=bool)
    for column in rows.T:
        step = np.diff(column)
        later |= same & (step > 0)
        same &= step == 0
    return bool(later.all())
