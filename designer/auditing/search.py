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
from dataclasses import dataclass

import numpy as np

from .bounds import likely_bound
from .learned import learned_family, parity_families
from .subjects.events import Columns, Event, Family, counts_inside, families_of
from .subjects.subject import Subject

LOWERED_BY = np.array([4.0, 0.8])
"""Standard errors by which bounds are lowered in the two rankings: cautiously and boldly."""

LOOK, DUELS, ROUND = 0.34, 0.33, 0.33
"""Shares of the search's reports that its three parts draw."""

FIRST_SHARE = 0.5
"""Share of either round's reports that the first pair has: rare events need many, and it is the likeliest."""

SIDES = 4
"""Inputs that may stick out of a family, in each ranking and direction."""

PAIRS_BY_CAUTION, PAIRS_BY_BOLDNESS, LAST_PAIRS = 4, 6, 4
"""Pairs that meet in duels beside those that the mechanism names, and pairs that meet again."""

SUREST = 3
"""Events of a pair that are kept because they are sure, beside the boldest of each group."""

Advance = Callable[[str], None]
"""Called with what has just been done."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """An event that reports of input `first` are likelier to be in than those of input `second`.

    Attributes
    ----------
    first, second : int
    event : Event
    claim : float
        Of the two inputs.
    inside : tuple of two floats
        Reports in the event, of either input, among reports that it was not chosen by.
    draws : tuple of two floats
        All such reports.
    cautious, bold : float
        Its log-ratio beyond the claim, lowered either way.
    """

    first: int
    second: int
    event: Event
    claim: float
    inside: tuple[float, float] = (0.0, 0.0)
    draws: tuple[float, float] = (0.0, 0.0)
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
    groups : tuple of str
        Of the families that were tried.
    """

    plans: list[tuple[tuple[int, int], list[Candidate]]]
    inputs: np.ndarray
    columns: Columns
    groups: tuple[str, ...]


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
    met: list[Duel] = []
    for pair, share in zip(pairs, _shares(len(pairs)), strict=True):
        carried = [candidate for candidate in seen if candidate.pair == pair]
        met.append(_duel(subject, pair, carried, int(share * DUELS * samples), rng))
        advance("duels of inputs")
    best = _best_pairs([candidate for duel in met for candidate in duel.events], LAST_PAIRS)
    last = [met[0], *(duel for duel in met[1:] if duel.pair in best)]
    results: list[Candidate] = []
    for duel, share in zip(last, _shares(len(last)), strict=True):
        results += _again(subject, duel, int(share * ROUND * samples), rng, learn)
        advance("the best pairs again")
    plans = [(pair, _best_of([one for one in results if one.pair == pair])) for pair in _best_pairs(results, 2)]
    groups = [family.group for family in families] + [one.event.family.group for one in results]
    return Hunt(plans, inputs, columns, tuple(dict.fromkeys(groups)))


def _shares(many: int) -> np.ndarray:
    """Return each pair's share of the reports of a round."""
    return np.array([1.0] if many == 1 else [FIRST_SHARE] + (many - 1) * [(1 - FIRST_SHARE) / (many - 1)])


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


def drawn(subject: Subject, pair: tuple[int, int], many: int, rng: np.random.Generator) -> tuple[np.ndarray, Columns]:
    """Return (N,) 0 or 1, which of the two inputs was drawn from, each with the same chance, and the reports."""
    which = rng.integers(0, 2, many)
    return which, subject.draw(np.array(pair)[which])


def _sticking_out(
    subject: Subject, families: Sequence[Family], inputs: np.ndarray, columns: Columns
) -> Iterable[Candidate]:
    """Yield the inputs that stick out in each family, each with the input that differs most from it there.

    Events are chosen on one half of the reports, and compared on the other.
    """
    size, half = len(subject.weights), inputs.size // 2
    halves = [inputs[:half], inputs[half:]]
    draws, other_draws = (np.bincount(part, minlength=size).astype(float) for part in halves)
    comparable = (~np.isnan(subject.claims)).astype(float)
    np.fill_diagonal(comparable, 0.0)
    pool_draws = comparable @ draws
    for family in families:
        places = np.split(family.places(columns), [half])
        counts, other_counts = (
            family.counts_of(part, where, size).astype(float) for part, where in zip(halves, places, strict=True)
        )
        pool = comparable @ counts
        rate = (counts + pool + 0.5) / (draws + pool_draws + 1)[:, None]
        ratio = (counts + rate) / rate / (draws + 1)[:, None]
        for direction in (1, -1):
            order = np.argsort(-direction * ratio, axis=1)
            own = np.cumsum(np.take_along_axis(counts, order, axis=1), axis=1)
            rest = np.cumsum(np.take_along_axis(pool, order, axis=1), axis=1)
            weight = ((pool_draws + 1) / (draws + 1))[:, None]
            one, other, weight = (own, rest, weight) if direction > 0 else (rest, own, 1 / weight)
            for bounds in likely_bound(one, other, weight, LOWERED_BY[:, None, None]):
                length = np.argmax(bounds, axis=1)
                best = bounds[np.arange(size), length]
                for a in np.argsort(-best)[:SIDES].tolist():
                    if np.isfinite(best[a]):
                        members = np.zeros(family.size, dtype=bool)
                        members[order[a, : length[a] + 1]] = True
                        event = Event(family, members)
                        yield from _partners(subject.claims, a, direction, event, other_counts, other_draws)


