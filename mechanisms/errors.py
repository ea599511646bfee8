"""The few exceptions that optldp raises on purpose; each message says what, where and the cure."""

from collections.abc import Mapping
from typing import TypeVar

from .printable import printable

K = TypeVar("K")
V = TypeVar("V")


class OptldpError(Exception):
    """Root of every error that optldp raises on purpose; its message is one line that is safe to show.

    Example
    -------
    >>> from optldp import OptldpError
    >>> from optldp.mechanisms import TableError
    >>> try:
    ...     raise TableError("probabilities must sum to one, got 0.9")
    ... except OptldpError as error:
    ...     print(error)
    probabilities must sum to one, got 0.9
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(printable(str(message)))


class InputError(OptldpError, ValueError):
    """A value handed in by the caller is not usable.

    Example
    -------
    >>> from optldp.mechanisms.budget import check_epsilon
    >>> check_epsilon(-1.0)
    Traceback (most recent call last):
        ...
    optldp.mechanisms.errors.InputError: epsilon must be positive and finite, got -1.0
    """


class TableError(OptldpError, ValueError):
    """A table, or a table file, is malformed or does not keep its promise of privacy.

    Example
    -------
    >>> from optldp import TabulatedMechanism
    >>> TabulatedMechanism.from_points([0, 1], [0, 1], [[0.9, 0.2], [0.2, 0.9]], 1.0)
    Traceback (most recent call last):
        ...
    optldp.mechanisms.errors.TableError: every row must sum to 1, got 1.1 in row 0
    """


class SolverError(OptldpError, RuntimeError):
    """A program could not be solved.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.mechanisms import SolverError
    >>> from optldp.solvers import solve_on_outputs
    >>> try:
    ...     solve_on_outputs(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), np.array([-2.0, 2.0]), np.e)
    ... except SolverError as error:
    ...     print(error)
    outputs must reach beyond 2.489 times the half-width of the domain to start, got 2
    """


class BudgetError(OptldpError, ValueError):
    """Another report would spend more than a user's privacy budget.

    Example
    -------
    >>> import pathlib, tempfile
    >>> from optldp.mechanisms import BudgetError, frequency_oracle
    >>> from optldp.mechanisms.ledger import Ledger
    >>> ledger = Ledger.create(pathlib.Path(tempfile.mkdtemp(), "people.ledger"), bytes(range(32)), 1.5)
    >>> oracle = frequency_oracle(["yes", "no"], 1.0)
    >>> _ = ledger.report(oracle, "ann", "yes")
    >>> try:
    ...     ledger.report(oracle, "ann", "no")
    ... except BudgetError as error:
    ...     print(error)
    a user's epsilons must sum to at most 1.5, got 2.0 with this report: repeat the report already given, or stop
    """


def unwired(what: str, name: object) -> InputError:
    """Return the refusal that every choice by name ends in: a name that is listed must not be answered as another.

    Parameters
    ----------
    what : str
        What was to be chosen, such as "method".
    name : object
        Its name, or a value of a kind that nothing was written for.

    Returns
    -------
    error : InputError
        To be raised.

    Example
    -------
    >>> print(unwired("method", "newest"))
    method 'newest' is known by name, and nothing here works by it: choose another
    """
    return InputError(f"{what} {name!r:.60} is known by name, and nothing here works by it: choose another")


def wired(what: str, choices: Mapping[K, V], name: K) -> V:
    """Return what works by a name, or raise the refusal of one that nothing works by.

    Parameters
    ----------
    what : str
        What is chosen, such as "method".
    choices : mapping of K to V
        All that there are.
    name : K

    Returns
    -------
    chosen : V

    Raises
    ------
    InputError
        A name that is not among the choices.

    Example
    -------
    >>> wired("operation", {"merge": 1, "prune": 2}, "prune")
    2
    """
    if name not in choices:
        raise unwired(what, name)
    return choices[name]
