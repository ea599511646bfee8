"""Draws of pairs, of several attributes and at levels, part by part as docs/bundle-format.md takes words.

Each part is the library's own. It draws many users at once, which takes the words of one in another order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from optldp.mechanisms import (
    AttributeSampling,
    CategoricalMechanism,
    PersonalisedMechanism,
    TabulatedMechanism,
)
from optldp.mechanisms.categorical.unary_encoding import bernoulli
from optldp.mechanisms.documents.bundle import Bundle
from optldp.mechanisms.key_value import KeyValueMechanism
from optldp.mechanisms.key_value.unary import KeyValueUnary
from optldp.mechanisms.sampling.subsets import random_subsets
from optldp.mechanisms.table.exact_sampling import ExactLaw

from .categories import EDGE, SEED, in_parts, report_of, scripted

DRAWS = 12
"""Of each value; every third of words at the edges of what they may be."""

MANY_WORDS = 64
"""More than any of these reports takes."""


def combined_draws(mechanism: Bundle, values: list[Any]) -> Iterator[tuple[Any, list[str], str]]:
    """Yield values, words in hexadecimal, and the line that the library's parts make of them.

    Example
    -------
    >>> from optldp.mechanisms.categorical import categorical_grr
    >>> levels = PersonalisedMechanism([categorical_grr(["no", "yes"], each) for each in (0.5, 1.0)])
    >>> next(combined_draws(levels, [["no", 1]]))[::2]
    (['no', 1], '1,1')
    """
    rng = np.random.default_rng(SEED)
    for value in values:
        for number in range(DRAWS):
            words = rng.integers(0, 2**64 - 1, MANY_WORDS, dtype=np.uint64, endpoint=True)
            if number % 3 == 1:
                words = np.where(rng.integers(2, size=MANY_WORDS) == 0, words, rng.choice(EDGE, MANY_WORDS))
            yield value, [f"{word:x}" for word in words.tolist()], line_of(mechanism, value, iter(words.tolist()))


def line_of(mechanism: Any, value: Any, words: Iterator[int]) -> str:
    """Return the report of a value as a line of docs/report-format.md, by words of 64 bits."""
    if isinstance(mechanism, CategoricalMechanism):
        return report_of(mechanism, mechanism.categories.labels.index(value), words)
    if isinstance(mechanism, TabulatedMechanism):
        return repr(float(_law(mechanism).draw(np.array([value], dtype=float), scripted(words))[0]) + 0.0)
    if isinstance(mechanism, AttributeSampling):
        drawn = random_subsets(1, len(mechanism.attributes), mechanism.sampled, scripted(words))[0]
        parts = zip(drawn, mechanism.mechanisms, value, strict=True)
        return ",".join(line_of(table, number, words) if mine else "" for mine, table, number in parts)
    if isinstance(mechanism, KeyValueMechanism):
        return _pairs(mechanism, value, words)
    assert isinstance(mechanism, PersonalisedMechanism)
    inner, level = value
    report = line_of(mechanism.levels[level], inner, words)
    return f"{_level(mechanism, level, words)},{report}"


def _law(table: TabulatedMechanism) -> ExactLaw:
    return ExactLaw.of(table.knots, table.low, table.high, table.numerators, table.within)


def _level(mechanism: PersonalisedMechanism, level: int, words: Iterator[int]) -> int:
    protocol = mechanism.level_report.protocol
    if protocol is None:
        return level
    return protocol.to_text(protocol.all_reports()).index(report_of(protocol, level, words))


def _pairs(mechanism: KeyValueMechanism, pairs: list[Any], words: Iterator[int]) -> str:
    size = max(len(pairs), mechanism.padding, 1)
    number = (next(words) >> 11) % size
    key, value = pairs[number] if number < len(pairs) else (None, mechanism.value.domain[0])
    place = len(mechanism.keys) + number if key is None else mechanism.keys.labels.index(key)
    row = int(_law(mechanism.value).rows(np.array([value], dtype=float), scripted(words))[0])
    output = _output(mechanism, row, next(words))
    if isinstance(mechanism, KeyValueUnary):
        shown = []
        for code in range(len(mechanism.keys)):
            share = mechanism.own if code == place else mechanism.other
            one, fake = bernoulli(share, 1, in_parts(next(words)))[0], _output(mechanism, -1, next(words))
            shown += [f"{code}:{output if code == place else fake}"] if one else []
        return ";".join(shown) or "-"
    over = (next(words) >> 11) - mechanism.own
    fake = _output(mechanism, -1, next(words))
    step = 0 if over < 0 else 1 + over // mechanism.other
    truly = step == 0 and key is not None
    return f"{(place + step) % (len(mechanism.keys) + mechanism.padding)}:{output if truly else fake}"


def _output(mechanism: KeyValueMechanism, row: int, word: int) -> int:
    return int(mechanism.outputs(np.array([row]), np.array([word >> 11]))[0])
