"""Pairs of a key and a value at budgets of the users' own: one pair is sampled and shown at the level chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..categorical.categories import Categories
from ..errors import InputError
from ..key_value.mechanism import KeyValueMechanism
from ..key_value.pairs import Pairs, pairs_of_sets, pairs_of_users
from ..laws.law import Words
from ..table.exact_sampling import random_words
from .levelled import Levelled, PersonalisedReports, require_alike


@dataclass(frozen=True, eq=False, init=False, repr=False)
class PersonalisedPairs(Levelled[KeyValueMechanism]):
    """t mechanisms for the same pairs of keys and values, of increasing budgets, and a report of which was used.

    A user of level i samples a pair, as at any level, and reports it through the i-th mechanism. What is promised is
    said at `PersonalisedMechanism`; `level_leakage` is that of the set of pairs that tells most of the level, together
    with the level's own report. Reports tell outputs of the value tables by their numbers, so that tables whose outputs
    lie elsewhere at each level, such as Duchi's, do not give the level away; a place for each of many keys does.

    Parameters
    ----------
    levels : sequence of KeyValueMechanism
        2 to 256 with strictly increasing epsilons: of one form, for the same keys with the same padding; their value
        tables on the same knots in the same units, with as many outputs of which the same are possible.
    level_epsilon : float, optional
        Budget of the level's own report, by randomised response. None: levels are reported in the clear.
    level_mechanism : CategoricalMechanism, optional
        Of as many categories as levels: another protocol for the level's report, in place of `level_epsilon`.

    Raises
    ------
    InputError
        Levels that are too few or many, not in order, or do not match; a budget that is not usable.

    Example
    -------
    >>> from optldp.mechanisms import duchi
    >>> from optldp.mechanisms.composed import PersonalisedPairs
    >>> from optldp.mechanisms.key_value.response import key_value_response
    >>> jobs = ["cook", "nurse", "pilot"]
    >>> levels = [key_value_response(jobs, duchi([0.0, 60.0], epsilon), epsilon) for epsilon in (0.5, 1.0)]
    >>> made = PersonalisedPairs(levels, 0.3)
    >>> sent = made.sample(["cook", "", "pilot"], [20.0, float("nan"), 35.0], [0, 1, 1])
    >>> sent.levels.shape, sent.reports.shape, round(made.level_leakage, 3)
    ((3,), (3,), 0.683)
    """

    kind: ClassVar[str] = "personalised-pairs"

    def _check_kinds(self) -> None:
        for level in self.levels:
            if not isinstance(level, KeyValueMechanism):
                raise InputError(f"levels must be mechanisms for pairs of keys and values, got {level!r:.60}")

    def _check_match(self) -> None:
        whats = "forms", "keys", "paddings", "units", "numbers of outputs", "knots", "possible outputs"
        for other in self.levels[1:]:
            require_alike(whats, _nature(self.levels[0]), _nature(other))

    def _places(self) -> int:
        return len(self.keys) * (1 + self.levels[0].value.low.size)

    @property
    def keys(self) -> Categories:
        """The keys."""
        return self.levels[0].keys

    @property
    def domain(self) -> tuple[float, float]:
        """Lowest and highest value."""
        return self.levels[0].value.domain

    @property
    def padding(self) -> int:
        """Pairs that a user may hold without losing any, at every level."""
        return self.levels[0].padding

    def sample(
        self, keys: ArrayLike, values: ArrayLike, levels: ArrayLike, rng: np.random.Generator | None = None
    ) -> PersonalisedReports:
        """Draw the reports of users who hold one pair each or, if there is padding, none.

        Parameters
        ----------
        keys : (N,) array_like of str
            Labels; empty text or None for a user without a pair.
        values : (N,) array_like of float
            In the domain; NaN for a user without a pair.
        levels : (N,) array_like of int
            The number of the level that each user chose, from 0, the most private; see `level_numbers`.
        rng : numpy.random.Generator, optional
            For simulations only: whoever knows its seed can undo the noise.

        Raises
        ------
        InputError
            What `KeyValueMechanism.sample` raises, unknown levels, or lists of different lengths.
        """
        return self._drawn(pairs_of_users(self.keys, self.domain, keys, values), np.size(np.asarray(keys)), levels, rng)

    def sample_sets(
        self,
        users: ArrayLike,
        keys: ArrayLike,
        values: ArrayLike,
        levels: ArrayLike,
        rng: np.random.Generator | None = None,
    ) -> PersonalisedReports:
        """Draw the reports of N users, who hold any number of pairs, all listed in one long table.

        Parameters
        ----------
        users : (P,) array_like of int
            0..N-1, the holder of each pair, in any order; users without a row hold no pair.
        keys, values : (P,) array_like
            As for `sample`, none missing.
        levels : (N,) array_like of int
            As for `sample`.
        rng : numpy.random.Generator, optional

        Raises
        ------
        InputError
            What `KeyValueMechanism.sample_sets` raises, or unknown levels.
        """
        many = np.size(np.asarray(levels))
        return self._drawn(pairs_of_sets(self.keys, self.domain, users, keys, values, many), many, levels, rng)

    def _drawn(self, pairs: Pairs, n: int, levels: ArrayLike, rng: np.random.Generator | None) -> PersonalisedReports:
        places, held = self.levels[0].sampled_places(*pairs, n, random_words(rng))

        def draw(level: KeyValueMechanism, users: np.ndarray, words: Words) -> np.ndarray:
            return level.report_places(places[users], held[users], words)

        return self._reported(n, levels, rng, draw)


def _nature(level: KeyValueMechanism) -> tuple[object, ...]:
    table = level.value
    told = level.keys.labels, level.padding, table.units, table.low.size, table.knots.tolist(), level.possible.tolist()
    return type(level).__name__, *told
