"""What a user says of the files that are read, instead of leaving it to be recognised, and who is told what was."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from ....mechanisms.errors import InputError

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "space": " "}
"""Names of delimiters that are awkward to type."""

MISSING_MARKS = ("", "NA")
"""CSV cells that mean "no value": an empty cell (spreadsheets, pandas) and NA (R)."""

LONGEST_MARK = 64
"""Characters of a mark that says "no value"."""


@dataclass(frozen=True)
class Overrides:
    """How text files are written; what is None is recognised, file by file.

    Attributes
    ----------
    delimiter : str, optional
        One character between cells.
    decimal : {".", ","}, optional
        The mark before the fraction of a number; the other one may then separate thousands.
    encoding : str, optional
        As Python names it.
    na : tuple of str
        Further cells that mean "no value", such as N/A.
    told : callable
        Gets a sentence, once, for each file and column that is not the plain case.
    """

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    na: tuple[str, ...] = ()
    told: Callable[[str], None] = field(default=lambda message: None, compare=False)
    _said: set[str] = field(default_factory=set, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.delimiter is not None:
            meant = DELIMITERS.get(self.delimiter.replace("\\t", "tab"), self.delimiter)
            if len(meant) != 1 or not meant.isascii() or meant in '"\r\n\0' or meant.isalnum() or meant in "+-.":
                raise InputError(
                    f"a delimiter must be one mark, or one of {', '.join(DELIMITERS)}, got {self.delimiter!r}"
                )
            object.__setattr__(self, "delimiter", meant)
        if self.decimal not in (None, ".", ","):
            raise InputError(f"a decimal mark must be '.' or ',', got {self.decimal!r}")
        if self.encoding is not None:
            try:
                "".encode(codecs.lookup(self.encoding).name)
            except (LookupError, ValueError):
                raise InputError(
                    f"an encoding must be one that Python knows, such as latin-1 or utf-16, got {self.encoding!r}"
                ) from None
        for mark in self.na:
            if mark != mark.strip() or not mark.isprintable() or not 0 < len(mark) <= LONGEST_MARK:
                raise InputError(
                    f"a mark of no value must be 1 to {LONGEST_MARK} printable characters without spaces around, "
                    f"got {mark[:LONGEST_MARK]!r}"
                )

    def tell(self, message: str) -> None:
        """Say something, unless it has been said."""
        if message not in self._said:
            self._said.add(message)
            self.told(message)


_IN_FORCE: ContextVar[Overrides] = ContextVar("overrides")
_NONE = Overrides()


def overrides() -> Overrides:
    """Return what is said of files now."""
    return _IN_FORCE.get(_NONE)


def missing_marks() -> tuple[str, ...]:
    """Return the cells that mean "no value" now.

    Example
    -------
    >>> with read_as(na=["N/A"]):
    ...     missing_marks()
    ('', 'NA', 'N/A')
    """
    return (*MISSING_MARKS, *overrides().na)


def missing_in_sql() -> str:
    """Return the same as a list of SQL, quoted.

    Example
    -------
    >>> with read_as(na=["don't know"]):
    ...     print(missing_in_sql())
    ('', 'NA', 'don''t know')
    """
    return "({})".format(", ".join("'{}'".format(mark.replace("'", "''")) for mark in missing_marks()))


def written_as() -> list[str]:
    """Return what was said of files as options of a command.

    Example
    -------
    >>> with read_as(decimal=","):
    ...     written_as()
    ['--format', 'csv:decimal=,']
    """
    said = overrides()
    given = {"delimiter": said.delimiter, "decimal": said.decimal, "encoding": said.encoding}
    told = ",".join(f"{key}={value}" for key, value in given.items() if value is not None)
    marks = [word for mark in said.na for word in ("--na", mark)]
    return [*(["--format", f"csv:{told}"] if told else []), *marks]


@contextmanager
def read_as(
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    na: Sequence[str] = (),
    told: Callable[[str], None] | None = None,
) -> Iterator[None]:
    """Declare, within the block, the form of the text files that are read in it.

    Parameters
    ----------
    delimiter : str, optional
        One character between cells, or comma, semicolon, tab, bar or space.
    decimal : {".", ","}, optional
        The mark before the fraction of a number; the other one, spaces and apostrophes may then separate thousands.
    encoding : str, optional
        As Python names it.
    na : sequence of str
        Further cells that mean "no value", such as N/A; an empty cell and NA always do.
    told : callable, optional
        Called with a sentence for each file and column in another form than the plain one.

    Returns
    -------
    block : context manager
        For ``with``; it yields nothing.

    Raises
    ------
    InputError
        A delimiter of several characters, another decimal mark, an unknown encoding, an empty or long mark of no value.

    Example
    -------
    >>> import pathlib, tempfile
    >>> from optldp.estimators.reading.columns import read_column
    >>> from optldp.estimators.reading.formats import read_as
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "leute.csv"
    >>> _ = path.write_text("name;lohn\\nAnn;1.234\\nBo;2.500\\n")
    >>> with read_as(decimal=",", told=print):
    ...     read_column(path, "lohn")
    leute.csv is read as semicolon separated
    column 'lohn' is read with thousands marks
    array([1234., 2500.])
    """
    given = Overrides(delimiter, decimal, encoding, tuple(na))
    token = _IN_FORCE.set(given if told is None else replace(given, told=told))
    try:
        yield
    finally:
        _IN_FORCE.reset(token)
