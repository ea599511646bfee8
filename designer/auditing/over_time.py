"""Two attacks on the reports of a way over time: who has changed, and which reports are of the same user.

The first is a test of two histories, one that stays at a value and one that leaves it in the middle, so that what it
finds bounds the epsilon of a life from below. The second takes names away and matches reports that are alike.

Source: Erlingsson, Pihur and Korolova (2014), "RAPPOR", section 5, names both; the bound as in `bounds`.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...mechanisms.errors import InputError
from ...mechanisms.ledger import PeriodState
from ...mechanisms.over_time.way import Way
from ...mechanisms.spaces.interval import Interval
from .bounds import certain_bound

USERS = 2000

MOST_PERIODS = 64
"""Of a longer way the first so many are tried: a device's state is written in each."""

DETECTORS = 2

Sent = Sequence[Sequence[str | None]]
"""What each user has sent in each period, as text; None where nothing."""


@dataclass(frozen=True)
class OverTimeAudit:
    """What the reports of a way gave away over several periods.

    Attributes
    ----------
    users, periods : int
        Simulated: half of the users change from the lowest to the highest value in the middle, the others never.
    changes_found, false_alarms : float
        Shares of the users who changed, and of those who did not, whom the better of two detectors took for changed.
    lower_bound : float
        At least so large is the true epsilon of a life, by these; at `confidence`, 0 if nothing was found.
    epsilon : float
        What is promised of a life, or where there is no such promise what the way promises instead.
    confidence : float
    linked : float
        Chance that a match of reports that are alike, of an earlier and a later period, names the same user.
    chance : float
        The same of a guess.

    Example
    -------
    >>> from optldp.designer.auditing.over_time import OverTimeAudit
    >>> OverTimeAudit(2000, 12, 0.9, 0.0, 5.0, 2.0, 0.999, 0.01, 0.001).ok
    False
    """

    users: int
    periods: int
    changes_found: float
    false_alarms: float
    lower_bound: float
    epsilon: float
    confidence: float
    linked: float
    chance: float

    @property
    def ok(self) -> bool:
        """Whether the histories were told apart by no more than is promised."""
        return self.lower_bound <= self.epsilon


def audit_over_time(
    way: Way, *, users: int = USERS, confidence: float = 0.999, progress: Callable[[float], None] | None = None
) -> OverTimeAudit:
    """Return what the reports of a way give away, drawn through a state as devices do.

    Parameters
    ----------
    way : Way
    users : int
        From 200.
    confidence : float
        Confidence of the lower bound.
    progress : callable, optional
        Told the share of the periods that are done.

    Raises
    ------
    InputError
        Fewer users.

    Example
    -------
    >>> from optldp.designer.auditing.over_time import audit_over_time
    >>> from optldp.mechanisms.categorical import categorical_grr
    >>> from optldp.mechanisms.over_time import Panel
    >>> found = audit_over_time(Panel(categorical_grr(["no", "yes"], 1.0), 4, 1, 1.0, "0" * 32), users=200)
    >>> found.ok, found.changes_found, found.linked
    (True, 0.0, 0.0)
    """
    if users < 200:
        raise InputError(f"an audit over time needs at least 200 users, got {users}")
    low, high = _two_values(way)
    names = [f"user {number}" for number in range(users)]
    changed = np.arange(users) % 2 == 1
    periods, middle = min(way.periods, MOST_PERIODS), (min(way.periods, MOST_PERIODS) + 2) // 2
    sent: list[list[str | None]] = [[] for _ in names]
    with tempfile.TemporaryDirectory() as folder:
        state = PeriodState(Path(folder, "state.db"), way)
        for period in range(1, periods + 1):
            now = high if period >= middle else low
            values = [now if moves else low for moves in changed.tolist()]
            for mine, report in zip(sent, state.reports(period, names, values).reports, strict=True):
                mine.append(report)
            if progress is not None:
                progress(period / periods)
    found, false, bound = changes_seen(sent, changed, middle, confidence)
    same, chance = links_seen([mine for mine, moves in zip(sent, changed, strict=True) if not moves])
    claim = way.epsilon if way.life_epsilon is None else way.life_epsilon
    return OverTimeAudit(users, periods, found, false, bound, claim, confidence, same, chance)


def changes_seen(sent: Sent, changed: np.ndarray, middle: int, confidence: float) -> tuple[float, float, float]:
    """Return which shares of those who changed and of the others the better detector names, and the bound of epsilon.

    One detector asks whether the first report from the middle on is another than the last before; one asks whether
    reports are all alike before, all alike after, and these others. Both are tested at half of the risk.

    Parameters
    ----------
    sent : (N,) sequence of (T,) sequence of str or None
    changed : (N,) ndarray of bool
    middle : int
        The first period of the other value, from 2 on.
    confidence : float

    Example
    -------
    >>> changes_seen([["a", "b"], ["a", "a"]] * 50, np.arange(100) % 2 == 0, 2, 0.999)[:2]
    (1.0, 0.0)
    """
    signs = np.array([_signs(mine[: middle - 1], mine[middle - 1 :]) for mine in sent])
    results = []
    for sign in signs.T:
        inside, other = int(sign[changed].sum()), int(sign[~changed].sum())
        bound = certain_bound(inside, other, (1 - confidence) / DETECTORS)
        results.append((max(0.0, bound), inside / max(1, changed.sum()), other / max(1, (~changed).sum())))
    bound, found, false = max(results)
    return float(found), float(false), float(bound)


def links_seen(sent: Sent) -> tuple[float, float]:
    """Return how often a match of like reports is of the same user, and how often a guess would be.

    Names are taken away; whoever reports in the first half of the periods is looked for in the second half, by what was
    sent last and first. Among several that are alike one is guessed.

    Example
    -------
    >>> links_seen([["a", "a"], ["b", "b"], ["c", "c"], ["c", "c"]])
    (0.75, 0.25)
    """
    middle = len(sent[0]) // 2
    pairs = [(_last(mine[:middle]), _first(mine[middle:])) for mine in sent]
    later = Counter(after for _, after in pairs if after is not None)
    many = later.total()
    earlier = [(before, after) for before, after in pairs if before is not None]
    if not many or not earlier:
        return 0.0, 0.0
    right = [1 / later[after] if after is not None and before == after else 0.0 for before, after in earlier]
    return float(np.mean(right)), 1 / many


def _signs(before: Sequence[str | None], after: Sequence[str | None]) -> tuple[bool, bool]:
    last, first = _last(before), _first(after)
    differs = last is not None and first is not None and last != first
    kinds = [{report for report in part if report is not None} for part in (before, after)]
    return differs, differs and all(len(kind) == 1 for kind in kinds)


def _first(reports: Sequence[str | None]) -> str | None:
    return next((report for report in reports if report is not None), None)


def _last(reports: Sequence[str | None]) -> str | None:
    return _first(reports[::-1])


def _two_values(way: Any) -> tuple[Any, Any]:
    """The lowest and the highest value of numbers, the first and the last category."""
    values = way.values
    return (values.low, values.high) if isinstance(values, Interval) else (values.labels[0], values.labels[-1])
