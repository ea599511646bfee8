"""The search: from all inputs and all families to a few pairs of inputs and events that may tell them apart.

1. A look at every input. Each is compared with all others that it may be compared with, in every family, and the
   events in which it sticks out name the input that differs most from it.
2. Duels of the pairs found and of those that the mechanism itself names. Events are learned anew from their reports.
3. A second round between the few best pairs, on fresh reports, with what a classifier has learned on the first.

In each, the event is the codes of largest ratio, as many as give the largest bound. Bounds come in two kinds: cautious
ones find what is small but sure, bold ones what is rare but large. What comes out is chosen by reports that it must not
be tested on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .audit_bounds import likely_bound
from .audit_events import Columns, Event, Family, families_of
from .audit_learned import learned_family
from .audit_subject import Subject

CAUTIOUS, BOLD = 4.0, 1.5
"""Standard errors by which bounds are lowered in the two rankings."""

LOOK, DUELS, ROUND = 0.3, 0.35, 0.35
"""Shares of the search's reports that its three parts draw."""

FIRST_SHARE = 0.4
"""Share of the duels' reports that the first pair has: rare events need many, and it is the likeliest."""

SIDES = 4
"""Inputs that may stick out of a family, in each ranking and direction."""

PAIRS_BY_CAUTION, PAIRS_BY_BOLDNESS, LAST_PAIRS = 4, 6, 4
"""Pairs that meet in duels beside those that the mechanism names, and pairs that meet again."""

EVENTS = 8
"""Events that a pair brings from its duel into the second round, in each ranking."""

TESTED_EVENTS = 3
"""Events of a pair that are tested, of each ranking."""

