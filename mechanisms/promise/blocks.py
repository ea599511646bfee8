"""Blocks of values: one budget within a block, another across two of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..budget import check_epsilon
from ..errors import InputError
from .members import number, wholes
from .pairs import OfPairs, largest


@dataclass(frozen=True)
class Blocks(OfPairs):
    """The log-ratio of two values is at most `within` in the same block, and at most `across` in different ones.

    Parameters
    ----------
    blocks : (n,) array_like
        The block of each knot, in their order: texts or whole numbers. They are held as whole numbers, in the order of
        the first value of each; at least two.
    within, across : float
        Budgets, from 1e-6 to 16. If `across` is below half of `within`, paths through another block promise more than
        stated.

    Attributes
    ----------
    epsilon : float
        The largest finite log-ratio that is promised for two values.

    Raises
    ------
    InputError
        Blocks or budgets that are not usable.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.mechanisms.promise import Blocks
    >>> Blocks(["a", "a", "b"], 1.0, 3.0).limits(np.arange(3.0))[0].tolist()
    [0.0, 1.0, 3.0]
    """

    epsilon: float = field(init=False)
    blocks: tuple[int, ...] | Any  # whatever is a list when it is made
    within: float
    across: float

    kind: ClassVar[str] = "blocks"
    members: ClassVar[Mapping[str, Callable[[object], Any]]] = {"blocks": wholes, "within": number, "across": number}
    carries_budgets: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "blocks", _numbered(self.blocks))
        for name in ("within", "across"):
            try:
                object.__setattr__(self, name, check_epsilon(getattr(self, name)))
            except InputError as error:
                raise InputError(f"{name}: {error}") from None
        object.__setattr__(self, "epsilon", largest(self._matrix()))
        super().__post_init__()

    def __str__(self) -> str:
        return f"epsilon {self.within:g} within {max(self.blocks) + 1} blocks, {self.across:g} across"

    @property
    def caution(self) -> str:
        return f"{self}, not one epsilon for all: a report may tell more of the block than of the value in it"

    @property
    def size(self) -> int:
        return len(self.blocks)

    def said(self, knots: np.ndarray) -> np.ndarray:
        return self._matrix()

    def _matrix(self) -> np.ndarray:
        made = np.where(np.equal.outer(self.blocks, self.blocks), self.within, self.across)
        np.fill_diagonal(made, 0.0)
        return made


def _numbered(labels: Sequence[Hashable]) -> tuple[int, ...]:
    """Blocks as whole numbers, in the order in which they come."""
    if isinstance(labels, str) or not isinstance(labels, Sequence | np.ndarray):
        raise InputError(f"blocks must be names, one for each value, got {labels!r:.60}")
    number: dict[Hashable, int] = {}
    try:
        held = tuple(number.setdefault(label, len(number)) for label in labels)
    except TypeError:
        raise InputError(f"blocks must be names or whole numbers, got {labels!r:.60}") from None
    if len(number) < 2:
        raise InputError(f"there must be at least two blocks, got {len(number)}: of one alone privacy is pure")
    return held
