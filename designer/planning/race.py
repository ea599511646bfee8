r"""A race of simulated candidates: all start, the clearly worse stop, and leaders get draws that chose nothing.

A draw is all reports of one collection; candidates see the same users in it, and estimators of one mechanism the same
reports. At each look at the draws so far candidates are compared by the logarithm of their mean error, with the
standard error of the difference from the leader by the jackknife over draws. Behind by z of those is clearly worse, z
the normal quantile of RISK / (C L) with C candidates and L looks: whatever leads, the best is stopped so with
probability `RISK` at most, as far as laws are normal. What is not clearly worse goes on, but for time no more than
`KEPT` of them: the others are said to be behind, and not to be worse.

Who leads is judged with what a linear estimate errs by from each mechanism's reports, where that is known. Errors of
unbiased estimates of means and frequencies are known in closed form, those of linear estimates of a distribution nearly
so, and how far those of a draw are off serve as control variates for all others. What is reported of the leader and the
next comes of draws after the race alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from scipy.optimize import nnls

from ...estimators.intervals import normal_quantile

Candidate = tuple[str, str]
"""A mechanism and an estimator."""

RISK = 0.05
"""Probability that the best one is ever taken for clearly worse."""

LOOKS = (3, 6, 12)
"""Draws after which the race is looked at."""

KEPT = (8, 3, 2)
"""Simulated candidates that go on after each look at most."""

SURE = 2.0
"""Standard errors that a difference must have to be one."""

CLOSE = 0.05
"""Difference of logarithms that is a tie once it is known to be no larger: more draws would only tell the two apart."""

MOST_FRESH = 4
"""Times as many fresh draws as asked for, at most, while it is not decided which of the two errs less."""

LEAST_EXPECTED = 0.1
"""Share of a mean error that is expected, by a control variate, of draws in which the unbiased estimate errs little."""

LEAST_ERROR = 1e-300
"""An error of nothing has no logarithm."""


class Errors(NamedTuple):
    """What one estimate of one draw errs by.

    Parameters
    ----------
    squared : float
        Squared error of the mean, or of a frequency, averaged over the categories.
    jensen_shannon, wasserstein : float
        Of the distribution; NaN where there is none.
    control : float
        The squared error of the unbiased estimate from the same reports over its expectation, less one; 0 where there
        is none.
    seconds : float
    rough, smoothed : float
        The Wasserstein distances of two linear estimates from the same reports over their averages, less one; 0 where
        there are none.
    shrunk : float
        The squared error of the second one's mean likewise.
    """

    squared: float
    jensen_shannon: float
    wasserstein: float
    control: float
    seconds: float
    rough: float = 0.0
    smoothed: float = 0.0
    shrunk: float = 0.0


Criterion = Literal["squared", "jensen_shannon", "wasserstein"]

CONTROLS: Mapping[Criterion, tuple[str, ...]] = {
    "squared": ("control", "shrunk"),
    "jensen_shannon": ("control",),
    "wasserstein": ("rough", "smoothed"),
}
"""What goes up and down with each error, and is 0 on average."""

Draw = Callable[[str, Sequence[str], int], Mapping[str, Errors]]
"""From a mechanism, estimators and the number of a draw to the errors of each estimator in that draw."""


@dataclass(frozen=True, eq=False)
class Race:
    """What ran, and how far.

    Parameters
    ----------
    drawn : mapping of Candidate to list of Errors
        Those of the race, in order.
    fresh : mapping of Candidate to list of Errors
        Of the first two in the order, where they are simulated, from draws after the race, which chose nothing but
        that the second comes first where it clearly errs less.
    worse : frozenset of Candidate
        Stopped as clearly worse. All others without fresh draws were left behind for time.
    order : tuple of Candidate
        By the error that the race judged by, or that is known; those that went further come first.
    slopes : mapping of str to ndarray of float
        Of each estimator's relative error in the control variates, from the race's draws.
    over_first : mapping of Candidate to float
        Logarithm of the error of those without fresh draws over the first one's, as both were judged at the last look
        that the former came to: in the same draws, as errors of other draws differ by the draws' luck.
    """

    drawn: Mapping[Candidate, list[Errors]]
    fresh: Mapping[Candidate, list[Errors]]
    worse: frozenset[Candidate]
    order: tuple[Candidate, ...]
    slopes: Mapping[str, np.ndarray]
    over_first: Mapping[Candidate, float]


def run_race(
    simulated: Sequence[Candidate],
    exact: Mapping[Candidate, float],
    draw: Draw,
    criterion: Criterion,
    fresh: int,
    progress: Callable[[str, float], None] | None = None,
    *,
    linear: Mapping[str, float] | None = None,
) -> Race:
    """Race candidates by a criterion, and draw anew for the two that lead.

    Parameters
    ----------
    simulated : sequence of Candidate
    exact : mapping of Candidate to float
        Those whose error is known, and it: they cost nothing and are compared with all others.
    draw : callable
    criterion : {"squared", "jensen_shannon", "wasserstein"}
        What is to be least, on average.
    fresh : int
        Draws for the two that lead, at least 2; up to `MOST_FRESH` times as many until it is decided which of them errs
        less, or that they are `CLOSE`. No candidate gets more in the race than were asked for.
    progress : callable, optional
        Called with a mechanism and the share of the work that is done.
    linear : mapping of str to float, optional
        What a linear estimate errs by for each mechanism, by the criterion. Who leads is then judged with it: see
        `_leading`.
    """
    looks = [look for look in LOOKS if look < fresh] + [fresh] * (fresh <= LOOKS[-1])
    drawn = {one: list[Errors]() for one in simulated}
    running, further = list(drawn), dict.fromkeys(drawn, 0)
    worse, seen, work = set[Candidate](), 0, _Work(_most_estimates(len(drawn), looks, fresh), progress)
    place = {one: Place.known(value) for one, value in exact.items()}
    leading = {one: place[one].value for one in exact}
    slopes, history = dict[str, np.ndarray](), list[dict[Candidate, float]]()
    for number, (look, most) in enumerate(zip(looks, KEPT, strict=False)):
        ran = {one: drawn[one] for one in running}
        _extend(ran, range(seen, look), draw, work)
        seen, slopes = look, slopes | slopes_of(ran, criterion)
        place |= {one: Place.of(errors, criterion, slopes[one[1]]) for one, errors in ran.items()}
        alive = {one: place[one] for one in (*running, *exact)}
        if alive:
            worse |= clearly_worse(alive, (len(drawn) + len(exact)) * len(looks)) & set(running)
        leading = _leading({one: place[one] for one in running}, linear) | {one: place[one].value for one in exact}
        history.append(leading)
        running = sorted((one for one in running if one not in worse), key=lambda one: leading[one])[:most]
        further |= dict.fromkeys(running, number + 1)
    ahead = sorted([*running, *exact], key=lambda one: leading[one])
    behind = [one for one in drawn if one not in running]
    order = (*ahead, *sorted(behind, key=lambda one: (-further[one], place[one].value)))
    anew = {one: list[Errors]() for one in order[:2] if one in drawn}
    race = Race(drawn, anew, frozenset(worse), order, slopes, {})
    _draw_until_decided(race, exact, criterion, seen, fresh, draw, work)
    work.end()
    if len(order) > 1 and is_behind(*log_ratio(race, exact, criterion)):
        order = (order[1], order[0], *order[2:])
    return replace(race, order=order, over_first=_over(order, history, further))


def _draw_until_decided(
    race: Race, exact: Mapping[Candidate, float], criterion: Criterion, seen: int, fresh: int, draw: Draw, work: _Work
) -> None:
    """Draw anew for the two that lead, as often as asked for and on until it is decided which of them errs less."""
    drawn = 0
    for until in (fresh, *(fresh * 2**k for k in range(1, MOST_FRESH.bit_length()))):
        _extend(race.fresh, range(seen + drawn, seen + until), draw, work)
        drawn = until
        if len(race.order) < 2 or not race.fresh or is_decided(*log_ratio(race, exact, criterion)):
            return


def is_behind(ratio: float, error: float) -> bool:
    """Whether what came first in the race errs more than the second: by less than that, it is a tie, and stays one.

    Of two that are alike whichever had the luckier draws would always seem better than it is.

    Example
    -------
    >>> is_behind(-0.5, 0.1), is_behind(-0.1, 0.1), is_behind(-0.1, 0.0)
    (True, False, True)
    """
    return ratio < 0 and -ratio >= SURE * error


def is_decided(ratio: float, error: float) -> bool:
    """Whether a logarithm of two errors' ratio, known to a standard error, says which is less, or that they are close.

    Example
    -------
    >>> is_decided(0.5, 0.1), is_decided(0.01, 0.01), is_decided(0.1, 0.1)
    (True, True, False)
    """
    return abs(ratio) >= SURE * error or abs(ratio) + SURE * error <= CLOSE


def _over(
    order: Sequence[Candidate], history: Sequence[Mapping[Candidate, float]], further: Mapping[Candidate, int]
) -> dict[Candidate, float]:
    """Logarithms of errors over the first one's at the last look that each of the others and it came to."""
    found, final = dict[Candidate, float](), len(history) - 1
    for one in order[2:]:
        judged = history[min(further.get(one, final), further.get(order[0], final), final)]
        found[one] = judged[one] - judged[order[0]]
    return found


