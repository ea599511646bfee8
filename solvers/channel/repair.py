r"""Any solver's table made one that keeps its promise, with rows of sum one and, if asked, of vanishing deviations.

Columns are first raised into the cone. What rows then lack of their sums and of their deviations is given to few
columns: to the largest one, or for unbiased reports to two, z and z', which can correct both. (Of several deviations
only sums are mended so, and what a solver left of the others must be rounding.) That would leave the cone
again, so the same columns also get a small share of a table that is strictly inside: of the one that reports the
largest alone, or of the unbiased one that reports z and z' alone. The share is the least with which

    share base_i + lack_i <= e^D_ij (share base_j + lack_j),

and all is divided by 1 + share, so that sums and deviations are right whatever the share.
"""

from __future__ import annotations

import numpy as np

from ...mechanisms.errors import SolverError
from ..arrays import Array, Indices
from ..cone import Cone
from .channel_program import ChannelProgram

UNBIASED = 1e-9
"""What reports may be off their values on average, as a share of the largest deviation."""

ROOM = 2.0
"""Times the least share of the table inside: what it takes is rounded, too."""

USED = 1e-9
"""Probability from which on an output counts as used."""

MOST = 1e-3
"""The largest share of the table inside, and what rows may lack: a solver that leaves more has found nothing."""


def repaired(program: ChannelProgram, table: Array, most: float = MOST) -> Array:
    """Return a table (n, m) near the given one with columns in the cone and rows right, changed by `most` at most.

    Raises
    ------
    SolverError
        Rows lack too much, or the outputs leave no room for unbiased reports.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.cone import pure
    >>> program = ChannelProgram(pure(2, np.log(3)), np.array([0.5, 0.5]), 1 - np.eye(2))
    >>> table = repaired(program, np.array([[0.7502, 0.25], [0.25, 0.75]]))
    >>> table.sum(1), program.cone.holds(table)
    (array([1., 1.]), True)
    """
    raised = program.cone.raised(np.maximum(table, 0.0))
    for columns in _places(program, raised):
        base, lack = _base(program, columns), _lack(program, raised, columns)
        share = ROOM * max(_share(program.cone, base[:, k], lack[:, k]) for k in range(len(columns)))
        if share <= most and np.abs(lack).max() <= most:
            mended = raised.copy()
            mended[:, columns] += lack + share * base
            return _checked(program, mended / (1 + share))
    raise SolverError(
        "what a solver left off a table's rows must be small, and unbiased reports need room, "
        f"got {np.abs(raised.sum(1) - 1).max():.1g} off the sums: add outputs farther out"
    )


def _checked(program: ChannelProgram, table: Array) -> Array:
    if program.deviations is not None:
        off = np.abs((program.deviations * table).sum(-1)).max() / np.abs(program.deviations).max()
        if off > UNBIASED:
            raise SolverError(
                f"reports must be unbiased, but are off by {off:.1g} of the range: add outputs farther out"
            )
    return table


def _on_a_line(program: ChannelProgram) -> Array | None:
    """Return the one kind of deviations (n, m) that two outputs can correct; None if there is none, or several."""
    return program.deviations if program.deviations is not None and program.deviations.ndim == 2 else None


def _places(program: ChannelProgram, table: Array) -> list[Indices]:
    """Return the columns that may be given what rows lack: of outputs that are used, if they do."""
    if (deviations := _on_a_line(program)) is None:
        return [np.array([table.min(0).argmax()])]
    outputs = deviations[0]
    used = np.flatnonzero(table.max(0) > USED)
    inner = np.array([used[outputs[used].argmin()], used[outputs[used].argmax()]])
    return [inner, np.array([outputs.argmin(), outputs.argmax()])]


def _base(program: ChannelProgram, columns: Indices) -> Array:
    """Return the table that reports these outputs alone (n, 1 or 2)."""
    if (deviations := _on_a_line(program)) is None:
        return np.ones((program.cone.values, 1))
    low, high = deviations[:, columns].T
    return np.stack([high, -low], axis=1) / (high - low)[:, None]


def _lack(program: ChannelProgram, table: Array, columns: Indices) -> Array:
    """Return what is to be added to these columns for rows to be right (n, 1 or 2)."""
    sums = 1 - table.sum(1)
    if (deviations := _on_a_line(program)) is None:
        return sums[:, None]
    low, high = deviations[:, columns].T
    off = (deviations * table).sum(1)
    return np.stack([high * sums + off, -low * sums - off], axis=1) / (high - low)[:, None]


def _share(cone: Cone, base: Array, lack: Array) -> float:
    """Return the least share of the base with which the lack is in the cone; inf for none."""
    if not lack.any():
        return 0.0
    i, j = np.nonzero((cone.closed > 0) & np.isfinite(cone.closed))
    factor = np.exp(-cone.closed[i, j])
    room = np.r_[base[j] - factor * base[i], base]
    wanted = np.r_[factor * lack[i] - lack[j], -lack]
    asked = wanted > 0
    if not asked.any():
        return 0.0
    return float((wanted[asked] / room[asked]).max()) if (room[asked] > 0).all() else np.inf
