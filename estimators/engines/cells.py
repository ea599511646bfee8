"""The outputs of a table as intervals of reports: a small table, by which an engine finds the output of each number."""

from __future__ import annotations

import numpy as np

from ...mechanisms.errors import InputError
from ...mechanisms.sampling.within_cell import GeometricTails
from ...mechanisms.table.table import TabulatedMechanism


def output_cells(mechanism: TabulatedMechanism) -> dict[str, np.ndarray]:
    """Return disjoint, increasing intervals of reports, and the output to which each belongs.

    A report y belongs to the output whose row has ``low <= y < below``; one outside all rows is no report of the table.
    A point is an interval of one double, and a cell around points has a row for each of its parts.

    Parameters
    ----------
    mechanism : TabulatedMechanism

    Returns
    -------
    dict of str to (R,) ndarray
        The columns output (int64), low and below (doubles, in the units of the reports).

    Raises
    ------
    InputError
        A table with geometric tails, whose reports are no interval.

    Example
    -------
    >>> from optldp.estimators.engines import output_cells
    >>> from optldp.mechanisms.families.square_wave import square_wave
    >>> cells = output_cells(square_wave([0.0, 1.0], 1.0))
    >>> cells["output"][:2], bool((cells["low"][1:] >= cells["below"][:-1]).all())
    (array([0, 1]), True)
    """
    if isinstance(mechanism.within, GeometricTails):
        raise InputError(
            "the reports of a table with geometric tails lie on a lattice, which no interval holds: write numbers of "
            "outputs (perturb --as index, sample_index)"
        )
    low, high = mechanism.within.farthest(mechanism.low, mechanism.high)
    ends = np.unique(np.concatenate([low, high, np.nextafter(low, np.inf), np.nextafter(high, np.inf)]))
    ends = ends[np.isfinite(ends)]
    outputs = mechanism.locate(ends[:-1])
    # Equal neighbours are one interval, and what no output holds is none.
    starts = np.flatnonzero(np.diff(outputs, prepend=-2) != 0)
    below = np.append(ends[starts[1:]], ends[-1])
    held = outputs[starts] >= 0
    return {"output": outputs[starts][held].astype(np.int64), "low": ends[starts][held], "below": below[held]}