Advance = Callable[[str], None]
"""Called with what has just been done."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """An event that reports of input `first` are likelier to be in than those of input `second`.

    The two numbers are its log-ratio beyond the claim, lowered cautiously and boldly.
    """

    first: int
    second: int
    event: Event
    cautious: float = -np.inf
    bold: float = -np.inf

    @property
    def pair(self) -> tuple[int, int]:
        """The two inputs, the smaller number first."""
        return min(self.first, self.second), max(self.first, self.second)


@dataclass(frozen=True, eq=False)
class Hunt:
    """What a search found, and the reports of its first look.

    Attributes
    ----------
    plans : list of (pair, candidates)
        One pair or two, each with the events to test.
    inputs, columns
        Of the first look, in the order in which they were drawn.
    families : tuple of str
        Names of the families that were tried.
    """

    plans: list[tuple[tuple[int, int], list[Candidate]]]
    inputs: np.ndarray
    columns: Columns
    families: tuple[str, ...]


def hunt(subject: Subject, samples: int, rng: np.random.Generator, *, learn: bool, advance: Advance) -> Hunt:
    """Return the pairs of inputs and the events that promise most.

    Parameters
    ----------
    subject : Subject
    samples : int
        Reports that may be drawn.
    rng : numpy.random.Generator
        Chooses which inputs are drawn when.
    learn : bool
        Whether to train classifiers.
    advance : callable
    """
    inputs = rng.choice(len(subject.weights), int(LOOK * samples), p=subject.weights / subject.weights.sum())
    columns = subject.draw(inputs)
    advance("a look at all inputs")
    families = families_of(columns, subject.tables())
    seen = list(_sticking_out(subject, families, inputs, columns))
    pairs = _pairs_to_meet(subject, seen, samples)
    shares = np.full(len(pairs), (1 - FIRST_SHARE) / max(len(pairs) - 1, 1))
    shares[0] = FIRST_SHARE if len(pairs) > 1 else 1.0
    met: list[Duel] = []
    for pair, share in zip(pairs, shares, strict=True):
        carried = [candidate for candidate in seen if candidate.pair == pair]
        met.append(_duel(subject, pair, carried, int(share * DUELS * samples), rng))
        advance("duels of inputs")
    best = _best_pairs([candidate for duel in met for candidate in duel.events], LAST_PAIRS)
    last = [duel for duel in met if duel.pair in best or duel is met[0]]
    results: list[Candidate] = []
    for duel in last:
        results += _again(subject, duel, int(ROUND * samples / len(last)), rng, learn)
        advance("the best pairs again")
    names = tuple(dict.fromkeys(family.name for family in families))
    return Hunt([_plan(pair, results) for pair in _best_pairs(results, 2)], inputs, columns, names)


@dataclass(frozen=True, eq=False)
class Duel:
    """Reports of two inputs, as many of each as chance has it, and the events that tell them apart best.

    Attributes
    ----------
    pair : tuple of two ints
    which : (N,) ndarray
        0 or 1, the input of each report.
    columns : Columns
    events : list of Candidate
    """

    pair: tuple[int, int]
    which: np.ndarray
    columns: Columns
    events: list[Candidate]


def drawn(
    subject: Subject, pair: tuple[int, int], many: int, rng: np.random.Generator
) -> tuple[np.ndarray, Columns]:
    """Return (N,) 0 or 1, which of the two inputs was drawn from, each with the same chance, and the reports."""
    which = rng.integers(0, 2, many)
    return which, subject.draw(np.array(pair)[which])


def _sticking_out(
    subject: Subject, families: Sequence[Family], inputs: np.ndarray, columns: Columns
) -> Iterable[Candidate]:
    """Yield the inputs that stick out in each family, each with the input that differs most from it there."""
    draws = np.bincount(inputs, minlength=len(subject.weights)).astype(float)
    comparable = (~np.isnan(subject.claims)).astype(float)
    np.fill_diagonal(comparable, 0.0)
    for family in families:
        counts = family.counts(columns, inputs, draws.size).astype(float)
        pool, pool_draws = comparable @ counts, comparable @ draws
        rate = (counts + pool + 0.5) / (draws + pool_draws + 1)[:, None]
        ratio = (counts + rate) / rate / (draws + 1)[:, None]
        for direction in (1, -1):
            order = np.argsort(-direction * ratio, axis=1)
            own = np.cumsum(np.take_along_axis(counts, order, axis=1), axis=1)
            rest = np.cumsum(np.take_along_axis(pool, order, axis=1), axis=1)
            weight = ((pool_draws + 1) / (draws + 1))[:, None]
            one, other, weight = (own, rest, weight) if direction > 0 else (rest, own, 1 / weight)
            for z in (CAUTIOUS, BOLD):
                bounds = likely_bound(one, other, weight, z)
                size = np.argmax(bounds, axis=1)
                best = bounds[np.arange(draws.size), size]
                for a in np.argsort(-best)[:SIDES].tolist():
                    if np.isfinite(best[a]):
                        members = np.zeros(family.size, dtype=bool)
                        members[order[a, : size[a] + 1]] = True
                        yield from _partner(subject, a, direction, Event(family, members), counts, draws)


def _partner(
    subject: Subject, a: int, direction: int, event: Event, counts: np.ndarray, draws: np.ndarray
) -> Iterable[Candidate]:
    """Yield the event with the two inputs that differ most in it, of which `a` is one."""
    inside = counts[:, event.members].sum(axis=1)
    one, other = (inside[a], inside) if direction > 0 else (inside, inside[a])
    ratio = (draws + 1) / (draws[a] + 1)
    bounds = [
        np.where(
            np.isnan(subject.claims[a]) | (np.arange(draws.size) == a),
            -np.inf,
            likely_bound(one + np.zeros_like(inside), other + np.zeros_like(inside), ratio**direction, z)
            - subject.claims[a],
        )
        for z in (CAUTIOUS, BOLD)
    ]
    for b in {int(np.argmax(found)) for found in bounds}:
        if np.isfinite(bounds[1][b]):
            first, second = (a, b) if direction > 0 else (b, a)
            yield Candidate(first, second, event, float(bounds[0][b]), float(bounds[1][b]))


def _pairs_to_meet(subject: Subject, seen: Sequence[Candidate], samples: int) -> list[tuple[int, int]]:
    """Return different pairs: what the mechanism names, the surest, and the boldest of each family."""
    boldest: dict[str, Candidate] = {}
    for candidate in sorted(seen, key=lambda found: -found.bold):
        boldest.setdefault(candidate.event.family.name, candidate)
    surest = sorted(seen, key=lambda found: -found.cautious)
    pairs = subject.likely_pairs(samples)
    for ranked, many in ((surest, PAIRS_BY_CAUTION), (list(boldest.values()), PAIRS_BY_BOLDNESS)):
        fresh = dict.fromkeys(candidate.pair for candidate in ranked if candidate.pair not in pairs)
        pairs = [*pairs, *list(fresh)[:many]]
    return pairs


def _duel(
    subject: Subject, pair: tuple[int, int], carried: Sequence[Candidate], many: int, rng: np.random.Generator
) -> Duel:
    """Draw reports of a pair and find their best events, those that were brought along among them."""
    which, columns = drawn(subject, pair, many, rng)
    families = families_of(columns, subject.tables())
    families += [family.fitted(columns) for family in subject.pair_families(*pair)]
    claim = float(subject.claims[pair])
    found = [_judged(candidate, columns, which, pair, claim) for candidate in carried]
    for family in families:
        found += _best_events(family, columns, which, pair, claim)
    return Duel(pair, which, columns, _best_of(found, EVENTS))


def _best_events(
    family: Family, columns: Columns, which: np.ndarray, pair: tuple[int, int], claim: float
) -> list[Candidate]:
    """Return the family's events of largest bound, cautious and bold, in both directions."""
    counts = family.counts(columns, which, 2).astype(float)
    draws = np.bincount(which, minlength=2) + 1.0
    found = []
    for a, b in ((0, 1), (1, 0)):
        one, other = counts[a], counts[b]
        orders = [np.argsort(-(one + 0.5) / (other + 0.5), kind="stable")]
        if family.ordered:
            orders += [np.arange(family.size), np.arange(family.size)[::-1]]
        for order in orders:
            sums = np.cumsum(one[order]), np.cumsum(other[order])
            cautious, bold = (likely_bound(*sums, draws[b] / draws[a], z) - claim for z in (CAUTIOUS, BOLD))
            for size in {int(np.argmax(cautious)), int(np.argmax(bold))}:
                members = np.zeros(family.size, dtype=bool)
                members[order[: size + 1]] = True
                event = Event(family, members)
                found.append(Candidate(pair[a], pair[b], event, float(cautious[size]), float(bold[size])))
    return found


