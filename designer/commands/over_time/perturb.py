"""`optldp perturb` for a way over time: the reports of those whose turn it is in one period."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ....estimators.reading.columns.keyed import read_keys, require_other_columns
from ....estimators.reading.columns.number_cells import write_columns
from ....mechanisms.errors import InputError
from ....mechanisms.ledger import PeriodState
from ..handlers.kind import Kind, marked
from ..handlers.over_time import made_of
from ..output.output import facts_shown, print_facts, print_json, require_place, say, say_wrote

if TYPE_CHECKING:
    from ..options.perturb import PerturbOptions

PERIOD = "period"

USED = ("--column", "--clip", "--drop-missing", "--period", "--state")
"""Options that only some kinds have a use for, and this one has."""


@dataclass(frozen=True)
class _Sent:
    """Reports as a mechanism's users take them, the rows of the users who sent them, and what was drawn of it."""

    reports: Any
    rows: np.ndarray
    new: int
    late: int
    withheld: int = 0


def perturb_period(asked: PerturbOptions, kind: Kind) -> None:
    """Write the reports of the users whose turn it is in the period that was asked for, and say what they cost."""
    way: Any = kind.mechanism
    asked.refuse("for reports of one time; of a way over time the period says when", "--day")
    period = _checked(asked, way)
    held = kind.held(asked, {})
    key = asked.needed("--key")
    users = read_keys(asked.data, list(held.present), key)
    require_other_columns(key, (), held.present, (PERIOD, *way.beside([]), *kind.columns_of(way.from_text([]))))
    if len(set(users.tolist())) < users.size:
        raise InputError(f"a user must be in one row of {str(asked.data)!r}, got some in several: keep one of each")
    sent = _simulated(asked, way, period, users, held.values) if asked.seed is not None else _kept(
        asked, way, period, users, held.values
    )  # fmt: skip
    rng = None if asked.seed is None else np.random.default_rng(asked.seed)
    columns = marked(kind.columns_of(sent.reports), rng)
    public = way.beside(users[sent.rows].astype(str).tolist())
    whole = {key: users[sent.rows], PERIOD: np.full(sent.rows.size, period)} | public | columns
    write_columns(asked.out, whole, kind.constants(whole))
    _say(sent, way, period)
    if held.clipped:
        say(f"note: {held.clipped:,} of {users.size:,} values were outside the range and clipped")
    say_wrote(asked.out, f"{sent.rows.size:,} reports")
    facts = {
        "period": period,
        "n": int(sent.rows.size),
        "users": int(users.size),
        "new": sent.new,
        "repeated": int(sent.rows.size) - sent.new,
        "late": sent.late,
        "withheld": sent.withheld,
        "clipped": held.clipped,
        "out": str(asked.out),
        "simulated": asked.seed is not None,
    }
    if asked.as_json:
        print_json(facts)
    else:
        print_facts("perturbed", facts_shown(facts))


def _checked(asked: PerturbOptions, way: Any) -> int:
    """Return the period; InputError for options that a way has no use for, or lacks."""
    asked.only(*USED)
    asked.refuse("of no use to a way over time", "--keep", "--ledger-key", "--budget", "--resume", "--window")
    require_place(asked.out, (".csv", ".parquet"), force=asked.force)
    if asked.label is None:
        raise InputError("a way over time needs --period, the period that the values are of, got none: name it")
    if not asked.label.isdecimal():
        raise InputError(f"--period of a way must be a whole number from 1 to {way.periods}, got {asked.label!r:.40}")
    if asked.seed is not None:
        if way.remembers:
            raise InputError(
                f"reports of {way.kind} are drawn of what a device remembers, which a simulation has no file for, got "
                "--seed: use --state, or Python"
            )
        asked.refuse("of a simulation, and a --state is in earnest", "--state")
    elif asked.state is None:
        raise InputError("a way over time needs --state FILE, so that nobody draws twice, got none: name one to keep")
    return way.checked_period(int(asked.label))


def _simulated(asked: PerturbOptions, way: Any, period: int, users: np.ndarray, values: np.ndarray) -> _Sent:
    """Reports by a numpy generator of this seed and period, which nobody keeps."""
    assert asked.seed is not None
    known = way if way.named_turns else way.named(asked.seed)
    rows = np.flatnonzero(known.in_turn(users.tolist(), period))
    return _Sent(way.drawn(values[rows], np.random.default_rng([asked.seed, period])), rows, rows.size, 0)


def _kept(asked: PerturbOptions, way: Any, period: int, users: np.ndarray, values: np.ndarray) -> _Sent:
    """Reports through the state: those that were drawn before, or new ones."""
    assert asked.state is not None
    state = PeriodState(asked.state, way)
    if state.is_new and period > 1 and not state.lost:
        say(
            f"note: {asked.state} is new in period {period}: if there was one before, reports of this period may be "
            "drawn a second time, which spends again"
        )
    given = state.reports(period, users.tolist(), list(values))
    rows = np.flatnonzero([report is not None for report in given.reports])
    texts = [report for report in given.reports if report is not None]
    return _Sent(way.from_text(texts), rows, given.new, given.late, given.withheld)


def _say(sent: _Sent, way: Any, period: int) -> None:
    """Say what was drawn now, and who came too late."""
    again = sent.rows.size - sent.new
    each = made_of(way).epsilon
    whole = "all" if way.span is None else f"any {way.span} periods in a row"
    if way.remembers == "draws":
        say(f"note: each new value spends epsilon {each:g} of {way.epsilon:g}; sending a report again spends nothing")
    elif way.remembers == "signs":
        say(f"note: {sent.new:,} new reports; all of a user's together spend epsilon {way.epsilon:g}, however many")
    else:
        said = f"{sent.new:,} new reports spend epsilon {each:g} of {way.epsilon:g} in {whole}"
        say(f"note: {said}; {again:,} reports are sent again and spend nothing; other users report in other periods")
    if sent.late:
        say(
            f"note: {sent.late:,} users had their turn in period {period}, but a later period was drawn first: "
            "they send nothing"
        )
    if sent.withheld:
        say(
            f"note: {sent.withheld:,} users in turn send nothing: their reports were forgotten, or may have been sent "
            "by another copy of this state, and count as spent"
        )
