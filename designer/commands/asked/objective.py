"""The objective that options ask for, the same in every command: --objective and what goes with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..output import refuse_given

if TYPE_CHECKING:
    from ...objectives.base import Objective

OBJECTIVES = ("expected", "minimax", "robust", "information")
"""Values of --objective."""

INFORMATION = "mutual-information"
"""Criterion of --objective information in a design, if none is named."""


def asked_objective(
    name: str,
    *,
    ambiguity: str | None,
    radius: float | None,
    criterion: str | None,
    patterns: str | None = None,
) -> Objective:
    """Return the objective of these options.

    Raises
    ------
    InputError
        An objective that is not known, or options that it lacks.
    """
    from ....mechanisms.errors import InputError
    from ...objectives.guarantee import Guarantee
    from ...objectives.information import Information
    from ...objectives.variance import Variance
    from ...objectives.worst_case import WorstCase
    from ...priors.ambiguity import AMBIGUITIES

    if name == "expected":
        return Variance()
    if name == "minimax":
        return WorstCase()
    if name == "information":
        # What is not one of the criteria or patterns is refused by the objective itself.
        return Information(criterion or INFORMATION, patterns or "interval")  # pyright: ignore[reportArgumentType]
    if name != "robust":
        raise InputError(f"--objective must be one of {', '.join(OBJECTIVES)}, got {name!r}")
    if ambiguity is None or radius is None:
        raise InputError(
            f"--objective robust needs --ambiguity, one of {', '.join(AMBIGUITIES)}, and --radius R: add them"
        )
    if ambiguity not in AMBIGUITIES:
        raise InputError(f"--ambiguity must be one of {', '.join(AMBIGUITIES)}, got {ambiguity!r}")
    return Guarantee(AMBIGUITIES[ambiguity](radius))


def refuse_other_objectives(
    names: tuple[str, ...], *, ambiguity: str | None, radius: float | None, criterion: str | None, patterns: str | None
) -> None:
    """Raise InputError for an option that none of these objectives has a use for."""
    if "robust" not in names:
        refuse_given("for --objective robust", {"--ambiguity": ambiguity, "--radius": radius})
    if "information" not in names:
        refuse_given("for --objective information", {"--criterion": criterion, "--patterns": patterns})
