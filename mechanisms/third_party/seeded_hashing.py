"""Local hashing by XXH32: a seed that the user drew, and randomised response among g values of the hash under it."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..categorical.hashed_response import HashedResponse
from ..errors import InputError, TableError
from ..report_text import report_numbers
from ..sampling.law import Words
from .mark import ADOPTED, is_adopted
from .xxh32 import xxh32

SEEDS = 2**32
"""Different seeds: of a longer one the hash uses the last 32 bits."""

MOST_VALUES = 2**16
"""g; with it the numbers of reports fit 48 bits."""


@dataclass(frozen=True, eq=False, repr=False)
class SeededHashing(HashedResponse):
    """Randomised response among g values of XXH32(a category's number as text, seed) mod g; a report is seed g + value.

    For reports that other packages drew. optldp's own local hashing draws from an exactly uniform family
    (`local_hashing`). XXH32 is uniform over the seeds only approximately.

    Parameters
    ----------
    categories : Categories
    epsilon : float
    provenance : Provenance
        Provenance from `adopt`, whose parameter `adopted` records that others drew the reports.
    n_values : int
        g, from 2 to 65536.
    own_value : int
        Probability of the category's own hash, over 2^53; each other value has the same share of the rest.

    Raises
    ------
    TableError
        A number of values out of its range, a numerator that leaves no equal whole, smaller shares to the others, or a
        provenance without the record that others drew the reports.

    Source
    ------
    Wang, Blocki, Li and Jha (2017), section 5, as pure-ldp (`LHClient`) and multi-freq-ldpy (`LH_Client`) have it.

    Example
    -------
    >>> from optldp.mechanisms.third_party import adopt
    >>> olh = adopt("olh", list("abc"), 1.0)
    >>> olh.n_values, olh.other_support, olh.supported(olh.numbered([1], [12345]))
    (4, 0.25, array([[ True, False, False]]))
    """

    kind: ClassVar[str] = "seeded-hashing"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_adopted(self):
            raise TableError(
                f"seeded hashing must be of reports that others drew, got a provenance without {ADOPTED!r}: true among "
                "its parameters: make it with adopt"
            )

    def require_values(self) -> None:
        """Raise TableError unless reports of so many values fit 48 bits."""
        if not (type(self.n_values) is int and 2 <= self.n_values <= MOST_VALUES):
            raise TableError(f"n_values must be a whole number from 2 to {MOST_VALUES}, got {self.n_values!r}")

    @property
    def n_hashes(self) -> int:
        """2^32, one for each seed."""
        return SEEDS

    @property
    def other_support(self) -> float:
        """1/g, of another category's hash, which is taken as uniform over the seeds."""
        return 1.0 / self.n_values

    @property
    def both_supported(self) -> tuple[float, float]:
        """Hashes of different categories are taken as independent."""
        return self.own_support * self.other_support, self.other_support * self.other_support

    def numbered(self, values: ArrayLike, seeds: ArrayLike) -> np.ndarray:
        """Return reports (N,) of values of the hash, from 0 to g - 1, and seeds, of which the last 32 bits count."""
        told, keys = report_numbers(values, self.n_values), np.asarray(seeds)
        if keys.shape != told.shape or not (np.issubdtype(keys.dtype, np.integer) or not keys.size):
            raise InputError(f"seeds must be integers, one for each value, got shape {keys.shape} of {keys.dtype}")
        if (keys < 0).any():
            raise InputError(f"seeds must be 0 or more, got {int(keys.min())} in row {int(np.argmin(keys)) + 1}")
        return (keys.astype(np.int64) % SEEDS) * self.n_values + told

    def hashes(self, code: int, seeds: np.ndarray) -> np.ndarray:
        """Return the value (N,) of the hash of one category under each seed."""
        return (xxh32(str(code).encode(), seeds) % np.uint32(self.n_values)).astype(np.int64)

    def draw(self, codes: np.ndarray, words: Words) -> np.ndarray:
        """Raise InputError: others drew these reports, and whoever wants to draw has `local_hashing`."""
        raise InputError("seeded hashing is for reports that others drew, and draws none: use local_hashing")

    def supported(self, reports: np.ndarray) -> np.ndarray:
        """Return whether each report supports each category, (N, K) bool; O(N K)."""
        found = np.empty((reports.size, len(self.categories)), dtype=bool)
        for code in range(len(self.categories)):
            found[:, code] = self.supported_at(code, reports)
        return found

    def supported_at(self, code: int, reports: np.ndarray) -> np.ndarray:
        return self.hashes(code, reports // self.n_values) == reports % self.n_values

    def support(self, reports: np.ndarray) -> np.ndarray:
        bits = np.zeros((-(-len(self.categories) // 8), reports.size), dtype=np.uint8)
        for code in range(len(self.categories)):  # a bit each: all hashes would take eight times as much
            bits[code // 8] |= self.supported_at(code, reports).astype(np.uint8) << (7 - code % 8)
        return np.ascontiguousarray(bits.T)

    def all_reports(self) -> np.ndarray:
        raise InputError(f"reports of seeded hashing cannot be listed, there are {self.n_reports} of them")
