"""Which rows of an engine's table are counted: comparisons of a column with a value, parsed and quoted here.

Nothing that is asked for gets into a query as it is: a column is quoted as a name, a value as a text, or written anew
as a number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...mechanisms.errors import InputError
from ..reading.columns.cells import quoted
from ..reading.columns.rows.written_rows import literal

LONGEST = 1024
"""Characters of a comparison."""

OPERATORS = {"=": "=", "==": "=", "!=": "<>", "<>": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}

_COMPARISON = re.compile(
    r'\s*(?P<column>"(?:[^"]|"")+"|[^\W\d]\w*)\s*(?P<operator>==|!=|<>|<=|>=|=|<|>)\s*(?P<value>.*)'
)
_NUMBER = re.compile(r"[+-]?(?:\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})")
_TEXT = re.compile(r"'(?:[^']|'')*'")
_BARE = re.compile(r"[\w.:/@+ -]*")


@dataclass(frozen=True)
class Comparison:
    """A column, an operator and a value, a number or a text.

    Example
    -------
    >>> print(Comparison.read("region = O'Hare".replace("O'Hare", "'O''Hare'")).sql())
    "region" = 'O''Hare'
    >>> print(Comparison.read("day >= 2026-05-01").sql())
    "day" >= '2026-05-01'
    """

    column: str
    operator: str
    value: str
    number: bool

    @classmethod
    def read(cls, text: str) -> Comparison:
        """Return the comparison that a text is.

        Raises
        ------
        InputError
            A text that is no comparison of one column with one value.
        """
        found = _COMPARISON.fullmatch(text) if len(text) <= LONGEST and text.isprintable() else None
        if found is None:
            raise InputError(_refusal(text))
        column, value = found["column"], found["value"].strip()
        if column.startswith('"'):
            column = column[1:-1].replace('""', '"')
        if _NUMBER.fullmatch(value):
            return cls(column, OPERATORS[found["operator"]], value, number=True)
        if _TEXT.fullmatch(value):
            value = value[1:-1].replace("''", "'")
        elif not value or not _BARE.fullmatch(value) or "--" in value:
            raise InputError(_refusal(text))
        if "\\" in value or "\\" in column:  # engines differ in what it means inside of a text
            raise InputError(f"--where takes no backslash, got {text!r:.80}: choose another comparison")
        return cls(column, OPERATORS[found["operator"]], value, number=False)

    def sql(self, *, text: bool = False) -> str:
        """Return it as duckdb reads it; of a column that is text, whose cells a number is compared with as numbers."""
        column, value = quoted(self.column), self.value if self.number else literal(self.value)
        if text:
            column = f"TRY_CAST({column} AS DOUBLE)" if self.number else f"CAST({column} AS VARCHAR)"
        return f"{column} {self.operator} {value}"


def condition(asked: Sequence[str]) -> str:
    """Return SQL that is true of rows for which all comparisons are; "" for none.

    Raises
    ------
    InputError
        A text that is no comparison.

    Example
    -------
    >>> print(condition(["day >= 2026-05-01", "wave < 3"]))
    "day" >= '2026-05-01' AND "wave" < 3
    """
    return " AND ".join(Comparison.read(text).sql() for text in asked)


def _refusal(text: str) -> str:
    return (
        '--where must be COLUMN OP VALUE, OP one of =, !=, <, <=, >, >=, as in --where "day >= 2026-05-01" or '
        f"\"region = 'north east'\", got {text!r:.80}: repeat it for AND"
    )
