"""The column by which users are matched across services: which types can be compared, and how."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...mechanisms.errors import InputError
from ...mechanisms.user_name import LONGEST_NAME
from ..reading.columns.cells import text_fault
from ..reading.columns.rows.skipped_rows import TEXT_SHOWN

_INTEGER = re.compile(r"U?(TINY|SMALL|BIG)?INT(EGER)?|HUGEINT")
_WIDE = ("UBIGINT", "HUGEINT")
_TEXT = re.compile(r"VARCHAR|ENUM.*")
_FRACTIONAL = ("FLOAT", "DOUBLE")

CSV_TEXT = "text of a CSV"
"""The type of every column of a CSV: integers if other sources have integers, else text."""


@dataclass(frozen=True)
class KeyColumn:
    """The key of one source.

    Parameters
    ----------
    where : str
        The column and its source, for messages.
    cell : str
        The column's name, quoted.
    kind : str
        Its type in duckdb, or `CSV_TEXT`.
    """

    where: str
    cell: str
    kind: str

    def expression(self, target: str) -> str:
        """Return the key in the type that all sources share, as SQL; NULL for a CSV's text that is no integer."""
        if self.kind == CSV_TEXT and target != "VARCHAR":
            digits = f"regexp_full_match(trim({self.cell}), '[+-]?[0-9]+')"
            return f"CASE WHEN {digits} THEN TRY_CAST(trim({self.cell}) AS {target}) END"
        return f"CAST({self.cell} AS {target})"

    @property
    def long(self) -> str:
        """SQL for whether a row's key is longer than names of users may be; FALSE for whole numbers."""
        if _INTEGER.fullmatch(self.kind):
            return "FALSE"
        return f"length(CAST({self.cell} AS VARCHAR)) > {LONGEST_NAME}"

    def fault(self, key: str) -> str:
        """Return SQL for what makes a row's key none, of the key as `expression` gives it; NULL where it is one."""
        text = f"CAST({self.cell} AS VARCHAR)"
        return (
            f"CASE WHEN {self.cell} IS NULL THEN 'the key is missing' "
            f"WHEN {self.long} THEN 'the key has more than {LONGEST_NAME} characters' "
            f"WHEN {text_fault(text)} IS NOT NULL THEN 'the key is ' || {text_fault(text)} "
            f"WHEN {key} IS NULL THEN 'the key ''' || left({text}, {TEXT_SHOWN}) || ''' is no integer' END"
        )


def common_key_type(keys: Sequence[KeyColumn]) -> str:
    """Return the duckdb type in which the keys of all sources are compared.

    Parameters
    ----------
    keys : sequence of KeyColumn

    Raises
    ------
    InputError
        Keys of different types, such as text and integers, or numbers with a fraction.

    Example
    -------
    >>> common_key_type([KeyColumn("a.csv", "c0", CSV_TEXT), KeyColumn("b.parquet", "user", "INTEGER")])
    'BIGINT'
    """
    for key in keys:
        if key.kind in _FRACTIONAL:
            raise InputError(f"{key.where} must hold text or integers, got type {key.kind}: convert it")
    typed = [key for key in keys if key.kind != CSV_TEXT]
    if not typed:
        return "VARCHAR"
    families = [_family(key.kind) for key in keys if key.kind != CSV_TEXT]
    accepted = ("text", "integers") if len(typed) < len(keys) else families[:1]
    for key, family in zip(typed, families, strict=True):
        if family != families[0] or family not in accepted:
            other = typed[0] if family != families[0] else next(key for key in keys if key.kind == CSV_TEXT)
            raise InputError(
                f"keys must have the same type in all sources, got {other.kind} in {other.where} "
                f"but {key.kind} in {key.where}: convert one of them"
            )
    if families[0] == "integers":
        return "HUGEINT" if any(key.kind in _WIDE for key in typed) else "BIGINT"
    return "VARCHAR" if families[0] == "text" else typed[0].kind


def _family(kind: str) -> str:
    return "integers" if _INTEGER.fullmatch(kind) else "text" if _TEXT.fullmatch(kind) else kind
