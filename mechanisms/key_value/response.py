"""Key-value reports of one place: randomised response to the key, with an output of the value (PCKV-GRR)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..errors import InputError, TableError
from ..integers.exponential import exponential_below
from ..integers.numerators import DENOMINATOR
from ..report_text import report_numbers, require_possible
from ..sampling.law import Words
from ..sampling.random_words import draw53
from ..spaces.categories import Categories
from ..table.provenance import Provenance
from ..table.table import TabulatedMechanism
from .fakes import checked_mechanism, exact_table, fake_numerators, largest_odds
from .mechanism import KeyValueMechanism
from .report_text import shown_of_text, text_of_shown


@dataclass(frozen=True, eq=False, repr=False)
class KeyValueResponse(KeyValueMechanism):
    r"""One place of K keys and l dummy keys, with an output: the number place * m + output.

    It is the own place with probability a, each other one with b = (1 - a) / (K + l - 1); the output then is one of
    M(. | v) if the own place is that of a key, else of D. A pair is sampled with probability q at most, 1 / max(l, 1),
    so the ratio of two sets at output o of a key is at most

        max(1, 1 + q (R - 1)) / min(1, 1 + q (r - 1)),   R, r = a max_v, min_v M(o | v) / (b D(o)),

    which is attained, by users of one pair and of none. At a dummy key it is 1 + q (a / b - 1), never more than the
    largest of these, since R is a / b at least for some output.

    Source: Gu et al. (2020), PCKV-GRR, whose budget is the same number for stochastic rounding.

    Example
    -------
    >>> from ..families.duchi import duchi
    >>> made = key_value_response(["a", "b", "c"], duchi([0.0, 10.0], 1.0), 1.0)
    >>> made.failures(), round(made.own_shown, 4), made.sample(["b"], [2.5]).shape
    ((), 0.3826, (1,))
    """

    kind: ClassVar[str] = "key-value-response"
    independent: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.own + (self.n_places - 1) * self.other != DENOMINATOR:
            raise TableError(f"own must leave equal shares of 2^53 to {self.n_places - 1} places, got {self.own!r}")

    @property
    def n_places(self) -> int:
        """Keys and dummy keys, K + l."""
        return len(self.keys) + self.padding

    @property
    def largest_ratio(self) -> Fraction | None:
        factors = self.own_ratios()
        if factors is None:
            return None
        share = likeliest_pair(self.padding)
        one = Fraction(1)
        pairs = [(max(one, _mixed(most, share)), min(one, _mixed(least, share))) for most, least in factors]
        if any(least == 0 for _, least in pairs):
            return None
        return max(most / least for most, least in pairs)

    def shown_at(self, places: np.ndarray, rows: np.ndarray, words: Words) -> np.ndarray:
        """Draw (N,) int64."""
        uniform = draw53(words, places.size) - self.own
        step = np.where(uniform < 0, 0, 1 + uniform // self.other)
        true = (step == 0) & (places < len(self.keys))
        outputs = self.outputs(np.where(true, rows, -1), draw53(words, places.size))
        return (places + step) % self.n_places * self.value.low.size + outputs

    def checked_reports(self, reports: ArrayLike) -> np.ndarray:
        """Return the reports (N,) as int64, numbers below (K + l) m; InputError for others and impossible ones."""
        size = self.value.low.size
        checked = report_numbers(reports, self.n_places * size)
        place, output = np.divmod(checked, size)
        require_possible(np.where(place < len(self.keys), self.possible[output], self.fake[output] > 0), checked)
        return checked

    def shown(self, reports: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        place, output = np.divmod(reports, self.value.low.size)
        return np.arange(reports.size), place, output

    def to_text(self, reports: np.ndarray) -> list[str]:
        return text_of_shown(*self.shown(reports), len(reports))

    def from_text(self, texts: Sequence[str]) -> np.ndarray:
        """Return the reports (N,) written as these texts, of one place each."""
        report, place, output = shown_of_text(texts)
        if not np.array_equal(report, np.arange(len(texts))):
            raise InputError("a report must show one place, got none or several: another mechanism made it")
        outputs = report_numbers(output, self.value.low.size)
        return report_numbers(place, self.n_places) * self.value.low.size + outputs


def likeliest_pair(padding: int) -> Fraction:
    """Return q, the largest probability with which any one pair of a user is sampled: 1 / max(padding, 1) rounded up.

    Example
    -------
    >>> likeliest_pair(0), float(likeliest_pair(3)) > 1 / 3
    (Fraction(1, 1), True)
    """
    return Fraction(-(-DENOMINATOR // max(padding, 1)), DENOMINATOR)


def _mixed(ratio: Fraction, share: Fraction) -> Fraction:
    return 1 + share * (ratio - 1)


def key_value_response(
    keys: Categories | Sequence[object], value: TabulatedMechanism, epsilon: float, *, padding: int = 1
) -> KeyValueResponse:
    r"""Return the randomised response that spends a budget wholly on pairs with this value table.

    With c = sum_o max_v M(o | v), L <= e^epsilon and q the probability of a pair, a / b is at most
    (1 + (L - 1) / q) / c. Sampling thus lets the value table spend log(1 + l (e^epsilon - 1)), more than epsilon.

    Parameters
    ----------
    keys : Categories or sequence
    value : TabulatedMechanism
        M; made exact if it is not.
    epsilon : float
        For the whole set of a user.
    padding : int
        See `KeyValueMechanism`.

    Returns
    -------
    mechanism : KeyValueResponse

    Raises
    ------
    InputError
        Keys, an epsilon or a padding that is not usable.
    TableError
        A value table that exceeds its budget.

    Source
    ------
    Gu et al. (2020), optimised PCKV-GRR: for stochastic rounding eps_1 = log(l (e^epsilon - 1) / 2 + 1) and
    eps_2 = log(l (e^epsilon - 1) + 1).

    Example
    -------
    >>> import math
    >>> from optldp.mechanisms import duchi
    >>> from optldp.mechanisms.key_value import key_value_response
    >>> made = key_value_response(["a", "b"], duchi([-1.0, 1.0], math.log(3 * math.expm1(1.0) + 1)), 1.0, padding=3)
    >>> abs(made.own / made.other - (1.5 * math.expm1(1.0) + 1)) < 1e-10, 1.0 - made.max_log_ratio < 1e-10
    (True, True)
    """
    names, table = Categories.of(keys), exact_table(value)
    fake = fake_numerators(table)
    limit = exponential_below(check_epsilon(epsilon))
    odds = (1 + (limit - 1) / likeliest_pair(padding)) / largest_odds(table, fake)
    others = len(names) + padding - 1
    other = -(-DENOMINATOR // (odds + others))
    origin = Provenance("pckv-grr", {"value": value.provenance.method, "value_epsilon": value.epsilon})
    own = DENOMINATOR - others * other
    return checked_mechanism(KeyValueResponse(names, epsilon, origin, table, padding, fake, own, other))
