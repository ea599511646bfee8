"""The budgets of a design: one epsilon, or the levels that users choose from."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .....mechanisms.budget import check_epsilon
from .....mechanisms.errors import InputError

MOST_LEVELS = 256

MOST_OUTPUTS = 2000
"""More than any design has a use for, and about what a solver's memory takes."""

STEP_ROUNDING = 1e-9
"""Share of a step by which the last level of a range may miss its end: the rounding of its decimal digits."""


@dataclass(frozen=True)
class Budgets:
    """One budget for everybody, or increasing levels to choose from.

    Attributes
    ----------
    epsilons : tuple of float
    personalised : bool
        Whether there are levels.
    level_epsilon : float, optional
        Budget of the level's own report; None where it is reported in the clear.
    """

    epsilons: tuple[float, ...]
    personalised: bool = False
    level_epsilon: float | None = None


def budgets_of(epsilon: float | None, levels: str | None, level_epsilon: float | None) -> Budgets:
    """Return the budgets that were asked for, or raise InputError for none, for both kinds, or for unusable ones.

    Parameters
    ----------
    epsilon : float, optional
    levels : str, optional
        "0.1,0.5,1", or "0.1:1:0.1" for a range with its end.
    level_epsilon : float, optional

    Example
    -------
    >>> budgets_of(None, "0.1:0.3:0.1", 0.5)
    Budgets(epsilons=(0.1, 0.2, 0.3), personalised=True, level_epsilon=0.5)
    """
    if (epsilon is None) == (levels is None):
        raise InputError("a design needs either --epsilon or --levels, and not both")
    if levels is None:
        if level_epsilon is not None:
            raise InputError("--level-epsilon protects the choice among --levels, got no levels: leave it out")
        assert epsilon is not None
        return Budgets((check_epsilon(epsilon),))
    chosen = tuple(map(check_epsilon, budget_numbers(levels)))
    if len(chosen) < 2 or any(a >= b for a, b in pairwise(chosen)):
        raise InputError(f"levels must be two or more different budgets in increasing order, got {levels!r}")
    if level_epsilon is not None:
        try:
            check_epsilon(level_epsilon)
        except InputError as error:
            raise InputError(f"level_{error}") from None
    return Budgets(chosen, True, level_epsilon)


def budget_numbers(text: str, what: str = "levels") -> list[float]:
    """Return the budgets that a text lists or spans; whether each is a usable epsilon is for `check_epsilon`.

    Parameters
    ----------
    text : str
        "0.1,0.5,1", or "0.1:1:0.1" for a range with its end.
    what : str
        What the budgets are, for the errors.

    Raises
    ------
    InputError
        No numbers, a range that is empty or runs backwards, or more than `MOST_LEVELS`.

    Example
    -------
    >>> budget_numbers("0.25:1:0.25")
    [0.25, 0.5, 0.75, 1.0]
    """
    try:
        parts = [float(part) for part in text.replace(":", ",").split(",")]
    except ValueError:
        raise InputError(f"{what} must be numbers such as 0.1,0.5,1 or 0.1:1:0.1, got {text!r}") from None
    if ":" not in text:
        return parts
    if text.count(":") != 2 or len(parts) != 3 or not (parts[2] > 0 and 0 < parts[0] < parts[1] < np.inf):
        raise InputError(f"a range of {what} must be LO:HI:STEP with 0 < LO < HI and STEP > 0, got {text!r}")
    low, high, step = parts
    count = int((high - low) / step + STEP_ROUNDING) + 1
    if count > MOST_LEVELS:
        raise InputError(f"there must be at most {MOST_LEVELS} {what}, got {count}: use a larger step")
    return [round(low + step * i, 12) for i in range(count)]


def even_outputs(text: str) -> np.ndarray:
    """Return the outputs that LO:HI:N says, that many at equal steps; InputError for anything else.

    Example
    -------
    >>> even_outputs("-10:30:5")
    array([-10.,   0.,  10.,  20.,  30.])
    """
    low, _, rest = text.partition(":")
    high, _, many = rest.partition(":")
    try:
        first, last, count = float(low), float(high), int(many)
    except ValueError:
        raise InputError(f"outputs must be LO:HI:N such as -100:300:81, got {text!r}") from None
    if not (np.isfinite([first, last]).all() and first < last and 2 <= count <= MOST_OUTPUTS):
        raise InputError(f"outputs must be LO:HI:N with LO < HI and N from 2 to {MOST_OUTPUTS}, got {text!r}")
    return np.linspace(first, last, count)
