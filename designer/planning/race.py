r"""A race of simulated candidates: all start, the clearly worse stop, and leaders get draws that chose nothing.

A draw is all reports of one collection; candidates see the same users in it, and estimators of one mechanism the same
reports. At each look at the draws so far candidates are compared by the logarithm of their mean error, with the
standard error of the difference from the leader by the jackknife over draws. Behind by z of those is clearly worse, z
the normal quantile of RISK / (C L) with C candidates and L looks: whatever leads, the best is stopped so with
probability `RISK` at most, as far as laws are normal. What is not clearly worse goes on, but for time no more than
`KEPT` of them: the others are said to be behind, and not to be worse.

Errors of unbiased estimates are known in closed form, and how far those of a draw are off serves as a control variate
for all others. What is reported of the leader and the next comes of draws after the race alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ...estimators.intervals import normal_quantile

Candidate = tuple[str, str]
"""A mechanism and an estimator."""

RISK = 0.05
"""Probability that the best one is ever taken for clearly worse."""

LOOKS = (3, 6, 12)
"""Draws after which the race is looked at."""

KEPT = (8, 3, 2)
"""Simulated candidates that go on after each look at most."""

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
    """

    squared: float
    jensen_shannon: float
    wasserstein: float
    control: float
    seconds: float


Criterion = Literal["squared", "jensen_shannon", "wasserstein"]

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
        Of the first two in the order, where they are simulated, from draws after the race.
    worse : frozenset of Candidate
        Stopped as clearly worse. All others without fresh draws were left behind for time.
    order : tuple of Candidate
        By the error that the race saw, or that is known; those that went further come first.
    slopes : mapping of str to float
        Of each estimator's relative error in the control variate, from the race's draws.
    """

    drawn: Mapping[Candidate, list[Errors]]
    fresh: Mapping[Candidate, list[Errors]]
    worse: frozenset[Candidate]
    order: tuple[Candidate, ...]
    slopes: Mapping[str, float]


def run_race(
    simulated: Sequence[Candidate],
    exact: Mapping[Candidate, float],
    draw: Draw,
    criterion: Criterion,
    fresh: int,
    progress: Callable[[str, float], None] | None = None,
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
        Draws for the two that lead, at least 2. No candidate gets more in the race, either.
    progress : callable, optional
        Called with a mechanism and the share of the work that is done.
    """
    looks = [look for look in LOOKS if look < fresh] + [fresh] * (fresh <= LOOKS[-1])
    drawn = {one: list[Errors]() for one in simulated}
    running, further = list(drawn), dict.fromkeys(drawn, 0)
    worse, seen, work = set[Candidate](), 0, _Work(_most_estimates(len(drawn), looks, fresh), progress)
    place = {one: _Place.known(value) for one, value in exact.items()}
    slopes = dict[str, float]()
    for number, (look, most) in enumerate(zip(looks, KEPT, strict=False)):
        ran = {one: drawn[one] for one in running}
        _extend(ran, range(seen, look), draw, work)
        seen, slopes = look, slopes | _slopes(ran, criterion)
        place |= {one: _Place.of(errors, criterion, slopes[one[1]]) for one, errors in ran.items()}
        alive = {one: place[one] for one in (*running, *exact)}
        if alive:
            worse |= _clearly_worse(alive, (len(drawn) + len(exact)) * len(looks)) & set(running)
        running = sorted((one for one in running if one not in worse), key=lambda one: place[one].value)[:most]
        further |= dict.fromkeys(running, number + 1)
    ahead = sorted([*running, *exact], key=lambda one: place[one].value)
    behind = [one for one in drawn if one not in running]
    order = (*ahead, *sorted(behind, key=lambda one: (-further[one], place[one].value)))
    anew = {one: list[Errors]() for one in order[:2] if one in drawn}
    _extend(anew, range(seen, seen + fresh), draw, work)
    work.end()
    return Race(drawn, anew, frozenset(worse), order, slopes)


def log_ratio(race: Race, exact: Mapping[Candidate, float], criterion: Criterion) -> tuple[float, float]:
    """Return the logarithm of the second error over the first, from fresh draws, and its standard error."""
    first, second = (
        _Place.of(race.fresh[one], criterion, race.slopes[one[1]]) if one in race.fresh else _Place.known(exact[one])
        for one in race.order[:2]
    )
    return second.value - first.value, _standard_error(second.pseudo - first.pseudo)


def _slopes(drawn: Mapping[Candidate, Sequence[Errors]], criterion: Criterion) -> dict[str, float]:
    """How much of its expectation each estimator's error rises with the control variate: alike for all mechanisms.

    By least squares within each mechanism, the error as a share of its mean; that mean is itself off by the slope times
    the control variate's.
    """
    found = dict[str, float]()
    for estimator in dict.fromkeys(name for _, name in drawn):
        values, control, off = list[np.ndarray](), list[np.ndarray](), list[float]()
        for errors in (some for (_, name), some in drawn.items() if name == estimator):
            own, beside = np.array([(getattr(one, criterion), one.control) for one in errors]).T
            values.append(own / max(float(own.mean()), LEAST_ERROR))
            control.append(beside - beside.mean())
            off.append(float(beside.mean()))
        spread = np.concatenate(control)
        square = float(spread @ spread)
        share = max(0.0, float(spread @ np.concatenate(values)) / square) if square > 0 else 0.0
        found[estimator] = share / max(1.0 - share * float(np.mean(off)), LEAST_EXPECTED)
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
class _Place:
    """The logarithm of a mean error, and its jackknife pseudo-values; of one that is known there is one."""

    value: float
    pseudo: np.ndarray

    @classmethod
    def of(cls, errors: Sequence[Errors], criterion: Criterion, slope: float) -> _Place:
        values = np.array([getattr(one, criterion) for one in errors])
        control, size = np.array([one.control for one in errors]), len(errors)
        whole = _log_mean(values, control, slope)
        without = [_log_mean(np.delete(values, k), np.delete(control, k), slope) for k in range(size)]
        return cls(whole, size * whole - (size - 1) * np.array(without))

    @classmethod
    def known(cls, value: float) -> _Place:
        log = math.log(max(value, LEAST_ERROR))
        return cls(log, np.array([log]))


def _log_mean(values: np.ndarray, control: np.ndarray, slope: float) -> float:
    expected = max(1.0 + slope * float(control.mean()), LEAST_EXPECTED)
    return math.log(max(float(values.mean()) / expected, LEAST_ERROR))


def _clearly_worse(place: Mapping[Candidate, _Place], comparisons: int) -> set[Candidate]:
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
