"""Key-value reports with a place for each key, each shown or not on its own (PCKV-UE)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..categorical.unary_encoding import bernoulli
from ..errors import InputError
from ..integers.exponential import exponential_below
from ..integers.numerators import DENOMINATOR
from ..report_text import report_numbers
from ..sampling.law import Words
from ..sampling.random_words import draw53
from ..spaces.categories import Categories
from ..table.provenance import Provenance
from ..table.table import TabulatedMechanism
from .fakes import checked_mechanism, exact_table, fake_numerators, largest_odds
from .mechanism import KeyValueMechanism
from .report_text import shown_of_text, text_of_shown

PLACES_AT_ONCE = 2**22
"""Places drawn at a time: 32 MB for the numbers of their outputs."""


@dataclass(frozen=True, eq=False, repr=False)
class KeyValueUnary(KeyValueMechanism):
    r"""One number for each key: 0 where its place is not shown, else 1 + the output shown there.

    The own place is shown with probability a, with an output of M(. | v); every other one with b, with an output of D,
    independently. Under the pair (k, v) a report y is as probable as under no pair, times a M(y_k | v) / (b D(y_k)) if
    place k is shown, else (1 - a) / (1 - b). So the largest ratio of any two pairs is the largest of these factors over
    the least, at two places of one report. A set is a mixture of its pairs and cannot exceed it; sets attain it where
    there are twice as many keys as padding. Dummy keys have no place: to leave out what nobody asks for is to process
    the report.

    Source: Gu et al. (2020), PCKV-UE, whose budget is the same number for stochastic rounding.

    Example
    -------
    >>> from ..families.duchi import duchi
    >>> made = key_value_unary(["a", "b", "c"], duchi([0.0, 10.0], 1.0), 1.0)
    >>> made.failures(), made.own_shown, round(made.other_shown, 4), made.sample(["b"], [2.5]).shape
    ((), 0.5, 0.3498, (1, 3))
    """

    kind: ClassVar[str] = "key-value-unary"
    independent: ClassVar[bool] = True

    @property
    def largest_ratio(self) -> Fraction | None:
        factors = self.own_ratios()
        if factors is None or any(least == 0 for _, least in factors):
            return None
        hidden = Fraction(DENOMINATOR - self.own, DENOMINATOR - self.other)
        return max(most for most, _ in factors) / min(hidden, *(least for _, least in factors))

    def shown_at(self, places: np.ndarray, rows: np.ndarray, words: Words) -> np.ndarray:
        """Draw (N, K) int16."""
        size = len(self.keys)
        step = max(1, PLACES_AT_ONCE // size)
        reports = np.empty((places.size, size), dtype=np.int16)
        for start in range(0, places.size, step):
            part = slice(start, start + step)
            reports[part] = self._draw_block(places[part], rows[part], words)
        return reports

    def _draw_block(self, places: np.ndarray, rows: np.ndarray, words: Words) -> np.ndarray:
        size = len(self.keys)
        shown = bernoulli(self.other, places.size * size, words)
        fakes = np.flatnonzero(shown)
        block = np.zeros(shown.size, dtype=np.int16)
        block[fakes] = 1 + self.outputs(np.full(fakes.size, -1), draw53(words, fakes.size))
        true = bernoulli(self.own, places.size, words) * (1 + self.outputs(rows, draw53(words, places.size)))
        block = block.reshape(-1, size)
        real = np.flatnonzero(places < size)
        block[real, places[real]] = true[real]
        return block

    def checked_reports(self, reports: ArrayLike) -> np.ndarray:
        """Return the reports (N, K) as int16, numbers from 0 to m; InputError for others."""
        given, most = np.asarray(reports), self.value.low.size
        if given.ndim != 2 or given.shape[1] != len(self.keys) or not np.issubdtype(given.dtype, np.integer):
            raise InputError(
                f"reports must be (N, {len(self.keys)}) integers, got shape {given.shape} of {given.dtype}"
            )
        bad = ((given < 0) | (given > most)).any(axis=1)
        if bad.any():
            raise InputError(f"reports must hold numbers in 0..{most}, got others in row {int(np.argmax(bad)) + 1}")
        checked = given.astype(np.int16)
        never = ~np.r_[True, self.possible][checked]
        if never.any():
            row, place = np.argwhere(never)[0]
            raise InputError(
                f"reports must show outputs of positive probability, got {checked[row, place] - 1} in row {row + 1}, "
                "which no input gives: another mechanism made it"
            )
        return checked

    def shown(self, reports: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        report, place = np.nonzero(reports)
        return report, place, reports[report, place].astype(np.int64) - 1

    def to_text(self, reports: np.ndarray) -> list[str]:
        return text_of_shown(*self.shown(reports), len(reports))

    def from_text(self, texts: Sequence[str]) -> np.ndarray:
        """Return the reports (N, K) written as these texts; a place that comes twice is refused."""
        report, place, output = shown_of_text(texts)
        size, most = len(self.keys), self.value.low.size
        codes = report * size + report_numbers(place, size)
        outputs = report_numbers(output, most)
        if np.unique(codes).size < codes.size:
            raise InputError("a report must show a place once at most, got one shown twice: it was not written so")
        reports = np.zeros(len(texts) * size, dtype=np.int16)
        reports[codes] = 1 + outputs
        return reports.reshape(-1, size)


def key_value_unary(
    keys: Categories | Sequence[object],
    value: TabulatedMechanism,
    epsilon: float,
    *,
    padding: int = 1,
    own_shown: float = 0.5,
) -> KeyValueUnary:
    r"""Return the unary form that spends a budget wholly on pairs with this value table.

    With c = sum_o max_v M(o | v) and L <= e^epsilon, b is the least numerator with a c (1 - b) <= L b (1 - a).

    Parameters
    ----------
    keys : Categories or sequence
    value : TabulatedMechanism
        M; made exact if it is not. It may spend up to epsilon itself.
    epsilon : float
        For the whole set of a user.
    padding : int
        See `KeyValueMechanism`.
    own_shown : float
        a, in (0, 1). One half is best for the frequencies of rare keys, see `best_key_value` for means.

    Returns
    -------
    mechanism : KeyValueUnary

    Raises
    ------
    InputError
        Keys, an epsilon, a padding or a probability that is not usable.
    TableError
        A value table that spends more than epsilon.

    Source
    ------
    Gu et al. (2020), optimised PCKV-UE: for stochastic rounding at epsilon, a = 1/2 and b = 2 / (e^epsilon + 3).

    Example
    -------
    >>> import math
    >>> from optldp.mechanisms import duchi
    >>> from optldp.mechanisms.key_value import key_value_unary
    >>> made = key_value_unary(["a", "b"], duchi([-1.0, 1.0], 2.0), 2.0)
    >>> abs(made.other_shown - 2 / (math.exp(2.0) + 3)) < 1e-12, 2.0 - made.max_log_ratio < 1e-12
    (True, True)
    """
    if not 0.0 < own_shown < 1.0:
        raise InputError(f"own_shown must lie strictly between 0 and 1, got {own_shown!r}")
    table = exact_table(value)
    fake = fake_numerators(table)
    limit = exponential_below(check_epsilon(epsilon))
    own = round(own_shown * DENOMINATOR)
    weight = own * largest_odds(table, fake)
    other = -(-(weight * DENOMINATOR) // (limit * (DENOMINATOR - own) + weight))
    origin = Provenance("pckv-ue", {"value": value.provenance.method, "value_epsilon": value.epsilon})
    return checked_mechanism(KeyValueUnary(Categories.of(keys), epsilon, origin, table, padding, fake, own, other))