def log_ratio(race: Race, exact: Mapping[Candidate, float], criterion: Criterion) -> tuple[float, float]:
    """Return the logarithm of the second error over the first, from fresh draws, and its standard error."""
    first, second = (
        Place.of_values(controlled(race, one, criterion)) if one in race.fresh else Place.known(exact[one])
        for one in race.order[:2]
    )
    return second - first


def controlled(race: Race, one: Candidate, criterion: Criterion) -> np.ndarray:
    """Return a candidate's errors in its fresh draws, less what the control variates say of those draws.

    How much less, the race's draws say alone, so that the mean has no bias. Where so few draws are left with no error
    at all, nothing is taken off.
    """
    values, beside = _columns(race.fresh[one], criterion)
    slopes = race.slopes[one[1]]
    before = Place.of(race.drawn[one], criterion, slopes).value
    less = values - math.exp(before) * (beside @ slopes)
    return less if less.mean() > 0 else values


def _columns(errors: Sequence[Errors], criterion: Criterion) -> tuple[np.ndarray, np.ndarray]:
    """(R,) errors by a criterion, and (R, C) control variates."""
    beside = np.array([[getattr(one, name) for name in CONTROLS[criterion]] for one in errors])
    return np.array([getattr(one, criterion) for one in errors]), beside


