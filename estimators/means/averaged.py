"""The mean from reports of a floor form, however many knots it has: no likelihood is asked for, so no table is made."""

import math

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from ...mechanisms.floors.form import FloorForm
from ..intervals import Sample
from .mean import MeanEstimate


def average_of(form: FloorForm, reports: ArrayLike) -> MeanEstimate:
    """Estimate the mean of the inputs by the average of the reports.

    What `estimate_mean` does with counts of the table that the form expands to, where that is not too large: outputs of
    an optimum are values that no others dominate.

    Parameters
    ----------
    form : FloorForm
        Unbiased.
    reports : (N,) array_like
        Its outputs, at least two.

    Raises
    ------
    InputError
        A form that does not say that it is unbiased, reports that are none of its outputs, fewer than two.

    Example
    -------
    >>> from ...mechanisms.families.duchi import duchi
    >>> from ...mechanisms.floors import floor_form
    >>> form = floor_form(duchi([0.0, 5.0, 10.0], 1.0))
    >>> found = average_of(form, form.sample(np.full(10_000, 2.5), np.random.default_rng(7)))
    >>> bool(found.interval().low < 2.5 < found.interval().high)
    True
    """
    if not form.provenance.claims_unbiased:
        raise InputError(
            "an average of reports is no mean of values unless they are unbiased: got a floor form that does not say so"
        )
    often = np.bincount(form.output_index(reports), minlength=form.places.size)
    if often.sum() < 2:
        raise InputError(f"reports must be at least 2 for a standard error, got {often.sum()}")
    seen = np.flatnonzero(often)
    found = Sample.of(form.outputs[seen], often[seen], float(np.ptp(form.outputs)))
    error = math.sqrt(found.variance / found.n)
    return MeanEstimate(found.mean, error, found.n, "average", one_report=found.width / found.n)
