"""What mixed reports promise: the answer that people and commands are given."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ..channel import Channel
from ..display.display import Shown
from ..display.summary import Dots, Told
from ..errors import InputError, TableError
from ..exactness.proof import failures_of
from ..over_time.way import Way
from ..promise import Approximate, Pure
from ..table.table import TabulatedMechanism
from .distinguishers import likely_best
from .parts import Sent, sent_by
from .rounds import LEFT, composed
from .rows import Ratios, numerators_of, ratios_of
from .upper import Clones

MOST_USERS = 10**9
"""What takes seconds; more are mixed no worse, so that what holds for these holds for them."""

MANY = 10**6
"""Users of whom the likely best attack is the best."""

LEAST_DELTA = 1e-60
"""Below it probabilities that must be summed have no digits in doubles."""

UP = 1 + 1e-15
"""For an exponential or a logarithm of the machine's library, and for a fraction as a double."""


@dataclass(frozen=True, eq=False, repr=False)
class Shuffled(Shown):
    """The promise for each user's value if reports reach the collector mixed and without their senders' names.

    It is no promise of local privacy: anybody who sees a report beside its sender's name is bound by the mechanism's
    own promise alone. For two data sets that differ in one user's value, every set of outcomes of the mixed reports has
    a probability of at most e^epsilon times the other's, plus delta.

    Parameters
    ----------
    channel : Channel
        A proved mechanism of pure privacy; or one of other log-ratios, if its law is a table. Of a way over time all
        reports of a user are bounded together.
    n : int
        Honest users whose reports are mixed with each other at a time, from 2 to 10^9: of a panel over T periods, with
        one report each, n / T.
    delta : float
        From 1e-60 to below 1. It should be well below 1 / n.

    Raises
    ------
    InputError
        Numbers that are not usable, or a promise that implies nothing for mixed reports.
    TableError
        A mechanism that is not proved.

    Source: see `Clones`.

    Example
    -------
    >>> from optldp.mechanisms.categorical import categorical_grr
    >>> from optldp.mechanisms.shuffling import Shuffled
    >>> mixed = Shuffled(categorical_grr(["a", "b", "c", "d"], 2.0), 10_000, 1e-6)
    >>> round(mixed.lower_bound, 4), round(mixed.central_epsilon, 4), round(mixed.generic, 4)
    (0.1019, 0.102, 0.1144)
    """

    channel: Channel
    n: int
    delta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", _users(self.n))
        object.__setattr__(self, "delta", _delta(self.delta))
        _require_proved(self.channel)
        promise, _ = self.channel.promise, self._sent
        if isinstance(promise, Approximate):
            raise InputError(
                f"mixing makes little of a promise with a delta, got {promise}: with that probability a report tells "
                "all, and still does among others; design for a pure budget"
            )
        if not isinstance(promise, Pure) and self._ratios is None:
            raise InputError(
                "mixing needs one pure budget or a table, got "
                f"{'a budget for each part' if promise is None else promise}: ask for one part at a time"
            )

    def _line(self) -> dict[str, Any]:
        return {"local_epsilon": self.local_epsilon, "n": self.n, "delta": self.delta}

    def _told(self) -> Told:
        bounds = {"central_epsilon": self.central_epsilon, "lower_bound": self.lower_bound, "generic": self.generic}
        held = {name: value for name, value in bounds.items() if value is not None}
        return Told(self._line() | bounds, picture=Dots(list(held), np.array(list(held.values())), "epsilon"))

    @cached_property
    def _sent(self) -> Sent:
        return sent_by(self.channel)

    @cached_property
    def _ratios(self) -> Ratios | None:
        return ratios_of(self._sent.each)

    @property
    def local_epsilon(self) -> float:
        """What a user's report promises beside its sender's name, over time all of them, whichever values they hold."""
        if isinstance(self.channel, Way):
            assert self.channel.life_epsilon is not None  # or nothing is mixed
            return self.channel.life_epsilon
        promise = self.channel.promise
        if isinstance(promise, Pure):
            return promise.epsilon
        assert self._ratios is not None
        return math.log1p(float(self._ratios.p - 1)) * UP**4

    @property
    def beta(self) -> float | None:
        """The largest total variation of two values' reports, rounded up; None where the law is not written down."""
        return None if self._ratios is None else float(self._ratios.pairs[0].beta) * UP

    @property
    def known(self) -> str:
        """What the upper bound rests on: the "law" of reports, or their "epsilon" alone."""
        return "epsilon" if self._ratios is None else "law"

    @cached_property
    def generic(self) -> float:
        """An epsilon that mixed reports of every mechanism with this local epsilon keep at delta."""
        return generic_epsilon(self.local_epsilon, self.n, self.delta)

    @cached_property
    def central_epsilon(self) -> float:
        """An epsilon that mixed reports keep at delta: no less than the least one."""
        return min(self.epsilon_at(self.delta), self.generic)  # whose blocks may be the finer ones

    def epsilon_at(self, delta: float) -> float:
        """Return an epsilon that mixed reports keep at another delta."""
        return min(self._of_batches(self._sent.times, _delta(delta)), self.local_epsilon)

    def _of_batches(self, batches: int, delta: float) -> float:
        """An epsilon of so many batches together, in each of which the user has one report."""
        clones = self._clones(delta if batches == 1 else delta * LEFT / batches)

        def epsilon_at(wanted: float) -> float:
            found = 0.0
            for each in clones:
                if each.exceeds(found, wanted):
                    found = each.epsilon(wanted)
            return found

        def delta_at(epsilon: float) -> float:
            return max((each.at(epsilon) for each in clones), default=0.0)

        return composed(epsilon_at, delta_at, batches, delta)

    def _clones(self, delta: float) -> list[Clones]:
        """Bounds on all pairs of one report's rows, or the one on all mechanisms of its budget."""
        if self._ratios is None:
            return [_generic_clones(self.local_epsilon, self.n, delta)]
        return [
            Clones(self.n, self._ratios.p, beta, shared, delta, left_out)
            for beta, shared, left_out in self._ratios.pairs
            if beta
        ]

    @cached_property
    def lower_bound(self) -> float | None:
        """An epsilon that mixed reports do not keep at delta, by an attack; None where the law is no table."""
        numerators = numerators_of(self.channel)
        if numerators is None or self._ratios is None:
            return None
        if self._ratios.p == 1:
            return 0.0
        tried = likely_best(numerators)[: None if self.n < MANY else 1]
        return max(each.epsilon(self.n, self.delta) for each in tried)

    def over_rounds(self, rounds: int) -> float:
        """Return an epsilon that mixed reports of several rounds keep together, at delta for all of them.

        Parameters
        ----------
        rounds : int
            In which every user reports anew, to be mixed with n - 1 others each time.

        Raises
        ------
        InputError
            No whole number of at least 1.

        Example
        -------
        >>> from optldp.mechanisms.categorical import categorical_grr
        >>> from optldp.mechanisms.shuffling import Shuffled
        >>> round(Shuffled(categorical_grr(["yes", "no"], 1.0), 10_000, 1e-6).over_rounds(100), 3)
        0.509
        """
        if isinstance(rounds, bool) or not isinstance(rounds, int | np.integer) or rounds < 1:
            raise InputError(f"rounds must be a whole number of at least 1, got {rounds!r:.60}")
        return min(self._of_batches(int(rounds) * self._sent.times, self.delta), int(rounds) * self.local_epsilon)

    @property
    def sentence(self) -> str:
        """What may be said to users, with what it takes."""
        over_time = isinstance(self.channel, Way)
        mixed = "reports like yours are mixed at a time" if over_time else "reports are mixed"
        received, other = ("all that he receives", "history") if over_time else ("what he receives", "value")
        return (
            f"if at least {self.n:,} honest users' {mixed} by someone who does not side with the collector, {received} "
            f"is at most e^{_up(self.central_epsilon)} times likelier than with any other {other} of yours, but for a "
            f"probability of {_up(self.delta)}; if not, e^{_up(self.local_epsilon)} times"
        )

    @property
    def caution(self) -> str:
        """What is wrong with delta; "" for nothing."""
        if self.delta * self.n <= 1:
            return ""
        return (
            f"delta must be below 1 / n to mean much, got {self.delta:g} for {self.n:,} users: publishing one user's "
            "value, drawn at random, would keep it"
        )


