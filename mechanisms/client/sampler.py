"""Who draws the reports: a client in earnest, by the operating system's generator, or a simulation that says so."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..compact_tables.floor_and_windows import FloorForm
from ..errors import InputError
from ..exactness.verification import require_private, require_proved
from ..sampling.random_words import random_words
from ..table.table import TabulatedMechanism


@dataclass(frozen=True, eq=False)
class Sampler:
    """A verified table and the source of its randomness.

    Parameters
    ----------
    mechanism : TabulatedMechanism or FloorForm
        Exact, unless reports are simulated.
    rng : numpy.random.Generator, optional
        For simulations only. Without it the operating system's generator is used.

    Raises
    ------
    TableError
        The table is broken or, without an rng, its promise is not proved by whole numbers.
    InputError
        An rng of another kind.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import Sampler, TabulatedMechanism
    >>> table = TabulatedMechanism([0, 1], [0, 1], [0, 1], [[0.75, 0.25], [0.25, 0.75]], 1.1, exact=True)
    >>> Sampler(table).simulated, Sampler(table, np.random.default_rng(1)).simulated
    (False, True)
    """

    mechanism: TabulatedMechanism | FloorForm
    rng: np.random.Generator | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, TabulatedMechanism | FloorForm):
            raise InputError(f"mechanism must be a TabulatedMechanism, got {self.mechanism!r}")
        random_words(self.rng)
        if isinstance(self.mechanism, FloorForm):
            self.mechanism.require_private()
        elif self.rng is None:
            require_proved(self.mechanism)
        else:
            require_private(self.mechanism)

    @property
    def simulated(self) -> bool:
        """Whether reports are drawn by a numpy generator, and so protect nobody."""
        return self.rng is not None

    def sample(self, x: ArrayLike, *, clip: bool = False) -> np.ndarray:
        """Draw one report (N,) for each value, as `TabulatedMechanism.sample` does."""
        return self.mechanism.sample(x, self.rng, clip=clip)

    def sample_index(self, x: ArrayLike, *, clip: bool = False) -> np.ndarray:
        """Draw a report for each value and return the number (N,) of its output; see `TabulatedMechanism`."""
        return self.mechanism.sample_index(x, self.rng, clip=clip)
