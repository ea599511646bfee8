"""What is said of who reported to which services: the assumption of `--alike`, its test, and what it would gain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .output import say

if TYPE_CHECKING:
    from ....estimators.means.between_users import Participation

WORTH_A_NOTE = 1.1
"""Times by which the interval would be shorter from which users who count the same are worth a line."""


def tested(found: Participation) -> str:
    """Return in words how the means of users of different services compare.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.means.between_users import Participation
    >>> sets, means, errors = (("a",), ("a", "b")), np.array([5.0, 6.0]), np.array([0.3, 0.4])
    >>> tested(Participation(sets, np.array([900, 100]), means, errors, 1.0))
    'the means of 2 sets of services differ by more than chance (chi-square 4 of 1 degree, p = 0.046)'
    """
    if not found.degrees:
        return "too few users report to different services for their means to be compared"
    degrees = f"{found.degrees} degree{'s' if found.degrees > 1 else ''}"
    beyond = "by more than chance" if found.doubtful else "by no more than chance"
    numbers = f"chi-square {found.chi_square:.3g} of {degrees}, p = {found.p:.2g}"
    return f"the means of {int(found.compared.sum())} sets of services differ {beyond} ({numbers})"


def say_participation(found: Participation, *, alike: bool) -> str | None:
    """Return what an estimate that takes users for alike assumes, with a warning where that is doubtful; else its gain.

    The gain is said, as a note, where users count the same and the interval might be shorter.
    """
    told = tested(found)
    if not alike:
        if not found.doubtful and found.gain >= WORTH_A_NOTE:
            say(
                "note: users count the same, however little their services tell; if who reports to which says nothing "
                f"of the value, --alike weighs them, and the interval is {found.gain:.3g} times shorter; {told}"
            )
        return None
    if found.doubtful:
        say(f"warning: users of different services are not alike: {told}; leave --alike out")
    return (
        f"users are weighed by what their services tell, as if who reports to which said nothing of the value: {told}"
    )
