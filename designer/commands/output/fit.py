"""Whether reports fit the table that they are read with, said where they do not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .output import say

FIT = "fit_p_value"
"""The fact; who is not told that reports do not fit knows that they do, unless that cannot be tested."""


def told_of_fit(counts: Iterable[Any]) -> dict[str, float | None]:
    """Return how well counts fit as a fact, None where that cannot be tested, and say where they do not."""
    from ....estimators.goodness_of_fit.fit import fit_of

    fit = fit_of(counts)
    if fit.fails:
        told = f"{fit.p_value:.1g}" if fit.p_value else "below 1e-300"
        of = f" of {fit.part!r}" if fit.part else ""
        say(
            f"note: the reports{of} do not fit the table ({FIT} {told}): they may be another table's, or several of "
            "each user, and the estimate may be wrong by any amount"
        )
    return {FIT: fit.p_value}
