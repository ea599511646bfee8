"""A budget for each value: of two the average, or the smaller one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ..budget import check_epsilon
from ..errors import InputError
from .members import numbers, text
from .pairs import OfPairs, largest

RULES = ("average", "min")
"""Of two budgets."""


@dataclass(frozen=True)
class ByValue(OfPairs):
    """A budget for each value: the log-ratio of two is at most the average of their budgets, or the smaller one.

    Parameters
    ----------
    epsilons : (n,) array_like
        Budget of each knot, in their order, from 1e-6 to 16.
    rule : {"average", "min"}
        With the smaller one, no two values have more than twice the smallest budget, through the value that has it.

    Attributes
    ----------
    epsilon : float
        The largest finite log-ratio that is promised for two values.

    Raises
    ------
    InputError
        Budgets or a rule that are not usable.

    Source: Murakami and Kawamoto (2019) and Gu, Li, Xiong and Cao (2020), "Providing input-discriminative protection
    for local differential privacy".

    Example
    -------
    >>> import numpy as np
    >>> from optldp.mechanisms.promise import ByValue
    >>> [ByValue([1, 4, 6], rule).limits(np.arange(3.0))[1, 2].item() for rule in ("average", "min")]
    [5.0, 2.0]
    """

    epsilon: float = field(init=False)
    epsilons: tuple[float, ...] | Any  # whatever is a list when it is made
    rule: str = "average"

    kind: ClassVar[str] = "by-value"
    members: ClassVar[Mapping[str, Callable[[object], Any]]] = {"epsilons": numbers, "rule": text}
    carries_budgets: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if isinstance(self.epsilons, str) or not isinstance(self.epsilons, Sequence | np.ndarray):
            raise InputError(f"epsilons must be budgets, one for each value, got {self.epsilons!r:.60}")
        plain = self.epsilons.tolist() if isinstance(self.epsilons, np.ndarray) else self.epsilons
        object.__setattr__(self, "epsilons", tuple(map(check_epsilon, plain)))
        if len(self.epsilons) < 2:
            raise InputError(f"epsilons must be budgets of at least two values, got {len(self.epsilons)}")
        if self.rule not in RULES:
            raise InputError(f"rule must be average or min, got {self.rule!r:.60}")
        object.__setattr__(self, "epsilon", largest(self._matrix()))
        super().__post_init__()

    def __str__(self) -> str:
        return f"epsilon by value, of two the {'average' if self.rule == 'average' else 'smaller one'}"

    @property
    def caution(self) -> str:
        least, most = min(self.epsilons), max(self.epsilons)
        return f"budgets by value, from {least:g} to {most:g}, not one epsilon for all: {self}"

    @property
    def size(self) -> int:
        return len(self.epsilons)

    def said(self, knots: np.ndarray) -> np.ndarray:
        return self._matrix()

    def exactly(self, said: np.ndarray, knots: np.ndarray, i: int, k: int) -> Fraction:
        if self.rule == "min":
            return super().exactly(said, knots, i, k)
        return (Fraction(self.epsilons[i]) + Fraction(self.epsilons[k])) / 2

    def _matrix(self) -> np.ndarray:
        e = np.array(self.epsilons)
        made = np.add.outer(e, e) / 2 if self.rule == "average" else np.minimum.outer(e, e)
        np.fill_diagonal(made, 0.0)
        return made
