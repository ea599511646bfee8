"""The exact law of a sampler, by enumeration: its random words replaced by every word at which something turns.

A sampler asks `os.urandom` for words. A coin is a word, or a quarter of one where sixteen bits decide. For each coin in
turn the words are cut into pieces at the thresholds that the proved law has; a piece's ends, and what follows them,
must come to the same, else bisection finds where the sampler really turns. Lengths of pieces are probabilities, as
fractions. So a threshold that is one unit off, or missing, shows in the law.
"""

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any
from unittest.mock import patch

D = 2**53
IDLE_BITS = 0, 0xA5A5_5A5A_F0F0_0F0F
"""What stands in coins on which nothing may depend."""

Law = dict[Any, Fraction]


@dataclass(frozen=True)
class Turns:
    """A coin that decides by comparison: outcomes may change at these values of it and, it is claimed, nowhere else."""

    at: tuple[int, ...] = ()

    @classmethod
    def at53(cls, numbers: Iterable[int]) -> "Turns":
        """Comparisons of the upper 53 bits of a word with these numbers."""
        return cls(tuple(int(number) << 11 for number in numbers))


@dataclass(frozen=True)
class Residues:
    """A coin that decides by its remainder once the lowest bits are dropped; `redrawn` if the last ones are refused."""

    size: int
    dropped: int = 0
    redrawn: bool = False


@dataclass(frozen=True)
class Idle:
    """A coin on which the outcome must not depend, whatever its bits."""


How = Turns | Residues | Idle


@dataclass(frozen=True)
class Call:
    """What one request for words decides: `how` by the number of the coin in it, and whether coins have 16 bits."""

    how: Callable[[int], How]
    quarters: bool = False


def always(how: How) -> Call:
    """A request in which all coins decide alike."""
    return Call(lambda coin: how)


class MissingCoin(BaseException):
    """A coin was asked for that the script does not hold; no code under test catches it."""


@dataclass
class Script:
    """Coins to be handed out, and a record of how many there were and what kind each was."""

    coins: Sequence[int]
    calls: Sequence[Call]
    idle: int = 0
    onwards: int | None = None
    asked: int = 0
    used: int = 0
    words: int = 0
    missing: tuple[How, int] = field(default=(Idle(), 64))
    choices: int = 1

    def urandom(self, size: int) -> bytes:
        """Stand in for `os.urandom`."""
        call = self.calls[min(self.asked, len(self.calls) - 1)]
        self.asked += 1
        self.words += size // 8
        bits = 16 if call.quarters else 64
        drawn = [self._coin(call.how(number), bits) for number in range(8 * size // bits)]
        return b"".join(coin.to_bytes(bits // 8, "little") for coin in drawn)

    def _coin(self, how: How, bits: int) -> int:
        if isinstance(how, Idle):
            return self.idle & (2**bits - 1)
        self.used += 1
        if self.used <= len(self.coins):
            return self.coins[self.used - 1]
        if self.onwards is None:
            self.missing = how, bits
            raise MissingCoin
        values = representatives(how, bits)
        if self.used > len(self.coins) + 1:
            return Random(self.onwards).choice(values)
        self.choices = len(values)
        return values[self.onwards]


def pieces(how: How, bits: int) -> Iterator[tuple[int, int, Fraction]]:
    """Two values of each piece of a coin, its least and its largest, and the piece's probability."""
    whole = 2**bits
    if isinstance(how, Residues):
        count = whole >> how.dropped
        accepted = count - count % how.size if how.redrawn else count
        for rest in range(how.size):
            many = (accepted - rest + how.size - 1) // how.size
            last = rest + (many - 1) * how.size
            yield rest << how.dropped, (last << how.dropped) + 2**how.dropped - 1, Fraction(many, accepted)
        return
    assert isinstance(how, Turns)
    edges = sorted({0, whole, *(turn for turn in how.at if 0 < turn < whole)})
    for low, end in pairwise(edges):
        yield low, end - 1, Fraction(end - low, whole)


def representatives(how: How, bits: int) -> list[int]:
    """The ends of all pieces."""
    return [value for low, high, _ in pieces(how, bits) for value in (low, high)]


def enumerated_law(draw: Callable[[], Hashable], calls: Sequence[Call]) -> Law:
    """Return the probability of every pair of an outcome and a number of words; AssertionError if idle bits matter."""

    def run(script: Script) -> Hashable:
        with patch.object(os, "urandom", script.urandom):
            outcome = draw()
        return outcome, script.words

    def seen(coins: tuple[int, ...]) -> list[Hashable]:
        """What comes of these coins and every value of the next one at which something turns, others at random."""
        found, choices = [], 1
        while len(found) < choices:
            script = Script(coins, calls, onwards=len(found))
            found.append(run(script))
            choices = script.choices
        return found

    def parts(before: tuple[int, ...], low: int, high: int, same: bool) -> Iterator[tuple[int, int]]:
        """Cut a piece further where its ends differ, until they do not."""
        if same or seen((*before, low)) == seen((*before, high)):
            yield low, high
            return
        inside, outside = low, high
        while outside - inside > 1:
            middle = (inside + outside) // 2
            if seen((*before, middle)) == seen((*before, low)):
                inside = middle
            else:
                outside = middle
        yield low, inside
        yield from parts(before, outside, high, outside == high)

    def law(before: tuple[int, ...]) -> Law:
        scripts = [Script(before, calls, idle) for idle in IDLE_BITS]
        try:
            outcomes = {run(script) for script in scripts}
        except MissingCoin:
            how, bits = scripts[0].missing
        else:
            assert len(outcomes) == 1, "the outcome must not depend on idle bits"
            return {outcomes.pop(): Fraction(1)}
        total: Law = {}
        for low, high, share in pieces(how, bits):
            if isinstance(how, Residues):
                assert seen((*before, low)) == seen((*before, high)), "a remainder must decide alone"
                shares = [(low, share)]
            else:
                cut = parts(before, low, high, low == high)
                shares = [(first, share * Fraction(last - first + 1, high - low + 1)) for first, last in cut]
            for value, weight in shares:
                for outcome, probability in law((*before, value)).items():
                    total[outcome] = total.get(outcome, Fraction(0)) + weight * probability
        return total

    return law(())


def marginal(law: Law, part: int) -> Law:
    """The law of the outcome (0) or of the number of words (1)."""
    total: Law = {}
    for pair, probability in law.items():
        total[pair[part]] = total.get(pair[part], Fraction(0)) + probability
    return total


def words_given_outcome(law: Law) -> dict[Any, Law]:
    """The law of the number of words for each outcome."""
    given: dict[Any, Law] = {}
    for (outcome, words), probability in law.items():
        given.setdefault(outcome, {})[words] = probability
    return {outcome: {words: p / sum(law.values()) for words, p in law.items()} for outcome, law in given.items()}
