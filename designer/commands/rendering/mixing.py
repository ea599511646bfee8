"""`--central-epsilon` of `plan` and `design`: finds the local budget, and prints what the mixed reports promise."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..output.output import say, spinner

if TYPE_CHECKING:
    from ....mechanisms.channel import Channel
    from ..options.designs.mixing import Mixing


def local_budget(mixing: Mixing, make: Callable[[float], Channel]) -> float:
    """Return the largest local budget with which the mechanism that is made of it keeps what mixed reports must."""
    from ...planning import largest_budget

    with spinner("looking for the local budget") as told:
        return largest_budget(
            make, *mixing, progress=lambda epsilon, central: told(f"epsilon {epsilon:.4g}, mixed {central:.4g}")
        ).epsilon


def mixed_facts(mixing: Mixing | None, mechanism: Channel) -> dict[str, Any]:
    """Return what mixed reports of a mechanism keep, by name, and say what that takes; nothing if none are mixed."""
    from ....mechanisms.shuffling import Shuffled

    if mixing is None:
        return {}
    mixed = Shuffled(mechanism, mixing.n, mixing.delta)
    if mixed.caution:
        say(f"warning: {mixed.caution}")
    say(f"note: {mixed.sentence}")
    return {"central_epsilon": mixed.central_epsilon, "shuffle_delta": mixed.delta}
