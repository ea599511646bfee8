"""How the level itself is to be reported, and what `design` says of its protection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .....mechanisms.combinators.personalised import PersonalisedMechanism
from .....mechanisms.errors import InputError
from .....mechanisms.spaces.categories import Categories
from ..kind import Designed

if TYPE_CHECKING:
    from ...options.designs.design import DesignOptions

CLEAR = "note: levels are reported in the clear; --level-epsilon protects them"

LEAKY = 2.0
"""Times the level's own budget from which the leakage through the value's report is worth a line."""


def together(options: DesignOptions, levels: Sequence[Any]) -> PersonalisedMechanism:
    """Return mechanisms of rising budgets with the report of the level that was asked for."""
    return PersonalisedMechanism(levels, **protocol_of_level(len(levels), options))


def designed(options: DesignOptions, notes: Sequence[str], levels: Sequence[Any], cure: str) -> Designed:
    """Return the mechanism with its notes; `cure` says how the report of the value may tell less of the level."""
    made = together(options, levels)
    return Designed(made, [*notes, *level_notes(made, cure)])


def protocol_of_level(many: int, options: DesignOptions) -> dict[str, Any]:
    """Return how the level is to be reported, as mechanisms of levels take it."""
    from ....methods.oracles import ORACLES

    epsilon, method = options.budgets.level_epsilon, options.level_method
    if epsilon is None or method in (None, "grr"):
        return {"level_epsilon": epsilon}
    if method not in ORACLES:
        raise InputError(f"method of --level-epsilon must be one of {', '.join(ORACLES)}, got {method!r}")
    return {"level_mechanism": ORACLES[method](Categories(range(many)), epsilon)}


def level_notes(mechanism: PersonalisedMechanism, cure: str) -> list[str]:
    """Return notes on what reports tell of levels; `cure` says how the report of the value may tell less."""
    if mechanism.level_epsilon is None:
        return [CLEAR]
    if mechanism.level_leakage <= LEAKY * mechanism.level_epsilon:
        return []
    return [
        f"note: the report of the value tells more about the level than its own report: to somebody who knows "
        f"the value, level_leakage {mechanism.level_leakage:.3g} in all; {cure}"
    ]
