"""Key-value mechanisms under audit: an input is a set of pairs, a report what is shown of the places of keys."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....mechanisms import InputError
from ....mechanisms.key_value import KeyValueMechanism
from .events import MOST_COLUMNS, STATED, Columns, Family
from .inputs import values_to_try
from .spellings import spellings
from .subject import SHORT_LINE, Kind
from .text import parsed_rows, published_rows, text_columns

MOST_KEYS = 24
"""Keys that are tried, each with several values."""

VALUES = 5
"""Values that are tried with each key, the ends among them."""

Pairs = tuple[tuple[str, float], ...]


class PairKind(Kind):
    """Sets of pairs in: none, one with each of several keys and values, half of the keys, and all of them.

    Parameters
    ----------
    mechanism : KeyValueMechanism
    epsilon : float
        The claim.
    sets : list of sets of pairs
        To try, such as `sets_to_try` returns.
    """

    def __init__(self, mechanism: KeyValueMechanism, epsilon: float, sets: list[Pairs]) -> None:
        self.mechanism, self.sets = mechanism, sets
        self.weights = np.ones(len(self.sets))
        self.claims = np.full((len(self.sets),) * 2, epsilon)

    def at(self, mechanism: KeyValueMechanism, epsilon: float) -> PairKind:
        return PairKind(mechanism, epsilon, self.sets)

    def arguments(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        """What `sample_sets` takes: holders, keys, values, and how many users there are."""
        sizes = np.array([len(pairs) for pairs in self.sets])
        starts = np.cumsum(sizes) - sizes
        keys = np.array([key for pairs in self.sets for key, _ in pairs])
        values = np.array([value for pairs in self.sets for _, value in pairs])
        held = sizes[inputs]
        users = np.repeat(np.arange(inputs.size), held)
        place = np.arange(users.size) - np.repeat(np.cumsum(held) - held, held) + np.repeat(starts[inputs], held)
        return users, keys[place], values[place], inputs.size

    def columns(self, reports: object, many: int) -> Columns:
        given = np.asarray(reports)
        unary = self.mechanism.independent
        shape = (many, len(self.mechanism.keys)) if unary else (many,)
        if given.shape != shape or not np.issubdtype(given.dtype, np.integer):
            raise InputError(f"the sampler must return {shape} whole numbers, got shape {given.shape} of {given.dtype}")
        if not unary:
            wide = given.astype(np.int64)
            place, output = np.divmod(wide, self.mechanism.value.low.size)
            return {"the report": wide, "the place": place, "the output": output}
        shown, wide = {"places shown": np.count_nonzero(given, axis=1)}, given[:, : MOST_COLUMNS - 1].astype(np.int64)
        return shown | {_place(number): column for number, column in enumerate(wide.T)}

    def lines(self) -> list[tuple[str, ...]]:
        return [spellings(pairs) for pairs in self.sets]

    def columns_of_text(self, texts: Sequence[str]) -> Columns:
        reports, foreign = parsed_rows(texts, self.mechanism.from_text, self._nothing)
        return self.columns(reports, len(texts)) | text_columns(texts) | {"no report": foreign}

    @property
    def _nothing(self) -> np.ndarray | np.generic:
        unary = self.mechanism.independent
        return np.full(len(self.mechanism.keys), -1, dtype=np.int16) if unary else np.int64(-1)

    def published(self, texts: Sequence[str]) -> list[str | None]:
        return published_rows(*parsed_rows(texts, self.mechanism.from_text, self._nothing), self.mechanism.to_text)

    def words(self, number: int) -> str:
        return "; ".join(f"{key}: {value:.6g}" for key, value in self.sets[number]) or "no pair"

    def likely_pairs(self, samples: int) -> list[tuple[int, int]]:
        pairs = [(0, VALUES), (0, VALUES - 1)]  # another key, another value
        return [*pairs, (0, len(self.sets) - 1)]

    def pair_families(self, first: int, second: int) -> Sequence[Family]:
        keys = [pairs[0][0] for pairs in (self.sets[first], self.sets[second]) if pairs]
        places = self.mechanism.keys.codes(np.array(list(dict.fromkeys(keys)))).tolist()
        outputs = self.mechanism.value.low.size + 1

        def together(columns: Columns) -> np.ndarray:
            code = np.zeros(next(iter(columns.values())).size, dtype=np.int64)
            for place in places:
                code = code * outputs + self._shown_at(columns, place)
            return code

        return [Family(STATED, "what is shown at the two own places", together)]

    def _shown_at(self, columns: Columns, place: int) -> np.ndarray:
        if self.mechanism.independent:
            return columns.get(_place(place), columns["places shown"])
        return np.where(columns["the place"] == place, 1 + columns["the output"], 0)

    @property
    def places(self) -> int:
        return len(self.mechanism.keys) if self.mechanism.independent else 1

    @property
    def longest_line(self) -> int:
        return SHORT_LINE + 16 * len(self.mechanism.keys)

    def foreign(self, columns: Columns, mechanism: KeyValueMechanism | None = None) -> np.ndarray:
        made = mechanism or self.mechanism
        if "no report" in columns:
            return columns["no report"] > 0
        if made.independent:
            most = made.value.low.size
            outside = [(column < 0) | (column > most) for name, column in columns.items() if name != "places shown"]
            return np.any(outside, axis=0)
        most = len(made.keys) + made.padding
        return (columns["the place"] < 0) | (columns["the place"] >= most)


def sets_to_try(mechanism: KeyValueMechanism, rng: np.random.Generator) -> list[Pairs]:
    """Return sets of pairs, each once: one pair of each of several keys and values, half of the keys, all, and none.

    Example
    -------
    >>> from ....mechanisms import duchi
    >>> from ....mechanisms.key_value.unary import key_value_unary
    >>> sets_to_try(key_value_unary(["a", "b"], duchi([0.0, 1.0], 1.0), 1.0), np.random.default_rng(1))[0]
    (('a', 0.0),)
    """
    labels = mechanism.keys.labels
    keys = [labels[i] for i in np.unique(np.linspace(0, len(labels) - 1, min(MOST_KEYS, len(labels))).astype(int))]
    every = values_to_try(mechanism.value, rng)
    values = every[np.linspace(0, every.size - 1, VALUES).astype(int)].tolist()
    low, high = mechanism.value.domain
    sets: list[Pairs] = [((key, value),) for key in keys for value in values]
    sets += [tuple((key, low) for key in keys[::2]), tuple((key, high) for key in keys)]
    if mechanism.padding:
        sets.append(())
    return list(dict.fromkeys(sets))


def _place(number: int) -> str:
    return f"place {number} of the report"
