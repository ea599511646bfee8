r"""Pairs of a key and a value: one pair of a user's is sampled, and its key and value are randomised together.

There is a place for each key. Whatever the form of the report, the user's own place shows with probability a an output
of a value table M(. | v), which is true of the value; any other place shows with probability b an output of a fake law
D, which is the same for everybody. Keys and values thus share one budget: who doubts the key must doubt the value too.
Given M, the best D is proportional to max_v M(o | v). Its largest ratio is then the same at all outputs,

    M(o | v) / D(o) <= c = sum_o max_v M(o | v),

c being between 1 and e^epsilon of M (log c is the table's maximal leakage), and M may spend nearly the whole budget.

Source: Gu, Li, Cheng, Xiong and Cao (2020), "PCKV: Locally differentially private correlated key-value data collection
with optimized utility", for stochastic rounding, where c = 2 e^epsilon / (e^epsilon + 1) and D is even.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..categorical.mechanism import whole_number
from ..cost import require_affordable, table_cost
from ..display.summary import Dots, Told
from ..documents.bundle import Nested, require_exact
from ..documents.exact_mechanism import ExactMechanism
from ..documents.exact_table import numerators_from_document, require_denominator
from ..documents.table import as_number, as_object, provenance_from_document, provenance_to_document, require_keys
from ..errors import InputError, TableError
from ..exactness.proof import prove
from ..integers.numerators import DENOMINATOR, check_numerators
from ..sampling.drawing import invert_rows
from ..sampling.law import Words
from ..spaces.categories import Categories
from ..spaces.interval import Interval
from ..spaces.pairs import SampledPairs, SetsOfPairs
from ..table.exact_sampling import ExactLaw
from ..table.provenance import Provenance
from ..table.table import TabulatedMechanism

MOST_OUTPUTS = 2**15 - 2
"""Outputs of a value table: a report holds their numbers in 16 bits."""

MOST_PADDING = 2**20
"""Dummy keys; also more than a report could tell apart in any useful way."""


@dataclass(frozen=True, eq=False)
class KeyValueMechanism(ExactMechanism):
    """A randomizer of sets of pairs (key, value), no key twice in a set.

    A user of s pairs samples each with probability 1 / max(s, padding, 1), else one of `padding` dummy keys. Reports
    hold numbers of outputs of the value table, since the place within a cell carries no information.

    Parameters
    ----------
    keys : Categories
    epsilon : float
        The privacy budget that it claims to keep, for whole sets: any two sets that users may hold.
    provenance : Provenance
    value : TabulatedMechanism
        M, exact, with m outputs; its domain is that of the values.
    padding : int
        Pairs that a user may hold without losing any; 0 where every user holds exactly one.
    fake : (m,) array_like of int
        D over 2^53.
    own, other : int
        a and b over 2^53: the probabilities that the own place, and that another place, is shown.

    Raises
    ------
    TableError
        A table that is not exact or has more than 32,766 outputs, or numerators that are invalid or out of order.
    InputError
        Fewer than two keys, an epsilon or a padding that is not usable, or keys times outputs that would cost too much,
        see `allow_large`.

    Example
    -------
    >>> from optldp.mechanisms import duchi
    >>> from optldp.mechanisms.key_value import best_key_value
    >>> made = best_key_value(["cook", "smith"], lambda budget: duchi([0.0, 10.0], budget), 1.0)
    >>> made.keys.labels, made.value.domain, round(made.own_shown, 3)
    (('cook', 'smith'), (0.0, 10.0), 0.6)
    """

    of_levels: ClassVar[str | None] = "personalised-pairs"
    independent: ClassVar[bool]
    """Whether each place is shown or not by itself; else a report shows one place alone."""

    keys: Categories
    epsilon: float
    provenance: Provenance
    value: TabulatedMechanism
    padding: int
    fake: np.ndarray
    own: int
    other: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", Categories.of(self.keys))
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        if not isinstance(self.value, TabulatedMechanism):
            raise TableError(f"the value table must be a TabulatedMechanism, got {self.value!r}")
        require_exact("the value table", self.value)
        if self.value.low.size > MOST_OUTPUTS:
            raise TableError(f"the value table must have at most {MOST_OUTPUTS} outputs, got {self.value.low.size}")
        if type(self.padding) is not int or not 0 <= self.padding <= MOST_PADDING:
            raise InputError(f"padding must be a whole number in 0..{MOST_PADDING}, got {self.padding!r}")
        require_affordable(
            f"pairs of {len(self.keys)} keys and {self.value.low.size} outputs",
            table_cost(len(self.keys), self.value.low.size),
            "use fewer of either",
        )
        law = np.asarray(self.fake)
        if law.shape != self.value.low.shape or not np.issubdtype(law.dtype, np.integer):
            raise TableError(f"fake must be whole numbers, one for each output, got shape {law.shape} of {law.dtype}")
        object.__setattr__(self, "fake", check_numerators(law.astype(np.int64)[None])[0])
        self.fake.setflags(write=False)
        if not (type(self.own) is type(self.other) is int and 0 < self.other < self.own < DENOMINATOR):
            raise TableError(f"whole numbers 0 < other < own < 2^53 are needed, got {self.other!r} and {self.own!r}")

    def __repr__(self) -> str:
        inner = f"epsilon={self.epsilon:g}, keys={len(self.keys)}, value={self.value.provenance.method!r}"
        return f"{type(self).__name__}({inner})"

    def _told(self) -> Told:
        facts = {
            "method": self.value.provenance.method,
            "epsilon": self.epsilon,
            "keys": len(self.keys),
            "padding": self.padding,
            "own_shown": self.own_shown,
            "other_shown": self.other_shown,
        }
        labels, values = ["the own key", "any other one"], np.array([self.own_shown, self.other_shown])
        return Told(facts, picture=Dots(labels, values, "probability of being shown"))

    def members(self) -> dict[str, Any]:
        return {
            "keys": list(self.keys.labels),
            "epsilon": self.epsilon,
            "provenance": provenance_to_document(self.provenance),
            "value": self.value,
            "padding": self.padding,
            "denominator": DENOMINATOR,
            "fake": self.fake[None],
            "own": self.own,
            "other": self.other,
        }

    @classmethod
    def from_members(cls, members: Mapping[str, Any], nested: Nested) -> Self:
        names = "keys", "epsilon", "provenance", "value", "padding", "denominator", "fake", "own", "other"
        require_keys("the mechanism", members, names)
        labels = members["keys"]
        if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
            raise TableError("keys must be a list of texts")
        require_denominator(members["denominator"])
        fake = numerators_from_document(members["fake"])
        if len(fake) != 1:
            raise TableError(f"fake must be one row, got {len(fake)}")
        return cls(
            Categories(labels),
            as_number("epsilon", members["epsilon"]),
            provenance_from_document(as_object("provenance", members["provenance"])),
            nested(members["value"]),
            whole_number("padding", members["padding"]),
            fake[0],
            whole_number("own", members["own"]),
            whole_number("other", members["other"]),
        )

    @property
    def inputs(self) -> SetsOfPairs:
        """Sets of pairs, of each of which one is sampled."""
        return SetsOfPairs(self.keys, Interval(*self.value.domain, self.value.units), self.padding)

    def nature(self) -> dict[str, object]:
        table = self.value
        return {
            "kinds": type(self).__name__,
            "keys": self.keys.labels,
            "paddings": self.padding,
            "units": table.units,
            "numbers of outputs": table.low.size,
            "knots": table.knots.tolist(),
            "possible outputs": self.possible.tolist(),
        }

    @property
    def own_shown(self) -> float:
        """a, the probability that a user's own place is shown."""
        return self.own / DENOMINATOR

    @property
    def other_shown(self) -> float:
        """b, the probability that any one other place is shown."""
        return self.other / DENOMINATOR

    @property
    def fake_law(self) -> np.ndarray:
        """(m,) probability of each output at other places that are shown."""
        return self.fake / DENOMINATOR

    @cached_property
    def possible(self) -> np.ndarray:
        """(m,) whether an output can be shown at a key at all, true or fake."""
        return self.value.possible | (self.fake > 0)

    @property
    def share_scale(self) -> int:
        """How many times more users hold a key than sample it, provided that none holds more pairs: max(padding, 1)."""
        return max(self.padding, 1)

    def sample(self, keys: ArrayLike, values: ArrayLike, rng: np.random.Generator | None = None) -> np.ndarray:
        """Draw one report for each user, who holds one pair or, if there is padding, none.

        Parameters
        ----------
        keys : (N,) array_like of str
            Labels; empty text or None for a user without a pair.
        values : (N,) array_like of float
            In the domain of the value table; NaN for a user without a pair.
        rng : numpy.random.Generator, optional
            For simulations only. Without it the operating system's generator is used.

        Returns
        -------
        (N, ...) ndarray
            Reports, of the kind that `checked_reports` describes.

        Raises
        ------
        InputError
            Unknown keys, values outside the domain, a key without a value, a value without a key, a user without a
            pair where padding is 0; an rng of another kind.
        """
        return self.drawn((keys, values), rng)

    def sample_sets(
        self,
        users: ArrayLike,
        keys: ArrayLike,
        values: ArrayLike,
        n_users: int,
        rng: np.random.Generator | None = None,
    ) -> np.ndarray:
        """Draw one report for each of N users, who hold any number of pairs, all listed in one long table.

        Parameters
        ----------
        users : (P,) array_like of int
            0..N-1, the holder of each pair, in any order.
        keys, values : (P,) array_like
            As for `sample`, none missing.
        n_users : int
            N; users without a row hold no pair.
        rng : numpy.random.Generator, optional

        Returns
        -------
        (N, ...) ndarray

        Raises
        ------
        InputError
            What `sample` raises; users that are not in 0..N-1, or one that holds a key twice.
        """
        return self.drawn(self.inputs.of_sets(users, keys, values, n_users), rng)

    def draw(self, held: SampledPairs, words: Words, /) -> np.ndarray:
        """Draw one report for each sampled pair."""
        return self.shown_at(held.places, self._value_law.rows(held.values, words), words)

    @cached_property
    def _value_law(self) -> ExactLaw:
        table = self.value
        return ExactLaw.of(table.knots, table.low, table.high, table.numerators, table.within)

    @cached_property
    def _cumulative(self) -> np.ndarray:
        """(n + 1, m) running sums of the value table's rows, and last of the fake law."""
        return np.cumsum(np.vstack([self.value.numerators, self.fake]), axis=1)

    def outputs(self, rows: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        """Return the output (N,) that 53 random bits pick from each row of the table; -1 is the fake law's row."""
        return invert_rows(self._cumulative, rows % len(self._cumulative), uniform)

    @abstractmethod
    def shown_at(self, places: np.ndarray, rows: np.ndarray, words: Words) -> np.ndarray:
        """Draw one report for each place (N,), dummies following the keys, whose value was rounded to a row (N,)."""

    @abstractmethod
    def shown(self, reports: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the report, the place and the output of everything that is shown, three (S,) arrays."""

    def failures(self) -> tuple[str, ...]:
        """Return what breaks the promise for sets, and what the value table breaks of its own."""
        return (*super().failures(), *(f"value table: {failure}" for failure in prove(self.value).failures))

    def own_ratios(self) -> list[tuple[Fraction, Fraction]] | None:
        """Return, for each output, the largest and the least of a M(o | v) / (b D(o)); None for a division by zero.

        Outputs that cannot occur are left out.
        """
        numerators = self.value.numerators
        columns = zip(numerators.max(axis=0).tolist(), numerators.min(axis=0).tolist(), self.fake.tolist(), strict=True)
        possible = [(most, least, fake) for most, least, fake in columns if most or fake]
        if not all(fake for _, _, fake in possible):
            return None
        odds = Fraction(self.own, self.other)
        return [(odds * Fraction(most, fake), odds * Fraction(least, fake)) for most, least, fake in possible]
