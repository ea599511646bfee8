"""The few exceptions that optldp raises on purpose; each message says what, where and the cure."""

from .printable import printable


class OptldpError(Exception):
    """Root of every error that optldp raises on purpose; its message is one line that is safe to show."""

    def __init__(self, message: object = "") -> None:
        super().__init__(printable(str(message)))


class InputError(OptldpError, ValueError):
    """A value handed in by the caller is not usable."""


class TableError(OptldpError, ValueError):
    """A table, or a table file, is malformed or does not keep its promise of privacy."""


class SolverError(OptldpError, RuntimeError):
    """A program could not be solved."""


class BudgetError(OptldpError, ValueError):
    """Another report would spend more than a user's privacy budget."""