def _judged(
    candidate: Candidate, columns: Columns, which: np.ndarray, pair: tuple[int, int], claim: float
) -> Candidate:
    """Return the candidate with the bounds that these reports give."""
    inside = np.bincount(which[candidate.event.contains(columns)], minlength=2).astype(float)
    draws = np.bincount(which, minlength=2) + 1.0
    a, b = (0, 1) if candidate.first == pair[0] else (1, 0)
    bounds = [float(likely_bound(inside[a], inside[b], draws[b] / draws[a], z)) - claim for z in (CAUTIOUS, BOLD)]
    return replace(candidate, cautious=bounds[0], bold=bounds[1])


def _again(subject: Subject, duel: Duel, many: int, rng: np.random.Generator, learn: bool) -> list[Candidate]:
    """Judge a pair's events, and those of what was learned from the duel, on fresh reports."""
    which, columns = drawn(subject, duel.pair, many, rng)
    claim = float(subject.claims[duel.pair])
    found = [_judged(candidate, columns, which, duel.pair, claim) for candidate in duel.events]
    if learn and (family := learned_family(duel.columns, duel.which)) is not None:
        found += _best_events(family, columns, which, duel.pair, claim)
    return found


def _best_of(candidates: Sequence[Candidate], many: int) -> list[Candidate]:
    """Return the surest and the boldest candidates, each family once in each ranking and direction."""
    kept: dict[int, Candidate] = {}
    for score in ("cautious", "bold"):
        best: dict[tuple[str, int], Candidate] = {}
        for candidate in sorted(candidates, key=lambda found: -getattr(found, score)):
            best.setdefault((candidate.event.family.name, candidate.first), candidate)
        kept |= {id(candidate): candidate for candidate in list(best.values())[:many]}
    return list(kept.values())


def _best_pairs(candidates: Sequence[Candidate], many: int) -> list[tuple[int, int]]:
    """Return so many different pairs at most, in turn the surest and the boldest one."""
    rankings = [
        list(dict.fromkeys(found.pair for found in sorted(candidates, key=lambda one: -getattr(one, score))))
        for score in ("cautious", "bold")
    ]
    turns = [pair for both in zip(*rankings, strict=True) for pair in both]
    if many == 2:  # the same pair may lead both: then all reports are its own
        turns = turns[:2]
    return list(dict.fromkeys(turns))[:many]


def _plan(pair: tuple[int, int], results: Sequence[Candidate]) -> tuple[tuple[int, int], list[Candidate]]:
    return pair, _best_of([candidate for candidate in results if candidate.pair == pair], TESTED_EVENTS)
