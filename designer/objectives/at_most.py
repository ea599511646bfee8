"""Designs of few outputs: a limit on how many there may be, and tables that keep it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mechanisms.errors import InputError
from ...solvers.unbiased.unbiased_program import Rows
from .base import Problem

MOST_BITS = 16
"""A report of more is no small one."""


@dataclass(frozen=True)
class AtMost:
    """Reports may be any numbers, but only so many different ones, which a client can send in a few bits.

    A design's bound stays that of any number of outputs, so its gap also limits the cost of few outputs.

    Parameters
    ----------
    outputs : int
        At least two.

    Raises
    ------
    InputError
        Fewer, or no whole number.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import Prior, design
    >>> from optldp.designer.objectives import AtMost
    >>> made = design(Prior.even(np.linspace(-1, 1, 9)), 1.0, outputs=AtMost(4))
    >>> made.mechanism.n_outputs, round(made.value, 2), made.gap < 0.06
    (4, 4.02, True)
    """

    outputs: int

    def __post_init__(self) -> None:
        if isinstance(self.outputs, bool) or not isinstance(self.outputs, int | np.integer) or self.outputs < 2:
            raise InputError(f"there must be at least two outputs, a whole number, got {self.outputs!r:.40}")

    @classmethod
    def bits(cls, bits: int) -> AtMost:
        """Return the limit of reports of so many bits, from 1 to 16.

        Example
        -------
        >>> from optldp.designer.objectives import AtMost
        >>> AtMost.bits(4)
        AtMost(outputs=16)
        """
        if isinstance(bits, bool) or not isinstance(bits, int) or not 1 <= bits <= MOST_BITS:
            raise InputError(f"bits of a report must be a whole number from 1 to {MOST_BITS}, got {bits!r:.40}")
        return cls(2**bits)


def few_outputs(problem: Problem, free: Rows, share: float) -> Rows:
    """Return the rows of a problem's optimum, or as good ones of at most so many outputs as it asks for.

    Parameters
    ----------
    problem : Problem
    free : Rows
        The optimum of free outputs, on the mapped knots.
    share : float
        Of the worst case in what is wanted.
    """
    if problem.most is None or len(free.outputs) <= problem.most:
        return free
    from ...solvers.channel import solve_at_most  # with scipy.optimize, which no other design waits for
    from ...solvers.cone import pure

    knots = problem.unit.knots
    cone = pure(len(knots), float(np.log(problem.inner_ratio)))
    return solve_at_most(cone, problem.solved.weights, knots, problem.most, share=share).rows