def slopes_of(drawn: Mapping[Candidate, Sequence[Errors]], criterion: Criterion) -> dict[str, np.ndarray]:
    """How much of its expectation each estimator's error rises with the control variates: alike for all mechanisms.

    By least squares within each mechanism, none below zero, the error as a share of its mean; that mean is itself off
    by the slopes times the control variates' own.
    """
    found = dict[str, np.ndarray]()
    for estimator in dict.fromkeys(name for _, name in drawn):
        values, control, off = list[np.ndarray](), list[np.ndarray](), list[np.ndarray]()
        for errors in (some for (_, name), some in drawn.items() if name == estimator):
            own, beside = _columns(errors, criterion)
            values.append(own / max(float(own.mean()), LEAST_ERROR) - 1.0)
            control.append(beside - beside.mean(axis=0))
            off.append(beside.mean(axis=0))
        share, _ = nnls(np.concatenate(control), np.concatenate(values))
        found[estimator] = share / max(1.0 - float(np.mean(off, axis=0) @ share), LEAST_EXPECTED)
    return found


class _Work:
    """How much of it is done, for whoever waits."""

    def __init__(self, most: int, progress: Callable[[str, float], None] | None) -> None:
        self._most, self._done, self._progress = most, 0, progress or (lambda what, share: None)

    def add(self, what: str, estimates: int) -> None:
        self._done += estimates
        self._progress(what, min(1.0, self._done / self._most))

    def end(self) -> None:
        self._progress("done", 1.0)


def _most_estimates(candidates: int, looks: Sequence[int], fresh: int) -> int:
    running, seen, work = candidates, 0, 2 * fresh
    for look, most in zip(looks, KEPT, strict=False):
        work += running * (look - seen)
        running, seen = min(running, most), look
    return work


