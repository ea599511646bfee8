"""Tables as data frames, of whichever library is there; none of them is loaded before one is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Literal, get_args

from ..errors import InputError
from .summary import plain

Backend = Literal["pandas", "polars", "pyarrow"]
"""Libraries whose frames there are, in the order in which they are tried."""


def frame_of(columns: Mapping[str, Any], backend: Backend | None = None) -> Any:
    """Return a data frame of the columns; a single number is repeated in every row.

    Parameters
    ----------
    columns : mapping of str to sequence, or to a single number or text
    backend : {"pandas", "polars", "pyarrow"}, optional
        Default: the first of them that is installed.

    Raises
    ------
    InputError
        Another library, or one that is not installed.

    Example
    -------
    >>> frame_of({"key": ["a", "b"], "n": 5}, "polars").rows()
    [('a', 5), ('b', 5)]
    """
    if backend is not None and backend not in get_args(Backend):
        raise InputError(f"backend must be one of {', '.join(get_args(Backend))}, got {backend!r}")
    library = _library(get_args(Backend) if backend is None else (backend,))
    given = {name: plain(column) for name, column in columns.items()}
    rows = max((len(column) for column in given.values() if isinstance(column, list)), default=1)
    filled = {name: column if isinstance(column, list) else [column] * rows for name, column in given.items()}
    return library.table(filled) if library.__name__ == "pyarrow" else library.DataFrame(filled)


def _library(names: tuple[str, ...]) -> Any:
    for name in names:
        try:
            return import_module(name)
        except ImportError:
            continue
    if len(names) == 1:
        raise InputError(f"a {names[0]} data frame needs {names[0]}: pip install {names[0]}")
    raise InputError(f"a data frame needs {', '.join(names[:-1])} or {names[-1]}: pip install {names[0]}")
