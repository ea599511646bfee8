"""What every mechanism is: a channel from a space of values to reports, with a promise that can be proved."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .display.display import Shown
from .sampling.random_words import random_words

if TYPE_CHECKING:
    from .promise import Promise
    from .sampling.law import Words
    from .spaces.space import Space
    from .statistics import Statistic


class Channel(Shown, ABC):
    """The one contract of all mechanisms; what is computed of them, proofs, counts or pictures, asks nothing else.

    A channel says what it is: the values that it takes (`inputs`), how reports are drawn (`draw`), how they are written
    (`checked_reports`, `to_text`, `from_text`), what they tell (`statistic`), what is promised (`promise`), and what it
    is made of (`by_column`). Analyses are functions above, of these; where one class allows a faster or a clearer way,
    it is registered there for that class.

    Example
    -------
    >>> from optldp.mechanisms.categorical import categorical_grr
    >>> made = categorical_grr(["yes", "no"], 1.0)
    >>> report = made.draw(made.inputs.admitted(["yes"]), lambda size: np.zeros(size, dtype=np.uint64))
    >>> made.to_text(report), made.promise
    (['0'], Pure(epsilon=1.0))
    """

    of_levels: ClassVar[str | None] = None
    """The kind in a file of several of it, one for each budget that users choose; None where there are none."""

    @property
    @abstractmethod
    def inputs(self) -> Space:
        """The values that it takes."""

    @property
    def promise(self) -> Promise | None:
        """What it promises of any two inputs; None where its parts have promises of their own."""
        return None

    @property
    def statistic(self) -> Statistic | None:
        """What its reports tell of the values; None where each of its parts has reports of its own."""
        return None

    @property
    def by_column(self) -> Mapping[str, Channel]:
        """The mechanisms of several columns, by their names; none where all is one report."""
        return {}

    @abstractmethod
    def draw(self, held: Any, words: Words, /) -> Any:
        """Draw one report for each of N values, as `inputs` holds and samples them, by whole numbers."""

    @abstractmethod
    def checked_reports(self, reports: ArrayLike) -> np.ndarray:
        """Return reports (N, ...) in their canonical type, or raise InputError for ones that cannot occur."""

    @abstractmethod
    def to_text(self, reports: np.ndarray) -> list[str]:
        """Return reports as text, in which a file or a ledger keeps them."""

    @abstractmethod
    def from_text(self, texts: Sequence[str]) -> np.ndarray:
        """Return the reports that are written as these texts, or raise InputError with the first row that is none."""

    def report_of(self, text: str) -> Any:
        """Return one report as Python's users take it, from a text that `to_text` wrote and nobody has changed."""
        return self.from_text([text])[0]

    @abstractmethod
    def nature(self) -> dict[str, object]:
        """Return by name what two of it must have alike, so that reports of both are of the same values."""

    def drawn(self, values: Any, rng: np.random.Generator | None, *, clip: bool = False) -> Any:
        """Draw one report for each value that users hold: by the operating system's generator, or as a simulation."""
        words = random_words(rng)
        return self.draw(self.inputs.sampled(self.inputs.admitted(values, clip=clip), words), words)

    def admitted(self, values: Any, *, clip: bool = False) -> Any:
        """Return values as `inputs` holds them, or raise InputError for those that there are no reports of."""
        return self.inputs.admitted(values, clip=clip)