def _extend(into: Mapping[Candidate, list[Errors]], numbers: range, draw: Draw, work: _Work) -> None:
    for number in numbers:
        for mechanism in dict.fromkeys(one[0] for one in into):
            named = [estimator for other, estimator in into if other == mechanism]
            for estimator, errors in draw(mechanism, named, number).items():
                into[mechanism, estimator].append(errors)
            work.add(mechanism, len(named))


@dataclass(frozen=True, eq=False)
class Place:
    """The logarithm of a mean error, and its jackknife pseudo-values; of one that is known there is one."""

    value: float
    pseudo: np.ndarray

    def __sub__(self, other: Place) -> tuple[float, float]:
        """How far behind another it is, and the standard error of that: of as many draws, they are the same ones."""
        behind, mine, theirs = self.value - other.value, self.pseudo, other.pseudo
        if mine.size == theirs.size or 1 in (mine.size, theirs.size):
            return behind, _standard_error(mine - theirs)
        return behind, math.hypot(_standard_error(mine), _standard_error(theirs))

    @classmethod
    def of(cls, errors: Sequence[Errors], criterion: Criterion, slopes: np.ndarray) -> Place:
        values, beside = _columns(errors, criterion)
        return cls._jackknifed(values, beside @ slopes)

    @classmethod
    def of_values(cls, values: np.ndarray) -> Place:
        return cls._jackknifed(values, np.zeros(values.size))

    @classmethod
    def _jackknifed(cls, values: np.ndarray, beside: np.ndarray) -> Place:
        whole, size = _log_mean(values, beside), values.size
        without = [_log_mean(np.delete(values, k), np.delete(beside, k)) for k in range(size)]
        return cls(whole, size * whole - (size - 1) * np.array(without))

    @classmethod
    def known(cls, value: float) -> Place:
        log = math.log(max(value, LEAST_ERROR))
        return cls(log, np.array([log]))


def _log_mean(values: np.ndarray, beside: np.ndarray) -> float:
    expected = max(1.0 + float(beside.mean()), LEAST_EXPECTED)
    return math.log(max(float(values.mean()) / expected, LEAST_ERROR))


def _leading(place: Mapping[Candidate, Place], linear: Mapping[str, float] | None) -> dict[Candidate, float]:
    """Logarithms of mean errors as they are judged: drawn towards those of the linear estimate from the same reports.

    An estimator's error over the linear one's is much alike for all mechanisms. What it differs by among them in the
    draws is chance as far as their standard errors explain it, and is left out by that share (James and Stein).
    """
    values = {one: found.value for one, found in place.items()}
    if linear is None:
        return values
    over = {one: value - math.log(max(linear[one[0]], LEAST_ERROR)) for one, value in values.items()}
    groups = {name: [one for one in over if one[1] == name] for name in dict.fromkeys(name for _, name in over)}
    usual = {name: float(np.mean([over[one] for one in some])) for name, some in groups.items()}
    free = len(over) - len(groups)
    if free < 1:
        return values
    spread = sum((over[one] - usual[one[1]]) ** 2 for one in over) / free
    chance = float(np.mean([_standard_error(found.pseudo) ** 2 for found in place.values()]))
    kept = max(0.0, 1.0 - chance / spread) if spread > 0 else 1.0
    return {one: value - (1.0 - kept) * (over[one] - usual[one[1]]) for one, value in values.items()}


def clearly_worse(place: Mapping[Candidate, Place], comparisons: int) -> set[Candidate]:
    """Those whose distance from the leader is more than chance explains.

    A standard error of few draws may be far too small by chance: none counts as less than that of all on average.
    """
    leader = min(place, key=lambda one: place[one].value)
    errors = {one: _standard_error(found.pseudo - place[leader].pseudo) for one, found in place.items()}
    simulated = [error for error in errors.values() if error > 0]
    least = math.sqrt(float(np.mean(np.square(simulated)))) if simulated else 0.0
    limit = normal_quantile(1 - 2 * RISK / comparisons)
    return {one for one, found in place.items() if found.value - place[leader].value > limit * max(errors[one], least)}


def _standard_error(values: np.ndarray) -> float:
    return float(values.std(ddof=1)) / math.sqrt(values.size) if values.size > 1 else 0.0