def generic_epsilon(local_epsilon: float, n: int, delta: float) -> float:
    """Return an epsilon that mixed reports of n users keep at delta, for every mechanism of a local epsilon.

    Parameters
    ----------
    local_epsilon : float
        Positive.
    n, delta
        As of `Shuffled`; InputError for others.

    Returns
    -------
    epsilon : float

    Source: Feldman, McMillan and Talwar (2022), see `Clones`.

    Example
    -------
    >>> from optldp.mechanisms.shuffling import generic_epsilon
    >>> round(generic_epsilon(1.0, 100_000, 1e-6), 4)
    0.0124
    """
    n, delta = _users(n), _delta(delta)
    return min(_generic_clones(local_epsilon, n, delta).epsilon(delta), local_epsilon)


def _generic_clones(local_epsilon: float, n: int, delta: float) -> Clones:
    p = Fraction(math.exp(local_epsilon) * UP**4)
    return Clones(n, p, (p - 1) / (p + 1), Fraction(1), delta)


def _up(value: float) -> str:
    """A number in four digits, rounded up."""
    if float(nearest := f"{value:.4g}") >= value:
        return nearest
    return f"{float(Context(prec=4, rounding=ROUND_CEILING).create_decimal_from_float(value)):g}"


def _require_proved(channel: Channel) -> None:
    """Raise InputError for what is no mechanism, TableError for one in doubles or broken."""
    if not isinstance(channel, Channel):
        raise InputError(f"a mechanism is mixed, got {type(channel).__name__}: load or design one")
    if isinstance(channel, TabulatedMechanism) and not channel.exact:
        raise TableError(
            "a table must be exact for bounds on mixed reports, got doubles: make it exact with make_exact"
        )
    if failures := failures_of(channel):
        raise TableError(failures[0])


def _users(n: object) -> int:
    if isinstance(n, bool) or not isinstance(n, int | np.integer):
        raise InputError(f"n must be a whole number of users, got {n!r:.60}")
    if n < 2:
        raise InputError(f"n must be at least 2, got {n}: one report has no others to be mixed with")
    if n > MOST_USERS:
        raise InputError(f"n must be at most {MOST_USERS:g}, got {n}: what holds for fewer holds for more")
    return int(n)


def _delta(delta: object) -> float:
    if isinstance(delta, bool) or not isinstance(delta, int | float | np.number) or not LEAST_DELTA <= delta < 1:
        raise InputError(
            f"delta must be from {LEAST_DELTA:g} to below 1, got {delta!r:.60}: with none at all mixing promises no "
            "more than each report does, as all others may happen to say the same"
        )
    return float(delta)
