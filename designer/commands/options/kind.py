"""What `optldp design` can make, each once: what it is called, and the options that it has a use for.

A table of numbers is one for each objective, whose registry says the same of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ...objectives.registry import named

FOR_ALL = ("--epsilon", "--public", "--drop-missing", "--out", "--force", "--explain", "--json", "--confidence")
"""Options that every design has a use for, the last one with --n."""

_NUMERIC = (
    "--range", "--clip", "--knots", "--uniform-share", "--tolerance",
)  # fmt: skip
_ONE_COLUMN = ("--column", "--prior", "--units")
_OF_ANY_OBJECTIVE = ("--objective", "--of", "--range", "--clip", "--knots", "--tolerance", "--n", *_ONE_COLUMN)
_CATEGORIES = ("--method", "--column", "--prior", "--categorical")
_PAIRS = (
    *_CATEGORIES, "--value-column", "--value-method", "--padding", "--range", "--clip", "--knots", "--units", "--n",
)  # fmt: skip
_LEVELS = ("--levels", "--level-epsilon")
_ATTRIBUTES = ("--method", "--attribute", "--sampled", "--clip", "--knots", "--uniform-share", "--tolerance")


class DesignKind(Enum):
    """A name for people and the options beside those for all, of what has no objective.

    Example
    -------
    >>> DesignKind.NOISE.label, "--privacy" in DesignKind.NOISE.uses
    ('noise of one shape', True)
    """

    LEVELS = (
        "levels of numbers",
        ("--method", *_NUMERIC, *_ONE_COLUMN, *_LEVELS, "--leakage", "--n"),
    )
    CATEGORIES = "categories", (*_CATEGORIES, "--tolerance", "--privacy", "--loss", "--objective")
    PLACES = (
        "places",
        (
            "--prior",
            "--privacy",
            "--objective",
            "--loss",
            "--biased",
            "--outputs",
            "--tolerance",
            "--uniform-share",
            "--workload",
        ),
    )
    LEVELS_OF_CATEGORIES = "levels of categories", (*_CATEGORIES, *_LEVELS)
    PAIRS = "pairs", _PAIRS
    PROTECTED = (
        "a value or none",
        ("--missing", "--column", "--prior", "--value-method", "--range", "--clip", "--knots", "--units", "--n"),
    )
    LEVELS_OF_PAIRS = "levels of pairs", (*_PAIRS, *_LEVELS)
    NOISE = "noise of one shape", ("--privacy", "--method", "--range", "--knots", "--units", "--n")
    ATTRIBUTES = "attributes", (*_ATTRIBUTES, "--objective", "--n")
    FEATURES = (
        "features of several columns",
        ("--for", "--attribute", "--rank", "--response", "--group", "--after", "--clip", "--n"),
    )
    OVER_TIME = (
        "a way over time",
        (
            "--periods", "--changes", "--answers", "--protects", "--of", "--way", "--turns", "--method",
            "--categorical", *_ONE_COLUMN, *_NUMERIC,
        ),
    )  # fmt: skip
    LEVELS_OF_ATTRIBUTES = "levels of attributes", (*_ATTRIBUTES, *_LEVELS, "--leakage", "--n")

    uses: tuple[str, ...]

    def __new__(cls, label: str, uses: tuple[str, ...]) -> DesignKind:
        """Make a member whose value is its name for people."""
        made = object.__new__(cls)
        made._value_, made.uses = label, uses
        return made

    @property
    def label(self) -> str:
        """What it is called in refusals."""
        return self.value


@dataclass(frozen=True)
class OneTable:
    """One table of numbers, by an objective.

    Example
    -------
    >>> OneTable("robust").label, "--form" in OneTable("robust").uses
    ('a robust table', True)
    """

    objective: str

    @property
    def label(self) -> str:
        """What it is called in refusals."""
        return named(self.objective).label

    @property
    def uses(self) -> tuple[str, ...]:
        """Options that it has a use for, beside those for all."""
        return (*_OF_ANY_OBJECTIVE, *named(self.objective).uses)
