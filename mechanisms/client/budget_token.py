"""A privacy budget that can be spent once, and only on a table that keeps within it."""

from __future__ import annotations

import os
from functools import lru_cache
from threading import Lock
from typing import NoReturn, Protocol

from ..errors import InputError, TableError
from ..exactness.verification import require_proved
from ..promise import Approximate, OfPairs, Promise, Pure, as_promise
from ..table.table import TabulatedMechanism

TABLES_REMEMBERED = 8
"""Proved tables kept in mind: a protocol asks thousands of clients about one or two."""


class Provable(Protocol):
    """What is no table of numbers and proves its promise by whole numbers, such as a frequency oracle."""

    @property
    def epsilon(self) -> float:
        """The budget that it claims to keep."""
        ...

    @property
    def promise(self) -> Promise | None:
        """What it promises of any two inputs; None where its parts have promises of their own."""
        ...

    def failures(self) -> tuple[str, ...]:
        """Return what breaks the claim."""
        ...


class BudgetToken:
    """One client's whole budget, or that of each client of a cohort that reports together.

    `spend` pays for a report and works once: every further call raises. Two threads cannot spend the same token, and a
    token cannot be copied or pickled, since a copy would be a second budget. A token refuses in a forked process, which
    has copies of everything; only the process that made it can spend it.

    Parameters
    ----------
    epsilon : float or Promise
        The budget. A number is the epsilon of `Pure`, which pays for tables of pure privacy alone. `Approximate` also
        pays for tables of its kind that are proved to keep within it. A promise of pairs, such as `Metric`, pays for
        all tables proved to keep within it.
    owner : str
        Whose it is, for messages.

    Raises
    ------
    InputError
        An epsilon that is not usable.

    Example
    -------
    >>> from optldp import BudgetToken
    >>> from optldp.mechanisms import duchi, make_exact
    >>> token = BudgetToken(1.0)
    >>> token.spend(make_exact(duchi([0, 1], 1.0)).mechanism)
    >>> token.is_spent
    True
    """

    __slots__ = ("_home", "_lock", "_owner", "_privacy")

    def __init__(self, epsilon: Promise | float, *, owner: str = "this client") -> None:
        self._privacy = as_promise(epsilon)
        self._owner = owner
        self._lock = Lock()
        self._home = _this_process()

    @property
    def privacy(self) -> Promise:
        """What a table must be proved to keep."""
        return self._privacy

    @property
    def epsilon(self) -> float:
        """The budget that there is, or was."""
        return self._privacy.epsilon

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self._lock.locked()

    def spend(self, mechanism: TabulatedMechanism | Provable) -> None:
        """Pay for one report through a table, or through a structure that proves itself.

        Parameters
        ----------
        mechanism : TabulatedMechanism or Provable
            Exact; that it keeps what it claims, and within the budget, is proved by whole numbers.

        Raises
        ------
        InputError
            The table is not proved to keep within the budget (nothing is spent), the budget was spent before, or the
            process is a fork of the one that holds it.
        """
        if fault := unproved(mechanism, self._privacy):
            raise InputError(f"a table must keep within the budget of {self._owner}, {self._privacy}: {fault}")
        self._take()

    def pass_on(self, heirs: int) -> tuple[BudgetToken, ...]:
        """Spend the token of a cohort by handing its budget to so many cohorts with different clients in them.

        Each client still has one budget: it is in one of the new cohorts, and the old one can report no more.
        """
        self._take()
        return tuple(BudgetToken(self._privacy, owner=self._owner) for _ in range(heirs))

    def _take(self) -> None:
        if self._home != _this_process():
            raise InputError(
                f"the budget of {self._owner}, {self._privacy}, must be spent in the process that holds it, "
                "got a use in a forked one, whose copy would be a second budget: report before forking, or not there"
            )
        if not self._lock.acquire(blocking=False):
            raise InputError(
                f"the budget of {self._owner}, {self._privacy}, must be spent once only, "
                "got a second use: it has reported, or handed its budget on"
            )

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise InputError("a budget token must not be copied or pickled, as a copy would be a second budget")

    def __getstate__(self) -> NoReturn:
        self.__reduce_ex__(0)


_forks = 0
"""How many forks lie between this process and the first one: unlike a process number, it is never used again."""


def _this_process() -> tuple[int, int]:
    return os.getpid(), _forks


def _note_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_note_fork)


@lru_cache(maxsize=TABLES_REMEMBERED)
def unproved(mechanism: TabulatedMechanism | Provable, privacy: Promise) -> str:
    """Say why a table is not proved to keep its promise and this one, once for all clients asked; "" if it is.

    A table of another kind of promise is refused, unless it is a pure one where all but a delta would do, or both are
    of pairs of knots. Of what is no table of numbers pure privacy alone is known here.
    """
    promise = mechanism.promise or Pure(mechanism.epsilon)
    if not isinstance(mechanism, TabulatedMechanism) and not isinstance(promise, Pure):
        return (
            f"it promises {promise}, of its values alone, which no budget here speaks of: draw reports with a Sampler"
        )
    alike = isinstance(promise, OfPairs) and isinstance(privacy, OfPairs)
    within = isinstance(promise, Pure) and isinstance(privacy, Approximate)
    if type(promise) is not type(privacy) and not (alike or within):
        return f"it promises {promise}, which is another kind of promise: ask for a budget that says so"
    if not isinstance(mechanism, TabulatedMechanism):
        above = (f"epsilon must be at most {privacy.epsilon:g}, got {promise.epsilon:g}",)
        return "; ".join(mechanism.failures() or above[: promise.epsilon > privacy.epsilon])
    try:
        require_proved(mechanism)
        require_proved(mechanism, epsilon=privacy)
    except (InputError, TableError) as error:  # a promise of other knots, or one that is not kept
        return str(error)
    return ""
