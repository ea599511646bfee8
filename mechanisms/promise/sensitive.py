"""One-sided privacy: sensitive values can be denied, the others may be told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..errors import InputError
from .members import flags
from .pairs import OfPairs


@dataclass(frozen=True)
class Sensitive(OfPairs):
    """At every value each report is at least e^-epsilon times as probable as at any sensitive value.

    People with a sensitive value can thus deny it. Others get no promise: a report may reveal that the value is not
    sensitive, and which it is.

    Parameters
    ----------
    epsilon : float
        Budget of the sensitive values.
    sensitive : (n,) array_like of bool
        Whether each knot is sensitive, in their order; some must be, and some not.

    Raises
    ------
    InputError
        A budget that is not usable; a subset that is empty or everything.

    Source: Doudalis, Kotsogiannis, Haney, Machanavajjhala and Mehrotra (2020), "One-sided differential privacy".

    Example
    -------
    >>> import numpy as np
    >>> from optldp.mechanisms.promise import Sensitive
    >>> Sensitive(1.0, [True, True, False]).limits(np.arange(3.0)).tolist()
    [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [inf, inf, 0.0]]
    """

    sensitive: tuple[bool, ...] | Any  # whatever is a list when it is made

    kind: ClassVar[str] = "sensitive"
    members: ClassVar[Mapping[str, Callable[[object], Any]]] = {"sensitive": flags}

    def __post_init__(self) -> None:
        super().__post_init__()
        told = np.asarray(self.sensitive)
        if told.ndim != 1 or told.dtype != bool:
            raise InputError(f"sensitive must be true or false of each value, got {self.sensitive!r:.60}")
        if told.all() or not told.any():
            many = "all" if told.size and told.all() else "none"
            raise InputError(f"some values must be sensitive and some not, got {many}: use pure privacy, or none")
        object.__setattr__(self, "sensitive", tuple(told.tolist()))

    def __str__(self) -> str:
        return f"epsilon {self.epsilon:g} of {sum(self.sensitive)} sensitive values of {self.size}"

    @property
    def caution(self) -> str:
        return f"{self}, not epsilon-LDP: a report may tell that a value is not sensitive, and which it is"

    @property
    def size(self) -> int:
        return len(self.sensitive)

    def said(self, knots: np.ndarray) -> np.ndarray:
        made = np.where(np.array(self.sensitive)[:, None], self.epsilon, np.full((self.size, self.size), np.inf))
        np.fill_diagonal(made, 0.0)
        return made
