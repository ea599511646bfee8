"""A table of two columns: one report of a cell, by the mechanism for categories that errs least."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ...estimators.frequencies import frequency_decoder
from ...mechanisms.categorical.oracle_choice import frequency_oracle
from ...mechanisms.errors import InputError
from ...mechanisms.spaces.cells import Cells
from .design import FeaturesDesign

MOST_CELLS = 1024


def design_table(
    columns: Mapping[str, Sequence[object]], epsilon: float, shares: ArrayLike | None = None
) -> FeaturesDesign:
    """Return the mechanism for the cells of a table of two columns.

    A report covers the pair of values with the whole budget, by subset selection, randomised response or hashing,
    whichever errs least (`frequency_oracle`). Splitting the budget over the columns needs 29 times as many people at
    epsilon 1 for 4 x 5 cells.

    Parameters
    ----------
    columns : mapping of str to sequence of str
        The values of each of two columns.
    epsilon : float
    shares : (r, c) array_like of float, optional
        Of the people in each cell, for expected errors; with sum one. Default: even.

    Returns
    -------
    made : FeaturesDesign
        Its numbers are those of the cells, row by row.

    Raises
    ------
    InputError
        Other than two columns, values that are no categories, more than 1024 cells, or shares of another shape.

    Source: Ye and Barg (2018) for subset selection.

    Example
    -------
    >>> from optldp.designer.features import design_table
    >>> made = design_table({"sex": ["F", "M"], "job": ["cook", "smith", "nurse"]}, 1.0)
    >>> made.names[1], round(float(made.variances.sum()), 1)
    ('sex=F&job=smith', 15.7)
    """
    cells = Cells(columns)
    many = cells.shape[0] * cells.shape[1]
    if many > MOST_CELLS:
        raise InputError(f"a table must have at most {MOST_CELLS} cells, got {many}: merge values of its columns")
    held = np.full(cells.shape, 1 / many) if shares is None else np.asarray(shares, dtype=float)
    if held.shape != cells.shape or (held < 0).any() or not np.isclose(held.sum(), 1):
        raise InputError(f"shares must be {cells.shape[0]} x {cells.shape[1]} numbers of sum 1, got shape {held.shape}")
    made = frequency_oracle(cells.categories, epsilon)
    flat = held.ravel()
    opened = flat * (1 - flat)
    none = np.zeros(many)
    return FeaturesDesign(
        made, cells.categories.labels, frequency_decoder(made).variances(flat) + opened, opened, none, none, "table",
        float(flat.max()),
    )  # fmt: skip
