"""An interior point's table without the outputs that it hardly reports."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...mechanisms.errors import SolverError
from ..arrays import Array
from .interior_point import mended
from .repair import repaired
from .tree_program import Point, TreeProgram

SHARES = (1.0, 1e-2)
"""Of the tolerance: probabilities that are left out at first, and if that costs too much."""


def thinned(tree: TreeProgram, at: Point, most: float, tolerance: float) -> Array:
    """Return the table (n, m) of a point with as few outputs as are worth at most so much, else with all.

    What is left out is taken up by the other outputs, by the least change as shares of their slacks.
    """
    program, places = tree.program, tree.program.cone.places
    for share in SHARES:
        used = at.s[places].max(0) > share * tolerance
        if used.all() or not used.any():
            continue
        deviations = None if program.deviations is None else program.deviations[..., used]
        fewer = TreeProgram(replace(program, losses=program.losses[:, used], deviations=deviations))
        s = at.s[:, used]
        table = np.zeros_like(program.losses)
        try:
            table[:, used] = mended(fewer, at._replace(s=s, r=at.r[:, used], u=at.u[:, used])).s[places]
            table = repaired(program, table)
        except SolverError:  # too few outputs for all rows
            continue
        if program.value(table) <= most:
            return table
    return repaired(program, mended(tree, at).s[places])
