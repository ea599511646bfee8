"""Whether reports fit the table that they are read with, said where they do not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .output import say

if TYPE_CHECKING:
    from ..kinds.kind import Found


def with_fit(found: Found) -> Found:
    """Return what was found with how well its counts fit as a fact, None where that cannot be tested."""
    from ....estimators.goodness.fit import fit_of

    fit = fit_of(found.counts)
    if fit.fails:
        told = f"{fit.p_value:.1g}" if fit.p_value else "below 1e-300"
        of = f" of {fit.part!r}" if fit.part else ""
        say(
            f"note: the reports{of} do not fit the table (fit_p_value {told}): they may be another table's, "
            "or several of each user, and the estimate may be wrong by any amount"
        )
    fact = {"fit_p_value": fit.p_value}
    said = None if found.said is None else found.said | fact
    return replace(found, facts=found.facts | fact, said=said)
