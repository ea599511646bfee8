"""Answers that were given lately, and those that are likely to be asked for next."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from .answers import Answer, GoOn, answer

if TYPE_CHECKING:
    from ..priors.categorical import CategoricalPrior
    from ..priors.prior import Prior
    from .state import State

MOST = 64
"""Answers that are kept; one holds a table of some 65 by 130 numbers."""


class Kept:
    """Answers by prior and choices, the last 64 of them; a prior is known by being the same object.

    Example
    -------
    >>> from optldp.designer.workbench.state import State
    >>> kept, state = Kept(), State()
    >>> kept.answer(state.prior(), state) is kept.answer(State().prior(), state)
    True
    """

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[Prior | CategoricalPrior, str, int, float], Answer] = OrderedDict()

    def has(self, prior: Prior | CategoricalPrior, state: State) -> bool:
        """Return whether the answer is kept."""
        return (prior, state.of, state.n, state.epsilon) in self._known

    def answer(self, prior: Prior | CategoricalPrior, state: State, go_on: GoOn = None) -> Answer:
        """Return the answer that is kept, or a new one, which is kept from now on."""
        key = prior, state.of, state.n, state.epsilon
        if key not in self._known:
            self._known[key] = answer(prior, state, go_on)
            while len(self._known) > MOST:
                self._known.popitem(last=False)
        return self._known[key]
