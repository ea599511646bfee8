"""The prior that an estimate trusts: a file of values and weights, put on the knots of the tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ....mechanisms.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from ....estimators import ReportCounts


def trusted_weights(path: Path | None, counts: ReportCounts) -> np.ndarray | None:
    """Return the weights of the finest table's knots, out of a file with the columns value and weight; None for none.

    Raises
    ------
    InputError
        A file that is not usable, values outside the tables' domain, or tables whose knots disagree.
    """
    if path is None:
        return None
    from ....estimators import InputGrid

    return weights_on(path, InputGrid.common(counts.mechanisms).points, counts.mechanisms[0].units)


def weights_on(path: Path, knots: np.ndarray, units: str) -> np.ndarray:
    """Return the weights (n,) of n knots out of a file with the columns value and weight; InputError as above."""
    from ....estimators.reading.columns.number_cells import read_pairs
    from ...priors.prior import Prior

    values, weights = read_pairs(path, units=units)
    try:
        return Prior.from_pairs(values, weights, knots=knots).weights
    except InputError as error:
        raise InputError(f"the prior of {str(path)!r}: {error}") from None
