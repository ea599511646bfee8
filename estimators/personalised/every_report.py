"""Every report of numbers that users may send at their levels, as likelihoods tell them apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...mechanisms.combinators.personalised import PersonalisedMechanism
from ...mechanisms.table.table import TabulatedMechanism
from .counts import PersonalisedCounts
from .reports import tables_of

INSIDE = 0.4142
"""Share of the way through an interval where a report stands for it: no table has a point there."""


def every_report(mechanism: PersonalisedMechanism) -> tuple[PersonalisedCounts, np.ndarray]:
    """Return each pair of reports once, and how much of the line a report stands for, one of a point.

    In the clear these are the outputs of each level's table; protected, of the common refinement of all of them, with
    each report of a level, where no table may have tails without an end.

    Example
    -------
    >>> from optldp.mechanisms import duchi, make_exact, piecewise
    >>> tables = [make_exact(duchi([0.0, 1.0], 1.0)).mechanism, make_exact(piecewise([0.0, 1.0], 2.0)).mechanism]
    >>> clear, sizes = every_report(PersonalisedMechanism(tables))
    >>> [clear.levels.tolist().count(i) for i in (0, 1)]
    [2, 3]
    >>> protected, sizes = every_report(PersonalisedMechanism(tables, 1.0))
    >>> protected.levels.size, bool((sizes > 0).all())
    (10, True)
    """
    tables, levels, reports, sizes = tables_of(mechanism), [], [], []
    if mechanism.level_epsilon is None:
        for i, table in enumerate(tables):
            outputs = np.flatnonzero(table.possible)
            rows = np.full((outputs.size, len(tables)), -1)
            rows[:, i] = outputs
            levels.append(np.full(outputs.size, i))
            reports.append(rows)
            sizes.append(np.ones(outputs.size))
    else:
        ends = np.unique(np.concatenate([[*table.low, *table.high] for table in tables]))
        points = np.unique(np.concatenate([table.low[table.low == table.high] for table in tables]))
        rows, size = _of_some_level(tables, np.append(ends[:-1] + INSIDE * np.diff(ends), points))
        size = np.append(np.diff(ends), np.ones(points.size))[size]
        for level in range(mechanism.level_report.n_reports):
            levels.append(np.full(len(rows), level))
            reports.append(rows)
            sizes.append(size)
    every = np.concatenate(levels)
    found = PersonalisedCounts(mechanism, every, np.concatenate(reports), np.ones(every.size, dtype=np.int64))
    return found, np.concatenate(sizes)


def _of_some_level(tables: Sequence[TabulatedMechanism], places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Outputs (D, t) of the places that some level's table makes, and which places these are."""
    rows = np.stack([table.locate(places) for table in tables], axis=1)
    made = [(at >= 0) & table.possible[at] for at, table in zip(rows.T, tables, strict=True)]
    which = np.flatnonzero(np.any(made, axis=0))
    return rows[which], which
