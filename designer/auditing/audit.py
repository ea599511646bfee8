"""A black-box audit: what a sampler really does, against the epsilon that is claimed for it.

Nothing is believed but reports. Half of them are spent on a search: over inputs, over families of events, and with a
classifier if there is one (a search and a tester, as in DP-Auditorium). A few pairs of inputs and events come out.
They are tested on fresh reports, each at an equal share of the risk: that is the correction for the search, since
whatever was chosen was chosen without a look at those reports.

Source: Kong, Muñoz Medina, Ribero and Tantipongpipat (2024), "DP-Auditorium: a large scale library for auditing
differential privacy"; audits by events: Ding, Wang, Wang, Zhang and Kifer (2018).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...mechanisms import InputError, TabulatedMechanism
from ...mechanisms.cost import audit_cost, require_affordable, table_cost
from ...mechanisms.display.display import Shown
from ...mechanisms.display.summary import Dots, Told
from ...mechanisms.documents.bundle import Bundle
from .bounds import certain_bound
from .learned import LEARNED, NOT_LEARNED, TOO_FEW, can_learn
from .search import Advance, Candidate, Hunt, drawn, hunt
from .serial import NEXT_CALL, Alone, InOrder, repeating_distance
from .sources import DEFAULT_TIMEOUT, FromCall, FromCommand, Sampled
from .subjects.events import counts_inside
from .subjects.registry import kind_of, sampler_of
from .subjects.subject import Subject

FEWEST_SAMPLES = 2000
"""Fewer cannot bound any ratio."""

DEFAULT_CONFIDENCE = 0.999
"""A sampler that is exactly at its epsilon fails one audit in a thousand at most."""

SEARCH = 0.42
"""Share of the reports that the search for events of single reports draws."""

NEIGHBOUR_SEARCH, NEIGHBOUR_TEST = 0.06, 0.06
"""Shares for events of two reports that follow each other: where a random word is used again, or a value remembered."""

ORDER_SEARCH, ORDER_TEST = 0.03, 0.02
"""Shares for events of two reports in their order, for each of at most two other distances."""

SINGLE_SEARCH = 0.3
"""Share of the calls for one report that choose the events."""

ORDER_EVENTS = 2
"""Events of two reports in their order that are tested, for each distance but that of neighbours."""

Progress = Callable[[str, float], None]
"""Called with what is being done and the share of the reports that are drawn."""

ORDER = "two reports in their order"
"""The group of all events of two reports."""

OUT_OF_SIGHT = "time, memory, the number of random bits; errors in place of reports"


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Shown):
    """What an audit found.

    Attributes
    ----------
    ok : bool
        Whether no bound is above what is claimed for its inputs, and every line of a command spelled as published.
    epsilon : float
        The claim for the inputs below.
    lower_bound : float
        The sampler's true epsilon, at those inputs, is at least so large: at this confidence, for all events tested
        together.
    confidence : float
    inputs : tuple of two
        The inputs whose reports differ most, beyond what is claimed: numbers, or texts.
    event : str
        What their reports differ in, in words.
    counts : tuple of two ints
        Reports in the event, of the first and the second input.
    trials : tuple of two ints
        Reports that were tested, of the first and the second input.
    draws : int
        All reports drawn.
    tested : int
        Events tested; each had an equal share of the risk.
    foreign : int
        Reports of the first look that the mechanism cannot make.
    tried, not_tried : tuple of str
        Groups of families of events.
    misspelled : int
        Lines of a command, of all that it printed, that were not byte for byte the published spelling of a report.
    first_misspelled : str
        The first of them, and what it should have been.

    Example
    -------
    >>> Audit(True, 1.0, 0.93, 0.99, (0.0, 1.0), "2 is reported", (7, 3), (10, 10), 50, 1, 0, (), ())
    Audit(ok=True, epsilon=1, lower_bound=0.93, confidence=0.99, draws=50, inputs='0.0 and 1.0', event='2 is reported')
    """

    ok: bool
    epsilon: float
    lower_bound: float
    confidence: float
    inputs: tuple[Any, Any]
    event: str
    counts: tuple[int, int]
    trials: tuple[int, int]
    draws: int
    tested: int
    foreign: int
    tried: tuple[str, ...]
    not_tried: tuple[str, ...]
    misspelled: int = 0
    first_misspelled: str = ""

    def _line(self) -> dict[str, Any]:
        facts = {name: getattr(self, name) for name in ("ok", "epsilon", "lower_bound", "confidence", "draws")}
        return facts | {"inputs": " and ".join(map(str, self.inputs)), "event": self.event}

    def _told(self) -> Told:
        names, values = ["claimed", "at least, as drawn"], np.array([self.epsilon, self.lower_bound])
        more = {"tested": self.tested, "foreign": self.foreign, "misspelled": self.misspelled}
        return Told(self._line() | more, picture=Dots(names, values, "epsilon"))


@dataclass(frozen=True, eq=False)
class _Test:
    """Events of one pair of inputs to be tested on so many fresh reports."""

    subject: Subject
    pair: tuple[int, int]
    candidates: list[Candidate]
    samples: int


@dataclass(frozen=True)
class _Result:
    """What one event showed."""

    claim: float
    bound: float
    inputs: tuple[Any, Any]
    event: str
    counts: tuple[int, int]
    trials: tuple[int, int]

    @property
    def excess(self) -> float:
        return self.bound - self.claim


def audit(
    table: TabulatedMechanism | Bundle,
    draw: Callable[..., object] | str | None = None,
    *,
    epsilon: float | None = None,
    samples: int = 1_000_000,
    confidence: float = DEFAULT_CONFIDENCE,
    outside: bool = False,
    timeout: float = DEFAULT_TIMEOUT,
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Draw from a sampler at the inputs that reveal most and bound its epsilon from below.

    lower bound = log(s / (1 - s)), where s is Clopper and Pearson's lower bound on the first input's share of the
    reports in an event, with both inputs drawn equally often, at level (1 - confidence) / (events tested).

    Parameters
    ----------
    table : TabulatedMechanism or Bundle
        Names the inputs and the claim; nothing else in it is trusted.
    draw : callable or str, optional
        The sampler; the mechanism's own, with the operating system's generator, by default. A function takes and
        returns what the mechanism's `sample` does (`sample_sets` for pairs). A text is a command that reads inputs,
        one a line, and prints reports, one a line, each spelled as in docs/report-format.md.
    epsilon : float, optional
        The claim; the mechanism's own by default.
    samples : int
        Reports to draw in all, at least 2000.
    confidence : float
        In (0, 1).
    outside : bool
        Try values outside a table's domain too, for clients that move them into it.
    timeout : float
        Seconds for one run of a command.
    rng : numpy.random.Generator, optional
        Chooses which inputs are drawn when, so that an audit of a simulation can be repeated.
    progress : callable, optional
        Called with what is being done and the share of the reports drawn.

    Returns
    -------
    found : Audit
        The certified `lower_bound` on epsilon, and `ok`: whether it is within the claim. A mechanism
        that keeps its claim, and spells its reports as published, is not `ok` with a chance of at most
        1 - confidence; `ok` proves nothing.

    Raises
    ------
    InputError
        Samples, confidence, epsilon or a command that are not usable; a sampler that fails.

    Source: Clopper and Pearson (1934); Kong et al. (2024) for the plan.

    Example
    -------
    >>> from optldp import audit, make_exact
    >>> from optldp.mechanisms import piecewise
    >>> table = make_exact(piecewise([0.0, 0.5, 1.0], 2.0)).mechanism
    >>> found = audit(table, samples=100_000)
    >>> found.ok, found.lower_bound > 1.5, audit(table, epsilon=1.5, samples=100_000).ok
    (True, True, False)
    """
    if not (isinstance(samples, int) and samples >= FEWEST_SAMPLES):
        raise InputError(f"samples must be a whole number of at least {FEWEST_SAMPLES}, got {samples!r}")
    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie strictly between 0 and 1, got {confidence!r}")
    rng = np.random.default_rng() if rng is None else rng
    kind = kind_of(table, epsilon, rng, outside=outside)
    columns = len(kind.tables())
    what = f"an audit of {columns} attributes by {samples} reports"
    require_affordable(what, table_cost(samples, max(columns - 1, 0)), "use fewer --samples")
    what = f"an audit of reports of {kind.places} places by {samples} of them"
    require_affordable(what, audit_cost(samples, kind.places), "use fewer --samples")
    if isinstance(draw, str):
        subject: Sampled = FromCommand(kind, draw, rng, timeout)
    else:
        subject = FromCall(kind, draw or sampler_of(table))

    def advance(what: str) -> None:
        if progress is not None:
            progress(what, min(1.0, subject.draws / samples))

    found = hunt(subject, int(SEARCH * samples), rng, learn=can_learn(), advance=advance)
    tests = _in_order(subject, found, samples, rng, advance)
    left = samples - subject.draws - sum(2 * test.samples + 2 for test in tests)
    tests += [_Test(subject, *plan, left // len(found.plans)) for plan in found.plans]
    tested = sum(len(test.candidates) for test in tests)
    results: list[_Result] = []
    for test in tests:
        results += _results(test, (1 - confidence) / tested, rng)
        advance("test of what was found")
    worst = max(results, key=lambda result: result.excess)
    return Audit(
        ok=bool(worst.excess <= 0 and not subject.misspelled),
        epsilon=worst.claim,
        lower_bound=worst.bound,
        confidence=confidence,
        inputs=worst.inputs,
        event=worst.event,
        counts=worst.counts,
        trials=worst.trials,
        draws=subject.draws,
        tested=tested,
        foreign=int(kind.foreign(found.columns).sum()),
        tried=(*found.groups, ORDER),
        not_tried=_not_tried(found, subject),
        misspelled=subject.misspelled,
        first_misspelled=subject.first_misspelled,
    )


def _not_tried(found: Hunt, subject: Sampled) -> tuple[str, ...]:
    learned = () if LEARNED in found.groups else (TOO_FEW if can_learn() else NOT_LEARNED,)
    alone = () if subject.single_calls else ("runs of the command for one report each",)
    return (*learned, *alone, OUT_OF_SIGHT)


def _in_order(subject: Sampled, found: Hunt, samples: int, rng: np.random.Generator, advance: Advance) -> list[_Test]:
    """Return the tests of reports in their order: neighbours, two calls, where noise repeats, calls of one."""
    search, test = int(ORDER_SEARCH * samples / 2), int(ORDER_TEST * samples / 2)
    calls = min(subject.single_calls, test)
    distances = [NEXT_CALL]
    repeated = repeating_distance(found.inputs, found.columns)
    if repeated is not None and repeated <= test:
        distances.append(repeated)
    plans: list[tuple[Subject, int, int]] = [
        (InOrder(subject, distance, found.columns), search, test) for distance in distances
    ]
    if calls:
        plans.append((Alone(subject), int(SINGLE_SEARCH * calls), calls - int(SINGLE_SEARCH * calls)))
    tests = _of_neighbours(InOrder(subject, 1, found.columns), samples, rng, advance)
    for ordered, searched, tested in plans:
        seen = hunt(ordered, searched, rng, learn=False, advance=advance)
        pair, events = seen.plans[0]
        tests.append(_Test(ordered, pair, events[:ORDER_EVENTS], tested))
    return tests


def _of_neighbours(ordered: InOrder, samples: int, rng: np.random.Generator, advance: Advance) -> list[_Test]:
    """Return the tests of two reports that follow each other: of all that was found, as for single reports."""
    seen = hunt(ordered, int(NEIGHBOUR_SEARCH * samples / 2), rng, learn=False, advance=advance)
    test = int(NEIGHBOUR_TEST * samples / 2) // len(seen.plans)
    return [_Test(ordered, pair, events, test) for pair, events in seen.plans]


def _results(test: _Test, risk: float, rng: np.random.Generator) -> list[_Result]:
    """Draw a pair of inputs at random and bound the log-ratio of each event, each at this risk."""
    which, columns = drawn(test.subject, test.pair, test.samples, rng)
    trials = np.bincount(which, minlength=2)
    results = []
    counts = counts_inside([candidate.event for candidate in test.candidates], columns, which, 2)
    for candidate, inside in zip(test.candidates, counts, strict=True):
        order = [0, 1] if candidate.first == test.pair[0] else [1, 0]
        one, other = (int(inside[place]) for place in order)
        results.append(
            _Result(
                claim=float(test.subject.claims[candidate.first, candidate.second]),
                bound=certain_bound(one, other, risk),
                inputs=(test.subject.words(candidate.first), test.subject.words(candidate.second)),
                event=candidate.event.words,
                counts=(one, other),
                trials=(int(trials[order[0]]), int(trials[order[1]])),
            )
        )
    return results
