"""Tables that were designed for the error of a mean: what their files say of it, and what other users cost."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from ...mechanisms.errors import InputError, SolverError
from ...mechanisms.promise import Pure
from ...mechanisms.table.table import TabulatedMechanism
from ...mechanisms.table.unit_interval import UnitInterval
from ...solvers.biased import ErrorProgram, solve_error
from ...solvers.biased.error_program import check_users
from ...solvers.biased.least_error import check_trust
from ...solvers.robust import BoxSet
from ..means.error import rounding_excess, share_of_design

FAR = 2.0
"""Factor between the users designed for and those there are beyond which it is said what that costs."""


@dataclass(frozen=True)
class Told:
    """What a table's file says of its design: it decides defaults and warnings, and no error or bias bound.

    Attributes
    ----------
    users : int
    trust : float or None
        None where the design went by another set than a factor.
    uniform_share : float
        That was mixed into its prior.
    """

    users: int
    trust: float | None
    uniform_share: float

    def far_from(self, users: int) -> bool:
        """Whether so many users are another problem than the one that was solved."""
        return not self.users / FAR <= users <= self.users * FAR


def told_by(table: TabulatedMechanism) -> Told | None:
    """Return what a table says that it was designed for; None for one that is not designed for the error of a mean.

    Raises
    ------
    InputError
        Numbers that no design has: the file is damaged.

    Example
    -------
    >>> from optldp.mechanisms import duchi
    >>> told_by(duchi([0.0, 1.0], 1.0)) is None
    True
    """
    if not table.provenance.is_for_error:
        return None
    said = table.provenance.parameters
    users, trust, share = said["n"], said.get("trust"), share_of_design(table)
    check_users(users)  # pyright: ignore[reportArgumentType] -- it refuses what is no number
    return Told(int(users), None if trust is None else check_trust(trust), share)  # pyright: ignore[reportArgumentType] -- checked


def least_error(table: TabulatedMechanism, priors: BoxSet, users: int) -> float | None:
    """Return what a table with these knots and this budget, designed for so many users, would err by at most.

    None where no such table was found: a promise that is not pure, or a budget beyond the solver.
    """
    if not isinstance(table.promise, Pure):
        return None
    unit = UnitInterval.of(table.knots)
    with suppress(InputError, SolverError, OverflowError):
        made = solve_error(ErrorProgram(unit.knots, math.exp(table.epsilon), priors, users))
        return math.hypot(unit.half * made.value, math.sqrt(np.max(rounding_excess(table.knots)) / users))
    return None
