"""Log-ratios as a matrix gives them, one for each ordered pair of values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .members import matrix
from .pairs import OfPairs, largest, square


@dataclass(frozen=True)
class Ratios(OfPairs):
    """Any log-ratios: P(y | i) <= e^D_ik P(y | k) for all reports y and knots i and k, D as the matrix gives it.

    Parameters
    ----------
    log_ratios : (n, n) array_like
        D, in the order of the knots: 0 on the diagonal, positive beside it, inf where nothing is promised. It need not
        be symmetric. A matrix that breaks the triangle inequality is replaced by shortest paths, which promise more:
        `limits` has these, and the largest must be from 1e-6 to 16.

    Attributes
    ----------
    epsilon : float
        The largest finite log-ratio that is promised for two values.

    Raises
    ------
    InputError
        A matrix that is not usable.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.mechanisms.promise import Ratios
    >>> promise = Ratios([[0, 1, 5], [1, 0, 2], [np.inf, 2, 0]])
    >>> promise.epsilon, promise.limits(np.arange(3.0)).tolist()
    (3.0, [[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]])
    """

    epsilon: float = field(init=False)
    log_ratios: tuple[tuple[float, ...], ...] | Any  # whatever is a matrix when it is made

    kind: ClassVar[str] = "ratios"
    members: ClassVar[Mapping[str, Callable[[object], Any]]] = {"log_ratios": matrix}
    carries_budgets: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "log_ratios", square(self.log_ratios, "log-ratios"))
        object.__setattr__(self, "epsilon", largest(np.array(self.log_ratios)))
        super().__post_init__()

    def __str__(self) -> str:
        return f"log-ratios of a matrix of {self.size} values, up to {self.epsilon:g}"

    @property
    def caution(self) -> str:
        nothing = "; of some pairs nothing is promised" * self.leaves_out
        return f"log-ratios of two values as a matrix says, not one epsilon for all{nothing}"

    @property
    def size(self) -> int:
        return len(self.log_ratios)

    def said(self, knots: np.ndarray) -> np.ndarray:
        return np.array(self.log_ratios)