def _partners(
    claims: np.ndarray, a: int, direction: int, event: Event, counts: np.ndarray, draws: np.ndarray
) -> Iterable[Candidate]:
    """Yield the event with the inputs that differ most in it from `a`, by a cautious bound and by a bold one."""
    inside = counts[:, event.members].sum(axis=1)
    here = np.full_like(inside, inside[a])
    one, other = (here, inside) if direction > 0 else (inside, here)
    ratio = ((draws + 1) / (draws[a] + 1)) ** direction
    claims = claims[a] if direction > 0 else claims[:, a]
    impossible = np.isnan(claims) | (np.arange(draws.size) == a)
    beyond = np.where(impossible, -np.inf, likely_bound(one, other, ratio, LOWERED_BY[:, None]) - claims)
    for b in set(np.argmax(beyond, axis=1).tolist()):
        if not impossible[b]:
            first, second = (a, b) if direction > 0 else (b, a)
            counted, drawn = (inside[first], inside[second]), (draws[first], draws[second])
            yield Candidate(first, second, event, float(claims[b]), counted, drawn, *beyond[:, b].tolist())


def _pairs_to_meet(subject: Subject, seen: Sequence[Candidate], samples: int) -> list[tuple[int, int]]:
    """Return different pairs: what the mechanism names, the surest, and the boldest of each group of families."""
    boldest: dict[str, Candidate] = {}
    for candidate in sorted(seen, key=lambda found: -found.bold):
        boldest.setdefault(candidate.event.family.group, candidate)
    surest = sorted(seen, key=lambda found: -found.cautious)
    pairs = subject.likely_pairs(samples)
    most = 1 + len(subject.weights) // 3  # of few inputs, few pairs are new
    for ranked, many in ((surest, PAIRS_BY_CAUTION), (list(boldest.values()), PAIRS_BY_BOLDNESS)):
        fresh = dict.fromkeys(candidate.pair for candidate in ranked if candidate.pair not in pairs)
        pairs = [*pairs, *list(fresh)[: min(many, most)]]
    return pairs


def _duel(
    subject: Subject, pair: tuple[int, int], carried: Sequence[Candidate], many: int, rng: np.random.Generator
) -> Duel:
    """Draw reports of a pair and find their best events, those that were brought along among them.

    Events are chosen on one half of the reports, and judged on the other.
    """
    which, columns = drawn(subject, pair, many, rng)
    first, second = ({name: values[part] for name, values in columns.items()} for part in _halves(many))
    families = families_of(columns, subject.tables())
    families += [family.fitted(columns) for family in subject.pair_families(*pair)]
    families += [family.fitted(columns) for family in parity_families(first, which[: many // 2])]
    claims = subject.claims[np.ix_(pair, pair)]
    found = list(_judged(carried, columns, which))
    chosen = [event for family in families for event in _best_events(family, first, which[: many // 2], pair, claims)]
    found += _judged(chosen, second, which[many // 2 :])
    return Duel(pair, which, columns, _best_of(found))


def _halves(many: int) -> tuple[slice, slice]:
    return slice(many // 2), slice(many // 2, None)


def _best_events(
    family: Family, columns: Columns, which: np.ndarray, pair: tuple[int, int], claims: np.ndarray
) -> list[Candidate]:
    """Return the family's events of largest bound, cautious and bold, in both directions; not judged yet."""
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
            bounds = likely_bound(*sums, draws[b] / draws[a], LOWERED_BY[:, None])
            for size in set(np.argmax(bounds, axis=1).tolist()):
                members = np.zeros(family.size, dtype=bool)
                members[order[: size + 1]] = True
                found.append(Candidate(pair[a], pair[b], Event(family, members), float(claims[a, b])))
    return found


def _judged(candidates: Sequence[Candidate], columns: Columns, which: np.ndarray) -> list[Candidate]:
    """Return the candidates with these reports counted as well."""
    if not candidates:
        return []
    more = counts_inside([candidate.event for candidate in candidates], columns, which, 2)
    turned = np.array([[one.first > one.second, one.first <= one.second] for one in candidates]).astype(int)
    inside = np.take_along_axis(more, turned, axis=1) + np.array([one.inside for one in candidates])
    draws = np.bincount(which, minlength=2)[turned] + np.array([one.draws for one in candidates])
    weight = (draws[:, 1:] + 1) / (draws[:, :1] + 1)
    claims = np.array([one.claim for one in candidates])
    beyond = likely_bound(inside[:, :1], inside[:, 1:], weight, LOWERED_BY) - claims[:, None]
    return [
        Candidate(one.first, one.second, one.event, one.claim, *row)
        for one, *row in zip(
            candidates, map(tuple, inside.tolist()), map(tuple, draws.tolist()), *beyond.T.tolist(), strict=True
        )
    ]


def _again(subject: Subject, duel: Duel, many: int, rng: np.random.Generator, learn: bool) -> list[Candidate]:
    """Judge a pair's events on fresh reports, and those of what was learned from the duel."""
    which, columns = drawn(subject, duel.pair, many, rng)
    found = _judged(duel.events, columns, which)
    if learn and (family := learned_family(duel.columns, duel.which)) is not None:
        first, second = ({name: values[part] for name, values in columns.items()} for part in _halves(many))
        claims = subject.claims[np.ix_(duel.pair, duel.pair)]
        chosen = _best_events(family, first, which[: many // 2], duel.pair, claims)
        found += _judged(chosen, second, which[many // 2 :])
    return found


def _best_of(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the surest candidates, each family once, and the boldest one of each group of families."""
    surest: dict[tuple[str, int], Candidate] = {}
    for candidate in sorted(candidates, key=lambda found: -found.cautious):
        surest.setdefault((candidate.event.family.name, candidate.first), candidate)
    boldest: dict[str, Candidate] = {}
    for candidate in sorted(candidates, key=lambda found: -found.bold):
        boldest.setdefault(candidate.event.family.group, candidate)
    kept = [*list(surest.values())[:SUREST], *boldest.values()]
    return list({id(candidate): candidate for candidate in kept}.values())


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
