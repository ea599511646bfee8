"""What `optldp design` can make, each once: what it is called, and the options that it has a use for."""

from __future__ import annotations

from enum import Enum

from ....mechanisms.errors import unwired
from .objective import DETAILS

FOR_ALL = ("--epsilon", "--public", "--drop-missing", "--out", "--force", "--explain", "--json", "--confidence")
"""Options that every design has a use for, the last one with --n."""

_NUMERIC = (
    "--range", "--clip", "--knots", "--uniform-share", "--worst-case", "--eta", "--intervals", "--window",
    "--tail-ratio", "--tolerance",
)  # fmt: skip
_ONE_COLUMN = ("--column", "--prior", "--units")
_OBJECTIVE = ("--objective", "--range", "--clip", "--knots", "--tolerance", *_ONE_COLUMN)
_WINDOWED = "--form", "--omit-prior"
_CATEGORIES = ("--method", "--column", "--prior", "--categorical")
_PAIRS = (
    *_CATEGORIES, "--value-column", "--value-method", "--padding", "--range", "--clip", "--knots", "--units", "--n",
)  # fmt: skip
_LEVELS = ("--levels", "--level-epsilon", "--level-method")
_ATTRIBUTES = ("--method", "--attribute", "--sampled", "--clip", "--knots", "--uniform-share", "--tolerance")


class DesignKind(Enum):
    """A name for people, the options beside those for all, and the objective, for one table of numbers.

    Example
    -------
    >>> DesignKind.ROBUST.label, "--radius" in DesignKind.ROBUST.uses, DesignKind.of_objective("robust")
    ('a robust table', True, <DesignKind.ROBUST: 'a robust table'>)
    """

    EXPECTED = (
        "one table of numbers",
        ("--objective", "--method", *_NUMERIC, *_ONE_COLUMN, "--gap", "--n", *_WINDOWED),
        "expected",
    )
    MINIMAX = "a minimax table", (*_OBJECTIVE, "--gap", "--form", "--n"), "minimax"
    TRADE_OFF = "a trade-off table", (*_OBJECTIVE, *DETAILS["trade-off"], "--n", *_WINDOWED), "trade-off"
    ROBUST = "a robust table", (*_OBJECTIVE, *DETAILS["robust"], "--n", *_WINDOWED), "robust"
    INFORMATION = (
        "an information-optimal table",
        (*_OBJECTIVE, *DETAILS["information"], "--n", "--uniform-share", "--omit-prior"),
        "information",
    )
    ERROR = (
        "a table for the error of a mean",
        (*_OBJECTIVE, *DETAILS["error"], "--uniform-share", "--omit-prior", "--plot"),
        "error",
    )
    LEVELS = (
        "levels of numbers",
        ("--method", *_NUMERIC, *_ONE_COLUMN, *_LEVELS, "--leakage", "--level-shares", "--outputs", "--n"),
    )
    CATEGORIES = "categories", (*_CATEGORIES, "--tolerance")
    LEVELS_OF_CATEGORIES = "levels of categories", (*_CATEGORIES, *_LEVELS)
    PAIRS = "pairs", _PAIRS
    PROTECTED = (
        "a value or none",
        ("--missing", "--column", "--prior", "--value-method", "--range", "--clip", "--knots", "--units", "--n"),
    )
    LEVELS_OF_PAIRS = "levels of pairs", (*_PAIRS, *_LEVELS)
    NOISE = "noise of one shape", ("--delta", "--per-unit", "--method", "--range", "--knots", "--units", "--n")
    ATTRIBUTES = "attributes", (*_ATTRIBUTES, "--objective", *DETAILS["error"])
    LEVELS_OF_ATTRIBUTES = "levels of attributes", (*_ATTRIBUTES, *_LEVELS, "--leakage", "--n")

    uses: tuple[str, ...]
    objective: str | None

    def __new__(cls, label: str, uses: tuple[str, ...], objective: str | None = None) -> DesignKind:
        """Make a member whose value is its name for people."""
        made = object.__new__(cls)
        made._value_, made.uses, made.objective = label, uses, objective
        return made

    @property
    def one_table(self) -> bool:
        """Whether it is one table of numbers."""
        return self.objective is not None or self is DesignKind.NOISE

    @property
    def label(self) -> str:
        """What it is called in refusals."""
        return self.value

    @classmethod
    def of_objective(cls, objective: str) -> DesignKind:
        """Return the one table of numbers that an objective makes; InputError for one that makes none."""
        for kind in cls:
            if kind.objective == objective:
                return kind
        raise unwired("objective", objective)
